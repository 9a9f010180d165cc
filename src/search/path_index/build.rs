//! Background work: surveys a tree, then reads its files into the filter.
//!
//! One thread of low priority, which waits while calls are under way. What it has read counts only
//! if no event says that the file has changed meanwhile.

use std::{
    mem,
    sync::{Arc, Weak, atomic::Ordering},
    thread,
    time::{Duration, Instant, SystemTime},
};

use super::{
    Content, FILTER_MEMORY, LARGE, Listed, MAX_FAILURES, PathIndex, State, Tree, compare, item::Known, items::List,
};
use crate::{
    search::{IndexMode, ngram_filter::Signatures},
    text,
    workspace::{Entry, Priority, Unwatchable, Workspace, WorkspacePath, lower_priority},
};

/// Bytes of the largest file that is taken in: larger ones are searched each time.
const LARGEST: u64 = 16 << 20;
/// Files and bytes that are read between two turns of the lock.
const BATCH_FILES: usize = 64;
const BATCH_BYTES: usize = 1 << 20;
/// Bytes at the front of a file in which every search looks for a NUL: the buffer of
/// grep-searcher.
const FIRST_LOOK: usize = 64 << 10;
/// Names that are compared with the disk between two turns of the lock.
const VERIFY_FILES: usize = 512;
/// Surveys of a tree in a row while something is mounted or unmounted.
const MAX_SURVEYS: usize = 5;
/// A file that was modified so shortly ago is likely to be again.
const HOT: Duration = Duration::from_secs(2);
/// How long a batch waits for calls to end, at most, and how often it looks. Each of its files would
/// be too much: with calls without end the filter would never be there, which is when it is needed
/// most.
const YIELD: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(2);
/// Share of dead content, in percent, from which the filter is built anew.
const MAX_WASTE: u64 = 50;

impl PathIndex {
    /// Begins background work unless it is under way.
    pub(super) fn build(self: &Arc<Self>, workspace: &Workspace) {
        if self.building.swap(true, Ordering::Relaxed) {
            return;
        }
        let (live, workspace) = (Arc::downgrade(self), workspace.clone());
        let spawned = thread::Builder::new().name("index".to_owned()).spawn(move || {
            lower_priority(Priority::Background);
            work(&live, &workspace);
        });
        if spawned.is_err() {
            self.building.store(false, Ordering::Relaxed);
        }
    }

    /// The background work itself; `building` was set before.
    pub(super) fn work(self: &Arc<Self>, workspace: &Workspace) {
        work(&Arc::downgrade(self), workspace);
    }

    fn yield_to_calls(&self) {
        let started = Instant::now();
        while self.calls.load(Ordering::Relaxed) > 0 && started.elapsed() < YIELD {
            thread::sleep(LOOK);
        }
    }
}

fn work(live: &Weak<PathIndex>, workspace: &Workspace) {
    let _done = Done(live.clone());
    for root in workspace.roots() {
        list_and_fill(live, workspace, &workspace.root_path(root));
    }
}

/// Says that the work has ended, even by a panic.
struct Done(Weak<PathIndex>);

impl Drop for Done {
    fn drop(&mut self) {
        if let Some(live) = self.0.upgrade() {
            live.building.store(false, Ordering::Relaxed);
        }
    }
}

/// Lists a root that is not listed yet, and fills its filter.
fn list_and_fill(live: &Weak<PathIndex>, workspace: &Workspace, root: &WorkspacePath) {
    let Some(strong) = live.upgrade() else { return };
    let known = strong.trees().iter().any(|tree| tree.root == *root && !matches!(tree.state, State::Unknown));
    if !known {
        strong.yield_to_calls();
        let state = survey(workspace, root, strong.mode);
        let mut trees = strong.trees();
        match trees.iter_mut().find(|tree| tree.root == *root) {
            Some(tree) => {
                tree.failures += u8::from(matches!(state, State::Unknown));
                tree.state = if tree.failures >= MAX_FAILURES { State::Walked(Unwatchable::Twice) } else { state };
            }
            None => trees.push(Tree { root: root.clone(), state, failures: 0 }),
        }
    }
    drop(strong);
    let mut after = None;
    loop {
        // Held for a batch only, so that the end of the session ends the work.
        let Some(live) = live.upgrade() else { return };
        match fill(&live, root, after.as_ref()) {
            Some(last) => after = Some(last),
            None => break,
        }
    }
    let mut after = None;
    loop {
        let Some(live) = live.upgrade() else { return };
        match verify(&live, root, after.as_ref()) {
            Some(last) => after = Some(last),
            None => return,
        }
    }
}

