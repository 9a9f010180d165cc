//! Whether what is read of a file now may be kept by its stat for other processes, which see no events.
//!
//! Equal facts prove equal content only if nothing can be written from now on without another time:
//!
//! - A write within the clock tick of the last change gives the file no other time. Times of a file have the
//!   granularity of the kernel's tick, on some file systems of a second, so both must be [`TICK`] old, as git demands of
//!   a file before it trusts its stat ([racy-git]).
//! - A store into a shared mapping changes the times only with the first store after the page was written back, which
//!   write-protects it (`clear_page_dirty_for_io`). So what was dirty when it was read may change under the same facts.
//!   The kernel begins to write pages back 30 s after they became dirty (`dirty_expire_centisecs`) and looks every 5 s: a
//!   file whose times are [`WRITTEN_BACK`] old is trusted, and one that is older than a `syncfs`(2) of this process.
//!
//! [racy-git]: https://git-scm.com/docs/racy-git

use std::time::{Duration, SystemTime};

use confined_fs::{StatFacts, WorkspacePath};

use super::PathList;

/// How old the times of a file must be, so that a later write within the same tick of the clock would show in them.
pub(super) const TICK: Duration = Duration::from_secs(2);
/// Longer than the kernel lets a page be dirty by default: 35 s.
const WRITTEN_BACK: Duration = Duration::from_secs(60);
/// Files that are looked at for whether many were changed a short while ago.
const SAMPLE: usize = 128;

/// Before which moment the times of a file must be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settled {
    /// When the file system was last asked to write everything back.
    written_back: Option<SystemTime>,
}

impl Settled {
    /// Writes the file system back if files of `list` were changed a short while ago, as after a checkout.
    pub(super) fn prepare(&mut self, root: &WorkspacePath, list: &PathList) {
        let now = SystemTime::now();
        let step = (list.items.len() / SAMPLE).max(1);
        let is_recent = |facts: StatFacts| {
            !StatFacts::moment_before(now, WRITTEN_BACK).is_some_and(|moment| facts.is_older_than(moment))
        };
        let mut sample = list.items.iter().step_by(step).filter(|item| item.is_unread());
        let is_wanted =
            sample.any(|item| item.entry().stat().ok().and_then(|stat| stat.facts()).is_some_and(is_recent));
        if is_wanted && root.root().write_back() {
            self.written_back = Some(now);
        }
    }

    /// Whether a file with these facts, which is read from now on, may be kept.
    pub(super) fn is_settled(self, facts: &StatFacts) -> bool {
        let waited = StatFacts::moment_before(SystemTime::now(), WRITTEN_BACK);
        let written = self.written_back.and_then(|moment| StatFacts::moment_before(moment, TICK));
        waited.into_iter().chain(written).any(|moment| facts.is_older_than(moment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_settled_once_its_times_are_older_than_write_back() {
        let facts = |age: u64, changed: u64| {
            let at = |age| StatFacts::moment_before(SystemTime::now(), Duration::from_secs(age)).unwrap();
            StatFacts { device: 1, inode: 2, size: 3, modified: at(age), changed: at(changed) }
        };
        let waiting = Settled::default();
        assert!(waiting.is_settled(&facts(90, 90)));
        assert!(!waiting.is_settled(&facts(20, 20)));
        assert!(!waiting.is_settled(&facts(5000, 20)), "times of content can be set");
        let written = Settled { written_back: Some(SystemTime::now() - Duration::from_secs(10)) };
        assert!(written.is_settled(&facts(20, 20)));
        assert!(!written.is_settled(&facts(11, 20)) && !written.is_settled(&facts(20, 1)));
    }
}
