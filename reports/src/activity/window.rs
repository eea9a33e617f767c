//! Windows: the operations around what a finding points at.

use std::{
    collections::{BTreeMap, VecDeque, btree_map::Entry},
    rc::Rc,
};

use highwater_history::{
    Event, Key,
    event::{EventKind, Process},
    types::ProcessId,
};

use super::glance::Glance;

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
    pub events: BTreeMap<u64, (Event, bool)>,
}

/// Collects windows while events come in order.
pub(crate) struct Windows {
    watches: Vec<Watch>,
    collected: Vec<BTreeMap<u64, (Rc<str>, bool)>>,
    /// Watches that point at an event, by its index.
    pointed_at: BTreeMap<u64, Vec<usize>>,
    /// The latest events by key watched.
    recent: BTreeMap<Option<Key>, VecDeque<Line>>,
    /// Watches whose window takes more events, and how many.
    still: BTreeMap<usize, usize>,
    running: BTreeMap<ProcessId, Running>,
}

/// An event's line, unparsed: few of them end up in a window.
#[derive(Clone)]
struct Line {
    index: u64,
    text: Rc<str>,
}

/// An operation in flight.
struct Running {
    invocation: Line,
    /// Watches that point at the invocation and so want the completion.
    wanted_by: Vec<usize>,
}

impl Windows {
    pub(super) fn new(watches: Vec<Watch>) -> Self {
        let mut pointed_at: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut recent = BTreeMap::new();
        for (i, watch) in watches.iter().enumerate() {
            recent.insert(watch.key.clone(), VecDeque::new());
            for index in &watch.events {
                pointed_at.entry(*index).or_default().push(i);
            }
        }
        let collected = vec![BTreeMap::new(); watches.len()];
        let (still, running) = (BTreeMap::new(), BTreeMap::new());
        Self { watches, collected, pointed_at, recent, still, running }
    }

    /// Takes the next event.
    pub(super) fn observe(&mut self, glance: &Glance<'_>, text: &str) {
        if self.watches.is_empty() {
            return;
        }
        let line = Line { index: glance.index, text: text.into() };
        let wanted = self.wanted_by(glance, &line);
        for watch in &wanted {
            self.open(*watch, &line);
        }
        self.follow(glance, &line, &wanted);
        self.remember(glance, &line);
    }

    /// The windows, one a watch. A line that is no whole event is left out.
    pub(super) fn finish(self) -> Vec<Window> {
        let parse = |(index, (text, hit)): (u64, (Rc<str>, bool))| {
            Some((index, (serde_json::from_str(&text).ok()?, hit)))
        };
        let window = |lines: BTreeMap<_, _>| Window {
            events: lines.into_iter().filter_map(parse).collect(),
        };
        self.collected.into_iter().map(window).collect()
    }

    /// Watches that point at the event, or at the invocation that it completes.
    fn wanted_by(&mut self, glance: &Glance<'_>, line: &Line) -> Vec<usize> {
        let mut wanted = self.pointed_at.get(&line.index).cloned().unwrap_or_default();
        let Process::Client(process) = glance.process else { return wanted };
        if glance.kind == EventKind::Invoke {
            let running = Running { invocation: line.clone(), wanted_by: wanted.clone() };
            self.running.insert(process, running);
        } else if let Some(running) = self.running.remove(&process) {
            for watch in &wanted {
                self.add(*watch, &running.invocation, true);
            }
            let more = running.wanted_by.into_iter().filter(|watch| !wanted.contains(watch));
            let more: Vec<usize> = more.collect();
            wanted.extend(more);
        }
        wanted
    }

    fn open(&mut self, watch: usize, line: &Line) {
        for before in self.recent[&self.watches[watch].key].clone() {
            self.add(watch, &before, false);
        }
        self.add(watch, line, true);
        self.still.insert(watch, AROUND);
    }

    /// Adds the event to the windows that still take more of its key.
    fn follow(&mut self, glance: &Glance<'_>, line: &Line, wanted: &[usize]) {
        let takes = |(watch, _): &(&usize, &usize)| {
            !wanted.contains(watch) && touches(glance, &self.watches[**watch].key)
        };
        let taking: Vec<usize> = self.still.iter().filter(takes).map(|(watch, _)| *watch).collect();
        for watch in taking {
            self.add(watch, line, false);
            if let Entry::Occupied(mut left) = self.still.entry(watch) {
                *left.get_mut() -= 1;
                if *left.get() == 0 {
                    left.remove();
                }
            }
        }
    }

    /// Keeps the event as one of the latest of the keys that it touches.
    fn remember(&mut self, glance: &Glance<'_>, line: &Line) {
        for (key, recent) in &mut self.recent {
            if touches(glance, key) {
                if recent.len() == AROUND {
                    recent.pop_front();
                }
                recent.push_back(line.clone());
            }
        }
    }

    fn add(&mut self, watch: usize, line: &Line, hit: bool) {
        let lines = &mut self.collected[watch];
        let entry = lines.entry(line.index).or_insert_with(|| (Rc::clone(&line.text), false));
        entry.1 |= hit;
    }
}

/// Whether an event belongs into windows of a key: client operations on it, and all faults.
fn touches(glance: &Glance<'_>, key: &Option<Key>) -> bool {
    let Some(key) = key else { return true };
    glance.process == Process::Nemesis || glance.ops.keys.iter().any(|one| *one == key.as_str())
}
