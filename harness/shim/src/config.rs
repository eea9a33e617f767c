//! What the process was told by its variables, read once when the library is loaded.

use std::{
    ffi::{CStr, CString},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use crate::{
    journal::Journal,
    layout::{CONTROL_VARIABLE, JOURNAL_VARIABLE, KEPT_VARIABLE, ROOTS_VARIABLE, Slot},
    levers::Levers,
};

/// What is watched and how.
pub struct Config {
    /// The folders, without a slash at the end.
    pub roots: Vec<Vec<u8>>,
    /// Where replaced files are kept.
    pub kept: Vec<u8>,
    /// What became durable.
    pub journal: Journal,
    /// How a running process is told and asked.
    pub levers: Levers,
}

static CONFIG: AtomicPtr<Config> = AtomicPtr::new(ptr::null_mut());

/// What is watched; `None` when nothing is.
pub fn get() -> Option<&'static Config> {
    // SAFETY: once set it points to what is never freed or changed.
    unsafe { CONFIG.load(Ordering::Acquire).as_ref() }
}

/// Runs when the library is loaded, before the program begins.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = load;

extern "C" fn load() {
    let Some(config) = read() else { return };
    config.levers.count(Slot::Attached);
    let config = Box::leak(Box::new(config));
    CONFIG.store(config, Ordering::Release);
    config.journal.begin(config);
}

fn read() -> Option<Config> {
    let roots: Vec<Vec<u8>> = variable(ROOTS_VARIABLE)?
        .split(|byte| *byte == b':')
        .map(|root| root.strip_suffix(b"/").unwrap_or(root).to_vec())
        .filter(|root| !root.is_empty())
        .collect();
    if roots.is_empty() {
        return None;
    }
    let journal = Journal::new(CString::new(variable(JOURNAL_VARIABLE)?).ok()?);
    let kept = variable(KEPT_VARIABLE).unwrap_or_default();
    let levers = Levers::map(variable(CONTROL_VARIABLE).and_then(|path| CString::new(path).ok()));
    Some(Config { roots, kept, journal, levers })
}

fn variable(name: &str) -> Option<Vec<u8>> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name ends with a zero byte; no other thread runs yet that could change it.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the C library's variables end with a zero byte.
    Some(unsafe { CStr::from_ptr(value) }.to_bytes().to_vec())
}
