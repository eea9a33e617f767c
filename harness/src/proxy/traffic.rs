//! Bytes that each directed link carried.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::Link;

/// Bytes delivered by link, over all its connections.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    links: Mutex<BTreeMap<Link, Arc<AtomicU64>>>,
}

impl Traffic {
    /// Where the bytes of a link are counted.
    pub(super) fn of(&self, link: Link) -> Arc<AtomicU64> {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(links.entry(link).or_default())
    }

    /// Bytes so far, by link.
    pub(super) fn bytes(&self) -> BTreeMap<Link, u64> {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        links.iter().map(|(link, bytes)| (*link, bytes.load(Ordering::Relaxed))).collect()
    }
}
