//! The ledger: which files were seen, at which revision, and (for a while) with which content.
//!
//! It lives in memory and, where there is a state folder, in one append-only file per root, so that
//! a client which starts a process for each call can read in one and edit in the next.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::{BuildHasher as _, RandomState},
    io,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
    time::SystemTime,
};

use change_set::{StateDir, state::FolderLock};
use confined_fs::{Revision, WorkspacePath};
use text_file::Document;

mod shown_lines;
mod state_file;

pub use shown_lines::View;
use shown_lines::{ALL_LINES, Caller, MAX_REMEMBERED};
use state_file::{
    LIVING_PREFIX, LedgerLine, MAX_STATE_BYTES, UNNAMED_MARK, caller_name, file_name, fresh, keep, parse, seconds,
    sweep,
};
pub(crate) use state_file::{living, purge_seen};

/// Bytes of content kept in all, to show what changed in a stale file, and to compare instead of hashing.
const MAX_CONTENT_TOTAL: usize = 8 << 20;
/// Bytes of the largest content kept.
const MAX_CONTENT: usize = 2 << 20;
/// Contents kept of one file that were seen before the last one.
const MAX_EARLIER: usize = 32;
/// Callers of whom it is known which content of a file they were shown whole.
const MAX_CALLERS: usize = 32;
/// Files remembered in memory.
const MAX_FILES: usize = 20_000;
/// Files whose paths are kept, for [`Ledger::recent`].
const MAX_RECENT: usize = 200;
/// Overwrites remembered that were refused once.
const MAX_REFUSED: usize = 64;

#[derive(Clone, Debug)]
pub struct Seen {
    pub revision: Revision,
    pub content: Option<Arc<[u8]>>,
    pub is_made: bool,
    pub by: Option<Arc<str>>,
    /// How often the file had been read from its first line when this was first seen.
    pub reads: u32,
}

impl Seen {
    fn elsewhere(revision: Revision) -> Self {
        Self { revision, content: None, is_made: false, by: None, reads: 0 }
    }

    /// Whether `bytes` begin with what was seen, up to the end of one of their lines.
    pub fn is_beginning_of(&self, bytes: &[u8]) -> bool {
        let of_lines = || self.revision.is_of_first_lines(bytes);
        self.content.as_ref().map_or_else(of_lines, |content| bytes.starts_with(content))
    }
}

#[derive(Clone, Debug, Default)]
pub struct KnownStates {
    pub seen: Vec<Seen>,
    /// How often the file was read from its first line on: how many callers may know it.
    pub reads: u32,
    /// Whether a caller that is not counted there knows the file, too: it made it, or changed it by another program.
    pub has_other: bool,
}

