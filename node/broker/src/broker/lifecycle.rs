//! A broker's life as its controller sees it: registration, heartbeats, unfencing, shutdown
//! (rules 31 to 33).

use highwater_node_core::types::{BrokerEpoch, Time};
use highwater_wire::messages::broker_registration_request::{Feature, Listener};
use highwater_wire::messages::{
    BrokerHeartbeatRequest, BrokerHeartbeatResponse, BrokerRegistrationRequest,
    BrokerRegistrationResponse,
};
use highwater_wire::{ErrorCode, StrBytes};
use rand::RngExt;
use uuid::Uuid;

use crate::channel::{CallError, ChannelKey, Peer};
use crate::effect::Effect;
use crate::event::Event;
use crate::features;
use crate::kernel::Kernel;
use crate::node::Node;
use crate::startup::{self, Startup};
use crate::timers::TimerId;

/// The channel of registrations and heartbeats: nothing else may delay them.
const CHANNEL: ChannelKey = ChannelKey { peer: Peer::Controller, lane: "heartbeat" };
/// The first wait after a failure; it doubles up to the heartbeat interval.
const FIRST_RETRY_MS: u64 = 100;
/// The exit status of a broker that never got registered.
const EXIT_NOT_REGISTERED: i32 = 70;
/// How long a stopping broker waits for the controller's leave, as in Kafka.
const CONTROLLED_SHUTDOWN_LIMIT_MS: u64 = 300_000;
/// Kafka's number for the PLAINTEXT security protocol.
const PLAINTEXT: i16 = 0;

/// Where a broker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Not registered.
    Starting,
    /// Registered and fenced: it catches up with the metadata.
    Fenced,
    /// Unfenced once: it serves.
    Running,
    /// It asked to stop, and hands over its leaderships.
    Stopping,
    /// It may stop, and closes its logs.
    Closing,
}

/// The life of this broker process.
#[derive(Debug)]
pub struct Lifecycle {
    phase: Phase,
    incarnation: Uuid,
    /// The epoch of the registration; none before it.
    epoch: Option<BrokerEpoch>,
    previous_epoch: Option<BrokerEpoch>,
    /// When registration is given up.
    deadline: Time,
    failures: u32,
    /// Why heartbeats fail, as it was logged last; none while they are answered.
    refused: Option<String>,
    /// When the next request is due.
    timer: Option<TimerId>,
    /// True while a request is under way.
    in_flight: bool,
    /// True when a request came due meanwhile: it follows at once.
    again: bool,
}

impl Lifecycle {
    pub(crate) fn new(random: &mut impl RngExt) -> Lifecycle {
        Lifecycle {
            phase: Phase::Starting,
            incarnation: Uuid::from_u128(random.random()),
            epoch: None,
            previous_epoch: None,
            deadline: Time(0),
            failures: 0,
            refused: None,
            timer: None,
            in_flight: false,
            again: false,
        }
    }

    /// Where the broker stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The epoch of this incarnation; -1 before it is registered, as Kafka sends it.
    pub fn epoch(&self) -> BrokerEpoch {
        self.epoch.unwrap_or(BrokerEpoch(-1))
    }
}

/// Registers.
pub(crate) fn start(node: &mut Node, startup: &Startup) {
    let deadline = node.kernel.now().plus_ms(node.config.initial_registration_timeout_ms);
    let lifecycle = &mut node.broker_mut().lifecycle;
    lifecycle.previous_epoch = startup.previous_epoch;
    lifecycle.deadline = deadline;
    send(node);
}

/// Begins a controlled shutdown (rule 33); a broker that was never registered just closes.
pub(crate) fn shut_down(node: &mut Node) {
    match node.broker_mut().lifecycle.phase {
        Phase::Starting => close(node),
        Phase::Fenced | Phase::Running => {
            node.broker_mut().lifecycle.phase = Phase::Stopping;
            send_soon(node, 0);
            node.kernel.after(CONTROLLED_SHUTDOWN_LIMIT_MS, give_up_handing_over);
        }
        Phase::Stopping | Phase::Closing => {}
    }
}

