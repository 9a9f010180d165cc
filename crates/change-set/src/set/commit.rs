//! Committing steps: the intent, the new entries, the names, and the moment from which it counts.

use std::{io, sync::Arc};

use beneath::{OpenFor, Stat};

use super::intent_folder::{IntentFolder, OwnIntent, Stage};
use super::steps::{NewFile, Step, Steps};
use super::{UnrestoredEntry, intent, publish, publish::Prepared, roll_back};
use crate::write::{NewContent, random};
use crate::{
    tree::EntryChange, tree::EntryState, tree::Rights, workspace::Shared, write::NewDirectory, write::WaitLimit,
};
use beneath::Dir;
use confined_fs::{AccessError, AccessErrorKind, Revision, WorkspacePath, for_changes::AtPath as _};

/// A transaction that counts.
#[derive(Debug)]
pub struct CommittedSet {
    /// Every directory that it made, the outermost first.
    pub made: Vec<NewDirectory>,
    /// Whether it would have been all or none also if the process had been killed in the middle.
    pub survives_a_kill: bool,
}

/// Why a transaction was not made.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct CommitError {
    /// The error before which everything was rolled back.
    #[source]
    pub error: AccessError,
    /// Entries that are not as before; none, but where another program acted or the system refused something.
    pub not_restored: Vec<UnrestoredEntry>,
}

impl From<AccessError> for CommitError {
    fn from(error: AccessError) -> Self {
        Self { error, not_restored: Vec::new() }
    }
}

/// Makes all steps, or none. `note` is called while the locks are still held, which the caller has.
///
/// # Errors
/// With everything as it was, but for what [`CommitError::not_restored`] says.
pub(super) fn commit_steps(
    shared: &Shared,
    mut steps: Steps<'_>,
    (directories, wait_limit): (&[(WorkspacePath, Rights)], &WaitLimit),
    note: impl FnOnce(&CommittedSet),
) -> Result<CommittedSet, CommitError> {
    let mut intent = begin_intent(shared.intents.folder.get(), &steps);
    steps.journal = intent.as_ref().and_then(|intent| intent.folder().ok());
    let mut prepared = Prepared::default();
    let made = publish::prepare(&steps, wait_limit, &mut prepared)
        .and_then(|()| made_directories(&steps))
        .and_then(|made| record_stage(&mut intent, Stage::Ready, &steps).map(|()| made));
    let made = match made {
        Ok(made) => made,
        Err(error) => {
            remove_prepared(&steps, &prepared, intent);
            return Err(error.into());
        }
    };
    let mut former = Vec::new();
    let done = give(directories, &mut former)
        .and_then(|()| publish::publish(&steps))
        .and_then(|()| publish::sync(&steps))
        .and_then(|()| record_stage(&mut intent, Stage::Done, &steps));
    if let Err(error) = done {
        for (dir, rights) in former {
            let _ = dir.give(&rights);
        }
        return Err(CommitError { error, not_restored: roll_back_published(&steps, &prepared, intent) });
    }
    let committed = CommittedSet { made, survives_a_kill: intent.is_some() };
    note(&committed);
    match (roll_back::remove_old(&steps, true).error, intent) {
        (None, intent) => intent.into_iter().for_each(forget),
        (Some(error), _) => {
            // The intent stays, with its lock free as soon as it is dropped: recovery removes them.
            tracing::warn!(%error, "what a change has replaced is still there under a reserved name");
        }
    }
    Ok(committed)
}

/// Gives directories their rights, of a mode alone no more than they have; `former` gets each with those that it had.
fn give(
    directories: &[(WorkspacePath, Rights)],
    former: &mut Vec<(Dir, beneath::Attributes)>,
) -> Result<(), AccessError> {
    for (path, rights) in directories {
        let dir = path.root().dir().dir_beneath(path.relative(), OpenFor::Traverse).at(path)?;
        let now = dir.attributes().at(path)?;
        match &rights.attributes {
            Some(wanted) => dir.give(wanted),
            None => dir.set_mode(now.mode & (rights.mode | 0o1000)),
        }
        .at(path)?;
        former.push((dir, now));
    }
    Ok(())
}

