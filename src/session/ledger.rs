//! The ledger: which files were seen, at which revision, and (for a while) with which content.
//!
//! It lives in memory and, where there is a state folder, in one append-only file per root, so that
//! a client which starts a process for each call can read in one and edit in the next.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    fmt::Write as _,
    mem,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use confined_fs::{Revision, StateDir, StateFile, WorkspacePath};

/// A read record is valid for a day, across processes.
const EXPIRES: Duration = Duration::from_secs(24 * 60 * 60);
/// A line in the state file is renewed when it is older than this.
const RENEW: Duration = Duration::from_secs(60 * 60);
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
/// Bytes of a state file after which it is rewritten without what has expired or been superseded.
const COMPACT_AT: u64 = 512 << 10;
/// Lines kept then: half of that, at 77 bytes a line, so that rewriting stays rare.
const MAX_LINES: usize = (256 << 10) / 77;
/// Overwrites remembered that were refused once.
const MAX_REFUSED: usize = 64;
/// How the names of the state files begin.
const PREFIX: &str = "seen-";
/// Bytes of a state file that are read at most.
const MAX_STATE_BYTES: u64 = 8 << 20;

/// A state of a file that was read or written.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The revision that was seen.
    pub revision: Revision,
    /// The content, where it was small and is still kept.
    pub content: Option<Arc<[u8]>>,
    /// Whether this server made it.
    pub is_made: bool,
    /// Who made it with this server, as far as that is known.
    pub by: Option<Arc<str>>,
    /// How often the file had been read from its first line when this was first seen.
    pub reads: u32,
}

impl Seen {
    /// As the state folder has it.
    fn elsewhere(revision: Revision) -> Self {
        Self { revision, content: None, is_made: false, by: None, reads: 0 }
    }

    /// Whether `bytes` begin with what was seen, up to the end of one of their lines.
    pub fn is_beginning_of(&self, bytes: &[u8]) -> bool {
        match &self.content {
            Some(content) => bytes.starts_with(content),
            None => self.revision.is_of_first_lines(bytes),
        }
    }
}

/// The known states of a file.
#[derive(Clone, Debug, Default)]
pub struct KnownStates {
    /// Those whose content is kept, the oldest first.
    pub seen: Vec<Seen>,
    /// How often the file was read from its first line on: how many callers may know it.
    pub reads: u32,
    /// Whether a caller that is not counted there knows the file, too: it made it, or changed it by another program.
    pub has_other: bool,
}

impl KnownStates {
    /// Whether more than one caller may know the file.
    pub fn is_shared(&self) -> bool {
        self.reads + u32::from(self.has_other) > 1
    }
}

