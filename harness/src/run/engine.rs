//! One run from its first process to its outcome.

use std::{path::Path, sync::Arc, time::Duration};

use highwater_history::{
    FormatError, Outcome, RunFolder,
    format::Document,
    outcome::{Ended, LagWindow, Missing, Recovery, Witness},
    recorder::Recorder,
};
use highwater_workloads::{
    driver::History,
    fleet::{Fleet, FleetConfig},
    workload,
};
use tokio::{sync::watch, task::spawn_blocking};

use super::{
    clients::Clients,
    complaints, disk_guard,
    ending::Ending,
    evidence::{dumps::Dumper, final_read::FinalReader, metadata, witness},
    fail::Failure,
    hooks::EngineHooks,
    interrupt::Interrupts,
    lag, manifest,
    observers::Observers,
    play::{Played, Player, Stage},
    recover::{self, Watcher, Well},
    setup::Setup,
    ui::{Tell, Ui},
    world::{Ground, World, make_folder, new_run_id},
};
use crate::{
    cluster::NodeState,
    nemesis::{ClusterView, Controls},
};

/// How long brokers are given to stop at the end of a run.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// How long the final read of one key may take.
const FINAL_READ_LIMIT: Duration = Duration::from_secs(30);

/// How a run was asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Everything that was decided before.
    pub setup: &'a Setup,
    /// Where run folders go.
    pub out: &'a Path,
    /// The command line, program first.
    pub command: &'a [String],
    /// The one command that repeats it.
    pub reproduce: &'a str,
    /// Whom to tell.
    pub ui: Ui,
    /// What ends it early.
    pub interrupts: &'a Interrupts,
}

/// Carries a run through and leaves its folder ready to be judged.
///
/// # Errors
/// When the run was interrupted or the harness failed; the machine is healed in any case, and the
/// folder holds what there was until then.
pub async fn execute(asked: Asked<'_>) -> Result<RunFolder, Failure> {
    let run_id = new_run_id();
    let setup = asked.setup;
    let folder = make_folder(asked.out, setup, &run_id)?;
    if let Err(full) = disk_guard::admit(folder.path()) {
        // It is empty; what cannot be removed of it is no harm.
        let _left = std::fs::remove_dir_all(folder.path());
        return Err(full);
    }
    asked.ui.say(&format!("run {run_id}: schedule {}, seed {}", setup.schedule.name, setup.seed));
    let ground = Ground::lay(setup, folder.clone(), &run_id).await?;
    let carried = async {
        let world = ground.serve(setup).await?;
        let run = Run { setup, world: &world, tell: asked.ui.timed(world.clock) };
        tokio::select! {
            carried = run.carry_through(asked.command, asked.reproduce) => carried,
            full = disk_guard::fills(folder.path()) => Err(full),
        }
    };
    let result = asked.interrupts.unless(carried).await;
    ground.cluster.kill_all().await;
    match result {
        Ok(()) => Ok(folder),
        Err(failure) => {
            // What ended the run is told, not what came of it.
            if let Err(error) = cut_short(&folder, &failure, ground.clock.now_ns()) {
                crate::stderr::line(format_args!("highwater: {error}"));
            }
            Err(failure)
        }
    }
}

/// Writes the outcome of a run that was cut short, unless it came as far as to write its own.
fn cut_short(folder: &RunFolder, failure: &Failure, at: u64) -> Result<(), FormatError> {
    if folder.outcome_path().exists() {
        return Ok(());
    }
    let ended = match failure {
        Failure::Interrupted => Ended::Interrupted,
        Failure::Usage(_) | Failure::Harness(_) => Ended::Failed,
    };
    let mut outcome = Outcome::new(ended, at);
    outcome.harness_failure = (ended == Ended::Failed).then(|| failure.to_string());
    outcome.write(&folder.outcome_path())
}

struct Run<'a> {
    setup: &'a Setup,
    world: &'a World,
    tell: Tell,
}

/// What the faulty part of a run left.
struct Broken {
    played: Played,
    recovery: Recovery,
    fleet: Fleet,
    late: Vec<LagWindow>,
}

/// When the last fault was healed, and which nodes did not come back.
struct Healed {
    at: u64,
    missing: Vec<Missing>,
}

