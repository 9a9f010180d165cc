//! One stored index, open: what is checked before it is used, and its answers.

use std::{
    borrow::Borrow,
    collections::HashMap,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{
    search::{
        Candidates, FilterQuery,
        ngram_filter::{FileSegments, NgramFilter},
    },
    workspace::{PrivateFile, RootIdentity, StoredMoment},
};

use super::{
    header::{CHECKSUM, HEADER, Header, SEGMENT_LIST, TABLES, TRAILER},
    stored_file::StoredFile,
    tables::{StoredDirectory, StoredListing, Tables},
    unusable::Unusable,
};

/// The stored index of one root. Holds its tables in memory and its file open, so that it stays readable when
/// another process replaces or removes that.
#[derive(Debug)]
pub(in crate::search) struct StoredIndex {
    file: PrivateFile,
    header: Header,
    tables: Tables,
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
        Ok(Self { tables: Tables::new(tables, &header), file, header })
    }

    /// Whether it has a filter, so that it answers for the content of files.
    pub(in crate::search) fn has_filter(&self) -> bool {
        self.header.blocks > 0
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
    pub(in crate::search) fn files(&self) -> u64 {
        self.header.files
    }

    /// When it was written.
    pub(in crate::search) fn written(&self) -> StoredMoment {
        self.header.written
    }

    /// What is known of a file, by its path below the root. Decodes its directory: for many files in path order use
    /// [`Self::cursor`].
    pub(in crate::search) fn file(&self, relative: &Path) -> Option<StoredFile> {
        let directory = self.tables.directory(relative.parent()?)?;
        directory.find(relative.file_name()?).cloned()
    }

    /// The names in a directory, where all are known.
    pub(in crate::search) fn directory(&self, relative: &Path) -> Option<StoredListing> {
        let StoredDirectory { listing, entries } = self.tables.directory(relative)?;
        let names = entries.into_iter().map(|entry| (entry.name, entry.kind)).collect();
        Some(StoredListing { facts: listing?, names })
    }

    /// For files in path order.
    pub(in crate::search) fn cursor(self: &Arc<Self>) -> StoredCursor {
        StoredCursor { index: Arc::clone(self), path: None, directory: None }
    }

    /// What `query` leaves of the files whose content is known. Reads the columns that it names. `None` without a
    /// filter, and where one of them is damaged.
    pub(in crate::search) fn candidates(&self, query: FilterQuery) -> Option<Candidates> {
        let read = |column| Some((column, self.column(column)?));
        let columns: HashMap<_, _> = query.columns().into_iter().map(read).collect::<Option<_>>()?;
        Some(query.candidates_of(columns))
    }

    /// The filter, with room for `memory` bytes, to be changed from now on. `files` are those of this index that are
    /// still in the state that it knows, each with its bytes. `None` without a filter, and where it is damaged.
    pub(in crate::search) fn filter<S: Borrow<FileSegments>>(
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
        let mut bytes = vec![0; self.header.blocks as usize * size_of::<u64>() + CHECKSUM];
        self.file.read_at(&mut bytes, self.header.column_at(usize::from(column))).ok()?;
        let (words, checksum) = bytes.split_last_chunk::<CHECKSUM>()?;
        if Header::checksum(self.header.id, u64::from(column), words) != u32::from_le_bytes(*checksum) {
            return None;
        }
        Some(words.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
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
    let RootIdentity { key, policy, file_system, device, inode } = &header.identity;
    if *key != identity.key
        || (*file_system, *device, *inode) != (identity.file_system, identity.device, identity.inode)
    {
        return Some(Unusable::OtherDirectory);
    }
    if *policy != identity.policy {
        return Some(Unusable::OtherRules);
    }
    (!header.written.is_before(now)).then_some(Unusable::Clock)
}

impl StoredDirectory {
    fn find(&self, name: &OsStr) -> Option<&StoredFile> {
        let at = self.entries.binary_search_by(|entry| entry.name.as_os_str().cmp(name)).ok()?;
        self.entries[at].file.as_ref()
    }
}

/// Files of a stored index, each directory decoded once for those that are asked for in a row.
#[derive(Debug)]
pub(in crate::search) struct StoredCursor {
    index: Arc<StoredIndex>,
    path: Option<PathBuf>,
    directory: Option<StoredDirectory>,
}

impl StoredCursor {
    /// As [`StoredIndex::file`].
    pub(in crate::search) fn file(&mut self, relative: &Path) -> Option<&StoredFile> {
        let parent = relative.parent()?;
        if self.path.as_deref() != Some(parent) {
            self.directory = self.index.tables.directory(parent);
            self.path = Some(parent.to_path_buf());
        }
        self.directory.as_ref()?.find(relative.file_name()?)
    }
}
