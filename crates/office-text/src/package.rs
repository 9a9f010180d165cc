//! The ZIP archive that a document is: its parts by name, how they refer to each other, and the images among them.
//!
//! ECMA-376 part 2: names of parts do not depend on case, and what a part refers to is in a part beside it.

use std::{
    cell::RefCell,
    collections::HashMap,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
};

use memchr::memmem;
use rawzip::{CompressionMethod, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder, ZipLocator};

use crate::{
    OfficeError,
    budget::{Budget, Result},
    equation::equation,
    xml::{Node, Tag, Xml},
};

/// Parts of one document: a workbook of 10,000 sheets has some 20,000.
const MAX_PARTS: usize = 1 << 16;

/// Bytes of the largest image that is handed out.
const MAX_IMAGE: u64 = 24 << 20;

pub(crate) struct Source<'a, R> {
    pub(crate) file: RefCell<R>,
    pub(crate) budget: &'a Budget<'a>,
}

impl<R: Read + Seek> ReaderAt for Source<'_, R> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        // Work as well: a directory of a gigabyte is bounded by it.
        self.budget.inflate(buffer.len().min(512))?;
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }
}

struct Part {
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
}

/// The kind of a document, by which some functions of `OfficeDocument` answer; the others find nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfficeKind {
    /// Paragraphs, items of lists and rows of tables.
    Text,
    /// Sheets of rows and columns.
    Workbook,
    /// Slides, each with its notes.
    Presentation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfficeImage {
    pub name: String,
    /// Bytes that the document says it has.
    pub size: u64,
    part: String,
}

pub(crate) struct Package<'a> {
    archive: ZipArchive<&'a dyn ReaderAt>,
    /// By their names in lower case and with `/`: some producers write `\`.
    parts: HashMap<String, Part>,
    pub(crate) images: Vec<OfficeImage>,
    pub(crate) budget: &'a Budget<'a>,
}

/// References of a part by their identifiers: the last word of the type, and the name of the other part.
#[derive(Default)]
pub(crate) struct Relationships(HashMap<String, (String, String)>);

impl Relationships {
    /// The name of the part with this identifier; empty if there is none.
    pub(crate) fn part(&self, id: &str) -> String {
        self.0.get(id).map(|(_, part)| part.clone()).unwrap_or_default()
    }

    /// The parts of a type, `header2.xml` before `header10.xml`.
    pub(crate) fn all_of_type(&self, wanted: &str) -> Vec<&str> {
        let found = self.0.values().filter(|(kind, _)| kind == wanted);
        let mut found: Vec<&str> = found.map(|(_, part)| part.as_str()).collect();
        found.sort_unstable_by_key(|part| (part.len(), *part));
        found.dedup();
        found
    }

    /// The part of a type, as `styles`, which is the same in the transitional and the strict form of ECMA-376; empty if
    /// there is none.
    pub(crate) fn of_type(&self, wanted: &str) -> String {
        // The smallest name, so that two of a type give the same answer each time.
        self.0.values().filter(|(kind, _)| kind == wanted).map(|(_, part)| part.clone()).min().unwrap_or_default()
    }
}

