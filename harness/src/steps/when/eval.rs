//! Decides conditions against what is observed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Clause, Condition, Expr, Function, Op, Term};
use crate::nemesis::{ClusterView, Partition, PartitionView};

/// What an expression is, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// Nothing was observed.
    Nothing,
    /// A number: an offset, an epoch, a node id, a count.
    Number(i64),
    /// A set of node ids.
    Nodes(BTreeSet<i64>),
}

impl Known {
    /// As a fault's parameter; `None` when nothing is known.
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        match self {
            Known::Nothing => None,
            Known::Number(number) => Some(Value::from(*number)),
            Known::Nodes(nodes) => Some(nodes.iter().copied().collect()),
        }
    }
}

/// What conditions are decided against.
pub struct Scene<'a> {
    /// What was last observed of the cluster.
    pub view: &'a ClusterView,
    /// The broker's name of a topic by its label.
    pub topic_of: &'a dyn Fn(&str) -> Option<String>,
    /// What names stand for.
    pub names: &'a BTreeMap<String, Known>,
    /// Milliseconds since the step before began.
    pub waited_ms: u64,
    /// Acknowledged sends since the step before began.
    pub sends: u64,
    /// Whether no fault is in force.
    pub healed: bool,
}

impl Condition {
    /// The left sides' values now: what `before` will mean.
    #[must_use]
    pub fn before(&self, scene: &Scene<'_>) -> Vec<Known> {
        let left = |clause: &Clause| match clause {
            Clause::Compare(left, ..) => scene.value(left, &Known::Nothing),
            _ => Known::Nothing,
        };
        self.clauses.iter().map(left).collect()
    }

    /// Whether it is true now; `before` is what [`Condition::before`] gave. What was not observed
    /// makes it false.
    #[must_use]
    pub fn holds(&self, scene: &Scene<'_>, before: &[Known]) -> bool {
        self.decide(scene, before) == Some(true)
    }

    /// As [`Condition::holds`], but `None` when it hangs on what was not observed.
    #[must_use]
    pub fn decide(&self, scene: &Scene<'_>, before: &[Known]) -> Option<bool> {
        let decided = self.clauses.iter().enumerate().map(|(nth, clause)| {
            let before = before.get(nth).unwrap_or(&Known::Nothing);
            match clause {
                Clause::After(span) => Some(scene.waited_ms >= span.0),
                Clause::AfterSends(count) => Some(scene.sends >= *count),
                Clause::Healed => Some(scene.healed),
                Clause::Full => Some(scene.view.isr_is_full()),
                Clause::Compare(left, op, right) => {
                    // Only `none` itself may be compared with what is not known.
                    let may_lack = *left == Term::None || *right == Term::None;
                    compare(&scene.value(left, before), *op, &scene.value(right, before), may_lack)
                }
            }
        });
        let decided: Vec<Option<bool>> = decided.collect();
        match decided.contains(&Some(false)) {
            true => Some(false),
            false => decided.iter().all(Option::is_some).then_some(true),
        }
    }
}

impl Expr {
    /// Its value now.
    #[must_use]
    pub fn value(&self, scene: &Scene<'_>) -> Known {
        scene.value(&self.term, &Known::Nothing)
    }
}

impl Scene<'_> {
    fn value(&self, term: &Term, before: &Known) -> Known {
        match term {
            Term::Number(number) => Known::Number(*number),
            Term::None => Known::Nothing,
            Term::Before => before.clone(),
            Term::Name(name) => self.names.get(name).cloned().unwrap_or(Known::Nothing),
            Term::List(items) => self.list(items, before),
            Term::Plus(term, number) => match self.value(term, before) {
                Known::Number(value) => Known::Number(value + number),
                _ => Known::Nothing,
            },
            Term::Call(function, key, node) => {
                let node = node.as_ref().map(|node| self.value(node, before));
                self.call(*function, key, node).unwrap_or(Known::Nothing)
            }
        }
    }

    fn list(&self, items: &[Term], before: &Known) -> Known {
        let mut nodes = BTreeSet::new();
        for item in items {
            match self.value(item, before) {
                Known::Number(node) => drop(nodes.insert(node)),
                Known::Nodes(more) => nodes.extend(more),
                Known::Nothing => return Known::Nothing,
            }
        }
        Known::Nodes(nodes)
    }

    fn call(&self, function: Function, key: &str, node: Option<Known>) -> Option<Known> {
        let seen = self.partition(key)?;
        let number = |value: i64| Some(Known::Number(value));
        let leader = seen.leader.map(|leader| i64::from(leader.0));
        let isr: BTreeSet<i64> = seen.isr.iter().map(|node| i64::from(node.0)).collect();
        match function {
            Function::Leader => number(leader?),
            Function::LeaderEpoch => number(seen.leader_epoch.into()),
            Function::Isr => Some(Known::Nodes(isr)),
            Function::IsrSize => number(isr.len() as i64),
            Function::Hw => number(seen.high_watermark?),
            Function::Leo => match node {
                Some(Known::Number(node)) => number(leo(seen, node)?),
                Some(_) => None,
                None => number(leo(seen, leader?)?),
            },
            Function::Behind => match node? {
                Known::Number(node) => number(leo(seen, leader?)? - leo(seen, node)?),
                _ => None,
            },
            Function::Follower => number(isr.into_iter().find(|node| Some(*node) != leader)?),
        }
    }

    fn partition(&self, key: &str) -> Option<&PartitionView> {
        let key: Partition = key.parse().ok()?;
        let topic = (self.topic_of)(&key.topic)?;
        self.view.partitions.get(&Partition { topic, index: key.index })
    }
}

fn leo(seen: &PartitionView, node: i64) -> Option<i64> {
    seen.leo.iter().find(|(id, _)| i64::from(id.0) == node).map(|(_, leo)| *leo)
}

/// `None` when a side is not known.
fn compare(left: &Known, op: Op, right: &Known, may_lack: bool) -> Option<bool> {
    let lacks = *left == Known::Nothing || *right == Known::Nothing;
    if lacks && !may_lack {
        return None;
    }
    Some(match (op, left, right) {
        (Op::Equal, left, right) => left == right,
        (Op::NotEqual, left, right) => left != right,
        (Op::In, Known::Number(node), Known::Nodes(nodes)) => nodes.contains(node),
        (Op::NotIn, Known::Number(node), Known::Nodes(nodes)) => !nodes.contains(node),
        (Op::Less, Known::Number(left), Known::Number(right)) => left < right,
        (Op::AtMost, Known::Number(left), Known::Number(right)) => left <= right,
        (Op::Greater, Known::Number(left), Known::Number(right)) => left > right,
        (Op::AtLeast, Known::Number(left), Known::Number(right)) => left >= right,
        _ => false,
    })
}
