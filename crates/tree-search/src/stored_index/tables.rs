//! The tables of a stored index in memory: directories by path, and their files, decoded when asked for.
//!
//! The bytes may have been written by anybody. What is wrong in a directory makes that directory unknown.

use std::{
    cmp::Ordering,
    ffi::OsStr,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering as Atomic},
};

use super::{
    bytes::ByteReader,
    header::{DIRECTORY, Header},
    stored_file::{Bounds, Previous, StoredFile},
};

/// Bytes of the longest name: `NAME_MAX` of every file system in use is at most 255 characters.
const LONGEST_NAME: usize = 1024;

/// The directories and their files.
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

/// The files of a directory of which something is known, in the order of their names.
#[derive(Debug, Default)]
pub(super) struct StoredDirectory {
    /// The bytes of all names.
    names: Vec<u8>,
    /// Each with where its name ends.
    files: Vec<(usize, StoredFile)>,
    /// The file that is probably asked for next.
    next: usize,
}

impl StoredDirectory {
    /// What is known of the file of that name.
    pub(super) fn find(&mut self, name: &OsStr) -> Option<&StoredFile> {
        let name = name.as_encoded_bytes();
        if self.next >= self.files.len() || self.name(self.next) != name {
            self.next = self.position(name)?;
        }
        self.next += 1;
        Some(&self.files[self.next - 1].1)
    }

    fn position(&self, name: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.files.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.name(middle).cmp(name) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn name(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.files[before].0);
        &self.names[start..self.files[at].0]
    }
}

