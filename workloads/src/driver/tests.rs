//! The driver against a broker in memory behind a real socket.

use std::{
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use highwater_history::{
    Event, EventValue,
    event::{EventKind, Function, MicroOp, Process},
    recorder::Recorder,
};
use highwater_wire::frame::{self, FrameBuffer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

use super::{Crasher, History, Progress, drive};
use crate::{
    Acks, Settings,
    client::Address,
    fleet::{Fleet, FleetConfig, Kind, Victims},
    settings::{AcksMode, ClientTimeouts},
    testing::{FakeBroker, catalog},
    workload,
};

async fn serve(broker: Arc<Mutex<FakeBroker>>, mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = FrameBuffer::new(1 << 20);
    while stream.read_buf(buffer.space()).await? > 0 {
        while let Some(frame) = buffer.next_frame().expect("whole frames") {
            let answer = broker.lock().unwrap().answer(frame);
            if let Some(answer) = answer {
                stream.write_all(&frame::prefix(std::slice::from_ref(&answer))).await?;
                stream.write_all(&answer).await?;
            }
        }
    }
    Ok(())
}

/// A broker that listens; each accepted connection ends after `life`.
async fn start_broker(life: Duration) -> Address {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let address = Address { host: "127.0.0.1".into(), port };
    let mut broker = FakeBroker::new(&catalog());
    broker.address = address.clone();
    let broker = Arc::new(Mutex::new(broker));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(tokio::time::timeout(life, serve(broker.clone(), stream)));
        }
    });
    address
}

fn fleet(bootstrap: Address, change: impl FnOnce(&mut Settings)) -> Fleet {
    let mut settings = Settings {
        run_id: "r7".into(),
        acks: AcksMode::Only(Acks::All),
        producers: 2,
        consumers: 1,
        ..Settings::default()
    };
    change(&mut settings);
    let bootstrap = vec![bootstrap];
    let config = FleetConfig { settings, catalog: catalog(), bootstrap, seed: 1, unix_zero_ms: 0 };
    Fleet::new(workload::find("log").unwrap(), config)
}

/// Runs until so many sends were acknowledged.
async fn run(fleet: &mut Fleet, acknowledged: u64) -> Vec<Event> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let history = History::new(Recorder::create(file.path()).unwrap());
    let (stop, stopped) = watch::channel(false);
    let progress = watch::Sender::new(Progress::default());
    let mut watched = progress.subscribe();
    let end = async {
        watched.wait_for(|seen| seen.counts.acknowledged() >= acknowledged).await.unwrap();
        stop.send(true).unwrap();
    };
    let patience = Duration::from_secs(5);
    let driven =
        drive(fleet, Instant::now(), &history, stopped, patience, &progress, Crasher::new().1);
    let (driven, ()) = tokio::join!(driven, end);
    driven.unwrap();
    read(file.path())
}

fn read(history: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(history).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn is_doubt(event: &Event) -> bool {
    event.kind == EventKind::Info && event.f == Function::Send
}

fn reads_something(event: &Event) -> bool {
    let EventValue::Ops(ops) = &event.value else { return false };
    let polled =
        |op: &MicroOp| matches!(op, MicroOp::Poll { records: Some(read) } if !read.is_empty());
    ops.iter().any(polled)
}

#[tokio::test]
async fn sends_are_acknowledged_and_read_over_real_sockets() {
    let address = start_broker(Duration::from_secs(60)).await;
    let mut fleet = fleet(address, |_| ());
    let events = run(&mut fleet, 300).await;
    assert!(events.iter().any(reads_something));
    let ends = events.iter().filter(|e| e.kind != EventKind::Invoke && e.f == Function::Send);
    let begins = events.iter().filter(|e| e.kind == EventKind::Invoke && e.f == Function::Send);
    assert_eq!(ends.count(), begins.count(), "every operation came to an end");
}

#[tokio::test]
async fn connections_that_end_are_dialed_again() {
    let address = start_broker(Duration::from_millis(100)).await;
    let mut fleet = fleet(address, |_| ());
    let events = run(&mut fleet, 300).await;
    assert!(!events.iter().any(is_doubt), "an idempotent producer repeats");
}

/// A broker on a thread of its own: it goes on while the test's runtime is held up.
async fn start_broker_apart() -> Address {
    let (sender, address) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            sender.send(start_broker(Duration::from_secs(60)).await).unwrap();
            std::future::pending::<()>().await;
        });
    });
    address.await.unwrap()
}

