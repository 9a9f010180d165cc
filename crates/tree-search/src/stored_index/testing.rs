//! Indexes that the tests of this module store and ask.

#![expect(clippy::disallowed_methods, reason = "the tests act as another program")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use change_set::StateDir;
use confined_fs::{Revision, RootIdentity, StatFacts};

use crate::{
    FilterQuery, KnownContent, Pattern,
    ngram_filter::{ContentGrams, FileSegments, NgramFilter},
    pattern::PatternOptions,
    stored_index::{
        IndexContents, StoredFile, StoredIndex, StoredIndexes,
        format::{HEADER_BYTES, Header},
    },
};

pub(super) const MEMORY: usize = 96 << 20;
pub(super) const DEVICE: u64 = 66;

/// A state folder, and the indexes in it.
pub(super) struct Fixture {
    pub(super) temp: tempfile::TempDir,
    pub(super) indexes: StoredIndexes,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let indexes = StoredIndexes::new(StateDir::open(temp.path()).unwrap(), 1 << 30);
        Self { temp, indexes }
    }
}

pub(super) fn identity(key: u8) -> RootIdentity {
    let key = Revision::of(&[key]).to_string();
    RootIdentity {
        key,
        policy: Revision::of(b"policy"),
        file_system: 0xEF53,
        file_system_id: 0x1234_5678_9abc_def0,
        device: DEVICE,
        inode: 2,
        created: 1_600_000_000_123_456_789,
    }
}

pub(super) fn facts(inode: u64, size: u64) -> StatFacts {
    let second = 1_700_000_000 + i64::try_from(inode % 1000).unwrap();
    StatFacts { device: DEVICE, inode, size, modified: (second, 7), changed: (second + 1, 999_999_999) }
}

pub(super) fn stored(filter: &mut NgramFilter, inode: u64, content: &[u8]) -> StoredFile {
    let segments = filter.add(&ContentGrams::of(content).unwrap()).unwrap();
    let size = u32::try_from(content.len()).unwrap();
    StoredFile { facts: facts(inode, size.into()), content: KnownContent::Filtered(segments, size, true) }
}

pub(super) fn query(pattern: &str) -> FilterQuery {
    FilterQuery::of(&Pattern::compile(pattern, PatternOptions::default()).unwrap())
}

pub(super) fn segments(file: &StoredFile) -> (&FileSegments, u32) {
    match &file.content {
        KnownContent::Filtered(segments, bytes, _) => (segments, *bytes),
        other => panic!("{other:?}"),
    }
}

/// The entry of a file in an index.
pub(super) fn file(index: &Arc<StoredIndex>, path: &str) -> Option<StoredFile> {
    index.cursor().file(Path::new(path)).cloned()
}

/// A store of a few files, with the bytes of its file and the file's path.
pub(super) struct Small {
    pub(super) fixture: Fixture,
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) paths: Vec<&'static str>,
    pub(super) files: Vec<StoredFile>,
    pub(super) filter: NgramFilter,
}

impl Small {
    pub(super) fn new() -> Self {
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
        for (path, file) in paths.iter().zip(&files) {
            contents.file(Path::new(path), file);
        }
        fixture.indexes.save(identity(1), contents, &filter).unwrap();
        let path = fixture.temp.path().join("index").join(format!("{}.index", identity(1).key));
        let bytes = fs::read(&path).unwrap();
        Self { fixture, path, bytes, paths, files, filter }
    }

    /// Everything that a search could ask of the file now; each answer must be true or none. Whether it is used at all.
    pub(super) fn ask(&self) -> bool {
        let Ok(index) = self.fixture.indexes.open(&identity(1)) else { return false };
        let index = Arc::new(index);
        for (path, known) in self.paths.iter().zip(&self.files) {
            assert!(file(&index, path).is_none_or(|found| found == *known), "{path}");
        }
        for pattern in ["needle", "line 77 of"] {
            let Some(mut left) = index.candidates(query(pattern)) else { continue };
            let mut expected = self.filter.candidates(query(pattern));
            for file in &self.files[..2] {
                assert_eq!(left.may_match(segments(file).0), expected.may_match(segments(file).0));
            }
        }
        true
    }

    /// Puts these bytes instead of what is stored.
    pub(super) fn put(&self, bytes: impl AsRef<[u8]>) {
        fs::write(&self.path, bytes).unwrap();
    }

    /// The header that was stored.
    pub(super) fn header(&self) -> Header {
        Header::decode(self.bytes[..HEADER_BYTES].try_into().unwrap()).unwrap()
    }
}