impl Tables {
    /// Those in `bytes`, which are as long as the header says.
    pub(super) fn new(bytes: Vec<u8>, header: &Header) -> Self {
        let directories = header.directories as usize;
        let paths = directories * DIRECTORY;
        let bounds = Bounds {
            device: header.identity.device,
            segments: (header.blocks > 0).then_some(header.segment_count()),
            written: header.written_seconds(),
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
    let count = reader.length()?;
    // Each file takes eight bytes or more.
    if count > reader.len() / 8 {
        return None;
    }
    let mut directory = StoredDirectory { files: Vec::with_capacity(count), ..StoredDirectory::default() };
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
        if !is_name(&last) {
            return None;
        }
        let file = StoredFile::read(tag, &mut reader, &mut previous, bounds)?;
        if file.facts.is_older_than(bounds.written) {
            directory.names.extend(&last);
            directory.files.push((directory.names.len(), file));
        }
    }
    (reader.len() == 0).then_some(directory)
}

/// Whether a directory may hold a name of these bytes.
pub(super) fn is_name(bytes: &[u8]) -> bool {
    !matches!(bytes, b"" | b"." | b"..") && !bytes.iter().any(|byte| matches!(byte, b'/' | 0))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    //! What another program wrote there, with checksums that fit, neither panics nor names what no directory holds.

    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::{
        header::{HEADER, TABLES},
        stored_file::tag,
        testing::*,
    };
    use super::*;
    use crate::{
        KnownContent,
        ngram_filter::{ContentGrams, NgramFilter},
    };

    /// The bytes with these mutations of the tables and numbers of the header, and checksums that fit.
    fn forged(small: &Small, mutations: &[(usize, u8)], numbers: [Option<u32>; 4]) -> Vec<u8> {
        let mut header = small.header();
        let length = usize::try_from(header.tables()).unwrap();
        let mut tables = small.bytes[HEADER..HEADER + length].to_vec();
        for (at, byte) in mutations {
            tables[at % length] = *byte;
        }
        header.directories = numbers[0].unwrap_or(header.directories);
        header.paths = numbers[1].unwrap_or(header.paths);
        header.entries = numbers[2].unwrap_or(header.entries);
        header.blocks = numbers[3].unwrap_or(header.blocks);
        header.tables_checksum = Header::checksum(header.id, TABLES, &tables);
        let rest = &small.bytes[HEADER + length..small.bytes.len() - 16];
        [&header.encode()[..], &tables, rest, &header.trailer()].concat()
    }

    /// Asks what a hostile file answers; nothing may panic.
    fn ask_hostile(small: &Small) {
        let Ok(index) = small.fixture.indexes.open(&identity(1)) else { return };
        let index = Arc::new(index);
        let mut known = Vec::new();
        for path in ["", "a", "a/b", "a/b/large", "link", "z", "a/../z", "/", "x/y"] {
            known.extend(file(&index, path));
        }
        let filtered: Vec<_> = known
            .iter()
            .filter_map(|file| match &file.content {
                KnownContent::Filtered(segments, bytes, _) => Some((segments, *bytes)),
                _ => None,
            })
            .collect();
        if let Some(mut left) = index.candidates(query("needle")) {
            for (segments, _) in &filtered {
                left.may_match(segments);
            }
        }
        if let Some(mut filter) = index.filter(MEMORY, filtered.iter().copied()) {
            for (segments, bytes) in filtered {
                filter.remove(segments, bytes as usize);
            }
            filter.add(&ContentGrams::of(b"more").unwrap()).unwrap();
        }
    }

    fn cases() -> u32 {
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases()))]
        #[test]
        fn forged_tables_never_panic(
            mutations in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..12),
            directories in proptest::option::weighted(0.1, 0_u32..9),
            shift in proptest::option::weighted(0.1, 0_u32..40),
        ) {
            let small = Small::new();
            let header = small.header();
            for mutations in mutations.chunks(2) {
                // Services move into each other while the length stays.
                let paths = shift.map(|shift| header.paths + shift);
                let entries = shift.map(|shift| header.entries.saturating_sub(shift));
                small.put(forged(&small, mutations, [directories, paths, entries, None]));
                ask_hostile(&small);
            }
        }
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused_without_memory_for_them() {
        let small = Small::new();
        for large in [u32::MAX, u32::MAX - 1, 1 << 31, 1 << 20, 1] {
            for at in 0..4 {
                let mut numbers = [None; 4];
                numbers[at] = Some(large);
                small.put(forged(&small, &[], numbers));
                if at != 3 || large != 1 {
                    assert!(!small.ask(), "{numbers:?}");
                }
            }
        }
    }

    /// Replaces the entries of the root by these bytes.
    fn with_root_entries(small: &Small, entries: &[u8]) -> Vec<u8> {
        let mut header = small.header();
        let length = usize::try_from(header.tables()).unwrap();
        let mut tables = vec![0; 8];
        tables.extend(entries);
        let rest = &small.bytes[HEADER + length..small.bytes.len() - 16];
        (header.directories, header.paths, header.entries) = (1, 0, u32::try_from(entries.len()).unwrap());
        header.tables_checksum = Header::checksum(header.id, TABLES, &tables);
        [&header.encode()[..], &tables, rest, &header.trailer()].concat()
    }

    #[test]
    fn names_that_no_directory_has_make_it_unknown() {
        let small = Small::new();
        let known = stored(&mut NgramFilter::new(MEMORY), 4, b"needle\n");
        let known = StoredFile { content: KnownContent::AlwaysSearch, ..known };
        let listed = |names: &[&[u8]]| {
            let (mut bytes, mut previous) = (vec![u8::try_from(names.len()).unwrap()], Previous::default());
            for name in names {
                bytes.extend([tag(&known).unwrap(), 0, u8::try_from(name.len()).unwrap()]);
                bytes.extend(*name);
                known.put(&mut bytes, &mut previous);
            }
            small.put(with_root_entries(&small, &bytes));
            let index = Arc::new(small.fixture.indexes.open(&identity(1)).unwrap());
            names.iter().filter(|name| file(&index, str::from_utf8(name).unwrap()).is_some()).count()
        };
        assert_eq!(listed(&[b"a", b"b"]), 2);
        let wrong: &[&[&[u8]]] =
            &[&[b""], &[b"."], &[b".."], &[b"a/b"], &[b"/"], &[b"a\0"], &[b"b", b"a"], &[b"a", b"a"], &[b"a", b""]];
        for names in wrong {
            assert_eq!(listed(&[&[&b"0"[..]], *names].concat()), 0, "{names:?}");
        }
    }
}
