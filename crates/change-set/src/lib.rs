//! Changes of files below configured roots: all or none, each former content known, recovered after a kill.
//!
//! What is read is read by [`confined_fs`]; its [`confined_fs::Workspace`] is inside of the [`Workspace`] of this crate,
//! which alone changes anything. A [`WritablePath`] is a path that policy lets be written. A [`ChangeSet`] holds the locks of
//! what a change touches, and each of its steps is an [`EntryChange`] from what the plan saw; a [`WriteGuard`] is the set of
//! one file. An [`Approval`] is spent by each commit.
//!
//! ```
//! use change_set::{Approval, Base, Workspace, WriteGuard};
//! use confined_fs::{Access, PolicyRules, RootSpec, WorkspaceOptions};
//!
//! # let temp = tempfile::tempdir().unwrap();
//! # let path = temp.path().to_owned();
//! let root = RootSpec { name: None, path, access: Access::ReadWrite, policy: PolicyRules::default(), optional: false };
//! let workspace = Workspace::open(&[root], WorkspaceOptions::default()).expect("a directory").workspace;
//! let path = workspace.writable(&workspace.resolve("notes.md").unwrap()).unwrap();
//! let guard = WriteGuard::acquire(&workspace, path.clone(), Base::Absent).unwrap();
//! guard.commit(b"# Notes\n", Approval::by_policy()).unwrap();
//! assert!(WriteGuard::acquire(&workspace, path, Base::Absent).is_err(), "it is there now");
//! ```
//!
//! # Map
//! | question | file |
//! |---|---|
//! | What may be changed, and under which locks? | `workspace`, `write/writable_path`, `write/path_locks`, `write/directory_locks` |
//! | How is a file replaced? | `write` |
//! | What is an entry, before and after a change, with which rights? | `tree/entry_state` |
//! | How is a whole directory listed and judged? | `tree/listing` |
//! | How is one made, moved or deleted? | `tree/create`, `set/create_tree`, `set/move_tree`, `set/remove_tree` |
//! | What makes several changes all or none? | `set` |
//! | Where is what outlives the process? | `state` |
//!
//! Limits: programs that take no such lock are not kept out; what one of them writes between the last comparison and the
//! rename is found out only where names can be exchanged.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

#![expect(clippy::disallowed_types, reason = "this layer is the one that changes files")]

mod set;
pub mod state;
#[cfg(all(test, unix))]
mod tests;
mod tree;
mod workspace;
mod write;

pub use set::{ChangeSet, CommitError, CommittedSet, FormerFile, MovedTree, RemoveError, UnrestoredEntry, Unreverted};
pub use state::{Durable, StateDir};
pub use tree::{
    AppendedPart, CreatedTree, EditedPart, EntryChange, EntryState, FileState, NewNode, Node, Purpose, Rights, Tree,
    TreeEntry, TreePosition, narrower,
};
pub use workspace::{Opened, Workspace};
pub use write::{
    AppendedBytes, Approval, Base, Committed, FileLock, HashedBytes, HostFile, NewContent, NewDirectory, PreviousFile,
    StaleAfter, WaitLimit, WritablePath, WriteGuard, closing_late, host_directory, host_path_exists,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
