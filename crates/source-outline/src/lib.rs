//! The definitions of a source file (functions, types, macros, headings) by patterns of its lines, without a parser.
//!
//! For orientation: which function a line is in, where a definition begins and ends, what a part of a file holds. Some
//! forty languages, by the name of the file. Comments, strings and braces are followed as far as that is cheap, so a
//! source that hides its structure (macros that open braces, generated or minified code) gives a wrong or an empty
//! outline, never an error. One pass over the text, linear in its length; memory is bounded by the number of
//! definitions (at most 200,000) and the longest line that is looked at (64 KiB, the rest of a line is skipped).
//!
//! ```
//! let names: Vec<_> = source_outline::definitions("a.py", "class A:\n    def b(self):\n        pass\n")
//!     .into_iter().map(|definition| definition.name).collect();
//! assert_eq!(names, ["A", "b"]);
//! ```
//!
//! [`syntax`] says which syntax errors a change has introduced, as [`problems`].
//!
//! A part of Rootbound, published with it: its interface changes without notice.
//!
//! # Map
//! `language` maps the name of a file to one of three engines: `braces` (C, Go, Java, JavaScript, Rust and relatives),
//! `indents` (languages whose definitions begin with a keyword, such as Python and Ruby) and `sections` (headings).
//! `outline_builder` splits a text into lines for the engine.
//!
//! - `braces` reads the tokens of `lexer` (whose rules for each language are in `lex_rules`) into a `header` up to the next
//!   brace, and asks the grammar of the language (below it: `c`, `go`, `java`, `javascript`, `rust`) what it defines.
//!   `directives` handles `#if`.
//! - `comments` asks the `lexer` which parts of a line are comments.
//! - `indents` looks up the words of a line in the `keyword_grammar` of the language; the grammars are below it.

mod braces;
mod comments;
mod definition;
mod directives;
mod header;
mod indents;
mod keyword_grammar;
mod language;
mod lex_rules;
mod lexer;
mod outline_builder;
pub mod problems;
mod sections;
pub mod syntax;

pub use comments::CommentScanner;
pub use definition::{Definition, enclosing, named, not_shown};
pub use outline_builder::{Lines, OutlineBuilder, definitions, may_have_definitions};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
