//! The whole text of a document, part by part, for `grep`: of each part what `read` shows of it, without its headings and
//! notes.

use std::fmt::Display;

use change_set::Workspace;
use confined_fs::{OpenFile, stop::StopSignal};
use image_view::DECODE_MEMORY;
use text_file::{DOCUMENT_HEAD_BYTES, DocumentFormat, document_format, exact_size, is_document_name};
use tree_search::documents::{DocumentText, MetDocument};

use crate::decode_memory::DecodeMemory;

/// What became of a document that was to be read.
#[derive(Debug)]
pub(crate) enum ReadDocument {
    /// Its text, or why it has none.
    Read(DocumentText),
    /// It is another file now, or in another state, or none of the formats after all.
    Other,
    /// The work was stopped first.
    Stopped,
}

/// Bytes of the largest file that is read at the same time as others.
const MAX_SMALL_FILE: u64 = 1 << 20;
/// How many are.
const AT_ONCE: u64 = 3;

/// Reads a document that a search met, of at most `max_bytes`. A few small ones are read at the same time, a larger one
/// alone, so that all of them take no more memory than the largest.
pub(crate) fn read_document(
    workspace: &Workspace,
    met: &MetDocument,
    max_bytes: u64,
    stop: &StopSignal,
) -> ReadDocument {
    for is_small in [true, false] {
        if is_small && met.stat.size > MAX_SMALL_FILE {
            continue;
        }
        let memory = if is_small { DECODE_MEMORY / AT_ONCE } else { DECODE_MEMORY };
        let Some(_memory) = DecodeMemory::reserve_until(stop, memory) else { break };
        if let Some(read) = read_once(workspace, met, max_bytes, is_small, stop) {
            return read;
        }
    }
    ReadDocument::Stopped
}

/// `None` where it is not small.
fn read_once(
    workspace: &Workspace,
    met: &MetDocument,
    max_bytes: u64,
    is_small: bool,
    stop: &StopSignal,
) -> Option<ReadDocument> {
    let Ok(mut file) = workspace.open_file(&met.real) else { return Some(ReadDocument::Other) };
    if !file.stat().same_file_state(&met.stat) {
        return Some(ReadDocument::Other);
    }
    let mut head = Vec::new();
    let Ok(_) = file.read_to_limit(&mut head, DOCUMENT_HEAD_BYTES as u64) else { return Some(ReadDocument::Other) };
    let mut text = DocumentText::default();
    let read = match document_format(met.real.relative(), &head) {
        Some(DocumentFormat::Pdf) => pdf(&mut text, file, head, max_bytes, is_small, stop),
        _ => office(&mut text, &mut file, is_document_name(met.real.relative()), stop),
    };
    Some(match read {
        Outcome::NotSmall => return None,
        Outcome::Stopped => ReadDocument::Stopped,
        Outcome::Other => ReadDocument::Other,
        // What was read while it was written may be of no single state.
        Outcome::Done if !workspace.stat(&met.real).is_ok_and(|now| now.same_file_state(&met.stat)) => {
            ReadDocument::Other
        }
        Outcome::Done => ReadDocument::Read(text),
    })
}

enum Outcome {
    Done,
    /// It has to be read alone.
    NotSmall,
    Stopped,
    Other,
}

/// Notes an error as the reason why text is missing.
fn failed(text: &mut DocumentText, error: impl Display) -> Outcome {
    text.note_flaw(|| error.to_string());
    Outcome::Done
}

#[cfg(feature = "pdf")]
fn pdf(
    text: &mut DocumentText,
    mut file: OpenFile,
    mut bytes: Vec<u8>,
    most: u64,
    is_small: bool,
    stop: &StopSignal,
) -> Outcome {
    use pdf_text::{Pdf, PdfError, with_pdf, with_small_pdf};

    if file.stat().size > most {
        return failed(text, format_args!("too large: over {} (--max-file-size)", exact_size(most)));
    }
    if !file.read_to_limit(&mut bytes, most).is_ok_and(|is_all| is_all) {
        return Outcome::Other;
    }
    let stopped = || stop.stopped().is_some();
    let read = |pdf: &Pdf<'_>| {
        for index in 0..pdf.page_count() {
            let page = pdf.page(index)?;
            if !text.push(true, "page", index + 1, &page.text) {
                break;
            }
            if page.cut {
                text.note_flaw(|| format!("too large: page {} is not read whole", index + 1));
            }
        }
        Ok(())
    };
    let read = if is_small { with_small_pdf(&bytes, &stopped, read) } else { with_pdf(&bytes, &stopped, read) };
    match read {
        Ok(()) => Outcome::Done,
        Err(PdfError::NotSmall) => Outcome::NotSmall,
        Err(PdfError::Stopped) => Outcome::Stopped,
        Err(error) => failed(text, error),
    }
}

