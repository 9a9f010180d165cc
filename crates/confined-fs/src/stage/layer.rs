//! The folder of one layer: its files, its record, its lock and its limit.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use std::{ffi::OsStr, fs::File, thread};

use beneath::{Failure, FileKind, LockAttempt, OpenFor, Stat};

use super::record::{Record, RecordLine};
use crate::{LayerFull, limits::IfThere as _};

/// How long another process is waited for: `rootbound stage apply` may take seconds.
const LOCK_WITHIN: Duration = Duration::from_secs(30);
/// A longer record was not written by this program.
const MAX_RECORD_BYTES: u64 = 256 << 20;
/// After how many new files, and how much time, the size of the layer is looked at again.
const MAX_UNMEASURED: u64 = 16;
const MEASURED_FOR: Duration = Duration::from_secs(1);
/// Entries of the largest layer: as many as one change of a tree may have, ten times.
const MAX_ENTRIES: u64 = 200_000;

const RECORD: &str = "record";
const UPPER: &str = "upper";
const COPY: &str = "copy";

/// Where changes are staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageOptions {
    /// The state folder; the layers are in its folder `stage`.
    pub state: PathBuf,
    /// Bytes that one layer may hold.
    pub most_bytes: u64,
    /// Whether calls see the merged view and change the layer; else the disk, and the layers are only opened, to be shown,
    /// applied or discarded.
    pub is_view: bool,
}

#[derive(Debug)]
pub(crate) struct Layer {
    /// The folder in the state folder.
    folder: beneath::Dir,
    /// The new entries, under the paths that they have below the root.
    pub(super) upper: beneath::Dir,
    record: Mutex<ReadRecord>,
    /// One change at a time in this process.
    changing: Mutex<()>,
    limit: u64,
    measured: Mutex<Measured>,
}

/// The record as far as it has been read.
#[derive(Debug, Default)]
struct ReadRecord {
    record: Record,
    /// The file that it was read from, and how much of it.
    file: Option<Stat>,
    bytes: u64,
}

/// How large the layer was.
#[derive(Debug, Default)]
struct Measured {
    size: LayerSize,
    at: Option<Instant>,
    files_since: u64,
}

/// How large a layer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerSize {
    /// Files, links and directories in it.
    pub entries: u64,
    /// Regular files among them.
    pub files: u64,
    /// Bytes in the regular files.
    pub bytes: u64,
    /// When the oldest of them was made.
    pub oldest: Option<SystemTime>,
}

/// The right to change a layer: no other call and no other process changes it meanwhile.
pub(crate) struct LayerLock<'l> {
    pub(super) layer: &'l Layer,
    _turn: MutexGuard<'l, ()>,
    _handle: beneath::Dir,
}

impl Layer {
    /// Opens the layer of the root with this key, and makes it where it is missing.
    pub(crate) fn open(state: &Path, key: &str, limit: u64, force_component: bool) -> io::Result<Self> {
        let state = beneath::Dir::open_ambient(state, force_component)?;
        let folder = made(&made(&state, "stage")?, key)?;
        let upper = made(&folder, UPPER)?;
        Ok(Self {
            folder,
            upper,
            record: Mutex::default(),
            changing: Mutex::default(),
            limit,
            measured: Mutex::default(),
        })
    }

    /// Waits for the turn to change the layer.
    pub(crate) fn lock(&self) -> io::Result<LayerLock<'_>> {
        let turn = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let began = Instant::now();
        // A handle of its own: a lock of flock(2) is of the open file description, and one that only passes has none.
        let handle = self.folder.reopen(OpenFor::List)?;
        loop {
            match handle.try_lock() {
                LockAttempt::Acquired | LockAttempt::Unsupported => {
                    return Ok(LayerLock { layer: self, _turn: turn, _handle: handle });
                }
                LockAttempt::HeldElsewhere if began.elapsed() > LOCK_WITHIN => {
                    return Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        "another process does not end its change of the staged files",
                    ));
                }
                LockAttempt::HeldElsewhere => thread::sleep(Duration::from_micros(300)),
            }
        }
    }

    /// The record, with what other processes have added.
    pub(super) fn with_record<T>(&self, use_it: impl FnOnce(&Record) -> T) -> io::Result<T> {
        let mut read = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        read.refresh(&self.folder)?;
        Ok(use_it(&read.record))
    }

    /// Whether what the disk has at a path does not show.
    pub(super) fn hides(&self, path: &Path) -> io::Result<bool> {
        self.with_record(|record| record.hides(path))
    }

    /// Looks at a path in the layer alone; `None` where it says nothing.
    ///
    /// # Errors
    /// `Link` or `NotADirectory` for a path that passes through something else than directories of the layer.
    pub(super) fn upper_stat(&self, path: &Path) -> Result<Option<Stat>, Failure> {
        self.upper.stat_beneath(path).if_there()
    }

    /// How large the layer is, as far as it can be read.
    pub(crate) fn size(&self) -> LayerSize {
        let mut size = LayerSize::default();
        let _ = measure(&self.upper, &mut size);
        size
    }

    /// Refuses one more file in a full layer. A file that is written at this moment still fits.
    pub(super) fn check_room(&self) -> io::Result<()> {
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        measured.files_since += 1;
        let is_old = measured.at.is_none_or(|at| at.elapsed() > MEASURED_FOR);
        if is_old || measured.files_since > MAX_UNMEASURED {
            *measured = Measured { size: self.size(), at: Some(Instant::now()), files_since: 0 };
        }
        if measured.size.bytes >= self.limit || measured.size.entries >= MAX_ENTRIES {
            // What was applied or discarded meanwhile counts at once.
            measured.at = None;
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, LayerFull { bytes: self.limit }));
        }
        Ok(())
    }

    /// Writes the record to the disk.
    pub(super) fn sync_record(&self) -> io::Result<()> {
        match self.folder.child_file(OsStr::new(RECORD)).if_there()? {
            // Through a handle that may write, as Windows wants it.
            Some(_) => beneath::sync_data(&self.folder.append(OsStr::new(RECORD))?),
            None => Ok(()),
        }
    }
}

