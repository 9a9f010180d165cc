//! One stored index, open: what is checked before it is used, and its answers.

use std::{
    borrow::Borrow,
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use confined_fs::{PrivateFile, RootIdentity, StoredMoment, TreeListing, split_path};

use crate::{
    Candidates, FilterQuery,
    ngram_filter::{FileSegments, NgramFilter, SEGMENTS},
};

use super::{
    header::{CHECKSUM, HEADER, Header, LISTING, SEGMENT_LIST, TABLES, TRAILER, Unusable},
    listing::decode_listing,
    stored_file::StoredFile,
    tables::{StoredDirectory, Tables},
};

/// The stored index of one root. Holds its tables in memory and its file open, so that it stays readable when
/// another process replaces or removes that.
#[derive(Debug)]
pub(crate) struct StoredIndex {
    file: PrivateFile,
    header: Header,
    tables: Tables,
    /// Read when it is asked for; `None` where there is none, or it is damaged.
    listing: OnceLock<Option<TreeListing>>,
}

impl StoredIndex {
    /// Reads the header and the tables of `file`, which may have at most so many bytes.
    ///
    /// # Errors
    /// What about it is in doubt.
    pub(super) fn open(
        file: PrivateFile,
        most: u64,
        identity: &RootIdentity,
        now: &StoredMoment,
    ) -> Result<Self, Unusable> {
        let header = read_header(&file)?;
        if file.size() > most {
            return Err(Unusable::TooLarge);
        }
        if let Some(why) = difference(&header, identity, now) {
            return Err(why);
        }
        let damaged = |_| Unusable::Damaged;
        let mut tables = vec![0; usize::try_from(header.tables()).map_err(|_| Unusable::TooLarge)?];
        file.read_at(&mut tables, HEADER as u64).map_err(damaged)?;
        if Header::checksum(header.id, TABLES, &tables) != header.tables_checksum {
            return Err(Unusable::Damaged);
        }
        Ok(Self { tables: Tables::new(tables, &header), file, header, listing: OnceLock::new() })
    }

    /// Notes that it is used, unless that was noted less than so long ago.
    pub(super) fn note_use(&self, every: Duration) {
        let age = self.file.used().and_then(|used| SystemTime::now().duration_since(used).ok());
        if age.is_none_or(|age| age >= every) {
            // In a state folder that is read-only nothing is removed, either.
            let _ = self.file.touch();
        }
    }

    /// How many files have a known content.
    pub(crate) fn files(&self) -> u64 {
        self.header.files
    }

    /// The names below the root.
    pub(crate) fn listing(&self) -> Option<&TreeListing> {
        self.listing.get_or_init(|| self.read_listing()).as_ref()
    }

    fn read_listing(&self) -> Option<TreeListing> {
        let mut bytes = vec![0; self.header.listing as usize];
        self.file.read_at(&mut bytes, self.header.listing_at()).ok()?;
        if Header::checksum(self.header.id, LISTING, &bytes) != self.header.listing_checksum {
            return None;
        }
        decode_listing(&bytes, self.header.identity.device, self.header.written_seconds())
    }

    /// For files in path order.
    pub(crate) fn cursor(self: &Arc<Self>) -> StoredCursor {
        StoredCursor { index: Arc::clone(self), path: PathBuf::new(), directory: None, has_begun: false }
    }

    /// What `query` leaves of the files whose content is known. Reads the columns that it names. `None` without a
    /// filter, and where one of them is damaged.
    pub(crate) fn candidates(&self, query: FilterQuery) -> Option<Candidates> {
        let read = |column| Some((column, self.column(column)?));
        let columns: HashMap<_, _> = query.columns().into_iter().map(read).collect::<Option<_>>()?;
        Some(query.candidates_of(columns))
    }

    /// The filter, with room for `memory` bytes, to be changed from now on. `files` are those of this index that are
    /// still in the state that it knows, each with its bytes. `None` without a filter, and where it is damaged.
    pub(crate) fn filter<S: Borrow<FileSegments>>(
        &self,
        memory: usize,
        files: impl Iterator<Item = (S, u32)>,
    ) -> Option<NgramFilter> {
        NgramFilter::of_columns(memory, &self.segment_bytes()?, |column| self.column(column), files)
    }

    fn segment_bytes(&self) -> Option<Vec<u32>> {
        let mut bytes = vec![0; self.header.segments as usize];
        self.file.read_at(&mut bytes, self.header.segments_at()).ok()?;
        if Header::checksum(self.header.id, SEGMENT_LIST, &bytes) != self.header.segments_checksum {
            return None;
        }
        let (words, rest) = bytes.as_chunks();
        let is_whole = rest.is_empty() && words.len() == self.header.segment_count() as usize;
        is_whole.then(|| words.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    fn column(&self, column: u16) -> Option<Box<[u64]>> {
        if self.header.blocks == 0 {
            return None;
        }
        let (columns, width) = (self.header.columns(), self.header.width());
        let stored = usize::from(column) % columns;
        let mut bytes = vec![0; self.header.blocks as usize * size_of::<u64>() + CHECKSUM];
        self.file.read_at(&mut bytes, self.header.column_at(stored)).ok()?;
        let (words, checksum) = bytes.split_last_chunk::<CHECKSUM>()?;
        if Header::checksum(self.header.id, stored as u64, words) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let bits = |word: &[u8; 8]| u64::from_le_bytes(*word) >> (usize::from(column) / columns * width);
        Some(words.as_chunks().0.iter().map(|word| bits(word) & u64::MAX >> (SEGMENTS - width)).collect())
    }
}

/// The header of a file that is as long as it says.
pub(super) fn read_header(file: &PrivateFile) -> Result<Header, Unusable> {
    let damaged = |_| Unusable::Damaged;
    let mut bytes = [0; HEADER];
    file.read_at(&mut bytes, 0).map_err(damaged)?;
    let header = Header::decode(&bytes)?;
    if header.length() != file.size() {
        return Err(Unusable::Damaged);
    }
    let mut trailer = [0; TRAILER];
    file.read_at(&mut trailer, header.length() - TRAILER as u64).map_err(damaged)?;
    if trailer == header.trailer() { Ok(header) } else { Err(Unusable::Damaged) }
}

/// Why what the header says is not about the root as it is now, if so.
fn difference(header: &Header, identity: &RootIdentity, now: &StoredMoment) -> Option<Unusable> {
    let stored = &header.identity;
    if *stored != (RootIdentity { policy: stored.policy, ..identity.clone() }) {
        return Some(Unusable::OtherDirectory);
    }
    if stored.policy != identity.policy {
        return Some(Unusable::OtherRules);
    }
    (!header.written.is_before(now)).then_some(Unusable::Clock)
}

/// Files of a stored index, each directory decoded once for those that are asked for in a row.
#[derive(Debug)]
pub(crate) struct StoredCursor {
    index: Arc<StoredIndex>,
    path: PathBuf,
    /// `None` where nothing is known of it, and before the first file.
    directory: Option<StoredDirectory>,
    has_begun: bool,
}

impl StoredCursor {
    /// What is known of a file, by its path below the root.
    pub(crate) fn file(&mut self, relative: &Path) -> Option<&StoredFile> {
        let (parent, name) = split_path(relative)?;
        // Not as paths, which would be compared component by component.
        if !self.has_begun || self.path.as_os_str() != parent.as_os_str() {
            self.has_begun = true;
            self.directory = self.index.tables.directory(parent);
            self.path.clear();
            self.path.push(parent);
        }
        self.directory.as_mut()?.find(name)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    //! What is stored comes back, and nothing that is damaged, or about something else, does.

    #![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the tests act as another program")]

    use std::time::SystemTime;

    use super::super::{IndexContents, Saved, testing::*};
    use super::*;
    use crate::{
        KnownContent, MayMatch,
        ngram_filter::{COLUMNS, ContentGrams, SEGMENT},
    };
    use confined_fs::{Revision, StatFacts};

    #[test]
    fn stored_index_comes_back_whole() {
        let fixture = Fixture::new();
        let mut filter = NgramFilter::new(MEMORY);
        let first = stored(&mut filter, 1 << 40, b"a needle in it\n");
        let large = stored(&mut filter, 3, &b"plain words here\n".repeat(9000));
        let last = stored(&mut filter, 4, b"nothing of note\n");
        let binary = StoredFile { facts: facts(9, 70), content: KnownContent::Binary(70) };
        let mut contents = IndexContents::new(DEVICE);
        let files = [("a/large", &large), ("a.txt", &first), ("b", &last), ("binary", &binary)];
        for (path, file) in files {
            contents.file(Path::new(path), file);
        }
        contents.file(Path::new("again"), &last);
        let saved = fixture.indexes.write(identity(1), contents, &filter).unwrap();
        assert!(matches!(saved, Saved::Whole(bytes) if bytes > 0), "{saved:?}");

        let index = Arc::new(fixture.indexes.open(&identity(1)).unwrap());
        assert_eq!(index.files(), 4);
        let mut cursor = index.cursor();
        for (path, known) in files {
            assert_eq!(file(&index, path).as_ref(), Some(known), "{path}");
            assert_eq!(cursor.file(Path::new(path)), Some(known), "{path}");
        }
        for path in ["", "a", "a/b", "again", "a/large/x", "/b", "c"] {
            assert_eq!(file(&index, path), None, "{path}");
        }

        for pattern in ["needle", "plain", "haystack", "note|words", "ab", "words.here"] {
            let mut left = index.candidates(query(pattern)).unwrap();
            let mut expected = filter.candidates(query(pattern));
            for file in [&first, &large, &last] {
                assert_eq!(left.may_match(segments(file).0), expected.may_match(segments(file).0), "{pattern}");
            }
        }
        let mut whole = index.filter(MEMORY, [&first, &large, &last].into_iter().map(segments)).unwrap();
        assert_eq!(whole.candidates(query("needle")).may_match(segments(&first).0), MayMatch::Anywhere);
        assert_eq!(whole.candidates(query("haystack")).may_match(segments(&large).0), MayMatch::Nowhere);
        whole.remove(segments(&large).0, segments(&large).1 as usize);
        whole.add(&ContentGrams::of(b"more").unwrap()).unwrap();
        drop(fixture.temp);
        assert!(index.candidates(query("plain")).is_some(), "the file is open");
    }

    #[test]
    fn small_filter_has_fewer_columns_that_say_the_same() {
        let words = ["needle", "kernel_init", "the", "xjq", "a b c d e f"];
        for (count, kept) in [(1, 1), (2, 2), (3, 4), (5, 8), (33, 64), (64, 64), (65, 128)] {
            let fixture = Fixture::new();
            let mut filter = NgramFilter::new(MEMORY);
            let files: Vec<_> = (0..count)
                .map(|number| {
                    let text = format!("{} {number:09}\n", words[number % words.len()]);
                    stored(&mut filter, 4, &text.repeat((SEGMENT - 100) / text.len()).into_bytes())
                })
                .collect();
            let mut contents = IndexContents::new(DEVICE);
            for (number, file) in files.iter().enumerate() {
                contents.file(Path::new(&format!("{number:03}")), file);
            }
            let Saved::Whole(bytes) = fixture.indexes.write(identity(1), contents, &filter).unwrap() else { panic!() };
            let index = fixture.indexes.open(&identity(1)).unwrap();
            assert_eq!(index.segment_bytes().unwrap().len(), kept);
            let filter_bytes = if kept <= 64 { 12 * COLUMNS * kept / 64 } else { 20 * COLUMNS };
            assert!(bytes < (filter_bytes + 4 * kept + 60 * count + 400) as u64, "{count}: {bytes}");

            let taken_over = index.filter(MEMORY, files.iter().map(segments)).unwrap();
            for pattern in words.into_iter().chain(["noodle", "000000004", "zzz", "q.*x"]) {
                let mut left = index.candidates(query(pattern)).unwrap();
                let mut whole = taken_over.candidates(query(pattern));
                let mut expected = filter.candidates(query(pattern));
                for file in &files {
                    let expected = expected.may_match(segments(file).0);
                    assert_eq!(left.may_match(segments(file).0), expected, "{count} {pattern}");
                    assert_eq!(whole.may_match(segments(file).0), expected, "{count} {pattern}, taken over");
                }
            }
        }
    }

    #[test]
    fn number_of_columns_that_cannot_be_is_damage() {
        let small = Small::new();
        let known = small.header();
        assert_eq!((known.blocks, known.segments), (1, 4 * 8), "a file of five segments, and another");
        let opened = |blocks: u32, segments: u32, length: Option<u64>| {
            let header = Header { segments, blocks, ..known.clone() };
            // As long as it says where that can be made, so that the length is not what refuses it.
            let mut bytes = [&header.encode()[..], &small.bytes[HEADER..]].concat();
            bytes.resize(usize::try_from(length.unwrap_or(small.bytes.len() as u64)).unwrap() - TRAILER, 0);
            bytes.extend(length.map_or(known.trailer(), |_| header.trailer()));
            small.put(bytes);
            small.fixture.indexes.open(&identity(1)).map(drop).map_err(|why| why.to_string())
        };
        for segments in [0, 1, 2, 4 * 3, 4 * 7, 4 * 8 + 1, 4 * 65, 4 * 128, 4 << 28, u32::MAX - 3, u32::MAX] {
            for blocks in [0, 1, 2, u32::MAX] {
                let header = Header { segments, blocks, ..known.clone() };
                for length in [None, Some(header.length()).filter(|length| *length < 64 << 20)] {
                    let fits = (blocks, segments) == (0, 0) || (blocks, segments) == (2, 4 * 128);
                    let expected = if fits && length.is_some() { Ok(()) } else { Err(Unusable::Damaged.to_string()) };
                    assert_eq!(opened(blocks, segments, length), expected, "{blocks} {segments} {length:?}");
                }
            }
        }
        // Another number of columns that can be, in a file of that length: nothing in it has the right checksum.
        for segments in [4, 4 * 4, 4 * 64] {
            let header = Header { segments, ..known.clone() };
            opened(1, segments, Some(header.length())).unwrap();
            let index = small.fixture.indexes.open(&identity(1)).unwrap();
            assert!(index.candidates(query("needle")).is_none(), "{segments}");
            assert!(
                index.filter(MEMORY, small.files[..2].iter().map(super::super::testing::segments)).is_none(),
                "{segments}"
            );
        }
        small.fixture.indexes.write(identity(1), IndexContents::new(DEVICE), &small.filter).unwrap();
        assert!(small.fixture.indexes.open(&identity(1)).is_ok(), "the next one takes its place");
    }

    #[test]
    fn bit_flipped_anywhere_never_changes_an_answer() {
        let small = Small::new();
        assert!(small.ask());
        // All bits of what is read at the start, and some of each column; all of them take some minutes.
        let step = if std::env::var_os("INDEX_DAMAGE").is_some() { 1 } else { 997 };
        let tables = small.bytes.len() - (12 * COLUMNS / 8) - 16 - 4 * 8;
        let places = (0..tables)
            .chain((tables..small.bytes.len()).step_by(step))
            .chain(small.bytes.len() - 16..small.bytes.len());
        let mut bytes = small.bytes.clone();
        for at in places {
            for bit in if at < tables { 0..8 } else { at % 8..at % 8 + 1 } {
                bytes[at] ^= 1 << bit;
                overwrite(&small.path, at, bytes[at]);
                assert!(!small.ask() || at >= tables, "{at}.{bit}");
                bytes[at] ^= 1 << bit;
            }
            overwrite(&small.path, at, bytes[at]);
        }
        assert!(small.ask());
    }

    fn overwrite(path: &Path, at: usize, byte: u8) {
        use std::io::{Seek as _, SeekFrom, Write as _};
        let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(&[byte]).unwrap();
    }

    #[test]
    fn truncated_or_longer_file_is_not_used() {
        let small = Small::new();
        let whole = small.bytes.len();
        for length in (0..1000).chain((1000..whole).step_by(4999)).chain([whole - 1]) {
            small.put(&small.bytes[..length]);
            assert!(!small.ask(), "{length}");
        }
        small.put([&small.bytes[..], b"x"].concat());
        assert!(!small.ask());
    }

    #[test]
    fn facts_from_after_the_writing_are_not_used() {
        let fixture = Fixture::new();
        let mut filter = NgramFilter::new(MEMORY);
        let mut contents = IndexContents::new(DEVICE);
        let soon =
            i64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()).unwrap() + 60;
        let old = stored(&mut filter, 4, b"old\n");
        let changed = StoredFile { facts: StatFacts { changed: (soon, 0), ..facts(5, 4) }, ..old.clone() };
        let modified = StoredFile { facts: StatFacts { modified: (soon, 0), ..facts(6, 4) }, ..old.clone() };
        let elsewhere = StoredFile { facts: StatFacts { device: 1, ..facts(7, 4) }, ..old.clone() };
        for (name, file) in [("changed", &changed), ("elsewhere", &elsewhere), ("modified", &modified), ("old", &old)] {
            contents.file(Path::new(name), file);
        }
        fixture.indexes.write(identity(1), contents, &filter).unwrap();
        let index = Arc::new(fixture.indexes.open(&identity(1)).unwrap());
        for name in ["changed", "modified", "elsewhere"] {
            assert_eq!(file(&index, name), None, "{name}");
        }
        assert_eq!(file(&index, "old"), Some(old));
    }

    #[test]
    fn index_of_another_root_rule_version_or_time_is_not_used() {
        let small = Small::new();
        let other = |identity: RootIdentity| small.fixture.indexes.open(&identity).unwrap_err().to_string();
        for elsewhere in [
            RootIdentity { inode: 3, ..identity(1) },
            RootIdentity { device: 3, ..identity(1) },
            RootIdentity { file_system: 3, ..identity(1) },
            RootIdentity { file_system_id: 3, ..identity(1) },
            RootIdentity { created: 3, ..identity(1) },
        ] {
            assert_eq!(other(elsewhere), Unusable::OtherDirectory.to_string());
        }
        assert_eq!(other(RootIdentity { policy: Revision::of(b""), ..identity(1) }), Unusable::OtherRules.to_string());
        assert_eq!(other(identity(2)), Unusable::Missing.to_string());
        // Of another root, under the name of this one.
        let second = small.path.with_file_name(format!("{}.index", identity(2).key));
        std::fs::copy(&small.path, second).unwrap();
        assert_eq!(other(identity(2)), Unusable::OtherDirectory.to_string());
        let written = |change: &dyn Fn(&mut Header)| {
            let mut header = small.header();
            change(&mut header);
            small.put([&header.encode()[..], &small.bytes[HEADER..]].concat());
            other(identity(1))
        };
        assert_eq!(written(&|header| header.written.wall += 60_000_000_000), Unusable::Clock.to_string());
        assert_eq!(written(&|header| header.written.started += 60_000_000_000), Unusable::Clock.to_string());
        assert_eq!(written(&|header| header.written.wall = i64::MAX), Unusable::Clock.to_string());
        for version in [small.bytes[8] + 1, small.bytes[8] - 1, 0] {
            let mut bytes = small.bytes.clone();
            bytes[8] = version;
            small.put(bytes);
            assert_eq!(other(identity(1)), Unusable::OtherVersion.to_string());
        }
    }
}