#[cfg(not(feature = "pdf"))]
fn pdf(text: &mut DocumentText, _: OpenFile, _: Vec<u8>, _: u64, _: bool, _: &StopSignal) -> Outcome {
    failed(text, "a PDF, which this program was built without")
}

#[cfg(feature = "office")]
fn office(text: &mut DocumentText, file: &mut OpenFile, is_named_so: bool, stop: &StopSignal) -> Outcome {
    use std::ops::ControlFlow;

    use office_text::{OfficeDocument, OfficeError, OfficeKind, WantedCells, with_document};

    use super::office::{sheet_name, slide_text};

    /// Rows of a sheet that are taken at once, in bytes.
    const ROWS_BYTES: usize = 16 << 20;

    fn paragraphs(text: &mut DocumentText, document: &OfficeDocument<'_>) -> Result<(), OfficeError> {
        let mut is_first = true;
        document.paragraphs(1, &mut |paragraph| {
            if paragraph.cut {
                text.note_flaw(|| format!("too large: paragraph {} is not read whole", paragraph.number));
            }
            let goes_on = text.push(is_first, "paragraph", paragraph.number, paragraph.text);
            is_first = false;
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        for (at, (_, lines)) in document.headers()?.iter().enumerate() {
            text.push(at == 0, "headers", 0, lines);
        }
        Ok(())
    }

    fn sheets(text: &mut DocumentText, document: &OfficeDocument<'_>) -> Result<(), OfficeError> {
        let sheets = document.sheets()?;
        for at in 0..sheets.len() {
            let noun = format!("sheet {} row", sheet_name(&sheets, at, false));
            let all = (1, u32::MAX);
            let wanted = WantedCells { rows: all, columns: all, formulas: false, max_bytes: ROWS_BYTES };
            let found = document.rows(at + 1, &wanted)?;
            let mut is_first = true;
            for (row, line) in &found.rows {
                // Its number is in front of the first tab.
                let cells = line.split_once('\t').map_or("", |(_, cells)| cells);
                if !text.push(is_first, &noun, *row as usize, cells) {
                    return Ok(());
                }
                is_first = false;
            }
            if let Some(row) = found.next {
                text.note_flaw(|| format!("too large: {noun} {row} and what follows is left out"));
            } else if found.cut {
                text.note_flaw(|| "too large: the last cells of a row are left out".to_owned());
            }
        }
        Ok(())
    }

    fn slides(text: &mut DocumentText, document: &OfficeDocument<'_>) -> Result<(), OfficeError> {
        for number in 1..=document.slide_count() {
            match document.slide(number) {
                Ok(slide) => {
                    if slide.cut {
                        text.note_flaw(|| format!("too large: slide {number} is not read whole"));
                    }
                    let title = slide.title.as_deref().map(|title| format!("{title}\n")).unwrap_or_default();
                    if !text.push(true, "slide", number, &(title + &slide_text(slide.text, &slide.notes))) {
                        break;
                    }
                }
                // The others may be read.
                Err(error @ (OfficeError::Damaged(_) | OfficeError::Missing(_))) => {
                    text.note_flaw(|| error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    let read = with_document(file, &|| stop.stopped().is_some(), |document| match document.kind() {
        OfficeKind::Text => paragraphs(text, document),
        OfficeKind::Workbook => sheets(text, document),
        OfficeKind::Presentation => slides(text, document),
    });
    match read {
        Ok(()) => Outcome::Done,
        Err(OfficeError::Stopped) => Outcome::Stopped,
        // Other archives, and compound files that no office program wrote.
        Err(OfficeError::NoDocument | OfficeError::Format(..)) if !is_named_so => Outcome::Other,
        Err(error) => failed(text, error),
    }
}

#[cfg(not(feature = "office"))]
fn office(text: &mut DocumentText, _: &mut OpenFile, _: bool, _: &StopSignal) -> Outcome {
    failed(text, "an Office document, which this program was built without")
}
