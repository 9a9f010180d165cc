//! The text of Word, Excel, `PowerPoint` and `OpenDocument` files, part by part.
//!
//! A file is hostile until it has been read: every length, count and reference in it is a claim. A document is read as a
//! stream from the start of a part to the last paragraph, row or slide that is wanted; what is inflated, what is kept and
//! what one element has all count against one budget. Nothing is run, nothing outside of the file is opened, no entity is
//! expanded. What exceeds a limit gives less text and a note, or an error. The most hostile file known takes 113 MB; a row of
//! a sheet of a million takes 4 MB.
//!
//! calamine 0.38 keeps all shared strings, and reserves room for as many as a file says there are: one of 1,139 bytes ends
//! the process. zip 9.5 keeps 200 bytes of each part before the first can be read: a file of 50 MB has a million. So
//! `rawzip` lists the parts, `flate2` inflates them and `quick_xml` gives their elements one at a time; what they mean is
//! read here.
//!
//! # Map
//! Bytes to elements: `package` (parts, relationships, images), `xml`; to lines: `scripts` (raised and lowered), `equation`. Word and `PowerPoint`: `story` (what elements mean),
//! `styles` (with the numbers of lists), `flow` (paragraphs, lists and tables as Markdown). Excel: `xlsx`, `workbook` (the rows
//! that are wanted), `number_format` (dates). `OpenDocument`: `odf` for texts and slides, `ods` for sheets. All work counts
//! against the `budget`.
//!
//! # Limits
//! No layout, text of charts, pivot tables or comments on cells and slides. Parts must be UTF-8.
//! Flat XML and drawings of `OpenDocument` are not read.
//!
//! ```
//! use std::io::Cursor;
//!
//! use office_text::{OfficeError, with_document};
//!
//! let refused = with_document(Cursor::new(b"not a document"), &|| false, |_| Ok(()));
//! assert_eq!(refused, Err(OfficeError::NoDocument));
//! ```
//!
//! A part of Rootbound, published with it: its interface changes without notice.

mod budget;
mod equation;
mod flow;
mod number_format;
mod odf;
mod ods;
mod package;
mod scripts;
mod story;
mod styles;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod workbook;
mod xlsx;
mod xml;

use std::{
    cell::RefCell,
    collections::HashSet,
    io::{Read, Seek, SeekFrom},
    ops::{ControlFlow, Range},
    panic::{self, AssertUnwindSafe},
};

use budget::Budget;
use flow::{Flow, TakeParagraph};
use odf::Odf;
use package::{OfficeImage, Package, Source};
use story::{Docx, Story, read_slide, slide_parts};
use workbook::SheetRows;
use xlsx::Xlsx;
use xml::Node;

pub use budget::OfficeError;
pub use flow::Paragraph;
pub use package::OfficeKind;
pub use story::Slide;
pub use workbook::{OfficeSheet, WantedCells, column_number};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

/// Bytes that reading one document may take at most, for callers that read several at the same time.
pub const MAX_MEMORY_BYTES: u64 = 112 << 20;

enum Content {
    Text(Docx),
    Workbook(Xlsx),
    Presentation(Vec<String>),
    OpenDocument(Odf),
}

/// An open document, whose parts are read when they are asked for.
pub struct OfficeDocument<'a> {
    package: Package<'a>,
    content: Content,
}

/// A heading of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Counted from 1, the highest.
    pub level: u8,
    /// Its text, without the signs of Markdown.
    pub text: String,
    /// Its number, as `2.1 `, with which the text begins; empty where it has none.
    pub label: String,
    /// The paragraph that it is.
    pub paragraph: usize,
}

/// How a text is divided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Paragraphs, items of lists and rows of tables, without those that are empty.
    pub paragraphs: usize,
    /// Its headings; of more than 10,000 the first.
    pub headings: Vec<Heading>,
}

const MAX_HEADINGS: usize = 10_000;

impl Outline {
    /// The paragraphs of each section whose heading is `text`, in either case of letters, with its number or without and with
    /// the signs of Markdown or without, from the heading to the next of its level or above.
    pub fn sections(&self, text: &str) -> Vec<Range<usize>> {
        let wanted = text.trim_start_matches(['#', ' ']).trim().to_lowercase();
        let next = |level: u8, at: usize| self.headings[at + 1..].iter().find(|next| next.level <= level);
        let end = |next: Option<&Heading>| next.map_or(self.paragraphs + 1, |next| next.paragraph);
        let is_wanted = |heading: &Heading| {
            let (text, label) = (heading.text.to_lowercase(), heading.label.to_lowercase());
            text == wanted || text.strip_prefix(&label) == Some(&wanted)
        };
        let found = self.headings.iter().enumerate().filter(|(_, heading)| is_wanted(heading));
        found.map(|(at, heading)| heading.paragraph..end(next(heading.level, at))).collect()
    }
}

