//! Recovery: completes or rolls back the transactions of processes that have ended.
//!
//! Before the names change, and while they do, a transaction is rolled back; once its intent says that it counts, what it
//! has replaced is removed. Both look at what each name has now, so recovery may itself be ended at any moment and
//! repeated. It acts through the handles of the roots that this process serves, under the same locks and the same rules
//! as any change.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use std::{path::PathBuf, thread};

use super::intent::{self, Unusable};
use super::intent_folder::{FoundIntent, IntentFolder, OwnIntent, Stage};
use super::roll_back::{self, UnrestoredEntry};
use super::{commit::io_error, publish, steps::Steps};
use crate::{
    state::StateDir, workspace::Shared, workspace::Workspace, write::EntryLocks, write::WaitLimit, write::WritablePath,
};
use confined_fs::{AccessError, AccessErrorKind, WorkspacePath, for_changes::Location};

/// How long another process that is recovering is waited for.
const OTHERS_RECOVER: Duration = Duration::from_secs(5);
/// Entries that a note names.
const MAX_NAMED: usize = 3;

impl Workspace {
    /// Keeps the intents of transactions in this state folder, and recovers those that are there. Without it, a
    /// transaction is all or none as long as its process lives.
    pub fn keep_intents(&self, state: &StateDir) {
        match IntentFolder::new(state) {
            Ok(folder) => drop(self.shared.intents.folder.set(folder)),
            Err(error) => tracing::warn!(%error, "changes of several files are not recovered after a crash"),
        }
    }

    /// Whether an earlier process may have left something to [`Self::recover`]. One system call where not.
    pub fn may_need_recovery(&self) -> bool {
        self.shared.intents.folder.get().is_some_and(IntentFolder::may_have_some)
    }

    /// Recovers the transactions of processes that have ended, so that nobody sees half of one. What cannot be
    /// recovered now stays, and is tried again.
    pub fn recover(&self, wait_limit: &WaitLimit) {
        let intents = &self.shared.intents;
        let Some(folder) = intents.folder.get() else { return };
        // What a panic interrupted is found again.
        let _alone = intents.recovering.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match folder.list() {
            Ok(found) => found,
            Err(error) => return tracing::warn!(%error, "the folder of transactions cannot be read"),
        };
        for found in found {
            if let Err(error) = recover_one(&self.shared, folder, found, wait_limit) {
                tracing::warn!(%error, id = %format_args!("{:016x}", found.id), "a transaction is not recovered yet");
            }
        }
    }

