//! STUB
#![allow(
    missing_docs,
    unused_variables,
    clippy::todo,
    clippy::all,
    clippy::pedantic,
    clippy::allow_attributes_without_reason
)]
use encoding_rs::Encoding;
pub mod hidden;
use std::ops::Range;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    None,
    Lf,
    CrLf,
    Cr,
    Mixed,
}
impl LineEnding {
    pub fn as_str(self) -> &'static str {
        todo!()
    } /* "lf","crlf","cr","mixed","none" */
    pub fn of(text: &str) -> Self {
        todo!()
    }
}
/// The bytes of a text file together with their decoded text.
#[derive(Clone, Debug)]
pub struct Document {}
#[derive(Debug)]
pub enum DecodeError {
    Binary { kind: String /* "PDF document", "ELF executable", "binary data" … */ },
}
#[derive(Debug)]
pub enum SpliceError {
    Unrepresentable { character: char, encoding: &'static str },
    Unstable { encoding: &'static str },
}
impl Document {
    /// `encoding` overrides detection (BOM, then UTF-8, then chardetng). NUL bytes outside UTF-16 are binary.
    pub fn decode(bytes: Vec<u8>, encoding: Option<&'static Encoding>) -> Result<Self, DecodeError> {
        todo!()
    }
    /// without the BOM; invalid sequences as U+FFFD
    pub fn text(&self) -> &str {
        todo!()
    }
    pub fn bytes(&self) -> &[u8] {
        todo!()
    }
    pub fn into_bytes(self) -> Vec<u8> {
        todo!()
    }
    pub fn encoding(&self) -> &'static Encoding {
        todo!()
    }
    pub fn has_bom(&self) -> bool {
        todo!()
    }
    pub fn had_errors(&self) -> bool {
        todo!()
    }
    pub fn line_ending(&self) -> LineEnding {
        todo!()
    }
    /// Replaces disjoint ascending spans of `text()`; every byte outside them is kept.
    pub fn splice(&self, replacements: &[(Range<usize>, &str)]) -> Result<Document, SpliceError> {
        todo!()
    }
}
/// Bytes for a whole new text in `encoding` with the BOM and, for `CrLf`, LF → CRLF where the text has no CR.
pub fn encode(
    text: &str,
    encoding: &'static Encoding,
    bom: bool,
    line_ending: LineEnding,
) -> Result<Vec<u8>, SpliceError> {
    todo!()
}
/// Name of a binary file's kind from its first bytes, or None for what looks like text.
pub fn binary_kind(head: &[u8]) -> Option<String> {
    todo!()
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageInfo {
    pub mime: &'static str,
    pub width: usize,
    pub height: usize,
}
/// PNG, JPEG, WebP or GIF by magic bytes.
pub fn image_info(bytes: &[u8]) -> Option<ImageInfo> {
    todo!()
}
