//! What the engine for languages with braces needs to know of each.

use super::{
    header::{Around, Ending, Header, Opening},
    lex_rules::LexRules,
};

/// A language with braces.
#[derive(Debug)]
pub(super) struct BraceGrammar {
    pub(super) lex: &'static LexRules,
    /// What a header before `{` means.
    pub(super) open: fn(&Header<'_>, Around<'_>) -> Opening,
    /// What a header means where the statement ends.
    pub(super) end: fn(&Header<'_>, Around<'_>) -> Ending,
    /// A line break can end a statement.
    pub(super) newline_ends: bool,
    /// Lines that begin with `#` are directives, and `}` in the first column closes what began there.
    pub(super) directives: bool,
    /// `type (` and the like begin a group of definitions.
    pub(super) groups: &'static [&'static str],
    /// Words before a `:` that begins a section of members.
    pub(super) labels: &'static [&'static str],
}
