//! libFuzzer over one target, which the variable TARGET names.
#![no_main]

mod allocated;
mod target;

use std::{env, sync::LazyLock};

use libfuzzer_sys::fuzz_target;

use crate::allocated::Counting;

#[global_allocator]
static ALLOCATED: Counting = Counting::new();

/// What any input may take at a time; inputs are a few thousand bytes long.
const MOST_BYTES: usize = 200 << 20;

static TARGET: LazyLock<target::Run> = LazyLock::new(|| {
    let name = env::var("TARGET").unwrap_or_default();
    let known = || target::TARGETS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let (_, run) = target::TARGETS
        .iter()
        .find(|(known, _)| *known == name)
        .unwrap_or_else(|| panic!("TARGET names one of {}, not {name:?}", known()));
    *run
});

fuzz_target!(|bytes: &[u8]| {
    let run = *TARGET;
    let most = ALLOCATED.most_of(|| run(bytes));
    assert!(most <= MOST_BYTES, "{most} bytes for an input of {}", bytes.len());
});