/// Closes without the controller's leave: it may be gone for good.
fn give_up_handing_over(node: &mut Node) {
    if node.broker().lifecycle.phase == Phase::Stopping {
        let text = "no controller let this broker go in time: it closes with its leaderships";
        node.kernel.event(Event::Warning { text: text.to_owned() });
        close(node);
    }
}

/// Tells the controller at once that the metadata was caught up with, instead of at the next turn.
pub(crate) fn caught_up(node: &mut Node) {
    if node.broker().lifecycle.phase == Phase::Fenced {
        send_soon(node, 0);
    }
}

/// The request that is due: a registration before there is an epoch, else a heartbeat.
fn send(node: &mut Node) {
    let lifecycle = &mut node.broker_mut().lifecycle;
    if lifecycle.phase == Phase::Closing {
        return;
    }
    if lifecycle.in_flight {
        lifecycle.again = true;
        return;
    }
    lifecycle.in_flight = true;
    match lifecycle.epoch {
        None => register(node),
        Some(epoch) => heartbeat(node, epoch),
    }
}

fn send_soon(node: &mut Node, ms: u64) {
    let timer = node.kernel.after(ms, send);
    if let Some(earlier) = node.broker_mut().lifecycle.timer.replace(timer) {
        node.kernel.cancel(earlier);
    }
}

/// Nothing is under way any more; gives whether a request came due meanwhile.
fn answered(node: &mut Node) -> bool {
    let lifecycle = &mut node.broker_mut().lifecycle;
    lifecycle.in_flight = false;
    std::mem::take(&mut lifecycle.again)
}

/// What came due while a request was under way does not wait for the next turn, but for a failure.
fn send_again(node: &mut Node, again: bool) {
    if again && node.broker().lifecycle.failures == 0 {
        send_soon(node, 0);
    }
}

fn register(node: &mut Node) {
    let request = registration(node);
    let timeout_ms = node.config.broker_session_timeout_ms / 2;
    node.kernel.call(CHANNEL, request, timeout_ms, |node, answer| {
        let again = answered(node);
        on_registration(node, answer);
        send_again(node, again);
    });
}

fn registration(node: &Node) -> BrokerRegistrationRequest {
    let config = &node.config;
    let lifecycle = &node.broker().lifecycle;
    let listeners = config.listeners.iter().filter(|l| !config.is_controller_listener(&l.name));
    let text = |text: &str| StrBytes::from_string(text.to_owned());
    let feature = |feature: &features::Feature| {
        Feature::default()
            .with_name(StrBytes::from_static_str(feature.name))
            .with_min_supported_version(feature.min)
            .with_max_supported_version(feature.max)
    };
    BrokerRegistrationRequest::default()
        .with_broker_id(config.node_id.0.into())
        .with_cluster_id(text(&config.cluster_id))
        .with_incarnation_id(lifecycle.incarnation)
        .with_listeners(
            listeners
                .map(|listener| {
                    Listener::default()
                        .with_name(text(&listener.name))
                        .with_host(text(&listener.advertised_host))
                        .with_port(listener.advertised_port)
                        .with_security_protocol(PLAINTEXT)
                })
                .collect(),
        )
        .with_features(features::SUPPORTED.iter().map(feature).collect())
        .with_rack(config.rack.as_deref().map(text))
        .with_log_dirs(vec![Uuid::from_u128(config.directory_id)])
        .with_previous_broker_epoch(lifecycle.previous_epoch.map_or(-1, |epoch| epoch.0))
}

fn on_registration(node: &mut Node, answer: Result<BrokerRegistrationResponse, CallError>) {
    let error = match answer {
        Ok(response) if response.error_code == 0 => {
            let epoch = BrokerEpoch(response.broker_epoch);
            let lifecycle = &mut node.broker_mut().lifecycle;
            lifecycle.epoch = Some(epoch);
            lifecycle.phase = lifecycle.phase.max(Phase::Fenced);
            lifecycle.failures = 0;
            node.kernel.event(Event::Registered { broker_epoch: epoch.0 });
            return send_soon(node, 0);
        }
        Ok(response) => highwater_wire::error::error_name(refusal(node, response.error_code)),
        Err(error) => error.to_string(),
    };
    if node.kernel.now() >= node.broker().lifecycle.deadline {
        let text = format!("the controller did not register this broker in time: {error}");
        node.kernel.event(Event::Warning { text });
        node.kernel.effect(Effect::Exit { status: EXIT_NOT_REGISTERED });
        return;
    }
    node.kernel.event(Event::RegistrationRefused { why: error });
    retry(node);
}

