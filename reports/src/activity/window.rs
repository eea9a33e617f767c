//! Windows: the operations around what a finding points at.

use std::{
    collections::{BTreeMap, VecDeque},
    rc::Rc,
};

use highwater_history::{
    Event, EventValue, Key,
    event::{EventKind, MicroOp, Process},
    types::ProcessId,
};

/// Events of the same key that are kept before and after each event pointed at.
const AROUND: usize = 4;

/// What a window is wanted around.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    /// Events of this key make up the window; of all keys when there is none.
    pub key: Option<Key>,
    /// Indexes of the events pointed at.
    pub events: Vec<u64>,
}

/// Events in order, and whether each is one of those pointed at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    /// By index: the event and whether the finding points at its operation.
    pub events: BTreeMap<u64, (Rc<Event>, bool)>,
}

impl Window {
    fn add(&mut self, event: &Rc<Event>, hit: bool) {
        let entry = self.events.entry(event.index).or_insert_with(|| (Rc::clone(event), false));
        entry.1 |= hit;
    }
}

/// Collects windows while events come in order.
pub(crate) struct Windows {
    watches: Vec<Watch>,
    windows: Vec<Window>,
    /// Watches that point at an event, by its index.
    pointed_at: BTreeMap<u64, Vec<usize>>,
    /// The latest events by key watched.
    recent: BTreeMap<Option<Key>, VecDeque<Rc<Event>>>,
    /// Per watch, how many more events its window takes.
    still: Vec<usize>,
    running: BTreeMap<ProcessId, Running>,
}

/// An operation in flight.
struct Running {
    invocation: Rc<Event>,
    /// Watches that point at the invocation and so want the completion.
    wanted_by: Vec<usize>,
}

impl Windows {
    pub(crate) fn new(watches: Vec<Watch>) -> Self {
        let mut pointed_at: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut recent = BTreeMap::new();
        for (i, watch) in watches.iter().enumerate() {
            recent.insert(watch.key.clone(), VecDeque::new());
            for index in &watch.events {
                pointed_at.entry(*index).or_default().push(i);
            }
        }
        let windows = vec![Window::default(); watches.len()];
        let still = vec![0; watches.len()];
        Self { watches, windows, pointed_at, recent, still, running: BTreeMap::new() }
    }

    /// Takes the next event.
    pub(crate) fn observe(&mut self, event: Rc<Event>) {
        if self.watches.is_empty() {
            return;
        }
        let wanted = self.wanted_by(&event);
        for watch in &wanted {
            self.open(*watch, &event);
        }
        for watch in 0..self.watches.len() {
            let watched = &self.watches[watch].key;
            if self.still[watch] > 0 && !wanted.contains(&watch) && touches(&event, watched) {
                self.still[watch] -= 1;
                self.windows[watch].add(&event, false);
            }
        }
        for (key, recent) in &mut self.recent {
            if touches(&event, key) {
                if recent.len() == AROUND {
                    recent.pop_front();
                }
                recent.push_back(Rc::clone(&event));
            }
        }
    }

    /// The windows, one a watch.
    pub(crate) fn finish(self) -> Vec<Window> {
        self.windows
    }

    /// Watches that point at the event, or at the invocation that it completes.
    fn wanted_by(&mut self, event: &Rc<Event>) -> Vec<usize> {
        let mut wanted = self.pointed_at.get(&event.index).cloned().unwrap_or_default();
        let Process::Client(process) = event.process else { return wanted };
        if event.kind == EventKind::Invoke {
            let running = Running { invocation: Rc::clone(event), wanted_by: wanted.clone() };
            self.running.insert(process, running);
        } else if let Some(running) = self.running.remove(&process) {
            for watch in &wanted {
                self.windows[*watch].add(&running.invocation, true);
            }
            let more = running.wanted_by.into_iter().filter(|watch| !wanted.contains(watch));
            let more: Vec<usize> = more.collect();
            wanted.extend(more);
        }
        wanted
    }

    fn open(&mut self, watch: usize, event: &Rc<Event>) {
        for before in &self.recent[&self.watches[watch].key] {
            self.windows[watch].add(before, false);
        }
        self.windows[watch].add(event, true);
        self.still[watch] = AROUND;
    }
}

/// Whether an event belongs into windows of a key: client operations on it, and all faults.
fn touches(event: &Event, key: &Option<Key>) -> bool {
    let Some(key) = key else { return true };
    match (&event.process, &event.value) {
        (Process::Nemesis, _) => true,
        (_, EventValue::Ops(ops)) => ops.iter().any(|op| match op {
            MicroOp::Send { key: sent_to, .. } => sent_to == key,
            MicroOp::Poll { records } => {
                records.iter().flatten().any(|(read, list)| read == key && !list.is_empty())
            }
        }),
        (_, EventValue::Keys(keys)) => keys.contains(key),
        _ => false,
    }
}
