//! What is to be stored of a root, encoded as it is added.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use crate::workspace::{FileKind, StatFacts};

use super::{
    bytes::put_number,
    header::DIRECTORY,
    stored_file::{Previous, StoredFile, put_facts, tag},
};

/// The tables of a stored index, in the making.
#[derive(Debug)]
pub(in crate::search) struct IndexContents {
    /// The device of the root: nothing is kept of others.
    device: u64,
    /// From the root down to the directory that is added to.
    open: Vec<OpenDirectory>,
    /// The others: the path, and the bytes of the entries.
    closed: Vec<(PathBuf, Vec<u8>)>,
    files: u64,
}

#[derive(Debug)]
struct OpenDirectory {
    path: PathBuf,
    listing: Option<StatFacts>,
    entries: Vec<u8>,
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
}

impl IndexContents {
    /// Nothing yet, of a root on this device.
    pub(in crate::search) fn new(device: u64) -> Self {
        Self { device, open: Vec::new(), closed: Vec::new(), files: 0 }
    }

    /// Adds a directory that is listed, and its name to the directory that holds it. `listing` are its facts, where all
    /// names in it follow and the facts prove that they are still all. Directories and entries come in path
    /// order, the root ("") first; what comes in another order is left out.
    pub(in crate::search) fn directory(&mut self, relative: &Path, listing: Option<StatFacts>) {
        self.entry(relative, FileKind::Directory, None);
        let is_next = match self.open.last() {
            None => self.closed.is_empty() && relative.as_os_str().is_empty(),
            Some(parent) => relative.parent() == Some(&parent.path),
        };
        if is_next {
            let listing = listing.filter(|facts| facts.device == self.device);
            self.open.push(OpenDirectory::new(relative, listing));
        }
    }

    /// Adds a name that is no directory, or one that is not listed; `file` is what is known of its content.
    pub(in crate::search) fn entry(&mut self, relative: &Path, kind: FileKind, file: Option<&StoredFile>) {
        let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else { return };
        let Some(at) = self.open.iter().rposition(|open| open.path == parent) else { return };
        self.closed.extend(self.open.drain(at + 1..).map(OpenDirectory::close));
        let Some(open) = self.open.last_mut() else { return };
        let file = file.filter(|file| file.facts.device == self.device && tag(kind, Some(file)).is_some());
        if open.add(name, kind, file) {
            self.files += u64::from(file.is_some());
        }
    }

    /// The tables.
    ///
    /// # Errors
    /// `FileTooLarge` where they have more than 4 GiB.
    pub(super) fn finish(mut self) -> io::Result<Tables> {
        while let Some(open) = self.open.pop() {
            self.closed.push(open.close());
        }
        // By the bytes of names, component by component: as paths are compared.
        self.closed.sort_unstable_by(|(one, _), (two, _)| one.cmp(two));
        let narrow = |number: usize| u32::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
        let paths: usize = self.closed.iter().map(|(path, _)| path.as_os_str().len()).sum();
        let entries: usize = self.closed.iter().map(|(_, entries)| entries.len()).sum();
        let mut bytes = Vec::with_capacity(self.closed.len() * DIRECTORY + paths + entries);
        let (mut path_at, mut entries_at) = (0, 0);
        for (path, entries) in &self.closed {
            bytes.extend(narrow(path_at)?.to_le_bytes());
            bytes.extend(narrow(entries_at)?.to_le_bytes());
            path_at += path.as_os_str().len();
            entries_at += entries.len();
        }
        for (path, _) in &self.closed {
            bytes.extend(path.as_os_str().as_encoded_bytes());
        }
        let directories = narrow(self.closed.len())?;
        for (_, entries) in self.closed {
            bytes.extend(entries);
        }
        Ok(Tables { bytes, directories, paths: narrow(paths)?, entries: narrow(entries)?, files: self.files })
    }
}

impl OpenDirectory {
    fn new(path: &Path, listing: Option<StatFacts>) -> Self {
        let path = path.to_path_buf();
        Self { path, listing, entries: Vec::new(), count: 0, last: Vec::new(), previous: Previous::default() }
    }

    /// Adds a name; false where it does not follow the one before it, or nothing would be known by it.
    fn add(&mut self, name: &OsStr, kind: FileKind, file: Option<&StoredFile>) -> bool {
        let bytes = name.as_encoded_bytes();
        let Some(tag) = tag(kind, file) else { return false };
        if self.count > 0 && self.last.as_slice() >= bytes {
            // Names are missing from what should be all.
            self.listing = None;
            return false;
        }
        if self.listing.is_none() && file.is_none() {
            return false;
        }
        let shared = self.last.iter().zip(bytes).take_while(|(one, two)| one == two).count();
        self.entries.push(tag);
        put_number(&mut self.entries, shared as u64);
        put_number(&mut self.entries, (bytes.len() - shared) as u64);
        self.entries.extend(&bytes[shared..]);
        if let Some(file) = file {
            file.put(&mut self.entries, &mut self.previous);
        }
        self.last = bytes.to_vec();
        self.count += 1;
        true
    }

    /// The path, and the bytes: how many entries, the facts where the names are all, and the entries.
    fn close(self) -> (PathBuf, Vec<u8>) {
        let mut bytes = Vec::new();
        put_number(&mut bytes, self.count << 1 | u64::from(self.listing.is_some()));
        if let Some(facts) = &self.listing {
            put_facts(&mut bytes, facts, false, &mut Previous::default());
        }
        bytes.extend(self.entries);
        (self.path, bytes)
    }
}