fn heartbeat(node: &mut Node, epoch: BrokerEpoch) {
    let broker = node.broker();
    let phase = broker.lifecycle.phase;
    let request = BrokerHeartbeatRequest::default()
        .with_broker_id(node.config.node_id.0.into())
        .with_broker_epoch(epoch.0)
        .with_current_metadata_offset(broker.image().end.0 - 1)
        .with_want_fence(false)
        .with_want_shut_down(phase >= Phase::Stopping);
    let timeout_ms = node.config.broker_session_timeout_ms / 2;
    node.kernel.call(CHANNEL, request, timeout_ms, |node, answer| {
        let again = answered(node);
        on_heartbeat(node, answer);
        send_again(node, again);
    });
}

fn on_heartbeat(node: &mut Node, answer: Result<BrokerHeartbeatResponse, CallError>) {
    match answer {
        Ok(response) if response.error_code == 0 => on_beat(node, &response),
        Ok(response) => on_refused_beat(node, response.error_code),
        Err(error) => {
            tell_refusal(node, error.to_string());
            retry(node);
        }
    }
}

fn on_beat(node: &mut Node, response: &BrokerHeartbeatResponse) {
    let interval_ms = node.config.broker_heartbeat_interval_ms;
    let lifecycle = &mut node.broker_mut().lifecycle;
    lifecycle.failures = 0;
    lifecycle.refused = None;
    match lifecycle.phase {
        Phase::Fenced if !response.is_fenced => {
            lifecycle.phase = Phase::Running;
            node.kernel.event(Event::Unfenced);
            serve(&mut node.kernel);
        }
        Phase::Stopping if response.should_shut_down => return close(node),
        _ => {}
    }
    send_soon(node, interval_ms);
}

/// As in Kafka, a broker whose registration is gone goes on asking and never registers anew: an
/// operator took it out, or another process has its id. Unlike Kafka it then stops at once when it
/// is told to, since it has nothing to hand over.
fn on_refused_beat(node: &mut Node, code: i16) {
    let why = highwater_wire::error::error_name(refusal(node, code));
    tell_refusal(node, why);
    let registration_is_gone = [ErrorCode::StaleBrokerEpoch, ErrorCode::BrokerIdNotRegistered];
    let stopping = node.broker().lifecycle.phase == Phase::Stopping;
    if stopping && registration_is_gone.iter().any(|gone| gone.code() == code) {
        return close(node);
    }
    retry(node);
}

/// Logs why heartbeats fail, once for as long as the reason is the same.
fn tell_refusal(node: &mut Node, why: String) {
    let refused = &mut node.broker_mut().lifecycle.refused;
    if refused.as_ref() != Some(&why) {
        *refused = Some(why.clone());
        node.kernel.event(Event::HeartbeatRefused { why });
    }
}

fn serve(kernel: &mut Kernel) {
    kernel.connections.serve_clients();
    kernel.effect(Effect::Ready);
}

/// Looks the controller up again when the one that answered is none; gives the code back.
fn refusal(node: &mut Node, code: i16) -> i16 {
    if code == ErrorCode::NotController.code() {
        node.kernel.reset_peer(Peer::Controller);
    }
    code
}

fn retry(node: &mut Node) {
    let longest = node.config.broker_heartbeat_interval_ms;
    let lifecycle = &mut node.broker_mut().lifecycle;
    let doubled = FIRST_RETRY_MS << lifecycle.failures.min(10);
    lifecycle.failures += 1;
    send_soon(node, doubled.min(longest.max(FIRST_RETRY_MS)));
}

fn close(node: &mut Node) {
    let lifecycle = &mut node.broker_mut().lifecycle;
    lifecycle.phase = Phase::Closing;
    let epoch = lifecycle.epoch;
    startup::close(node, epoch);
}

#[cfg(test)]
mod tests;
