//! The definitions of a source file (functions, types, macros, headings) by patterns of its lines, without a parser.
//!
//! For orientation: which function a line is in, where a definition begins and ends, what a part of a file holds. Some
//! forty languages, by the name of the file. Comments, strings and braces are followed as far as that is cheap, so a
//! source that hides its structure (macros that open braces, generated or minified code) gives a wrong or an empty
//! outline, never an error. One pass over the text, linear in its length; memory is bounded by the number of definitions
//! (at most 200,000) and the longest line that is looked at (64 KiB, the rest of a line is passed over).
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
//! - `braces` reads the tokens of `lexer` (whose rules for each language are in `lex_rules`; comments and strings over
//!   several lines are in `multiline_state`) into a `header` up to the next brace, and asks the `brace_grammar` of the
//!   language (`c`, `go`, `java`, `javascript`, `rust`) what it defines. `directives` handles `#if`, `line_break`
//!   statements without semicolons.
//! - `indents` looks up the words of a line in `keywords`, and `line_patterns` for definitions without a keyword.

mod brace_grammar;
mod braces;
mod c;
mod definition;
mod directives;
mod go;
mod header;
mod header_buffer;
mod indents;
mod java;
mod javascript;
mod keyword_grammar;
mod keywords;
mod language;
mod lex_rules;
mod lexer;
mod line_break;
mod line_patterns;
mod multiline_state;
mod not_shown;
mod open_block;
mod outline_builder;
pub mod problems;
mod rust;
mod sections;
pub mod syntax;

pub use definition::{Definition, enclosing, enclosing_definition, named};
use directives::{Branch, Directive};
use lex_rules::{C, GO, JAVA, JAVASCRIPT, LexRules, PROTO, PYTHON, RUST};
use lexer::{Lexeme, LexemeKind, Lexer};
pub use not_shown::not_shown;
pub use outline_builder::{OutlineBuilder, definitions, may_have_definitions};

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
