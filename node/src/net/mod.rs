//! Sockets: listeners, connections in both directions, and what they may hold.

mod connection;
mod dial;
mod gate;
mod listen;
mod serve;

pub use connection::{Connection, Opener};
pub use dial::Dialer;
pub use gate::Gate;
pub use listen::{Bound, bind, run};
pub use serve::Shared;