/// Opens a document and hands it to `read`; `stopped` is asked often and ends the work.
///
/// # Errors
/// What is wrong with the file, or what `read` answers.
pub fn with_document<T>(
    mut source: impl Read + Seek,
    stopped: &dyn Fn() -> bool,
    read: impl FnOnce(&OfficeDocument<'_>) -> Result<T, OfficeError>,
) -> Result<T, OfficeError> {
    let size = source.seek(SeekFrom::End(0))?;
    let budget = Budget::new(stopped);
    let file = Source { file: RefCell::new(source), budget: &budget };
    // No input is known that panics.
    panic::catch_unwind(AssertUnwindSafe(|| {
        let package = Package::open(&file, size, &budget)?;
        read(&OfficeDocument { content: Content::of(&package)?, package })
    }))
    .unwrap_or(Err(OfficeError::Damaged("its data is invalid")))
}

impl Content {
    fn of(package: &Package<'_>) -> Result<Self, OfficeError> {
        if let Some(odf) = Odf::open(package)? {
            return Ok(Self::OpenDocument(odf));
        }
        let main = package.relationships("")?.of_type("officeDocument");
        if main.is_empty() {
            return Err(OfficeError::NoDocument);
        }
        if main.rsplit('.').next() == Some("bin") {
            return Err(OfficeError::Format("a binary workbook (.xlsb)", ".xlsx"));
        }
        let mut xml = package.required_xml(&main)?;
        while let Some(node) = xml.next()? {
            let Node::Start(tag) = node else { continue };
            return match tag.name() {
                "document" => Docx::open(package, &main).map(Self::Text),
                "workbook" => Xlsx::open(package, &main).map(Self::Workbook),
                "presentation" => slide_parts(package, &main).map(Self::Presentation),
                _ => Err(OfficeError::NoDocument),
            };
        }
        Err(OfficeError::NoDocument)
    }
}

impl OfficeDocument<'_> {
    /// Whether it is a text, a workbook or a presentation.
    pub fn kind(&self) -> OfficeKind {
        match &self.content {
            Content::Text(_) => OfficeKind::Text,
            Content::Workbook(_) => OfficeKind::Workbook,
            Content::Presentation(_) => OfficeKind::Presentation,
            Content::OpenDocument(odf) => odf.kind,
        }
    }

    /// Hands out the paragraphs of a text from `first` on, counted from 1, until `take` breaks.
    ///
    /// # Errors
    /// What is wrong with the file after what was handed out.
    pub fn paragraphs(&self, first: usize, take: &mut TakeParagraph<'_>) -> Result<(), OfficeError> {
        let flow = Flow::new(first, take);
        match &self.content {
            Content::Text(docx) => {
                let mut story = Story::new(docx, &self.package, &docx.relationships, flow);
                story.read(self.package.required_xml(&docx.main)?)
            }
            Content::OpenDocument(odf) if odf.kind == OfficeKind::Text => odf.paragraphs(&self.package, flow),
            _ => Ok(()),
        }
    }

    /// The paragraphs and headings of a text.
    pub fn outline(&self) -> Result<Outline, OfficeError> {
        let mut outline = Outline::default();
        self.paragraphs(1, &mut |paragraph| {
            outline.paragraphs = paragraph.number;
            if let Some(level) = paragraph.heading.filter(|_| outline.headings.len() < MAX_HEADINGS) {
                let text = paragraph.text.lines().next().unwrap_or_default().trim_start_matches('#').trim();
                let text = text.chars().take(300).collect();
                let label = paragraph.label.to_owned();
                outline.headings.push(Heading { level, text, label, paragraph: paragraph.number });
            }
            ControlFlow::Continue(())
        })?;
        Ok(outline)
    }

    /// The different headers and footers of a text that are not empty: `header` or `footer`, and its lines.
    pub fn headers(&self) -> Result<Vec<(&'static str, String)>, OfficeError> {
        let mut found = match &self.content {
            Content::Text(docx) => docx.headers(&self.package)?,
            Content::OpenDocument(odf) if odf.kind == OfficeKind::Text => odf.headers(&self.package)?,
            _ => Vec::new(),
        };
        let mut seen = HashSet::new();
        found.retain(|one| !one.1.is_empty() && seen.insert(one.clone()));
        Ok(found)
    }

    /// The sheets of a workbook, in the order of their tabs.
    pub fn sheets(&self) -> Result<Vec<OfficeSheet>, OfficeError> {
        match &self.content {
            Content::Workbook(xlsx) => xlsx.sheets(&self.package),
            Content::OpenDocument(odf) if odf.kind == OfficeKind::Workbook => ods::sheets(odf, &self.package),
            _ => Ok(Vec::new()),
        }
    }

    /// Rows of a sheet, which counts from 1.
    pub fn rows(&self, sheet: usize, wanted: &WantedCells) -> Result<SheetRows, OfficeError> {
        match &self.content {
            Content::Workbook(xlsx) => xlsx.rows(&self.package, sheet, *wanted),
            Content::OpenDocument(odf) if odf.kind == OfficeKind::Workbook => {
                ods::rows(odf, &self.package, sheet, *wanted)
            }
            _ => Ok(SheetRows::default()),
        }
    }

    /// How many slides a presentation has.
    pub fn slide_count(&self) -> usize {
        match &self.content {
            Content::Presentation(slides) => slides.len(),
            Content::OpenDocument(odf) if odf.kind == OfficeKind::Presentation => odf.items.len(),
            _ => 0,
        }
    }

    /// A slide of a presentation, which counts from 1.
    pub fn slide(&self, number: usize) -> Result<Slide, OfficeError> {
        let at = number.wrapping_sub(1);
        if at >= self.slide_count() {
            return Err(OfficeError::Missing(format!("slide {number}")));
        }
        match &self.content {
            Content::Presentation(slides) => read_slide(&self.package, &slides[at]),
            Content::OpenDocument(odf) => odf.slide(&self.package, at),
            _ => Ok(Slide::default()),
        }
    }

    /// The images in the document; texts name them by their number here, counted from 1.
    pub fn images(&self) -> &[OfficeImage] {
        &self.package.images
    }

    /// The bytes of an image, which counts from 1: at most 24 MiB.
    pub fn image(&self, number: usize) -> Result<Vec<u8>, OfficeError> {
        self.package.image(number)
    }
}

#[cfg(test)]
mod tests;
