//! What is to be stored of a root, encoded as it is added.

use std::{
    collections::HashMap,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use confined_fs::TreeListing;

use super::{
    bytes::put_number,
    header::DIRECTORY,
    listing::encode_listing,
    stored_file::{Previous, StoredFile, tag},
};

/// The tables of a stored index, in the making.
#[derive(Debug)]
pub(crate) struct IndexContents {
    /// The device of the root: nothing is kept of others.
    device: u64,
    directories: HashMap<PathBuf, DirectoryFiles>,
    files: u64,
    /// The names below the root, encoded; empty without them.
    listing: Vec<u8>,
}

/// The files of one directory, encoded.
#[derive(Debug, Default)]
struct DirectoryFiles {
    bytes: Vec<u8>,
    count: u64,
    last: Vec<u8>,
    previous: Previous,
}

/// The parts of the tables, as they are written.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) bytes: Vec<u8>,
    pub(super) directories: u32,
    pub(super) paths: u32,
    pub(super) entries: u32,
    pub(super) files: u64,
    pub(super) listing: Vec<u8>,
}

impl IndexContents {
    /// Nothing yet, of a root on this device.
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

    /// The tables.
    ///
    /// # Errors
    /// `FileTooLarge` where they have more than 4 GiB.
    pub(super) fn finish(self) -> io::Result<Tables> {
        let mut directories: Vec<_> =
            self.directories.into_iter().map(|(path, directory)| (path, directory.finish())).collect();
        // By the bytes of names, component by component: as paths are compared.
        directories.sort_unstable_by(|(one, _), (two, _)| one.cmp(two));
        let narrow = |number: usize| u32::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
        let paths: usize = directories.iter().map(|(path, _)| path.as_os_str().len()).sum();
        let entries: usize = directories.iter().map(|(_, entries)| entries.len()).sum();
        let mut bytes = Vec::with_capacity(directories.len() * DIRECTORY + paths + entries);
        let (mut path_at, mut entries_at) = (0, 0);
        for (path, entries) in &directories {
            bytes.extend(narrow(path_at)?.to_le_bytes());
            bytes.extend(narrow(entries_at)?.to_le_bytes());
            path_at += path.as_os_str().len();
            entries_at += entries.len();
        }
        for (path, _) in &directories {
            bytes.extend(path.as_os_str().as_encoded_bytes());
        }
        let count = narrow(directories.len())?;
        for (_, entries) in directories {
            bytes.extend(entries);
        }
        Ok(Tables {
            bytes,
            directories: count,
            paths: narrow(paths)?,
            entries: narrow(entries)?,
            files: self.files,
            listing: self.listing,
        })
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

    /// The bytes of the directory: how many files, then each.
    fn finish(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes.len() + 5);
        put_number(&mut bytes, self.count);
        bytes.extend(self.bytes);
        bytes
    }
}
