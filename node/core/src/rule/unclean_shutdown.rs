//! Rule 31: a broker that cannot prove a clean shutdown leaves every ISR when it registers.

use crate::types::BrokerEpoch;

/// The type of [`proves_clean_shutdown`].
pub type ProvesCleanShutdown = fn(BrokerEpoch, Option<BrokerEpoch>) -> bool;

/// Whether the broker proved that it stopped cleanly after its last registration, `known`, by
/// naming that epoch.
pub fn proves_clean_shutdown(known: BrokerEpoch, named: Option<BrokerEpoch>) -> bool {
    named == Some(known)
}
