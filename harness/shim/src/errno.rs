//! The calling thread's error number, which only the call that was asked for may change.

use libc::c_int;

/// The error number of this thread.
pub fn get() -> c_int {
    // SAFETY: the C library gives every thread a valid place.
    unsafe { *libc::__errno_location() }
}

/// Sets the error number of this thread.
pub fn set(errno: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno }
}

/// Runs what must leave the error number as it was.
pub fn kept<T>(run: impl FnOnce() -> T) -> T {
    let before = get();
    let result = run();
    set(before);
    result
}
