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
fn ports_lie_below_the_ephemeral_range() {
    let mut pool = PortPool::new();
    assert!(pool.take().unwrap() < ephemeral_start());
}
