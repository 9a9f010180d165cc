//! Whole documents, built here, and what is wrong with hostile ones.

#![expect(clippy::format_collect, clippy::redundant_closure_for_method_calls, reason = "shorter, and lifetimes")]

mod hostile;
mod numbers;
mod opendocument;
mod slides;
mod texts;
mod workbooks;

use std::{io::Cursor, ops::ControlFlow};

use crate::{OfficeDocument, OfficeError, SheetRows, WantedCells, with_document};

/// All cells.
const ALL: WantedCells =
    WantedCells { rows: (1, u32::MAX), columns: (1, u32::MAX), formulas: false, max_bytes: usize::MAX };

fn open<T>(bytes: &[u8], read: impl FnOnce(&OfficeDocument<'_>) -> Result<T, OfficeError>) -> Result<T, OfficeError> {
    with_document(Cursor::new(bytes), &|| false, read)
}

/// The paragraphs of a text.
fn paragraphs(bytes: &[u8]) -> Result<Vec<String>, OfficeError> {
    open(bytes, |document| {
        let mut found = Vec::new();
        document.paragraphs(1, &mut |paragraph| {
            assert_eq!(paragraph.number, found.len() + 1);
            found.push(paragraph.text.to_owned());
            ControlFlow::Continue(())
        })?;
        Ok(found)
    })
}

fn rows(bytes: &[u8], sheet: usize, wanted: &WantedCells) -> Result<SheetRows, OfficeError> {
    open(bytes, |document| document.rows(sheet, wanted))
}

/// The lines of the rows of a sheet.
fn lines(bytes: &[u8], sheet: usize, wanted: &WantedCells) -> Vec<String> {
    rows(bytes, sheet, wanted).expect("rows").rows.into_iter().map(|(_, line)| line).collect()
}
