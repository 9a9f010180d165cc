//! Braces that are open, and the state to which each branch of an `#if` returns.

use super::{header::BlockKind, header_buffer::HeaderStart};

/// An open brace, and the header before it.
#[derive(Clone, Debug)]
pub(super) struct OpenBlock {
    pub(super) block: BlockKind,
    /// The definition that it is the body of, as its place.
    pub(super) definition: Option<usize>,
    pub(super) continues: bool,
    /// The header before it, and the tokens up to its end.
    pub(super) header: HeaderStart,
    pub(super) tokens: usize,
    /// The column that the line of its header begins in.
    pub(super) indent: usize,
    pub(super) is_paren: bool,
}

/// The state at an `#if`.
#[derive(Clone, Debug)]
pub(super) struct Fork {
    pub(super) open: Vec<OpenBlock>,
    pub(super) header: HeaderStart,
    pub(super) tokens: usize,
}
