//! The stored index: what was known of a root's files, in a file of the state folder, for the processes that follow.
//!
//! It answers two questions: which names a directory in the state that its stat says has, and whether a file in the state
//! that its stat says could hold a match. What does not match is read from the disk, so an answer never differs from that of
//! the walk alone. The format and its rules are described in `docs/internals/search-index.md`.
//!
//! [`StoredIndex`] is one index, open, with its answers; [`StoredIndexes`] are the files of all roots, one for each in a
//! folder of the state folder, with their bounds, lock and removal. `format` has the header and the entry of a file,
//! `tables` the tables.
//!
//! Readers take no lock, as a file is only ever replaced. Writers take the folder's, one at a time for all roots; who
//! does not get it does not wait. A file that cannot be used is replaced by the next index of its root.
//!
//! # Limits
//! Another program of the same user may write to the file. Each length and place in it is checked before it is used, and
//! no more memory is taken than the file has bytes; but names and facts that such a program wrote with right checksums are
//! believed. It could as well write to the files themselves.

mod format;
mod tables;
#[cfg(all(test, target_os = "linux"))]
mod testing;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use std::{ffi::OsStr, io};

use change_set::StateDir;
use change_set::state::{NewPrivateFile, PrivateFile, StateFile, StoredMoment};
use confined_fs::{RootIdentity, WorkspacePath, path::split_path, walk::TreeListing};

use crate::ngram_filter::{BLOCK_SEGMENTS, FileSegments, NgramFilter};
use crate::stored_index::format::{
    CHECKSUM_BYTES, HEADER_BYTES, Header, LISTING_PART, SEGMENT_LIST, TABLES_PART, TRAILER_BYTES,
};
use crate::stored_index::tables::{EncodedTables, StoredDirectory, Tables, decode_listing};
use crate::{Candidates, FilterQuery};

pub(crate) use format::StoredFile;
pub use format::Unusable;
pub(crate) use tables::IndexContents;

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
    /// Notes that it is used, unless that was noted less than so long ago.
    fn note_use(&self, every: Duration) {
        let age = self.file.used().and_then(|used| SystemTime::now().duration_since(used).ok());
        if age.is_none_or(|age| age >= every) {
            // In a state folder that is read-only nothing is removed, either.
            let _ = self.file.touch();
        }
    }

    pub(crate) fn files(&self) -> u64 {
        self.header.files
    }

    pub(crate) fn listing(&self) -> Option<&TreeListing> {
        let read = || {
            let bytes = read_part(&self.file, &self.header, LISTING_PART)?;
            decode_listing(&bytes, self.header.identity.device, self.header.written_seconds())
        };
        self.listing.get_or_init(read).as_ref()
    }

    pub(crate) fn cursor(self: &Arc<Self>) -> StoredCursor {
        StoredCursor { index: Arc::clone(self), directory: None, next: 0 }
    }

    /// The files with known content that `query` leaves. Reads the columns that it names. `None` without a
    /// filter, and where one of them is damaged.
    pub(crate) fn candidates(&self, query: FilterQuery) -> Option<Candidates> {
        Candidates::read(query, |column| self.column(column))
    }

    /// The filter, with room for `memory` bytes, to be changed from now on. `files` are those of this index that are
    /// still in the state that it knows, each with its bytes. `None` without a filter, and where it is damaged.
    pub(crate) fn filter<'s>(
        &self,
        memory: usize,
        files: impl Iterator<Item = &'s FileSegments>,
    ) -> Option<NgramFilter> {
        NgramFilter::of_columns(memory, &self.segment_bytes()?, |column| self.column(column), files)
    }

    fn segment_bytes(&self) -> Option<Vec<u32>> {
        let bytes = read_part(&self.file, &self.header, SEGMENT_LIST)?;
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
        let mut bytes = vec![0; self.header.blocks as usize * size_of::<u64>() + CHECKSUM_BYTES];
        self.file.read_at(&mut bytes, self.header.column_at(stored)).ok()?;
        let (words, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
        if Header::checksum(self.header.id, stored as u64, words) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let bits = |word: &[u8; 8]| u64::from_le_bytes(*word) >> (usize::from(column) / columns * width);
        Some(words.as_chunks().0.iter().map(|word| bits(word) & u64::MAX >> (BLOCK_SEGMENTS - width)).collect())
    }
}

