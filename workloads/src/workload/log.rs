//! Producers that append to a replicated log at mixed acks, consumers that tail and re-read it.

use super::{Entry, Floor, Generator, Role};
use crate::{Acks, Catalog, Settings, appenders::Appenders, settings::AcksMode, topic::TopicPlan};

/// This workload.
pub static ENTRY: Entry = Entry {
    claims: &[
        "corrupt-payload",
        "divergence",
        "duplicate",
        "early-ack",
        "epoch-regression",
        "failed-yet-visible",
        "idempotence-broken",
        "inconsistent-offsets",
        "isr-illegal",
        "lineage",
        "lost-write",
        "metadata-divergence",
        "nonmonotonic-poll",
        "nonmonotonic-send",
        "not-recovered",
        "phantom-read",
        "producer-id-reuse",
        "real-time-order",
        "reread-mismatch",
        "reset-skip",
        "split-brain-write",
        "unseen",
        "watermark-order",
        "watermark-regression",
        "watermark-stuck",
    ],
    floors,
    topics,
    seats,
    generator,
};

fn floors(settings: &Settings) -> Vec<Floor> {
    floors_of(settings, &topics(settings))
}

/// With so many sends a second for each key every key has some, whoever chooses.
const SENDS_TO_REACH_A_KEY: u32 = 20;

/// Every acks level was acknowledged, and every key was sent to and read where the rate is enough
/// for that: a run that left a key alone says nothing of it.
pub(super) fn floors_of(settings: &Settings, topics: &[TopicPlan]) -> Vec<Floor> {
    let keys: u32 = topics.iter().map(|topic| topic.partitions).sum();
    let enough = settings.rate >= keys.saturating_mul(SENDS_TO_REACH_A_KEY);
    let wanted = if enough { u64::from(keys) } else { 1 };
    let names = ["ok-read", "keys-sent", "keys-read"];
    let wanted = [1, wanted, wanted];
    let mut floors: Vec<Floor> =
        names.into_iter().zip(wanted).map(|(name, wanted)| Floor { name, wanted }).collect();
    for acks in settings.acks.levels() {
        floors.push(match acks {
            Acks::All => Floor { name: "acknowledged.all", wanted: 1 },
            Acks::One => Floor { name: "acknowledged.1", wanted: 1 },
            Acks::Zero => Floor { name: "sent.0", wanted: 1 },
        });
    }
    floors
}

fn topics(settings: &Settings) -> Vec<TopicPlan> {
    let levels = settings.acks.levels();
    (0..settings.topics as usize)
        .map(|nth| {
            let acks = levels[nth % levels.len()];
            let round = nth / levels.len();
            let several = settings.topics as usize > levels.len();
            let suffix = if several { format!("{}", round + 1) } else { String::new() };
            let label = format!("{}{suffix}", level_label(acks));
            TopicPlan::new(label, settings.partitions, acks)
        })
        .collect()
}

pub(super) fn level_label(acks: Acks) -> &'static str {
    match acks {
        Acks::All => "all",
        Acks::One => "one",
        Acks::Zero => "zero",
    }
}

fn seats(settings: &Settings) -> Vec<Role> {
    let level = |nth: u32| match settings.acks {
        AcksMode::Only(acks) => acks,
        AcksMode::Mix => [Acks::All, Acks::One, Acks::Zero, Acks::All][nth as usize % 4],
    };
    let producers = (0..settings.producers).map(|nth| Role::Producer(level(nth)));
    producers.chain((0..settings.consumers).map(|_| Role::Consumer)).collect()
}

fn generator(settings: &Settings, catalog: &Catalog, seed: u64) -> Box<dyn Generator> {
    let producers = seats(settings).into_iter().filter_map(|role| match role {
        Role::Producer(acks) => Some(catalog.keys_at(acks)),
        Role::Consumer => None,
    });
    Box::new(Appenders::new("log", settings, catalog, producers.collect(), seed))
}

#[cfg(test)]
mod tests {
    use super::{Acks, AcksMode, Role, Settings, floors, seats};

    #[test]
    fn every_key_has_to_be_used_where_the_rate_is_enough() {
        let wanted = |settings: &Settings| {
            let floors = floors(settings);
            let of = |name: &str| floors.iter().find(|floor| floor.name == name).unwrap().wanted;
            [of("keys-sent"), of("keys-read"), of("acknowledged.all")]
        };
        let settings = Settings { topics: 3, partitions: 4, ..Settings::default() };
        assert_eq!(wanted(&settings), [12, 12, 1]);
        assert_eq!(wanted(&Settings { rate: 239, ..settings.clone() }), [1, 1, 1]);
        assert_eq!(wanted(&Settings { rate: 240, ..settings }), [12, 12, 1]);
    }

    #[test]
    fn as_few_producers_as_levels_serve_every_level() {
        let settings = Settings { acks: AcksMode::Mix, producers: 3, ..Settings::default() };
        settings.validate().unwrap();
        let seats = seats(&settings);
        for acks in [Acks::All, Acks::One, Acks::Zero] {
            assert!(seats.contains(&Role::Producer(acks)), "{acks:?}");
        }
    }
}
