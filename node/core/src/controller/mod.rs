//! The active controller: decides on registrations, elections, ISR changes, topics and settings.
//!
//! A pure machine: a request and the time go in; records to append and replies come out. Records
//! apply at once to the controller's own image, replies wait until those records, and all that the
//! reply was decided on, are committed (rule 74). A controller that loses the leadership is dropped
//! whole, and with it everything uncommitted.

mod alter_configs;
mod assignment;
mod bootstrap;
mod broker;
mod change;
pub mod config;
mod election;
mod isr;
mod machine;
mod producer_ids;
mod reassign;
pub mod reply;
pub mod request;
mod sessions;
mod topic;
mod topic_name;
mod waiting;

pub use config::{ConfigKind, ConfigRules, Settings};
pub use machine::{Controller, Input, Output, Token};
pub use reply::Reply;
pub use request::Request;
pub use topic_name::check_topic_name;

#[cfg(test)]
mod tests;
