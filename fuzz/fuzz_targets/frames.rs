//! The properties of `rootbound_fuzz::frames` under libFuzzer.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rootbound_fuzz::{World, frames};

static WORLD: LazyLock<World> = LazyLock::new(|| World::at(&std::env::temp_dir().join("rootbound-fuzz-frames")));

fuzz_target!(|input: &[u8]| frames::check(&WORLD, input));
