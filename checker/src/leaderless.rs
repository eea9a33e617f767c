//! When a partition may stay without a leader (c.3).

use highwater_history::{NodeId, TimeNs};

use crate::{
    data_loss::DataLoss,
    finding::Permission,
    registry::{Registration, Registry},
    view::KeyView,
};

impl KeyView<'_> {
    /// c.3: clean elections only, and of all who were in sync or eligible the disks are gone: there
    /// may be no leader, even for ever.
    pub fn nobody_may_lead(&self, at: TimeNs) -> Option<Permission> {
        let state = Registry::during(self.states(), (at, at)).last()?;
        if state.leader.is_some() || state.unclean_allowed || !self.run.registry.is_whole {
            return None;
        }
        let is_member = |state: &Registration, node: &NodeId| {
            state.isr.contains(node) || state.elr.contains(node)
        };
        let wiped = |node: &NodeId| {
            let mut wipes =
                self.losses_after(0).filter(|loss| loss.is_wipe() && loss.node == *node);
            wipes.find(|loss| {
                let since = Registry::during(self.states(), (loss.during.0, at));
                since.iter().all(|state| is_member(state, node))
            })
        };
        let members = state.isr.iter().chain(&state.elr);
        let wipes: Vec<String> =
            members.map(|node| wiped(node).map(DataLoss::describe)).collect::<Option<_>>()?;
        let why = format!("{}, and nobody else was in sync", wipes.join(", "));
        (!wipes.is_empty()).then(|| Permission::new("c.3", why))
    }
}