impl Run<'_> {
    async fn carry_through(&self, command: &[String], reproduce: &str) -> Result<(), Failure> {
        let (setup, world) = (self.setup, self.world);
        let manifest = manifest::of(setup, world, command, reproduce);
        manifest.write(&world.folder.manifest_path())?;
        let history = History::new(Recorder::create(&world.folder.history_path())?);
        let mut observers = Observers::start(setup, world);
        let hooks = self.hooks(&history, &observers);
        let brokers = if setup.nodes == 1 { "broker serves" } else { "brokers serve" };
        (self.tell)(&format!("{} {brokers} {} keys", setup.nodes, world.catalog.len()));
        let mut broken = self.break_it(&history, &mut observers, &hooks).await?;
        let view = observers.view();
        let reader = self.final_reader(&history, &broken.fleet);
        let read_to = reader.read_all(&view, FINAL_READ_LIMIT).await?;
        self.dump_all(&view).await?;
        broken.late.extend(observers.finish().await?);
        world.cluster.end_all(STOP_PATIENCE).await;
        metadata::collect(&world.cluster, &world.folder.metadata_path())?;
        let witness = self.witness().await?;
        let failure = self.failure(&hooks, witness.as_ref());
        let ending = Ending {
            setup,
            world,
            view: &view,
            played: broken.played,
            recovery: broken.recovery,
            read_to,
            witness,
            late: broken.late,
            failure: failure.clone(),
        };
        ending.write()?;
        failure.map_or(Ok(()), |why| Err(Failure::Harness(why)))
    }

    /// Clients work, the schedule plays, everything is healed, the cluster recovers.
    async fn break_it(
        &self,
        history: &History,
        observers: &mut Observers,
        hooks: &Arc<EngineHooks>,
    ) -> Result<Broken, Failure> {
        let mut clients = self.clients(history)?;
        let progress = clients.progress.clone();
        let stage = Stage {
            controls: Controls {
                cluster: Arc::clone(&self.world.cluster),
                net: Arc::clone(&self.world.net),
                view: observers.watch(),
                hooks: Arc::clone(hooks) as _,
                clients: Some(clients.crasher.clone()),
            },
            progress: progress.clone(),
            clock: self.world.clock,
            catalog: Arc::clone(&self.world.catalog),
            seed: self.setup.seed,
            tell: Arc::clone(&self.tell),
        };
        let watcher = Watcher {
            catalog: &self.world.catalog,
            view: observers.watch(),
            progress: progress.clone(),
            clock: self.world.clock,
            late: observers.late(),
            limit: recover::limit(self.setup),
        };
        let controls = stage.controls.clone();
        let time = Duration::from_millis(self.setup.time_ms);
        let (healing, healed) = watch::channel(None);
        let mut well = None;
        let played = tokio::select! {
            played = Player::new(stage, healing).play(&self.setup.schedule, time) => played?,
            never = watcher.follow(healed, &mut well) => match never {},
            failure = clients.failed() => return Err(failure),
            failure = hooks.failed() => return Err(failure),
            failure = observers.failed() => return Err(failure),
            why = self.world.net.failed() => return Err(Failure::Harness(why)),
        };
        (self.tell)("everything is healed; waiting for recovery");
        let healed = self.bring_up(&controls, played.healed_at).await?;
        let (recovery, fleet) = self.recover(&watcher, clients, healed, well).await?;
        let late = lag::of_clients(&progress.borrow().late);
        Ok(Broken { played, recovery, fleet, late })
    }

    /// Starts what a crash of its own left down: recovery is judged with every node up. A node that
    /// does not come back is the first thing that recovery misses.
    async fn bring_up(&self, controls: &Controls, healed_at: u64) -> Result<Healed, Failure> {
        let mut healed = Healed { at: healed_at, missing: Vec::new() };
        let states = self.world.cluster.states();
        for (node, _) in states.iter().filter(|(_, state)| **state == NodeState::Down) {
            (self.tell)(&format!("node {node} is down; starting it"));
            healed.at = self.world.clock.now_ns();
        }
        for (_, why) in controls.bring_up().await? {
            healed.missing.push(Missing { key: None, condition: "node".into(), seen: why });
        }
        Ok(healed)
    }

    async fn recover(
        &self,
        watcher: &Watcher<'_>,
        clients: Clients,
        healed: Healed,
        well: Option<Well>,
    ) -> Result<(Recovery, Fleet), Failure> {
        let Healed { at: healed_at, mut missing } = healed;
        let well = well.filter(|well| well.healed_at == healed_at && watcher.is_well(healed_at));
        missing.extend(watcher.working(healed_at).await);
        let well_at = well.map_or_else(|| self.world.clock.now_ns(), |well| well.at);
        let fleet = clients.stop().await?;
        if missing.is_empty() {
            missing = watcher.idle().await;
        }
        let mut recovery = watcher.result(healed_at, well_at, missing);
        if let Some(first) = recovery.missing.first_mut() {
            let complaints = complaints::of(&self.world.cluster);
            first.seen.extend(complaints.iter().map(|said| format!("; {said}")));
        }
        for gap in &recovery.missing {
            let key = gap.key.as_ref().map_or("the cluster", |key| key.as_str());
            (self.tell)(&format!("not recovered: {key}: {}: {}", gap.condition, gap.seen));
        }
        Ok((recovery, fleet))
    }

    fn clients(&self, history: &History) -> Result<Clients, Failure> {
        let (setup, world) = (self.setup, self.world);
        let mut settings = setup.settings.clone();
        settings.run_id.clone_from(&world.run_id);
        let patience = settings.timeouts.attempt() + Duration::from_secs(1);
        let workload = workload::find(&setup.workload).expect("the setup names a known workload");
        let config = FleetConfig {
            settings,
            catalog: (*world.catalog).clone(),
            bootstrap: world.bootstrap(),
            seed: setup.seed,
            unix_zero_ms: (world.clock.unix_zero_ns() / 1_000_000) as i64,
        };
        Clients::start(Fleet::new(workload, config), world.clock, history.clone(), patience)
    }

    fn hooks(&self, history: &History, observers: &Observers) -> Arc<EngineHooks> {
        let (history, dumper) = (history.clone(), self.dumper());
        Arc::new(EngineHooks::new(history, self.world.clock, dumper, observers.watch()))
    }

    fn dumper(&self) -> Dumper {
        Dumper {
            folder: self.world.folder.dumps_path(),
            run_id: self.world.run_id.clone(),
            catalog: Arc::clone(&self.world.catalog),
            cluster: Arc::clone(&self.world.cluster),
            clock: self.world.clock,
            next: Arc::clone(&self.world.next_dump),
        }
    }

    async fn dump_all(&self, view: &Arc<ClusterView>) -> Result<(), Failure> {
        let (dumper, view) = (self.dumper(), Arc::clone(view));
        let dumped = spawn_blocking(move || dumper.finals(&view)).await;
        Ok(dumped.map_err(|error| Failure::Harness(format!("a dump crashed: {error}")))??)
    }

    fn final_reader(&self, history: &History, fleet: &Fleet) -> FinalReader {
        let (client, process) = fleet.next_numbers();
        FinalReader {
            catalog: Arc::clone(&self.world.catalog),
            brokers: self.world.cluster.plan().direct(),
            history: history.clone(),
            clock: self.world.clock,
            run_id: self.world.run_id.clone(),
            first_number: client.max(process),
        }
    }

    /// What the proxies saw, where there are any.
    async fn witness(&self) -> Result<Option<Witness>, Failure> {
        if !self.setup.capabilities.proxies {
            return Ok(None);
        }
        self.world.net.flush_witness()?;
        let history = self.world.folder.history_path();
        let nodes = self.world.folder.path().join("nodes");
        let brokers: Vec<i32> = self.world.cluster.plan().brokers().map(|n| n.id.0).collect();
        let catalog = Arc::clone(&self.world.catalog);
        let compared =
            spawn_blocking(move || witness::compare_folder(&history, &nodes, &brokers, &catalog));
        let crashed = |error| Failure::Harness(format!("the witness crashed: {error}"));
        Ok(Some(compared.await.map_err(crashed)??))
    }

    /// What went wrong in the harness itself: then nothing is said of the target.
    fn failure(&self, hooks: &EngineHooks, witness: Option<&Witness>) -> Option<String> {
        let proxies = self.world.net.failures().into_iter().next();
        let disagreement = witness
            .and_then(|witness| witness.disagreements.first())
            .map(|what| format!("history and proxies disagree: {what}"));
        hooks.failure().or(proxies).or(disagreement)
    }
}

#[cfg(test)]
mod tests {
    use highwater_history::{Outcome, RunFolder, format::Document, outcome::Ended};

    use super::{Failure, cut_short};

    #[test]
    fn what_a_run_said_of_itself_is_not_overwritten() {
        let folder = tempfile::TempDir::new().unwrap();
        let folder = RunFolder::new(folder.path());
        cut_short(&folder, &Failure::Harness("the first".into()), 1).unwrap();
        cut_short(&folder, &Failure::Interrupted, 2).unwrap();
        let outcome = Outcome::read(&folder.outcome_path()).unwrap();
        assert_eq!((outcome.ended, outcome.at), (Ended::Failed, 1));
        assert_eq!(outcome.harness_failure.as_deref(), Some("the first"));
    }
}
