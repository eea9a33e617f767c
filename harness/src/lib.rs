//! Starts real brokers, breaks them on purpose, and puts everything back.

pub mod cli;
pub mod clock;
pub mod cluster;
pub mod direct;
pub mod disk;
pub mod doctor;
pub mod fault;
pub mod heal;
pub mod journal;
pub mod kafka;
pub mod memory;
pub mod nemesis;
pub mod ports;
pub mod process;
pub mod proxy;
pub mod run;
pub mod schedule;
pub mod scratch;
mod stderr;
pub mod steps;
pub mod target;
mod topics;
