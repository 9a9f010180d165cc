//! Reads the rule files that people wrote for agents, once, at start.
//!
//! No rule file keeps the server from starting: one that cannot be read or parsed is reported, and the rest is in force.
//!
//! Limits: only the files of `RULE_FILES` at the top of a root; a change takes effect at the next start.

use std::path::{Path, PathBuf};
use std::{fs::File, io, sync::Arc};

use beneath::Failure;

use crate::policy::{AgentRules, ParsedRules, RULE_FILES, RuleFile};
use crate::roots::{Roots, links};
use crate::{path::WorkspacePath, root::Root};

/// Longest rule file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct FoundRules {
    pub(super) root: Arc<Root>,
    pub(super) host: PathBuf,
    pub(super) rules: ParsedRules,
}

impl FoundRules {
    /// Its rules as they count below `root`: those relative to its own top where that holds the root.
    pub(super) fn rules_below(&self, root: &Root) -> Vec<AgentRules> {
        let below_top = root.canonical.strip_prefix(&self.root.canonical).ok();
        let mut hosts = vec![root.canonical.clone(), root.configured.clone()];
        hosts.dedup();
        self.rules.rules(below_top, &hosts)
    }
}

pub(super) fn read(roots: &Roots, homes: &[PathBuf]) -> Vec<FoundRules> {
    let mut found = Vec::new();
    // One that refuses a look was reported, once.
    for root in roots.list().iter().filter(|root| root.dir.probe().is_ok()) {
        for file in RULE_FILES {
            let path = WorkspacePath::new(root, Path::new(file.path));
            let Some(answer) = content(roots, &path) else { continue };
            let rules = parsed(&path, *file, answer, homes);
            found.push(FoundRules { root: Arc::clone(root), host: path.host(), rules });
        }
    }
    found
}

fn parsed(path: &WorkspacePath, file: RuleFile, answer: Result<Vec<u8>, String>, homes: &[PathBuf]) -> ParsedRules {
    let mut rules = ParsedRules::default();
    let problem = match answer {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            rules = ParsedRules::new(&text, file.syntax, homes);
            let is_odd = text.contains('\0') || text.contains(char::REPLACEMENT_CHARACTER);
            is_odd.then(|| "it is not UTF-8, so some of its patterns may match nothing".to_owned())
        }
        Err(why) => Some(why),
    };
    rules.summary.problem = rules.summary.problem.or(problem);
    rules.summary.name = path.to_string();
    rules
}

/// The bytes of a rule file, links inside the roots followed; `None` where there is no such file.
fn content(roots: &Roots, path: &WorkspacePath) -> Option<Result<Vec<u8>, String>> {
    let opened = match path.root().dir.file_beneath(path.relative()) {
        Err(Failure::Link) => {
            let Ok(way) = links::follow(roots, path) else {
                return Some(Err("it is a link that leads to nothing inside the directories offered".to_owned()));
            };
            // Its lines are shown in refusals.
            if way.secret() {
                return Some(Err("it is a link to a secret".to_owned()));
            }
            way.real.root().dir.file_beneath(way.real.relative())
        }
        answer => answer,
    };
    Some(match opened {
        Ok(file) => bytes(&file),
        Err(Failure::Io(error)) if beneath::is_nothing(&error) => return None,
        Err(Failure::Io(error)) => Err(unread(&error)),
        Err(Failure::Link) => Err("it changed again and again while it was read".to_owned()),
    })
}

fn unread(error: &io::Error) -> String {
    format!("it cannot be read: {}", error.kind())
}

fn bytes(file: &File) -> Result<Vec<u8>, String> {
    let bytes = beneath::read_regular(file, MAX_BYTES + 1)
        .map_err(|error| unread(&error))?
        .ok_or("it is not a regular file")?;
    if bytes.len() as u64 > MAX_BYTES { Err(format!("it has more than {MAX_BYTES} bytes")) } else { Ok(bytes) }
}
