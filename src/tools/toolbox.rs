//! The tools that one session offers.

use super::{ErasedTool, Group, Spec, TOOLS};

/// Which tools are offered.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// `--tools`: only these names, when given.
    pub only: Option<Vec<String>>,
    /// `--allow`: optional groups.
    pub groups: Vec<Group>,
    /// `--read-only`: only tools that change nothing.
    pub read_only: bool,
}

/// The tools a session offers, in the order they are listed (by name).
#[derive(Debug)]
pub struct Toolbox {
    tools: Vec<&'static ErasedTool>,
}

impl Toolbox {
    /// The tools of `selection`.
    pub fn new(selection: &Selection) -> Self {
        let offered = |spec: &Spec| {
            (spec.group == Group::Core || selection.groups.contains(&spec.group))
                && (spec.read_only || !selection.read_only)
                && selection.only.as_ref().is_none_or(|only| only.iter().any(|name| name == spec.name))
        };
        Self { tools: TOOLS.iter().filter(|tool| offered(tool.spec)).collect() }
    }

    /// Names of all tools, whatever a selection leaves out.
    pub fn known() -> Vec<&'static str> {
        TOOLS.iter().map(|tool| tool.spec.name).collect()
    }

    /// A toolbox of tools that misbehave, for tests of what must survive them.
    #[cfg(test)]
    pub(crate) fn of(tools: Vec<ErasedTool>) -> Self {
        Self { tools: tools.leak().iter().collect() }
    }

    /// The offered tools, ordered by name.
    pub fn tools(&self) -> &[&'static ErasedTool] {
        &self.tools
    }

    /// The offered tool called `name`.
    pub fn get(&self, name: &str) -> Option<&ErasedTool> {
        self.tools.iter().copied().find(|tool| tool.spec.name == name)
    }
}
