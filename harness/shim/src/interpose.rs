//! Functions that take the place of those of the C library and find them again.

use std::{
    ffi::CStr,
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use libc::c_void;

/// The function that this library hides, found once.
pub struct Hidden(AtomicPtr<c_void>);

impl Hidden {
    /// Not looked for yet.
    pub const fn new() -> Hidden {
        Hidden(AtomicPtr::new(ptr::null_mut()))
    }

    /// The next function of this name in the order of loaded libraries; null when there is none.
    pub fn find(&self, name: &CStr) -> *mut c_void {
        let known = self.0.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with a zero byte.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        self.0.store(found, Ordering::Relaxed);
        found
    }
}

/// Defines functions of the C library: each runs its body, in which the named closure calls the
/// hidden one with the same arguments.
macro_rules! interpose {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty, $real:ident => $body:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            static HIDDEN: $crate::interpose::Hidden = $crate::interpose::Hidden::new();
            let name = concat!(stringify!($name), "\0");
            // SAFETY: a zero byte was put at the end, and names have none inside.
            let name = unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(name.as_bytes()) };
            let found = HIDDEN.find(name);
            if found.is_null() {
                $crate::errno::set(libc::ENOSYS);
                return -1 as _;
            }
            // SAFETY: the C library's function of this name has this signature. Where it takes a
            // mode only sometimes, passing one always does no harm.
            let hidden: unsafe extern "C" fn($($ty),*) -> $ret =
                unsafe { std::mem::transmute(found) };
            // SAFETY: the arguments are the caller's own.
            let $real = move || unsafe { hidden($($arg),*) };
            $body
        }
    )*};
}

pub(crate) use interpose;
