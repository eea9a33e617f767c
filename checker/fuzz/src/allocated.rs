//! Counts what is allocated: a small input must not take much memory.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// The system's allocator, counted over all threads.
pub struct Counting {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Counting {
    /// Nothing is allocated yet.
    pub const fn new() -> Self {
        Self { now: AtomicUsize::new(0), most: AtomicUsize::new(0) }
    }

    /// How many bytes more than before it were allocated at a time during `run`.
    pub fn most_of(&self, run: impl FnOnce()) -> usize {
        let before = self.now.load(Relaxed);
        self.most.store(before, Relaxed);
        run();
        self.most.load(Relaxed).saturating_sub(before)
    }

    fn took(&self, bytes: usize) {
        let now = self.now.fetch_add(bytes, Relaxed) + bytes;
        self.most.fetch_max(now, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.took(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        self.now.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}
