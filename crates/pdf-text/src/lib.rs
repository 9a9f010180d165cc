//! The text of a PDF file, page by page.
//!
//! A file is hostile until it has been read: every length, count and reference in it is a claim. Nothing is decoded or
//! followed but what the asked pages need, all work counts against one budget, nesting is bounded, and what exceeds a
//! limit gives less text and a note, or an error. The largest file takes some 200 MB.
//!
//! The libraries that read PDF (lopdf 0.47, hayro-syntax 0.9, pdf 0.10, `pdf_oxide` 0.3, unpdf 0.52) load every object at
//! the start, or decode streams of objects without a limit or with one of 100 MB to 1 GB for each. So the structure is
//! read here, and libraries decode what is in it: Flate, LZW, AES, the encodings of older systems.
//!
//! # Map
//! Bytes to objects: `lexer`, `object`, `pdf_file` (objects by reference, and the bytes of streams). Pages: their tree is
//! here, `content` has the instructions of a page, `page_layout` makes lines of glyphs. Fonts: `font`. All work counts
//! against the `budget`.
//!
//! # Limits
//! No layout of tables, no text in pictures, and no glyphs of fonts that do not say which characters they are.
//!
//! ```
//! use pdf_text::{PdfError, with_pdf};
//!
//! let refused = with_pdf(b"not a PDF", &|| false, |pdf| Ok(pdf.page_count()));
//! assert!(refused.is_err());
//! ```
//!
//! A part of Rootbound, published with it: its interface changes without notice.

mod budget;
mod content;
mod font;
mod lexer;
mod object;
mod page_layout;
mod pdf_file;

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::{collections::HashSet, time::Duration};

use budget::PdfBudget;
use content::{Matrix, PageContent, read_page};
use font::FontCache;
use object::{Dict, Object, Reference};
use pdf_file::PdfFile;

pub use budget::PdfError;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// One file is read at a time, so that several calls together take no more memory than one.
static READING: Mutex<()> = Mutex::new(());

/// An open PDF, whose pages are read when they are asked for.
pub struct Pdf<'a> {
    file: PdfFile<'a>,
    pages: Vec<Reference>,
    fonts: FontCache,
}

/// The text of one page, and what is known of the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PdfPage {
    /// Lines, each with its line feed; empty where there is no text.
    pub text: String,
    /// Images on the page.
    pub images: usize,
    /// Characters that are left out, as their font does not say what they are.
    pub unknown: usize,
    /// Whether a limit was reached, so that text may be missing.
    pub cut: bool,
    /// Whether the page is damaged or in an unknown form, so that text may be missing.
    pub damaged: bool,
}