impl<'a> Package<'a> {
    /// Opens a file of `size` bytes.
    pub(crate) fn open(file: &'a dyn ReaderAt, size: u64, budget: &'a Budget<'a>) -> Result<Self> {
        let mut buffer = vec![0; rawzip::MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let start = file.read_at(&mut buffer[..8], 0)?;
        if buffer[..start] == CFB_MAGIC {
            return Err(compound_file(file)?);
        }
        if !buffer[..start].starts_with(b"PK\x03\x04") {
            return Err(OfficeError::NoDocument);
        }
        // The comment at its end has at most 64 KiB.
        let locator = ZipLocator::new().max_search_space(1 << 17);
        let archive = locator.locate_in_reader(file, &mut buffer, size).map_err(|(_, error)| zip_error(error))?;
        let (mut parts, mut images) = (HashMap::new(), Vec::new());
        let mut entries = archive.entries(&mut buffer);
        while let Some(entry) = entries.next_entry().map_err(zip_error)? {
            if parts.len() >= MAX_PARTS {
                return Err(OfficeError::TooLarge("it has more than 65,536 parts"));
            }
            let Ok(name) = std::str::from_utf8(entry.file_path().as_bytes()) else { continue };
            let key = name.replace('\\', "/").to_lowercase();
            budget.hold(key.len() * 2)?;
            let method = if entry.flags().is_encrypted() { CompressionMethod::AES } else { entry.compression_method() };
            if (key.contains("/media/") || key.starts_with("pictures/")) && !key.ends_with('/') {
                let name = name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
                images.push(OfficeImage { name, size: entry.uncompressed_size_hint(), part: key.clone() });
            }
            parts.insert(key, Part { place: entry.wayfinder(), method });
        }
        // `image2.png` before `image10.png`.
        images.sort_by_cached_key(|image| (image.part.len(), image.part.clone()));
        Ok(Self { archive, parts, images, budget })
    }

    fn source(&self, name: &str) -> Result<Option<Box<dyn BufRead + '_>>> {
        let Some(part) = self.parts.get(&name.to_lowercase()) else { return Ok(None) };
        // As much as the buffers take: a million sheets may be one part.
        self.budget.inflate(1 << 13)?;
        let entry = self.archive.get_entry(part.place).map_err(zip_error)?;
        let packed = BufReader::with_capacity(1 << 15, entry.reader());
        // The verifier compares length and checksum with the directory: what inflates to more than that says fails there.
        Ok(Some(match part.method {
            CompressionMethod::STORE => Box::new(BufReader::new(entry.verifying_reader(packed))),
            CompressionMethod::DEFLATE => {
                let inflated = entry.verifying_reader(flate2::bufread::DeflateDecoder::new(packed));
                Box::new(BufReader::with_capacity(1 << 15, inflated))
            }
            CompressionMethod::AES => return Err(OfficeError::Password),
            _ => return Err(OfficeError::Damaged("it is compressed in a way that Office does not use")),
        }))
    }

    pub(crate) fn xml(&self, part: &str) -> Result<Option<Xml<'_>>> {
        Ok(self.source(part)?.map(|source| Xml::new(source, self.budget)))
    }

    pub(crate) fn required_xml(&self, part: &str) -> Result<Xml<'_>> {
        // The name comes from the file, and may be of any length.
        self.xml(part)?.ok_or_else(|| OfficeError::Missing(part.chars().take(80).collect()))
    }

    /// Hands out each tag that begins an element of a part whose content is kept; none of a part that does not exist.
    pub(crate) fn tags(&self, part: &str, take: &mut dyn FnMut(&Tag<'_>)) -> Result<()> {
        let Some(mut xml) = self.xml(part)? else { return Ok(()) };
        while let Some(node) = xml.next()? {
            if let Node::Start(tag) = node {
                self.budget.hold(tag.0.len())?;
                take(&tag);
            }
        }
        Ok(())
    }

    /// The equation that an object of `OpenDocument` shows; `None` for a chart or another document.
    pub(crate) fn formula(&self, object: &str) -> Result<Option<String>> {
        let part = format!("{}/content.xml", object.trim_start_matches("./").chars().take(255).collect::<String>());
        let Some(mut xml) = self.xml(&part)? else { return Ok(None) };
        while let Some(node) = xml.next()? {
            let Node::Start(tag) = node else { continue };
            let is_math = tag.name() == "math";
            return if is_math { equation(&mut xml, self.budget).map(Some) } else { Ok(None) };
        }
        Ok(None)
    }

    /// The relationships of a part; of the whole package for the empty name.
    pub(crate) fn relationships(&self, part: &str) -> Result<Relationships> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let mut found = HashMap::new();
        self.tags(&resolved(folder, &format!("_rels/{name}.rels")), &mut |tag| {
            // What is outside of the file is never followed.
            if tag.name() == "Relationship" && tag.text("TargetMode") != "External" {
                let kind = tag.text("Type").rsplit('/').next().unwrap_or_default().to_owned();
                found.insert(tag.text("Id"), (kind, resolved(folder, &tag.id("Target"))));
            }
        })?;
        Ok(Relationships(found))
    }

    /// How an image is named in a text; `alt` is what its author says of it.
    pub(crate) fn image_label(&self, part: &str, alt: &str) -> String {
        let key = part.to_lowercase();
        let alt: String = alt.split_whitespace().flat_map(|word| [" ", word]).collect();
        let order = |image: &OfficeImage| (image.part.len(), image.part.as_str()).cmp(&(key.len(), key.as_str()));
        match self.images.binary_search_by(order) {
            Ok(at) => format!("[image {}:{alt} ({}, {} bytes)]", at + 1, self.images[at].name, self.images[at].size),
            Err(_) => format!("[image:{alt}]"),
        }
    }

    /// The bytes of an image, counted from 1.
    pub(crate) fn image(&self, number: usize) -> Result<Vec<u8>> {
        let missing = || OfficeError::Missing(format!("image {number}"));
        let image = self.images.get(number.wrapping_sub(1)).ok_or_else(missing)?;
        let mut bytes = Vec::new();
        self.source(&image.part)?.ok_or_else(missing)?.take(MAX_IMAGE + 1).read_to_end(&mut bytes)?;
        self.budget.inflate(bytes.len())?;
        let is_small = bytes.len() as u64 <= MAX_IMAGE;
        is_small.then_some(bytes).ok_or(OfficeError::TooLarge("the image has more than 24 MiB"))
    }
}

