//! Plays a schedule: waits for conditions, installs faults, heals them, checks what is asserted.

mod eye;
mod force;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use eye::{Begun, Eye, topic_of};
use force::{Installed, fault_outcome, heal, targets};
use highwater_history::outcome::{
    Assertion, Condition as ConditionOutcome, FaultOutcome, FaultStatus,
};
use highwater_workloads::{Catalog, driver::Progress, random::stream};
use rand::{Rng as _, SeedableRng};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use super::{fail::Failure, ui::Tell};
use crate::{
    clock::RunClock,
    fault::{self, Active},
    nemesis::{Controls, NotInstalled, Rng},
    steps::{
        Do, Schedule, Span, Step, bind,
        when::{Condition, Known, Scene},
    },
};

/// How often conditions are looked at beside every new observation: some are about time.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What became of a schedule.
#[derive(Debug, Default)]
pub struct Played {
    /// Every fault.
    pub faults: Vec<FaultOutcome>,
    /// Every condition.
    pub conditions: Vec<ConditionOutcome>,
    /// Every check.
    pub assertions: Vec<Assertion>,
    /// When the last fault was healed, nanoseconds of the run.
    pub healed_at: u64,
}

/// Where a schedule is played.
#[derive(Clone)]
pub struct Stage {
    /// What faults act through.
    pub controls: Controls,
    /// What the clients did so far.
    pub progress: watch::Receiver<Progress>,
    /// The run's clock.
    pub clock: RunClock,
    /// The keys of the run.
    pub catalog: Arc<Catalog>,
    /// The run's seed.
    pub seed: u64,
    /// Told each thing that happens.
    pub tell: Tell,
}

/// Where in a schedule the player is, both counted from 1.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    round: u64,
    step: u64,
}

/// Plays one schedule.
pub struct Player {
    stage: Stage,
    /// Told when the last fault was healed, while none is in force.
    healing: watch::Sender<Option<u64>>,
    played: Played,
    names: BTreeMap<String, Known>,
    lasting: JoinSet<(FaultOutcome, Result<(), Failure>)>,
    held: Vec<Installed>,
    at: Place,
    begun: Begun,
}

impl Player {
    /// A player that has not begun; while no fault is in force it tells `healing` since when.
    #[must_use]
    pub fn new(stage: Stage, healing: watch::Sender<Option<u64>>) -> Player {
        let played = Played { healed_at: stage.clock.now_ns(), ..Played::default() };
        Player {
            stage,
            healing,
            played,
            names: BTreeMap::new(),
            lasting: JoinSet::new(),
            held: Vec::new(),
            at: Place::default(),
            begun: Begun { at: Instant::now(), sends: 0 },
        }
    }

    /// Plays the steps once whatever the time, again while there is time if the schedule repeats,
    /// and heals everything.
    ///
    /// # Errors
    /// When the harness itself failed; what is in force is healed by its drop.
    pub async fn play(mut self, schedule: &Schedule, time: Duration) -> Result<Played, Failure> {
        let end = Instant::now() + time;
        self.begin_step();
        self.tell_healing();
        for round in 1.. {
            for (step, nth) in schedule.steps.iter().zip(1..) {
                self.at = Place { round, step: nth };
                let bound = (round > 1).then_some(end);
                if !self.step(step, bound).await? {
                    break;
                }
            }
            self.heal_all().await?;
            if !schedule.repeat || Instant::now() >= end {
                break;
            }
            // Steps that were all skipped must not be tried as often as the machine can.
            sleep(LOOK_EVERY).await;
        }
        sleep_until(end).await;
        Ok(self.played)
    }

    fn begin_step(&mut self) {
        let sends = self.stage.progress.borrow().counts.acknowledged();
        self.begun = Begun { at: Instant::now(), sends };
    }

    /// One step; false when the time of a repetition is over.
    async fn step(&mut self, step: &Step, end: Option<Instant>) -> Result<bool, Failure> {
        if let Some(when) = &step.when {
            let limit = Instant::now() + step.within.duration();
            let before = self.before(when);
            let limit = end.map_or(limit, |end| end.min(limit));
            let met = self.wait(when, &before, limit).await? == Some(true);
            if !met && end.is_some_and(|end| end <= Instant::now()) {
                return Ok(false);
            }
            let at = met.then(|| self.stage.clock.now_ns());
            self.played.conditions.push(ConditionOutcome { when: when.text.clone(), met, at });
            if !met {
                self.unmet(step, when);
                self.begin_step();
                return Ok(true);
            }
        }
        for (name, expr) in &step.bind {
            let value = self.look(|scene| expr.value(scene));
            self.names.insert(name.clone(), value);
        }
        self.begin_step();
        match &step.act {
            Do { fault: Some(name), .. } => self.fault(name, step).await?,
            Do { check: Some(check), .. } => self.check(check, step).await?,
            Do { always: Some(always), lasts: Some(lasts), .. } => {
                self.always(always, *lasts, step).await?;
            }
            _ => {}
        }
        Ok(true)
    }

