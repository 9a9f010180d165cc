//! The folder of intents in the state folder: one small file for each transaction that is going on, or was when its
//! process ended; and what one workspace knows of it.
//!
//! The name of the file says how far the transaction is, so that one rename on the disk is the moment from which it
//! counts. Its owner holds a lock on it (flock(2), or on Windows that no other may open it) that the system frees with
//! the process; the next process that gets the lock recovers. Limits: where the state folder's file system has no
//! locks, no intent is written.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};
use std::{collections::HashSet, fs::File};

use beneath::{OpenFor, Stat};

use crate::state::StateDir;
use beneath::Dir;
use confined_fs::for_changes::IfThere as _;

/// The folder below the state folder.
const FOLDER: &str = "transactions";
/// Bytes of the largest intent that is read.
const MAX_INTENT_BYTES: u64 = 32 << 20;
/// A folder that was written to this recently may be again without its time showing it; as `CLOCK_GRAIN` of file contents.
const SETTLED_AFTER: Duration = Duration::from_secs(4);

/// Notes that wait for an answer to be in.
const MAX_NOTES: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The intent is being written; nothing else is done.
    Writing,
    /// New entries are being made under reserved names.
    Begun,
    /// All new entries are complete, and names change.
    Ready,
    /// It is being rolled back by recovery, which others wait for.
    RollingBack,
    /// It counts; what has gone is being removed.
    Done,
}

impl Stage {
    const ALL: [(Self, &str); 5] = [
        (Self::Writing, ".new"),
        (Self::Begun, ".begun"),
        (Self::Ready, ".ready"),
        (Self::RollingBack, ".back"),
        (Self::Done, ".done"),
    ];

    fn suffix(self) -> &'static str {
        Self::ALL.iter().find(|(stage, _)| *stage == self).map_or("", |(_, suffix)| suffix)
    }
}

/// The folder, as one process knows it.
#[derive(Debug)]
pub(crate) struct IntentFolder {
    state: StateDir,
    look: Mutex<LastLook>,
}

#[derive(Debug, Default)]
struct LastLook {
    folder: Option<Dir>,
    /// The state of the folder in which it was seen to hold none that is not ignored.
    empty: Option<Stat>,
    /// Intents that this process cannot recover.
    ignored: HashSet<u64>,
}

/// An intent whose lock this process has.
#[derive(Debug)]
pub(super) struct OwnIntent {
    folder: Dir,
    pub(super) id: u64,
    pub(super) stage: Stage,
    /// Open as long as this process has the lock.
    file: File,
}

/// An intent that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundIntent {
    pub(super) id: u64,
    pub(super) stage: Stage,
}

impl IntentFolder {
    /// The folder below `state`. Nothing is made before there is an intent.
    pub(crate) fn new(state: &StateDir) -> io::Result<Self> {
        Ok(Self { state: state.try_clone()?, look: Mutex::default() })
    }

    /// Whether there may be intents: one system call where there are none.
    pub(crate) fn may_have_some(&self) -> bool {
        let mut look = self.look.lock().unwrap_or_else(PoisonError::into_inner);
        look.may_have_some(self.state.dir()).unwrap_or(true)
    }

    /// Writes an intent down; on the disk when it returns.
    pub(super) fn begin(&self, id: u64, text: &[u8]) -> io::Result<OwnIntent> {
        let folder = self.state.folder(FOLDER)?.dir().try_clone()?;
        let name = file_name(id, Stage::Writing);
        let file = folder.create_locked(&name).inspect_err(|_| {
            // Made, but without a lock.
            let _ = folder.remove(&name);
        })?;
        let mut own = OwnIntent { folder, id, stage: Stage::Writing, file };
        let begun = beneath::write_all(&own.file, text)
            .and_then(|()| beneath::sync_all(&own.file))
            .and_then(|()| own.record_stage(Stage::Begun));
        match begun {
            Ok(()) => Ok(own),
            Err(error) => {
                let _ = own.remove();
                Err(error)
            }
        }
    }

    /// This process cannot recover that one.
    pub(super) fn ignore(&self, id: u64) {
        self.look.lock().unwrap_or_else(PoisonError::into_inner).ignored.insert(id);
    }

    /// The intents that are there and not ignored, in no order.
    pub(super) fn list(&self) -> io::Result<Vec<FoundIntent>> {
        let folder = self.state.dir().child_dir(OsStr::new(FOLDER), OpenFor::List).if_there()?;
        let Some(folder) = folder else { return Ok(Vec::new()) };
        let look = self.look.lock().unwrap_or_else(PoisonError::into_inner);
        let found = folder.list()?.into_iter().filter_map(|listed| FoundIntent::of(&listed.name));
        Ok(found.filter(|found| !look.ignored.contains(&found.id)).collect())
    }

