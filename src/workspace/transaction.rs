//! Changes of many entries, all or none.
//!
//! A transaction is a net set of steps: each path occurs at most once as something that goes and at most once as
//! something that comes. Under the locks of all of them every base is checked; what comes is made under reserved names;
//! then names change; and after any error everything is as it was.
//!
//! | question | file |
//! |---|---|
//! | How is a base checked, and a step added? | `builder` |
//! | When does it count? | `commit` |
//! | What is one step, and how is its entry recognised? | `step` |
//! | In which order are steps made, and where are their entries meanwhile? | `steps` |
//! | How is what comes made? | `prepare` |
//! | How do names change? | `publish` |
//! | How does everything become as it was? | `roll_back` |
//! | What is written down first, and how is it read after a crash? | `intent`, `intent_folder` |
//! | What happens after a crash? | `recovery` |
//!
//! Limits: at most [`MOST_STEPS`] steps. An entry that is moved keeps its inode, so it stays on its file system.

mod builder;
mod commit;
mod intent;
mod intent_folder;
mod intents;
mod prepare;
mod publish;
mod recovery;
mod roll_back;
mod step;
mod steps;

pub use builder::{FormerFile, Transaction};
pub use commit::{CommittedTransaction, NotCommitted};
pub(super) use intents::Intents;
pub use roll_back::{LeftEntry, LeftHow};
pub use step::EntryState;
pub use steps::MOST_STEPS;