/// Compares what is known of the files behind `after` with the disk; the last one looked at, or
/// `None` at the end, or when that was done a short while ago.
///
/// No answer waits for this. It bounds how long a change stays unseen that no event tells of: one
/// through a mapping that stays open, or through a name made later where nothing is watched.
fn verify(live: &PathIndex, root: &WorkspacePath, after: Option<&WorkspacePath>) -> Option<WorkspacePath> {
    let (names, from) = {
        let mut trees = live.trees();
        let tree = trees.iter_mut().find(|tree| tree.root == *root)?.refresh()?;
        if after.is_none() && tree.verified.is_some_and(|verified| verified.elapsed() < PathIndex::COMPARED_EVERY) {
            return None;
        }
        let from = after.map_or(0, |after| tree.list.items.partition_point(|item| item.entry.path() <= after));
        if from == tree.list.items.len() {
            tree.verified = Some(Instant::now());
            tree.compare_rules();
            return None;
        }
        (Arc::clone(&tree.list), from)
    };
    live.yield_to_calls();
    let batch = &names.items[from..names.items.len().min(from + VERIFY_FILES)];
    let last = batch.last().map(|item| item.entry.path().clone());
    let changed = compare::changed(batch);
    drop(names);
    if !changed.is_empty() {
        let mut trees = live.trees();
        let tree = trees.iter_mut().find(|tree| tree.root == *root)?.refresh()?;
        tree.renew(&changed);
    }
    last
}

fn survey(workspace: &Workspace, root: &WorkspacePath, mode: IndexMode) -> State {
    for _ in 0..MAX_SURVEYS {
        let mut watcher = match workspace.watch(root.root()) {
            Ok(watcher) => watcher,
            Err(why) => return State::Walked(why),
        };
        let list = List::survey(root, &mut watcher);
        // What was looked at may be gone again; a look can mount something itself, too (autofs).
        if watcher.is_remounted() {
            continue;
        }
        return match (list, watcher.failure()) {
            // A directory was moved while it was looked at, perhaps: once more, later.
            (_, Some(Unwatchable::Twice)) | (Err(_), None) => State::Unknown,
            (_, Some(why)) => State::Walked(why),
            (Ok(list), None) if list.files() < LARGE && mode != IndexMode::Eager => State::Small,
            (Ok(list), None) => State::Listed(Box::new(Listed {
                watcher,
                list: Arc::new(list),
                signatures: Signatures::new(FILTER_MEMORY),
                stale: 0,
                built: None,
                verified: None,
                written_silently: false,
                mounts: 0,
            })),
        };
    }
    State::Unknown
}

/// A file that was read for the filter.
struct Taken {
    path: WorkspacePath,
    id: u64,
    content: Reading,
    known: Option<Known>,
}

enum Reading {
    Text(Vec<u8>),
    Says(Content),
}