    /// Reads an intent, whoever has its lock.
    pub(super) fn read(&self, found: FoundIntent) -> io::Result<Vec<u8>> {
        let folder = self.state.dir().child_dir(OsStr::new(FOLDER), OpenFor::Traverse)?;
        let mut bytes = Vec::new();
        folder.child_file(&file_name(found.id, found.stage))?.take(MAX_INTENT_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Takes the lock of an intent, if its process has ended; `None` where it is gone, or at another stage.
    ///
    /// # Errors
    /// `WouldBlock` where its process lives; those of the system.
    pub(super) fn claim(&self, FoundIntent { id, stage }: FoundIntent) -> io::Result<Option<OwnIntent>> {
        let folder = self.state.dir().child_dir(OsStr::new(FOLDER), OpenFor::Traverse)?;
        let name = file_name(id, stage);
        let Some(file) = folder.open_locked(&name).if_there()? else { return Ok(None) };
        let own = OwnIntent { folder, id, stage, file };
        // It may have been moved on, or removed, before the lock was taken.
        let seen = beneath::file_stat(&own.file)?;
        let is_same = own.folder.child_stat(&name).is_ok_and(|now| now.same_file(&seen));
        Ok(is_same.then_some(own))
    }
}

impl LastLook {
    fn may_have_some(&mut self, state: &Dir) -> io::Result<bool> {
        for _ in 0..2 {
            let folder = match &self.folder {
                Some(folder) => folder,
                None => match state.child_dir(OsStr::new(FOLDER), OpenFor::List).if_there()? {
                    None => return Ok(false),
                    Some(folder) => self.folder.insert(folder),
                },
            };
            let now = folder.stat()?;
            if now.links() == 0 && cfg!(unix) {
                // The folder was removed, and may be there again.
                (self.folder, self.empty) = (None, None);
                continue;
            }
            if self.empty.as_ref().is_some_and(|empty| empty.same_file_state(&now)) {
                return Ok(false);
            }
            // By a new handle: a second listing through the same one goes on where the first one ended (getdents(2)).
            let mut names = folder.reopen(OpenFor::List)?.list()?.into_iter();
            let some =
                names.any(|one| FoundIntent::of(&one.name).is_some_and(|found| !self.ignored.contains(&found.id)));
            let settled = now.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
            self.empty = (!some && settled.is_some_and(|age| age > SETTLED_AFTER)).then_some(now);
            return Ok(some);
        }
        Ok(true)
    }
}

impl OwnIntent {
    /// Reads its text, at most [`MAX_INTENT_BYTES`] bytes.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // Through the handle that has the lock, which keeps others from reading on Windows.
        (&self.file).take(MAX_INTENT_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The folder, for the contents of files that are written in place.
    pub(super) fn folder(&self) -> io::Result<Dir> {
        self.folder.try_clone()
    }

    /// Notes on the disk that the transaction is at another stage.
    ///
    /// # Errors
    /// With the stage that it had.
    pub(super) fn record_stage(&mut self, stage: Stage) -> io::Result<()> {
        let (from, to) = (file_name(self.id, self.stage), file_name(self.id, stage));
        // In one step on every file system: with two names it would be at two stages.
        self.folder.move_over(&from, &self.folder, &to)?;
        if let Err(error) = self.folder.sync() {
            // Where it cannot go back, it counts for every process, and a power failure alone may take it back.
            if self.folder.move_over(&to, &self.folder, &from).is_ok() {
                return Err(error);
            }
        }
        self.stage = stage;
        Ok(())
    }

    /// Sets a damaged intent aside, where nothing looks for it.
    pub(super) fn set_aside(&self) -> io::Result<()> {
        let mut kept = file_name(self.id, self.stage);
        kept.push(".damaged");
        self.folder.rename_new(&file_name(self.id, self.stage), &kept)
    }

    pub(super) fn remove(self) -> io::Result<()> {
        self.folder.remove(&file_name(self.id, self.stage))
    }
}

impl FoundIntent {
    fn of(name: &OsStr) -> Option<Self> {
        let (digits, _) = name.to_str()?.split_at_checked(16)?;
        let id = u64::from_str_radix(digits, 16).ok()?;
        let is_at = |stage: &Stage| file_name(id, *stage) == *name;
        let stage = Stage::ALL.iter().map(|(stage, _)| *stage).find(is_at)?;
        Some(Self { id, stage })
    }
}

fn file_name(id: u64, stage: Stage) -> OsString {
    OsString::from(format!("{id:016x}{}", stage.suffix()))
}

impl StateDir {
    /// Removes what is left of transactions that nobody recovers: damaged intents, and contents without an intent.
    pub fn remove_unrecoverable(&self) -> io::Result<()> {
        let folder = self.dir().child_dir(OsStr::new(FOLDER), OpenFor::List).if_there()?;
        let Some(folder) = folder else { return Ok(()) };
        let left = folder.list()?;
        // Listed once more: an intent comes before its contents, and a listing may miss one that gets another name.
        let again = folder.reopen(OpenFor::List)?.list()?;
        let intents: HashSet<u64> =
            left.iter().chain(&again).filter_map(|one| FoundIntent::of(&one.name)).map(|found| found.id).collect();
        let is_needed = |name: &str| {
            let id = name.strip_prefix(".rootbound-").unwrap_or(name).get(..16);
            id.and_then(|id| u64::from_str_radix(id, 16).ok()).is_none_or(|id| intents.contains(&id))
        };
        let mut gone = left.iter().filter(|one| one.name.to_str().is_some_and(|name| !is_needed(name)));
        gone.try_for_each(|one| folder.remove(&one.name).if_there().map(drop))
    }
}

/// The folder of intents, once there is a state folder, and what recovery has to report.
#[derive(Debug, Default)]
pub(crate) struct Intents {
    pub(super) folder: OnceLock<IntentFolder>,
    /// Held while this process recovers, so that its other calls wait for that.
    pub(super) recovering: Mutex<()>,
    notes: Mutex<Vec<String>>,
}

impl Intents {
    pub(crate) fn are_kept(&self) -> bool {
        self.folder.get().is_some()
    }

    /// Adds a sentence for the next answer.
    pub(super) fn note(&self, note: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < MAX_NOTES && !notes.contains(&note) {
            notes.push(note);
        }
    }

    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
