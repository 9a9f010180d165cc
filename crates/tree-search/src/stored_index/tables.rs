//! The tables of a stored index: directories by path with their files, decoded when asked for, and the names below the
//! root: each directory with its facts and its names, those of a directory in it right after its name.
//!
//! The bytes may have been written by anybody. An error in the files of a directory makes that directory unknown, one in the
//! names all of them. [`IndexContents`] encodes both as they are added.

use std::path::{Path, PathBuf};
use std::{cmp::Ordering, collections::HashMap, ffi::OsStr, io, ops::Range};

use change_set::state::StoredMoment;
use confined_fs::walk::{DirectoryListing, NameInTree, RULE_FILES, TreeListing};
use confined_fs::{FileKind, Revision, RootIdentity};

use crate::stored_index::format::{
    Bounds, ByteReader, DIRECTORY_BYTES, Header, LISTING_PART, Previous, StoredFile, TABLES_PART, flag, narrow,
    put_facts, put_number, read_facts, tag,
};

/// Bytes of the longest name: `NAME_MAX` of every file system in use is at most 255 characters.
const MAX_NAME_BYTES: usize = 1024;

#[derive(Debug)]
pub(super) struct Tables {
    bytes: Vec<u8>,
    directories: usize,
    paths: usize,
    entries: usize,
    bounds: Bounds,
}

/// The files of a directory of which something is known, in the order of their names.
#[derive(Debug, Default)]
pub(super) struct StoredDirectory {
    names: Vec<u8>,
    files: Vec<(Range<usize>, StoredFile)>,
    next: usize,
}

impl StoredDirectory {
    pub(super) fn find(&mut self, name: &OsStr) -> Option<&StoredFile> {
        let name = name.as_encoded_bytes();
        if self.files.get(self.next).is_none_or(|(at, _)| self.names[at.clone()] != *name) {
            self.next = self.files.binary_search_by(|(at, _)| self.names[at.clone()].cmp(name)).ok()?;
        }
        self.next += 1;
        Some(&self.files[self.next - 1].1)
    }
}

impl Tables {
    /// Those in `bytes`, which are as long as the header says.
    pub(super) fn new(bytes: Vec<u8>, header: &Header) -> Self {
        let directories = header.directories as usize;
        let paths = directories * DIRECTORY_BYTES;
        let bounds = Bounds {
            device: header.identity.device,
            segments: (header.blocks > 0).then_some(header.segment_count()),
            written: header.written_seconds(),
        };
        Self { bytes, directories, paths, entries: paths + header.paths as usize, bounds }
    }

    /// Decodes the files of a directory; `None` where nothing is stored of it. `next`: the number of the one that is
    /// probably asked for, which becomes that of the next one.
    pub(super) fn directory(&self, relative: &Path, next: &mut usize) -> Option<StoredDirectory> {
        let path = relative.as_os_str().as_encoded_bytes();
        let at = if self.path(*next) == Some(path) { *next } else { self.find(path)? };
        *next = at + 1;
        let entries = self.bytes.get(self.entries..)?;
        let end = if at + 1 < self.directories { self.start(at + 1, 4)? } else { entries.len() };
        decode(entries.get(self.start(at, 4)?..end)?, &self.bounds)
    }

