//! Random requests of every API and version: answered, refused or waited for, never a panic.

use std::collections::BTreeSet;

use bytes::Bytes;
use highwater_wire::{ApiKey, sample, versions};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::image::bench;
use crate::api::served;
use crate::connection::ListenerKind;
use crate::effect::{ConnId, Effect, Input};
use crate::testing::Bench;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Answered,
    Closed,
    Waits,
}

/// Sends a frame on a connection of its own, and looks what becomes of it within a second.
fn send(bench: &mut Bench, conn: u64, frame: Bytes) -> Fate {
    bench.accept(conn);
    bench.frame(conn, frame);
    bench.pass_ms(1_000);
    let fate = bench.take().iter().find_map(|effect| match effect {
        Effect::Send { conn: to, .. } if to.0 == conn => Some(Fate::Answered),
        Effect::Close { conn: to } if to.0 == conn => Some(Fate::Closed),
        _ => None,
    });
    bench.step(Input::Closed { conn: ConnId(conn) });
    fate.unwrap_or(Fate::Waits)
}

#[test]
fn every_legal_request_is_answered_or_waited_for_in_every_version() {
    let mut bench = bench();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut conn = 100;
    let mut fates = BTreeSet::new();
    for entry in served(ListenerKind::Broker) {
        let range = versions::supported(entry.api);
        for version in range.min..=range.max {
            for _ in 0..20 {
                conn += 2;
                let frame = sample::request(entry.api, version, &mut random);
                let fate = send(&mut bench, conn, frame);
                let may_close = matches!(entry.api, ApiKey::Produce);
                assert!(fate != Fate::Closed || may_close, "{:?} {version}", entry.api);
                fates.insert(fate);
            }
        }
    }
    assert!(fates.contains(&Fate::Answered));
}

#[test]
fn broken_requests_end_nothing_but_their_connection() {
    let mut bench = bench();
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let apis: Vec<ApiKey> = served(ListenerKind::Broker).map(|entry| entry.api).collect();
    let mut fates = BTreeSet::new();
    for conn in (100..8_000).step_by(2) {
        let api = apis[random.random_range(0..apis.len())];
        let range = versions::supported(api);
        let version = random.random_range(range.min..=range.max);
        let mut frame = sample::request(api, version, &mut random).to_vec();
        sample::mutate(&mut frame, &mut random);
        fates.insert(send(&mut bench, conn, frame.into()));
    }
    assert_eq!(fates.len(), 3, "some are answered, some wait, some close: {fates:?}");
}
