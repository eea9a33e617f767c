//! One correct log: offsets rise, markers take one, readers stop at the first open transaction.

use highwater_history::{Offset, Value};

/// The number of a transaction.
pub type Transaction = u64;

/// What became of a record.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Committed,
    Open(Transaction),
    Aborted,
}

/// A record in the log.
struct Slot {
    offset: Offset,
    value: Value,
    state: State,
}

/// The log of one key.
#[derive(Default)]
pub struct Log {
    slots: Vec<Slot>,
    end: Offset,
}

impl Log {
    /// The next offset.
    pub fn end(&self) -> Offset {
        self.end
    }

    /// Appends a record, of a transaction or committed at once, after a gap; its offset.
    pub fn append(&mut self, value: Value, of: Option<Transaction>, gap: Offset) -> Offset {
        let offset = self.end + gap;
        let state = of.map_or(State::Committed, State::Open);
        self.slots.push(Slot { offset, value, state });
        self.end = offset + 1;
        offset
    }

    /// Decides a transaction; its marker takes an offset of each log that it wrote to.
    pub fn decide(&mut self, transaction: Transaction, committed: bool) {
        let state = if committed { State::Committed } else { State::Aborted };
        let mut wrote = false;
        for slot in &mut self.slots {
            if slot.state == State::Open(transaction) {
                slot.state = state;
                wrote = true;
            }
        }
        self.end += Offset::from(wrote);
    }

    /// The committed records from an offset on, up to the first record of an open transaction.
    pub fn visible(&self, from: Offset) -> Vec<(Offset, Value)> {
        let decided = self.slots.iter().take_while(|slot| !matches!(slot.state, State::Open(_)));
        let seen = decided.filter(|slot| slot.offset >= from && slot.state == State::Committed);
        seen.map(|slot| (slot.offset, slot.value)).collect()
    }
}