/// Reads a part of a store; `None` where its number and checksum do not fit.
fn read_part(file: &PrivateFile, header: &Header, part: u64) -> Option<Vec<u8>> {
    let (at, length, checksum) = header.part(part);
    // No more than the file has: the header says how long that is, and was compared with it.
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.read_at(&mut bytes, at).ok()?;
    (Header::checksum(header.id, part, &bytes) == checksum).then_some(bytes)
}

fn read_header(file: &PrivateFile) -> Result<Header, Unusable> {
    let damaged = |_| Unusable::Damaged;
    let mut bytes = [0; HEADER_BYTES];
    file.read_at(&mut bytes, 0).map_err(damaged)?;
    let header = Header::decode(&bytes)?;
    // Before any length in it is believed: no more memory is taken than the file has bytes.
    if header.length() != file.size() {
        return Err(Unusable::Damaged);
    }
    let mut trailer = [0; TRAILER_BYTES];
    file.read_at(&mut trailer, header.length() - TRAILER_BYTES as u64).map_err(damaged)?;
    if trailer == header.trailer() { Ok(header) } else { Err(Unusable::Damaged) }
}

/// Files of a stored index, each directory decoded once for those that are asked for in a row.
#[derive(Debug)]
pub(crate) struct StoredCursor {
    index: Arc<StoredIndex>,
    /// The directory of the last file, with its files where something is known of them; `None` before the first file.
    directory: Option<(PathBuf, Option<StoredDirectory>)>,
    next: usize,
}

impl StoredCursor {
    pub(crate) fn file(&mut self, relative: &Path) -> Option<&StoredFile> {
        let (parent, name) = split_path(relative)?;
        // Not as paths, which would be compared component by component.
        if self.directory.as_ref().is_none_or(|(path, _)| path.as_os_str() != parent.as_os_str()) {
            let files = self.index.tables.directory(parent, &mut self.next);
            self.directory = Some((parent.to_owned(), files));
        }
        self.directory.as_mut()?.1.as_mut()?.find(name)
    }
}

const INDEX_FOLDER: &str = "index";
/// The folder of the texts of documents.
const TEXT_FOLDER: &str = "documents";
/// The end of the name of a stored index, after the key of its root.
const INDEX_SUFFIX: &str = ".index";
/// The end of the name of the text of a document.
pub(crate) const TEXT_SUFFIX: &str = ".text";
/// How long after its last use a file is touched when it is used again: the time is only for the order of removal.
pub(crate) const TOUCHED_EVERY: Duration = Duration::from_secs(60 * 60);
/// How old the times of a file must be, so that a later write within the same tick of the clock would show in them.
pub(crate) const CLOCK_TICK: Duration = Duration::from_secs(2);
/// Bytes that are written at once.
const PIECE_BYTES: usize = 1 << 20;

/// Where the stored indexes are, and how many bytes they may have together. Opens nothing before it is used.
#[derive(Debug, Default)]
pub struct StoredIndexes {
    state: Option<StateDir>,
    most: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It is stored; its length in bytes.
    Whole(u64),
    /// Without the filter, which is too large.
    WithoutFilter(u64),
    Busy,
    /// Nothing is stored: that is switched off, nothing may be kept of this root, or it is too large.
    Nothing,
}

#[derive(Debug)]
pub struct StoredStatus {
    /// Bytes of the file, if there is one.
    pub bytes: Option<u64>,
    pub written: Option<SystemTime>,
    pub files: Option<u64>,
    pub unusable: Option<Unusable>,
}

impl StoredIndexes {
    /// Those below a state folder, with at most `most` bytes.
    pub fn new(state: StateDir, most: u64) -> Self {
        Self { state: Some(state).filter(|_| most > 0), most }
    }