    /// A condition that did not come true leaves its fault indeterminate and its check undecided.
    fn unmet(&mut self, step: &Step, when: &Condition) {
        let reason = format!("`{}` did not come true within {}", when.text, step.within);
        (self.stage.tell)(&reason);
        if let Some(name) = &step.act.fault {
            let mut outcome = fault_outcome(name);
            outcome.status = FaultStatus::Indeterminate;
            outcome.reason = Some(reason);
            self.played.faults.push(outcome);
        } else if let Some(claim) = &step.act.claim {
            let (claim, reason) = (claim.clone(), Some(reason));
            let assertion = Assertion { claim, held: None, seen: Value::Null, reason };
            self.played.assertions.push(assertion);
        }
    }

    async fn fault(&mut self, name: &str, step: &Step) -> Result<(), Failure> {
        let mut outcome = fault_outcome(name);
        // It may act long before it is in force.
        let from = self.stage.clock.now_ns();
        self.healing.send_replace(None);
        let installed = match self.parameters(&step.act.with) {
            Ok(with) => self.install(name, &with).await,
            Err(why) => Err(NotInstalled::Indeterminate(why)),
        };
        match installed {
            Ok(active) => {
                let mut described = active.describe();
                (self.stage.tell)(&format!("{name} {described}"));
                outcome.targets = targets(&described);
                outcome.from = Some(from);
                described["from"] = json!(from);
                self.stage.controls.hooks.note(name, described);
                self.hold(Installed { active, outcome }, step);
            }
            Err(NotInstalled::Harness(why)) => return Err(Failure::Harness(why)),
            Err(NotInstalled::Skipped(reason)) => self.not_installed(outcome, reason, false),
            Err(NotInstalled::Indeterminate(reason)) => {
                // Nothing proves that it acted, and nothing that it did not.
                self.played.healed_at = self.stage.clock.now_ns();
                self.not_installed(outcome, reason, true);
            }
        }
        self.tell_healing();
        Ok(())
    }

    fn not_installed(&mut self, mut outcome: FaultOutcome, reason: String, tried: bool) {
        (self.stage.tell)(&format!("{}: {reason}", outcome.kind));
        outcome.status = if tried { FaultStatus::Indeterminate } else { FaultStatus::Skipped };
        outcome.reason = Some(reason);
        self.played.faults.push(outcome);
    }

    fn parameters(&self, with: &Value) -> Result<Value, String> {
        let topic_of = |label: &str| topic_of(&self.stage.catalog, label);
        let with = if with.is_null() { json!({}) } else { with.clone() };
        bind::fill(&with, &self.names, &topic_of)
    }

    async fn install(&self, name: &str, with: &Value) -> Result<Box<dyn Active>, NotInstalled> {
        let fault = fault::parse(name, with)
            .map_err(|error| NotInstalled::Indeterminate(error.to_string()))?;
        let cluster = &self.stage.controls.cluster;
        let scene = fault::Scene {
            plan: cluster.plan(),
            capabilities: cluster.target().capabilities(),
            disks: cluster.disks().is_some(),
        };
        fault.applies(&scene).map_err(NotInstalled::Skipped)?;
        // What a fault draws hangs on its place alone, not on what became of those before it.
        let Place { round, step } = self.at;
        let name = format!("fault/{round}/{step}");
        let rng = Rng::seed_from_u64(stream(self.stage.seed, &name).next_u64());
        fault.install(&self.stage.controls, rng).await
    }

    /// Keeps a fault in force for as long as its step says.
    fn hold(&mut self, installed: Installed, step: &Step) {
        let (controls, clock) = (self.stage.controls.clone(), self.stage.clock);
        match (&step.act.lasts, &step.act.until) {
            (Some(lasts), _) => {
                let lasts = lasts.duration();
                self.lasting.spawn(async move {
                    sleep(lasts).await;
                    heal(installed, controls, clock).await
                });
            }
            (None, Some(until)) => {
                let mut eye = self.eye();
                let (until, limit) = (until.clone(), step.within.duration());
                let before = self.before(&until);
                self.lasting.spawn(async move {
                    eye.wait(&until, &before, Instant::now() + limit).await;
                    heal(installed, controls, clock).await
                });
            }
            (None, None) => self.held.push(installed),
        }
    }

