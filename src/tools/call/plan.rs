//! The result of planning a call: an answer, or a change that waits for its approval.

use std::{
    fmt::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use confined_fs::{Approval, Base, DiskWatcher, OnEvent, Revision};

use crate::session::Cost;

use super::{answer::Answer, context::CallContext, error::ToolError};

/// The result of planning a call.
pub enum Plan {
    /// Nothing is to be changed: this is the answer.
    Answer(Answer),
    /// A change, ready to be approved and committed.
    Change(Box<dyn Change>),
    /// The call waits for something that has not happened yet.
    Wait(Box<dyn Wait>),
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(answer) => f.debug_tuple("Answer").field(answer).finish(),
            Self::Change(change) => f.debug_tuple("Change").field(&change.preview().summary).finish(),
            Self::Wait(wait) => f.debug_tuple("Wait").field(&wait.subject()).finish(),
        }
    }
}

/// A change to the disk that is planned but not made.
pub trait Change: Send {
    /// Describes the change for the person who is asked about it.
    fn preview(&self) -> Preview;
    /// Files and bytes that it takes of the session's quotas; nothing unless it writes.
    fn cost(&self) -> Cost {
        Cost::default()
    }
    /// The effect as values. A person's yes holds for this effect alone.
    fn fingerprint(&self) -> Fingerprint;
    /// Takes the lock, re-checks that the file is what the plan saw, and makes the change. With an
    /// approval [for this plan only](Approval::is_for_this_plan_only) it never plans again.
    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError>;
}

/// How a change is committed.
type Commit = Box<dyn FnOnce(Box<dyn Change>, &CallContext, Approval) -> Result<Answer, ToolError> + Send>;

/// `change`, with something done around its commit.
pub(crate) fn around(
    change: Box<dyn Change>,
    commit: impl FnOnce(Box<dyn Change>, &CallContext, Approval) -> Result<Answer, ToolError> + Send + 'static,
) -> Plan {
    Plan::Change(Box::new(ChangeAround { change, commit: Box::new(commit) }))
}

struct ChangeAround {
    change: Box<dyn Change>,
    commit: Commit,
}

impl Change for ChangeAround {
    fn preview(&self) -> Preview {
        self.change.preview()
    }

    fn cost(&self) -> Cost {
        self.change.cost()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.change.fingerprint()
    }

    fn commit(self: Box<Self>, cx: &CallContext, approval: Approval) -> Result<Answer, ToolError> {
        (self.commit)(self.change, cx, approval)
    }
}

/// A call that waits. Between two looks it takes no thread.
pub trait Wait: Send {
    /// Names the event in a few words.
    fn subject(&self) -> String;
    /// How long it waits, counted from the start of the call.
    fn limit(&self) -> Duration;
    /// How long changes may follow one another before a look: the first of them often is only half of it.
    fn settle(&self) -> Duration;
    /// Watches what it waits for, before a look: `wake` is called at each change from then on. Whether no change is
    /// missed, so that looks can be rare besides.
    fn watch(&mut self, cx: &CallContext, watcher: &Arc<DiskWatcher>, wake: &OnEvent) -> bool;
    /// Looks whether it has happened.
    fn look(&mut self, cx: &CallContext) -> Result<Look, ToolError>;
    /// The answer when it has not happened.
    fn give_up(self: Box<Self>, cx: &CallContext, why: EndReason) -> Result<Answer, ToolError>;
}

/// The result of a look.
#[derive(Debug)]
pub enum Look {
    /// It has happened, with this answer.
    Happened(Answer),
    /// It has not; another look is due after this time at the latest, if any.
    NotYet(Option<Duration>),
}

/// Why a wait ends without what it was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Its time is over.
    Time,
    /// The client sends nothing more: the server is about to end.
    InputEnded,
}

/// A change as text, for the person who is asked.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The change in one sentence.
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
    /// The entry as it is now.
    pub base: Base,
    /// The content afterwards; `None` for nothing.
    pub content: Option<Revision>,
}

/// Paths that the fingerprint of several changes names.
const MAX_NAMED: usize = 3;

impl Fingerprint {
    /// The effect of changes that are made together: equal only if those of all of them are, in this order.
    #[must_use]
    pub fn of_several(changes: &[Self]) -> Self {
        let (mut effect, mut names) = (String::new(), Vec::new());
        for Self { path, base, content } in changes {
            // Printed paths hold no line breaks, so no two lists of changes have the same text.
            let _ = writeln!(effect, "{base:?} {content:?} {path}");
            names.extend((names.len() < MAX_NAMED).then_some(path.as_str()));
        }
        let more = changes.len() - names.len();
        let path = names.join(", ") + &if more == 0 { String::new() } else { format!(" and {more} more") };
        Self { path, base: Base::Revision(Revision::of(effect.as_bytes())), content: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprint_of_several_changes_names_the_first_and_depends_on_all() {
        let one = |path: &str, content: &[u8]| Fingerprint {
            path: path.to_owned(),
            base: Base::Absent,
            content: Some(Revision::of(content)),
        };
        let all = ["a", "b", "c", "d", "e"].map(|path| one(path, b"x"));
        let whole = Fingerprint::of_several(&all);
        assert_eq!(whole.path, "a, b, c and 2 more");
        assert_eq!(Fingerprint::of_several(&all[..2]).path, "a, b");
        for index in 0..all.len() {
            let mut other = all.clone();
            other[index] = one(&all[index].path, b"y");
            assert_ne!(Fingerprint::of_several(&other), whole, "{index}");
        }
        assert_ne!(Fingerprint::of_several(&all[..4]), whole);
    }
}