impl KnownStates {
    pub fn is_shared(&self) -> bool {
        self.reads + u32::from(self.has_other) > 1
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Writer<'w> {
    /// This server, for a caller as far as that is known, on a file at this revision, if there was one.
    Call(Option<&'w Arc<str>>, Option<Revision>),
    /// This server moved it from that real path: what of it was shown there was shown here.
    MovedFrom(&'w WorkspacePath),
    /// Another one: nobody was shown this content, which a call is about to change.
    AnotherProgram,
}

#[derive(Clone, Copy, Debug)]
pub enum Shown<'s> {
    Whole,
    Change,
    /// These lines, counted from 0.
    Lines(&'s [Range<usize>]),
    Own(Option<Revision>),
}

impl Shown<'_> {
    /// Adds it to what a caller knows of a file at `revision`; `states` are those that are known of that. Compares texts that
    /// are kept, in at most two diffs, each with its own time limit.
    fn add_to(self, caller: &mut Caller, revision: Revision, states: &[Seen], is_first: bool) {
        let text = |of: Revision| {
            let content = states.iter().find(|seen| seen.revision == of)?.content.as_ref()?;
            Some(Document::decode(content.to_vec(), None).ok()?.text().to_owned())
        };
        let merged = |lines: &[Range<usize>]| {
            let is = text(revision)?;
            let merged = match &caller.view {
                View::At(was) => shown_lines::merged(&text(*was)?, &is, lines),
                View::Text(was) => shown_lines::merged(was, &is, lines),
            };
            Some(if merged == is { View::At(revision) } else { View::Text(merged.into()) })
        };
        let view = match self {
            _ if caller.view == View::At(revision) => None,
            Shown::Lines(lines) => merged(lines),
            Shown::Own(Some(was)) if caller.view != View::At(was) => {
                text(was).zip(text(revision)).and_then(|(was, is)| merged(&shown_lines::made(&was, &is)))
            }
            Shown::Whole | Shown::Change | Shown::Own(_) => Some(View::At(revision)),
        };
        caller.view = view.unwrap_or_else(|| caller.view.clone());
        caller.is_partial &= matches!(self, Shown::Lines(_));
        match self {
            Shown::Lines(lines) => lines.iter().for_each(|lines| caller.add_lines(Some(revision), lines.clone())),
            Shown::Change => caller.whole = caller.whole.map(|_| revision),
            Shown::Own(Some(was)) if caller.whole != Some(was) => {}
            Shown::Whole | Shown::Own(_) => caller.whole = Some(revision),
        }
        if is_first && matches!(self, Shown::Own(_)) || matches!(self, Shown::Whole) {
            caller.add_lines(Some(revision), ALL_LINES);
        }
    }
}

/// Remembers what was read, written and shown; for all calls of a session.
#[derive(Debug)]
pub struct Ledger {
    state: Option<StateDir>,
    memory: Mutex<ReadRecords>,
    swept: Once,
    process: String,
    /// Held from the first record of this process on, and freed by its end.
    living: Mutex<Option<FolderLock>>,
}

#[derive(Debug, Default)]
struct ReadRecords {
    files: HashMap<Key, ReadRecord>,
    content: usize,
    clock: u64,
    recent: VecDeque<WorkspacePath>,
    /// Overwrites that were refused: of which file and content, and by which one.
    refused: VecDeque<(Key, Revision, Revision)>,
}

/// A file: the root's key and a hash of the path below it. Hashes, because the state file should not
/// be a list of a person's file names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    root: String,
    path: String,
}

#[derive(Clone, Debug)]
pub struct UnsavedRead {
    key: Key,
    revision: Revision,
    now: SystemTime,
    /// Of whom, and which lines: all that it knows of are of this revision, or these.
    caller: String,
    lines: String,
}

#[derive(Debug)]
struct ReadRecord {
    seen: Seen,
    /// Earlier states, with their content; newest last.
    earlier: VecDeque<Seen>,
    reads: u32,
    /// Whether a caller that is not counted there knows it, too: it made it before anybody read it, or changed it elsewhere.
    has_other: bool,
    is_reread: bool,
    revisions: Vec<Revision>,
    callers: HashMap<Option<Arc<str>>, Caller>,
    used: u64,
}

impl Ledger {
    pub(super) fn state(&self) -> Option<&StateDir> {
        self.state.as_ref()
    }

    pub fn new(state: Option<StateDir>) -> Self {
        // Random enough to tell processes apart; it protects nothing.
        let process = format!("{:016x}", RandomState::new().hash_one(0));
        Self { state, memory: Mutex::default(), swept: Once::new(), process, living: Mutex::default() }
    }

    /// Forgets everything that is in memory: what the state file has is read from there.
    pub(super) fn forget(&self) {
        *self.memory() = ReadRecords::default();
    }

    /// The file at the real path `path` was read at `revision` for the caller `by`, who is shown this of it.
    pub fn record_read(
        &self,
        path: &WorkspacePath,
        revision: Revision,
        content: Option<&[u8]>,
        by: Option<&Arc<str>>,
        shown: Shown<'_>,
    ) {
        if let Some(pending) = self.unsaved_read(path, revision, content, by, shown) {
            self.save(&pending);
        }
    }

    /// As [`Self::record_read`], in memory alone: what it returns is for [`Self::save`], which may wait for a disk.
    #[must_use = "the next process does not know a read that was not saved"]
    pub fn unsaved_read(
        &self,
        path: &WorkspacePath,
        revision: Revision,
        content: Option<&[u8]>,
        by: Option<&Arc<str>>,
        shown: Shown<'_>,
    ) -> Option<UnsavedRead> {
        let key = Key::of(path);
        let now = SystemTime::now();
        let mut memory = self.memory();
        memory.used(path);
        memory.remember(&key, revision, content);
        let is_first = memory.files.get(&key)?.callers.is_empty();
        let lines = loop {
            let known =
                |record: &mut ReadRecord| Some((record.caller(by, revision).clone(), record.all().cloned().collect()));
            let (before, states): (Caller, Vec<Seen>) = memory.change(&key, known)?;
            drop(memory);
            // Without the lock, as whole texts are compared; and once more where the caller knows of something else by then.
            let mut after = before.clone();
            shown.add_to(&mut after, revision, &states, is_first);
            let lines = after.unsaved(revision, now);
            memory = self.memory();
            let is_written = memory.change(&key, |record| {
                let caller = record.caller(by, revision);
                let is_current = *caller == before;
                if is_current {
                    *caller = after;
                }
                is_current
            });
            if is_written {
                break lines?;
            }
        };
        self.state.is_some().then(|| UnsavedRead { key, revision, now, caller: caller_name(by), lines })
    }

