//! Text as it is in a file: encodings, line endings, lines, and what is no text at all.
//!
//! Pure functions on bytes and strings. A [`Document`] ties decoded text to the bytes it came from, so
//! that a change of the text keeps every byte outside it. No file is opened here.
//!
//! ```
//! use text_file::{Document, LineEnding};
//!
//! let document = Document::decode(b"caf\xe9 au lait\r\n".to_vec(), None).expect("text");
//! assert_eq!(document.text(), "café au lait\r\n");
//! assert_eq!(document.line_ending(), LineEnding::CrLf);
//! ```
//!
//! # Map
//! `document` decodes and splices: `declared` reads what a text says of its encoding, `detect` guesses it and names what is no
//! text, `encoding` goes both ways,
//! `offsets` maps the text to its bytes. `lines` are its parts, with what ends them. Smaller things about texts that
//! other crates share: [`nearest_name`] (what a misspelt name may mean), names that [`look_alike`], [`escape`] and [`hidden`] for what a
//! person does not see, `tokens`, [`wildcard`], and what a `message` repeats of a text.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

mod declared;
mod detect;
mod document;
mod encoding;
pub mod escape;
pub mod hidden;
mod lines;
pub mod look_alike;
mod message;
pub mod nearest_name;
mod offsets;
mod tokens;
pub mod wildcard;

pub use detect::{DOCUMENT_HEAD_BYTES, DocumentFormat, binary_kind, document_format, is_document_name};
pub use detect::{looks_like_utf16, media_type};
pub use document::{
    Document, HEAD_BYTES, Layout, encoding_of_head, is_padded, is_plain, is_utf8, spliced, view, whole_lines,
};
pub use encoding::{Charset, EncodingLabel, LabelError, encode, first_unwritable};
pub use lines::{Line, LineEnding, lines, with_lf};
pub use message::{exact_size, file_size, shorten, shorten_around};
pub use tokens::estimated_tokens;
pub use wildcard::{backslash_note, with_slashes};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// The content is not text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not text: {kind}")]
pub struct DecodeError {
    /// The kind of content that it is instead, human-readable: a noun phrase without an article, as in "PDF document" or
    /// "binary data".
    pub kind: String,
}

/// Why a change cannot be written back in the file's own encoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpliceError {
    /// The new text holds a character that the encoding has no bytes for.
    #[error("{character:?} (U+{:04X}), which {encoding} cannot represent", u32::from(*character))]
    Unrepresentable {
        /// The first such character.
        character: char,
        /// The encoding's WHATWG name.
        encoding: &'static str,
    },
    /// The bytes of the change could not be separated from those around it, or read back differently:
    /// a stateful encoding, or an invalid sequence inside the change.
    #[error("it would be changed by writing it in {encoding} and reading it back")]
    Unstable {
        /// The encoding's WHATWG name.
        encoding: &'static str,
    },
}
