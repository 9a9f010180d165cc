//! For tests of the program alone: calls that fail on demand, and opens that are compared with the slow way. A program
//! without debug assertions, as the released one, makes its calls and does nothing else here: the branches on
//! `cfg!(debug_assertions)` are constant.

pub(super) mod faults;
#[cfg(target_os = "linux")]
pub(super) mod open_check;
