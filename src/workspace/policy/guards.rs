//! What start-up found out about one root, on top of the rules: places that are refused wherever they are.
//!
//! Pure, as all of policy: what is in these lists was looked up by `own`, `linked` and `agent_files`.

use std::path::{Path, PathBuf};

use super::agent::AgentRules;
use super::fold::{Folded, fold};

/// Paths below a root, each with all below it, compared as names are, and as they are.
#[derive(Clone, Debug, Default)]
pub(in crate::workspace) struct Places(Vec<Place>);

#[derive(Clone, Debug)]
struct Place {
    exact: PathBuf,
    folded: String,
    /// Whether what lies below is meant, too.
    deep: bool,
    why: String,
}

impl Places {
    /// Adds a place; `why` is what a refusal names as its rule.
    pub(in crate::workspace) fn add(&mut self, relative: &Path, why: String) {
        self.push(relative, true, why);
    }

    /// Adds a place without what lies below it; not where it is one already.
    pub(in crate::workspace) fn add_entry(&mut self, relative: &Path, why: String) {
        self.push(relative, false, why);
    }

    fn push(&mut self, relative: &Path, deep: bool, why: String) {
        // The root itself is none: it is refused as a root, and everything is below it.
        if !relative.as_os_str().is_empty() && self.0.iter().all(|known| known.exact != relative) {
            let folded = fold(relative).as_str().to_owned();
            self.0.push(Place { exact: relative.to_owned(), folded, deep, why });
        }
    }

    /// Why a path, which is `folded`, is refused, if it is.
    pub(super) fn why(&self, relative: &Path, folded: &Folded) -> Option<&str> {
        let holds = |place: &&Place| {
            let rest = below(folded.as_str(), &place.folded);
            if place.deep {
                relative.starts_with(&place.exact) || rest.is_some()
            } else {
                relative == place.exact || rest == Some("")
            }
        };
        self.0.iter().find(holds).map(|place| place.why.as_str())
    }

    /// Why a path that a place lies below is refused, if there is such a place.
    pub(super) fn why_above(&self, relative: &Path, folded: &Folded) -> Option<&str> {
        let lies_below =
            |place: &&Place| place.exact.starts_with(relative) || below(&place.folded, folded.as_str()).is_some();
        self.0.iter().find(lies_below).map(|place| place.why.as_str())
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What follows `above`, which must be a whole number of names and not nothing, in a folded path.
fn below<'p>(path: &'p str, above: &str) -> Option<&'p str> {
    // A name may fold to nothing, and everything would lie below it.
    let rest = path.strip_prefix(above).filter(|_| !above.is_empty())?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(in crate::workspace) struct Guards {
    /// What decides about the next start: no option lets it be written.
    pub(in crate::workspace) own: Places,
    /// What links with a name of the run-later list lead to.
    pub(in crate::workspace) run_later: Places,
    /// What links with a name of a secret lead to.
    pub(in crate::workspace) secrets: Places,
    /// Rules that people wrote for agents.
    pub(in crate::workspace) agents: Vec<AgentRules>,
}

impl Guards {
    /// The agents' rule against the content at this path.
    pub(super) fn denied(&self, relative: &Path) -> Option<String> {
        self.agents.iter().find_map(|rules| rules.denied(relative))
    }

    /// The agents' rule against a write to this path.
    pub(super) fn protected(&self, relative: &Path) -> Option<String> {
        self.agents.iter().find_map(|rules| rules.protected(relative))
    }

    /// Whether nothing here is about writing.
    pub(super) fn lets_write(&self) -> bool {
        self.own.is_empty() && self.run_later.is_empty() && self.agents.is_empty()
    }

    /// Whether nothing here is about content.
    pub(super) fn lets_read(&self) -> bool {
        self.secrets.is_empty() && self.agents.is_empty()
    }
}
