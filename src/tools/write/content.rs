//! The bytes of a file that is written: in its own encoding, with its own line endings.

use encoding_rs::{Encoding, UTF_8};

use crate::{
    text::{self, Document, LineEnding, SpliceError},
    workspace::{Snapshot, WorkspacePath},
};

use super::super::{ToolError, read_before_write};

/// The bytes that would be written.
pub(super) struct NewContent {
    pub(super) bytes: Vec<u8>,
    /// What is replaced, where it is text.
    pub(super) old: Option<Document>,
    /// Bytes that are there now, text or not.
    pub(super) old_bytes: u64,
    /// The encoding of what is written.
    pub(super) encoding: &'static str,
    /// What was appended, where that is what was asked for.
    pub(super) appended: Option<Appended>,
    pub(super) notes: Vec<String>,
}

/// How much is appended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Appended {
    pub(super) bytes: usize,
    pub(super) lines: usize,
}

/// A new file.
pub(super) fn created(content: &str) -> NewContent {
    NewContent {
        bytes: content.as_bytes().to_vec(),
        old: None,
        old_bytes: 0,
        encoding: UTF_8.name(),
        appended: None,
        notes: Vec::new(),
    }
}

/// The new text in the old file's encoding, with its BOM and its uniform CRLF or CR.
pub(super) fn replaced(now: Snapshot, content: &str) -> NewContent {
    let old_bytes = now.bytes.len() as u64;
    let Ok(old) = Document::decode(now.bytes, None) else {
        let notes = vec!["the earlier content is not text, so there is no diff".to_owned()];
        return NewContent { old_bytes, notes, ..created(content) };
    };
    let line_ending = match old.line_ending() {
        ending @ (LineEnding::CrLf | LineEnding::Cr) if !content.contains('\r') => ending,
        _ => LineEnding::None,
    };
    // A detected encoding is only kept where the old file was certainly in it.
    let keep = old.has_bom() || (!old.had_errors() && old.encoding() == UTF_8) || legacy(&old);
    let (encoding, bom) = if keep { (old.encoding(), old.has_bom()) } else { (UTF_8, false) };
    let mut notes = Vec::new();
    if !keep {
        notes.push("now in UTF-8, because its earlier encoding is uncertain".to_owned());
    }
    let (bytes, encoding) = match text::encode(content, encoding, bom, line_ending) {
        Ok(bytes) => (bytes, encoding),
        Err(error) => {
            notes.push(match error {
                SpliceError::Unrepresentable { character, encoding } => {
                    format!("now in UTF-8, because {encoding} has no {}", named(character))
                }
                SpliceError::Unstable { encoding } => {
                    format!("now in UTF-8, because {encoding} cannot represent the new text")
                }
            });
            let bytes = text::encode(content, UTF_8, false, line_ending);
            (bytes.unwrap_or_else(|_| content.as_bytes().to_vec()), UTF_8)
        }
    };
    if encoding != UTF_8 {
        notes.push(format!("encoding {} kept", encoding.name()));
    }
    match line_ending {
        LineEnding::CrLf => notes.push("CRLF line endings kept".to_owned()),
        LineEnding::Cr => notes.push("CR line endings kept".to_owned()),
        _ => {}
    }
    NewContent { bytes, old: Some(old), old_bytes, encoding: encoding.name(), appended: None, notes }
}

/// A character as it is, and by its number, as it may look like another one or like nothing.
fn named(character: char) -> String {
    format!("{character:?} (U+{:04X})", u32::from(character))
}

/// Whether the bytes are exactly what the detected legacy encoding would write.
fn legacy(old: &Document) -> bool {
    !old.had_errors()
        && text::encode(old.text(), old.encoding(), old.has_bom(), LineEnding::None)
            .is_ok_and(|bytes| bytes == old.bytes())
}

/// The old bytes, untouched, and the new text behind them in the same encoding, with the line ending of the
/// last line.
///
/// # Errors
/// `binary` for what is no text, `invalid_input` for what the encoding cannot hold, naming the character.
pub(super) fn appended(path: &WorkspacePath, now: Snapshot, content: &str) -> Result<NewContent, ToolError> {
    let (old_bytes, revision) = (now.bytes.len() as u64, now.revision);
    let old = Document::decode(now.bytes, None)
        .map_err(|error| read_before_write::not_text(path, old_bytes, revision, &error))?;
    let line_ending = LineEnding::at_end_of(old.text());
    // Plain ASCII says nothing of the encoding: what is appended is UTF-8 then, as everything new. UTF-16 is
    // not plain, though its text may be.
    let is_plain = old.text().is_ascii() && old.bytes() == old.text().as_bytes();
    let encoding = if is_plain { UTF_8 } else { old.encoding() };
    let tail = text::encode(content, encoding, false, line_ending).map_err(|error| refused(path, &error))?;
    let bytes = [old.bytes(), &tail].concat();
    if encoding != UTF_8 && !reads_back(&bytes, encoding, &old, &tail) {
        return Err(refused(path, &SpliceError::Unstable { encoding: encoding.name() }));
    }
    let mut notes = Vec::new();
    if !old.text().is_empty() && !old.text().ends_with(['\n', '\r']) && !content.is_empty() {
        notes.push("the file did not end with a newline, so its last line was continued".to_owned());
    }
    match (line_ending, LineEnding::of(content)) {
        (LineEnding::None, _) | (_, LineEnding::None) => {}
        (LineEnding::CrLf | LineEnding::Cr, LineEnding::Lf) => {
            notes.push(format!("{} line endings kept", line_ending.as_str().to_uppercase()));
        }
        (file, content) if file != content => notes.push(format!(
            "the content has {} line endings, but the file has {}",
            content.as_str().to_uppercase(),
            file.as_str().to_uppercase()
        )),
        _ => {}
    }
    let appended = Some(Appended { bytes: tail.len(), lines: text::lines(content).count() });
    Ok(NewContent { bytes, old: Some(old), old_bytes, encoding: encoding.name(), appended, notes })
}

/// Whether the file is the old text and the new one behind it: half a UTF-16 unit at the old end would swallow
/// half of what follows.
fn reads_back(bytes: &[u8], encoding: &'static Encoding, old: &Document, tail: &[u8]) -> bool {
    let (Ok(whole), Ok(tail)) = (text::view(bytes, Some(encoding)), text::view(tail, Some(encoding))) else {
        return false;
    };
    whole.strip_prefix(old.text()).is_some_and(|rest| rest == tail)
}

fn refused(path: &WorkspacePath, error: &SpliceError) -> ToolError {
    match error {
        SpliceError::Unrepresentable { character, encoding } => ToolError::invalid(format!(
            "`content` has {}, which {path}, a file in {encoding}, cannot represent",
            named(*character)
        ))
        .hint("write it another way, or overwrite the whole file"),
        SpliceError::Unstable { encoding } => ToolError::invalid(format!(
            "{path} is in {encoding}, where nothing can be appended without changing the rest"
        ))
        .hint("read it and overwrite the whole file"),
    }
}
