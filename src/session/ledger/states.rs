//! The states of a file that a caller may have made its content from, and the overwrites that were refused for that.

use std::{collections::HashSet, ops::Range, sync::Arc, time::SystemTime};

use confined_fs::{Revision, WorkspacePath};

use super::{ALL_LINES, CONTENT_EACH, Key, Ledger, PendingReadRecord, ReadRecord, Seen};

/// Overwrites remembered that were refused once.
const REFUSED: usize = 64;

/// What is known of the states of a file.
#[derive(Clone, Debug, Default)]
pub struct KnownStates {
    /// Those whose content is kept, the oldest first.
    pub seen: Vec<Seen>,
    /// How often the file was read from its first line.
    pub readings: u32,
    /// Whether one caller more knows the file than have read it.
    pub has_other: bool,
}

impl Ledger {
    /// As [`Self::seen`], without what another process has seen since this one started: both are running, and this one
    /// was not shown it.
    pub fn seen_here(&self, path: &WorkspacePath) -> Option<Seen> {
        let key = Key::of(path);
        let is_known = self.memory().files.contains_key(&key);
        let recalled = || self.recall(&key, |line| line.time <= self.started).map(Seen::elsewhere);
        if is_known { self.seen(path) } else { recalled() }
    }

    /// The revisions that `is_wanted` at which any process with this state folder is known to have seen the file at the
    /// real path `path` within a day, each once.
    pub fn revisions_of(&self, path: &WorkspacePath, is_wanted: impl Fn(Revision) -> bool) -> HashSet<Revision> {
        let key = Key::of(path);
        let mut found = HashSet::new();
        self.recall(&key, |line| {
            found.extend(Some(line.revision).filter(|revision| is_wanted(*revision)));
            false
        });
        let memory = self.memory();
        let all = memory.files.get(&key).into_iter().flat_map(ReadRecord::all);
        found.extend(all.map(|seen| seen.revision).filter(|revision| is_wanted(*revision)));
        found
    }

    /// Whether any process with this state folder has seen the file at the real path `path` at `revision` within
    /// a day, even if this one, or a later line, knows another revision.
    pub fn knows(&self, path: &WorkspacePath, revision: Revision) -> bool {
        self.recall(&Key::of(path), |line| line.revision == revision).is_some()
    }

    /// The file at the real path `path` was shown from its first line on.
    pub fn count_reading(&self, path: &WorkspacePath) {
        if let Some(sighting) = self.memory().files.get_mut(&Key::of(path)) {
            sighting.readings = sighting.readings.saturating_add(1);
        }
    }

    /// As [`Self::saw`], of what this server made of the file for `by`, who knows each line of a new one.
    pub fn made(&self, path: &WorkspacePath, revision: Revision, content: &[u8], by: Option<&Arc<str>>) {
        let key = Key::of(path);
        let is_new = !self.memory().files.contains_key(&key);
        self.saw(path, revision, Some(content));
        if is_new {
            self.showed(path, Some(revision), [ALL_LINES]);
        }
        let mut memory = self.memory();
        // The file may be what it was before: to undo the change that made it so is another thing.
        memory.refused.retain(|(refused, ..)| *refused != key);
        if let Some(sighting) = memory.files.get_mut(&key) {
            sighting.has_other |= sighting.readings == 0;
            sighting.seen.by = by.cloned();
        }
    }

    /// The states of the file at the real path `path` that are in memory.
    pub fn states(&self, path: &WorkspacePath) -> KnownStates {
        let memory = self.memory();
        memory.files.get(&Key::of(path)).map_or_else(KnownStates::default, |known| {
            let mut seen: Vec<Seen> = known.all().filter(|seen| seen.content.is_some()).cloned().collect();
            seen.reverse();
            KnownStates { seen, readings: known.readings, has_other: known.has_other }
        })
    }

