//! The rules that are found on the disk: what agents were forbidden, the targets of protected links, the server's own
//! files, repositories and their worktrees.
//!
//! Found once, before any call is served; below a root that may be missing again when it is first seen, before the
//! answer of the call that saw it. Repositories are recognised before each change (`repository`).
//!
//! Limits: a directory that is removed and made again keeps the rules that were found at first.

mod agent_files;
mod link_targets;
pub mod repository;
mod server_files;
pub(crate) mod worktree;

use std::path::PathBuf;

use crate::policy::{AgentFile, StartupRules};
use crate::root::{Root, homes};
use crate::roots::Roots;
use agent_files::FoundRules;
use link_targets::LinkTarget;
use server_files::{Identities, PathChain};

#[derive(Debug)]
pub(super) struct DiskRules {
    chain: PathChain,
    homes: Vec<PathBuf>,
    agents: bool,
}

impl DiskRules {
    /// Finds the rules of all roots and adds them. `own` are the server's own files. Also the rule files for agents.
    pub(super) fn find(roots: &Roots, mut own: Vec<PathBuf>, agents: bool) -> (Self, Vec<AgentFile>) {
        let homes = homes();
        let found = if agents { agent_files::read(roots, &homes) } else { Vec::new() };
        own.extend(hosts_of(&found));
        let this = Self { chain: server_files::all(&own, roots.list()), homes, agents };
        // Nothing of the host is shown for what an untrusted directory names.
        for root in roots.list().iter().filter(|root| !root.is_untrusted()) {
            if let Some(found) = repository::find_checkouts(root) {
                let _ = root.checkouts.set(found);
            }
        }
        let targets = link_targets::targets(roots);
        let mut identities = Identities::default();
        for root in roots.list() {
            let mut rules = rules(root, &[&this.chain], &mut identities, &targets, &found);
            // Not where a root appears later: a `.git` file that was made after the start changes nothing.
            rules.worktrees = root.checkouts.get().map(|found| found.judged_alone.clone()).unwrap_or_default();
            root.add_startup_rules(rules);
            if let Some(optional) = root.optional.as_ref().filter(|_| !root.is_absent() && root.dir.probe().is_ok()) {
                optional.noticed();
            }
        }
        (this, found.into_iter().map(|found| found.rules.summary).collect())
    }

    /// Adds the rules of a root that was missing; whether it was the first time.
    pub(super) fn appeared(&self, roots: &Roots, root: &Root) -> bool {
        let may_be_read = || root.is_unnoticed() && root.dir.probe().is_ok();
        let Some(optional) = root.optional.as_ref().filter(|_| may_be_read()) else { return false };
        let found = if self.agents { agent_files::read(roots, &self.homes) } else { Vec::new() };
        let chain = server_files::all(&hosts_of(&found), &[]);
        let targets = link_targets::targets(roots);
        let chains = [&self.chain, &chain];
        root.add_appeared_rules(rules(root, &chains, &mut Identities::default(), &targets, &found));
        optional.noticed();
        true
    }
}

/// The files with rules: one that can be rewritten restricts nothing.
fn hosts_of(found: &[FoundRules]) -> Vec<PathBuf> {
    found.iter().filter(|found| !found.rules.is_empty()).map(|found| found.host.clone()).collect()
}

fn rules(
    root: &Root,
    chains: &[&PathChain],
    identities: &mut Identities,
    targets: &[LinkTarget],
    agents: &[FoundRules],
) -> StartupRules {
    let mut rules = StartupRules::default();
    for chain in chains {
        server_files::add(&mut rules.server_files, root, chain, identities);
    }
    for target in targets.iter().filter(|target| target.path.root().index == root.index) {
        let list = if target.secret { &mut rules.secrets } else { &mut rules.run_later };
        list.add(target.path.relative(), true, &target.why);
    }
    rules.agents = agents.iter().flat_map(|found| found.rules_below(root)).collect();
    rules
}