    /// The locks of these entries, with no part of an interrupted transaction in them: a process may have ended while its
    /// locks were waited for, and what it left would be taken for the content that is there.
    ///
    /// # Errors
    /// Those of [`EntryLocks::hold`], about `asked`.
    pub(crate) fn hold_recovered(
        &self,
        entries: &[&WorkspacePath],
        asked: &WorkspacePath,
        wait_limit: &WaitLimit,
    ) -> Result<EntryLocks, AccessError> {
        let began = Instant::now();
        loop {
            let locks = EntryLocks::hold(&self.shared, entries, wait_limit);
            let locks = locks.map_err(|kind| AccessError::new(kind, asked))?;
            if !self.may_need_recovery() || !self.are_in_intents(entries) {
                return Ok(locks);
            }
            if began.elapsed() > OTHERS_RECOVER {
                tracing::warn!("an interrupted change of files that are about to be changed is not recovered");
                return Ok(locks);
            }
            // Recovery needs the locks, in this process or in the one that was first.
            drop(locks);
            self.recover(wait_limit);
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The path that an error of a change of several entries is about: the first of them.
    pub(crate) fn first_asked(&self, entries: &[&WritablePath]) -> WorkspacePath {
        entries.first().map_or_else(|| self.root_path(&self.roots()[0]), |entry| entry.asked().clone())
    }

    /// Whether a transaction that has not come to its end names one of these entries, or what is above or below one.
    /// Under their locks it is one whose process has ended: it would have the locks.
    fn are_in_intents(&self, entries: &[&WorkspacePath]) -> bool {
        let intents = &self.shared.intents;
        let Some(folder) = intents.folder.get() else { return false };
        let entries: Vec<PathBuf> = entries.iter().map(|entry| entry.host()).collect();
        let names_one = |found: &FoundIntent| {
            // Locked against reading, as on Windows, it is taken for that of a living process.
            let Ok(bytes) = folder.read(*found) else { return false };
            let Ok(steps) = intent::read(&bytes, found.id, self.shared.roots()) else { return false };
            let mut paths = steps.paths().map(WorkspacePath::host);
            paths.any(|path| entries.iter().any(|entry| path.starts_with(entry) || entry.starts_with(&path)))
        };
        let may_be_half = |found: &FoundIntent| matches!(found.stage, Stage::Begun | Stage::Ready | Stage::RollingBack);
        folder.list().is_ok_and(|found| found.iter().any(|found| may_be_half(found) && names_one(found)))
    }

    /// Takes the sentences of recovery for the next answer; each is reported once.
    pub fn take_recovery_notes(&self) -> Vec<String> {
        self.shared.intents.take_notes()
    }
}

fn recover_one(
    shared: &Arc<Shared>,
    folder: &IntentFolder,
    found: FoundIntent,
    wait_limit: &WaitLimit,
) -> std::io::Result<()> {
    let began = Instant::now();
    let own = loop {
        match folder.claim(found) {
            // Its process lives: nobody but a recovery is waited for.
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                let is_recovering = found.stage == Stage::RollingBack && began.elapsed() < OTHERS_RECOVER;
                if !is_recovering || wait_limit.ended() {
                    return Ok(());
                }
                thread::sleep(Duration::from_millis(1));
            }
            claimed => match claimed? {
                Some(own) => break own,
                None => return Ok(()),
            },
        }
    };
    if own.stage == Stage::Writing {
        // Nothing is done before the intent is whole.
        return own.remove();
    }
    let mut steps = match intent::read(&own.read()?, own.id, shared.roots()) {
        Ok(steps) if all_allowed(shared, &steps) => steps,
        Ok(_) | Err(Unusable::Foreign) => {
            tracing::info!("a transaction is left to a process that serves its directories and may change them");
            folder.ignore(own.id);
            return Ok(());
        }
        Err(Unusable::Damaged(why)) => {
            tracing::warn!(why, "the intent of a transaction is damaged");
            shared.intents.note(format!(
                "the record of an interrupted change is damaged, so what it left was not put back; former contents may \
                 be in files named .rootbound-{:016x}-N.txn",
                own.id
            ));
            // Reported once, even where it cannot be renamed.
            return own.set_aside().inspect_err(|_| folder.ignore(own.id));
        }
    };
    let paths: Vec<&WorkspacePath> = steps.paths().collect();
    let _locks = match EntryLocks::hold(shared, &paths, wait_limit) {
        Ok(locks) => locks,
        Err(AccessErrorKind::Stopped) => return Ok(()),
        Err(kind) => return Err(std::io::Error::other(format!("its files cannot be locked: {kind:?}"))),
    };
    steps.journal = Some(own.folder()?);
    match own.stage {
        Stage::Done => complete(shared, own, &steps),
        Stage::Begun => remove_prepared(own, &steps),
        _ => roll_back_interrupted(shared, own, &steps),
    }
}

/// Rolls back a transaction whose names may have changed.
fn roll_back_interrupted(shared: &Shared, mut own: OwnIntent, steps: &Steps<'_>) -> std::io::Result<()> {
    if own.stage == Stage::Ready {
        // Before the first name goes back: other processes wait for a recovery alone, which is known by this stage.
        own.record_stage(Stage::RollingBack)?;
    }
    let rolled = roll_back::roll_back(steps);
    publish::sync(steps).map_err(io_error)?;
    if let Some(error) = rolled.error {
        shared.intents.note(format!("{} could not be rolled back yet: {error}", of_files(shared, steps)));
        return Err(error);
    }
    tracing::warn!(files = steps.list.len(), "an interrupted change was rolled back");
    shared.intents.note(format!("{} was rolled back{}", of_files(shared, steps), but(&rolled.not_restored)));
    own.record_stage(Stage::Begun)?;
    remove_prepared(own, steps)
}

fn remove_prepared(own: OwnIntent, steps: &Steps<'_>) -> std::io::Result<()> {
    roll_back::remove_new(steps)?;
    own.remove()
}

/// Removes what a transaction that counts has replaced.
fn complete(shared: &Shared, own: OwnIntent, steps: &Steps<'_>) -> std::io::Result<()> {
    let rolled = roll_back::remove_old(steps, false);
    if let Some(error) = rolled.error {
        return Err(error);
    }
    if !rolled.not_restored.is_empty() {
        shared.intents.note(format!("{} was completed{}", of_files(shared, steps), but(&rolled.not_restored)));
    }
    own.remove()
}

/// Whether this process may change everything in it: its rules may be stricter.
fn all_allowed(shared: &Shared, steps: &Steps<'_>) -> bool {
    let is_allowed = |path: &WorkspacePath| {
        // Below a nested root its rules count, which may be stricter than those of the root that the intent names.
        !path.root().is_unusable()
            && shared.deepest(path) == *path
            && WritablePath::new(path, Location::direct(path.clone())).is_ok()
    };
    steps.paths().all(is_allowed)
}

fn of_files(shared: &Shared, steps: &Steps<'_>) -> String {
    // Names below an untrusted root are not repeated outside of a fence.
    if steps.paths().any(|path| path.root().is_untrusted() || shared.deepest(path).root().is_untrusted()) {
        return format!("an interrupted change of {} entries", steps.list.len());
    }
    let paths: Vec<String> = steps.list.iter().take(MAX_NAMED).map(|step| step.path.to_string()).collect();
    let more = match steps.list.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("an interrupted change of {}{more}", paths.join(", "))
}

fn but(left: &[UnrestoredEntry]) -> String {
    let list: Vec<String> = left.iter().take(MAX_NAMED).map(|left| format!("{} {}", left.path, left.how)).collect();
    match left.len().saturating_sub(MAX_NAMED) {
        _ if left.is_empty() => String::new(),
        0 => format!(", but {}", list.join("; ")),
        more => format!(", but {}; and {more} more", list.join("; ")),
    }
}
