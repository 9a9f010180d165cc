//! The stored indexes of all roots: one file for each in a folder of the state folder.
//!
//! Readers take no lock, as a file is only ever replaced. Writers take the folder's, one at a time for all roots; who
//! does not get it does not wait. A file that cannot be used is replaced by the next index of its root.

use std::{
    ffi::OsStr,
    io,
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{
    search::ngram_filter::NgramFilter,
    workspace::{NewPrivateFile, RootIdentity, StateDir, StateFile, StoredMoment, WorkspacePath},
};

use super::{
    contents::{IndexContents, Tables},
    header::{Header, SEGMENT_LIST, TABLES},
    reader::{StoredIndex, read_header},
    unusable::Unusable,
};

/// The folder below the state folder.
const FOLDER: &str = "index";
/// What the name of a stored index ends in; the key of its root is before that.
const SUFFIX: &str = ".index";
/// How long after its last use a file is touched when it is used again: the time is only for the order of removal.
const TOUCHED_EVERY: Duration = Duration::from_secs(60 * 60);
/// Bytes that are written at once.
const PIECE: usize = 1 << 20;

/// Where the stored indexes are, and how many bytes they may have together. Opens nothing before it is used.
#[derive(Debug, Default)]
pub struct StoredIndexes {
    state: Option<StateDir>,
    /// Bytes of all together.
    most: u64,
}

/// What became of an index that was to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It is stored, with so many bytes.
    Whole(u64),
    /// Without the filter, which is too large.
    WithoutFilter(u64),
    /// Another process or call is writing one.
    Busy,
    /// Nothing is stored: that is switched off, nothing may be kept of this root, or it is too large.
    Nothing,
}

/// What is stored of a root.
#[derive(Debug)]
pub struct StoredStatus {
    /// Bytes of the file, if there is one.
    pub bytes: Option<u64>,
    /// When it was written, by its own account.
    pub written: Option<SystemTime>,
    /// Files whose content is known.
    pub files: Option<u64>,
    /// Why it is not used, if so.
    pub unusable: Option<Unusable>,
}

impl StoredIndexes {
    /// Those below a state folder, with at most so many bytes.
    pub fn new(state: StateDir, most: u64) -> Self {
        Self { state: Some(state).filter(|_| most > 0), most }
    }

    /// Whether anything is ever stored.
    pub fn is_kept(&self) -> bool {
        self.state.is_some()
    }

    /// The stored index of a root; `None` where there is none that is beyond doubt.
    pub(in crate::search) fn load(&self, root: &WorkspacePath) -> Option<Arc<StoredIndex>> {
        self.state.as_ref()?;
        let opened = root.root().identity_for_index().map_err(Unusable::Root).and_then(|identity| self.open(&identity));
        match opened {
            Ok(index) => {
                index.note_use(TOUCHED_EVERY);
                Some(Arc::new(index))
            }
            Err(why) => {
                tracing::debug!(%root, %why, "no stored index is used");
                None
            }
        }
    }

    /// Stores an index, in the place of what was stored of that root.
    ///
    /// # Errors
    /// Those of the system; what was stored stays then.
    pub(in crate::search) fn save(
        &self,
        root: &WorkspacePath,
        contents: IndexContents,
        filter: &NgramFilter,
    ) -> io::Result<Saved> {
        match root.root().identity_for_index() {
            Ok(identity) => self.write(identity, contents, filter),
            Err(_) => Ok(Saved::Nothing),
        }
    }

    /// What is stored of a root, and whether it would be used now.
    pub fn status(&self, root: &WorkspacePath) -> StoredStatus {
        let name = file_name(root.root().key());
        let file = self.existing_folder().and_then(|folder| folder.open_private(&name).map_err(refused));
        let header = file.as_ref().ok().and_then(|file| read_header(file).ok());
        let opened = root.root().identity_for_index().map_err(Unusable::Root).and_then(|identity| self.open(&identity));
        let written = header.as_ref().and_then(|header| u64::try_from(header.written.wall).ok());
        StoredStatus {
            bytes: file.ok().map(|file| file.size()),
            written: written.map(|wall| SystemTime::UNIX_EPOCH + Duration::from_nanos(wall)),
            files: header.map(|header| header.files),
            unusable: opened.err(),
        }
    }

