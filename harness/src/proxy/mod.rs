//! Frame-aware TCP proxies on every directed link: what the network does to the cluster.
//!
//! Every listener of every node is advertised through a proxy of its own. The accepting proxy finds
//! out who calls, so that a rule names a link by its two ends and acts on the connections that
//! either end opened.

mod accept;
mod caller;
mod claimed;
mod connection;
mod gate;
mod link;
mod net;
mod pump;
mod rule;
mod scan;
mod stream;
mod tap;
mod traffic;
mod witness;

pub use link::{Endpoint, Link};
pub use net::{NetError, ProxyNet};
pub use rule::{Action, LinkRule, Part, RuleGuard, RuleStats};
pub use witness::{Witnessed, WitnessedPartition};

#[cfg(test)]
mod tests;