    /// The file at the real path `path` was found at a content that nobody was shown, and is about to be changed.
    pub fn found(&self, path: &WorkspacePath, revision: Revision, content: &[u8]) {
        let mut memory = self.memory();
        let Some(sighting) = memory.files.get_mut(&Key::of(path)) else { return };
        let before = sighting.size();
        sighting.pass_seen();
        if sighting.former.iter().all(|one| one.revision != revision) && content.len() <= CONTENT_EACH {
            let content = Some(Arc::from(content));
            sighting.former.push_back(Seen { content, readings: sighting.readings, ..Seen::elsewhere(revision) });
        }
        sighting.has_other = true;
        let added = sighting.size() - before;
        memory.content += added;
    }

    /// As [`Self::states`], as far as processes with this state folder have seen them within a day and `content` has them.
    pub fn recalled(&self, path: &WorkspacePath, content: impl Fn(Revision) -> Option<Vec<u8>>) -> KnownStates {
        let mut revisions = Vec::new();
        self.recall(&Key::of(path), |line| {
            if !revisions.contains(&line.revision) {
                revisions.push(line.revision);
            }
            false
        });
        let seen = |revision| Some(Seen { content: Some(content(revision)?.into()), ..Seen::elsewhere(revision) });
        KnownStates { seen: revisions.into_iter().rev().filter_map(seen).collect(), readings: 1, has_other: false }
    }

    /// Whether it is the first time that replacing the content `now` of the file at the real path `path` by `new` is
    /// refused. `in_all`: by any process with this state folder.
    pub fn refuse_once(&self, path: &WorkspacePath, now: Revision, new: Revision, in_all: bool) -> bool {
        let mut key = Key::of(path);
        let this = (key.clone(), now, new);
        if self.memory().refused.contains(&this) {
            return false;
        }
        // As a sighting of a file that nobody has.
        key.path = Revision::of(format!("{} {now}", key.path).as_bytes()).to_string();
        if in_all && self.recall(&key, |line| line.revision == new).is_some() {
            return false;
        }
        let refused = &mut self.memory().refused;
        refused.push_back(this);
        refused.drain(..refused.len().saturating_sub(REFUSED));
        if in_all {
            self.save(&PendingReadRecord { key, revision: new, now: SystemTime::now() });
        }
        true
    }

    /// The newest content seen of the file at the real path `path` that is in memory and at a revision that
    /// `is_wanted`.
    pub fn content_of(&self, path: &WorkspacePath, is_wanted: impl Fn(Revision) -> bool) -> Option<Arc<[u8]>> {
        let memory = self.memory();
        let mut all = memory.files.get(&Key::of(path))?.all();
        all.find(|seen| is_wanted(seen.revision) && seen.content.is_some())?.content.clone()
    }

    /// These lines of the file at the real path `path`, counted from 0, were shown at `revision`; `None` is for a diff,
    /// with the numbers of two.
    pub fn showed(
        &self,
        path: &WorkspacePath,
        revision: Option<Revision>,
        lines: impl IntoIterator<Item = Range<usize>>,
    ) {
        if let Some(sighting) = self.memory().files.get_mut(&Key::of(path)) {
            lines.into_iter().for_each(|lines| sighting.showings.add(revision, lines));
        }
    }

    /// Whether `lines` of the file at the real path `path` were shown at `revision` and no other one. What another process
    /// with this state folder saw of it, it saw whole.
    pub fn shows_only(&self, path: &WorkspacePath, revision: Revision, lines: &Range<usize>) -> bool {
        let key = Key::of(path);
        let memory = self.memory();
        let showings = memory.files.get(&key).map(|known| &known.showings);
        let known = showings.map_or_else(Vec::new, |known| known.revisions.clone());
        let is_certain = showings.is_none_or(|known| known.are_all_of(revision, lines));
        drop(memory);
        let is_other = |other: Revision| other != revision && !known.contains(&other);
        is_certain && self.recall(&key, |line| is_other(line.revision)).is_none()
    }
}
