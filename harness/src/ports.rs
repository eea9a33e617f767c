//! Fresh ports on loopback that two runs at once never share.
//!
//! A port is reserved by binding an abstract Unix socket named after it: the kernel gives the name
//! to one process and frees it when that process ends, so nothing is left behind. Ports lie below
//! the ephemeral range, so that no outgoing connection takes one while its broker is down; where
//! that range leaves no room, they lie inside it.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr as UnixAddr, UnixListener},
    },
};

use thiserror::Error;

/// The lowest port that is handed out.
const LOWEST: u16 = 10_000;
/// The ephemeral range when the kernel does not say.
const EPHEMERAL_DEFAULT: (u16, u16) = (32_768, 60_999);
/// Fewer ports than this between the lowest and the ephemeral range are too few for runs.
const ROOM: u16 = 1_000;

/// Why no port could be had.
#[derive(Debug, Error)]
pub enum PortError {
    /// Every port of the range is taken.
    #[error(
        "no free port on 127.0.0.1 between {lowest} and {highest}; end other runs or widen the \
         space below net.ipv4.ip_local_port_range"
    )]
    Exhausted {
        /// First port tried.
        lowest: u16,
        /// Last port tried.
        highest: u16,
    },
}

/// Ports that belong to this run until the pool is dropped.
#[derive(Debug)]
pub struct PortPool {
    next: u16,
    highest: u16,
    reserved: Vec<UnixListener>,
}

impl PortPool {
    /// A pool that starts its search at a place of its own, to keep runs apart.
    #[must_use]
    pub fn new() -> Self {
        let highest = highest(ephemeral_range());
        let span = u32::from(highest - LOWEST);
        let next = LOWEST + (std::process::id().wrapping_mul(7919) % span) as u16;
        Self { next, highest, reserved: Vec::new() }
    }

    /// Takes a port that nobody listens on and no other run has reserved.
    ///
    /// # Errors
    /// When a whole round through the range finds none.
    pub fn take(&mut self) -> Result<u16, PortError> {
        for _ in LOWEST..=self.highest {
            let port = self.next;
            self.next = if port >= self.highest { LOWEST } else { port + 1 };
            if let Some(name) = reserve(port) {
                self.reserved.push(name);
                return Ok(port);
            }
        }
        Err(PortError::Exhausted { lowest: LOWEST, highest: self.highest })
    }
}

impl Default for PortPool {
    fn default() -> Self {
        Self::new()
    }
}

/// The name that keeps other runs off `port`; `None` when it is reserved or in use.
fn reserve(port: u16) -> Option<UnixListener> {
    let name = UnixAddr::from_abstract_name(format!("highwater-port-{port}")).ok()?;
    let held = UnixListener::bind_addr(&name).ok()?;
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
    Some(held)
}

/// The highest port to hand out on a machine with this ephemeral range.
fn highest((start, end): (u16, u16)) -> u16 {
    if start >= LOWEST + ROOM { start - 1 } else { end.max(LOWEST + ROOM) }
}

fn ephemeral_range() -> (u16, u16) {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut numbers = text.split_whitespace().map_while(|number| number.parse().ok());
    numbers.next().zip(numbers.next()).unwrap_or(EPHEMERAL_DEFAULT)
}

#[cfg(test)]
mod tests;
