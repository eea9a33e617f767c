//! Anomalies in what nodes say of themselves, and in the metadata log.

use highwater_history::{
    NodeId, Offset, TimeNs,
    metadata::{MetadataRecord, PartitionFields},
    samples::{PartitionState, ReplicaState, Said, Sample},
};

use super::{Counts, Place, Run};

const MS: TimeNs = 1_000_000;

impl Run {
    fn say(&mut self, node: NodeId, at: TimeNs, said: Said) {
        self.evidence.samples.push(Sample { asked: at, answered: at + MS, node, said });
    }

    /// A replica's own word, high watermark and log end.
    fn marks(
        &mut self,
        place: &Place,
        (node, at): (NodeId, TimeNs),
        (hw, leo): (Option<Offset>, Offset),
    ) {
        let state = ReplicaState {
            key: place.key.clone(),
            hw,
            leo: Some(leo),
            leader_epoch: Some(place.epoch),
            leads: Some(node == place.leader),
            ..ReplicaState::default()
        };
        self.say(node, at, Said::Replica(state));
    }

    fn replicas(&self, place: &Place) -> Vec<NodeId> {
        let outcome = self.evidence.outcome.as_ref().expect("a place has an outcome");
        outcome.partitions[&place.key].replicas.clone()
    }

    fn follower(&self, place: &Place) -> Option<NodeId> {
        self.replicas(place).into_iter().find(|node| *node != place.leader)
    }

    /// The last view of a key that any node told under an epoch.
    fn view_of(
        &self,
        place: &Place,
        is_it: impl Fn(&PartitionState) -> bool,
    ) -> Option<PartitionState> {
        let views = self.evidence.samples.iter().rev().filter_map(|sample| match &sample.said {
            Said::Partition(state) if state.key == place.key => Some(state),
            Said::Partition(_) | Said::Replica(_) | Said::Silent { .. } => None,
        });
        views.into_iter().find(|state| is_it(state)).cloned()
    }
}

pub fn disorder(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let (node, at) = (run.follower(&place)?, run.after_all());
    run.marks(&place, (node, at), (Some(place.end + 11), place.end + 10));
    Some([("watermark-order", 1)].into())
}

pub fn lower_hw(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let (leader, at, end) = (place.leader, run.after_all(), place.end);
    for (ms, hw) in [(0, end), (1000, end + 3), (1100, end + 2)] {
        run.marks(&place, (leader, at + ms * MS), (Some(hw), end + 5));
    }
    Some([("watermark-regression", 1)].into())
}

pub fn stand_still(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    // Long after the last election, so that followers have found their leader.
    let at = run.after_all() + 6000 * MS;
    for ms in [0, 1000, 2000, 3000] {
        for node in run.replicas(&place) {
            run.marks(&place, (node, at + ms * MS), (Some(place.end), place.end + 5));
        }
    }
    Some([("watermark-stuck", 1)].into())
}

pub fn older_epoch(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let newest = run.view_of(&place, |state| state.leader_epoch == place.epoch)?;
    let older = run.view_of(&place, |state| state.leader_epoch < place.epoch)?;
    let (node, at) = (run.follower(&place)?, run.after_all());
    run.say(node, at, Said::Partition(newest));
    run.say(node, at + 100 * MS, Said::Partition(older));
    Some([("epoch-regression", 1)].into())
}

pub fn other_leader(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let mut view = run.view_of(&place, |state| state.leader_epoch == place.epoch)?;
    view.leader = run.follower(&place);
    let at = run.after_all();
    run.say(place.leader, at, Said::Partition(view));
    Some([("metadata-divergence", 1)].into())
}

/// A follower that lost its last record says so: it stood below the high watermark, too.
pub fn short_member(run: &mut Run) -> Option<Counts> {
    let place = run.place().filter(|place| place.key.starts_with("all"))?;
    let (node, at) = (run.follower(&place)?, run.after_all());
    run.marks(&place, (place.leader, at), (Some(place.end), place.end));
    run.marks(&place, (node, at + 100 * MS), (None, place.end - 1));
    Some([("early-ack", 1), ("isr-illegal", 1)].into())
}

pub fn stranger_in_sync(run: &mut Run) -> Option<Counts> {
    let place = run.place()?;
    let is_change = |record: &&MetadataRecord| record.kind.starts_with("Partition");
    let (topic, partition) = place.key.rsplit_once('-')?;
    let name = run.evidence.dumps.iter().find(|(_, dump)| dump.header.key == place.key)?;
    debug_assert!(name.1.header.topic.ends_with(topic), "keys are named for their topics");
    let topic = &name.1.header.topic;
    let id = run.evidence.metadata.iter().find(|record| record.fields["name"] == **topic)?;
    let id = id.fields["topicId"].clone();
    let of_place = |record: &&MetadataRecord| {
        let fields: Option<PartitionFields> =
            record.of_kind(&record.kind).filter(|_| is_change(record));
        fields.is_some_and(|fields| {
            id == fields.topic_id && partition.parse() == Ok(fields.partition)
        })
    };
    let mut last = run.evidence.metadata.iter().rev().find(of_place)?.clone();
    let end = run.evidence.metadata.last()?;
    (last.offset, last.timestamp_ms) = (end.offset + 1, end.timestamp_ms);
    last.kind = "PartitionChangeRecord".to_owned();
    let mut isr = run.replicas(&place);
    isr.push(999);
    last.fields = serde_json::json!({
        "topicId": id, "partitionId": partition.parse::<i32>().ok()?, "isr": isr
    });
    run.evidence.metadata.push(last);
    Some([("isr-illegal", 1)].into())
}
