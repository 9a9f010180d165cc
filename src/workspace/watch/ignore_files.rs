//! The files that ignore rules were read from: each watched itself, since a directory's events name only
//! the changes that are made through a name in it, and a hard link may be anywhere.
//!
//! What a link leads to is read again instead: any part of the way to it may change.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;

use super::Unwatchable;
use super::{Queue, Watcher};
use crate::workspace::path::WorkspacePath;
use crate::workspace::sys;
use crate::workspace::walk::{RuleSource, linked_content};

/// The directory that the rules count in, and the file's path below it.
type Place = (WorkspacePath, &'static str);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct WatchedIgnoreFiles {
    /// Each with its watch and the fingerprint of the state that was read.
    files: BTreeMap<Place, (i32, u64)>,
    /// One file may have the names of several places.
    places: HashMap<i32, BTreeSet<Place>>,
    /// Each with a hash of what was read through it.
    links: BTreeMap<Place, u64>,
}

impl WatchedIgnoreFiles {
    /// The directories with rules from the file of this watch.
    pub(super) fn owners(&self, watch: i32) -> impl Iterator<Item = &WorkspacePath> {
        self.places.get(&watch).into_iter().flatten().map(|(owner, _)| owner)
    }

    /// Ends a watch that the kernel has ended.
    pub(super) fn ended(&mut self, watch: i32) {
        for place in self.places.remove(&watch).unwrap_or_default() {
            self.files.remove(&place);
        }
    }

    /// Forgets the files in `tree` and everything below it.
    pub(super) fn forget(&mut self, tree: &WorkspacePath, queue: &Queue) {
        let below = |place: &Place| place.0.relative().starts_with(tree.relative());
        let from = || (tree.clone(), "")..;
        let files: Vec<_> = self.files.range(from()).map(|(place, _)| place.clone()).take_while(below).collect();
        for place in files {
            self.drop_file(&place, queue);
        }
        let links: Vec<_> = self.links.range(from()).map(|(place, _)| place.clone()).take_while(below).collect();
        for place in links {
            self.links.remove(&place);
        }
    }

    fn drop_file(&mut self, place: &Place, queue: &Queue) {
        let Some((watch, _)) = self.files.remove(place) else { return };
        if let Some(places) = self.places.get_mut(&watch) {
            places.remove(place);
            if places.is_empty() {
                self.places.remove(&watch);
                queue.forget(watch);
            }
        }
    }

    fn add_file(&mut self, place: Place, watch: i32, state: u64, queue: &Queue) {
        self.links.remove(&place);
        if self.files.get(&place).is_some_and(|(known, _)| *known != watch) {
            self.drop_file(&place, queue);
        }
        self.places.entry(watch).or_default().insert(place.clone());
        self.files.insert(place, (watch, state));
    }

    fn add_link(&mut self, place: Place, content: u64, queue: &Queue) {
        self.drop_file(&place, queue);
        self.links.insert(place, content);
    }
}

impl Watcher {
    /// Rules are about to be read from the file, or were read through a link.
    pub(super) fn met_rules(&mut self, owner: WorkspacePath, name: &'static str, origin: &RuleSource<'_>) {
        let place = (owner, name);
        let file = match origin {
            RuleSource::Link(content) => return self.rules.add_link(place, *content, &self.queue),
            RuleSource::File(file) => file,
        };
        match self.queue.watch_file(file) {
            Ok(Some(watch)) => self.rules.add_file(place, watch, state_of(file), &self.queue),
            Ok(None) => {}
            // A file mounted from elsewhere: as with a link, no event reports its changes.
            Err(Unwatchable::FileSystem) => {
                let content = linked_content(&self.shared.roots, &place.0.child(place.1.as_ref()));
                self.rules.add_link(place, content, &self.queue);
            }
            Err(why) => self.fail(why),
        }
    }

    /// The directories with rules behind links that are not what they were.
    pub(super) fn changed_links(&self) -> impl Iterator<Item = &WorkspacePath> {
        let changed = |((owner, name), content): (&Place, &u64)| {
            linked_content(&self.shared.roots, &owner.child(name.as_ref())) != *content
        };
        self.rules.links.iter().filter(move |(place, content)| changed((place, content))).map(|((owner, _), _)| owner)
    }

    /// The directories with rules from files that the disk has in another state, for writes that no
    /// event reports.
    pub fn changed_rules(&self) -> Vec<WorkspacePath> {
        let root = self.root.root().dir();
        let changed = |((owner, name), (_, state)): (&Place, &(i32, u64))| {
            let stat = root.stat_beneath(&owner.relative().join(name));
            stat.map_or(true, |stat| stat.fingerprint() != *state)
        };
        self.rules
            .files
            .iter()
            .filter(|(place, known)| changed((place, known)))
            .map(|((owner, _), _)| owner.clone())
            .collect()
    }
}

fn state_of(file: &File) -> u64 {
    sys::file_stat(file).map_or(0, |stat| stat.fingerprint())
}
