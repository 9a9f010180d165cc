//! The properties of `rootbound_fuzz::edits` under libFuzzer.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rootbound_fuzz::{World, edits};

static WORLD: LazyLock<World> = LazyLock::new(|| World::at(&std::env::temp_dir().join("rootbound-fuzz-edits")));

fuzz_target!(|input: &[u8]| edits::check(&WORLD, input));
