//! Committing a transaction: the intent, the new entries, the names, and the moment from which it counts.

use crate::write::random;
use crate::{AccessError, Approval, AtPath as _, NewDirectory, WorkspacePath};

use super::builder::Transaction;
use super::intent_folder::{IntentFolder, OwnIntent, Stage};
use super::roll_back::{self, LeftEntry};
use super::step::{EntryState, StepAction};
use super::steps::{self, Steps};
use super::{intent, prepare, publish};

/// What a transaction did.
#[derive(Debug)]
pub struct CommittedTransaction {
    /// Every directory that it made, the outermost first.
    pub made: Vec<NewDirectory>,
    /// Whether it would have been all or none also if the process had been killed in the middle.
    pub survives_a_kill: bool,
}

/// Why a transaction was not made.
#[derive(Debug)]
pub struct CommitError {
    /// What prevented it.
    pub error: AccessError,
    /// Entries that are not as before; none, but where another program acted or the system refused something.
    pub left: Vec<LeftEntry>,
}

impl From<AccessError> for CommitError {
    fn from(error: AccessError) -> Self {
        Self { error, left: Vec::new() }
    }
}

impl Transaction<'_> {
    /// Makes all steps, or none. `note` is called while the locks are still held.
    ///
    /// # Errors
    /// With everything as it was, but for what [`CommitError::left`] says.
    pub fn commit(
        mut self,
        _: Approval,
        note: impl FnOnce(&CommittedTransaction),
    ) -> Result<CommittedTransaction, CommitError> {
        self.add_missing_directories()?;
        self.net_directories();
        self.steps.sort_by_key(|(step, ..)| steps::order(step));
        let (mut list, mut material, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for (step, own, stat) in std::mem::take(&mut self.steps) {
            list.push(step);
            material.push(own);
            seen.push(stat);
        }
        let steps = Steps::new(random(), list);
        self.sweep(&steps);
        let mut intent = begin_intent(self.shared.intents.folder.get(), &steps);
        let made = prepare::prepare(&steps, &material, &seen, &self.wait_limit)
            .and_then(|()| made_directories(&steps))
            .and_then(|made| move_to(&mut intent, Stage::Ready, &steps).map(|()| made));
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                remove_prepared(&steps, intent);
                return Err(error.into());
            }
        };
        let done = publish::publish(&steps, &seen)
            .and_then(|()| publish::sync(&steps))
            .and_then(|()| move_to(&mut intent, Stage::Done, &steps));
        if let Err(error) = done {
            return Err(CommitError { error, left: undo(&steps, intent) });
        }
        let committed = CommittedTransaction { made, survives_a_kill: intent.is_some() };
        note(&committed);
        match (roll_back::remove_old(&steps, true).error, intent) {
            (None, intent) => intent.into_iter().for_each(forget),
            (Some(error), _) => {
                tracing::warn!(%error, "what a change has replaced is still there under a reserved name");
            }
        }
        Ok(committed)
    }

    /// Removes temporary files that an earlier process left behind in the directories of the entries.
    fn sweep(&self, steps: &Steps) {
        for parent in steps.paths().filter(|path| !steps.is_in_new(path)).filter_map(WorkspacePath::parent) {
            if let Ok(dir) = steps.directory(&parent) {
                self.shared.stale_temporaries.sweep_once(&parent, &dir);
            }
        }
    }
}

/// The new directories, which are still under reserved names.
fn made_directories(steps: &Steps) -> Result<Vec<NewDirectory>, AccessError> {
    let new =
        steps.list().iter().filter(|step| matches!(step.action, StepAction::Create { is: EntryState::Directory }));
    new.map(|step| {
        let stat = steps.directory(&step.path).and_then(|dir| dir.stat()).at(&step.path)?;
        Ok(NewDirectory::of(step.path.clone(), stat))
    })
    .collect()
}

/// Records the steps in the state folder; `None` where that is not possible.
fn begin_intent(folder: Option<&IntentFolder>, steps: &Steps) -> Option<OwnIntent> {
    let folder = folder.filter(|_| !steps.list().is_empty())?;
    let begun = folder.begin(steps.id(), &intent::write(steps)?);
    begun.inspect_err(|error| tracing::warn!(%error, "a change of several files would not survive a kill")).ok()
}

/// Notes how far the transaction is. The error is that of its first entry.
fn move_to(intent: &mut Option<OwnIntent>, stage: Stage, steps: &Steps) -> Result<(), AccessError> {
    let (Some(intent), Some(step)) = (intent, steps.list().first()) else { return Ok(()) };
    intent.move_to(stage).map_err(|error| AccessError::from_io(error, &step.path))
}

/// Makes everything as it was. Returns what is not.
fn undo(steps: &Steps, mut intent: Option<OwnIntent>) -> Vec<LeftEntry> {
    let rolled = roll_back::roll_back(steps);
    let _ = publish::sync(steps);
    let noted = match rolled.error {
        Some(error) => Err(error),
        None => intent.as_mut().map_or(Ok(()), |intent| intent.move_to(Stage::Begun)),
    };
    match noted {
        Ok(()) => remove_prepared(steps, intent),
        // The intent stays: recovery tries again.
        Err(error) => tracing::warn!(%error, "a change could not be rolled back"),
    }
    rolled.left
}

/// Removes the new entries.
fn remove_prepared(steps: &Steps, intent: Option<OwnIntent>) {
    match roll_back::remove_new(steps) {
        Ok(()) => intent.into_iter().for_each(forget),
        Err(error) => tracing::warn!(%error, "what a change was to write is still there under a reserved name"),
    }
}

fn forget(intent: OwnIntent) {
    if let Err(error) = intent.remove() {
        tracing::debug!(%error, "the intent of a transaction that is over is still there");
    }
}
