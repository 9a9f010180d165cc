//! The words of C and C++ that say what a declaration is.

use super::super::keyword_grammar::Words;

/// Words before a name in parentheses that make it no definition.
pub(super) const CONTROL: Words = Words(
    "if while for switch return sizeof else do case catch goto new delete throw static_assert _Static_assert \
     defined co_await co_return",
);
/// Words whose parentheses say something about a declaration and name nothing.
pub(super) const ATTRIBUTES: Words = Words(
    "__attribute__ __attribute __declspec alignas _Alignas __aligned __asm__ __asm asm noexcept throw decltype \
     requires explicit typeof __typeof__ _Pragma __pragma alignof __section __printf __scanf __alloc_size \
     __must_hold __acquires __releases __counted_by",
);
/// Words that are not types.
pub(super) const STORAGE: Words = Words(
    "static extern inline virtual constexpr consteval constinit friend typedef register thread_local _Thread_local \
     __inline __inline__ __always_inline noinline __extension__ export mutable explicit _Noreturn volatile __init \
     __exit asmlinkage __visible notrace",
);
