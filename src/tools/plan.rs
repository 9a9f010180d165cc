//! The result of planning a call: an answer, or a change that waits for its approval.

use std::fmt;

use crate::{
    session::Cost,
    workspace::{Approval, Base, Revision},
};

use super::{Answer, CallContext, ToolError};

/// What a plan came to.
pub enum Plan {
    /// Nothing is to be changed: this is the answer.
    Answer(Answer),
    /// A change, ready to be approved and committed.
    Change(Box<dyn Change>),
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(answer) => f.debug_tuple("Answer").field(answer).finish(),
            Self::Change(change) => f.debug_tuple("Change").field(&change.preview().summary).finish(),
        }
    }
}

/// A change to the disk that is planned but not made.
pub trait Change: Send {
    /// What a person is shown before it is made.
    fn preview(&self) -> Preview;
    /// What it will take of the session's quotas; nothing unless it writes.
    fn cost(&self) -> Cost {
        Cost::default()
    }
    /// What exactly would be changed into what. A person's yes holds for this effect alone.
    fn fingerprint(&self) -> Fingerprint;
    /// Takes the lock, re-checks that the file is what the plan saw, and makes the change. With an
    /// approval [for this plan only](Approval::is_for_this_plan_only) it never plans again.
    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError>;
}

/// A change in words, for the person who is asked.
#[derive(Clone, Debug)]
pub struct Preview {
    /// One sentence.
    pub summary: String,
    /// The whole unified diff, or empty where there is no text to show. Whoever shows it cuts it, and
    /// says so: a person must know what was not shown.
    pub diff: String,
    /// Whether something that was there would be lost or replaced.
    pub destructive: bool,
}

/// The effect of a change as values: two plans of equal effect make the same change to the same
/// files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The real path that changes, in its public form; both paths where there are two.
    pub path: String,
    /// What is there now.
    pub base: Base,
    /// What is there afterwards; `None` for nothing.
    pub content: Option<Revision>,
}
