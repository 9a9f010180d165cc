//! The states of a file that a caller may have made its content from, and the overwrites that were refused for that.

use std::sync::Arc;

use crate::workspace::{Revision, WorkspacePath};

use super::{Key, Ledger, Seen};

/// Overwrites remembered that were refused once.
const REFUSED: usize = 64;

/// What is known of the states of a file.
#[derive(Clone, Debug, Default)]
pub struct KnownStates {
    /// Those whose content is kept, the oldest first.
    pub seen: Vec<Seen>,
    /// How often the file was read from its first line.
    pub readings: u32,
    /// Whether this server made the file before anybody read it: one caller more that knows it.
    pub is_own: bool,
}

impl Ledger {
    /// The file at the real path `path` was shown from its first line on.
    pub fn count_reading(&self, path: &WorkspacePath) {
        if let Some(sighting) = self.memory().files.get_mut(&Key::of(path)) {
            sighting.readings = sighting.readings.saturating_add(1);
        }
    }

    /// As [`Self::saw`], of what this server made of the file for `by`.
    pub fn made(&self, path: &WorkspacePath, revision: Revision, content: &[u8], by: Option<&Arc<str>>) {
        self.saw(path, revision, Some(content));
        let (key, mut memory) = (Key::of(path), self.memory());
        // The file may be what it was before: to undo the change that made it so is another thing.
        memory.refused.retain(|(refused, ..)| *refused != key);
        if let Some(sighting) = memory.files.get_mut(&key) {
            sighting.is_own |= sighting.readings == 0;
            sighting.seen.by = by.cloned();
        }
    }

    /// The states of the file at the real path `path` that are in memory.
    pub fn states(&self, path: &WorkspacePath) -> KnownStates {
        let memory = self.memory();
        memory.files.get(&Key::of(path)).map_or_else(KnownStates::default, |known| {
            let mut seen: Vec<Seen> = known.all().filter(|seen| seen.content.is_some()).cloned().collect();
            seen.reverse();
            KnownStates { seen, readings: known.readings, is_own: known.is_own }
        })
    }

    /// Whether it is the first time that replacing the content `now` of the file at the real path `path` by `new` is
    /// refused.
    pub fn refuse_once(&self, path: &WorkspacePath, now: Revision, new: Revision) -> bool {
        let refused = &mut self.memory().refused;
        let this = (Key::of(path), now, new);
        let is_new = !refused.contains(&this);
        if is_new {
            refused.push_back(this);
            refused.drain(..refused.len().saturating_sub(REFUSED));
        }
        is_new
    }
}
