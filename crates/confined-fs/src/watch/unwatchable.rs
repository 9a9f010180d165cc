//! Why a root cannot be watched.

use std::fmt;

/// Why a root cannot be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwatchable {
    /// The platform reports too little.
    Platform,
    /// A file system that may change without an event, as network ones do.
    FileSystem,
    /// The system does not say when something is mounted.
    Mounts,
    /// The user's limit of watches is reached.
    OutOfWatches,
    /// The user's limit of inotify instances is reached: each root has one.
    OutOfInstances,
    /// One directory is in two places, as with a bind mount.
    Twice,
    /// Ignore rules are too many for all to count, which each answer has to say.
    Rules,
    /// Changes of the root are staged: what is seen is not what the disk has.
    Staged,
    /// The system refused otherwise.
    Refused,
}

impl fmt::Display for Unwatchable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Platform => "this platform does not report every change",
            Self::FileSystem => "the file system does not report every change",
            Self::Mounts => "the system does not report mounts",
            Self::OutOfWatches => "the limit of inotify watches is reached (sysctl fs.inotify.max_user_watches)",
            Self::OutOfInstances => "the limit of inotify instances is reached (sysctl fs.inotify.max_user_instances)",
            Self::Twice => "a directory is mounted twice",
            Self::Rules => "there are too many ignore rules to apply them all",
            Self::Staged => "changes are staged",
            Self::Refused => "the system refused a watch",
        })
    }
}