    /// The file at the real path `path` was written, and has this content at `revision`.
    pub fn record_write(&self, path: &WorkspacePath, revision: Revision, content: Option<&[u8]>, writer: Writer<'_>) {
        let key = Key::of(path);
        match writer {
            Writer::Call(by, was) => {
                // The file may be what it was before: to undo the change that made it so is another thing.
                self.memory().refused.retain(|(refused, ..)| *refused != key);
                self.record_read(path, revision, content, by, Shown::Own(was));
                self.memory().change(&key, |record| {
                    record.has_other |= record.reads == 0;
                    (record.seen.is_made, record.seen.by) = (true, by.cloned());
                });
            }
            Writer::MovedFrom(old) => {
                let callers = self.memory().files.get(&Key::of(old)).map(|record| record.callers.clone());
                self.record_read(path, revision, content, None, Shown::Lines(&[]));
                self.memory().change(&key, |record| {
                    record.callers = callers?;
                    record.callers.values_mut().for_each(|caller| caller.add_lines(Some(revision), ALL_LINES));
                    Some(())
                });
            }
            Writer::AnotherProgram => {
                self.memory().change(&key, |record| {
                    if record.seen.revision == revision {
                        return;
                    }
                    record.pass_seen();
                    let content = content.filter(|content| content.len() <= MAX_CONTENT).map(Arc::from);
                    if record.earlier.back().is_none_or(|one| one.revision != revision) && content.is_some() {
                        record.earlier.retain(|one| one.revision != revision);
                        record.earlier.push_back(Seen { content, reads: record.reads, ..Seen::elsewhere(revision) });
                    }
                    record.has_other = true;
                });
            }
        }
    }

    /// An answer begins with the first line of the file at the real path `path`: one more caller may know it.
    pub fn record_first_line(&self, path: &WorkspacePath) {
        self.memory().change(&Key::of(path), |record| {
            record.is_reread |= record.reads > record.seen.reads;
            record.reads = record.reads.saturating_add(1);
        });
    }

    /// An answer to `by` has numbers of lines of the file at the real path `path`, counted from 0, but not of them alone or
    /// not the lines themselves. Those of a diff are numbers of two revisions, and have none here.
    pub fn record_numbers(
        &self,
        path: &WorkspacePath,
        by: Option<&Arc<str>>,
        revision: Option<Revision>,
        lines: Vec<Range<usize>>,
    ) {
        self.memory().change(&Key::of(path), |record| {
            let now = record.seen.revision;
            let caller = record.caller(by, now);
            for lines in lines {
                caller.add_lines(revision, lines);
            }
        });
    }

    /// What the caller `by` was last shown of each line of the file at the real path `path`, by this process or, where it
    /// was shown nothing of it, by those that have ended, which is also returned. `None` for a caller that never saw it.
    pub fn view(&self, path: &WorkspacePath, by: Option<&Arc<str>>) -> Option<(View, bool)> {
        let key = Key::of(path);
        if let Some(caller) = self.memory().files.get(&key).and_then(|record| record.callers.get(&by.cloned())) {
            return Some((caller.view.clone(), caller.is_recalled));
        }
        let (name, mut base, mut shown) = (caller_name(by), None, Vec::new());
        let mut is_living = self.is_living();
        self.recall(&key, |line| {
            if line.caller != name || is_living(line.process) {
                return false;
            }
            // The newest at which it was all that the caller knew of, else the first sight.
            base = Some(line.revision);
            shown.extend(shown_lines::parse(line.lines).into_iter().map(|lines| (line.revision, lines)));
            line.lines == shown_lines::ALL_LINES_MARK
        });
        let revision = base?;
        let newest = self.seen_here(path).map_or(revision, |seen| seen.revision);
        let mut memory = self.memory();
        memory.files.entry(key.clone()).or_insert_with(|| ReadRecord::of(newest));
        memory.change(&key, |record| {
            let caller = record.caller(by, revision);
            (caller.is_partial, caller.is_recalled) = (false, true);
            for (revision, lines) in shown {
                caller.add_lines(Some(revision), lines);
            }
        });
        Some((View::At(revision), true))
    }

    /// From now on this is what `by` was last shown of each line of the file at the real path `path`.
    pub fn set_view(&self, path: &WorkspacePath, by: Option<&Arc<str>>, view: View) {
        self.memory().change(&Key::of(path), |record| {
            let now = record.seen.revision;
            record.caller(by, now).view = view;
        });
    }

    /// Whether an answer has shown `by` all of `lines` of the file at the real path `path` at `revision`.
    pub fn has_shown(
        &self,
        path: &WorkspacePath,
        by: Option<&Arc<str>>,
        revision: Revision,
        lines: Range<usize>,
    ) -> bool {
        let memory = self.memory();
        let caller = memory.files.get(&Key::of(path)).and_then(|record| record.callers.get(&by.cloned()));
        caller.is_some_and(|caller| caller.has_shown(revision, lines))
    }

