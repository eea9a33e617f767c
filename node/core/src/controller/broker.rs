//! The brokers' life: registration, heartbeat, fencing, controlled shutdown (rules 31 to 33).

use super::change::Change;
use super::machine::Controller;
use super::reply::HeartbeatReply;
use super::request::{Heartbeat, RegisterBroker};
use crate::error::{ErrorCode, Refusal};
use crate::metadata::Record;
use crate::metadata::record::{
    BrokerRegistrationChangeRecord, RegisterBrokerRecord, UnregisterBrokerRecord,
};
use crate::rule::broker_registration::Registrant;
use crate::types::{BrokerEpoch, BrokerId, Offset, PartitionId, Time};

impl Controller {
    pub(super) fn register_broker(
        &mut self,
        now: Time,
        request: RegisterBroker,
    ) -> Result<BrokerEpoch, Refusal> {
        self.check_registration(now, &request)?;
        let id = request.broker;
        let known = self.image.brokers.get(&id);
        let same = known.filter(|broker| broker.incarnation == request.incarnation);
        let clean = known.is_none_or(|broker| {
            (self.rules.proves_clean_shutdown)(broker.epoch, request.previous_epoch)
        });
        let restarted = known.is_some() && same.is_none();
        // The same process asks again when an answer was lost, maybe by a request that was long on
        // its way: it keeps its epoch, or it would never learn of the newer one.
        let epoch = same.map_or(BrokerEpoch(self.image.end.0), |broker| broker.epoch);
        let record = RegisterBrokerRecord {
            broker: id,
            incarnation: request.incarnation,
            broker_epoch: epoch,
            endpoints: request.endpoints,
            features: request.features,
            rack: request.rack,
            fenced: same.is_none_or(|broker| broker.fenced),
            in_controlled_shutdown: same.is_some_and(|broker| broker.in_controlled_shutdown),
            log_dirs: request.log_dirs,
        };
        self.write(Record::RegisterBroker(record));
        if restarted {
            self.leave_isrs(id, !clean);
        }
        self.sessions.touch(now, id, epoch, Offset(-1));
        Ok(epoch)
    }

    fn check_registration(&self, now: Time, request: &RegisterBroker) -> Result<(), Refusal> {
        let id = request.broker;
        if request.cluster_id != self.settings.cluster_id {
            let text = format!(
                "broker {id} belongs to cluster {}, this is cluster {}",
                request.cluster_id, self.settings.cluster_id
            );
            return Err(Refusal::new(ErrorCode::InconsistentClusterId, text));
        }
        let known = self.image.brokers.get(&id);
        let registrant = Registrant {
            session_valid: known.is_some_and(|b| self.sessions.is_valid(id, b.epoch, now)),
            same_incarnation: known.is_some_and(|b| b.incarnation == request.incarnation),
        };
        if !(self.rules.may_register)(registrant) {
            let text = format!("another process is registered as broker {id} and is alive");
            return Err(Refusal::new(ErrorCode::DuplicateBrokerRegistration, text));
        }
        self.check_features(request)
    }

    fn check_features(&self, request: &RegisterBroker) -> Result<(), Refusal> {
        for (name, &level) in self.image.features.iter().filter(|(_, level)| **level != 0) {
            let range = request.features.iter().find(|range| &range.name == name);
            if !range.is_some_and(|range| range.min <= level && level <= range.max) {
                let text = format!("broker {} cannot work at {name} level {level}", request.broker);
                return Err(Refusal::new(ErrorCode::UnsupportedVersion, text));
            }
        }
        Ok(())
    }

