//! The files that ignore rules were read from: each watched itself, since a directory's events name only
//! the changes that are made through a name in it, and a hard link may be anywhere.
//!
//! What a link leads to is read again instead: any part of the way to it may change.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;

use crate::walk::ignores::{RuleSource, linked_content};
use crate::{path::WorkspacePath, roots::Roots};
use beneath::Dir;

use super::{Queue, Unwatchable};

type IgnoreFile = (WorkspacePath, &'static str);

#[derive(Debug, Default)]
pub(super) struct WatchedIgnoreFiles {
    files: BTreeMap<IgnoreFile, (i32, u64)>,
    /// One file may have several such names.
    by_watch: HashMap<i32, BTreeSet<IgnoreFile>>,
    /// Each with a hash of what was read through it.
    links: BTreeMap<IgnoreFile, u64>,
}

impl WatchedIgnoreFiles {
    pub(super) fn owners(&self, watch: i32) -> impl Iterator<Item = &WorkspacePath> {
        self.by_watch.get(&watch).into_iter().flatten().map(|(owner, _)| owner)
    }

    pub(super) fn ended(&mut self, watch: i32) {
        for place in self.by_watch.remove(&watch).unwrap_or_default() {
            self.files.remove(&place);
        }
    }

    pub(super) fn forget(&mut self, tree: &WorkspacePath, queue: &Queue) {
        let below = |place: &IgnoreFile| place.0.relative().starts_with(tree.relative());
        let files: Vec<_> =
            self.files.range((tree.clone(), "")..).map(|(place, _)| place.clone()).take_while(below).collect();
        for place in files {
            self.drop_file(&place, queue);
        }
        self.links.retain(|place, _| !below(place));
    }

    fn drop_file(&mut self, place: &IgnoreFile, queue: &Queue) {
        let Some((watch, _)) = self.files.remove(place) else { return };
        if let Some(by_watch) = self.by_watch.get_mut(&watch) {
            by_watch.remove(place);
            if by_watch.is_empty() {
                self.by_watch.remove(&watch);
                queue.forget(watch);
            }
        }
    }

    fn add_file(&mut self, place: IgnoreFile, watch: i32, state: u64, queue: &Queue) {
        self.links.remove(&place);
        if self.files.get(&place).is_some_and(|(known, _)| *known != watch) {
            self.drop_file(&place, queue);
        }
        self.by_watch.entry(watch).or_default().insert(place.clone());
        self.files.insert(place, (watch, state));
    }

    /// Rules are about to be read from the file, or were read through a link.
    ///
    /// # Errors
    /// When the file cannot be watched.
    pub(super) fn add(
        &mut self,
        owner: WorkspacePath,
        name: &'static str,
        source: &RuleSource<'_>,
        queue: &Queue,
        roots: &Roots,
    ) -> Result<(), Unwatchable> {
        let place = (owner, name);
        let content = match source {
            RuleSource::Content(_) => return Ok(()),
            RuleSource::Link(content) => *content,
            RuleSource::File(file) => match queue.watch_file(file) {
                Ok(Some(watch)) => {
                    self.add_file(place, watch, state_of(file), queue);
                    return Ok(());
                }
                Ok(None) => return Ok(()),
                // A file mounted from elsewhere: as with a link, no event reports its changes.
                Err(Unwatchable::FileSystem) => linked_content(roots, &place.0.child(place.1.as_ref())),
                Err(why) => return Err(why),
            },
        };
        self.drop_file(&place, queue);
        self.links.insert(place, content);
        Ok(())
    }

    pub(super) fn changed_links(&self, roots: &Roots) -> impl Iterator<Item = &WorkspacePath> {
        let changed =
            |(owner, name): &IgnoreFile, content: u64| linked_content(roots, &owner.child(name.as_ref())) != content;
        self.links.iter().filter(move |(file, content)| changed(file, **content)).map(|((owner, _), _)| owner)
    }

    /// The directories with rules from files that `root` has in another state, for writes that no event reports.
    pub(super) fn changed_files(&self, root: &Dir) -> Vec<WorkspacePath> {
        let changed = |(owner, name): &IgnoreFile, state: u64| {
            let stat = root.stat_beneath(&owner.relative().join(name));
            stat.map_or(true, |stat| stat.fingerprint() != state)
        };
        let files = self.files.iter().filter(|(file, (_, state))| changed(file, *state));
        files.map(|((owner, _), _)| owner.clone()).collect()
    }
}

fn state_of(file: &File) -> u64 {
    // Where that fails, the file counts as changed when it is compared.
    beneath::file_stat(file).map_or(0, |stat| stat.fingerprint())
}
