//! Changes of many entries, all or none.
//!
//! A transaction is a net set of steps: each path is removed or left at most once, and gets an entry at most once. Under
//! the locks of all paths every base is checked, new entries are made under reserved names, and then the names change.
//! After any error everything is as it was.
//!
//! | question | file |
//! |---|---|
//! | How is a base checked, and a step added? | `builder` |
//! | When does it count? | `commit` |
//! | What is one step, and how is its entry recognised? | `step` |
//! | In which order are steps made, and where are their entries in between? | `steps` |
//! | How are new entries made? | `prepare` |
//! | How do names change? | `publish` |
//! | How does everything become as it was? | `roll_back` |
//! | What is recorded first, and how is it read after a crash? | `intent`, `intent_folder` |
//! | What happens after a crash? | `recovery` |
//!
//! Limits: at most [`MAX_STEPS`] steps. An entry that is moved keeps its inode, so it stays on its file system.

mod builder;
mod commit;
mod intent;
mod intent_folder;
mod prepare;
mod publish;
mod recovery;
mod roll_back;
mod step;
mod steps;

pub use builder::{FormerFile, Transaction};
pub use commit::{CommitError, CommittedTransaction};
pub(super) use intent_folder::Intents;
pub use roll_back::{LeftEntry, Unreverted};
pub use step::EntryState;
pub use steps::MAX_STEPS;