#[tokio::test]
async fn what_came_while_the_loop_was_held_up_does_not_expire() {
    let timeouts = ClientTimeouts { request_ms: 400, slack_ms: 100, ..ClientTimeouts::default() };
    let mut fleet = fleet(start_broker_apart().await, |settings| {
        (settings.idempotence, settings.rate, settings.timeouts) = (false, 0, timeouts);
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    let history = History::new(Recorder::create(file.path()).unwrap());
    let (stop, stopped) = watch::channel(false);
    let progress = watch::Sender::new(Progress::default());
    let mut watched = progress.subscribe();
    tokio::spawn(async move {
        for stalls in 0..3 {
            let more = 20 + watched.borrow().counts.acknowledged();
            watched.wait_for(|seen| seen.counts.acknowledged() > more).await.unwrap();
            assert!(watched.borrow().late.len() >= stalls, "each one is noticed");
            std::thread::sleep(timeouts.attempt() + Duration::from_millis(300));
        }
        stop.send_replace(true);
    });
    let patience = Duration::from_secs(5);
    drive(&mut fleet, Instant::now(), &history, stopped, patience, &progress, Crasher::new().1)
        .await
        .unwrap();
    assert!(progress.borrow().late.len() >= 3);
    assert!(!read(file.path()).iter().any(is_doubt), "nothing expired");
}

#[tokio::test]
async fn a_client_crashes_under_way_and_the_others_go_on() {
    let mut fleet = fleet(start_broker(Duration::from_secs(60)).await, |_| ());
    let file = tempfile::NamedTempFile::new().unwrap();
    let history = History::new(Recorder::create(file.path()).unwrap());
    let (stop, stopped) = watch::channel(false);
    let progress = watch::Sender::new(Progress::default());
    let mut watched = progress.subscribe();
    let (crasher, orders) = Crasher::new();
    let faults = async {
        watched.wait_for(|seen| seen.counts.acknowledged() >= 100).await.unwrap();
        let gone = crasher.crash(Victims { kind: Kind::Producer, count: 1, seed: 3 }).await;
        let more = 100 + watched.borrow().counts.acknowledged();
        watched.wait_for(|seen| seen.counts.acknowledged() >= more).await.unwrap();
        stop.send_replace(true);
        gone
    };
    let patience = Duration::from_secs(5);
    let driven = drive(&mut fleet, Instant::now(), &history, stopped, patience, &progress, orders);
    let (driven, gone) = tokio::join!(driven, faults);
    driven.unwrap();
    let [gone] = &gone[..] else { panic!("one of two crashed: {gone:?}") };
    let events = read(file.path());
    let opened = events.iter().filter(|event| event.f == Function::Open).count();
    assert_eq!(opened, 3 + 1, "its successor is one more than there were seats");
    assert!(gone.processes.iter().all(|process| ends_in_doubt(&events, *process)), "{gone:?}");
}

/// Whether the last that a process did is an info, or it did nothing at all.
fn ends_in_doubt(events: &[Event], process: u64) -> bool {
    let last = events.iter().rfind(|event| event.process == Process::Client(process));
    last.is_none_or(|event| event.kind == EventKind::Info)
}

/// Takes a few bytes and then has no space left.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_full_disk_ends_the_drive_with_its_error() {
    let address = start_broker(Duration::from_secs(60)).await;
    let mut fleet = fleet(address, |_| ());
    let history = History::new(Recorder::new("history.jsonl".as_ref(), Full(20)));
    let (_stop, stopped) = watch::channel(false);
    let progress = watch::Sender::new(Progress::default());
    let driven = drive(
        &mut fleet,
        Instant::now(),
        &history,
        stopped,
        Duration::ZERO,
        &progress,
        Crasher::new().1,
    )
    .await;
    assert!(driven.unwrap_err().to_string().contains("no space left"));
}

#[tokio::test]
async fn sends_without_answers_leave_room_for_everything_else() {
    let address = start_broker(Duration::from_secs(60)).await;
    let mut fleet = fleet(address, |settings| {
        settings.acks = AcksMode::Mix;
        settings.producers = 4;
        settings.rate = 0;
    });
    let events = run(&mut fleet, 300).await;
    let sent = fleet.counts().sends_ok.get(&Acks::Zero).copied();
    assert!(sent > Some(0), "each acks level was served");
    assert!(events.iter().all(|event| event.intended.is_none()), "nobody was to start earlier");
}