    pub(super) fn heartbeat(
        &mut self,
        now: Time,
        request: &Heartbeat,
    ) -> Result<HeartbeatReply, Refusal> {
        let id = request.broker;
        self.check_epoch(id, request.broker_epoch)?;
        self.sessions.touch(now, id, request.broker_epoch, request.metadata_offset);
        let caught_up = request.metadata_offset.0 >= request.broker_epoch.0;
        let broker = &self.image.brokers[&id];
        let (fenced, stopping) = (broker.fenced, broker.in_controlled_shutdown);
        let mut should_shut_down = false;
        if fenced {
            should_shut_down = request.want_shutdown;
            if !request.want_shutdown && !request.want_fence && caught_up {
                self.unfence(id);
            }
        } else if request.want_shutdown || stopping {
            should_shut_down = self.shut_down(id, request.want_fence);
        } else if request.want_fence {
            self.fence(id);
        }
        if should_shut_down {
            self.sessions.end(id);
        }
        let fenced = self.image.brokers[&id].fenced;
        Ok(HeartbeatReply { caught_up, fenced, should_shut_down })
    }

    /// One step of a controlled shutdown: leaderships are handed over, and once every active
    /// broker knows, the broker is fenced and may go (rule 33).
    fn shut_down(&mut self, id: BrokerId, at_once: bool) -> bool {
        let leads = self.image.partitions().any(|(_, p)| p.state.leader == Some(id));
        let stopping = self.image.brokers[&id].in_controlled_shutdown;
        if leads && !stopping && !at_once {
            self.change_registration(id, None, true);
            self.leave_isrs(id, false);
            self.sessions.begin_shutdown(id, self.image.end);
            return false;
        }
        let ready = !stopping || self.sessions.all_know_of_shutdown(id, &self.image);
        if at_once || ready {
            self.fence(id);
            return true;
        }
        false
    }

    /// Fences every broker whose session has ended, one after the other: each decision is made on
    /// what the one before left.
    pub(super) fn fence_expired(&mut self, now: Time) {
        while let Some(id) = self.sessions.expired(&self.image, now) {
            self.fence(id);
            self.sessions.end(id);
        }
    }

    pub(super) fn unregister_broker(&mut self, id: BrokerId) -> Result<(), Refusal> {
        let Some(broker) = self.image.brokers.get(&id) else {
            let text = format!("broker {id} is not registered");
            return Err(Refusal::new(ErrorCode::BrokerIdNotRegistered, text));
        };
        let record = UnregisterBrokerRecord { broker: id, broker_epoch: broker.epoch };
        self.write(Record::UnregisterBroker(record));
        self.leave_isrs(id, true);
        self.sessions.end(id);
        Ok(())
    }

    fn fence(&mut self, id: BrokerId) {
        self.change_registration(id, Some(true), false);
        self.leave_isrs(id, false);
    }

    fn unfence(&mut self, id: BrokerId) {
        self.change_registration(id, Some(false), false);
        let leaderless = self.partition_ids(|p| p.state.leader.is_none());
        for partition in leaderless {
            self.elect_any(partition);
        }
    }

    fn change_registration(&mut self, id: BrokerId, fenced: Option<bool>, stopping: bool) {
        let record = BrokerRegistrationChangeRecord {
            broker: id,
            broker_epoch: self.image.brokers[&id].epoch,
            fenced,
            in_controlled_shutdown: stopping,
        };
        self.write(Record::BrokerRegistrationChange(record));
    }

    /// Takes a broker that is no longer active out of ISRs and leaderships, and, when what it
    /// holds cannot be trusted, out of ELRs.
    fn leave_isrs(&mut self, id: BrokerId, also_elrs: bool) {
        let there = self.partition_ids(|p| p.state.isr.contains(&id) || p.elr.contains(&id));
        for partition in there {
            let mut change = self.change_with_aim(partition);
            change.isr.retain(|member| *member != id);
            change.elr.retain(|member| !also_elrs || *member != id);
            self.write_change(change);
        }
    }

    fn elect_any(&mut self, id: PartitionId) {
        let change = self.change_with_aim(id);
        self.write_change(change);
    }

    /// No change yet, but an election as the topic allows it.
    pub(super) fn change_with_aim(&self, id: PartitionId) -> Change {
        let topic = &self.image.topics[&id.topic];
        let aim = self.aim_for(&topic.name);
        Change { aim, ..Change::of(id, &topic.partitions[&id.index]) }
    }
}
