//! What is at a followed path, so that an update can be distinguished from a touch and is never reported twice.

use std::io;

use confined_fs::{AccessErrorKind, FileKind, OpenFile, Revision, Stat, Workspace, WorkspacePath};

/// Bytes of a file whose content is compared; a larger one has changed when its size or its time has.
const COMPARED: u64 = 1 << 20;

/// What is at a path.
#[derive(Clone, Debug)]
pub(super) enum FollowedState {
    /// Nothing that may be read.
    Nothing,
    /// A file, with its content where that was compared.
    File(Stat, Option<Revision>),
    /// A directory, or a special file.
    Other(Stat),
}

impl FollowedState {
    /// What is at `path` now; `before` is what was there.
    pub(super) fn now(workspace: &Workspace, path: &WorkspacePath, before: Option<&Self>) -> Self {
        match workspace.open_file(path) {
            Ok(file) => Self::of_file(file, before),
            Err(error) if matches!(error.kind, AccessErrorKind::IsDirectory | AccessErrorKind::Special(_)) => {
                workspace.stat(path).map_or(Self::Nothing, Self::Other)
            }
            Err(_) => Self::Nothing,
        }
    }

    fn of_file(mut file: OpenFile, before: Option<&Self>) -> Self {
        let stat = file.stat().clone();
        if let Some(Self::File(before, revision)) = before
            && before.same_file_state(&stat)
        {
            return Self::File(stat, *revision);
        }
        if stat.size > COMPARED {
            return Self::File(stat, None);
        }
        let revision = Revision::of_reader(&mut io::Read::take(&mut file, COMPARED)).ok();
        Self::File(stat, revision)
    }

    /// Whether a client that read `self` would read something else in `now`.
    pub(super) fn differs(&self, now: &Self) -> bool {
        match (self, now) {
            (Self::Nothing, Self::Nothing) => false,
            (Self::File(_, Some(before)), Self::File(_, Some(now))) => before != now,
            (Self::File(before, _), Self::File(now, _)) => !(before.same_file(now) && before.same_size_and_time(now)),
            (Self::Other(before), Self::Other(now)) => !before.same_file(now),
            _ => true,
        }
    }

    pub(super) fn is_directory(&self) -> bool {
        matches!(self, Self::Other(stat) if stat.kind == FileKind::Directory)
    }
}
