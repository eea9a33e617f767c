//! Produce and Fetch answers are written down as they pass; nothing else is.

use highwater_wire::{
    codec::{encode_request, encode_response},
    frame,
    header::RequestHeader,
    messages::{
        ApiKey, FetchRequest, FetchResponse, ProduceRequest, ProduceResponse, RequestKind,
        ResponseKind, StrBytes,
        fetch_response::{FetchableTopicResponse, PartitionData},
        produce_response::{PartitionProduceResponse, TopicProduceResponse},
    },
};

use super::*;

const PRODUCE_VERSION: i16 = 9;
const FETCH_VERSION: i16 = 12;

fn request(api: ApiKey, version: i16, correlation_id: i32, body: &RequestKind) -> Vec<u8> {
    let client_id = Some(StrBytes::from_static_str("producer-7"));
    let header = RequestHeader { api, version, correlation_id, client_id };
    let frame = encode_request(&header, body).unwrap();
    [&frame::prefix(std::slice::from_ref(&frame))[..], &frame].concat()
}

fn answer(api: ApiKey, version: i16, correlation_id: i32, body: ResponseKind) -> Vec<u8> {
    let response = highwater_wire::Response { correlation_id, body };
    let parts = encode_response(api, version, &response).unwrap();
    [&frame::prefix(&parts)[..], &parts.concat()].concat()
}

fn produced(code: i16, offset: i64) -> ResponseKind {
    let partition = PartitionProduceResponse::default()
        .with_index(4)
        .with_error_code(code)
        .with_base_offset(offset);
    let topic = TopicProduceResponse::default()
        .with_name(StrBytes::from_static_str("t").into())
        .with_partition_responses(vec![partition]);
    ResponseKind::Produce(ProduceResponse::default().with_responses(vec![topic]))
}

fn fetched(code: i16, high_watermark: i64) -> ResponseKind {
    let partition = PartitionData::default()
        .with_partition_index(4)
        .with_error_code(code)
        .with_high_watermark(high_watermark);
    let topic = FetchableTopicResponse::default()
        .with_topic(StrBytes::from_static_str("t").into())
        .with_partitions(vec![partition]);
    ResponseKind::Fetch(FetchResponse::default().with_responses(vec![topic]))
}

#[tokio::test]
async fn answers_to_clients_are_witnessed_with_code_and_offset() {
    let bench = Bench::new().await;
    let place = bench.place(ONE, Listener::Client);
    let mut plan = bench.plan.clone();
    let mut ports = PortPool::new();
    let real = ([127, 0, 0, 1], ports.take().unwrap()).into();
    let own = Place { real, proxy: ([127, 0, 0, 1], ports.take().unwrap()).into() };
    assert_ne!(own.proxy, place.proxy);
    plan.nodes.retain(|id, _| *id == ONE);
    plan.nodes.get_mut(&ONE).unwrap().listeners = [(Listener::Client, own)].into();
    let other = TempDir::new().unwrap();
    let journal = Arc::new(Journal::create(other.path(), RunClock::start()).unwrap());
    let net = ProxyNet::start(&plan, Arc::default(), journal).await.unwrap();
    let listener = TcpListener::bind(own.real).await.unwrap();

    let mut client = TcpStream::connect(own.proxy).await.unwrap();
    let produce = RequestKind::Produce(ProduceRequest::default().with_acks(-1));
    let fetch = RequestKind::Fetch(FetchRequest::default());
    client.write_all(&request(ApiKey::Produce, PRODUCE_VERSION, 11, &produce)).await.unwrap();
    client.write_all(&request(ApiKey::Fetch, FETCH_VERSION, 12, &fetch)).await.unwrap();
    client.write_all(&request(ApiKey::Produce, PRODUCE_VERSION, 13, &produce)).await.unwrap();
    let (mut node, _) = listener.accept().await.unwrap();
    let answers = [
        answer(ApiKey::Produce, PRODUCE_VERSION, 11, produced(19, 41)),
        answer(ApiKey::Fetch, FETCH_VERSION, 12, fetched(0, 42)),
        [5, 13].map(i32::to_be_bytes).concat().into_iter().chain([0]).collect(),
    ];
    let wanted: usize = answers.iter().map(Vec::len).sum();
    node.write_all(&answers.concat()).await.unwrap();
    client.read_exact(&mut vec![0; wanted]).await.unwrap();
    node.shutdown().await.unwrap();
    drop(client);

    let lines = witnessed(&net, &bench, 3).await;
    assert_eq!((lines[0].api, lines[0].correlation_id), (0, 11));
    assert_eq!(lines[0].client_id, "producer-7");
    assert_eq!((lines[0].partitions[0].code, lines[0].partitions[0].offset), (19, 41));
    assert_eq!((lines[1].api, lines[1].partitions[0].high_watermark), (1, 42));
    assert_eq!(lines[1].partitions[0].topic, "t");
    assert!(lines[..2].iter().all(|line| line.unreadable.is_none()));
    assert!(lines[2].unreadable.is_some() && lines[2].partitions.is_empty());
    assert_eq!(net.failures(), Vec::<String>::new());
}

/// The witness writes after the bytes left, so its lines come a moment after the client's.
async fn witnessed(net: &ProxyNet, bench: &Bench, count: usize) -> Vec<Witnessed> {
    let path = bench.path().join("nodes/proxy-1.jsonl");
    let read = async {
        loop {
            net.flush_witness().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            let lines: Vec<Witnessed> = lines.collect();
            if lines.len() >= count {
                return lines;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(LATE, read).await.expect("every answer is witnessed")
}
