//! The yes to a change, and what the plan that was approved had seen.

use crate::Revision;

/// What the plan saw at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// Nothing.
    Absent,
    /// This content.
    Revision(Revision),
}

/// The yes to one change. Not to be cloned; a commit spends it.
#[derive(Debug)]
pub struct Approval {
    by_person: bool,
}

impl Approval {
    /// The policy in force asks no person.
    pub fn by_policy() -> Self {
        Self { by_person: false }
    }

    /// A person was shown the change and said yes.
    pub fn by_person() -> Self {
        Self { by_person: true }
    }

    /// Whether it is for the change exactly as it was planned: a person saw that one, so a commit that finds another
    /// file must fail as stale instead of planning again.
    pub fn is_for_this_plan_only(&self) -> bool {
        self.by_person
    }

    /// For one approved change that takes two steps on the disk.
    pub fn for_two_steps(self) -> [Self; 2] {
        let Self { by_person } = self;
        [Self { by_person }, Self { by_person }]
    }
}