    /// Removes what is stored of a root, whatever it is; how many bytes that were. `None` where nothing is.
    pub fn clear(&self, root: &WorkspacePath) -> io::Result<Option<u64>> {
        let Some(folder) = self.folder_to_clear()? else { return Ok(None) };
        let _lock = folder.lock();
        let name = file_name(root.root().key());
        let bytes = folder.size(&name);
        match folder.remove_any(OsStr::new(&name)) {
            Ok(()) => Ok(Some(bytes.unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the stored indexes of all roots: how many, and their bytes.
    pub fn clear_all(&self) -> io::Result<(usize, u64)> {
        let Some(folder) = self.folder_to_clear()? else { return Ok((0, 0)) };
        let _lock = folder.lock();
        let mut removed = (0, 0);
        for file in folder.files()?.iter().filter(|file| file.name.ends_with(SUFFIX)) {
            folder.remove_any(OsStr::new(&file.name))?;
            removed = (removed.0 + 1, removed.1 + file.size);
        }
        folder.sweep()?;
        Ok(removed)
    }

    /// Bytes of all that is stored.
    pub fn bytes(&self) -> u64 {
        let files = self.existing_folder().ok().and_then(|folder| folder.files().ok());
        files.iter().flatten().map(|file| file.size).sum()
    }

    /// Whether something could be stored now.
    ///
    /// # Errors
    /// Why not.
    pub fn probe(&self) -> io::Result<()> {
        let Some(state) = &self.state else { return Ok(()) };
        // Removed again when it is dropped.
        state.private_folder(FOLDER)?.new_private().map(drop)
    }

    /// As [`Self::load`], by what it belongs to.
    pub(super) fn open(&self, identity: &RootIdentity) -> Result<StoredIndex, Unusable> {
        let file = self.existing_folder()?.open_private(&file_name(&identity.key)).map_err(refused)?;
        let now = StoredMoment::now().ok_or(Unusable::Clock)?;
        StoredIndex::open(file, self.most, identity, &now)
    }

    /// As [`Self::save`], by what it belongs to.
    pub(super) fn write(
        &self,
        identity: RootIdentity,
        contents: IndexContents,
        filter: &NgramFilter,
    ) -> io::Result<Saved> {
        let (Some(state), Some(written)) = (&self.state, StoredMoment::now()) else { return Ok(Saved::Nothing) };
        let folder = state.private_folder(FOLDER)?;
        let Some(lock) = folder.try_lock()? else { return Ok(Saved::Busy) };
        // Each writer has the lock, so these are of killed ones.
        folder.sweep_locked(&lock)?;
        let name = file_name(&identity.key);
        let tables = contents.finish()?;
        let mut segments: Vec<u8> = filter.segment_bytes().flat_map(u32::to_le_bytes).collect();
        let mut header = header_of(identity, written, &tables, &segments, filter.blocks());
        let is_whole = header.length() <= self.most_of_one();
        if !is_whole {
            segments.clear();
            header = header_of(header.identity, written, &tables, &segments, 0);
        }
        let bytes = header.length();
        if bytes > self.most_of_one() {
            return Ok(Saved::Nothing);
        }
        make_room(&folder, &name, self.most.saturating_sub(bytes))?;
        let mut file = folder.new_private()?;
        file.write(&header.encode())?;
        file.write(&tables.bytes)?;
        file.write(&segments)?;
        if header.blocks > 0 {
            write_columns(&mut file, header.id, filter)?;
        }
        file.write(&header.trailer())?;
        file.publish(&name)?;
        Ok(if is_whole { Saved::Whole(bytes) } else { Saved::WithoutFilter(bytes) })
    }

    /// Bytes of one index: so that others have room, too.
    fn most_of_one(&self) -> u64 {
        self.most / 4 * 3
    }

    fn existing_folder(&self) -> Result<StateDir, Unusable> {
        self.state.as_ref().ok_or(Unusable::Missing)?.existing_private_folder(FOLDER).map_err(refused)
    }

    fn folder_to_clear(&self) -> io::Result<Option<StateDir>> {
        let Some(state) = &self.state else { return Ok(None) };
        match state.existing_private_folder(FOLDER) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn refused(error: io::Error) -> Unusable {
    if error.kind() == io::ErrorKind::NotFound { Unusable::Missing } else { Unusable::Refused(error) }
}

fn header_of(identity: RootIdentity, written: StoredMoment, tables: &Tables, segments: &[u8], blocks: usize) -> Header {
    // Only one that was written at the same nanosecond has the same.
    let id = written.wall.cast_unsigned();
    Header {
        id,
        identity,
        written,
        directories: tables.directories,
        files: tables.files,
        paths: tables.paths,
        entries: tables.entries,
        tables_checksum: Header::checksum(id, TABLES, &tables.bytes),
        segments: u32::try_from(segments.len()).unwrap_or_default(),
        segments_checksum: Header::checksum(id, SEGMENT_LIST, segments),
        blocks: u32::try_from(blocks).unwrap_or_default(),
    }
}

/// Removes indexes of other roots than that of `name`, the least recently used first, until the others have at most
/// `most` bytes.
fn make_room(folder: &StateDir, name: &str, most: u64) -> io::Result<()> {
    let mut others: Vec<StateFile> = folder.files()?;
    others.retain(|file| file.name != name);
    others.sort_unstable_by_key(|file| file.modified);
    let mut total: u64 = others.iter().map(|file| file.size).sum();
    for file in others {
        if total <= most {
            break;
        }
        folder.remove_any(OsStr::new(&file.name))?;
        total -= file.size;
        tracing::debug!(file = file.name, "removed a stored index to make room");
    }
    Ok(())
}

fn write_columns(file: &mut NewPrivateFile<'_>, id: u64, filter: &NgramFilter) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(PIECE);
    filter.each_column(|column, words| {
        let start = bytes.len();
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        let checksum = Header::checksum(id, u64::from(column), &bytes[start..]);
        bytes.extend(checksum.to_le_bytes());
        if bytes.len() < PIECE {
            return Ok(());
        }
        let written = file.write(&bytes);
        bytes.clear();
        written
    })?;
    file.write(&bytes)
}

fn file_name(key: &str) -> String {
    format!("{key}{SUFFIX}")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    //! What is stored comes back, and nothing that is damaged does.

    #![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the tests act as another program")]

    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        search::{
            FilterQuery, KnownContent, MayMatch, Pattern,
            ngram_filter::{ContentGrams, FileSegments},
            pattern::PatternOptions,
        },
        workspace::{FileKind, Revision, StatFacts},
    };

    use super::super::{
        header::HEADER,
        stored_file::{Previous, StoredFile, put_facts},
    };

    const MEMORY: usize = 96 << 20;
    const DEVICE: u64 = 66;

    struct Fixture {
        temp: tempfile::TempDir,
        indexes: StoredIndexes,
    }

    impl Fixture {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            let indexes = StoredIndexes::new(StateDir::open(temp.path()).unwrap(), 1 << 30);
            Self { temp, indexes }
        }
    }

    fn identity(key: u8) -> RootIdentity {
        let key = Revision::of(&[key]).to_string();
        RootIdentity { key, policy: Revision::of(b"policy"), file_system: 0xEF53, device: DEVICE, inode: 2 }
    }

    fn facts(inode: u64, size: u64) -> StatFacts {
        let second = 1_700_000_000 + i64::try_from(inode % 1000).unwrap();
        StatFacts { device: DEVICE, inode, size, modified: (second, 7), changed: (second + 1, 999_999_999) }
    }

    fn stored(filter: &mut NgramFilter, inode: u64, content: &[u8]) -> StoredFile {
        let segments = filter.add(&ContentGrams::of(content).unwrap()).unwrap();
        let size = u32::try_from(content.len()).unwrap();
        StoredFile { facts: facts(inode, size.into()), content: KnownContent::Filtered(segments, size, true) }
    }

    fn query(pattern: &str) -> FilterQuery {
        FilterQuery::of(&Pattern::compile(pattern, PatternOptions::default()).unwrap())
    }

    fn segments(file: &StoredFile) -> (&FileSegments, u32) {
        match &file.content {
            KnownContent::Filtered(segments, bytes, _) => (segments, *bytes),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn stored_index_comes_back_whole() {
        let fixture = Fixture::new();
        let mut filter = NgramFilter::new(MEMORY);
        let first = stored(&mut filter, 1 << 40, b"a needle in it\n");
        let large = stored(&mut filter, 3, &b"plain words here\n".repeat(9000));
        let last = stored(&mut filter, 4, b"nothing of note\n");
        let binary = StoredFile { facts: facts(9, 70), content: KnownContent::Binary(70) };
        let mut contents = IndexContents::new(DEVICE);
        contents.directory(Path::new(""), Some(facts(2, 4096)));
        contents.directory(Path::new("a"), None);
        contents.entry(Path::new("a/large"), FileKind::File, Some(&large));
        contents.entry(Path::new("a/link"), FileKind::Symlink, None);
        contents.directory(Path::new("a/sub"), Some(facts(10, 0)));
        contents.entry(Path::new("a.txt"), FileKind::File, Some(&first));
        contents.entry(Path::new("b"), FileKind::File, Some(&last));
        contents.entry(Path::new("binary"), FileKind::File, Some(&binary));
        let saved = fixture.indexes.write(identity(1), contents, &filter).unwrap();
        assert!(matches!(saved, Saved::Whole(bytes) if bytes > 0), "{saved:?}");

        let index = Arc::new(fixture.indexes.open(&identity(1)).unwrap());
        assert_eq!(index.files(), 4);
        for (path, file) in [("a.txt", &first), ("a/large", &large), ("b", &last), ("binary", &binary)] {
            assert_eq!(index.file(Path::new(path)).as_ref(), Some(file), "{path}");
            assert_eq!(index.cursor().file(Path::new(path)), Some(file), "{path}");
        }
        for path in ["", "a", "a/link", "a/sub", "c", "a/large/x", "/b"] {
            assert_eq!(index.file(Path::new(path)), None, "{path}");
        }
        let names = |path: &str| -> Option<Vec<String>> {
            let listing = index.directory(Path::new(path))?;
            Some(listing.names.into_iter().map(|(name, kind)| format!("{} {kind:?}", name.display())).collect())
        };
        assert_eq!(names("").unwrap(), ["a Directory", "a.txt File", "b File", "binary File"]);
        assert_eq!(names("a"), None);
        assert_eq!(names("a/sub").unwrap(), Vec::<String>::new());
        assert_eq!(index.directory(Path::new("")).unwrap().facts, facts(2, 4096));

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

    /// A store of a few files, with the bytes of its file and the file's path.
    struct Small {
        fixture: Fixture,
        path: std::path::PathBuf,
        bytes: Vec<u8>,
        paths: Vec<&'static str>,
        files: Vec<StoredFile>,
        filter: NgramFilter,
    }

    impl Small {
        fn new() -> Self {
            let fixture = Fixture::new();
            let mut filter = NgramFilter::new(MEMORY);
            let mut contents = IndexContents::new(DEVICE);
            let large: Vec<u8> = (0..9000).flat_map(|line| format!("line {line} of it\n").into_bytes()).collect();
            let files = vec![
                stored(&mut filter, 5, &large),
                stored(&mut filter, 4, b"a needle in it\n"),
                StoredFile { facts: facts(9, 70), content: KnownContent::Binary(70) },
                StoredFile { facts: facts(11, 7), content: KnownContent::AlwaysSearch },
            ];
            let paths = vec!["a/b/large", "a/name", "a/named", "z"];
            contents.directory(Path::new(""), Some(facts(2, 4096)));
            contents.directory(Path::new("a"), Some(facts(3, 4096)));
            contents.directory(Path::new("a/b"), None);
            contents.entry(Path::new(paths[0]), FileKind::File, Some(&files[0]));
            contents.entry(Path::new(paths[1]), FileKind::File, Some(&files[1]));
            contents.entry(Path::new(paths[2]), FileKind::File, Some(&files[2]));
            contents.entry(Path::new("link"), FileKind::Symlink, None);
            contents.entry(Path::new(paths[3]), FileKind::File, Some(&files[3]));
            fixture.indexes.write(identity(1), contents, &filter).unwrap();
            let path = fixture.temp.path().join("index").join(format!("{}.index", identity(1).key));
            let bytes = std::fs::read(&path).unwrap();
            Self { fixture, path, bytes, paths, files, filter }
        }

        /// Everything that a search could ask of the file now; each answer must be true or none. Whether it is used at all.
        fn ask(&self) -> bool {
            let Ok(index) = self.fixture.indexes.open(&identity(1)) else { return false };
            for (path, file) in self.paths.iter().zip(&self.files) {
                assert!(index.file(Path::new(path)).is_none_or(|found| found == *file), "{path}");
            }
            let root = index.directory(Path::new(""));
            assert!(root.is_none_or(|listing| listing.names.len() == 3 && listing.facts == facts(2, 4096)));
            for pattern in ["needle", "line 77 of"] {
                let Some(mut left) = index.candidates(query(pattern)) else { continue };
                let mut expected = self.filter.candidates(query(pattern));
                for file in &self.files[..2] {
                    assert_eq!(left.may_match(segments(file).0), expected.may_match(segments(file).0));
                }
            }
            true
        }

        /// Asks what a hostile file answers; nothing may panic.
        fn ask_hostile(&self) {
            let Ok(index) = self.fixture.indexes.open(&identity(1)) else { return };
            let index = Arc::new(index);
            let mut known = Vec::new();
            for path in ["", "a", "a/b", "a/b/large", "link", "z", "a/../z", "/", "x/y"] {
                known.extend(index.file(Path::new(path)));
                known.extend(index.cursor().file(Path::new(path)).cloned());
                for (name, _) in index.directory(Path::new(path)).map(|listing| listing.names).unwrap_or_default() {
                    let name = name.into_encoded_bytes();
                    assert!(!name.is_empty() && name != b"." && name != b"..");
                    assert!(!name.contains(&b'/') && !name.contains(&0));
                }
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
    }

    #[test]
    fn bit_flipped_anywhere_never_changes_an_answer() {
        let small = Small::new();
        assert!(small.ask());
        // All bits of what is read at the start, and some of each column; all of them take some minutes.
        let step = if std::env::var_os("INDEX_DAMAGE").is_some() { 1 } else { 997 };
        let tables = small.bytes.len() - (12 * crate::search::ngram_filter::COLUMNS) - 16 - 4 * 64;
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
            std::fs::write(&small.path, &small.bytes[..length]).unwrap();
            assert!(!small.ask(), "{length}");
        }
        std::fs::write(&small.path, [&small.bytes[..], b"x"].concat()).unwrap();
        assert!(!small.ask());
    }

    /// The bytes with these mutations of the tables and numbers of the header, and checksums that fit.
    fn forged(small: &Small, mutations: &[(usize, u8)], numbers: [Option<u32>; 4]) -> Vec<u8> {
        let mut header = Header::decode(small.bytes[..HEADER].try_into().unwrap()).unwrap();
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
            let header = Header::decode(small.bytes[..HEADER].try_into().unwrap()).unwrap();
            for mutations in mutations.chunks(2) {
                // Parts move into each other while the length stays.
                let paths = shift.map(|shift| header.paths + shift);
                let entries = shift.map(|shift| header.entries.saturating_sub(shift));
                std::fs::write(&small.path, forged(&small, mutations, [directories, paths, entries, None])).unwrap();
                small.ask_hostile();
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
                std::fs::write(&small.path, forged(&small, &[], numbers)).unwrap();
                if at != 3 || large != 1 {
                    assert!(!small.ask(), "{numbers:?}");
                }
            }
        }
    }

    /// Replaces the entries of the root by these bytes.
    fn with_root_entries(small: &Small, entries: &[u8]) -> Vec<u8> {
        let mut header = Header::decode(small.bytes[..HEADER].try_into().unwrap()).unwrap();
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
        let listed = |names: &[&[u8]]| {
            let mut bytes = vec![u8::try_from(names.len() << 1 | 1).unwrap()];
            put_facts(&mut bytes, &facts(2, 4096), false, &mut Previous::default());
            for name in names {
                bytes.extend([0, 0, u8::try_from(name.len()).unwrap()]);
                bytes.extend(*name);
            }
            std::fs::write(&small.path, with_root_entries(&small, &bytes)).unwrap();
            let index = small.fixture.indexes.open(&identity(1)).unwrap();
            index.directory(Path::new("")).map(|listing| listing.names.len())
        };
        assert_eq!(listed(&[b"a", b"b"]), Some(2));
        assert_eq!(listed(&[]), Some(0));
        let wrong: &[&[&[u8]]] =
            &[&[b""], &[b"."], &[b".."], &[b"a/b"], &[b"/"], &[b"a\0"], &[b"b", b"a"], &[b"a", b"a"], &[b"a", b""]];
        for names in wrong {
            assert_eq!(listed(names), None, "{names:?}");
        }
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
        contents.directory(Path::new(""), Some(StatFacts { changed: (soon, 0), ..facts(2, 4096) }));
        for (name, file) in [("changed", &changed), ("elsewhere", &elsewhere), ("modified", &modified), ("old", &old)] {
            contents.entry(Path::new(name), FileKind::File, Some(file));
        }
        fixture.indexes.write(identity(1), contents, &filter).unwrap();
        let index = fixture.indexes.open(&identity(1)).unwrap();
        assert_eq!(index.directory(Path::new("")), None);
        for name in ["changed", "modified", "elsewhere"] {
            assert_eq!(index.file(Path::new(name)), None, "{name}");
        }
        assert_eq!(index.file(Path::new("old")), Some(old));
    }

    #[test]
    fn index_of_another_root_rule_version_or_time_is_not_used() {
        let small = Small::new();
        let other = |identity: RootIdentity| small.fixture.indexes.open(&identity).unwrap_err().to_string();
        assert_eq!(other(RootIdentity { inode: 3, ..identity(1) }), Unusable::OtherDirectory.to_string());
        assert_eq!(other(RootIdentity { device: 3, ..identity(1) }), Unusable::OtherDirectory.to_string());
        assert_eq!(other(RootIdentity { file_system: 3, ..identity(1) }), Unusable::OtherDirectory.to_string());
        assert_eq!(other(RootIdentity { policy: Revision::of(b""), ..identity(1) }), Unusable::OtherRules.to_string());
        assert_eq!(other(identity(2)), Unusable::Missing.to_string());
        // Of another root, under the name of this one.
        let second = small.path.with_file_name(format!("{}.index", identity(2).key));
        std::fs::copy(&small.path, second).unwrap();
        assert_eq!(other(identity(2)), Unusable::OtherDirectory.to_string());
        let written = |change: &dyn Fn(&mut Header)| {
            let mut header = Header::decode(small.bytes[..HEADER].try_into().unwrap()).unwrap();
            change(&mut header);
            std::fs::write(&small.path, [&header.encode()[..], &small.bytes[HEADER..]].concat()).unwrap();
            other(identity(1))
        };
        assert_eq!(written(&|header| header.written.wall += 60_000_000_000), Unusable::Clock.to_string());
        assert_eq!(written(&|header| header.written.started += 60_000_000_000), Unusable::Clock.to_string());
        assert_eq!(written(&|header| header.written.wall = i64::MAX), Unusable::Clock.to_string());
        let mut future = small.bytes.clone();
        future[8] += 1;
        std::fs::write(&small.path, future).unwrap();
        assert_eq!(other(identity(1)), Unusable::OtherVersion.to_string());
    }

    /// An index of one small file, whose filter has one block.
    fn little(indexes: &StoredIndexes, key: u8) -> Saved {
        let mut filter = NgramFilter::new(MEMORY);
        let mut contents = IndexContents::new(DEVICE);
        let file = stored(&mut filter, 4, b"content\n");
        contents.directory(Path::new(""), None);
        contents.entry(Path::new("f"), FileKind::File, Some(&file));
        indexes.write(identity(key), contents, &filter).unwrap()
    }

    #[test]
    fn least_recently_used_index_makes_room() {
        let Fixture { temp, indexes } = Fixture::new();
        let Saved::Whole(bytes) = little(&indexes, 1) else { panic!() };
        let indexes = StoredIndexes::new(StateDir::open(temp.path()).unwrap(), bytes * 5 / 2);
        let kept = |key: u8| indexes.open(&identity(key)).is_ok();
        little(&indexes, 2);
        assert!(kept(1) && kept(2));
        // The first is used, so the second goes.
        std::thread::sleep(Duration::from_millis(20));
        indexes.open(&identity(1)).unwrap().note_use(Duration::ZERO);
        little(&indexes, 3);
        assert_eq!((kept(1), kept(2), kept(3)), (true, false, true));
        assert!(indexes.bytes() <= bytes * 5 / 2);
    }

    #[test]
    fn index_that_is_too_large_goes_without_the_filter_or_not_at_all() {
        let Fixture { temp, indexes } = Fixture::new();
        let Saved::Whole(bytes) = little(&indexes, 1) else { panic!() };
        let smaller = StoredIndexes::new(StateDir::open(temp.path()).unwrap(), bytes);
        let Saved::WithoutFilter(bytes) = little(&smaller, 1) else { panic!() };
        let index = smaller.open(&identity(1)).unwrap();
        assert_eq!(index.file(Path::new("f")).unwrap().content, KnownContent::AlwaysSearch);
        assert!(!index.has_filter() && index.candidates(query("content")).is_none());
        assert!(index.filter(MEMORY, std::iter::empty::<(FileSegments, u32)>()).is_none());
        let tiny = StoredIndexes::new(StateDir::open(temp.path()).unwrap(), bytes);
        assert_eq!(little(&tiny, 2), Saved::Nothing);
        assert!(tiny.open(&identity(1)).is_ok());
    }

    #[test]
    fn second_writer_does_not_wait_and_leftovers_of_killed_ones_are_swept() {
        let Fixture { temp, indexes } = Fixture::new();
        little(&indexes, 1);
        let folder = temp.path().join("index");
        let leftover = folder.join(".rootbound-0123456789abcdef.tmp");
        std::fs::write(&leftover, "half").unwrap();
        let state = StateDir::open(temp.path()).unwrap();
        let lock = state.private_folder("index").unwrap().try_lock().unwrap().expect("nobody else has it");
        assert_eq!(little(&indexes, 1), Saved::Busy);
        assert!(leftover.exists() && indexes.open(&identity(1)).is_ok());
        drop(lock);
        assert!(matches!(little(&indexes, 1), Saved::Whole(_)));
        assert!(!leftover.exists());
    }

    #[test]
    fn files_that_others_may_have_written_are_not_used_but_replaced() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let small = Small::new();
        let (path, indexes) = (&small.path, &small.fixture.indexes);
        let elsewhere = small.fixture.temp.path().join("elsewhere");
        let restore = || {
            let _ = std::fs::remove_file(path);
            std::fs::write(path, &small.bytes).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
            let _ = std::fs::remove_file(&elsewhere);
            assert!(small.ask());
        };
        let attacks: [&dyn Fn(); 5] = [
            &|| {
                std::fs::rename(path, &elsewhere).unwrap();
                symlink(&elsewhere, path).unwrap();
            },
            &|| std::fs::hard_link(path, &elsewhere).unwrap(),
            &|| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o620)).unwrap(),
            &|| {
                std::fs::remove_file(path).unwrap();
                rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
            },
            &|| {
                std::fs::remove_file(path).unwrap();
                std::fs::create_dir(path).unwrap();
            },
        ];
        for (number, attack) in attacks.iter().enumerate() {
            restore();
            attack();
            assert!(!small.ask(), "{number}");
            let kept = std::fs::read(&elsewhere).ok();
            if path.is_dir() {
                // A folder is not replaced by a file, and says so.
                std::fs::remove_dir(path).unwrap();
            }
            little(indexes, 1);
            assert!(indexes.open(&identity(1)).is_ok(), "{number}");
            assert_eq!(std::fs::read(&elsewhere).ok(), kept, "{number}: nothing is written through a link");
            let now = std::fs::symlink_metadata(path).unwrap();
            assert_eq!((now.permissions().mode() & 0o777, now.is_file()), (0o600, true));
        }
        // The folder itself.
        let folder = path.parent().unwrap();
        let mode = |mode| std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
        mode(0o770);
        assert!(indexes.open(&identity(1)).is_err() && indexes.probe().is_err());
        mode(0o700);
        std::fs::rename(folder, elsewhere.with_extension("d")).unwrap();
        symlink(elsewhere.with_extension("d"), folder).unwrap();
        assert!(indexes.open(&identity(1)).is_err() && indexes.probe().is_err());
    }
}
