//! A file of the person outside of any root, such as the configuration of a client, replaced whole.
//!
//! Only for commands that a person types, on paths that the person or the program's own tables name; no call of a model
//! gets here. Links in the place of the file or of a folder above it are followed once, when it is found, because managers
//! of dotfiles link both; what is written is the file that they led to then.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::{ffi::OsStr, time::Duration};

use beneath::{Attributes, FileKind};

use super::Temporary;
use crate::state::lock_within;
use beneath::Dir;
use confined_fs::for_changes::IfThere as _;

/// A configuration file of this size has something else in it.
const MAX_BYTES: u64 = 64 << 20;

/// How long the lock of the folder is waited for, against another run of the same command. What other programs write is
/// found out by comparing the content.
const LOCK_WITHIN: Duration = Duration::from_secs(10);
const ASK_INTERVAL: Duration = Duration::from_millis(2);

/// Whether there is anything at a path of the host.
pub fn host_path_exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The directory at a path of the host, without links.
#[expect(clippy::disallowed_methods, reason = "only to refuse a wrong argument; nothing is opened")]
pub fn host_directory(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_dir())
}

/// A file of the host, which need not exist.
#[derive(Clone, Debug)]
pub struct HostFile {
    /// The path that links led to when it was found.
    path: PathBuf,
}

impl HostFile {
    /// Finds the file, through links on the way to it and in its place.
    ///
    /// # Errors
    /// Those of the system; for a link that leads nowhere, and for what is not a file.
    pub fn find(path: &Path) -> io::Result<Self> {
        match path.symlink_metadata() {
            Ok(found) if found.file_type().is_symlink() => Self::find(&real(path, "it")?),
            Ok(found) if found.is_file() => Ok(Self { path: real(path, "it")? }),
            Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => {
                // The nearest folder that is there, or is a link.
                let above = path.ancestors().skip(1).find(|folder| !folder.as_os_str().is_empty() && is_here(folder));
                let Some(above) = above else { return Ok(Self { path: path.to_owned() }) };
                let below = path.strip_prefix(above).map_err(io::Error::other)?;
                Ok(Self { path: real(above, "its folder")?.join(below) })
            }
            Err(error) => Err(error),
        }
    }

    /// Why the file should not be replaced by another one of its name; `None` if it may be. Its rights and other names are
    /// somebody's intention.
    #[expect(clippy::disallowed_methods, reason = "the path is one that a person chose, not that of a call")]
    pub fn kept_as_it_is(&self) -> Option<&'static str> {
        let found = self.path.metadata().ok()?;
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::nlink(&found) > 1 {
            return Some(
                "has several names (hard links), of which only this one would lead to the new content: make it a file of \
                 its own first (`cp FILE NEW && mv NEW FILE`)",
            );
        }
        found.permissions().readonly().then_some("is read-only: allow writing first (`chmod u+w FILE`)")
    }

    /// Whether the file is below `folder`, with all links on the way to both followed.
    #[expect(clippy::disallowed_methods, reason = "compared, as a courtesy, before a person is asked")]
    pub fn is_below(&self, folder: &Path) -> bool {
        let existing = self.path.ancestors().find_map(|part| part.canonicalize().ok());
        existing.zip(folder.canonicalize().ok()).is_some_and(|(existing, folder)| existing.starts_with(folder))
    }

    /// Its content; `None` if there is no file.
    pub fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let (folder, name) = self.parts()?;
        let Some(dir) = Dir::open_ambient(folder, false).if_there()? else { return Ok(None) };
        Ok(content(&dir, name)?.map(|(bytes, _)| bytes))
    }

    /// How many folders on the way to it are missing.
    pub fn missing_folders(&self) -> usize {
        self.path.ancestors().skip(1).take_while(|folder| !is_here(folder)).count()
    }

    /// Makes `after` its content if it still is `before`; false, with nothing changed, if it is not. A new file is made
    /// with the missing folders; a replaced one keeps its mode, owner and attributes.
    #[expect(clippy::disallowed_methods, reason = "the folders of a file that a person chose")]
    pub fn replace(&self, before: Option<&[u8]>, after: &[u8]) -> io::Result<bool> {
        let (folder, name) = self.parts()?;
        let made = self.missing_folders();
        if made > 0 {
            fs::create_dir_all(folder)?;
        }
        let written = replace_in(folder, name, before, after);
        if !matches!(written, Ok(true)) {
            remove_empty(folder, made);
        }
        written
    }

    /// Removes it if it still is `before`, and then up to `folders` folders above it that are empty.
    pub fn remove(&self, before: &[u8], folders: usize) -> io::Result<bool> {
        let (folder, name) = self.parts()?;
        let dir = Dir::open_ambient(folder, false)?;
        let lock = lock_within(&dir, LOCK_WITHIN, ASK_INTERVAL);
        if !has(&dir, name, before)? {
            return Ok(false);
        }
        dir.remove(name)?;
        // The name is gone for every process by now, so a failure is nothing to report.
        let _ = dir.sync();
        // Windows removes no folder that is open.
        drop((lock, dir));
        remove_empty(folder, folders);
        Ok(true)
    }

    fn parts(&self) -> io::Result<(&Path, &OsStr)> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let name = self.path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((folder.unwrap_or(Path::new(".")), name))
    }
}

