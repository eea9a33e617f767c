//! Random inputs in any order keep the invariants of a replica.

use proptest::prelude::*;

use super::world::World;
use crate::script::Line;
use crate::types::Offset;

/// A random input; the numbers are folded into what fits the state.
#[derive(Clone, Debug)]
enum Step {
    Metadata { leader: u8, next_epoch: bool, isr: u8 },
    Append { records: u8, producer: u8, sequence: u8, all: bool },
    Written { part: u8 },
    Fetch { by: u8, at: u8 },
    Check { after_ms: u16 },
    Answer { kind: u8 },
    Copied { records: u8, high_watermark: u8 },
    Diverged { epoch: u8, end: u8 },
    OutOfRange { start: u8, end: u8 },
    Truncated,
    Config { min: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1..=3_u8, any::<bool>(), 0..4_u8).prop_map(|(leader, next_epoch, isr)| Step::Metadata {
            leader,
            next_epoch,
            isr
        }),
        (1..=3_u8, 0..3_u8, 0..9_u8, any::<bool>()).prop_map(
            |(records, producer, sequence, all)| Step::Append { records, producer, sequence, all }
        ),
        any::<u8>().prop_map(|part| Step::Written { part }),
        (2..=3_u8, any::<u8>()).prop_map(|(by, at)| Step::Fetch { by, at }),
        (0..2000_u16).prop_map(|after_ms| Step::Check { after_ms }),
        (0..4_u8).prop_map(|kind| Step::Answer { kind }),
        (0..4_u8, any::<u8>())
            .prop_map(|(records, high_watermark)| Step::Copied { records, high_watermark }),
        (any::<u8>(), any::<u8>()).prop_map(|(epoch, end)| Step::Diverged { epoch, end }),
        (any::<u8>(), any::<u8>()).prop_map(|(start, end)| Step::OutOfRange { start, end }),
        Just(Step::Truncated),
        (1..=3_u8).prop_map(|min| Step::Config { min }),
    ]
}

/// The world, and what the committed metadata has come to.
struct Run {
    world: World,
    leader: Option<i32>,
    epoch: i32,
    version: i32,
    cutting: bool,
}

impl Run {
    /// The line for a step, or nothing where the step cannot happen in this state.
    fn line(&mut self, step: &Step) -> Option<String> {
        let replica = &self.world.replica;
        let follows = replica.position().is_some();
        let end = self.world.disk.end().0;
        Some(match *step {
            Step::Metadata { leader, next_epoch, isr } => self.metadata(leader, next_epoch, isr),
            Step::Append { records, producer: 0, all, .. } => {
                format!("append n={records} acks={}", if all { "all" } else { "1" })
            }
            Step::Append { records, producer, sequence, .. } => {
                format!("append n={records} pid={producer} seq={sequence}")
            }
            Step::Written { part } if !self.cutting => {
                let written = replica.bounds().log_end.0;
                let some = written + (end - written) * i64::from(part) / 255;
                let batch_end = |b: &crate::replica::BatchMeta| b.next_offset();
                let ends = self.world.disk.batches.iter().map(batch_end);
                format!("written end={}", ends.filter(|e| e.0 <= some).max()?)
            }
            Step::Fetch { by, at } => {
                let epoch = replica.leads()?;
                format!("fetch by={by} at={} epoch={epoch}", i64::from(at) % (end + 2))
            }
            Step::Check { .. } => "check".to_owned(),
            Step::Answer { kind } => {
                self.world.proposal.as_ref()?;
                self.answer(kind)
            }
            Step::Copied { records, high_watermark } if follows => {
                let hw = i64::from(high_watermark) % (end + 3);
                format!("copied n={records} of={} hw={hw}", self.epoch)
            }
            Step::Diverged { epoch, end } if follows => {
                self.cutting = true;
                let epoch = i32::from(epoch) % (self.epoch + 1);
                format!("diverged epoch={epoch} end={}", self.between_batches(end))
            }
            Step::OutOfRange { start, end: leaders } if follows => {
                let leaders = self.between_batches(leaders);
                let start = i64::from(start) % (end + 3);
                self.cutting = leaders < end || start > end;
                format!("range start={start} end={leaders}")
            }
            Step::Truncated if self.cutting => {
                self.cutting = false;
                "truncated".to_owned()
            }
            Step::Config { min } => format!("config min={min}"),
            _ => return None,
        })
    }

    fn metadata(&mut self, leader: u8, next_epoch: bool, isr: u8) -> String {
        let before = self.leader.replace(i32::from(leader));
        self.version += 1;
        if next_epoch || before != self.leader {
            self.epoch += 1;
        }
        let others = (1..=3_u8).filter(|id| *id != leader && isr & (1 << (id % 2)) != 0);
        let isr: Vec<String> =
            std::iter::once(leader).chain(others).map(|b| b.to_string()).collect();
        let (epoch, version) = (self.epoch, self.version);
        format!("metadata leader={leader} epoch={epoch} version={version} isr={}", isr.join(","))
    }

    fn answer(&mut self, kind: u8) -> String {
        let sent = self.world.proposal.clone().expect("checked by the caller");
        let isr: Vec<String> = sent.isr.iter().map(|(id, _)| id.to_string()).collect();
        match kind {
            0 => "answer error=unknown".to_owned(),
            1 => "answer error=not-made".to_owned(),
            2 => "answer error=outdated".to_owned(),
            _ => {
                self.version += 1;
                let (epoch, version) = (sent.leader_epoch, self.version);
                format!("answer leader=1 epoch={epoch} version={version} isr={}", isr.join(","))
            }
        }
    }

    /// An offset at which a log may be cut, picked by `number`.
    fn between_batches(&self, number: u8) -> i64 {
        let batches = &self.world.disk.batches;
        let ends = batches.iter().map(|b| b.next_offset()).chain([self.world.disk.base]);
        let all: Vec<Offset> = ends.collect();
        all[usize::from(number) % all.len()].0
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn invariants_hold_after_every_step(steps in prop::collection::vec(step(), 1..80)) {
        let world = World::new();
        let mut run = Run { world, leader: None, epoch: 0, version: 0, cutting: false };
        for step in &steps {
            if let Step::Check { after_ms } = step {
                run.world.now = run.world.now.plus_ms(u64::from(*after_ms));
            }
            let Some(line) = run.line(step) else { continue };
            let before = run.world.replica.clone();
            run.world.execute(&Line::parse(&line));
            let after = &run.world.replica;
            if before.leads().is_some() && before.leads() == after.leads() {
                let (now, then) = (after.bounds().high_watermark, before.bounds().high_watermark);
                prop_assert!(now >= then, "rule 18");
                prop_assert!(after.appended_end() >= before.appended_end(), "rule 4");
            }
            let known = run.world.disk.loaded(Offset(0)).producers;
            prop_assert_eq!(after.producers(), &known, "rule 45: a function of the log");
        }
    }
}