    /// The real paths of the files that this process saw or wrote last, newest first. They may be gone now.
    pub fn recent(&self) -> Vec<WorkspacePath> {
        self.memory().recent.iter().cloned().collect()
    }

    /// The revision of `bytes`, where they are what was last seen of the file at the real path `path` and that
    /// is kept: comparing takes a twentieth of hashing.
    pub fn revision_of(&self, path: &WorkspacePath, bytes: &[u8]) -> Option<Revision> {
        let memory = self.memory();
        let seen = memory.files.get(&Key::of(path))?.seen.clone();
        drop(memory);
        // Compared without the lock: other calls read the ledger meanwhile.
        (*seen.content? == *bytes).then_some(seen.revision)
    }

    pub fn save(&self, pending: &UnsavedRead) {
        let UnsavedRead { key, revision, now, caller, lines } = pending;
        let Some(state) = &self.state else { return };
        let (time, path, process) = (seconds(*now), &key.path, &self.process);
        let line = format!("{time} {path} {revision} {process} {caller} {lines}\n");
        let saved = self.mark_living(state).and_then(|()| keep(state, &file_name(&key.root), &line, *now));
        if let Err(error) = saved {
            tracing::debug!(%error, "what was read is remembered in memory only");
        }
        // Once for each process: it lists the whole folder.
        self.swept.call_once(|| sweep(state, *now));
    }

    /// Before the first line: without the mark, others would take the line for one of a process that has ended.
    fn mark_living(&self, state: &StateDir) -> io::Result<()> {
        let mut living = self.living.lock().unwrap_or_else(PoisonError::into_inner);
        if living.is_none() {
            *living = Some(state.hold(&format!("{LIVING_PREFIX}{}", self.process))?);
        }
        Ok(())
    }

    /// What was last seen of the file at the real path `path`, by this process or, within a day, by another one.
    pub fn seen(&self, path: &WorkspacePath) -> Option<Seen> {
        self.last_seen(path, |_| true)
    }

    /// As [`Self::seen`], without what another process that is running has seen: this one was not shown it.
    pub fn seen_here(&self, path: &WorkspacePath) -> Option<Seen> {
        let mut is_living = self.is_living();
        self.last_seen(path, |line| !is_living(line.process))
    }

    /// Whether a process is another one, and lives; found out once of each.
    fn is_living(&self) -> impl FnMut(&str) -> bool {
        let mut known = HashMap::from([(self.process.clone(), false)]);
        move |process| {
            let is_held =
                || self.state.as_ref().is_some_and(|state| state.is_held(&format!("{LIVING_PREFIX}{process}")));
            *known.entry(process.to_owned()).or_insert_with(is_held)
        }
    }

