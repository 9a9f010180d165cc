//! The definitions of a source file (functions, types, macros, headings) by patterns of its lines, without a parser.
//!
//! For orientation: which function a line is in, where a definition begins and ends, what a part of a file holds. Some
//! forty languages, by the name of the file. Comments, strings and braces are followed as far as that is cheap, so a
//! source that hides its structure (macros that open braces, generated or minified code) gives a wrong or an empty
//! outline, never an error. One pass over the text, linear in its length; memory is bounded by the number of definitions
//! (at most 200,000) and the longest line that is looked at (64 KiB, the rest of a line is passed over).

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
mod keyword_grammar;
mod keywords;
mod language;
mod lex_rules;
mod lexer;
mod line_break;
mod line_patterns;
mod not_shown;
mod open_block;
mod rust;
mod script;
mod sections;
mod source;
mod unfinished;

pub use definition::{Definition, enclosing, enclosing_definition, named};
pub use not_shown::not_shown;
pub use source::{Outline, definitions, may_have_definitions};

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