/// The path without links. `what` it is if it leads nowhere.
#[expect(clippy::disallowed_methods, reason = "a path that a person chose, once")]
fn real(path: &Path, what: &str) -> io::Result<PathBuf> {
    let dangling = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            io::Error::new(io::ErrorKind::NotFound, format!("{what} is a link to something that does not exist"))
        }
        _ => error,
    };
    path.canonicalize().map_err(dangling)
}

fn is_here(folder: &Path) -> bool {
    folder.as_os_str().is_empty() || host_path_exists(folder)
}

/// Removes `most` folders, innermost first, as long as they are empty.
#[expect(clippy::disallowed_methods, reason = "only empty folders")]
fn remove_empty(folder: &Path, most: usize) {
    for folder in folder.ancestors().take(most) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

fn replace_in(folder: &Path, name: &OsStr, before: Option<&[u8]>, after: &[u8]) -> io::Result<bool> {
    let dir = Dir::open_ambient(folder, false)?;
    let _lock = lock_within(&dir, LOCK_WITHIN, ASK_INTERVAL);
    let old = content(&dir, name)?;
    if old.as_ref().map(|(bytes, _)| bytes.as_slice()) != before {
        return Ok(false);
    }
    let mut temporary = Temporary::create(&dir, old.is_some())?;
    beneath::write_all(temporary.file(), after)?;
    let Some((bytes, file)) = old else {
        beneath::sync_data(temporary.file())?;
        let published = temporary.publish_new(name);
        // The file is there for every process already: a failure would undo nothing.
        let _ = dir.sync();
        return match published {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            published => published.map(|()| true),
        };
    };
    Attributes::of(&file, &beneath::file_stat(&file)?).give(temporary.file())?;
    beneath::sync_data(temporary.file())?;
    // Windows does not replace a file that is open.
    drop(file);
    let replaced = temporary.replace(name, |dir, name| has(dir, name, &bytes))?;
    let _ = dir.sync();
    Ok(replaced)
}

fn has(dir: &Dir, name: &OsStr, expected: &[u8]) -> io::Result<bool> {
    Ok(content(dir, name)?.is_some_and(|(bytes, _)| bytes == expected))
}

/// The content of a regular file, and the file.
fn content(dir: &Dir, name: &OsStr) -> io::Result<Option<(Vec<u8>, File)>> {
    let Some(mut file) = dir.child_file(name).if_there()? else { return Ok(None) };
    if beneath::file_stat(&file)?.kind != FileKind::File {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut bytes = Vec::new();
    (&mut file).take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 64 MiB"));
    }
    Ok(Some((bytes, file)))
}
