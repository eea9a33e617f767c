//! What brokers answered of offsets: those that a group has committed, and the ends of logs.

use highwater_history::{Event, EventValue, event::Function};

use super::{
    super::{
        GroupFetch,
        operations::{OpId, Outcome},
    },
    Builder, Pending,
};

impl Builder<'_> {
    /// Who asks for a group's offsets, and which group: its session names it, or the event.
    pub(super) fn note_question(&mut self, process: u32, op: OpId, event: &Event) {
        if event.f != Function::Committed {
            return;
        }
        let Some(group) = self.group_of(process, event) else { return };
        self.fetches.insert(op, GroupFetch { op, group, offsets: Vec::new() });
    }

    /// What an ok operation was answered. A key that was asked for and not answered has no
    /// committed offset.
    pub(super) fn note_answer(
        &mut self,
        process: u32,
        outcome: Outcome,
        event: &Event,
        of: &Pending,
    ) {
        let EventValue::Offsets(answered) = &event.value else { return };
        if outcome != Outcome::Ok {
            return;
        }
        match of.f {
            Function::Committed => {
                let offsets = answered.iter().map(|(key, at)| (self.key(key), Some(*at)));
                let mut offsets: Vec<_> = offsets.collect();
                let told = |key| offsets.iter().any(|(of, _)| *of == key);
                let missing: Vec<_> = of.keys.iter().filter(|key| !told(**key)).collect();
                offsets.extend(missing.into_iter().map(|key| (*key, None)));
                if !self.fetches.contains_key(&of.op) {
                    self.note_question(process, of.op, event);
                }
                if let Some(fetch) = self.fetches.get_mut(&of.op) {
                    fetch.offsets = offsets;
                }
            }
            Function::EndOffsets => {
                self.index.ends_told |= !answered.is_empty();
                for (key, offset) in answered {
                    if let Some(index) = self.own(key) {
                        index.ends.push((of.op, *offset));
                    }
                }
            }
            _ => {}
        }
    }

    /// The group that an event names, else that of its process's session.
    pub(super) fn group_of(&self, process: u32, event: &Event) -> Option<String> {
        let named = event.extra.get("group").and_then(|group| group.as_str());
        let of_session = || self.index.processes.client(process)?.group.as_deref();
        named.or_else(of_session).map(str::to_owned)
    }
}