/// Opens a PDF and hands it to `read`; `stopped` is asked often and ends the work.
///
/// # Errors
/// What is wrong with the file, or what `read` answers.
pub fn with_pdf<T>(
    bytes: &[u8],
    stopped: &dyn Fn() -> bool,
    read: impl FnOnce(&Pdf<'_>) -> Result<T, PdfError>,
) -> Result<T, PdfError> {
    let _alone = loop {
        match READING.try_lock() {
            Ok(guard) => break guard,
            Err(TryLockError::Poisoned(poisoned)) => break PoisonError::into_inner(poisoned),
            // Polled, as std's `Mutex` has no wait with a timeout: a stopped call must not wait for another one.
            Err(TryLockError::WouldBlock) if stopped() => return Err(PdfError::Stopped),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    caught(|| read(&Pdf::open(bytes, PdfBudget::new(stopped))?))
}

/// As [`with_pdf`], at the same time as other files: each takes at most some 30 MB beside its bytes.
///
/// # Errors
/// [`PdfError::NotSmall`] for a file that may take more, perhaps after a part of it was read.
pub fn with_small_pdf<T>(
    bytes: &[u8],
    stopped: &dyn Fn() -> bool,
    read: impl FnOnce(&Pdf<'_>) -> Result<T, PdfError>,
) -> Result<T, PdfError> {
    caught(|| read(&Pdf::open(bytes, PdfBudget::small(stopped))?))
}

fn caught<T>(read: impl FnOnce() -> Result<T, PdfError>) -> Result<T, PdfError> {
    // No input is known that panics.
    panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or(Err(PdfError::Damaged("its data is invalid")))
}

impl<'a> Pdf<'a> {
    fn open(bytes: &'a [u8], budget: PdfBudget<'a>) -> Result<Self, PdfError> {
        let mut file = PdfFile::open(bytes, budget)?;
        let mut found = pages(&file)?;
        if found.is_empty() {
            file = file.repaired()?;
            found = pages(&file)?;
        }
        if found.is_empty() {
            found = loose_pages(&file)?;
        }
        if found.is_empty() {
            return Err(PdfError::Damaged("it has no pages"));
        }
        Ok(Self { file, pages: found, fonts: FontCache::default() })
    }

    /// How many pages there are: at least one.
    pub fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// A page, counted from 0.
    ///
    /// # Errors
    /// When the work is no longer wanted, or too much; what is damaged in a page is left out.
    pub fn page(&self, index: usize) -> Result<PdfPage, PdfError> {
        let Some(reference) = self.pages.get(index) else { return Ok(PdfPage::default()) };
        let page = self.file.resolve(&Object::Reference(*reference))?;
        let Some(page) = page.dict() else { return Ok(PdfPage::default()) };
        let mut contents = self.file.get(page, b"Contents")?;
        if let (Object::Null, Some(lost)) = (&contents, page.get(b"Contents")) {
            contents = lost.clone();
        }
        let resources = inherited(&self.file, page, b"Resources")?;
        let resources = resources.dict().cloned().unwrap_or_default();
        let turned = inherited(&self.file, page, b"Rotate")?.number().unwrap_or(0.0);
        let found = read_page(&self.file, &self.fonts, &contents, resources, turn(turned))?;
        let PageContent { layout, images, unknown, cut, damaged, .. } = found;
        Ok(PdfPage { text: layout.finish(), images, unknown, cut, damaged })
    }
}

fn turn(degrees: f64) -> Matrix {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 4")]
    let quarters = (degrees.rem_euclid(360.0) / 90.0) as u8;
    Matrix(match quarters {
        1 => [0.0, -1.0, 1.0, 0.0, 0.0, 0.0],
        2 => [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0],
        3 => [0.0, 1.0, -1.0, 0.0, 0.0, 0.0],
        _ => Matrix::IDENTITY.0,
    })
}

/// Pages of one file; the longest books have a twentieth.
const MAX_PAGES: usize = 200_000;

/// Nodes from a page up to one with the entry that it inherits.
const MAX_TREE_HEIGHT: usize = 64;

/// The pages of a file in their order (ISO 32000-1, 7.7.3), each by its reference. Nothing is followed twice, so that a tree with circles ends.
fn pages(file: &PdfFile<'_>) -> Result<Vec<Reference>, PdfError> {
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
        } else if pages.len() == MAX_PAGES {
            return Err(PdfError::TooLarge("it has more than 200,000 pages"));
        } else {
            pages.push(reference);
        }
    }
    Ok(pages)
}

/// Every object that says it is a page, for a file whose tree leads to none.
fn loose_pages(file: &PdfFile<'_>) -> Result<Vec<Reference>, PdfError> {
    let mut pages = Vec::new();
    for number in file.numbers() {
        let reference = Reference { number, generation: 0 };
        let object = file.resolve(&Object::Reference(reference))?;
        let is_page =
            object.dict().is_some_and(|dict| dict.get(b"Type").and_then(Object::name) == Some(b"Page".as_slice()));
        if is_page && pages.len() < MAX_PAGES {
            pages.push(reference);
        }
    }
    Ok(pages)
}

/// An entry of a page, or of the nearest node above it that has one.
fn inherited(file: &PdfFile<'_>, page: &Dict, key: &[u8]) -> Result<Object, PdfError> {
    let mut node = page.clone();
    for _ in 0..MAX_TREE_HEIGHT {
        let value = file.get(&node, key)?;
        if value != Object::Null {
            return Ok(value);
        }
        let Object::Dict(parent) = file.get(&node, b"Parent")? else { break };
        node = parent;
    }
    Ok(Object::Null)
}
