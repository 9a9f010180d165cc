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

use confined_fs::{NewPrivateFile, PrivateFile, RootIdentity, StateDir, StateFile, StoredMoment, WorkspacePath};

use crate::ngram_filter::NgramFilter;

use super::{
    contents::{IndexContents, Tables},
    header::{Header, LISTING, SEGMENT_LIST, TABLES, Unusable},
    reader::{StoredIndex, read_header},
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

    /// Stores an index, in the place of what was stored of that root.
    ///
    /// # Errors
    /// Those of the system; what was stored stays then.
    pub(crate) fn save(
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
        let Some(folder) = self.folder_to_clear()? else { return Ok(None) };
        let _lock = folder.lock();
        let name = file_name(key);
        let bytes = folder.size(&name);
        match folder.remove_any(OsStr::new(&name)) {
            Ok(()) => Ok(Some(bytes.unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the stored indexes of all roots: how many, and their bytes.
    ///
    /// # Errors
    /// Those of the system.
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
        self.index_in(self.file_of(&identity.key)?, identity)
    }

    fn index_in(&self, file: PrivateFile, identity: &RootIdentity) -> Result<StoredIndex, Unusable> {
        let now = StoredMoment::now().ok_or(Unusable::Clock)?;
        StoredIndex::open(file, self.most, identity, &now)
    }

    /// The file of the root with that key.
    fn file_of(&self, key: &str) -> Result<PrivateFile, Unusable> {
        self.existing_folder()?.open_private(&file_name(key)).map_err(refused)
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
        let mut header = header_of(identity, written, &tables, &segments, filter.blocks())?;
        let is_whole = header.length() <= self.most_of_one();
        if !is_whole {
            segments.clear();
            header = header_of(header.identity, written, &tables, &segments, 0)?;
        }
        let bytes = header.length();
        if bytes > self.most_of_one() {
            return Ok(Saved::Nothing);
        }
        make_room(&folder, &name, self.most.saturating_sub(bytes))?;
        let mut file = folder.new_private()?;
        file.write(&header.encode())?;
        file.write(&tables.bytes)?;
        file.write(&tables.listing)?;
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

/// The header of an index with these parts.
///
/// # Errors
/// `FileTooLarge` where a part is longer than the header can say.
fn header_of(
    identity: RootIdentity,
    written: StoredMoment,
    tables: &Tables,
    segments: &[u8],
    blocks: usize,
) -> io::Result<Header> {
    let narrow = |length: usize| u32::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
    // Only one that was written at the same nanosecond has the same.
    let id = written.wall.cast_unsigned();
    Ok(Header {
        id,
        identity,
        written,
        directories: tables.directories,
        files: tables.files,
        paths: tables.paths,
        entries: tables.entries,
        tables_checksum: Header::checksum(id, TABLES, &tables.bytes),
        segments: narrow(segments.len())?,
        segments_checksum: Header::checksum(id, SEGMENT_LIST, segments),
        blocks: narrow(blocks)?,
        listing: narrow(tables.listing.len())?,
        listing_checksum: Header::checksum(id, LISTING, &tables.listing),
    })
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
    //! Bounds, several writers, and what others put in the place of an index.

    #![expect(clippy::disallowed_methods, reason = "the tests act as another program")]

    use std::path::Path;

    use super::super::testing::*;
    use super::*;
    use crate::{KnownContent, ngram_filter::FileSegments};

    /// An index of one small file, whose filter has one block.
    fn little(indexes: &StoredIndexes, key: u8) -> Saved {
        let mut filter = NgramFilter::new(MEMORY);
        let mut contents = IndexContents::new(DEVICE);
        let file = stored(&mut filter, 4, b"content\n");
        contents.file(Path::new("f"), &file);
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
        let index = Arc::new(smaller.open(&identity(1)).unwrap());
        assert_eq!(file(&index, "f").unwrap().content, KnownContent::AlwaysSearch);
        assert!(index.candidates(query("content")).is_none());
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
