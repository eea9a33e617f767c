//! Rule 23, the controller's side: which replica may be in an ISR.

use crate::metadata::Broker;
use crate::types::BrokerEpoch;

/// The type of [`may_be_in_isr`].
pub type MayBeInIsr = fn(Option<&Broker>, Option<BrokerEpoch>) -> bool;

/// Whether a broker may be in a proposed ISR: registered, neither fenced nor stopping, and still
/// the incarnation whose fetches the leader saw (`claimed`; `None` from callers that cannot say).
pub fn may_be_in_isr(broker: Option<&Broker>, claimed: Option<BrokerEpoch>) -> bool {
    broker.is_some_and(|broker| {
        broker.is_active() && claimed.is_none_or(|epoch| epoch == broker.epoch)
    })
}
