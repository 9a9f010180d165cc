//! All roots: which of them contains a path, and which is inside another.
//!
//! Nothing here is called with a caller's text.

pub(crate) mod links;

use std::path::{Path, PathBuf};
use std::{collections::HashSet, io, sync::Arc};

use beneath::lexical::strip_base;

use crate::path::WorkspacePath;
use crate::policy::{Policy, PolicyRules};
use crate::root::{OpenedRoot, Root, RootSpec, homes};
use text_file::escape::escape_name;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", problems.join("; "))]
pub struct OpenError {
    /// One sentence each, with host paths: for the log only.
    pub problems: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Roots {
    list: Vec<Arc<Root>>,
    /// (outer root, path of the inner one below it, inner root), deepest first.
    nested: Vec<(usize, PathBuf, usize)>,
}

impl Roots {
    /// Opens what can be opened. A root that cannot is a warning, and stays in the list; mount names that contradict each
    /// other are an error. `rules` count below all of them.
    pub(crate) fn open(
        specs: &[RootSpec],
        rules: &PolicyRules,
        force_component: bool,
    ) -> Result<(Self, Vec<String>), OpenError> {
        let (mut warnings, homes) = (Vec::new(), homes());
        let mut opened: Vec<OpenedRoot<'_>> = Vec::new();
        for spec in specs {
            let shown = spec.path.display();
            let mut unusable = |error: &io::Error| {
                warnings.push(format!("root {shown} cannot be used: {error}; name a directory that may be read"));
            };
            let root = OpenedRoot::open(spec, force_component, &homes).unwrap_or_else(|error| {
                unusable(&error);
                OpenedRoot::unusable(spec, &error)
            });
            if let (Some(_), Err(error)) = (&root.optional, root.dir.probe()) {
                unusable(&error);
            }
            if opened.iter().any(|other| other.canonical == root.canonical) {
                warnings.push(format!("root {shown} is given twice; the first one counts"));
            } else {
                opened.push(root);
            }
        }
        for at in 0..opened.len() {
            let (before, rest) = opened.split_at_mut(at);
            let Some((root, after)) = rest.split_first_mut() else { continue };
            for outer in before.iter().chain(&*after) {
                let shown = root.spec.path.display();
                let problem = |error| format!("root {shown} cannot be used: {error}");
                root.reach_from(outer).map_err(|error: io::Error| OpenError { problems: vec![problem(error)] })?;
            }
        }
        let names = mount_names(&opened)?;
        let everywhere = Arc::new(Policy::new(rules));
        let policy = |own: &PolicyRules| {
            if own.is_empty() { Arc::clone(&everywhere) } else { Arc::new(Policy::new(&rules.and(own))) }
        };
        let roots = opened.into_iter().zip(names).enumerate();
        let list: Vec<_> = roots
            .map(|(index, (root, name))| {
                let policy = policy(&root.spec.policy);
                Arc::new(root.serve(index, name, policy))
            })
            .collect();
        let nested = nesting(&list);
        Ok((Self { list, nested }, warnings))
    }

    pub(crate) fn list(&self) -> &[Arc<Root>] {
        &self.list
    }

    /// The deepest root that holds a lexically normal absolute host path, and the path below it.
    /// `aliases`: roots also count by the path they were configured with.
    pub(crate) fn containing(&self, host: &Path, aliases: bool) -> Option<WorkspacePath> {
        let ways = |root: &Arc<Root>| {
            let by = |base: &Path| strip_base(host, base).map(Path::to_path_buf);
            by(&root.canonical).or_else(|| by(&root.configured).filter(|_| aliases))
        };
        self.list
            .iter()
            .filter_map(|root| Some((root, ways(root)?)))
            .min_by_key(|(_, rest)| rest.components().count())
            .map(|(root, rest)| WorkspacePath::new(root, &rest))
    }