/// Writes a file in place that holds a content of the revision `old`, and gets these rights; a kill leaves that or the new
/// one, after recovery.
///
/// # Errors
/// With the file as it was, as far as the system lets it be put back.
pub(crate) fn commit_in_place<T>(
    shared: &Shared,
    path: &WorkspacePath,
    (seen, old): (&Stat, Revision),
    (content, rights): (&NewContent<'_>, &Rights),
    note: impl FnOnce() -> T,
) -> Result<T, AccessError> {
    let step = Step {
        seen: Some(seen.clone()),
        file: Some(NewFile::Content {
            content: Arc::new(content.clone()),
            rights: rights.clone(),
            like: None,
            stays: true,
        }),
        ..Step::from(EntryChange::new(path, Some(old.into()), Some(content.revision().into())))
    };
    let mut noted = None;
    let steps = Steps::new(random(), vec![step]);
    let done = commit_steps(shared, steps, (&[], &WaitLimit::default()), |_| noted = Some(note()));
    done.map_err(|CommitError { error, not_restored }| {
        let Some(left) = not_restored.first() else { return error };
        let why = format!("{error}, and it {}", left.how);
        AccessError { kind: AccessErrorKind::Io, source: Some(io::Error::other(why)), ..error }
    })?;
    noted.ok_or_else(|| AccessError::new(AccessErrorKind::Io, path))
}

/// The new directories, which are still under reserved names.
fn made_directories(steps: &Steps<'_>) -> Result<Vec<NewDirectory>, AccessError> {
    let new = steps.list.iter().filter(|step| matches!(step.made(), Some(EntryState::Directory { .. })));
    new.map(|step| {
        let stat = steps.directory(&step.path).and_then(|dir| dir.stat()).at(&step.path)?;
        Ok(NewDirectory::of(step.path.clone(), stat))
    })
    .collect()
}

/// Records the steps in the state folder; `None` where that is not possible.
fn begin_intent(folder: Option<&IntentFolder>, steps: &Steps<'_>) -> Option<OwnIntent> {
    let folder = folder.filter(|_| !steps.list.is_empty())?;
    let begun = folder.begin(steps.id, &intent::write(steps)?);
    // Without an intent the change is still all or none as long as this process lives.
    begun.inspect_err(|error| tracing::warn!(%error, "a change of several files would not survive a kill")).ok()
}

/// Notes how far the transaction is. The error is that of its first entry.
fn record_stage(intent: &mut Option<OwnIntent>, stage: Stage, steps: &Steps<'_>) -> Result<(), AccessError> {
    let (Some(intent), Some(step)) = (intent, steps.list.first()) else { return Ok(()) };
    intent.record_stage(stage).map_err(|error| AccessError::from_io(error, &step.path))
}

/// The answer of the system that an error of `publish::sync` is about.
pub(super) fn io_error(error: AccessError) -> io::Error {
    error.source.unwrap_or_else(|| io::ErrorKind::Other.into())
}

/// Makes everything as it was. Returns what is not.
fn roll_back_published(steps: &Steps<'_>, prepared: &Prepared, mut intent: Option<OwnIntent>) -> Vec<UnrestoredEntry> {
    let rolled = roll_back::roll_back(steps);
    let synced = publish::sync(steps);
    let noted = match (rolled.error, intent.as_mut()) {
        (Some(error), _) => Err(error),
        (None, None) => Ok(()),
        // Only with the old names on the disk: after a power failure the new ones may be there again, and recovery puts
        // nothing back for an intent of that stage.
        (None, Some(intent)) => synced.map_err(io_error).and_then(|()| intent.record_stage(Stage::Begun)),
    };
    match noted {
        Ok(()) => remove_prepared(steps, prepared, intent),
        // The intent stays: recovery tries again.
        Err(error) => tracing::warn!(%error, "a change could not be rolled back"),
    }
    rolled.not_restored
}

fn remove_prepared(steps: &Steps<'_>, prepared: &Prepared, intent: Option<OwnIntent>) {
    prepared.remove_in_opened(steps);
    match roll_back::remove_new(steps) {
        Ok(()) => intent.into_iter().for_each(forget),
        // The intent stays: recovery removes them.
        Err(error) => tracing::warn!(%error, "what a change was to write is still there under a reserved name"),
    }
}

fn forget(intent: OwnIntent) {
    if let Err(error) = intent.remove() {
        tracing::debug!(%error, "the intent of a transaction that is over is still there");
    }
}
