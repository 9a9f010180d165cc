//! Files for agents: roots, paths, policy, opening, walking, watching, and the kernel's sandbox.
//!
//! The layer that reads files; the crate `change-set` above it changes them. `resolve` makes a [`WorkspacePath`] of a caller's text, and the file is opened
//! beneath a root's directory handle, with links followed only inside the roots. Check and use are one step, so nothing
//! can be swapped in between: servers that compare a canonical path with a prefix and then open it have been escaped
//! from again and again (CVE-2025-53109, CVE-2025-53110). What is read, planned or shown is decided above.
//!
//! ```no_run
//! use std::path::PathBuf;
//!
//! use confined_fs::{Access, PolicyRules, RootSpec, Workspace, WorkspaceOptions};
//!
//! let root = RootSpec {
//!     name: None,
//!     path: PathBuf::from("."),
//!     access: Access::ReadOnly,
//!     policy: PolicyRules::default(),
//!     optional: false,
//! };
//! let opened = Workspace::open(&[root], WorkspaceOptions::default()).expect("a directory");
//! let workspace = opened.workspace;
//! assert!(workspace.resolve("../outside").is_err());
//! ```
//!
//! # Map
//! Start with `workspace`, then `open`.
//!
//! | question | file |
//! |---|---|
//! | What can be done with a workspace, and how is it opened? | `workspace` |
//! | What is a root, and what if it is missing or gone? Which one holds a path? | `root`, `roots` |
//! | Which texts are which paths? | [`resolve`] |
//! | Which names are secret, run later or hidden? | `policy/secrets`, `policy/run_later`, `policy` |
//! | Which rules are found on the disk, and which checkouts? | `disk_rules` |
//! | Where does a link lead? | `roots/links` |
//! | Which names are in a secret file? | `open/secret_names`, with the crate [`structured_text`] |
//! | How is a path opened beneath a root? | the crate [`beneath`], `open` |
//! | Which names are below a directory, and which are ignored? | [`walk`] |
//! | How is a change of them noticed? | [`watch`] |
//! | What may the process do at all? | `workspace/confine`, with the crate [`self_sandbox`] |
//! | With what does `change-set` change files? | [`for_changes`] |
//! | How is a refusal worded, and a name shown? | `error`, `limits`, [`escape`] |
//!
//! Limits: hard links inside a root are not looked through, since package managers depend on them, and a process of the
//! same user may change files directly. On macOS and Windows there is no sandbox of the kernel.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

#![expect(missing_docs, reason = "names and types that say it; units, bounds and errors are documented")]
#![expect(clippy::disallowed_types, reason = "this layer is the one that opens files")]

mod disk_rules;
mod error;
pub mod for_changes;
mod limits;
mod open;
pub mod path;
mod policy;
pub mod resolve;
mod revision;
mod root;
mod roots;
mod shared;
pub mod stop;
#[cfg(all(test, unix))]
mod tests;
pub mod walk;
pub mod watch;
mod workspace;

pub use beneath::{FileKind, Stat, StatFacts, random_bytes, read_some};
pub use error::{AccessError, AccessErrorKind, PathError};
pub use limits::{Limit, prepare_process};
pub use open::{FileStart, OpenFile, SecretNames, Snapshot};
pub use path::WorkspacePath;
pub use policy::{AgentFile, PolicyRules, RuleError, Secrets};
pub use revision::{Revision, RevisionError, RevisionHasher, RevisionPrefix};
pub use root::{Access, IdentityError, Root, RootGone, RootIdentity, RootSpec};
pub use roots::OpenError;
pub use shared::{Workspace, WorkspaceOptions};
pub use text_file::escape;
pub use workspace::{LookAlikes, Opened};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
