//! One condition on an argument of a system call.

use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition};

/// For an argument that fills its register: a pointer, or flags.
pub(super) fn when(index: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Qword, how, value)
}

/// For an argument of 32 bits, such as an `int`: the kernel ignores what is above them.
pub(super) fn word(index: u8, how: SeccompCmpOp, value: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, how, value.into())
}
