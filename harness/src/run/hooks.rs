//! What the engine does around faults: nemesis events and dumps.

use std::sync::Arc;

use highwater_history::{
    Event, EventValue,
    dumps::Moment,
    event::{EventKind, Function, Process},
};
use highwater_workloads::driver::History;
use serde_json::Value;
use tokio::sync::watch;

use super::{evidence::dumps::Dumper, fail::Failure};
use crate::{
    clock::RunClock,
    cluster::NodeId,
    nemesis::{ClusterView, Hooks},
    target::BoxFuture,
};

/// The engine's hooks.
pub struct EngineHooks {
    history: History,
    clock: RunClock,
    dumper: Dumper,
    view: watch::Receiver<Arc<ClusterView>>,
    failure: watch::Sender<Option<String>>,
}

impl EngineHooks {
    /// Hooks that record into `history` and dump with `dumper`.
    #[must_use]
    pub fn new(
        history: History,
        clock: RunClock,
        dumper: Dumper,
        view: watch::Receiver<Arc<ClusterView>>,
    ) -> EngineHooks {
        EngineHooks { history, clock, dumper, view, failure: watch::Sender::new(None) }
    }

    /// The first thing that went wrong in a hook: a harness failure.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    /// Waits until something went wrong in a hook.
    pub async fn failed(&self) -> Failure {
        let mut failure = self.failure.subscribe();
        let told = failure.wait_for(Option::is_some).await;
        let why = told.ok().and_then(|why| why.clone());
        Failure::Harness(why.expect("the sender lives as long as these hooks"))
    }

    fn fail(&self, what: String) {
        self.failure.send_if_modified(|failure| {
            let is_first = failure.is_none();
            failure.get_or_insert(what);
            is_first
        });
    }

    async fn dump(&self, node: NodeId, moment: Moment) {
        let (dumper, view) = (self.dumper.clone(), Arc::clone(&self.view.borrow()));
        let dumped =
            tokio::task::spawn_blocking(move || dumper.suffixes(node, moment, &view)).await;
        match dumped {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.fail(error.to_string()),
            Err(error) => self.fail(format!("the dump of node {node} crashed: {error}")),
        }
    }
}

impl Hooks for EngineHooks {
    fn note(&self, f: &str, value: Value) {
        let now = self.clock.now_ns();
        let event = Event::new(now, Process::Nemesis, EventKind::Info, Function::from(f));
        let event = event.with_value(EventValue::Other(value));
        if let Err(error) = self.history.record([event]) {
            self.fail(error.to_string());
        }
    }

    fn before_start<'a>(&'a self, node: NodeId) -> BoxFuture<'a, ()> {
        Box::pin(self.dump(node, Moment::BeforeRestart))
    }

    fn before_heal<'a>(&'a self, nodes: &'a [NodeId]) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            for node in nodes {
                self.dump(*node, Moment::BeforeHeal).await;
            }
        })
    }
}
