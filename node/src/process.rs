//! Puts the threads together: network, node, disk, signals.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use highwater_broker::Node;
use highwater_broker::config::{Loaded, Settings};
use highwater_broker::log::Store;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::Start;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::file_disk::FileDisk;
use crate::log_dir::{self, LogDir};
use crate::message::Message;
use crate::net::{self, Bound, Dialer, Gate, Shared};
use crate::node_thread::NodeThread;
use crate::{disk_thread, log_lines};

/// Starts the log, in which what the properties do not do stands first.
pub fn begin_log(loaded: &Loaded) -> Result<(), Failure> {
    log_lines::start().map_err(no_thread)?;
    if !loaded.without_effect.is_empty() {
        let names = loaded.without_effect.join(", ");
        log_lines::warn(format!("these properties have no effect here: {names}"));
    }
    Ok(())
}

/// Serves until the node asks to stop; then ends the process with its status.
pub fn serve(start: Start) -> Result<(), Failure> {
    let Start { loaded, rules, mutants } = start;
    begin_log(&loaded)?;
    raise_file_limit();
    let mut settings = loaded.settings;
    let log_dir = log_dir::open(&settings.node, &mutants)?;
    settings.node.cluster_id = log_dir.meta.cluster_id.clone();
    settings.node.directory_id = log_dir.meta.directory_id.unwrap_or_default();

    let runtime = network_runtime()?;
    let (bound, signals) = {
        let _entered = runtime.enter();
        (bind_all(&settings)?, Signals::install()?)
    };
    let clock = Clock::start();
    let (messages_in, messages) = mpsc::channel();
    let (disk, commands) = mpsc::channel();
    let store = store(&log_dir, &settings);
    disk_thread::spawn(store, clock, commands, messages_in.clone()).map_err(no_thread)?;
    let shared = Shared {
        node: messages_in.clone(),
        gate: Gate::new(settings.shell.queued_max_request_bytes),
        request_max_bytes: settings.shell.request_max_bytes,
    };
    let dialer = Dialer {
        runtime: runtime.handle().clone(),
        // Limits on requests: answers of other nodes are as large as this one asked for.
        shared: Shared {
            gate: Gate::new(None),
            request_max_bytes: i32::MAX as usize,
            ..shared.clone()
        },
        timeout: Duration::from_millis(settings.shell.connection_setup_timeout_ms),
    };
    let seed = log_dir::random_id().map_err(Failure::cannot_serve)? as u64;
    let node = NodeThread {
        ready_line: ready_line(&settings, &mutants),
        node: Node::new(settings.node, rules, seed),
        clock,
        messages,
        disk,
        dialer,
        connections: BTreeMap::new(),
    };
    spawn_network(runtime, bound, shared, signals, messages_in)?;
    let status = node.run();
    log_lines::flush();
    std::process::exit(status)
}

fn no_thread(error: std::io::Error) -> Failure {
    Failure::cannot_serve(format!("cannot start a thread: {error}"))
}

/// One thread for all sockets: it only moves bytes.
fn network_runtime() -> Result<Runtime, Failure> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build();
    runtime.map_err(|error| Failure::cannot_serve(format!("cannot use the network: {error}")))
}

fn bind_all(settings: &Settings) -> Result<Vec<Bound>, Failure> {
    let bind = |listener| net::bind(listener, settings.shell.listen_backlog);
    settings.node.listeners.iter().map(bind).collect()
}

fn store(log_dir: &LogDir, settings: &Settings) -> Store<FileDisk> {
    let replication = &settings.node.replication;
    let check_ms = replication.producer_id_expiration_check_interval_ms;
    Store::new(FileDisk::new(&log_dir.path))
        .with_producer_expiration_ms(replication.producer_id_expiration_ms)
        .with_producer_check_ms(i64::try_from(check_ms).unwrap_or(i64::MAX))
}

fn spawn_network(
    runtime: Runtime,
    bound: Vec<Bound>,
    shared: Shared,
    signals: Signals,
    node: Sender<Message>,
) -> Result<(), Failure> {
    let numbers = Arc::new(AtomicU64::new(0));
    for listener in bound {
        runtime.spawn(net::run(listener, numbers.clone(), shared.clone()));
    }
    let network = move || runtime.block_on(signals.forward(node));
    thread::Builder::new().name("network".to_owned()).spawn(network).map_err(no_thread)?;
    Ok(())
}

/// SIGTERM and SIGINT.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn install() -> Result<Signals, Failure> {
        let failed = |error| Failure::cannot_serve(format!("cannot wait for signals: {error}"));
        Ok(Signals {
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
        })
    }

    /// Tells the node of every signal, for ever.
    async fn forward(mut self, node: Sender<Message>) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => {}
                _ = self.interrupt.recv() => {}
            }
            let _ = node.send(Message::Shutdown);
        }
    }
}

/// `ready node=1 listener=HOST:PORT`: the first listener for clients, else the first of all.
fn ready_line(settings: &Settings, mutants: &[String]) -> String {
    let node = &settings.node;
    let for_clients =
        node.listeners.iter().find(|listener| !node.is_controller_listener(&listener.name));
    let listener = for_clients.or(node.listeners.first());
    let address = listener.map(|listener| format!("{}:{}", listener.host, listener.port));
    let mut line = format!("ready node={} listener={}", node.node_id, address.unwrap_or_default());
    if !mutants.is_empty() {
        line += &format!(" mutants={}", mutants.join(","));
    }
    line
}

/// Every segment and every connection is a file: allow as many as the system lets us.
fn raise_file_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