    fn last_seen(&self, path: &WorkspacePath, counts: impl FnMut(&LedgerLine<'_>) -> bool) -> Option<Seen> {
        let key = Key::of(path);
        let mut memory = self.memory();
        memory.clock += 1;
        let clock = memory.clock;
        if let Some(record) = memory.files.get_mut(&key) {
            record.used = clock;
            return Some(record.seen.clone());
        }
        // Without the lock: a file is read.
        drop(memory);
        self.recall(&key, counts).map(Seen::elsewhere)
    }

    /// The revision in the newest fresh line of `key` that `is_wanted`. Reads the state file each time: another
    /// process may have appended to it.
    fn recall(&self, key: &Key, mut is_wanted: impl FnMut(&LedgerLine<'_>) -> bool) -> Option<Revision> {
        let bytes = self.state.as_ref()?.read(&file_name(&key.root), MAX_STATE_BYTES).ok()?;
        // Lossy, and each line by itself: one that a kill has torn costs nothing but that line.
        let text = String::from_utf8_lossy(&bytes);
        let now = SystemTime::now();
        // The newest line counts; those of other files are not parsed.
        let mut lines = text.lines().rev().filter(|line| line.contains(&key.path)).filter_map(parse);
        let found = lines.find(|line| line.path == key.path && fresh(line.time, now) && is_wanted(line));
        found.map(|line| line.revision)
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
    pub fn was_seen_at(&self, path: &WorkspacePath, revision: Revision) -> bool {
        self.recall(&Key::of(path), |line| line.revision == revision).is_some()
    }

    /// The states of the file at the real path `path` that are in memory.
    pub fn states(&self, path: &WorkspacePath) -> KnownStates {
        let memory = self.memory();
        memory.files.get(&Key::of(path)).map_or_else(KnownStates::default, |known| {
            let mut seen: Vec<Seen> = known.all().filter(|seen| seen.content.is_some()).cloned().collect();
            seen.reverse();
            KnownStates { seen, reads: known.reads, has_other: known.has_other }
        })
    }

    /// As [`Self::states`], as far as processes with this state folder have seen them within a day and `content` has them.
    pub fn states_elsewhere(&self, path: &WorkspacePath, content: impl Fn(Revision) -> Option<Vec<u8>>) -> KnownStates {
        let mut revisions = Vec::new();
        self.recall(&Key::of(path), |line| {
            if !revisions.contains(&line.revision) {
                revisions.push(line.revision);
            }
            false
        });
        let seen = |revision| Some(Seen { content: Some(content(revision)?.into()), ..Seen::elsewhere(revision) });
        KnownStates { seen: revisions.into_iter().rev().filter_map(seen).collect(), reads: 1, has_other: false }
    }

    /// Whether it is the first time that replacing the content `now` of the file at the real path `path` by `new` is
    /// refused. `in_all`: by any process with this state folder.
    pub fn refuse_once(&self, path: &WorkspacePath, now: Revision, new: Revision, in_all: bool) -> bool {
        let mut key = Key::of(path);
        let this = (key.clone(), now, new);
        if self.memory().refused.contains(&this) {
            return false;
        }
        // As a record of a file that nobody has.
        key.path = Revision::of(format!("{} {now}", key.path).as_bytes()).to_string();
        if in_all && self.recall(&key, |line| line.revision == new).is_some() {
            return false;
        }
        let refused = &mut self.memory().refused;
        refused.push_back(this);
        refused.drain(..refused.len().saturating_sub(MAX_REFUSED));
        if in_all {
            let (now, caller, lines) = (SystemTime::now(), UNNAMED_MARK.to_owned(), UNNAMED_MARK.to_owned());
            self.save(&UnsavedRead { key, revision: new, now, caller, lines });
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

    /// The revision at which `by` was last shown the whole file at the real path `path`, where it is now another one and
    /// not by `by` alone.
    pub fn whole_before(&self, path: &WorkspacePath, by: Option<&Arc<str>>) -> Option<Revision> {
        let memory = self.memory();
        let record = memory.files.get(&Key::of(path))?;
        record.callers.get(&by.cloned())?.whole.filter(|whole| *whole != record.seen.revision)
    }

    /// Whether `by` was last shown the file at the real path `path` whole at `revision`, by a read and not by its own change.
    /// Never of several callers with one name, as which a file looks that was read twice at one state.
    pub fn was_read_whole(
        &self,
        path: &WorkspacePath,
        (by, is_individual): (Option<&Arc<str>>, bool),
        revision: Revision,
    ) -> bool {
        let memory = self.memory();
        let Some(record) = memory.files.get(&Key::of(path)) else { return false };
        let is_read = record.seen.revision == revision && record.reads > record.seen.reads;
        is_read
            && (is_individual || !record.is_reread)
            && record.callers.get(&by.cloned()).is_some_and(|caller| caller.whole == Some(revision))
    }

    /// Whether `lines` of the file at the real path `path` were shown at `revision` and no other one. What another process
    /// with this state folder saw of it, it saw whole; what one that is running saw was not shown here.
    pub fn shows_only(&self, path: &WorkspacePath, revision: Revision, lines: &Range<usize>) -> bool {
        let key = Key::of(path);
        let memory = self.memory();
        let record = memory.files.get(&key);
        let known = record.map_or_else(Vec::new, |record| record.revisions.clone());
        let is_shown = record.is_some_and(|record| !record.callers.is_empty());
        let mut callers = record.into_iter().flat_map(|record| record.callers.values());
        let is_certain = callers.all(|caller| caller.are_all_of(revision, lines));
        drop(callers);
        drop(memory);
        // What this process knows of was counted line by line above.
        let is_other = |other: Revision| other != revision && !known.contains(&other);
        is_certain
            && (is_shown || self.seen_here(path).is_some_and(|seen| seen.revision == revision))
            && self.recall(&key, |line| is_other(line.revision)).is_none()
    }

    fn memory(&self) -> MutexGuard<'_, ReadRecords> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let living = self.living.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (Some(lock), Some(state)) = (living.take(), &self.state) {
            drop(lock);
            let _ = state.remove_any(format!("{LIVING_PREFIX}{}", self.process).as_ref());
        }
    }
}

impl ReadRecords {
    fn used(&mut self, path: &WorkspacePath) {
        if self.recent.front() == Some(path) {
            return;
        }
        if let Some(at) = self.recent.iter().position(|known| known == path) {
            self.recent.remove(at);
        }
        self.recent.push_front(path.clone());
        self.recent.truncate(MAX_RECENT);
    }

    fn change<T: Default>(&mut self, key: &Key, f: impl FnOnce(&mut ReadRecord) -> T) -> T {
        let Some(record) = self.files.get_mut(key) else { return T::default() };
        let before = record.size();
        let result = f(record);
        self.content = self.content + record.size() - before;
        result
    }

    fn remember(&mut self, key: &Key, revision: Revision, content: Option<&[u8]>) {
        self.clock += 1;
        let clock = self.clock;
        self.files.entry(key.clone()).or_insert_with(|| ReadRecord::of(revision));
        self.change(key, |record| {
            record.know(revision);
            record.pass_seen();
            let earlier = &mut record.earlier;
            // A content that is seen again is held already.
            let held = earlier.iter().position(|one| one.revision == revision);
            let held = held.and_then(|at| earlier.remove(at)?.content);
            earlier.retain(|one| one.content.is_some());
            earlier.drain(..earlier.len().saturating_sub(MAX_EARLIER));
            let content = content.filter(|bytes| bytes.len() <= MAX_CONTENT);
            let content = content.map(|bytes| held.unwrap_or_else(|| Arc::from(bytes)));
            if record.seen.revision != revision {
                record.seen = Seen { reads: record.reads, ..Seen::elsewhere(revision) };
            }
            record.seen.content = content;
            record.used = clock;
        });
        self.shrink();
    }

    /// Forgets the least recently used contents and files over the bounds.
    fn shrink(&mut self) {
        if self.content <= MAX_CONTENT_TOTAL && self.files.len() <= MAX_FILES {
            return;
        }
        let mut by_age: Vec<(u64, Key)> = self.files.iter().map(|(key, one)| (one.used, key.clone())).collect();
        by_age.sort_unstable_by_key(|(used, _)| *used);
        // Down to three quarters, so that the sort is paid for by many insertions.
        let (content, files) = (MAX_CONTENT_TOTAL / 4 * 3, MAX_FILES / 4 * 3);
        // What was last seen of a file is of more use than what was there before.
        for (_, key) in &by_age {
            if self.content <= content {
                break;
            }
            self.change(key, |kept| kept.earlier.clear());
        }
        for (_, key) in by_age {
            if self.content <= content && self.files.len() <= files {
                break;
            }
            if self.files.len() > files {
                self.content -= self.files.remove(&key).map_or(0, |gone| gone.size());
            } else {
                self.change(&key, |kept| {
                    (kept.seen.content, kept.earlier) = (None, VecDeque::new());
                    kept.callers.values_mut().for_each(Caller::forget_text);
                });
            }
        }
    }
}

impl ReadRecord {
    fn of(revision: Revision) -> Self {
        Self {
            seen: Seen::elsewhere(revision),
            earlier: VecDeque::new(),
            reads: 0,
            has_other: false,
            is_reread: false,
            revisions: Vec::new(),
            callers: HashMap::new(),
            used: 0,
        }
    }

    fn know(&mut self, revision: Revision) {
        if self.revisions.contains(&revision) {
            return;
        }
        self.revisions.push(revision);
        if self.revisions.len() > MAX_REMEMBERED {
            self.revisions.clear();
            self.callers.values_mut().for_each(Caller::forget_lines);
        }
    }

    /// The caller `by`, whose first sight of the file is at `revision` unless it has had one.
    fn caller(&mut self, by: Option<&Arc<str>>, revision: Revision) -> &mut Caller {
        let by = by.cloned();
        if self.callers.len() >= MAX_CALLERS && !self.callers.contains_key(&by) {
            // Any of them: what it has not seen by then is no longer known.
            if let Some(one) = self.callers.keys().next().cloned() {
                self.callers.remove(&one);
            }
        }
        self.callers.entry(by).or_insert_with(|| Caller::new(revision))
    }

    fn pass_seen(&mut self) {
        if self.earlier.iter().all(|one| one.revision != self.seen.revision) {
            self.earlier.push_back(self.seen.clone());
        }
    }

    fn all(&self) -> impl Iterator<Item = &Seen> {
        [&self.seen].into_iter().chain(self.earlier.iter().rev())
    }

    fn size(&self) -> usize {
        let contents = self.all().filter_map(|seen| seen.content.as_ref()).map(|bytes| bytes.len());
        contents.chain(self.callers.values().map(|caller| caller.view.size())).sum()
    }
}

impl Key {
    fn of(path: &WorkspacePath) -> Self {
        let hash = Revision::of(path.relative().as_os_str().as_encoded_bytes());
        Self { root: path.root().key().to_owned(), path: hash.to_string() }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::single_range_in_vec_init, reason = "lists of ranges")]

    use std::time::{Duration, UNIX_EPOCH};

    use change_set::Workspace;
    use confined_fs::Access;

    use super::{
        state_file::{COMPACT_AT, RECORD_LIFETIME, compacted},
        *,
    };

    fn workspace(dir: &std::path::Path) -> Workspace {
        Workspace::of_directory(dir, Access::ReadOnly)
    }

    #[test]
    fn what_a_process_that_lives_was_shown_is_not_seen_here() {
        let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = workspace(root.path()).resolve("f").unwrap();
        let new = || Ledger::new(StateDir::open(folder.path()).ok());
        let (one, other) = (new(), new());
        one.record_read(&path, Revision::of(b"x"), None, None, Shown::Whole);
        assert!(other.seen_here(&path).is_none() && other.seen(&path).is_some());
        assert!(other.view(&path, None).is_none());
        let (mut is_living, process) = (other.is_living(), one.process.clone());
        assert!(is_living(&process) && !is_living(&other.process));
        drop(one);
        assert!(is_living(&process) && !other.is_living()(&process), "one look finds it out once");
        drop(is_living);
        assert!(other.seen_here(&path).is_some());
        assert_eq!(other.view(&path, None), Some((View::At(Revision::of(b"x")), true)));
        let state = StateDir::open(folder.path()).unwrap();
        let file = state.files().unwrap().len();
        // As a killed process leaves it.
        state.private_folder("living-killed").unwrap();
        other.record_read(&path, Revision::of(b"y"), None, None, Shown::Whole);
        assert!(state.existing_private_folder("living-killed").is_err());
        let mark = format!("{LIVING_PREFIX}{}", other.process);
        assert!(state.existing_private_folder(&mark).is_ok());
        drop(other);
        assert!(state.existing_private_folder(&mark).is_err() && state.files().unwrap().len() == file);
    }

    #[test]
    fn the_newest_of_which_a_caller_knew_all_is_its_view() {
        let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = workspace(root.path()).resolve("f").unwrap();
        let revision = |n: u8| Revision::of(&[n]);
        let new = || Ledger::new(StateDir::open(folder.path()).ok());
        let in_turn =
            |by: &Arc<str>, n: u8, shown: Shown<'_>| new().record_read(&path, revision(n), None, Some(by), shown);
        let view = |by: Option<&Arc<str>>| new().view(&path, by);
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        in_turn(&a, 1, Shown::Lines(&[3..5]));
        in_turn(&a, 2, Shown::Lines(&[7..9]));
        assert_eq!(view(Some(&a)), Some((View::At(revision(1)), true)), "the first sight");
        in_turn(&a, 3, Shown::Whole);
        in_turn(&a, 4, Shown::Lines(&[]));
        in_turn(&b, 5, Shown::Whole);
        assert_eq!(view(Some(&a)), Some((View::At(revision(3)), true)));
        assert_eq!((view(Some(&b)), view(None)), (Some((View::At(revision(5)), true)), None));
        in_turn(&a, 6, Shown::Lines(&[7..9]));
        let ledger = new();
        ledger.view(&path, Some(&a));
        assert!(ledger.has_shown(&path, Some(&a), revision(6), 7..9));
        assert!(!ledger.has_shown(&path, Some(&a), revision(6), 7..10));
    }

    #[test]
    fn lines_shown_at_one_time_are_all_in_the_view() {
        let root = tempfile::tempdir().unwrap();
        let path = workspace(root.path()).resolve("f").unwrap();
        let ledger = Ledger::new(None);
        let text = |mark: &str| (0..64).fold(String::new(), |text, line| text + mark + &line.to_string() + "\n");
        let (was, is) = (text("was "), text("is "));
        let show = |text: &str, shown: Shown<'_>| {
            ledger.record_read(&path, Revision::of(text.as_bytes()), Some(text.as_bytes()), None, shown);
        };
        show(&was, Shown::Whole);
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (show, is) = (&show, &is);
                scope.spawn(move || (worker * 16..(worker + 1) * 16).for_each(|n| show(is, Shown::Lines(&[n..n + 1]))));
            }
        });
        assert_eq!(ledger.view(&path, None), Some((View::At(Revision::of(is.as_bytes())), false)));
    }

    #[test]
    fn state_file_is_compacted() {
        let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workspace = workspace(root.path());
        let ledger = Ledger::new(StateDir::open(state.path()).ok());
        let path = |n: usize| workspace.resolve(&format!("f{n}")).unwrap();
        let (count, revision) = (8_000, Revision::of(b"x"));
        for n in 0..count {
            ledger.record_read(&path(n), revision, None, None, Shown::Whole);
        }
        let file = file_name(workspace.roots()[0].key());
        let size = StateDir::open(state.path()).unwrap().size(&file).unwrap();
        assert!(size <= COMPACT_AT, "{size}");
        let another = Ledger::new(StateDir::open(state.path()).ok());
        assert_eq!(another.seen(&path(count - 1)).map(|seen| seen.revision), Some(revision));
        assert!(another.seen(&path(0)).is_none(), "the oldest had to go");
    }

    #[test]
    fn state_files_of_expired_roots_are_removed() {
        let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workspace = workspace(root.path());
        let state = StateDir::open(folder.path()).unwrap();
        for (name, hours) in [("seen-old", 25), ("seen-yesterday", 23), ("other", 1000)] {
            state.append(name, b"x").unwrap();
            let then = SystemTime::now() - Duration::from_secs(hours * 3600);
            #[expect(clippy::disallowed_types, reason = "sets a time, which no other handle can")]
            std::fs::File::options().append(true).open(folder.path().join(name)).unwrap().set_modified(then).unwrap();
        }
        let path = workspace.resolve("f").unwrap();
        Ledger::new(state.try_clone().ok()).record_read(&path, Revision::of(b"x"), None, None, Shown::Whole);
        assert!(state.size("seen-old").is_err());
        for kept in ["seen-yesterday", "other", &file_name(workspace.roots()[0].key())] {
            assert!(state.size(kept).is_ok(), "{kept}");
        }
    }

    #[test]
    fn revision_is_known_only_for_the_bytes_last_seen() {
        let root = tempfile::tempdir().unwrap();
        let path = workspace(root.path()).resolve("f").unwrap();
        let ledger = Ledger::new(None);
        assert_eq!(ledger.revision_of(&path, b"one"), None);
        for content in [&b"one"[..], b"two"] {
            ledger.record_read(&path, Revision::of(content), Some(content), None, Shown::Whole);
        }
        assert_eq!(ledger.revision_of(&path, b"two"), Some(Revision::of(b"two")));
        assert_eq!(ledger.revision_of(&path, b"one"), None, "that was before");
        ledger.record_read(&path, Revision::of(b"two"), None, None, Shown::Whole);
        assert_eq!(ledger.revision_of(&path, b"two"), None, "nothing to compare with");
        ledger.record_read(&path, Revision::of(b"two"), Some(b"two"), None, Shown::Whole);
        ledger.record_read(&path, Revision::of(b"two"), Some(b"two"), None, Shown::Whole);
        assert_eq!(ledger.seen(&path).and_then(|seen| seen.content).as_deref(), Some(&b"two"[..]));
    }

    #[test]
    fn earlier_contents_of_a_file_are_kept_for_a_while() {
        let root = tempfile::tempdir().unwrap();
        let path = workspace(root.path()).resolve("f").unwrap();
        let ledger = Ledger::new(None);
        let content = |n: u8| [n; 3];
        let last = u8::try_from(MAX_EARLIER).unwrap() + 1;
        for n in (0..=last).chain([2]) {
            ledger.record_read(&path, Revision::of(&content(n)), Some(&content(n)), None, Shown::Whole);
        }
        for (n, kept) in [(0, false), (1, true), (2, true), (3, true), (last, true)] {
            let revision = Revision::of(&content(n));
            let expected = kept.then(|| content(n).to_vec());
            assert_eq!(ledger.content_of(&path, |one| one == revision).map(|bytes| bytes.to_vec()), expected, "{n}");
        }
        assert_eq!(ledger.revisions_of(&path, |_| true).len(), MAX_EARLIER + 1);
        assert_eq!(ledger.memory().content, (MAX_EARLIER + 1) * 3);
    }

    #[test]
    fn record_expires_after_a_day() {
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let old = now - RECORD_LIFETIME;
        let line = |time, rest: &str| format!("{} b {} {rest}\n", seconds(time), Revision::of(b"1"));
        let (first, second) = (line(now, "p - all"), line(now, "q - all"));
        let (part, other) = (line(now, "r - -3-4,"), line(now, "r a all"));
        let lines = line(old, "p b all") + &first + &second + &part + &other;
        assert_eq!(compacted(&lines, now), second + &part + &other, "of two in one second the later counts");
    }

    #[test]
    fn records_are_bounded_by_files_and_content() {
        let mut memory = ReadRecords::default();
        let content = vec![0; MAX_CONTENT];
        for n in 0..MAX_FILES + 10 {
            let key = Key { root: "r".into(), path: n.to_string() };
            memory.remember(&key, Revision::of(b"x"), (n % 100 == 0).then_some(&content[..]));
        }
        assert!(memory.files.len() <= MAX_FILES && memory.content <= MAX_CONTENT_TOTAL);
        assert_eq!(memory.files.values().map(ReadRecord::size).sum::<usize>(), memory.content);
        assert!(memory.files.contains_key(&Key { root: "r".into(), path: (MAX_FILES + 9).to_string() }));
    }
}
