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

pub(super) fn floors(settings: &Settings) -> Vec<Floor> {
    let mut floors = vec![Floor { name: "ok-read", wanted: 1 }];
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
    use super::{Acks, AcksMode, Role, Settings, seats};

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
