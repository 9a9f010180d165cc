//! The tables of a stored index in memory: directories by path, and what is in them, decoded when asked for.
//!
//! The bytes may have been written by anybody. What is wrong in a directory makes that directory unknown.

use std::{
    cmp::Ordering,
    ffi::OsString,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering as Atomic},
};

use crate::workspace::{FileKind, StatFacts};

use super::{
    bytes::ByteReader,
    header::{DIRECTORY, Header},
    stored_file::{Bounds, Previous, StoredFile, kind_of, read_facts},
};

/// Bytes of the longest name: `NAME_MAX` of every file system in use is at most 255 characters.
const LONGEST_NAME: usize = 1024;

/// The directories and what is in them.
#[derive(Debug)]
pub(super) struct Tables {
    bytes: Vec<u8>,
    directories: usize,
    /// Where the paths and the entries begin.
    paths: usize,
    entries: usize,
    bounds: Bounds,
    /// The directory that is probably asked for next.
    next: AtomicUsize,
}

/// The names that a directory had in the state that these facts say, in the order of their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) struct StoredListing {
    pub(in crate::search) facts: StatFacts,
    pub(in crate::search) names: Vec<(OsString, FileKind)>,
}

/// What is stored of a directory.
#[derive(Debug, Default)]
pub(super) struct StoredDirectory {
    /// Where `entries` are all names.
    pub(super) listing: Option<StatFacts>,
    /// In the order of their names.
    pub(super) entries: Vec<StoredEntry>,
}

#[derive(Debug)]
pub(super) struct StoredEntry {
    pub(super) name: OsString,
    pub(super) kind: FileKind,
    pub(super) file: Option<StoredFile>,
}

impl Tables {
    /// Those in `bytes`, which are as long as the header says.
    pub(super) fn new(bytes: Vec<u8>, header: &Header) -> Self {
        let directories = header.directories as usize;
        let paths = directories * DIRECTORY;
        let written = (header.written.wall.div_euclid(1_000_000_000), header.written.wall.rem_euclid(1_000_000_000));
        let bounds = Bounds {
            device: header.identity.device,
            segments: (header.blocks > 0).then_some(header.segment_count()),
            written: (written.0, u32::try_from(written.1).unwrap_or_default()),
        };
        Self { bytes, directories, paths, entries: paths + header.paths as usize, bounds, next: AtomicUsize::new(0) }
    }

    /// What is stored of a directory; `None` where that is nothing.
    pub(super) fn directory(&self, relative: &Path) -> Option<StoredDirectory> {
        let at = self.find(relative.as_os_str().as_encoded_bytes())?;
        self.next.store(at + 1, Atomic::Relaxed);
        self.decode(at)
    }

    fn find(&self, path: &[u8]) -> Option<usize> {
        let next = self.next.load(Atomic::Relaxed);
        if self.path(next) == Some(path) {
            return Some(next);
        }
        let (mut low, mut high) = (0, self.directories);
        while low < high {
            let middle = low.midpoint(high);
            match by_components(self.path(middle)?, path) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn path(&self, at: usize) -> Option<&[u8]> {
        let paths = self.bytes.get(self.paths..self.entries)?;
        paths.get(self.start(at, 0)?..if at + 1 < self.directories { self.start(at + 1, 0)? } else { paths.len() })
    }

    fn decode(&self, at: usize) -> Option<StoredDirectory> {
        let entries = self.bytes.get(self.entries..)?;
        let end = if at + 1 < self.directories { self.start(at + 1, 4)? } else { entries.len() };
        decode(entries.get(self.start(at, 4)?..end)?, &self.bounds)
    }

    /// Where the path (`field` 0) or the entries (4) of a directory begin.
    fn start(&self, at: usize, field: usize) -> Option<usize> {
        let bytes = self.bytes.get(..self.paths)?.get(at.checked_mul(DIRECTORY)?.checked_add(field)?..)?;
        Some(u32::from_le_bytes(*bytes.first_chunk()?) as usize)
    }
}

/// As paths are compared: component by component, so that a separator is less than every other byte.
fn by_components(one: &[u8], two: &[u8]) -> Ordering {
    let key = |byte: &u8| if *byte == b'/' { 0 } else { u16::from(*byte) + 1 };
    one.iter().map(key).cmp(two.iter().map(key))
}

fn decode(bytes: &[u8], bounds: &Bounds) -> Option<StoredDirectory> {
    let mut reader = ByteReader::new(bytes);
    let head = reader.number()?;
    let is_settled = |facts: &StatFacts| facts.is_older_than(bounds.written);
    let listing = if head & 1 == 0 {
        None
    } else {
        let facts = read_facts(&mut reader, false, &mut Previous::default(), bounds.device)?;
        Some(facts).filter(is_settled)
    };
    let count = usize::try_from(head >> 1).ok()?;
    // Each entry takes four bytes or more.
    if count > reader.len() / 4 {
        return None;
    }
    let mut directory = StoredDirectory { listing, entries: Vec::with_capacity(count) };
    let (mut last, mut previous) = (Vec::new(), Previous::default());
    for _ in 0..count {
        let tag = reader.byte()?;
        let shared = reader.length()?;
        let suffix = reader.length()?;
        if shared > last.len() || suffix > LONGEST_NAME || shared + suffix > LONGEST_NAME {
            return None;
        }
        let suffix = reader.take(suffix)?;
        // Only then it is greater than the last one.
        if shared < last.len() && suffix.first() <= last.get(shared) || suffix.is_empty() {
            return None;
        }
        last.truncate(shared);
        last.extend(suffix);
        let name = name_of(&last)?;
        let (kind, has_file) = kind_of(tag);
        let file = if has_file {
            let file = StoredFile::read(tag, &mut reader, &mut previous, bounds)?;
            Some(file).filter(|file| kind == FileKind::File && is_settled(&file.facts))
        } else {
            None
        };
        directory.entries.push(StoredEntry { name, kind, file });
    }
    (reader.len() == 0).then_some(directory)
}

/// The name that these bytes are; `None` for what no directory holds.
fn name_of(bytes: &[u8]) -> Option<OsString> {
    if matches!(bytes, b"" | b"." | b"..") || bytes.iter().any(|byte| matches!(byte, b'/' | 0)) {
        return None;
    }
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec()));
    #[cfg(not(unix))]
    String::from_utf8(bytes.to_vec()).ok().map(OsString::from)
}
