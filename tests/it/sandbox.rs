//! What must not be reached, whoever asks.

pub(crate) mod attacks;
mod confined;
mod exec;
#[cfg(target_os = "linux")]
mod machine_policy;
mod optional;
#[cfg(target_os = "linux")]
mod overlay;
mod path_races;
mod untrusted;
