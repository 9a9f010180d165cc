//! Reads the files of an index into its n-gram filter, a batch at a time.
//!
//! What was read counts only if no event says that the file has changed meanwhile.

use std::{
    sync::{Arc, OnceLock},
    time::{Instant, SystemTime},
};

use confined_fs::{Entry, Visibility, WorkspacePath};

use crate::{
    ngram_filter::ContentGrams,
    path_index::{
        KnownContent, KnownStat, PathIndex, RootIndex, RootSlot,
        root_index::{Settled, TICK, filter_memory, slot_of},
    },
};

/// Bytes of the largest file that is taken in: larger ones are searched each time.
const LARGEST: u64 = 16 << 20;
/// Files that are chosen at once, and bytes that are read between two turns of the lock.
const BATCH_FILES: usize = 64;
const BATCH_BYTES: usize = 1 << 20;
/// Bytes at the front of a file in which every search looks for a NUL: the buffer of
/// grep-searcher.
const FIRST_LOOK: usize = 64 << 10;
/// Share of dead content, in percent, from which the filter is built again from nothing.
const MAX_WASTE: u64 = 50;

/// A file that was read for the filter.
struct ReadFile {
    path: WorkspacePath,
    id: u32,
    content: ReadContent,
    known: Option<KnownStat>,
}

enum ReadContent {
    /// Whether it is UTF-8.
    Text(ContentGrams, bool),
    Known(KnownContent),
}

/// Begins to take in what is not read, from the first path on.
pub(super) fn begin(index: &PathIndex, root: &WorkspacePath) {
    let mut roots = index.roots();
    let Some(index) = slot_of(&mut roots, root).and_then(RootSlot::filled) else { return };
    (index.stale, index.filled_to) = (0, None);
    if index.filter.waste() > MAX_WASTE {
        index.clear_filter();
    }
}

/// Takes in the next unread files; false when there are no more. Several threads may do that at once.
pub(super) fn fill(index: &PathIndex, root: &WorkspacePath) -> bool {
    let batch = slot_of(&mut index.roots(), root).and_then(RootSlot::filled).and_then(next_batch);
    let Some(Batch { files: batch, mounts, settled }) = batch else { return false };
    let (mut files, mut bytes) = (Vec::new(), 0);
    index.yield_to_searches();
    for (entry, id) in batch {
        let Some((content, known)) = read(&entry, settled) else { continue };
        if let ReadContent::Text(grams, _) = &content {
            bytes += grams.bytes as usize;
        }
        files.push(ReadFile { path: entry.into_path(), id, content, known });
        if bytes >= BATCH_BYTES {
            bytes = 0;
            take_in(index, root, mounts, std::mem::take(&mut files));
            index.yield_to_searches();
        }
    }
    take_in(index, root, mounts, files);
    if let Some(index) = slot_of(&mut index.roots(), root).and_then(RootSlot::filled) {
        index.filling = index.filling.saturating_sub(1);
    }
    true
}

/// What is read between two turns of the lock.
struct Batch {
    /// Each with the number of its state.
    files: Vec<(Entry, u32)>,
    /// [`RootIndex::mounts`].
    mounts: u64,
    settled: Settled,
}

/// The next unread files.
fn next_batch(index: &mut RootIndex) -> Option<Batch> {
    let from = index.list.position_after(index.filled_to.as_ref());
    let items = &index.list.items;
    let unread = items.range(from..items.len()).filter(|item| item.is_unread());
    let files: Vec<_> = unread.take(BATCH_FILES).map(|item| (item.entry(), item.id)).collect();
    let Some((last, _)) = files.last() else {
        index.built = Some(Instant::now());
        let (paths, filter) = (index.list.memory(), index.filter.memory());
        tracing::debug!(paths, filter, "the index is up to date; its size in bytes");
        return None;
    };
    index.filled_to = Some(last.path().clone());
    index.filling += 1;
    Some(Batch { files, mounts: index.mounts, settled: index.settled })
}

fn take_in(index: &PathIndex, root: &WorkspacePath, mounts: u64, files: Vec<ReadFile>) {
    let mut roots = index.roots();
    let allowed = filter_memory(&roots, root);
    let Some(index) = slot_of(&mut roots, root).and_then(RootSlot::filled) else { return };
    index.filter.limit_to(allowed);
    // Otherwise any of them may have been read from a file that was mounted there for a moment.
    if index.mounts != mounts {
        return;
    }
    let list = Arc::make_mut(&mut index.list);
    index.unsaved += files.len();
    for ReadFile { path, id, content, known } in files {
        // Another number, or none: it has changed since the batch was chosen.
        let Some(at) = list.find(&path).filter(|at| list.items.get(*at).id == id) else { continue };
        let content = match content {
            ReadContent::Known(content) => content,
            ReadContent::Text(grams, utf8) => match index.filter.add(&grams) {
                Some(segments) => KnownContent::Filtered(segments, grams.bytes, utf8),
                None => KnownContent::AlwaysSearch,
            },
        };
        list.items.change(at, |item| {
            item.set_content(content);
            if let Some(known) = known {
                item.known = OnceLock::from(known);
            }
        });
    }
}

/// What a file holds. `None` when it should be looked at another time.
fn read(entry: &Entry, settled: Settled) -> Option<(ReadContent, Option<KnownStat>)> {
    let always = Some((ReadContent::Known(KnownContent::AlwaysSearch), None));
    match entry.visibility() {
        Visibility::Denied => return Some((ReadContent::Known(KnownContent::Secret), None)),
        Visibility::Masked => return always,
        Visibility::Open => {}
    }
    let Ok(mut file) = entry.open() else { return always };
    let stat = file.stat().clone();
    // Another name can change it without an event here.
    if stat.links() != 1 || stat.size > LARGEST {
        return always;
    }
    // In the future counts as just now.
    let age = stat.modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
    if age.is_none_or(|age| age < TICK) {
        return None;
    }
    let is_settled = stat.facts().is_some_and(|facts| settled.is_settled(&facts));
    let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or_default() + 1);
    match file.read_to_limit(&mut bytes, LARGEST + 1) {
        Ok(true) => {}
        Ok(false) | Err(_) => return always,
    }
    if !file.restat().is_ok_and(|now| now.same_file_state(&stat)) || bytes.len() as u64 != stat.size {
        return None;
    }
    Some((classified(&bytes), KnownStat::of(&stat, is_settled)))
}

/// The content of a file as a search would take it.
fn classified(bytes: &[u8]) -> ReadContent {
    // Searched as what it decodes to.
    if encoding_rs::Encoding::for_bom(bytes).is_some() {
        return ReadContent::Known(KnownContent::AlwaysSearch);
    }
    match memchr::memchr(0, bytes) {
        None => ContentGrams::of(bytes).map_or(ReadContent::Known(KnownContent::AlwaysSearch), |grams| {
            ReadContent::Text(grams, str::from_utf8(bytes).is_ok())
        }),
        Some(at) if at < FIRST_LOOK && !text_file::looks_like_utf16(bytes) && !text_file::is_padded(bytes) => {
            ReadContent::Known(u32::try_from(bytes.len()).map_or(KnownContent::AlwaysSearch, KnownContent::Binary))
        }
        // UTF-16 is searched as what it decodes to; whether a search gets to a late NUL depends on its pattern.
        Some(_) => ReadContent::Known(KnownContent::AlwaysSearch),
    }
}
