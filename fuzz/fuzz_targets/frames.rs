//! The properties of `rootbound::fuzzing::frames` under libFuzzer.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rootbound::fuzzing::{Ground, frames};

static GROUND: LazyLock<Ground> = LazyLock::new(|| Ground::at(&std::env::temp_dir().join("rootbound-fuzz-frames")));

fuzz_target!(|input: &[u8]| frames::check(&GROUND, input));
