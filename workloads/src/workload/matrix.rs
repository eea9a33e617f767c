//! One key for each choice of acks, min.insync.replicas, unclean election and flush, and a producer
//! of its own for each: the same faults hit all of them.

use super::{Entry, Floor, Generator, Role, log};
use crate::{Catalog, Settings, appenders::Appenders, topic::TopicPlan};

/// This workload.
pub static ENTRY: Entry = Entry { claims: log::ENTRY.claims, floors, topics, seats, generator };

fn floors(settings: &Settings) -> Vec<Floor> {
    log::floors_of(settings, &topics(settings))
}

/// Topic settings of the matrix, each with the words that stand in a topic's label.
const MIN_ISR: [(&str, &str); 3] = [("min1", "1"), ("min2", "2"), ("min3", "3")];
const UNCLEAN: [(&str, &str); 2] = [("clean", "false"), ("unclean", "true")];
/// Kafka's own value for "never" is the largest of a long.
const FLUSH: [(&str, &str); 2] = [("cached", "9223372036854775807"), ("flushed", "1")];

fn topics(settings: &Settings) -> Vec<TopicPlan> {
    let mut all = Vec::new();
    for acks in settings.acks.levels() {
        for (min_isr, replicas) in MIN_ISR {
            for (unclean, allowed) in UNCLEAN {
                for (flush, messages) in FLUSH {
                    let level = log::level_label(acks);
                    let label = format!("{level}_{min_isr}_{unclean}_{flush}");
                    let mut plan = TopicPlan::new(label, settings.partitions, acks);
                    plan.configs = [
                        ("min.insync.replicas", replicas),
                        ("unclean.leader.election.enable", allowed),
                        ("flush.messages", messages),
                    ]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into();
                    all.push(plan);
                }
            }
        }
    }
    all
}

/// A key that nobody can write must not hold up those that can be written, so nobody shares one.
fn seats(settings: &Settings) -> Vec<Role> {
    let of_topic = |plan: TopicPlan| vec![Role::Producer(plan.acks); plan.partitions as usize];
    let producers = topics(settings).into_iter().flat_map(of_topic);
    producers.chain((0..settings.consumers).map(|_| Role::Consumer)).collect()
}

fn generator(settings: &Settings, catalog: &Catalog, seed: u64) -> Box<dyn Generator> {
    let producers = catalog.keys().map(|key| vec![key]).collect();
    Box::new(Appenders::new("matrix", settings, catalog, producers, seed))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Role, Settings, seats, topics};
    use crate::{Acks, settings::AcksMode};

    #[test]
    fn every_choice_has_one_topic_and_one_producer() {
        let settings = Settings { partitions: 1, ..Settings::default() };
        let topics = topics(&settings);
        let labels: BTreeSet<_> = topics.iter().map(|topic| &topic.label).collect();
        assert_eq!((topics.len(), labels.len()), (3 * 3 * 2 * 2, 36));
        let producers = seats(&settings);
        let producers = producers.iter().filter(|role| matches!(role, Role::Producer(_)));
        assert_eq!(producers.count(), 36);
        let one = Settings { acks: AcksMode::Only(Acks::One), partitions: 1, ..settings };
        assert!(super::topics(&one).iter().all(|topic| topic.acks == Acks::One));
    }
}
