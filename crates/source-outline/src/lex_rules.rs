//! Where the comments and strings of each language begin and end.

use std::ops::Range;

use memchr::memmem;

/// Words with spaces between them; one may have a value after `=`.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordSet(pub(super) &'static str);

impl WordSet {
    pub(super) fn contains(self, word: &str) -> bool {
        self.find(word).is_some()
    }

    /// The value of `word`: itself if it has no other.
    pub(super) fn value_of(self, word: &str) -> Option<&'static str> {
        let found = self.find(word)?;
        let rest = self.0[found.end..].strip_prefix('=');
        Some(rest.map_or(&self.0[found], |rest| &rest[..rest.find(' ').unwrap_or(rest.len())]))
    }

    fn find(self, word: &str) -> Option<Range<usize>> {
        let words = self.0.as_bytes();
        // Faster than a split, as each line of a source is looked up.
        let places = memmem::find_iter(words, word).map(|at| at..at + word.len());
        let is_whole = |at: &Range<usize>| {
            matches!(words[..at.start].last(), None | Some(b' '))
                && matches!(words.get(at.end), None | Some(b' ' | b'='))
        };
        places.filter(|at| !at.is_empty()).find(is_whole)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    /// None: the character is a sign.
    None,
    Line,
    Lines,
    /// A string that may span lines, in which a backslash is a character like others.
    Raw,
    /// A string that may span lines, with code in `${…}`.
    Template,
    Char,
    Lifetime,
}

#[derive(Debug)]
pub(crate) struct LexRules {
    pub(super) line_comments: &'static [&'static [u8]],
    pub(super) block_comment: Option<(&'static [u8], &'static [u8])>,
    pub(super) nested_comments: bool,
    /// Comments from a line that begins with the first to one that begins with the second.
    pub(super) pods: &'static [(&'static [u8], &'static [u8])],
    pub(super) double: Quotes,
    pub(super) single: Quotes,
    pub(super) backtick: Quotes,
    pub(super) triples: bool,
    /// Raw strings of Rust, as in `r#"…"#`.
    pub(super) rust_raw: bool,
    /// Raw strings of C++, as in `R"x(…)x"`.
    pub(super) cpp_raw: bool,
    /// Strings in which no backslash escapes, as in `@"…"`.
    pub(super) verbatim: bool,
    pub(super) regexes: bool,
    pub(super) heredocs: bool,
    /// `<< EOF`: elsewhere that shifts or appends.
    pub(super) spaced_heredocs: bool,
    pub(super) dollar_words: bool,
    pub(super) word_ends: &'static [u8],
}

impl LexRules {
    /// Whether a string that is a statement is a comment: the docstrings of Python and Julia.
    pub(super) fn has_docstrings(&self) -> bool {
        self.triples && self.line_comments == HASH_RULES.line_comments
    }

    pub(super) fn quotes(&self, quote: u8) -> Quotes {
        match quote {
            b'"' => self.double,
            b'\'' => self.single,
            _ => self.backtick,
        }
    }
}

/// The width of white space with tabs of eight, and of one character: two that are equal in one way have to be in both.
pub(super) type Width = (usize, usize);

pub(super) fn width(space: &[u8]) -> Width {
    space.iter().fold((0, 0), |(wide, narrow), byte| match byte {
        b'\t' => (wide / 8 * 8 + 8, narrow + 1),
        // Python's tokenizer begins to count again after a form feed.
        0x0c => (0, 0),
        _ => (wide + 1, narrow + 1),
    })
}

pub(super) fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

pub(super) fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit()
}

const PLAIN_RULES: LexRules = LexRules {
    line_comments: &[],
    block_comment: None,
    nested_comments: false,
    pods: &[],
    double: Quotes::Line,
    single: Quotes::Line,
    backtick: Quotes::None,
    triples: false,
    rust_raw: false,
    cpp_raw: false,
    verbatim: false,
    regexes: false,
    heredocs: false,
    spaced_heredocs: false,
    dollar_words: false,
    word_ends: b"",
};
const SLASH_RULES: LexRules = LexRules { line_comments: &[b"//"], block_comment: Some((b"/*", b"*/")), ..PLAIN_RULES };
const HASH_RULES: LexRules = LexRules { line_comments: &[b"#"], ..PLAIN_RULES };

