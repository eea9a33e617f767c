//! Makes the allocator give back what it no longer needs: a run drives for hours, then judges.

/// A block of at least this size is a mapping of its own, and gone when it is freed.
#[cfg(target_env = "gnu")]
const MAPPED_FROM_BYTES: i32 = 128 * 1024;

/// To be called before there is a second thread.
///
/// By default glibc keeps up to eight arenas for each core, none of which shrinks while a little is
/// left at its end, and maps ever larger blocks into them: of 12 MB in use a run of ten minutes
/// then takes 140, and its judge starts on top of that.
#[cfg(target_env = "gnu")]
pub fn give_back_what_is_free() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let arenas = i32::try_from(cores).unwrap_or(i32::MAX);
    let settings = [(libc::M_ARENA_MAX, arenas), (libc::M_MMAP_THRESHOLD, MAPPED_FROM_BYTES)];
    for (name, value) in settings {
        // SAFETY: it sets a number within the allocator, under the allocator's own lock. A value
        // that it refuses leaves the default, which is no less right.
        #[allow(unsafe_code, reason = "no safe crate offers it")]
        unsafe {
            libc::mallopt(name, value);
        }
    }
}

/// Other allocators are left as they are.
#[cfg(not(target_env = "gnu"))]
pub fn give_back_what_is_free() {}