/// Takes in the next unread files behind `after`; the last one looked at, or `None` at the end.
fn fill(live: &PathIndex, root: &WorkspacePath, after: Option<&WorkspacePath>) -> Option<WorkspacePath> {
    let (batch, mounts) = next_batch(live, root, after)?;
    let last = batch.last().map(|(entry, _)| entry.path().clone())?;
    let (mut readings, mut bytes, mut reached) = (Vec::new(), 0, None);
    live.yield_to_calls();
    for (entry, id) in batch {
        reached = Some(entry.path().clone());
        let Some((content, known)) = read(&entry) else { continue };
        if let Reading::Text(text) = &content {
            bytes += text.len();
        }
        readings.push(Taken { path: entry.into_path(), id, content, known });
        if bytes >= BATCH_BYTES {
            break;
        }
    }
    let mut trees = live.trees();
    let listed = trees.iter_mut().find(|tree| tree.root == *root)?.refresh()?;
    if listed.mounts != mounts {
        // Any of them may have been read from a file that was mounted there for a moment.
        readings.clear();
    }
    let names = Arc::make_mut(&mut listed.list);
    for Taken { path, id, content, known } in readings {
        // Another number, or none: it has changed since the batch was chosen.
        let Some(at) = names.find(&path).filter(|at| names.items[*at].id == id) else { continue };
        let content = match content {
            Reading::Says(content) => content,
            Reading::Text(text) => match (listed.signatures.insert(&text), u32::try_from(text.len())) {
                (Some(placement), Ok(bytes)) => Content::Placed(placement, bytes, str::from_utf8(&text).is_ok()),
                _ => Content::Loose,
            },
        };
        names.items.change(at, |item| {
            item.content = content;
            if let Some(known) = known {
                item.set_known(known);
            }
        });
    }
    reached.or(Some(last))
}

/// The next unread files, each with the number of its state, and [`Listed::mounts`].
fn next_batch(
    live: &PathIndex,
    root: &WorkspacePath,
    after: Option<&WorkspacePath>,
) -> Option<(Vec<(Entry, u64)>, u64)> {
    let mut trees = live.trees();
    let listed = trees.iter_mut().find(|tree| tree.root == *root)?.refresh()?;
    if after.is_none() {
        listed.stale = 0;
        if listed.signatures.waste() > MAX_WASTE {
            listed.signatures = Signatures::new(FILTER_MEMORY);
            let items = &mut Arc::make_mut(&mut listed.list).items;
            for at in 0..items.len() {
                if matches!(items[at].content, Content::Placed(..)) {
                    items.change(at, |item| item.content = Content::Unread);
                }
            }
        }
    }
    let from = after.map_or(0, |after| listed.list.items.partition_point(|item| item.entry.path() <= after));
    let unread = listed.list.items[from..].iter().filter(|item| item.is_unread());
    let batch: Vec<_> = unread.take(BATCH_FILES).map(|item| (item.entry.clone(), item.id)).collect();
    if batch.is_empty() {
        listed.built = Some(Instant::now());
        let (names, filter) = (listed.list.memory(), listed.signatures.memory());
        tracing::debug!(%root, names, filter, "the index is up to date; its size in bytes");
        return None;
    }
    Some((batch, listed.mounts))
}

/// What a file holds. `None` when it should be looked at another time.
fn read(entry: &Entry) -> Option<(Reading, Option<Known>)> {
    if entry.is_secret() {
        return Some((Reading::Says(Content::Secret), None));
    }
    let loose = Some((Reading::Says(Content::Loose), None));
    let Ok(mut file) = entry.open() else { return loose };
    let stat = file.stat().clone();
    // Another name can change it without an event here.
    if stat.links() != 1 || stat.size > LARGEST {
        return loose;
    }
    // In the future counts as just now.
    let age = stat.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
    if age.is_none_or(|age| age < HOT) {
        return None;
    }
    let mut text = Vec::with_capacity(usize::try_from(stat.size).unwrap_or_default() + 1);
    match file.read_to_limit(&mut text, LARGEST + 1) {
        Ok(true) => {}
        Ok(false) | Err(_) => return loose,
    }
    if !file.restat().is_ok_and(|now| now.same_file_state(&stat)) || text.len() as u64 != stat.size {
        return None;
    }
    let reading = if encoding_rs::Encoding::for_bom(&text).is_some() {
        // Searched as what it decodes to.
        Reading::Says(Content::Loose)
    } else {
        match memchr::memchr(0, &text) {
            // Searched as what it decodes to, as well.
            Some(_) if text::looks_like_utf16(&text) => Reading::Says(Content::Loose),
            Some(at) if at < FIRST_LOOK => {
                Reading::Says(u32::try_from(text.len()).map_or(Content::Loose, Content::Binary))
            }
            // Whether a search gets there depends on its pattern.
            Some(_) => Reading::Says(Content::Loose),
            None => Reading::Text(mem::take(&mut text)),
        }
    };
    Some((reading, Known::of(&stat)))
}
