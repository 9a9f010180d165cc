//! One indirect object where it is in the file: `12 0 obj … endobj`.

use std::ops::Range;

use memchr::memmem;

use crate::{
    budget::{PdfBudget, PdfError},
    lexer::PdfLexer,
    object::{Object, Reference},
};

/// An object, and where its bytes begin if it is a stream.
pub(super) struct Indirect {
    pub(super) reference: Reference,
    pub(super) object: Object,
    pub(super) stream: Option<usize>,
}

/// The object at `position`; `None` where there is none.
pub(super) fn read_indirect(
    bytes: &[u8],
    position: usize,
    budget: &PdfBudget<'_>,
) -> Result<Option<Indirect>, PdfError> {
    let mut lexer = PdfLexer::of_file(bytes, position);
    let Some(reference) = header(&mut lexer) else { return Ok(None) };
    let object = lexer.object();
    budget.parsed(lexer.position().saturating_sub(position))?;
    let Some(object) = object else { return Ok(None) };
    let stream = (matches!(object, Object::Dict(_)) && lexer.keyword(b"stream")).then(|| {
        // One line ending, and no other white space: that would belong to the bytes.
        let ending = match lexer.rest() {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        };
        lexer.position() + ending
    });
    Ok(Some(Indirect { reference, object, stream }))
}

/// The numbers that an object begins with, as in `12 0 obj`.
fn header(lexer: &mut PdfLexer<'_>) -> Option<Reference> {
    let number = u32::try_from(lexer.unsigned()?).ok()?;
    let generation = u32::try_from(lexer.unsigned()?).ok()?;
    lexer.keyword(b"obj").then_some(Reference { number, generation })
}

/// The bytes of a stream: as many as its dictionary says, if it ends there, and otherwise up to its end mark.
pub(super) fn stream_range(
    bytes: &[u8],
    start: usize,
    length: Option<usize>,
    budget: &PdfBudget<'_>,
) -> Result<Range<usize>, PdfError> {
    let start = start.min(bytes.len());
    if let Some(end) = length.and_then(|length| start.checked_add(length)).filter(|end| *end <= bytes.len())
        && PdfLexer::of_file(bytes, end).keyword(b"endstream")
    {
        return Ok(start..end);
    }
    let rest = &bytes[start..];
    let end = memmem::find(rest, b"endstream").or_else(|| memmem::find(rest, b"endobj")).unwrap_or(rest.len());
    budget.work(end as u64 / 8)?;
    // The line ending before the mark is not part of the bytes.
    let mut kept = &rest[..end];
    kept = kept.strip_suffix(b"\n").unwrap_or(kept);
    kept = kept.strip_suffix(b"\r").unwrap_or(kept);
    Ok(start..start + kept.len())
}