    async fn check(&mut self, check: &Condition, step: &Step) -> Result<(), Failure> {
        let (before, from) = (self.before(check), self.stage.clock.now_ns());
        let held = self.wait(check, &before, Instant::now() + step.within.duration()).await?;
        self.assertion(check, step, from, held);
        Ok(())
    }

    async fn always(
        &mut self,
        always: &Condition,
        lasts: Span,
        step: &Step,
    ) -> Result<(), Failure> {
        let before = self.before(always);
        let (from, end) = (self.stage.clock.now_ns(), Instant::now() + lasts.duration());
        let mut held = None;
        while held != Some(false) && Instant::now() < end {
            // A look at what was not observed decides nothing.
            held = self.look(|scene| always.decide(scene, &before)).or(held);
            self.next_observation().await?;
        }
        self.assertion(always, step, from, held);
        Ok(())
    }

    fn assertion(&mut self, condition: &Condition, step: &Step, from: u64, held: Option<bool>) {
        let claim = step.act.claim.clone().expect("a check has a claim");
        let (to, view) = (self.stage.clock.now_ns(), self.stage.controls.view());
        let seen = json!({"condition": condition.text, "from": from, "to": to, "view": *view});
        let word = match held {
            Some(true) => "held",
            Some(false) => "NOT held",
            None => "not decided",
        };
        (self.stage.tell)(&format!("{word}: {claim}"));
        let unseen = || format!("what `{}` is about was not observed", condition.text);
        let reason = held.is_none().then(unseen);
        self.played.assertions.push(Assertion { claim, held, seen, reason });
    }

    /// Heals what has no end of its own, in the reverse order, and waits for what has.
    async fn heal_all(&mut self) -> Result<(), Failure> {
        while let Some(installed) = self.held.pop() {
            let (outcome, result) =
                heal(installed, self.stage.controls.clone(), self.stage.clock).await;
            self.healed(outcome);
            result?;
        }
        while !self.lasting.is_empty() {
            self.collect_healed(true).await?;
        }
        Ok(())
    }

    async fn collect_healed(&mut self, wait: bool) -> Result<(), Failure> {
        let next = if wait { self.lasting.join_next().await } else { self.lasting.try_join_next() };
        match next {
            Some(Ok((outcome, result))) => {
                self.healed(outcome);
                result
            }
            Some(Err(error)) => Err(Failure::Harness(format!("a fault crashed: {error}"))),
            None => Ok(()),
        }
    }

    fn healed(&mut self, outcome: FaultOutcome) {
        (self.stage.tell)(&format!("{} healed", outcome.kind));
        self.played.healed_at = self.played.healed_at.max(outcome.to.unwrap_or(0));
        self.played.faults.push(outcome);
        self.tell_healing();
    }

    fn tell_healing(&self) {
        let healed = self.held.is_empty() && self.lasting.is_empty();
        self.healing.send_replace(healed.then_some(self.played.healed_at));
    }

    /// Waits until a condition holds, at most until `limit`; gives what was decided last, `None`
    /// where every look hung on what was not observed.
    async fn wait(
        &mut self,
        condition: &Condition,
        before: &[Known],
        limit: Instant,
    ) -> Result<Option<bool>, Failure> {
        let mut decided = None;
        loop {
            // A key without a leader decides little; that another led it until then does.
            decided = self.look(|scene| condition.decide(scene, before)).or(decided);
            if decided == Some(true) || Instant::now() >= limit {
                return Ok(decided);
            }
            self.next_observation().await?;
        }
    }

    async fn next_observation(&mut self) -> Result<(), Failure> {
        self.stage.next_observation().await;
        self.collect_healed(false).await
    }

    fn before(&self, condition: &Condition) -> Vec<Known> {
        self.look(|scene| condition.before(scene))
    }

    fn look<T>(&self, see: impl FnOnce(&Scene<'_>) -> T) -> T {
        self.eye().look(see)
    }

    fn eye(&self) -> Eye {
        Eye {
            stage: self.stage.clone(),
            names: self.names.clone(),
            begun: self.begun,
            healed: self.held.is_empty() && self.lasting.is_empty(),
        }
    }
}