    fn find(&self, path: &[u8]) -> Option<usize> {
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

    /// Where the path (`field` 0) or the entries (4) of a directory begin.
    fn start(&self, at: usize, field: usize) -> Option<usize> {
        let bytes = self.bytes.get(..self.paths)?.get(at.checked_mul(DIRECTORY_BYTES)?.checked_add(field)?..)?;
        Some(u32::from_le_bytes(*bytes.first_chunk()?) as usize)
    }
}

/// As paths are compared: component by component, so that a separator is less than every other byte.
fn by_components(one: &[u8], two: &[u8]) -> Ordering {
    let key = |byte: &u8| if *byte == b'/' { 0 } else { u16::from(*byte) + 1 };
    one.iter().map(key).cmp(two.iter().map(key))
}

fn decode(bytes: &[u8], bounds: &Bounds) -> Option<StoredDirectory> {
    let mut reader = ByteReader(bytes);
    let count = reader.length()?;
    // Each file takes eight bytes or more: memory in proportion to the bytes of the file.
    if count > reader.0.len() / 8 {
        return None;
    }
    let mut directory = StoredDirectory { files: Vec::with_capacity(count), ..StoredDirectory::default() };
    let (mut last, mut previous) = (Vec::new(), Previous::default());
    for _ in 0..count {
        let tag = reader.byte()?;
        let shared = reader.length()?;
        let suffix = reader.length()?;
        if shared > last.len() || suffix > MAX_NAME_BYTES || shared + suffix > MAX_NAME_BYTES {
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
        // A write in the tick in which it was stored would leave the same times.
        if file.facts.is_older_than(bounds.written) {
            let start = directory.names.len();
            directory.names.extend(&last);
            directory.files.push((start..directory.names.len(), file));
        }
    }
    (reader.0.is_empty()).then_some(directory)
}

/// Whether a directory may hold a name of these bytes.
fn is_name(bytes: &[u8]) -> bool {
    !matches!(bytes, b"" | b"." | b"..") && !bytes.iter().any(|byte| matches!(byte, b'/' | 0))
}

/// Directories one below the other; more than are ever listed.
const MAX_DEPTH: usize = 300;
const DIGEST_BYTES: usize = 16;

/// The first byte of a directory.
const HAS_FACTS: u8 = 1;
/// Both times are the same.
const ONE_TIME: u8 = 1 << 1;
const INCOMPLETE_BIT: u8 = 1 << 2;
const RULES_PART: u32 = 3;

/// The first byte of a name.
const NAME_KINDS: [FileKind; 4] = [FileKind::File, FileKind::Directory, FileKind::Symlink, FileKind::Other];
const KIND_MASK: u8 = 0b11;
const IGNORED_BIT: u8 = 1 << 2;
const HAS_NAMES: u8 = 1 << 3;

/// A file of rules could be read.
const HAS_CONTENT: u8 = 1 << 2;

fn encode_listing(listing: &TreeListing) -> Vec<u8> {
    let mut out = listing.rules.to_bytes().to_vec();
    if !listing.directories.is_empty() {
        put_directory(&mut out, listing, 0, &mut Previous::default());
    }
    out
}

fn put_directory(out: &mut Vec<u8>, listing: &TreeListing, at: u32, previous: &mut Previous) {
    let directory = &listing.directories[at as usize];
    let has_one_time = directory.facts.is_some_and(|facts| facts.modified == facts.changed);
    let flags = flag(directory.facts.is_some(), HAS_FACTS) | flag(has_one_time, ONE_TIME);
    // Five bits are left for their number, which is at most that of `RULE_FILES`.
    let rules = u8::try_from(directory.rules.len()).unwrap_or_default() << RULES_PART;
    out.push(rules | flags | flag(directory.incomplete, INCOMPLETE_BIT));
    if let Some(facts) = &directory.facts {
        put_facts(out, facts, previous);
    }
    for (file, content) in &directory.rules {
        let file = RULE_FILES.iter().position(|known| known == file).and_then(|at| u8::try_from(at).ok());
        // Two bits are enough for the number of a file, as there are four in `RULE_FILES`.
        out.push(file.unwrap_or_default() | flag(content.is_some(), HAS_CONTENT));
        out.extend(content.iter().flat_map(|content| content.to_bytes()));
    }
    put_number(out, directory.names.len() as u64);
    for name in &directory.names {
        let kind = NAME_KINDS.iter().position(|kind| *kind == name.kind).and_then(|at| u8::try_from(at).ok());
        // Every kind is one of `NAME_KINDS`, so the default is never written.
        out.push(kind.unwrap_or_default() | flag(name.ignored, IGNORED_BIT) | flag(name.below.is_some(), HAS_NAMES));
        let text = listing.name(*name);
        put_number(out, text.len() as u64);
        out.extend(text);
        if let Some(below) = name.below {
            // A listing is at most 256 levels deep, and so is the recursion.
            put_directory(out, listing, below, previous);
        }
    }
}

/// The listing that these bytes are, of a root on that device. Facts that do not lie before `written`, seconds and
/// nanoseconds since 1970, are left out.
pub(super) fn decode_listing(bytes: &[u8], device: u64, written: (i64, u32)) -> Option<TreeListing> {
    let mut reader = ByteReader(bytes);
    let rules = Revision::from_bytes(reader.array::<DIGEST_BYTES>()?);
    let listing = TreeListing { rules, directories: Vec::new(), text: Vec::with_capacity(bytes.len() / 2) };
    let mut decoder = Decoder { reader, listing, previous: Previous::default(), device, written };
    decoder.directory(0)?;
    (decoder.reader.0.is_empty()).then_some(decoder.listing)
}

struct Decoder<'b> {
    reader: ByteReader<'b>,
    listing: TreeListing,
    previous: Previous,
    device: u64,
    written: (i64, u32),
}

impl Decoder<'_> {
    fn directory(&mut self, depth: usize) -> Option<u32> {
        // A hostile file would overflow the stack.
        if depth > MAX_DEPTH {
            return None;
        }
        let number = self.listing.directories.len();
        self.listing.directories.push(DirectoryListing::default());
        let mut directory = self.facts_and_rules()?;
        let count = self.reader.length()?;
        // Each takes three bytes or more: memory in proportion to the bytes of the file.
        if count > self.reader.0.len() / 3 {
            return None;
        }
        directory.names.reserve_exact(count);
        let mut last = None;
        for _ in 0..count {
            let name = self.name(depth)?;
            // A walk and the search in a directory rely on the order, and on each name being there once.
            let is_next = last.is_none_or(|last| self.listing.name(last) < self.listing.name(name));
            is_next.then_some(())?;
            last = Some(name);
            directory.names.push(name);
        }
        self.listing.directories[number] = directory;
        u32::try_from(number).ok()
    }