    pub fn is_kept(&self) -> bool {
        self.state.is_some()
    }

    /// The stored index of a root; `None` where there is none that is beyond doubt.
    pub(crate) fn load(&self, root: &WorkspacePath) -> Option<Arc<StoredIndex>> {
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

    /// Looks at the file of a root, and whether it would be used now.
    pub fn status(&self, root: &WorkspacePath) -> StoredStatus {
        let identity = root.root().identity_for_index().map_err(Unusable::Root);
        let file = match self.file_of(root.root().key()) {
            Ok(file) => file,
            Err(why) => {
                let unusable = Some(identity.err().unwrap_or(why));
                return StoredStatus { bytes: None, written: None, files: None, unusable };
            }
        };
        let (bytes, header) = (file.size(), read_header(&file).ok());
        let written = header.as_ref().and_then(|header| u64::try_from(header.written.wall).ok());
        StoredStatus {
            bytes: Some(bytes),
            written: written.map(|wall| SystemTime::UNIX_EPOCH + Duration::from_nanos(wall)),
            files: header.map(|header| header.files),
            unusable: identity.and_then(|identity| self.index_in(file, &identity)).err(),
        }
    }

    /// Removes what is stored of the root with that [key](confined_fs::Root::key), whatever it is and whether the
    /// root exists; how many bytes that were. `None` where nothing is.
    ///
    /// # Errors
    /// Those of the system.
    pub fn clear(&self, key: &str) -> io::Result<Option<u64>> {
        let Some(folder) = self.folder_to_clear(INDEX_FOLDER)? else { return Ok(None) };
        // A process that is writing would put its file there after this. Where no lock is to be had, what is there is
        // removed all the same.
        let _lock = folder.lock();
        let name = file_name(key);
        let bytes = folder.size(&name);
        match folder.remove_any(OsStr::new(&name)) {
            Ok(()) => Ok(Some(bytes.unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the stored indexes of all roots and the texts of documents: how many indexes, and the bytes of all.
    ///
    /// # Errors
    /// Those of the system.
    pub fn clear_all(&self) -> io::Result<(usize, u64)> {
        let mut removed = (0, 0);
        for (name, suffix) in [(INDEX_FOLDER, INDEX_SUFFIX), (TEXT_FOLDER, TEXT_SUFFIX)] {
            let Some(folder) = self.folder_to_clear(name)? else { continue };
            let lock = folder.lock();
            for file in folder.files()?.iter().filter(|file| file.name.ends_with(suffix)) {
                folder.remove_any(OsStr::new(&file.name))?;
                removed = (removed.0 + usize::from(name == INDEX_FOLDER), removed.1 + file.size);
            }
            folder.sweep_locked(&lock)?;
        }
        Ok(removed)
    }

    /// Bytes of all that is stored: indexes, and texts of documents.
    pub fn bytes(&self) -> u64 {
        let folders = [INDEX_FOLDER, TEXT_FOLDER].iter().filter_map(|name| self.existing(name).ok()?.files().ok());
        folders.flatten().map(|file| file.size).sum()
    }

    /// The folder of the texts of documents; `None` where nothing is stored.
    pub(crate) fn text_folder(&self) -> io::Result<Option<StateDir>> {
        self.state.as_ref().map(|state| state.private_folder(TEXT_FOLDER)).transpose()
    }

    /// Bytes that the indexes may have together, and the texts of documents as well.
    pub(crate) fn most_bytes(&self) -> u64 {
        self.most
    }

    /// Whether something could be stored now.
    ///
    /// # Errors
    /// Why not.
    pub fn probe(&self) -> io::Result<()> {
        let Some(state) = &self.state else { return Ok(()) };
        // Removed again when it is dropped.
        state.private_folder(INDEX_FOLDER)?.new_private().map(drop)
    }

    pub(super) fn open(&self, identity: &RootIdentity) -> Result<StoredIndex, Unusable> {
        self.index_in(self.file_of(&identity.key)?, identity)
    }

    /// The index in that file: its header and tables are read.
    ///
    /// # Errors
    /// The reason to doubt it.
    fn index_in(&self, file: PrivateFile, identity: &RootIdentity) -> Result<StoredIndex, Unusable> {
        let header = read_header(&file)?;
        // It was stored with a larger `--index-size`.
        if file.size() > self.most {
            return Err(Unusable::TooLarge);
        }
        let stored = &header.identity;
        if *stored != (RootIdentity { policy: stored.policy, ..identity.clone() }) {
            return Err(Unusable::OtherDirectory);
        }
        if stored.policy != identity.policy {
            return Err(Unusable::OtherRules);
        }
        // With a clock that was set back, times of later changes may be those that are known.
        if !StoredMoment::now().is_some_and(|now| header.written.is_before(&now)) {
            return Err(Unusable::Clock);
        }
        let tables = read_part(&file, &header, TABLES_PART).ok_or(Unusable::Damaged)?;
        Ok(StoredIndex { tables: Tables::new(tables, &header), file, header, listing: OnceLock::new() })
    }

    fn file_of(&self, key: &str) -> Result<PrivateFile, Unusable> {
        self.existing(INDEX_FOLDER)?.open_private(&file_name(key)).map_err(refused)
    }

    /// Stores an index of the root of that identity, instead of what was stored of it.
    ///
    /// # Errors
    /// Those of the system; what was stored stays then.
    pub(crate) fn save(
        &self,
        identity: RootIdentity,
        contents: IndexContents,
        filter: &NgramFilter,
    ) -> io::Result<Saved> {
        let (Some(state), Some(written)) = (&self.state, StoredMoment::now()) else { return Ok(Saved::Nothing) };
        let folder = state.private_folder(INDEX_FOLDER)?;
        // Nobody waits for it: what is not stored now is stored another time.
        let Some(lock) = folder.try_lock()? else { return Ok(Saved::Busy) };
        // Each writer has the lock, so these are of killed ones.
        folder.sweep_locked(&lock)?;
        let name = file_name(&identity.key);
        let EncodedTables { mut header, bytes: tables, listing } = contents.finish(identity, written)?;
        let mut segments: Vec<u8> = filter.segment_bytes().flat_map(u32::to_le_bytes).collect();
        header.set_filter(&segments, filter.blocks())?;
        // So that other roots have room, too.
        let most = self.most / 4 * 3;
        let is_whole = header.length() <= most;
        if !is_whole {
            segments.clear();
            header.set_filter(&segments, 0)?;
        }
        let bytes = header.length();
        if bytes > most {
            return Ok(Saved::Nothing);
        }
        // The former index of this root does not count: it is there until the new one takes its place.
        make_room(&folder, &name, self.most.saturating_sub(bytes))?;
        let mut file = folder.new_private()?;
        file.write(&header.encode())?;
        file.write(&tables)?;
        file.write(&listing)?;
        file.write(&segments)?;
        if header.blocks > 0 {
            write_columns(&mut file, header.id, filter)?;
        }
        file.write(&header.trailer())?;
        // By a rename: readers take no lock, and have the former file or this one.
        file.publish(&name)?;
        Ok(if is_whole { Saved::Whole(bytes) } else { Saved::WithoutFilter(bytes) })
    }

    fn existing(&self, name: &str) -> Result<StateDir, Unusable> {
        self.state.as_ref().ok_or(Unusable::Missing)?.existing_private_folder(name).map_err(refused)
    }

    fn folder_to_clear(&self, name: &str) -> io::Result<Option<StateDir>> {
        match self.existing(name) {
            Ok(folder) => Ok(Some(folder)),
            Err(Unusable::Refused(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }
}

fn refused(error: io::Error) -> Unusable {
    if error.kind() == io::ErrorKind::NotFound { Unusable::Missing } else { Unusable::Refused(error) }
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
    let mut bytes = Vec::with_capacity(PIECE_BYTES);
    filter.each_column(|column, words| {
        let start = bytes.len();
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        let checksum = Header::checksum(id, u64::from(column), &bytes[start..]);
        bytes.extend(checksum.to_le_bytes());
        if bytes.len() < PIECE_BYTES {
            return Ok(());
        }
        let written = file.write(&bytes);
        bytes.clear();
        written
    })?;
    file.write(&bytes)
}

fn file_name(key: &str) -> String {
    format!("{key}{INDEX_SUFFIX}")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    //! What is stored comes back, and nothing that is damaged, or about something else, does.

    #![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the tests act as another program")]

    use std::time::SystemTime;

    use super::*;
    use crate::stored_index::{IndexContents, Saved, testing::*};
    use crate::{
        KnownContent, MayMatch,
        ngram_filter::{COLUMN_COUNT, ContentGrams, SEGMENT_BYTES},
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
        let saved = fixture.indexes.save(identity(1), contents, &filter).unwrap();
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
        let mut whole = index.filter(MEMORY, [&first, &large, &last].into_iter().map(|file| segments(file).0)).unwrap();
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
                    stored(&mut filter, 4, &text.repeat((SEGMENT_BYTES - 100) / text.len()).into_bytes())
                })
                .collect();
            let mut contents = IndexContents::new(DEVICE);
            for (number, file) in files.iter().enumerate() {
                contents.file(Path::new(&format!("{number:03}")), file);
            }
            let Saved::Whole(bytes) = fixture.indexes.save(identity(1), contents, &filter).unwrap() else { panic!() };
            let index = fixture.indexes.open(&identity(1)).unwrap();
            assert_eq!(index.segment_bytes().unwrap().len(), kept);
            let filter_bytes = if kept <= 64 { 12 * COLUMN_COUNT * kept / 64 } else { 20 * COLUMN_COUNT };
            assert!(bytes < (filter_bytes + 4 * kept + 60 * count + 400) as u64, "{count}: {bytes}");

            let taken_over = index.filter(MEMORY, files.iter().map(|file| segments(file).0)).unwrap();
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
            let mut bytes = [&header.encode()[..], &small.bytes[HEADER_BYTES..]].concat();
            bytes.resize(usize::try_from(length.unwrap_or(small.bytes.len() as u64)).unwrap() - TRAILER_BYTES, 0);
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
                index.filter(MEMORY, small.files[..2].iter().map(|file| testing::segments(file).0)).is_none(),
                "{segments}"
            );
        }
        small.fixture.indexes.save(identity(1), IndexContents::new(DEVICE), &small.filter).unwrap();
        assert!(small.fixture.indexes.open(&identity(1)).is_ok(), "the next one takes its place");
    }

    #[test]
    fn bit_flipped_anywhere_never_changes_an_answer() {
        let small = Small::new();
        assert!(small.ask());
        // All bits of what is read at the start, and some of each column; all of them take some minutes.
        let step = if std::env::var_os("INDEX_DAMAGE").is_some() { 1 } else { 997 };
        let tables = small.bytes.len() - (12 * COLUMN_COUNT / 8) - 16 - 4 * 8;
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
        fixture.indexes.save(identity(1), contents, &filter).unwrap();
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
            small.put([&header.encode()[..], &small.bytes[HEADER_BYTES..]].concat());
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

#[cfg(all(test, target_os = "linux"))]
mod stored_indexes_tests {
    //! Bounds, several writers, and what others put instead of an index.

    #![expect(clippy::disallowed_methods, reason = "the tests act as another program")]

    use std::path::Path;

    use super::*;
    use crate::KnownContent;
    use crate::stored_index::testing::*;

    fn little(indexes: &StoredIndexes, key: u8) -> Saved {
        let mut filter = NgramFilter::new(MEMORY);
        let mut contents = IndexContents::new(DEVICE);
        let file = stored(&mut filter, 4, b"content\n");
        contents.file(Path::new("f"), &file);
        indexes.save(identity(key), contents, &filter).unwrap()
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
        let index = Arc::new(smaller.open(&identity(1)).unwrap());
        assert_eq!(file(&index, "f").unwrap().content, KnownContent::AlwaysSearch);
        assert!(index.candidates(query("content")).is_none());
        assert!(index.filter(MEMORY, std::iter::empty()).is_none());
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
