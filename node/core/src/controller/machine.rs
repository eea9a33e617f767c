//! The controller's step: one input, its records and replies.

use super::config::{ConfigRules, Settings};
use super::reply::Reply;
use super::request::Request;
use super::sessions::Sessions;
use super::waiting::Waiting;
use crate::error::{ErrorCode, Refusal};
use crate::metadata::record::RegisterControllerRecord;
use crate::metadata::{Delta, Image, Record};
use crate::rule::Rules;
use crate::types::{BrokerEpoch, BrokerId, Offset, Time};

/// Names a request until its reply; the caller chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u64);

/// What the controller is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Someone asks for something.
    Request {
        /// The request's name.
        token: Token,
        /// What is asked.
        request: Request,
    },
    /// Everything below this offset is committed.
    Committed(Offset),
    /// The time of [`Controller::next_wake`] has come.
    Tick,
}

/// What the controller wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Append these records as one atomic batch at this offset, synced.
    Append {
        /// The offset of the first record; the end of the log so far.
        base: Offset,
        /// The records.
        records: Vec<Record>,
    },
    /// Answer a request.
    Reply {
        /// The request's name.
        token: Token,
        /// The answer.
        reply: Reply,
    },
}

/// The active controller of one epoch.
pub struct Controller {
    pub(super) settings: Settings,
    pub(super) rules: Rules,
    pub(super) config_rules: Box<dyn ConfigRules + Send>,
    pub(super) image: Image,
    pub(super) sessions: Sessions,
    records: Vec<Record>,
    waiting: Waiting,
    pub(super) unclean_due: Time,
    pub(super) rebalance_due: Option<Time>,
}

impl Controller {
    /// A controller that takes office: `image` is the replay of the whole log, all of it committed
    /// (rule 74). Live brokers get a whole session from `now` on. On a new log the first records
    /// are written; `own` is this process's registration.
    pub fn activate(
        now: Time,
        settings: Settings,
        tables: (Rules, Box<dyn ConfigRules + Send>),
        image: Image,
        own: RegisterControllerRecord,
        out: &mut Vec<Output>,
    ) -> Controller {
        let mut controller = Controller {
            sessions: Sessions::of(&image, now, settings.session_timeout_ms),
            waiting: Waiting::committed(image.end),
            records: Vec::new(),
            unclean_due: now.plus_ms(settings.unclean_interval_ms),
            rebalance_due: settings
                .auto_rebalance
                .then(|| now.plus_ms(settings.rebalance_interval_ms)),
            settings,
            rules: tables.0,
            config_rules: tables.1,
            image,
        };
        controller.bootstrap(own);
        controller.append(out);
        controller
    }

    /// Takes one input; what is wanted is added to `out` in order.
    pub fn step(&mut self, now: Time, input: Input, out: &mut Vec<Output>) {
        match input {
            Input::Request { token, request } => {
                let reply = self.handle(now, request);
                self.append(out);
                self.waiting.push(self.image.end, token, reply);
            }
            Input::Committed(end) => self.waiting.commit(end),
            Input::Tick => {
                self.tick(now);
                self.append(out);
            }
        }
        self.waiting.release(out);
        debug_assert!(self.records.is_empty(), "a step leaves no record unwritten");
    }

    /// When [`Input::Tick`] is wanted next.
    pub fn next_wake(&self) -> Option<Time> {
        let session = self.sessions.next_expiry(&self.image);
        [session, Some(self.unclean_due), self.rebalance_due].into_iter().flatten().min()
    }

    /// The image with everything that was decided, committed or not.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Checks the whole state; panics with the invariant that does not hold.
    pub fn validate(&self) {
        self.image.validate();
        self.sessions.validate(&self.image);
        self.waiting.validate(self.image.end);
    }

    fn handle(&mut self, now: Time, request: Request) -> Reply {
        match request {
            Request::RegisterBroker(request) => {
                Reply::RegisterBroker(self.register_broker(now, request))
            }
            Request::Heartbeat(request) => Reply::Heartbeat(self.heartbeat(now, &request)),
            Request::AlterPartition(request) => {
                Reply::AlterPartition(self.alter_partition(&request))
            }
            Request::AllocateProducerIds { broker, broker_epoch } => {
                Reply::AllocateProducerIds(self.allocate_producer_ids(broker, broker_epoch))
            }
            Request::CreateTopics(request) => Reply::CreateTopics(self.create_topics(&request)),
            Request::DeleteTopics(topics) => Reply::DeleteTopics(self.delete_topics(&topics)),
            Request::ElectLeaders(request) => Reply::ElectLeaders(self.elect_leaders(request)),
            Request::AlterReassignments(changes) => {
                Reply::AlterReassignments(self.alter_reassignments(changes))
            }
            Request::ListReassignments(filter) => {
                Reply::ListReassignments(self.list_reassignments(filter.as_deref()))
            }
            Request::AlterConfigs(request) => Reply::AlterConfigs(self.alter_configs(&request)),
            Request::UnregisterBroker(broker) => {
                Reply::UnregisterBroker(self.unregister_broker(broker))
            }
        }
    }

    fn tick(&mut self, now: Time) {
        self.forgive_own_stall(now);
        self.fence_expired(now);
        if self.unclean_due <= now {
            self.unclean_due = now.plus_ms(self.settings.unclean_interval_ms);
            self.elect_uncleanly_where_allowed();
        }
        if self.rebalance_due.is_some_and(|due| due <= now) {
            self.rebalance_due = Some(now.plus_ms(self.settings.rebalance_interval_ms));
            self.rebalance();
        }
    }

    /// A tick that comes late by much shows that this process was paused, while heartbeats waited
    /// for it: every broker gets a whole session from now on. In a quorum of several such a
    /// controller has lost its office, and the next one does the same.
    fn forgive_own_stall(&mut self, now: Time) {
        let late_ms = self.next_wake().map_or(0, |due| now.since(due) / 1_000_000);
        if late_ms > self.settings.session_timeout_ms / 4 {
            self.sessions.forgive(now);
        }
    }

    /// Decides one record: it applies at once, and is appended with the others of this step.
    pub(super) fn write(&mut self, record: Record) {
        let at = self.image.end;
        self.image
            .apply(at, &record, &mut Delta::default())
            .expect("the controller writes only what fits its image");
        self.records.push(record);
    }

    fn append(&mut self, out: &mut Vec<Output>) {
        if !self.records.is_empty() {
            let records = std::mem::take(&mut self.records);
            let base = Offset(self.image.end.0 - records.len() as i64);
            out.push(Output::Append { base, records });
        }
    }

    /// Refuses a caller that is not the current incarnation of its broker id (rule 32).
    pub(super) fn check_epoch(&self, broker: BrokerId, epoch: BrokerEpoch) -> Result<(), Refusal> {
        match self.image.brokers.get(&broker) {
            Some(known) if known.epoch == epoch => Ok(()),
            Some(known) => Err(Refusal::new(
                ErrorCode::StaleBrokerEpoch,
                format!("broker {broker} has epoch {}, not {epoch}: register again", known.epoch),
            )),
            None => Err(Refusal::new(
                ErrorCode::StaleBrokerEpoch,
                format!("broker {broker} is not registered: register first"),
            )),
        }
    }
}
