//! The paths of one call that were given by their end, and what its answer has to say of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use text_file::shorten;

use confined_fs::{WorkspacePath, escape_name};

/// Characters that are shown of what was given.
const SHOWN: usize = 200;

/// What an answer has to say about one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathReference {
    /// What was given by its end, and what it is.
    Resolved { given: String, path: WorkspacePath },
    /// A file with the name of one that is created.
    Namesake { path: WorkspacePath },
}

impl PathReference {
    pub(super) fn path(&self) -> &WorkspacePath {
        match self {
            Self::Resolved { path, .. } | Self::Namesake { path } => path,
        }
    }

    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Resolved { given, path } => format!("({} is {path})", shown(given)),
            Self::Namesake { path } => format!("({path} has the same name and was not changed)"),
        }
    }
}

/// The paths of one call that were given by their end.
#[derive(Debug, Default)]
pub struct References(Mutex<Vec<PathReference>>);

impl References {
    pub(super) fn list(&self) -> MutexGuard<'_, Vec<PathReference>> {
        // Each change is a single push.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn resolved(&self, text: &str) -> Option<WorkspacePath> {
        self.list().iter().find_map(|one| match one {
            PathReference::Resolved { given, path } if given == text => Some(path.clone()),
            _ => None,
        })
    }

    pub(super) fn add(&self, one: PathReference) {
        let mut list = self.list();
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

/// What was given, on one line.
pub(super) fn shown(given: &str) -> String {
    escape_name(shorten(given, SHOWN).as_ref().as_ref()).into_owned()
}
