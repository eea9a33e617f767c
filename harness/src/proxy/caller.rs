//! Finds out which process opened a connection.
//!
//! Its port stands in /proc/net/tcp with the socket's inode, and that inode stands among the open
//! files of one of the known processes.

use std::{fs, net::SocketAddr, path::Path};

use crate::{cluster::NodeId, process::KnownPids};

/// Who opened a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    /// This node, with its pid.
    Node(NodeId, i32),
    /// A process that is no node.
    Stranger,
    /// Nobody any more: the socket was closed, as when its process has ended.
    Gone,
}

/// Who opened the connection from `caller` to the proxy at `proxy`.
pub(super) fn find(caller: SocketAddr, proxy: SocketAddr, pids: &KnownPids) -> Caller {
    // A socket of a dual-stack listener or client stands in the second table.
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let inode = tables
        .iter()
        .find_map(|table| inode_in(&fs::read_to_string(table).ok()?, caller.port(), proxy.port()));
    let Some(inode) = inode else { return Caller::Gone };
    let wanted = format!("socket:[{inode}]");
    let holder = pids.all().into_iter().find(|(pid, _)| holds(*pid, &wanted));
    holder.map_or(Caller::Stranger, |(pid, node)| Caller::Node(node, pid))
}

/// The inode of the socket with these ports, which suffice on one loopback; a closed one has none.
fn inode_in(table: &str, local: u16, remote: u16) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let matches = port(fields.get(1)?)? == local && port(fields.get(2)?)? == remote;
        let inode = fields.get(9)?.parse().ok()?;
        (matches && inode != 0).then_some(inode)
    })
}

fn port(address: &str) -> Option<u16> {
    u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok()
}

fn holds(pid: i32, socket: &str) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let mut links = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    links.any(|link| link == Path::new(socket))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_holder_of_a_socket_is_found_by_its_ports() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (caller, proxy) = (stream.local_addr().unwrap(), listener.local_addr().unwrap());
        let pids = KnownPids::default();
        assert_eq!(find(caller, proxy, &pids), Caller::Stranger);
        let own = std::process::id() as i32;
        pids.add(own, NodeId(2));
        assert_eq!(find(caller, proxy, &pids), Caller::Node(NodeId(2), own));
        drop(stream);
        assert_eq!(find(caller, proxy, &pids), Caller::Gone);
    }

    #[test]
    fn a_socket_without_inode_is_nobodys() {
        let table = "head\n 0: 0100007F:1F90 0100007F:2328 06 0:0 0:0 0 0 0 0 3 1\n";
        assert_eq!(inode_in(table, 8080, 9000), None);
        let table = table.replace(" 0 3 1", " 77 3 1");
        assert_eq!(inode_in(&table, 8080, 9000), Some(77));
    }
}
