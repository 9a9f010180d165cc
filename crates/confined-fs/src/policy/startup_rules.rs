//! Rules that start-up adds to the configured and default ones of a root: paths and patterns that it found.
//!
//! Pure, as all of policy: `disk_rules` looks them up.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{AgentRules, Folded, fold::fold};

/// Paths below a root, each with all below it, compared as names are, and as they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProtectedPaths(Vec<ProtectedPath>);

#[derive(Clone, Debug)]
struct ProtectedPath {
    exact: PathBuf,
    folded: String,
    deep: bool,
    why: String,
}

impl ProtectedPaths {
    /// Adds a path, with all below it where `deep`; `why` is what a refusal names as its rule.
    pub(crate) fn add(&mut self, relative: &Path, deep: bool, why: &str) {
        // The root itself is none: it is refused as a root, and everything is below it.
        if !relative.as_os_str().is_empty() && self.0.iter().all(|known| known.exact != relative) {
            let folded = fold(relative).as_str().to_owned();
            self.0.push(ProtectedPath { exact: relative.to_owned(), folded, deep, why: why.to_owned() });
        }
    }

    /// Why a path, which is `folded`, is refused, if it is.
    pub(super) fn why(&self, relative: &Path, folded: &Folded) -> Option<&str> {
        let holds = |place: &&ProtectedPath| {
            let rest = below(folded.as_str(), &place.folded);
            if place.deep {
                relative.starts_with(&place.exact) || rest.is_some()
            } else {
                relative == place.exact || rest == Some("")
            }
        };
        self.0.iter().find(holds).map(|place| place.why.as_str())
    }

    /// Why a path above one of these is refused, if it is above one.
    pub(super) fn why_above(&self, relative: &Path, folded: &Folded) -> Option<&str> {
        let lies_below = |place: &&ProtectedPath| {
            place.exact.starts_with(relative) || below(&place.folded, folded.as_str()).is_some()
        };
        self.0.iter().find(lies_below).map(|place| place.why.as_str())
    }

    pub(super) fn exact_paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|place| place.exact.as_path())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The rest after `above`, which must be a whole number of names and not nothing, in a folded path.
fn below<'p>(path: &'p str, above: &str) -> Option<&'p str> {
    // A name may fold to nothing, and everything would lie below it.
    let rest = path.strip_prefix(above).filter(|_| !above.is_empty())?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

#[derive(Clone, Debug, Default)]
pub(crate) struct StartupRules {
    /// Files that the server starts from: no option allows a write to them.
    pub(crate) server_files: ProtectedPaths,
    pub(crate) run_later: ProtectedPaths,
    /// Targets of links with a name of a secret.
    pub(crate) secrets: ProtectedPaths,
    pub(crate) agents: Vec<AgentRules>,
    /// Worktrees of the repository in the folders of agents, by their exact names: the rules of one begin at its top.
    pub(crate) worktrees: HashSet<PathBuf>,
}

impl StartupRules {
    /// The path below the deepest worktree that has its own rules; `None` outside of them all. The directory of one is
    /// outside of it, so that it is not replaced; so is each other spelling of its name.
    pub(super) fn below_worktree<'p>(&self, relative: &'p Path) -> Option<&'p Path> {
        let top = relative.ancestors().skip(1).find(|above| self.worktrees.contains(*above))?;
        relative.strip_prefix(top).ok()
    }

    pub(super) fn denied(&self, relative: &Path, untrusted: bool) -> Option<String> {
        self.agents.iter().find_map(|rules| rules.denied(relative, untrusted))
    }

    pub(super) fn protected(&self, relative: &Path, untrusted: bool) -> Option<String> {
        self.agents.iter().find_map(|rules| rules.protected(relative, untrusted))
    }

    pub(super) fn allows_all_writes(&self) -> bool {
        self.server_files.is_empty() && self.run_later.is_empty() && self.agents.is_empty()
    }

    pub(super) fn allows_all_reads(&self) -> bool {
        self.secrets.is_empty() && self.agents.is_empty()
    }
}
