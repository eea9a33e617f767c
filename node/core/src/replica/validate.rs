//! The invariants of one replica, to be checked after each step in tests and simulation.

use super::leadership::Leadership;
use super::{Replica, Role};

impl Replica {
    /// Panics when the state breaks an invariant; the message names it.
    pub fn validate(&self) {
        self.validate_offsets();
        assert!(self.log.epochs.is_ordered(), "rule 5: epochs and starts rise strictly");
        for (id, entry) in self.log.producers.iter() {
            assert!(!entry.batches.is_empty(), "producer {id} has state, so it wrote a batch");
            assert!(
                entry.batches.len() <= super::REMEMBERED_BATCHES,
                "rule 42: five batches are remembered"
            );
            let newest = entry.batches.back().map(|b| b.last_offset);
            assert!(newest < Some(self.log.appended), "rule 45: never ahead of the log");
        }
        if let Role::Leader(leadership) = &self.role {
            self.validate_leadership(leadership);
        }
    }

    fn validate_offsets(&self) {
        let bounds = self.log.bounds();
        assert!(bounds.log_start <= bounds.last_stable, "rule 6: log start <= LSO");
        assert!(bounds.last_stable <= bounds.high_watermark, "rule 6: LSO <= HW");
        assert!(bounds.high_watermark <= bounds.log_end, "rule 6: HW <= LEO");
        assert!(bounds.log_end <= self.log.appended, "the disk confirms what was appended");
        if let Some((_, start)) = self.log.epochs.entries().last() {
            assert!(*start <= self.log.appended, "rule 5: an epoch begins within the log");
        }
    }

    fn validate_leadership(&self, leadership: &Leadership) {
        let state = self.state.as_ref().expect("a leader was elected by a committed state");
        let isr = &leadership.isr;
        assert!(isr.committed.contains(&self.broker), "rule 21: the leader is in its ISR");
        let assigned = |id| state.replicas.contains(id);
        assert!(isr.committed.iter().all(assigned), "rule 21: the ISR is assigned");
        assert!(leadership.start <= self.log.appended, "rule 4: a leader's LEO never decreases");
        assert!(self.log.epochs.latest() == Some(leadership.epoch), "rule 5: its epoch is noted");
        if let Some(pending) = &isr.pending {
            assert!(
                pending.isr.iter().any(|(id, _)| *id == self.broker),
                "rule 21: no leader proposes to leave its ISR"
            );
            assert!(pending.leader_epoch == leadership.epoch, "rule 22: proposed in this epoch");
        }
    }
}
