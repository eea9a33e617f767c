//! The final read of a log whose beginning is deleted while it is read.

use std::sync::atomic::{AtomicI64, Ordering};

use highwater_history::recorder::Recorder;
use highwater_log::batch::{BatchBuilder, Batches, stamp};
use highwater_wire::{
    FrameBuffer, RequestKind, Response, ResponseKind, codec, frame,
    messages::{
        FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse,
        fetch_response::{FetchableTopicResponse, PartitionData},
        list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse},
    },
};
use highwater_workloads::{Acks, topic::TopicPlan, value};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::*;
use crate::nemesis::PartitionView;

const END: i64 = 10;
const MAX_FRAME: usize = 1 << 20;

/// A broker with one log, whose beginning goes on when somebody has asked for it.
#[derive(Default)]
struct Retaining {
    start: AtomicI64,
    /// Where the log begins once somebody was told where it began.
    then: Option<i64>,
    /// What it tells instead of the truth.
    told: Option<i64>,
}

impl Retaining {
    async fn serve(&self, mut stream: TcpStream) {
        let mut buffer = FrameBuffer::new(MAX_FRAME);
        loop {
            while let Some(request) = buffer.next_frame().unwrap() {
                let request = codec::decode_request(request).unwrap();
                let body = match &request.body {
                    RequestKind::Fetch(asked) => ResponseKind::Fetch(self.fetch(asked)),
                    RequestKind::ListOffsets(asked) => ResponseKind::ListOffsets(self.list(asked)),
                    other => panic!("the final reader asked {other:?}"),
                };
                let header = request.header;
                let response = Response { correlation_id: header.correlation_id, body };
                let parts = codec::encode_response(header.api, header.version, &response).unwrap();
                stream.write_all(&frame::prefix(&parts)).await.unwrap();
                for part in parts {
                    stream.write_all(&part).await.unwrap();
                }
            }
            if stream.read_buf(buffer.space()).await.unwrap_or(0) == 0 {
                return;
            }
        }
    }

    fn list(&self, asked: &ListOffsetsRequest) -> ListOffsetsResponse {
        let start = self.start.load(Ordering::SeqCst);
        self.start.store(self.then.unwrap_or(start), Ordering::SeqCst);
        let topic = &asked.topics[0];
        assert_eq!(topic.partitions[0].timestamp, -2, "the log start");
        let told = ListOffsetsPartitionResponse::default().with_offset(self.told.unwrap_or(start));
        let topic = ListOffsetsTopicResponse::default().with_name(topic.name.clone());
        ListOffsetsResponse::default().with_topics(vec![topic.with_partitions(vec![told])])
    }

    fn fetch(&self, asked: &FetchRequest) -> FetchResponse {
        let topic = &asked.topics[0];
        let from = topic.partitions[0].fetch_offset;
        let mut answer = PartitionData::default().with_high_watermark(END);
        if from < self.start.load(Ordering::SeqCst) {
            answer.error_code = 1;
        } else {
            answer.records = Some((from..END).map(batch).collect::<Vec<_>>().concat().into());
        }
        let topic = FetchableTopicResponse::default().with_topic_id(topic.topic_id);
        FetchResponse::default().with_responses(vec![topic.with_partitions(vec![answer])])
    }
}

fn batch(offset: i64) -> bytes::Bytes {
    let payload = value::encode("r7", "all-0", offset, 0);
    let built = BatchBuilder::new().record(0, None, Some(&payload), &[]).build();
    let batch = Batches::new(built).next().unwrap().unwrap();
    stamp(batch, offset, 0, None)
}

/// What was read to where, and the history: kind, function and where its records lie.
async fn read(broker: Retaining) -> (Option<i64>, Vec<(String, String, Vec<i64>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.jsonl");
    let mut catalog = Catalog::default();
    let plan = TopicPlan::new("all", 1, Acks::All);
    catalog.add(plan, "r7-all".into(), uuid::Uuid::from_u128(1));
    let reader = FinalReader {
        catalog: Arc::new(catalog),
        brokers: BTreeMap::from([(NodeId(1), address)]),
        history: History::new(Recorder::create(&path).unwrap()),
        clock: RunClock::start(),
        run_id: "r7".into(),
        first_number: 9,
    };
    let leads = PartitionView { leader: Some(NodeId(1)), ..PartitionView::default() };
    let partition = Partition { topic: "r7-all".into(), index: 0 };
    let partitions = BTreeMap::from([(partition, leads)]);
    let view = ClusterView { partitions, ..ClusterView::default() };
    let limit = Duration::from_secs(20);
    let serving = async {
        let (stream, _) = listener.accept().await.unwrap();
        broker.serve(stream).await;
    };
    let (read_to, ()) = tokio::join!(reader.read_all(&view, limit), serving);
    let lines = std::fs::read_to_string(path).unwrap();
    (read_to.unwrap().values().next().copied(), lines.lines().map(told).collect())
}

fn told(line: &str) -> (String, String, Vec<i64>) {
    let event: serde_json::Value = serde_json::from_str(line).unwrap();
    let text = |field: &str| event[field].as_str().unwrap().to_owned();
    let records = event["value"][0][1]["all-0"].as_array().cloned().unwrap_or_default();
    let offsets = records.iter().map(|record| record[0].as_i64().unwrap()).collect();
    (text("type"), text("f"), offsets)
}

/// Each time that retention was faster, the history says that the reader begins again.
#[tokio::test]
async fn rule_58_a_deleted_beginning_is_passed_over_in_the_open() {
    let broker = Retaining { start: 3.into(), then: Some(5), told: None };
    let (read_to, history) = read(broker).await;
    assert_eq!(read_to, Some(END));
    let said: Vec<String> = history.iter().map(|(kind, f, _)| format!("{kind} {f}")).collect();
    let begin = ["invoke assign", "ok assign", "invoke poll"];
    let expected =
        [&["info open"][..], &begin, &["fail poll"], &begin, &["fail poll"], &begin, &["ok poll"]];
    assert_eq!(said, expected.concat());
    assert_eq!(history.last().unwrap().2, (5..END).collect::<Vec<_>>());
}

/// A broker that refuses the log start that it tells is not asked for ever.
#[tokio::test]
async fn a_log_start_that_is_refused_itself_ends_the_read() {
    let lying = Retaining { start: 3.into(), told: Some(0), ..Retaining::default() };
    assert_eq!(read(lying).await.0, None);
}
