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
//! `document` decodes and splices: `detect` guesses the encoding, `encoding` and `encode` go both ways, `offsets` maps the
//! text to its bytes. `lines`, `line_ending` and `layout` describe it. `binary_kind` names what is no text. Smaller things
//! about texts that other crates share: [`nearest_name`] (what a misspelt name may mean), [`hidden`] characters, `tokens`,
//! [`byte_size`], [`wildcard`], `glob_path`, `shorten`, `media_type`.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

mod binary_kind;
pub mod byte_size;
mod detect;
mod document;
mod encode;
mod encoding;
mod encoding_label;
mod glob_path;
pub mod hidden;
mod layout;
mod line_ending;
mod lines;
mod media_type;
pub mod nearest_name;
mod offsets;
mod shorten;
mod tokens;
pub mod wildcard;

pub use binary_kind::binary_kind;
pub use detect::looks_like_utf16;
pub use document::{Document, HEAD, encoding_of_head, is_padded, is_plain, view, whole_lines};
pub use encode::{encode, first_unwritable};
pub use encoding_label::EncodingLabel;
pub use glob_path::{backslash_note, with_slashes};
pub use layout::Layout;
pub use line_ending::{LineEnding, with_lf};
pub use lines::{Line, lines, lines_ended_by_cr};
pub use media_type::media_type;
pub use shorten::{shorten, shorten_around};
pub use tokens::estimated_tokens;

/// The content is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// What it is instead, for a person: a noun phrase without an article, as in "PDF document" or "binary data".
    pub kind: String,
}

/// Why a change cannot be written back in the file's own encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpliceError {
    /// The new text holds a character that the encoding has no bytes for.
    Unrepresentable {
        /// The first such character.
        character: char,
        /// The encoding's WHATWG name.
        encoding: &'static str,
    },
    /// The bytes of the change could not be separated from those around it, or read back differently:
    /// a stateful encoding, or an invalid sequence inside the change.
    Unstable {
        /// The encoding's WHATWG name.
        encoding: &'static str,
    },
}
