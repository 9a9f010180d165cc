//! The pages of a file in their order (ISO 32000-1, 7.7.3).

use std::collections::HashSet;

use super::{
    budget::PdfError,
    object::{Dict, Object, Reference},
    pdf_file::PdfFile,
};

/// Pages of one file; the longest books have a twentieth.
const PAGES: usize = 200_000;

/// Nodes from a page up to one with the entry that it inherits.
const HEIGHT: usize = 64;

/// The pages, each by its reference. Nothing is followed twice, so that a tree with circles ends.
pub(super) fn pages(file: &PdfFile<'_>) -> Result<Vec<Reference>, PdfError> {
    let mut pages = Vec::new();
    let Some(root) = file.root()? else { return Ok(pages) };
    let mut seen = HashSet::new();
    let mut open: Vec<Reference> = root.get(b"Pages").and_then(Object::reference).into_iter().collect();
    while let Some(reference) = open.pop() {
        if !seen.insert(reference.number) {
            continue;
        }
        let node = file.resolve(&Object::Reference(reference))?;
        let Some(node) = node.dict() else { continue };
        let kids = file.get(node, b"Kids")?;
        if let Some(kids) = kids.array() {
            file.budget.work(kids.len() as u64)?;
            // Backwards, as the last one is taken first.
            open.extend(kids.iter().rev().filter_map(Object::reference));
        } else if pages.len() == PAGES {
            return Err(PdfError::TooLarge("it has more than 200,000 pages"));
        } else {
            pages.push(reference);
        }
    }
    Ok(pages)
}

/// Every object that says it is a page, for a file whose tree leads to none.
pub(super) fn loose_pages(file: &PdfFile<'_>) -> Result<Vec<Reference>, PdfError> {
    let mut pages = Vec::new();
    for number in file.numbers() {
        let reference = Reference { number, generation: 0 };
        let object = file.resolve(&Object::Reference(reference))?;
        let is_page =
            object.dict().is_some_and(|dict| dict.get(b"Type").and_then(Object::name) == Some(b"Page".as_slice()));
        if is_page && pages.len() < PAGES {
            pages.push(reference);
        }
    }
    Ok(pages)
}

/// An entry of a page, or of the nearest node above it that has one.
pub(super) fn inherited(file: &PdfFile<'_>, page: &Dict, key: &[u8]) -> Result<Object, PdfError> {
    let mut node = page.clone();
    for _ in 0..HEIGHT {
        let value = file.get(&node, key)?;
        if value != Object::Null {
            return Ok(value);
        }
        let Object::Dict(parent) = file.get(&node, b"Parent")? else { break };
        node = parent;
    }
    Ok(Object::Null)
}
