//! Garbage, hostile lengths and idle crowds: refused, memory flat, others served.

use std::io::{Read, Write};

use highwater_broker::log::batch::BatchBuilder;

use crate::client::Client;
use crate::nodes::{Running, Setup, wait_for};

/// What a stranger's bytes may cost the node at most, for as long as they are held.
const FLAT_BYTES: u64 = 48 << 20;

fn assert_served(setup: &Setup, node: &Running) {
    let mut client = Client::connect(setup.port);
    let batch = BatchBuilder::new().record(1_700_000_000_000, None, Some(b"v"), &[]).build();
    // The topic may be there already.
    assert!(matches!(client.create("t"), 0 | 36));
    assert_eq!(client.produce("t", batch).0, 0);
    assert!(node.resident_bytes() < FLAT_BYTES, "{} bytes", node.resident_bytes());
}

#[test]
fn frames_that_are_no_requests_close_their_connection() {
    let setup = Setup::new();
    let node = setup.start();
    let huge = i32::MAX.to_be_bytes();
    let too_long = (100 << 20 | 1i32).to_be_bytes();
    let unknown_api = [0, 0, 0, 8, 0x7f, 0xff, 0, 0, 0, 0, 0, 1];
    // Metadata version 1 with 2^31-1 topics in 14 bytes.
    let hostile_count = [0, 0, 0, 14, 0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff];
    let frames: [&[u8]; 7] = [
        b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n",
        &[0xff; 64],
        &huge,
        &too_long,
        &(-1i32).to_be_bytes(),
        &unknown_api,
        &hostile_count,
    ];
    for frame in frames {
        let mut client = Client::connect(setup.port);
        client.stream.write_all(frame).unwrap();
        assert!(client.closes_without_answer(), "{frame:?}");
        assert_served(&setup, &node);
    }
}

#[test]
fn an_oversized_frame_is_logged_with_its_sender() {
    let mut setup = Setup::new();
    setup.more = "socket.request.max.bytes=10000".to_owned();
    let _node = setup.start();
    let mut client = Client::connect(setup.port);
    let own = client.stream.local_addr().unwrap().to_string();
    client.stream.write_all(&10_001i32.to_be_bytes()).unwrap();
    assert!(client.closes_without_answer());
    wait_for("the refusal is logged", || {
        let log = setup.log();
        (log.contains(&own) && log.contains("above the limit of 10000 bytes")).then_some(())
    });
}

#[test]
fn announced_bytes_reserve_nothing() {
    let setup = Setup::new();
    let node = setup.start();
    let half: Vec<Client> = (0..200)
        .map(|_| {
            let mut client = Client::connect(setup.port);
            client.stream.write_all(&(100i32 << 20).to_be_bytes()).unwrap();
            client.stream.write_all(&[0; 100]).unwrap();
            client
        })
        .collect();
    assert_served(&setup, &node);
    drop(half);
    assert_served(&setup, &node);
}

#[test]
fn a_crowd_of_idle_connections_costs_little() {
    let mut setup = Setup::new();
    // Kafka's 50 make a crowd that comes at once try again after a second.
    setup.more = "socket.listen.backlog.size=4096".to_owned();
    let node = setup.start();
    let before = node.resident_bytes();
    // As many as the test's own limit on open files leaves.
    let crowd = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE);
    let crowd = (crowd.unwrap().0.saturating_sub(200)).min(5_000) as usize;
    let idle: Vec<Client> = (0..crowd).map(|_| Client::connect(setup.port)).collect();
    assert_served(&setup, &node);
    let each = node.resident_bytes().saturating_sub(before) / crowd as u64;
    assert!(each < 4_096, "{each} bytes a connection");
    drop(idle);
}

#[test]
fn connections_above_the_limit_are_closed() {
    let mut setup = Setup::new();
    setup.more = "max.connections=12".to_owned();
    let _node = setup.start();
    let mut crowd: Vec<Client> = (0..40).map(|_| Client::connect(setup.port)).collect();
    assert!(crowd.pop().unwrap().closes_without_answer());
}

#[test]
fn requests_wait_for_memory_when_it_is_limited() {
    let mut setup = Setup::new();
    setup.more = "queued.max.request.bytes=100000".to_owned();
    let node = setup.start();
    Client::connect(setup.port).create("t");
    let value = vec![b'x'; 60_000];
    let batch = BatchBuilder::new().record(1_700_000_000_000, None, Some(&value), &[]).build();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut client = Client::connect(setup.port);
                for _ in 0..10 {
                    assert_eq!(client.produce("t", batch.clone()).0, 0);
                }
            });
        }
    });
    assert_served(&setup, &node);
}

#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    let setup = Setup::new();
    let (mut log, unread) = std::io::pipe().unwrap();
    let node = setup.start_with(unread);
    // Several times what a pipe holds, each with a line.
    for _ in 0..2_000 {
        let mut client = Client::connect(setup.port);
        client.stream.write_all(&(-1i32).to_be_bytes()).unwrap();
        assert!(client.closes_without_answer());
    }
    assert_served(&setup, &node);
    assert_eq!(node.stop(), Some(0), "it does not wait for a reader either");
    let mut text = String::new();
    log.read_to_string(&mut text).unwrap();
    assert!(text.lines().count() > 100 && text.contains("request-refused"));
}
