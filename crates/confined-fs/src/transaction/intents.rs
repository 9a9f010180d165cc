//! What one workspace knows of the intents in its state folder.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::intent_folder::IntentFolder;

/// Notes that wait for an answer to be in.
const NOTES: usize = 20;

/// The folder of intents, once there is a state folder, and what recovery has to report.
#[derive(Debug, Default)]
pub(crate) struct Intents {
    pub(super) folder: OnceLock<IntentFolder>,
    /// Held while this process recovers, so that its other calls wait for that.
    pub(super) recovering: Mutex<()>,
    notes: Mutex<Vec<String>>,
}

impl Intents {
    /// Adds a sentence for the next answer.
    pub(super) fn note(&self, note: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < NOTES && !notes.contains(&note) {
            notes.push(note);
        }
    }

    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
