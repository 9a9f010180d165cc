//! What a path that is not there may mean: the names that look the same; and near names, the same letters in another case or
//! form, a slip of the keyboard, or the only file of that name elsewhere.
//!
//! Looks inside the roots only, never at hidden names, and at a bounded number of them.

use std::{ffi::OsString, ops::ControlFlow, path::PathBuf, sync::Arc};

use beneath::{FileKind, OpenFor};
use text_file::look_alike::look_alike;
use text_file::nearest_name::{ONE_OF_MANY, nearest_names};

use crate::path::WorkspacePath;
use crate::shared::{Shared, Workspace};
use crate::walk::visit::{Ignored, WalkOptions};
use crate::walk::{entry::Entry, walker::walk};

const MAX_SUGGESTIONS: usize = 3;
/// Names of one directory that are compared at most.
const MAX_NAMES: usize = 20_000;
/// Entries that are looked at, at most, for a file of the same name elsewhere.
const MAX_ENTRIES: usize = 50_000;

/// What a path that is not there means by names that look the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookAlikes {
    None,
    /// This path: each of its names that is missing is the only one of its directory that looks like that.
    One(WorkspacePath),
    /// One of several, at the first name of which there is more than one.
    Several(Vec<WorkspacePath>),
}

impl Workspace {
    /// The path that `missing` means where its names look like others. What policy hides is no candidate.
    pub fn look_alikes(&self, missing: &WorkspacePath) -> LookAlikes {
        let mut at = WorkspacePath::new(missing.root(), "".as_ref());
        let mut names = missing.relative().iter();
        let mut is_other = false;
        while let Some(name) = names.next() {
            let next = at.child(name.as_ref());
            // A name of plain ASCII looks like no other one.
            let text = name.to_str().filter(|text| !text.is_ascii() || text.contains(' '));
            if text.is_none() || !self.is_missing(&next) {
                at = next;
                continue;
            }
            // With names left unseen, "the only one" would be a guess.
            let listed = self.shared.directory(&at, OpenFor::List).ok();
            let listed = listed.and_then(|(dir, _)| dir.list_at_most(MAX_NAMES + 1).ok());
            let listed = listed.filter(|names| names.len() <= MAX_NAMES);
            let is_alike = |other: &OsString| other.to_str().zip(text).is_some_and(|(one, two)| look_alike(one, two));
            let alike = listed.into_iter().flatten().map(|one| one.name).filter(is_alike);
            let mut alike: Vec<WorkspacePath> =
                alike.map(|name| at.child(name.as_ref())).filter(|path| !self.is_missing(path)).collect();
            match alike.len() {
                0 => {
                    at = next.child(&names.collect::<PathBuf>());
                    break;
                }
                1 => {
                    at = alike.remove(0);
                    is_other = true;
                }
                _ => {
                    alike.sort();
                    return LookAlikes::Several(alike);
                }
            }
        }
        if is_other { LookAlikes::One(at) } else { LookAlikes::None }
    }

    /// Up to three existing paths that `missing` may have meant. Bounded work.
    pub fn suggest(&self, missing: &WorkspacePath) -> Vec<WorkspacePath> {
        let mut found = nearby(&self.shared, missing);
        if found.len() < MAX_SUGGESTIONS
            && let Some(only) = elsewhere(&self.shared, missing)
            && !found.contains(&only)
        {
            found.push(only);
        }
        found
    }
}

/// The first name of the path that is missing, replaced by its nearest neighbours.
fn nearby(shared: &Arc<Shared>, missing: &WorkspacePath) -> Vec<WorkspacePath> {
    let names: Vec<_> = missing.relative().iter().collect();
    let open = |count: usize| {
        let path = WorkspacePath::new(missing.root(), &names[..count].iter().collect::<PathBuf>());
        shared.directory(&path, OpenFor::List).ok().map(|(dir, _)| (count, path, dir))
    };
    // The deepest directory of the path that exists. Mostly that above the last name; else found by halves, as a path may
    // have thousands of names.
    let by_halves = |last| (1..last).collect::<Vec<_>>().partition_point(|count| open(*count).is_some());
    let last = names.len().checked_sub(1);
    let Some((count, path, dir)) = last.and_then(|last| open(last).or_else(|| open(by_halves(last)))) else {
        return Vec::new();
    };
    let rest: PathBuf = names[count + 1..].iter().collect();
    let mut listed: Vec<ListedName> = dir
        .list_at_most(MAX_NAMES)
        .unwrap_or_default()
        .into_iter()
        .map(|one| ListedName { text: one.name.to_string_lossy().into_owned(), name: one.name })
        .collect();
    // The order of a directory is that of its file system: of equally near names always the same are suggested.
    listed.sort();
    nearest_names(&names[count].to_string_lossy(), listed, ONE_OF_MANY)
        .into_iter()
        .map(|near| path.child(near.name.as_ref()).child(&rest))
        .filter(|candidate| candidate != missing && shared.stat(candidate).is_ok())
        .take(MAX_SUGGESTIONS)
        .collect()
}

/// A name of a directory, and how it is compared: one that is not Unicode has no exact text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ListedName {
    name: OsString,
    text: String,
}

impl AsRef<str> for ListedName {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// The only file of the same bare name in the workspace, when there is just one.
fn elsewhere(shared: &Arc<Shared>, missing: &WorkspacePath) -> Option<WorkspacePath> {
    let wanted = missing.file_name()?;
    // Directories count as well: a tree of nothing else must have an end, too.
    let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: false };
    let (mut left, mut found) = (MAX_ENTRIES, Vec::new());
    for root in shared.roots.list() {
        let start = WorkspacePath::new(root, "".as_ref());
        let mut visit = |entry: Entry| {
            left -= 1;
            if entry.kind() == FileKind::File && entry.path().file_name() == Some(wanted) {
                found.push(entry.into_path());
            }
            if left == 0 || found.len() > 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // A root that cannot be walked has nothing to suggest.
        let _ = walk(shared, &start, &options, &mut visit);
        if left == 0 || found.len() > 1 {
            break;
        }
    }
    // With entries left unseen, "the only one" would be a guess.
    (left > 0 && found.len() == 1).then(|| found.remove(0))
}