impl LayerLock<'_> {
    /// Adds lines to the record; they count when this returns.
    pub(super) fn add(&self, lines: &[RecordLine]) -> io::Result<()> {
        let mut read = self.layer.record.lock().unwrap_or_else(PoisonError::into_inner);
        read.refresh(&self.layer.folder)?;
        let file = self.layer.folder.append(OsStr::new(RECORD))?;
        let before = beneath::file_stat(&file)?;
        if before.kind != FileKind::File {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // A line that was cut by the end of a process must not spoil the next one.
        let is_cut = before.size > read.bytes;
        let mut text = String::from(if is_cut { "\n" } else { "" });
        for line in lines {
            text.push_str(&line.to_string());
        }
        beneath::write_all(&file, text.as_bytes())?;
        for line in lines {
            read.record.add(line);
        }
        read.bytes = before.size + text.len() as u64;
        read.file = Some(beneath::file_stat(&file)?);
        Ok(())
    }

    /// A new file outside of the merged view, to be filled and then moved into it, and what removes it.
    pub(super) fn new_copy(&self) -> io::Result<File> {
        // Left by a process that was killed while it copied.
        self.layer.folder.remove(OsStr::new(COPY)).if_there()?;
        self.layer.folder.create(OsStr::new(COPY), true)
    }

    /// Gives the copy its place in the merged view.
    pub(super) fn publish_copy(&self, dir: &beneath::Dir, name: &OsStr) -> io::Result<()> {
        self.layer.folder.move_over(OsStr::new(COPY), dir, name)
    }

    /// Empties the record where nothing is staged any more.
    pub(super) fn drop_empty_record(&self) -> io::Result<()> {
        let is_empty = self.layer.with_record(Record::is_empty)?;
        if is_empty && self.layer.upper.reopen(OpenFor::List)?.list_at_most(1)?.is_empty() {
            self.layer.folder.remove(OsStr::new(RECORD)).if_there()?;
        }
        Ok(())
    }
}

impl ReadRecord {
    /// Reads what was added since the last time; all of it where it is another file.
    fn refresh(&mut self, folder: &beneath::Dir) -> io::Result<()> {
        let Some(now) = folder.child_stat(OsStr::new(RECORD)).if_there()? else {
            if self.file.is_some() {
                *self = Self { record: self.record.emptied(), ..Self::default() };
            }
            return Ok(());
        };
        if self.file.as_ref().is_some_and(|file| file.same_content_state(&now)) {
            return Ok(());
        }
        let goes_on = self.file.as_ref().is_some_and(|file| file.same_file(&now) && file.size <= now.size);
        if !goes_on {
            *self = Self { record: self.record.emptied(), ..Self::default() };
        }
        if now.kind != FileKind::File || now.size > MAX_RECORD_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the record of staged changes is damaged"));
        }
        let mut file = folder.child_file(OsStr::new(RECORD))?;
        file.seek(SeekFrom::Start(self.bytes))?;
        let mut bytes = Vec::new();
        file.take(MAX_RECORD_BYTES).read_to_end(&mut bytes)?;
        // Another process may be in the middle of a line.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.record.add_text(&String::from_utf8_lossy(&bytes[..whole]));
        self.bytes += whole as u64;
        self.file = Some(now);
        Ok(())
    }
}

/// The folder of that name, made (mode 0700) where it is missing.
fn made(dir: &beneath::Dir, name: &str) -> io::Result<beneath::Dir> {
    let name = OsStr::new(name);
    match dir.make_dir(name, true) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => dir.child_dir(name, OpenFor::Traverse),
    }
}

/// Deeper directories are not counted: no call makes them, as a path has at most 4096 bytes.
const MAX_DEPTH: usize = 2_100;

fn measure(dir: &beneath::Dir, size: &mut LayerSize) -> io::Result<()> {
    let mut todo: Vec<PathBuf> = vec![PathBuf::new()];
    while let Some(path) = todo.pop() {
        if path.iter().count() > MAX_DEPTH || size.entries > MAX_ENTRIES {
            break;
        }
        // What is removed meanwhile is not counted.
        let Ok(here) = dir.dir_beneath(&path, OpenFor::List) else { continue };
        for listed in here.list()? {
            size.entries += 1;
            if listed.kind == FileKind::Directory {
                todo.push(path.join(&listed.name));
            } else if listed.kind == FileKind::File
                && let Ok(stat) = here.child_stat(&listed.name)
            {
                size.files += 1;
                size.bytes += stat.size;
                size.oldest = size.oldest.into_iter().chain(stat.modified).min();
            }
        }
    }
    Ok(())
}