    /// Whether policy hides a real path: that of the root it is reached through, or of the deepest one that holds it.
    pub(crate) fn hidden(&self, root: &Root, relative: &Path) -> bool {
        let by_nested = || self.nested_root(root, relative).is_some_and(|(inner, rest)| inner.policy().hidden(rest));
        root.policy().hidden(relative) || by_nested()
    }

    pub(crate) fn has_nested(&self, root: &Root) -> bool {
        self.nested.iter().any(|(outer, ..)| *outer == root.index)
    }

    /// The deepest root inside `root` that holds the path below it, and the path below that one.
    pub(crate) fn nested_root<'p>(&self, root: &Root, relative: &'p Path) -> Option<(&Arc<Root>, &'p Path)> {
        self.nested
            .iter()
            .filter(|(outer, ..)| *outer == root.index)
            .find_map(|(_, below, inner)| Some((&self.list[*inner], strip_base(relative, below)?)))
    }

    /// The same place, seen from the deepest root that holds it: that one's rights count.
    pub(crate) fn deepest(&self, path: &WorkspacePath) -> WorkspacePath {
        self.in_nested(path).unwrap_or_else(|| path.clone())
    }

    /// As [`Self::deepest`]; `None` where that is the path itself.
    pub(crate) fn in_nested(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        let (inner, rest) = self.nested_root(path.root(), path.relative())?;
        Some(WorkspacePath::new(inner, rest))
    }
}

/// One mount name for each root; none for a single root without one.
fn mount_names(opened: &[OpenedRoot<'_>]) -> Result<Vec<Option<String>>, OpenError> {
    let given = |spec: &RootSpec| spec.name.as_deref().map(tidy_name);
    let mut problems = Vec::new();
    let mut taken: HashSet<String> = HashSet::new();
    for root in opened {
        let Some(name) = given(root.spec) else { continue };
        let dots = name.split('/').any(|part| matches!(part, "." | ".."));
        if name.is_empty() || name == "/" || dots {
            problems.push(format!("mount name {name:?} is not a name"));
        }
        for other in &taken {
            if lies_within(&name, other) || lies_within(other, &name) {
                problems.push(format!("mount names {other:?} and {name:?} overlap"));
            }
        }
        taken.insert(name);
    }
    if !problems.is_empty() {
        return Err(OpenError { problems });
    }
    let alone = opened.len() == 1;
    Ok(opened
        .iter()
        .map(|root| given(root.spec).or_else(|| (!alone).then(|| free_name(&root.canonical, &mut taken))))
        .collect())
}

fn tidy_name(name: &str) -> String {
    let parts: Vec<_> = name.split('/').filter(|part| !part.is_empty()).collect();
    let slash = if name.starts_with('/') { "/" } else { "" };
    format!("{slash}{}", parts.join("/"))
}

fn lies_within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The directory's own name, numbered from 2 where another root has it.
fn free_name(canonical: &Path, taken: &mut HashSet<String>) -> String {
    let base = canonical.file_name().map_or("root".into(), escape_name);
    let mut name = base.to_string();
    let mut number = 1;
    while taken.iter().any(|other| lies_within(&name, other) || lies_within(other, &name)) {
        number += 1;
        name = format!("{base}-{number}");
    }
    taken.insert(name.clone());
    name
}

fn nesting(list: &[Arc<Root>]) -> Vec<(usize, PathBuf, usize)> {
    let within = |outer: &Root, inner: &Root| {
        let rest = inner.canonical.strip_prefix(&outer.canonical).ok().filter(|_| inner.index != outer.index)?;
        Some((outer.index, rest.to_path_buf(), inner.index))
    };
    let mut nested: Vec<_> =
        list.iter().flat_map(|outer| list.iter().filter_map(move |inner| within(outer, inner))).collect();
    // The deepest first, as `nested_root` takes the first one that holds a path.
    nested.sort_by_key(|(_, rest, _)| std::cmp::Reverse(rest.components().count()));
    nested
}
