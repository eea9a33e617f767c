//! Looks at the run to decide conditions.

use std::collections::BTreeMap;

use highwater_workloads::Catalog;
use tokio::time::Instant;

use super::{LOOK_EVERY, Stage};
use crate::{
    nemesis::next_sight,
    steps::when::{Condition, Known, Scene},
};

/// When the step before began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begun {
    pub at: Instant,
    pub sends: u64,
}

/// What conditions are decided by, apart from the player.
pub(super) struct Eye {
    pub stage: Stage,
    pub names: BTreeMap<String, Known>,
    pub begun: Begun,
    /// Whether no fault is in force.
    pub healed: bool,
}

impl Eye {
    pub(super) fn look<T>(&self, see: impl FnOnce(&Scene<'_>) -> T) -> T {
        let view = self.stage.controls.view();
        let sends = self.stage.progress.borrow().counts.acknowledged();
        see(&Scene {
            view: &view,
            topic_of: &|label| topic_of(&self.stage.catalog, label),
            names: &self.names,
            waited_ms: self.begun.at.elapsed().as_millis() as u64,
            sends: sends.saturating_sub(self.begun.sends),
            healed: self.healed,
        })
    }

    pub(super) async fn wait(&mut self, condition: &Condition, before: &[Known], limit: Instant) {
        while !self.look(|scene| condition.holds(scene, before)) && Instant::now() < limit {
            self.stage.next_observation().await;
        }
    }
}

impl Stage {
    /// Waits for a new observation, or until it is time to look again at the clock and the counts.
    pub(super) async fn next_observation(&self) {
        let mut view = self.controls.view.clone();
        // A clone takes over what the original has seen, and the original never looks.
        view.mark_unchanged();
        next_sight(&mut view, LOOK_EVERY).await;
    }
}

/// The broker's name of the topic with this label.
pub(super) fn topic_of(catalog: &Catalog, label: &str) -> Option<String> {
    let topics = catalog.topics().iter();
    topics.filter(|topic| topic.plan.label == label).map(|topic| topic.name.clone()).next()
}
