//! JSON, TOML, YAML and XML as models meet them in files: what is wrong in them, which names they give, and the cells of a
//! notebook. For tools that change files on behalf of someone who cannot see them.
//!
//! Nothing here opens a file, and no text makes it fail: each reader is bounded in time and memory, and what it does not
//! understand it says so.
//!
//! ```
//! use structured_text::json::{self, JsonDialect};
//!
//! let error = json::check("{\"a\": 1,}", JsonDialect::Json).error.expect("an error");
//! assert_eq!((error.at, error.message.as_str()), (7, "trailing comma before `}`"));
//! ```
//!
//! # Map
//! [`json`], [`toml`], [`yaml`] and [`xml`] find the first [`SyntaxError`] of a text, and what is allowed but hardly meant;
//! [`is_template`] says where their findings mean nothing. [`key_names`] reads the names in a file with secrets.
//! [`Notebook`] reads the cells of a Jupyter notebook, and changes their source.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

pub mod json;
pub mod key_names;
mod notebook;
mod syntax_error;
#[cfg(test)]
mod testing;
pub mod toml;
pub mod xml;
pub mod yaml;

pub use notebook::{Cell, CellOutput, Notebook, SourceEdit};
pub use syntax_error::{Findings, SyntaxError, is_template, line_of, quoted};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