/// The name of the part at `target`, as a part in `folder` refers to it.
fn resolved(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let base = if target.starts_with('/') { "" } else { folder };
    let mut path: Vec<&str> = Vec::new();
    for step in base.split('/').chain(target.split('/')) {
        match step {
            "" | "." => {}
            ".." => drop(path.pop()),
            step => path.push(step),
        }
    }
    path.join("/")
}

fn zip_error(error: rawzip::Error) -> OfficeError {
    match error.into_kind() {
        rawzip::ErrorKind::IO(error) => error.into(),
        _ => OfficeError::Damaged("the list of its parts, which is at its end, is missing or wrong"),
    }
}

/// How the files of Word 97 begin, and encrypted ones of today: [MS-CFB] 2.2.
const CFB_MAGIC: [u8; 8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];

/// Kinds of such files, by a name in their directory, or the first four bytes of the class that its first entry has.
const COMPOUND_FILES: [(&str, u32, OfficeError); 7] = [
    ("__substg1.0_", 0x0002_0D0B, OfficeError::Format("an Outlook message (.msg)", ".eml")),
    ("VisioDocument", 0x0002_1A14, OfficeError::Format("a Visio drawing", ".pdf")),
    ("EncryptedPackage", u32::MAX, OfficeError::Password),
    ("WordDocument", 0x0002_0906, OfficeError::Format("a document of Word 97 to 2003", ".docx")),
    ("PowerPoint Document", 0x6481_8D10, OfficeError::Format("a presentation of PowerPoint 97 to 2003", ".pptx")),
    ("Workbook", 0x0002_0820, OfficeError::Format("a workbook of Excel 97 to 2003", ".xlsx")),
    ("Book", 0x0002_0810, OfficeError::Format("a workbook of Excel 95", ".xlsx")),
];

/// The error for a compound file, by the names at the start of its directory.
fn compound_file(file: &dyn ReaderAt) -> Result<OfficeError> {
    let (mut header, mut names) = ([0; 52], [0; 4096]);
    file.read_at(&mut header, 0)?;
    // [MS-CFB] 2.2: the size of a sector as a power of two is at 30, the first of the directory at 48; they follow the header.
    let first = u64::from(u32::from_le_bytes([header[48], header[49], header[50], header[51]]));
    let read = file.read_at(&mut names, (first + 1) << header[30].min(16))?;
    // Of UTF-16, whose second byte is 0 in these names.
    let class = u32::from_le_bytes([names[80], names[81], names[82], names[83]]);
    let lower: Vec<u8> = names[..read].iter().filter(|byte| **byte != 0).map(u8::to_ascii_lowercase).collect();
    let is_there = |name: &str| memmem::find(&lower, name.to_ascii_lowercase().as_bytes()).is_some();
    let by_name = COMPOUND_FILES.iter().find(|(name, ..)| is_there(name));
    let kind = by_name.or_else(|| COMPOUND_FILES.iter().find(|(_, known, _)| *known == class));
    Ok(kind.map_or(OfficeError::NoDocument, |(.., error)| error.clone()))
}
