//! What ignore rules left out of a walk, so that a second look need not walk again.
//!
//! Holds names, not what is below the directories among them.

use super::Entry;

/// Entries that are remembered. Few trees have more, since those below an ignored directory are not
/// met.
const MOST: usize = 4096;

/// The entries that a walk left out, in path order: files, and directories with all below them.
#[derive(Clone, Debug, Default)]
pub struct IgnoredEntries {
    entries: Vec<Entry>,
    more: bool,
}

impl IgnoredEntries {
    /// All of them; `None` where there were too many to remember.
    pub fn all(&self) -> Option<&[Entry]> {
        (!self.more).then_some(&self.entries)
    }

    /// Adds those of a walk that came after.
    pub fn append(&mut self, mut later: Self) {
        self.entries.append(&mut later.entries);
        self.more |= later.more;
    }

    /// That there are some which are not held.
    pub fn forget(&mut self) {
        *self = Self { entries: Vec::new(), more: true };
    }

    /// Adds one that comes after them.
    pub fn push(&mut self, entry: Entry) {
        if self.more {
            return;
        }
        if self.entries.len() < MOST {
            self.entries.push(entry);
        } else {
            self.forget();
        }
    }
}