/// Who wrote a file.
#[derive(Clone, Copy, Debug)]
pub enum Writer<'w> {
    /// This server, for a caller as far as that is known, who had been shown the file at this revision, if there was one.
    Call(Option<&'w Arc<str>>, Option<Revision>),
    /// This server moved it from that real path: whoever was shown it whole there was shown it here.
    MovedFrom(&'w WorkspacePath),
    /// Another one: nobody was shown this content, which a call is about to change.
    AnotherProgram,
}

/// What an answer shows of a file.
#[derive(Clone, Debug)]
pub enum ShownPart<'s> {
    /// Its first line, to one more caller that may know it.
    FirstLine,
    /// Lines, counted from 0, at that revision; those of a diff, which has the numbers of two, without one.
    Lines(Option<Revision>, Vec<Range<usize>>),
    /// To a caller, as far as that is known, the whole file at the second revision: all of it, or all that has changed since
    /// the first one, which counts only for who had it whole then. From the last revision to an earlier one, a change
    /// of somebody else was not shown after all.
    Whole(Option<&'s Arc<str>>, Option<Revision>, Revision),
}

/// Remembers what was read, written and shown; for all calls of a session.
#[derive(Debug)]
pub struct Ledger {
    state: Option<StateDir>,
    memory: Mutex<ReadRecords>,
    swept: Once,
    /// When this process began to remember.
    started: u64,
}

#[derive(Debug, Default)]
struct ReadRecords {
    files: HashMap<Key, ReadRecord>,
    content: usize,
    clock: u64,
    /// Real paths, the last one seen first.
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

/// A read that is not in the state folder yet.
#[derive(Clone, Debug)]
pub struct UnsavedRead {
    key: Key,
    revision: Revision,
    now: SystemTime,
}

#[derive(Debug)]
struct ReadRecord {
    seen: Seen,
    /// Earlier states, with their content; newest last.
    earlier: VecDeque<Seen>,
    /// How often the file was read from its first line.
    reads: u32,
    /// Whether a caller that is not counted there knows it, too: it made it before anybody read it, or changed it elsewhere.
    has_other: bool,
    showings: Showings,
    /// The content that each caller was last shown whole, or has made of that itself.
    whole: HashMap<Option<Arc<str>>, Revision>,
    written: SystemTime,
    used: u64,
}

impl Ledger {
    /// The state folder, if there is one.
    pub(super) fn state(&self) -> Option<&StateDir> {
        self.state.as_ref()
    }

    /// A ledger that keeps its records in `state` as well as in memory.
    pub fn new(state: Option<StateDir>) -> Self {
        Self { state, memory: Mutex::default(), swept: Once::new(), started: seconds(SystemTime::now()) }
    }

    /// The file at the real path `path` was read at `revision`.
    pub fn record_read(&self, path: &WorkspacePath, revision: Revision, content: Option<&[u8]>) {
        if let Some(pending) = self.unsaved_read(path, revision, content) {
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
    ) -> Option<UnsavedRead> {
        let key = Key::of(path);
        let now = SystemTime::now();
        let mut memory = self.memory();
        memory.used(path);
        let needs_line = memory.remember(key.clone(), revision, content, now);
        (needs_line && self.state.is_some()).then_some(UnsavedRead { key, revision, now })
    }

    /// The file at the real path `path` was written, and has this content at `revision`.
    pub fn record_write(&self, path: &WorkspacePath, revision: Revision, content: Option<&[u8]>, writer: Writer<'_>) {
        let key = Key::of(path);
        let is_new = !self.memory().files.contains_key(&key);
        if !matches!(writer, Writer::AnotherProgram) {
            self.record_read(path, revision, content);
        }
        let mut memory = self.memory();
        match writer {
            Writer::Call(by, was) => {
                // The file may be what it was before: to undo the change that made it so is another thing.
                memory.refused.retain(|(refused, ..)| *refused != key);
                let Some(record) = memory.files.get_mut(&key) else { return };
                if is_new {
                    record.showings.add(Some(revision), ALL_LINES);
                }
                record.has_other |= record.reads == 0;
                (record.seen.is_made, record.seen.by) = (true, by.cloned());
                record.show_whole(by, was, revision);
            }
            Writer::MovedFrom(old) => {
                let whole = memory.files.get(&Key::of(old)).map(|record| record.whole.clone()).unwrap_or_default();
                let Some(record) = memory.files.get_mut(&key) else { return };
                record.showings.add(Some(revision), ALL_LINES);
                record.whole = whole;
            }
            Writer::AnotherProgram => {
                let known = memory.files.get_mut(&key);
                let Some(record) = known.filter(|known| known.seen.revision != revision) else { return };
                let before = record.size();
                record.pass_seen();
                let content = content.filter(|content| content.len() <= MAX_CONTENT).map(Arc::from);
                if record.earlier.back().is_none_or(|one| one.revision != revision) && content.is_some() {
                    record.earlier.retain(|one| one.revision != revision);
                    record.earlier.push_back(Seen { content, reads: record.reads, ..Seen::elsewhere(revision) });
                }
                record.has_other = true;
                let after = record.size();
                memory.content = memory.content + after - before;
            }
        }
    }

    /// An answer shows this of the file at the real path `path`, which was read or written before.
    pub fn record_shown(&self, path: &WorkspacePath, shown: ShownPart<'_>) {
        let mut memory = self.memory();
        let Some(record) = memory.files.get_mut(&Key::of(path)) else { return };
        match shown {
            ShownPart::FirstLine => record.reads = record.reads.saturating_add(1),
            ShownPart::Lines(revision, lines) => {
                for lines in lines {
                    record.showings.add(revision, lines);
                }
            }
            ShownPart::Whole(by, was, revision) => {
                record.show_whole(by, was, revision);
                record.has_other |= was == Some(record.seen.revision) && was != Some(revision);
            }
        }
    }

    /// The real paths of the files that this process saw or wrote last, newest first. They may be gone by now.
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

    /// Writes a record into the state folder.
    pub fn save(&self, pending: &UnsavedRead) {
        let UnsavedRead { key, revision, now } = pending;
        let Some(state) = &self.state else { return };
        if let Err(error) = keep(state, &file_name(&key.root), &line(*now, &key.path, *revision), *now) {
            tracing::debug!(%error, "what was read is remembered in memory only");
        }
        // Once for each process: it lists the whole folder.
        self.swept.call_once(|| sweep(state, *now));
    }

    /// What was last seen of the file at the real path `path`, by this process or, within a day, by another one.
    pub fn seen(&self, path: &WorkspacePath) -> Option<Seen> {
        self.last_seen(path, |_| true)
    }

    /// As [`Self::seen`], without what another process has seen since this one started: both are running, and this one
    /// was not shown it.
    pub fn seen_here(&self, path: &WorkspacePath) -> Option<Seen> {
        self.last_seen(path, |line| line.time <= self.started)
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
            self.save(&UnsavedRead { key, revision: new, now: SystemTime::now() });
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

    /// The revision at which `by` was last shown the whole file at the real path `path`, where it is another one by now and
    /// not by `by` alone.
    pub fn whole_before(&self, path: &WorkspacePath, by: Option<&Arc<str>>) -> Option<Revision> {
        let memory = self.memory();
        let record = memory.files.get(&Key::of(path))?;
        record.whole.get(&by.cloned()).copied().filter(|whole| *whole != record.seen.revision)
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
        // What this process knows of was counted line by line above.
        let is_other = |other: Revision| other != revision && !known.contains(&other);
        is_certain && self.recall(&key, |line| is_other(line.revision)).is_none()
    }

    fn memory(&self) -> MutexGuard<'_, ReadRecords> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadRecords {
    /// Puts `path` before all other recent files.
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

    /// Returns whether the state file needs a new line.
    fn remember(&mut self, key: Key, revision: Revision, content: Option<&[u8]>, now: SystemTime) -> bool {
        self.clock += 1;
        let record = self.files.entry(key).or_insert_with(|| ReadRecord::of(revision));
        self.content -= record.size();
        let is_same = record.seen.revision == revision;
        record.showings.know(revision);
        record.pass_seen();
        let earlier = &mut record.earlier;
        // A content that is seen again is held already.
        let held = earlier.iter().position(|one| one.revision == revision).and_then(|at| earlier.remove(at)?.content);
        earlier.retain(|one| one.content.is_some());
        earlier.drain(..earlier.len().saturating_sub(MAX_EARLIER));
        let content = content.filter(|bytes| bytes.len() <= MAX_CONTENT);
        let content = content.map(|bytes| held.unwrap_or_else(|| Arc::from(bytes)));
        if !is_same {
            record.seen = Seen { reads: record.reads, ..Seen::elsewhere(revision) };
        }
        record.seen.content = content;
        record.used = self.clock;
        // Not at every look: the state file would grow with each.
        let is_written = is_same && now.duration_since(record.written).is_ok_and(|age| age < RENEW);
        if !is_written {
            record.written = now;
        }
        self.content += record.size();
        self.shrink();
        !is_written
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
            if let Some(kept) = self.files.get_mut(key) {
                let size = kept.size();
                kept.earlier.clear();
                self.content -= size - kept.size();
            }
        }
        for (_, key) in by_age {
            if self.content <= content && self.files.len() <= files {
                break;
            }
            if self.files.len() > files {
                self.content -= self.files.remove(&key).map_or(0, |gone| gone.size());
            } else if let Some(kept) = self.files.get_mut(&key) {
                self.content -= kept.size();
                kept.seen.content = None;
                kept.earlier.clear();
            }
        }
    }
}

impl ReadRecord {
    /// A file that was not seen before.
    fn of(revision: Revision) -> Self {
        Self {
            seen: Seen::elsewhere(revision),
            earlier: VecDeque::new(),
            reads: 0,
            has_other: false,
            showings: Showings::default(),
            whole: HashMap::new(),
            written: UNIX_EPOCH,
            used: 0,
        }
    }

    fn show_whole(&mut self, by: Option<&Arc<str>>, was: Option<Revision>, revision: Revision) {
        let (by, whole) = (by.cloned(), &mut self.whole);
        if was.is_some() && whole.get(&by) != was.as_ref() {
            return;
        }
        if whole.len() >= MAX_CALLERS && !whole.contains_key(&by) {
            // Any of them: it gets no note until it sees the whole file again.
            if let Some(one) = whole.keys().next().cloned() {
                whole.remove(&one);
            }
        }
        whole.insert(by, revision);
    }

    /// Makes the state that was last seen one of the earlier ones.
    fn pass_seen(&mut self) {
        if self.earlier.iter().all(|one| one.revision != self.seen.revision) {
            self.earlier.push_back(self.seen.clone());
        }
    }

    /// Everything seen, newest first.
    fn all(&self) -> impl Iterator<Item = &Seen> {
        [&self.seen].into_iter().chain(self.earlier.iter().rev())
    }

    /// Bytes of content held.
    fn size(&self) -> usize {
        self.all().filter_map(|seen| seen.content.as_ref()).map(|bytes| bytes.len()).sum()
    }
}

impl Key {
    fn of(path: &WorkspacePath) -> Self {
        let hash = Revision::of(path.relative().as_os_str().as_encoded_bytes());
        Self { root: path.root().key().to_owned(), path: hash.to_string() }
    }
}

struct LedgerLine<'a> {
    time: u64,
    path: &'a str,
    revision: Revision,
}

/// Appends `line`, and keeps the file within its bound, alone: what another process appended while the file is
/// rewritten would be lost.
fn keep(state: &StateDir, file: &str, line: &str, now: SystemTime) -> std::io::Result<()> {
    // Also where the file is not rewritten: another process may be about to.
    let _lock = state.lock();
    state.append(file, line.as_bytes())?;
    if state.size(file)? > COMPACT_AT {
        let bytes = state.read(file, MAX_STATE_BYTES)?;
        state.replace(file, compacted(&String::from_utf8_lossy(&bytes), now).as_bytes())?;
    }
    Ok(())
}

/// Removes the state files of roots in which everything has expired.
fn sweep(state: &StateDir, now: SystemTime) {
    if let Err(error) = state.sweep() {
        tracing::debug!(%error, "temporary files of an earlier process stay");
    }
    let files = state.files().unwrap_or_default();
    let old = |file: &StateFile| now.duration_since(file.modified).is_ok_and(|age| age > EXPIRES);
    for file in files.iter().filter(|file| file.name.starts_with(PREFIX) && old(file)) {
        if let Err(error) = state.discard(file) {
            tracing::debug!(%error, "what has expired could not be removed");
        }
    }
}

fn file_name(root: &str) -> String {
    format!("{PREFIX}{root}")
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn line(time: SystemTime, path: &str, revision: Revision) -> String {
    format!("{} {path} {revision}\n", seconds(time))
}

fn parse(line: &str) -> Option<LedgerLine<'_>> {
    let mut fields = line.split(' ');
    let time = fields.next()?.parse().ok()?;
    let path = fields.next()?;
    let revision = fields.next()?.parse().ok()?;
    // A line that a kill has torn has the next one after it, and so more fields.
    fields.next().is_none().then_some(LedgerLine { time, path, revision })
}

fn fresh(time: u64, now: SystemTime) -> bool {
    // A time ahead of the clock, which may have been set back, counts as fresh.
    seconds(now).saturating_sub(time) < EXPIRES.as_secs()
}

/// The newest fresh line of each path, oldest first; at most [`MAX_LINES`] of them.
fn compacted(text: &str, now: SystemTime) -> String {
    let mut known = HashSet::new();
    let newest: Vec<LedgerLine<'_>> = text
        .lines()
        .rev()
        .filter_map(parse)
        .filter(|entry| fresh(entry.time, now) && known.insert(entry.path))
        .take(MAX_LINES)
        .collect();
    let mut out = String::new();
    for entry in newest.iter().rev() {
        let _ = writeln!(out, "{} {} {}", entry.time, entry.path, entry.revision);
    }
    out
}

/// Ranges and revisions remembered of a file; beyond them more is taken to have been shown.
const MAX_REMEMBERED: usize = 256;

/// All lines of a file.
pub const ALL_LINES: Range<usize> = 0..usize::MAX;

/// The lines that were shown of one file.
///
/// With their numbers, and at which revision: lines that are named by numbers alone are certain only where nobody can
/// have other ones in mind.
#[derive(Debug, Default)]
struct Showings {
    /// Every revision that this process knows of.
    revisions: Vec<Revision>,
    /// Lines counted from 0, and their revision; `None` for those of a diff, which has the numbers of two.
    lines: Vec<(Option<Revision>, Range<usize>)>,
}

impl Showings {
    fn know(&mut self, revision: Revision) {
        if self.revisions.contains(&revision) {
            return;
        }
        self.revisions.push(revision);
        if self.revisions.len() > MAX_REMEMBERED {
            self.revisions.clear();
            self.lines = vec![(None, ALL_LINES)];
        }
    }

    fn add(&mut self, revision: Option<Revision>, lines: Range<usize>) {
        let touches = |(of, known): &&mut (Option<Revision>, Range<usize>)| {
            *of == revision && known.start <= lines.end && lines.start <= known.end
        };
        match self.lines.iter_mut().find(touches) {
            Some((_, known)) => *known = hull(known, &lines),
            None => self.lines.push((revision, lines)),
        }
        if self.lines.len() > MAX_REMEMBERED {
            for (of, lines) in mem::take(&mut self.lines) {
                match self.lines.iter_mut().find(|(known, _)| *known == of) {
                    Some((_, known)) => *known = hull(known, &lines),
                    None => self.lines.push((of, lines)),
                }
            }
        }
    }

    /// Whether `lines` were shown at no other revision.
    fn are_all_of(&self, revision: Revision, lines: &Range<usize>) -> bool {
        let other = |(of, shown): &(Option<Revision>, Range<usize>)| {
            *of != Some(revision) && shown.start < lines.end && lines.start < shown.end
        };
        !self.lines.iter().any(other)
    }
}

fn hull(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    one.start.min(other.start)..one.end.max(other.end)
}

#[cfg(test)]
mod tests {
    use confined_fs::{Access, Workspace};

    use super::*;

    fn workspace(dir: &std::path::Path) -> Workspace {
        Workspace::of_directory(dir, Access::ReadOnly)
    }

    #[test]
    fn what_another_process_sees_meanwhile_is_not_seen_here() {
        let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = workspace(root.path()).resolve("f").unwrap();
        let new = || Ledger::new(StateDir::open(state.path()).ok());
        let (before, after) = (Ledger { started: 0, ..new() }, new());
        new().record_read(&path, Revision::of(b"x"), None);
        assert!(before.seen_here(&path).is_none() && before.seen(&path).is_some());
        assert!(after.seen_here(&path).is_some());
    }

    #[test]
    fn state_file_is_compacted() {
        let (root, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let workspace = workspace(root.path());
        let ledger = Ledger::new(StateDir::open(state.path()).ok());
        let path = |n: usize| workspace.resolve(&format!("f{n}")).unwrap();
        let (count, revision) = (8_000, Revision::of(b"x"));
        for n in 0..count {
            ledger.record_read(&path(n), revision, None);
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
        Ledger::new(state.try_clone().ok()).record_read(&workspace.resolve("f").unwrap(), Revision::of(b"x"), None);
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
            ledger.record_read(&path, Revision::of(content), Some(content));
        }
        assert_eq!(ledger.revision_of(&path, b"two"), Some(Revision::of(b"two")));
        assert_eq!(ledger.revision_of(&path, b"one"), None, "that was before");
        ledger.record_read(&path, Revision::of(b"two"), None);
        assert_eq!(ledger.revision_of(&path, b"two"), None, "nothing to compare with");
        ledger.record_read(&path, Revision::of(b"two"), Some(b"two"));
        ledger.record_read(&path, Revision::of(b"two"), Some(b"two"));
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
            ledger.record_read(&path, Revision::of(&content(n)), Some(&content(n)));
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
        let old = now - EXPIRES;
        let (first, second) = (line(now, "b", Revision::of(b"1")), line(now, "b", Revision::of(b"2")));
        let lines = line(old, "a", Revision::of(b"1")) + &first + &second;
        assert_eq!(compacted(&lines, now), second, "of two in one second the later counts");
    }

    #[test]
    fn records_are_bounded_by_files_and_content() {
        let mut memory = ReadRecords::default();
        let content = vec![0; MAX_CONTENT];
        for n in 0..MAX_FILES + 10 {
            let key = Key { root: "r".into(), path: n.to_string() };
            memory.remember(key, Revision::of(b"x"), (n % 100 == 0).then_some(&content[..]), UNIX_EPOCH);
        }
        assert!(memory.files.len() <= MAX_FILES && memory.content <= MAX_CONTENT_TOTAL);
        assert_eq!(memory.files.values().map(ReadRecord::size).sum::<usize>(), memory.content);
        assert!(memory.files.contains_key(&Key { root: "r".into(), path: (MAX_FILES + 9).to_string() }));
    }

    #[test]
    fn lines_are_certain_at_the_only_revision_that_showed_them() {
        let [one, two] = [b"1", b"2"].map(|bytes| Revision::of(bytes));
        let mut shown = Showings::default();
        assert!(shown.are_all_of(one, &ALL_LINES));
        shown.add(Some(one), 0..10);
        shown.add(Some(one), 10..20);
        shown.add(Some(two), 18..30);
        assert_eq!(shown.lines.len(), 2);
        assert!(shown.are_all_of(one, &(0..18)) && !shown.are_all_of(one, &(17..19)));
        assert!(shown.are_all_of(two, &(20..40)) && !shown.are_all_of(two, &(19..20)));
        shown.add(None, 2..5);
        assert!(shown.are_all_of(one, &(0..2)) && !shown.are_all_of(one, &(4..5)));
    }

    #[test]
    fn more_lines_than_are_remembered_are_taken_together_by_revision() {
        let mut shown = Showings::default();
        let revision = |n: usize| Revision::of(&n.to_le_bytes());
        for n in 0..MAX_REMEMBERED + 5 {
            shown.add(Some(revision(0)), 2 * n..2 * n + 1);
        }
        assert!(shown.lines.len() < MAX_REMEMBERED && shown.are_all_of(revision(0), &ALL_LINES));
        assert!(!shown.are_all_of(revision(1), &(1..2)));
        (0..=MAX_REMEMBERED).for_each(|n| shown.know(revision(n)));
        assert!(!shown.are_all_of(revision(0), &(0..1)));
    }
}
