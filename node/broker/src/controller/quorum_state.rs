//! The `quorum-state` file: JSON as Kafka writes it while voters stand in the configuration.

use bytes::Bytes;
use highwater_node_core::quorum::QuorumState;
use highwater_node_core::types::{BrokerId, LeaderEpoch};
use serde::{Deserialize, Serialize};

/// Where the file lies within the log directory.
pub(super) const PATH: &str = "__cluster_metadata-0/quorum-state";
/// The version of the format with voters in the configuration.
const DATA_VERSION: i16 = 0;
/// Kafka's number for nobody.
const NOBODY: i32 = -1;

/// The file's content, in Kafka's names and order.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    #[serde(default)]
    cluster_id: String,
    leader_id: i32,
    leader_epoch: i32,
    voted_id: i32,
    #[serde(default)]
    applied_offset: i64,
    #[serde(default)]
    current_voters: Option<Vec<Voter>>,
    #[serde(rename = "data_version")]
    data_version: i16,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Voter {
    voter_id: i32,
}

/// The file that holds this state.
pub(super) fn write(state: QuorumState, voters: impl Iterator<Item = BrokerId>) -> Bytes {
    let number = |id: Option<BrokerId>| id.map_or(NOBODY, |id| id.0);
    let content = Content {
        cluster_id: String::new(),
        leader_id: number(state.leader),
        leader_epoch: state.epoch.0,
        voted_id: number(state.voted),
        applied_offset: 0,
        current_voters: Some(voters.map(|id| Voter { voter_id: id.0 }).collect()),
        data_version: DATA_VERSION,
    };
    serde_json::to_vec(&content).expect("numbers and names become JSON").into()
}

/// The state that a file holds.
pub(super) fn read(content: &[u8]) -> Result<QuorumState, String> {
    let content: Content = serde_json::from_slice(content)
        .map_err(|why| format!("{PATH} is not what this node writes: {why}"))?;
    if content.data_version != DATA_VERSION {
        return Err(format!("{PATH} has version {}, known is 0", content.data_version));
    }
    let id = |number: i32| (number != NOBODY).then_some(BrokerId(number));
    Ok(QuorumState {
        epoch: LeaderEpoch(content.leader_epoch),
        leader: id(content.leader_id),
        voted: id(content.voted_id),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_writes_and_what_kafka_writes() {
        let state = QuorumState { epoch: LeaderEpoch(7), leader: None, voted: Some(BrokerId(9)) };
        assert_eq!(read(&write(state, [BrokerId(9)].into_iter())), Ok(state));
        let kafka = br#"{"clusterId":"","leaderId":9,"leaderEpoch":2,"votedId":-1,
            "appliedOffset":0,"currentVoters":[{"voterId":9}],"data_version":0}"#;
        let leader = Some(BrokerId(9));
        assert_eq!(read(kafka), Ok(QuorumState { epoch: LeaderEpoch(2), leader, voted: None }));
    }

    #[test]
    fn refuses_another_version_and_garbage() {
        let newer = br#"{"leaderId":9,"leaderEpoch":2,"votedId":-1,"data_version":1}"#;
        assert!(read(newer).unwrap_err().contains("version 1"));
        assert!(read(b"garbage").unwrap_err().contains("quorum-state"));
    }
}
