//! A stand-in for a node: it listens, answers, and keeps asking its peers through their proxies.
//!
//! `WHO_HEARS` is answered with a byte per peer: whether the peer answered since the last question.

use std::{
    collections::BTreeMap,
    env,
    fs::File,
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use highwater_wire::{
    codec::{decode_request, encode_response},
    frame,
    messages::{ApiKey, ResponseKind},
};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    signal::unix::{SignalKind, signal},
    time,
};

/// Holds the stand-in's configuration, as JSON.
pub const VARIABLE: &str = "HIGHWATER_STAND_IN";
/// The request that asks which peers are heard.
pub const WHO_HEARS: i16 = 7_000;
/// What stand-ins ask each other: Kafka's Fetch.
const ASK_PEERS: i16 = 1;
const ASK_EVERY: Duration = Duration::from_millis(10);
/// A peer that does not answer by then is asked over a new connection.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);

/// What a stand-in is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Configuration {
    pub id: i32,
    pub listen: Vec<SocketAddr>,
    pub peers: BTreeMap<i32, SocketAddr>,
    /// Where it writes, if it does.
    pub disk: Option<PathBuf>,
}

/// In a stand-in's disk: each byte is synced.
pub const SYNCED: &str = "t-0/synced.log";
/// In a stand-in's disk: nothing is synced.
pub const LOOSE: &str = "t-1/loose.log";

type Heard = Arc<BTreeMap<i32, AtomicBool>>;

/// The stand-in when its variable is set; else a test that it serves and stops in order.
#[test]
fn serves_until_it_is_told_to_stop() {
    if let Ok(text) = env::var(VARIABLE) {
        let configuration = serde_json::from_str(&text).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(configuration));
        std::process::exit(0);
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(crate::bench::a_stand_in_serves_and_stops());
}

async fn run(configuration: Configuration) {
    let mut terminate = signal(SignalKind::terminate()).unwrap();
    let peers = configuration.peers.iter();
    let heard: Heard = Arc::new(peers.map(|(id, _)| (*id, AtomicBool::new(false))).collect());
    for address in &configuration.listen {
        let listener = TcpListener::bind(address).await.unwrap();
        tokio::spawn(accept(listener, Arc::clone(&heard)));
    }
    for (peer, address) in configuration.peers {
        tokio::spawn(keep_asking(configuration.id, peer, address, Arc::clone(&heard)));
    }
    if let Some(disk) = configuration.disk {
        thread::spawn(move || write(&disk).expect("a disk that fails ends the process"));
    }
    println!("\nready node={}", configuration.id);
    terminate.recv().await;
}

/// Writes to both files for ever; ends the process when the disk fails, as brokers do.
fn write(disk: &Path) -> io::Result<()> {
    let append = |name: &str| {
        let path = disk.join(name);
        std::fs::create_dir_all(path.parent().unwrap())?;
        File::options().create(true).append(true).open(path)
    };
    let (mut synced, mut loose) = (append(SYNCED)?, append(LOOSE)?);
    loop {
        let written = loose.write_all(&[2; 9]).and_then(|()| synced.write_all(&[1]));
        if written.and_then(|()| synced.sync_data()).is_err() {
            std::process::exit(74);
        }
        thread::sleep(ASK_EVERY);
    }
}

async fn accept(listener: TcpListener, heard: Heard) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        tokio::spawn(serve(stream, Arc::clone(&heard)));
    }
}

async fn serve(mut stream: TcpStream, heard: Heard) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    loop {
        let length = stream.read_i32().await.ok()?;
        let mut request = vec![0; length as usize];
        stream.read_exact(&mut request).await.ok()?;
        let answer = answer(request, &heard);
        let prefix = (answer.len() as i32).to_be_bytes();
        stream.write_all(&[&prefix[..], &answer].concat()).await.ok()?;
    }
}

/// Admin requests get an empty answer of their kind, others an empty body.
fn answer(request: Vec<u8>, heard: &Heard) -> Vec<u8> {
    let api_key = i16::from_be_bytes([request[0], request[1]]);
    let correlation_id = request[4..8].to_vec();
    let admin = [ApiKey::AlterPartitionReassignments, ApiKey::ElectLeaders];
    if api_key == WHO_HEARS {
        let each = heard.values().map(|heard| u8::from(heard.swap(false, Ordering::Relaxed)));
        return [correlation_id, each.collect()].concat();
    }
    if !admin.iter().any(|api| *api as i16 == api_key) {
        return correlation_id;
    }
    let request = decode_request(request.into()).unwrap();
    let (api, version) = (request.header.api, request.header.version);
    let body = match api {
        ApiKey::ElectLeaders => ResponseKind::ElectLeaders(Default::default()),
        _ => ResponseKind::AlterPartitionReassignments(Default::default()),
    };
    let correlation_id = request.header.correlation_id;
    let response = highwater_wire::Response { correlation_id, body };
    encode_response(api, version, &response).unwrap().concat()
}

async fn keep_asking(own: i32, peer: i32, address: SocketAddr, heard: Heard) {
    loop {
        if let Ok(mut stream) = TcpStream::connect(address).await {
            while let Ok(Some(())) = time::timeout(ANSWER_WITHIN, ask(own, &mut stream)).await {
                heard[&peer].store(true, Ordering::Relaxed);
                time::sleep(ASK_EVERY).await;
            }
        }
        time::sleep(ASK_EVERY).await;
    }
}

async fn ask(own: i32, stream: &mut TcpStream) -> Option<()> {
    let name = format!("broker-{own}-fetcher-0");
    stream.write_all(&request(ASK_PEERS, &name)).await.ok()?;
    let length = stream.read_i32().await.ok()?;
    stream.read_exact(&mut vec![0; length as usize]).await.ok().map(|_| ())
}

/// A request frame of version 12 without a body.
pub fn request(api_key: i16, client_id: &str) -> Vec<u8> {
    let mut body = api_key.to_be_bytes().to_vec();
    body.extend(12i16.to_be_bytes());
    body.extend(1i32.to_be_bytes());
    body.extend((client_id.len() as i16).to_be_bytes());
    body.extend(client_id.as_bytes());
    let body = bytes::Bytes::from(body);
    [&frame::prefix(std::slice::from_ref(&body))[..], &body].concat()
}
