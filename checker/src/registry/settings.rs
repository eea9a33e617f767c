//! `min.insync.replicas` over time, level by level as brokers look it up.

use std::collections::BTreeMap;

use highwater_history::{Manifest, NodeId, Promise, TimeNs, metadata::ConfigFields};

use super::range_of;

pub(super) const TOPIC_RESOURCE: i8 = 2;
pub(super) const BROKER_RESOURCE: i8 = 4;
const MIN_ISR_SETTING: &str = "min.insync.replicas";

/// A value from a time on; none: the next level decides.
type Timeline = Vec<(TimeNs, Option<usize>)>;

/// What was set where.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    /// By resource type and name; the empty broker name stands for all brokers.
    levels: BTreeMap<(i8, String), Timeline>,
    /// What nodes were started with.
    properties: BTreeMap<NodeId, usize>,
    said: Option<usize>,
    known: bool,
}

impl Settings {
    /// What nodes were started with, and what the user says.
    pub(super) fn new(manifest: &Manifest, said: &Promise) -> Self {
        let property = |node: &highwater_history::manifest::Node| {
            let value = node.properties.get(MIN_ISR_SETTING)?;
            Some((node.id, value.parse().ok()?))
        };
        Self {
            levels: BTreeMap::new(),
            properties: manifest.target.nodes.iter().filter_map(property).collect(),
            said: said.min_insync_replicas.map(|least| least as usize),
            known: true,
        }
    }

    /// Takes a setting from a time on.
    pub(super) fn set(&mut self, at: TimeNs, config: &ConfigFields) {
        if config.name == MIN_ISR_SETTING {
            let level = (config.resource_type, config.resource_name.clone());
            let value = config.value.as_deref().and_then(|value| value.parse().ok());
            self.levels.entry(level).or_default().push((at, value));
        }
    }

    /// Every value that may have held for a topic with this leader at some instant of a time; none
    /// where nothing is known.
    pub(super) fn min_isrs(
        &self,
        topic: &str,
        leader: Option<NodeId>,
        time: (TimeNs, TimeNs),
    ) -> Vec<usize> {
        if self.said.is_some() || !self.known {
            return self.said.into_iter().collect();
        }
        let node = leader.map(|leader| leader.to_string()).unwrap_or_default();
        let levels = [(TOPIC_RESOURCE, topic), (BROKER_RESOURCE, &node), (BROKER_RESOURCE, "")];
        let mut all = Vec::new();
        for (kind, name) in levels {
            let values = self.values((kind, name.to_owned()), time);
            all.extend(values.iter().copied().flatten());
            if !values.contains(&None) {
                return all;
            }
        }
        match leader.and_then(|leader| self.properties.get(&leader)) {
            Some(property) => all.push(*property),
            None if self.properties.is_empty() => all.push(1),
            None => all.extend(self.properties.values()),
        }
        all
    }

    /// The values of a level that may have held at some instant of a time.
    fn values(&self, level: (i8, String), (from, to): (TimeNs, TimeNs)) -> Vec<Option<usize>> {
        let Some(timeline) = self.levels.get(&level) else { return vec![None] };
        let (first, end) = range_of(timeline, |(at, _)| *at, from, to);
        let mut values: Vec<_> = timeline[first..end].iter().map(|(_, value)| *value).collect();
        if first == 0 && timeline.first().is_some_and(|(at, _)| from < *at) {
            values.push(None);
        }
        values
    }
}
