//! The second witness: what every Produce and Fetch answer said, as it passed the client's proxy.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use crate::{
    clock::RunClock,
    cluster::{ClusterPlan, Listener, NodeId, NodePlan, Place},
};

/// An answer that was delivered to a client: one line of `nodes/proxy-N.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witnessed {
    /// When its last byte was handed to the client's socket, nanoseconds since the run's start.
    pub time: u64,
    /// Kafka's API key: 0 Produce, 1 Fetch.
    pub api: i16,
    /// What the client called itself in its first request on the connection.
    pub client_id: String,
    /// The request's correlation id.
    pub correlation_id: i32,
    /// Error code of the whole answer (Fetch); 0 otherwise.
    pub code: i16,
    /// Why it cannot be read, where it cannot: then it says nothing of any partition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// What it said of each partition, in its order.
    pub partitions: Vec<WitnessedPartition>,
}

/// What an answer said of one partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessedPartition {
    /// The topic's name, or its id where the version has no name.
    pub topic: String,
    /// The partition's index.
    pub partition: i32,
    /// Kafka's error code.
    pub code: i16,
    /// Produce: the answer's base offset. Fetch: the first offset of the first batch. -1: none.
    pub offset: i64,
    /// Fetch: the last offset of the last whole batch. Produce: -1.
    pub last_offset: i64,
    /// Fetch: the high watermark of the answer. Produce: -1.
    pub high_watermark: i64,
}

/// One file per broker.
#[derive(Debug)]
pub(super) struct WitnessFiles {
    clock: RunClock,
    files: BTreeMap<NodeId, Mutex<BufWriter<File>>>,
}

impl WitnessFiles {
    /// Makes the files in the run folder's `nodes`.
    pub(super) fn create(
        plan: &ClusterPlan,
        clock: RunClock,
    ) -> Result<Self, (PathBuf, io::Error)> {
        let folder = plan.run_folder.join("nodes");
        fs::create_dir_all(&folder).map_err(|error| (folder.clone(), error))?;
        let mut files = BTreeMap::new();
        let watched = |node: &&NodePlan| node.place(Listener::Client).is_some_and(Place::has_proxy);
        for node in plan.brokers().filter(watched) {
            let path = folder.join(format!("proxy-{}.jsonl", node.id));
            let file = File::create(&path).map_err(|error| (path, error))?;
            files.insert(node.id, Mutex::new(BufWriter::with_capacity(1 << 16, file)));
        }
        Ok(Self { clock, files })
    }

    /// The time for the next line.
    pub(super) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Writes a line of `node`'s file.
    pub(super) fn write(&self, node: NodeId, line: &Witnessed) -> io::Result<()> {
        let file = self.files.get(&node).expect("every broker behind a proxy has a witness file");
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        serde_json::to_writer(&mut *file, line)?;
        file.write_all(b"\n")
    }

    /// Hands everything to the kernel.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.files
            .values()
            .try_for_each(|file| file.lock().unwrap_or_else(PoisonError::into_inner).flush())
    }
}