    fn facts_and_rules(&mut self) -> Option<DirectoryListing> {
        let tag = self.reader.byte()?;
        let mut directory = DirectoryListing { incomplete: tag & INCOMPLETE_BIT != 0, ..DirectoryListing::default() };
        if tag & HAS_FACTS != 0 {
            let facts = read_facts(&mut self.reader, tag & ONE_TIME != 0, &mut self.previous, self.device)?;
            directory.facts = Some(facts).filter(|facts| facts.is_older_than(self.written));
        }
        for _ in 0..tag >> RULES_PART {
            let file = self.reader.byte()?;
            let name = RULE_FILES.get(usize::from(file & !HAS_CONTENT))?;
            let content = if file & HAS_CONTENT == 0 { None } else { Some(self.reader.array::<DIGEST_BYTES>()?) };
            directory.rules.push((name, content.map(Revision::from_bytes)));
        }
        Some(directory)
    }

    fn name(&mut self, depth: usize) -> Option<NameInTree> {
        let tag = self.reader.byte()?;
        if tag & !(KIND_MASK | IGNORED_BIT | HAS_NAMES) != 0 {
            return None;
        }
        let kind = NAME_KINDS[usize::from(tag & KIND_MASK)];
        let length = self.reader.length()?;
        let bytes = self.reader.take(length).filter(|bytes| is_name(bytes))?;
        let text = (u32::try_from(self.listing.text.len()).ok()?, u16::try_from(length).ok()?);
        self.listing.text.extend(bytes);
        let below = match (tag & HAS_NAMES != 0, kind) {
            (false, _) => None,
            (true, FileKind::Directory) => Some(self.directory(depth + 1)?),
            (true, _) => return None,
        };
        Some(NameInTree { text, kind, ignored: tag & IGNORED_BIT != 0, below })
    }
}

#[derive(Debug)]
pub(crate) struct IndexContents {
    /// The device of the root: nothing is kept of others.
    device: u64,
    directories: HashMap<PathBuf, DirectoryFiles>,
    files: u64,
    /// The names below the root, encoded; empty without them.
    listing: Vec<u8>,
}

#[derive(Debug, Default)]
struct DirectoryFiles {
    bytes: Vec<u8>,
    count: u64,
    last: Vec<u8>,
    previous: Previous,
}

/// The tables as they are written, and the header of an index that has them and no filter yet.
pub(super) struct EncodedTables {
    pub(super) header: Header,
    pub(super) bytes: Vec<u8>,
    pub(super) listing: Vec<u8>,
}

impl IndexContents {
    pub(crate) fn new(device: u64) -> Self {
        Self { device, directories: HashMap::new(), files: 0, listing: Vec::new() }
    }

    /// Adds the names below the root. Those that have more than 4 GiB are left out.
    pub(crate) fn listing(&mut self, listing: &TreeListing) {
        let listing = encode_listing(listing);
        if u32::try_from(listing.len()).is_ok() {
            self.listing = listing;
        }
    }

