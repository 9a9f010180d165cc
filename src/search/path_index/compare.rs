//! The comparison of a list with the disk, for writes that cause no event.

use std::sync::Arc;

use super::{Item, Listed};
use crate::workspace::{Changes, StatCache, WorkspacePath};

impl Listed {
    /// Brings the list up to date for an answer. While some process can write by Linux AIO, and once after
    /// that, all that is known is compared with the disk: a stat of each file, which is a tenth of what
    /// searching them all takes. False when only a new survey helps.
    pub(super) fn refresh_and_compare(&mut self) -> bool {
        let refreshed = self.refresh();
        if !refreshed || !self.written_silently {
            return refreshed;
        }
        // As of before the comparison: what is written from now on is the next answer's matter.
        self.written_silently = self.watcher.has_silent_writers();
        let list = Arc::clone(&self.list);
        let changed = changed(list.items.iter());
        drop(list);
        self.renew(&changed);
        self.compare_rules()
    }

    /// Looks whether files of ignore rules are in the state in which they were read; false when only a
    /// new survey helps.
    pub(super) fn compare_rules(&mut self) -> bool {
        let changes = Changes { trees: self.watcher.changed_rules().into_iter().collect(), ..Changes::default() };
        self.take_in(&changes)
    }
}

/// The files whose state is no longer the known one, each with the number of that state.
pub(super) fn changed<'i>(items: impl IntoIterator<Item = &'i Arc<Item>>) -> Vec<(WorkspacePath, u64)> {
    let mut stats = StatCache::default();
    let changed = items.into_iter().filter(|item| !item.is_as_known(&mut stats));
    changed.map(|item| (item.entry.path().clone(), item.id)).collect()
}
