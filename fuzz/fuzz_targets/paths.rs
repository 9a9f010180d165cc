//! The properties of `rootbound_fuzz::paths` under libFuzzer.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rootbound_fuzz::{World, paths};

static WORLD: LazyLock<World> = LazyLock::new(|| World::at(&std::env::temp_dir().join("rootbound-fuzz-paths")));

fuzz_target!(|input: &[u8]| paths::check(&WORLD, input));
