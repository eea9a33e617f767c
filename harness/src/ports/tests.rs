//! Two pools never hand out the same port, and a port in use is skipped.

use std::collections::BTreeSet;

use super::*;

#[test]
fn two_pools_share_no_port() {
    let (mut one, mut other) = (PortPool::new(), PortPool::new());
    let mut seen = BTreeSet::new();
    for _ in 0..20 {
        assert!(seen.insert(one.take().unwrap()));
        assert!(seen.insert(other.take().unwrap()));
    }
}

#[test]
fn a_port_that_someone_listens_on_is_skipped() {
    let mut pool = PortPool::new();
    pool.next = 31_500;
    let busy = TcpListener::bind((Ipv4Addr::LOCALHOST, pool.next));
    let taken = pool.next;
    assert_ne!(pool.take().unwrap(), taken);
    drop(busy);
}

#[test]
fn a_dropped_pool_frees_its_ports() {
    let mut pool = PortPool::new();
    pool.next = 31_000;
    let port = pool.take().unwrap();
    assert!(reserve(port).is_none());
    drop(pool);
    assert!(reserve(port).is_some());
}

#[test]
fn ports_lie_below_the_ephemeral_range_where_it_leaves_room() {
    assert_eq!(highest(EPHEMERAL_DEFAULT), 32_767);
    assert_eq!(highest((1_024, 65_000)), 65_000, "then they lie inside it");
    assert_eq!(highest((1_024, 5_000)), LOWEST + ROOM, "or above");
}
