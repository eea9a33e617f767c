//! The active controller: decides on registrations, elections, ISR changes, topics and settings.
//!
//! A pure machine: a request and the time go in; records to append and replies come out. Records
//! apply at once to the controller's own image, replies wait until those records, and all that the
//! reply was decided on, are committed (rule 74). A controller that loses the leadership is dropped
//! whole, and with it everything uncommitted.

pub mod config;
pub mod machine;
pub mod reply;
pub mod request;

pub use config::{ConfigKind, ConfigRules, Settings};
pub use machine::{Controller, Input, Output, Token};
pub use reply::Reply;
pub use request::Request;
