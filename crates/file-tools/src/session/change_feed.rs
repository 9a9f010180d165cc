//! Each committed change of the server, for those that follow them: `--events` and language servers.
//!
//! The tools report here once the change is on the disk, whether or not there is an audit. A change of a directory is
//! one report, for everything below it.
//!
//! # Limits
//! A listener runs on the thread that made the change, so it must not wait for anything.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use confined_fs::{Revision, WorkspacePath};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Created,
    Written,
    /// The entry had another path before; what was at the new path is gone.
    Moved,
    Deleted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Link,
}

#[derive(Clone, Debug)]
pub struct CommittedChange {
    pub tool: &'static str,
    pub kind: ChangeKind,
    pub entry: EntryKind,
    pub path: WorkspacePath,
    pub from: Option<WorkspacePath>,
    pub revision: Option<Revision>,
    pub by: Option<Arc<str>>,
    pub session: Arc<str>,
}

pub trait ChangeListener: fmt::Debug + Send + Sync {
    /// The changes of one step of a call are on the disk, such as a file with the directories that were made for it.
    /// Must return at once.
    fn changed(&self, changes: &[CommittedChange]);
}

#[derive(Debug, Default)]
pub struct ChangeFeed(Mutex<Vec<Weak<dyn ChangeListener>>>);

impl ChangeFeed {
    pub fn follow(&self, listener: Weak<dyn ChangeListener>) {
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Here, where the list grows: a listener that is dropped does not say so.
        listeners.retain(|known| known.strong_count() > 0);
        listeners.push(listener);
    }

    pub fn is_followed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|listener| listener.strong_count() > 0)
    }

    pub fn report(&self, changes: &[CommittedChange]) {
        if changes.is_empty() {
            return;
        }
        // Not under the lock: a listener may take its own locks.
        let listeners: Vec<Arc<dyn ChangeListener>> = {
            let listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.iter().filter_map(Weak::upgrade).collect()
        };
        for listener in listeners {
            listener.changed(changes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use change_set::Workspace;
    use confined_fs::Access;

    #[derive(Debug, Default)]
    struct Heard(Mutex<Vec<String>>);

    impl ChangeListener for Heard {
        fn changed(&self, changes: &[CommittedChange]) {
            self.0.lock().unwrap().extend(changes.iter().map(|change| format!("{:?} {}", change.kind, change.path)));
        }
    }

    #[test]
    fn dropped_listener_hears_no_more() {
        let temp = tempfile::tempdir().unwrap();
        let path = Workspace::of_directory(temp.path(), Access::ReadOnly).resolve("a").unwrap();
        let kind = ChangeKind::Created;
        let (from, revision, by, session) = (None, None, None, "".into());
        let change = CommittedChange { tool: "write", kind, entry: EntryKind::File, path, from, revision, by, session };
        let feed = ChangeFeed::default();
        feed.report(std::slice::from_ref(&change));
        let heard = Arc::new(Heard::default());
        let listener: Arc<dyn ChangeListener> = heard.clone();
        feed.follow(Arc::downgrade(&listener));
        feed.report(std::slice::from_ref(&change));
        assert!(feed.is_followed());
        assert_eq!(*heard.0.lock().unwrap(), ["Created a"]);
        drop((listener, heard));
        feed.report(std::slice::from_ref(&change));
        assert!(!feed.is_followed());
    }
}