    /// Adds what is known of a file. Those of one directory come in the order of the bytes of their names; a file that does
    /// not, one on another device, and one of which nothing is kept, are left out.
    pub(crate) fn file(&mut self, relative: &Path, file: &StoredFile) {
        let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else { return };
        let Some(tag) = tag(file).filter(|_| file.facts.device == self.device) else { return };
        if !self.directories.contains_key(parent) {
            self.directories.insert(parent.to_owned(), DirectoryFiles::default());
        }
        let is_added = self.directories.get_mut(parent).is_some_and(|directory| directory.add(name, tag, file));
        self.files += u64::from(is_added);
    }

    /// The tables of an index of that root, written at that moment.
    ///
    /// # Errors
    /// `FileTooLarge` where they have more than 4 GiB.
    pub(super) fn finish(self, identity: RootIdentity, written: StoredMoment) -> io::Result<EncodedTables> {
        let Self { listing, files, .. } = self;
        let mut directories: Vec<_> = self.directories.into_iter().collect();
        // By the bytes of names, component by component: as paths are compared.
        directories.sort_unstable_by(|(one, _), (two, _)| one.cmp(two));
        let count = narrow(directories.len())?;
        let (mut starts, mut paths, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        // Each directory's bytes go once they are in the tables, so that a large index is not there three times.
        for (path, directory) in directories {
            for start in [narrow(paths.len())?, narrow(entries.len())?] {
                starts.extend(start.to_le_bytes());
            }
            paths.extend(path.as_os_str().as_encoded_bytes());
            put_number(&mut entries, directory.count);
            entries.extend(directory.bytes);
        }
        let (path_bytes, entry_bytes) = (narrow(paths.len())?, narrow(entries.len())?);
        let mut bytes = starts;
        bytes.append(&mut paths);
        bytes.append(&mut entries);
        // Only one that was written at the same nanosecond has the same.
        let id = written.wall.cast_unsigned();
        let header = Header {
            id,
            identity,
            written,
            directories: count,
            files,
            paths: path_bytes,
            entries: entry_bytes,
            tables_checksum: Header::checksum(id, TABLES_PART, &bytes),
            segments: 0,
            segments_checksum: 0,
            blocks: 0,
            listing: narrow(listing.len())?,
            listing_checksum: Header::checksum(id, LISTING_PART, &listing),
        };
        Ok(EncodedTables { header, bytes, listing })
    }
}

impl DirectoryFiles {
    /// Adds a file; false where its name does not follow the one before it.
    fn add(&mut self, name: &OsStr, tag: u8, file: &StoredFile) -> bool {
        let name = name.as_encoded_bytes();
        if self.last.as_slice() >= name {
            return false;
        }
        let shared = self.last.iter().zip(name).take_while(|(one, two)| one == two).count();
        self.bytes.push(tag);
        put_number(&mut self.bytes, shared as u64);
        put_number(&mut self.bytes, (name.len() - shared) as u64);
        self.bytes.extend(&name[shared..]);
        file.put(&mut self.bytes, &mut self.previous);
        self.last.clear();
        self.last.extend(name);
        self.count += 1;
        true
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    //! What another program wrote there, with checksums that fit, neither panics nor names what no directory holds.

    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::stored_index::{
        format::{HEADER_BYTES, tag},
        testing::*,
    };
    use crate::{
        KnownContent,
        ngram_filter::{ContentGrams, NgramFilter},
    };

    /// The bytes with these mutations of the tables and numbers of the header, and checksums that fit.
    fn forged(small: &Small, mutations: &[(usize, u8)], numbers: [Option<u32>; 4]) -> Vec<u8> {
        let mut header = small.header();
        let length = usize::try_from(header.tables()).unwrap();
        let mut tables = small.bytes[HEADER_BYTES..HEADER_BYTES + length].to_vec();
        for (at, byte) in mutations {
            tables[at % length] = *byte;
        }
        header.directories = numbers[0].unwrap_or(header.directories);
        header.paths = numbers[1].unwrap_or(header.paths);
        header.entries = numbers[2].unwrap_or(header.entries);
        header.blocks = numbers[3].unwrap_or(header.blocks);
        header.tables_checksum = Header::checksum(header.id, TABLES_PART, &tables);
        let rest = &small.bytes[HEADER_BYTES + length..small.bytes.len() - 16];
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
        if let Some(mut filter) = index.filter(MEMORY, filtered.iter().map(|(segments, _)| *segments)) {
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
        let rest = &small.bytes[HEADER_BYTES + length..small.bytes.len() - 16];
        (header.directories, header.paths, header.entries) = (1, 0, u32::try_from(entries.len()).unwrap());
        header.tables_checksum = Header::checksum(header.id, TABLES_PART, &tables);
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

#[cfg(all(test, target_os = "linux"))]
mod listing_tests {
    //! What was written comes back; what another program wrote neither panics nor names what no directory holds.

    use proptest::prelude::*;

    use super::*;
    use confined_fs::StatFacts;

    const TEST_DEVICE: u64 = 7;
    const TEST_TIME: (i64, u32) = (2000, 0);

    fn facts(inode: u64, changed: i64) -> StatFacts {
        StatFacts { device: TEST_DEVICE, inode, size: 4096, modified: (1000, 5), changed: (changed, 9) }
    }

    /// A root with a file, a directory with a link in it, and an ignored directory.
    fn listing() -> TreeListing {
        let name = |start: u32, kind, ignored, below| NameInTree { text: (start, 1), kind, ignored, below };
        let root = DirectoryListing {
            facts: Some(facts(70, 1000)),
            incomplete: false,
            rules: vec![(RULE_FILES[0], None), (RULE_FILES[2], Some(Revision::of(b"*.o\n")))],
            names: vec![
                name(0, FileKind::File, false, None),
                name(1, FileKind::Directory, false, Some(1)),
                name(3, FileKind::Directory, true, None),
            ],
        };
        let inner = DirectoryListing {
            facts: Some(facts(3, 1500)),
            incomplete: true,
            names: vec![name(2, FileKind::Symlink, false, None)],
            ..DirectoryListing::default()
        };
        TreeListing { rules: Revision::of(b"rules"), directories: vec![root, inner], text: b"abxz".to_vec() }
    }

    #[test]
    fn listing_comes_back_without_facts_that_are_too_young() {
        let (listing, bytes) = (listing(), encode_listing(&listing()));
        let read = |written| decode_listing(&bytes, TEST_DEVICE, written).unwrap();
        let read_again = read(TEST_TIME);
        assert_eq!(encode_listing(&read_again), bytes);
        assert_eq!(read_again.directories[0].rules, listing.directories[0].rules);
        assert_eq!(read_again.directories[1].facts, listing.directories[1].facts);
        assert!(read_again.directories[1].incomplete);
        assert_eq!(read((1200, 0)).directories.iter().filter(|one| one.facts.is_some()).count(), 1);
        for end in 0..bytes.len() {
            assert_eq!(decode_listing(&bytes[..end], TEST_DEVICE, TEST_TIME), None, "{end}");
        }
    }

    #[test]
    fn names_that_no_directory_holds_are_refused() {
        let bytes = encode_listing(&listing());
        for (name, other) in [(b'a', b'/'), (b'a', 0), (b'a', b'.'), (b'a', b'z'), (b'x', b'/')] {
            let mut wrong = bytes.clone();
            // The length of a name of one byte is before it.
            let at = wrong.windows(2).position(|pair| pair == [1, name]).unwrap();
            wrong[at + 1] = other;
            assert_eq!(decode_listing(&wrong, TEST_DEVICE, TEST_TIME), None, "{}", other.escape_ascii());
        }
    }

    #[test]
    fn depth_is_bounded() {
        let mut bytes = Revision::of(b"").to_bytes().to_vec();
        for _ in 0..100_000 {
            bytes.extend([0, 1, 1 | HAS_NAMES, 1, b'd']);
        }
        bytes.extend([0, 0]);
        assert_eq!(decode_listing(&bytes, TEST_DEVICE, TEST_TIME), None);
    }

    proptest! {
        #[test]
        fn forged_listings_never_panic(
            mutations in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..8),
            more in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut bytes = encode_listing(&listing());
            for (at, byte) in mutations {
                let length = bytes.len();
                bytes[at % length] = byte;
            }
            for bytes in [&bytes, &[&bytes[..], &more].concat(), &[&bytes[..16], &more].concat()] {
                if let Some(listing) = decode_listing(bytes, TEST_DEVICE, TEST_TIME) {
                    let names = listing.directories.iter().flat_map(|directory| &directory.names);
                    for name in names {
                        prop_assert!(is_name(listing.name(*name)));
                        prop_assert!(name.below.is_none_or(|below| (below as usize) < listing.directories.len()));
                    }
                }
            }
        }
    }
}