pub(crate) static C: LexRules = LexRules { single: Quotes::Char, cpp_raw: true, ..SLASH_RULES };
pub(crate) static RUST: LexRules =
    LexRules { nested_comments: true, double: Quotes::Lines, single: Quotes::Lifetime, rust_raw: true, ..SLASH_RULES };
pub(crate) static GO: LexRules = LexRules { single: Quotes::Char, backtick: Quotes::Raw, ..SLASH_RULES };
pub(crate) static JAVA: LexRules = LexRules { single: Quotes::Char, triples: true, ..SLASH_RULES };
pub(super) static CSHARP: LexRules = LexRules { verbatim: true, ..JAVA };
pub(super) static DART: LexRules = LexRules { triples: true, ..SLASH_RULES };
pub(crate) static JAVASCRIPT: LexRules =
    LexRules { backtick: Quotes::Template, regexes: true, dollar_words: true, ..SLASH_RULES };
pub(super) static NESTED: LexRules =
    LexRules { nested_comments: true, triples: true, single: Quotes::Lifetime, ..SLASH_RULES };
pub(super) static PHP: LexRules =
    LexRules { line_comments: &[b"//", b"#"], heredocs: true, dollar_words: true, ..SLASH_RULES };
pub(crate) static PYTHON: LexRules = LexRules { triples: true, ..HASH_RULES };
pub(super) static RUBY: LexRules =
    LexRules { pods: &[(b"=begin", b"=end")], heredocs: true, word_ends: b"?!", ..HASH_RULES };
pub(super) static PERL: LexRules = LexRules {
    pods: &[(b"=pod", b"=cut"), (b"=head", b"=cut"), (b"=over", b"=cut"), (b"=item", b"=cut"), (b"=begin", b"=cut")],
    heredocs: true,
    ..HASH_RULES
};
pub(super) static SHELL: LexRules = LexRules { heredocs: true, spaced_heredocs: true, ..HASH_RULES };
pub(super) static ELIXIR: LexRules = LexRules { triples: true, word_ends: b"?!", ..HASH_RULES };
pub(super) static LUA: LexRules =
    LexRules { line_comments: &[b"--"], block_comment: Some((b"--[[", b"]]")), ..PLAIN_RULES };
pub(super) static HASKELL: LexRules = LexRules {
    line_comments: &[b"--"],
    block_comment: Some((b"{-", b"-}")),
    nested_comments: true,
    single: Quotes::None,
    ..PLAIN_RULES
};
/// `'a'` is a character, and `'a` a type.
pub(super) static OCAML: LexRules = LexRules {
    block_comment: Some((b"(*", b"*)")),
    nested_comments: true,
    double: Quotes::Lines,
    single: Quotes::Lifetime,
    ..PLAIN_RULES
};
/// Languages with `//` comments and no others that matter: Zig, Protocol Buffers.
pub(super) static ZIG: LexRules = LexRules { line_comments: &[b"//"], single: Quotes::Char, ..PLAIN_RULES };
pub(crate) static PROTO: LexRules = SLASH_RULES;
pub(super) static HASHES: LexRules = HASH_RULES;
pub(super) static JULIA: LexRules =
    LexRules { triples: true, single: Quotes::Char, block_comment: Some((b"#=", b"=#")), ..HASH_RULES };
/// Lisps: a quote begins no string.
pub(super) static LISP: LexRules =
    LexRules { line_comments: &[b";"], single: Quotes::None, double: Quotes::Lines, ..PLAIN_RULES };
pub(super) static ERLANG: LexRules = LexRules { line_comments: &[b"%"], ..PLAIN_RULES };
const TEXT_RULES: LexRules = LexRules { double: Quotes::None, single: Quotes::None, ..PLAIN_RULES };
pub(super) static XML: LexRules = LexRules { block_comment: Some((b"<!--", b"-->")), ..TEXT_RULES };
pub(super) static LATEX: LexRules = LexRules { line_comments: &[b"%"], ..TEXT_RULES };
pub(super) static INI: LexRules = LexRules { line_comments: &[b"#", b";"], ..PLAIN_RULES };
pub(super) static CSS: LexRules = LexRules { line_comments: &[], ..SLASH_RULES };
pub(super) static SQL: LexRules = LexRules { line_comments: &[b"--"], ..SLASH_RULES };
pub(super) static ASSEMBLY: LexRules = LexRules { line_comments: &[b"//", b";"], single: Quotes::Char, ..SLASH_RULES };
