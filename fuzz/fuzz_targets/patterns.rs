//! The properties of `rootbound_fuzz::patterns` under libFuzzer.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rootbound_fuzz::{World, patterns};

static WORLD: LazyLock<World> = LazyLock::new(|| World::at(&std::env::temp_dir().join("rootbound-fuzz-patterns")));

fuzz_target!(|input: &[u8]| patterns::check(&WORLD, input));
