//! Programming languages whose brackets are checked: those whose comments and strings the lexer knows for certain.
//!
//! Left out are languages with here-documents, string interpolation, templates or markup in them: a wrong alarm costs
//! more than one that is not raised.

use crate::{C, GO, JAVA, JAVASCRIPT, LexRules, PROTO, PYTHON, RUST};

/// A programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BracketLanguage {
    /// C, C++ and Objective-C, whose preprocessor may take lines away.
    C,
    Go,
    Java,
    JavaScript,
    Proto,
    /// Its indentation is checked, too.
    Python,
    Rust,
}

impl BracketLanguage {
    /// The language of files with this extension, in lower case.
    pub(super) fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "inl" | "ipp" | "m" | "mm" | "cu" | "cuh"
            | "ino" => Self::C,
            "go" => Self::Go,
            "java" => Self::Java,
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => Self::JavaScript,
            "proto" => Self::Proto,
            "py" | "pyi" => Self::Python,
            "rs" => Self::Rust,
            _ => return None,
        })
    }

    pub(super) fn lex_rules(self) -> &'static LexRules {
        match self {
            Self::C => &C,
            Self::Go => &GO,
            Self::Java => &JAVA,
            Self::JavaScript => &JAVASCRIPT,
            Self::Proto => &PROTO,
            Self::Python => &PYTHON,
            Self::Rust => &RUST,
        }
    }

    /// Its name, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Go => "Go",
            Self::Java => "Java",
            Self::JavaScript => "JavaScript",
            Self::Proto => "Protocol Buffers",
            Self::Python => "Python",
            Self::Rust => "Rust",
        }
    }
}
