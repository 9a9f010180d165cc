//! Reads the files of an index into its n-gram filter, a batch at a time.
//!
//! What was read counts only if no event says that the file has changed meanwhile.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant, SystemTime},
};

use super::{KnownContent, KnownStat, PathIndex, RootIndex, root_index::slot_of};
use crate::{
    text,
    workspace::{Entry, Visibility, WorkspacePath},
};

/// Bytes of the largest file that is taken in: larger ones are searched each time.
const LARGEST: u64 = 16 << 20;
/// Files and bytes that are read between two turns of the lock.
const BATCH_FILES: usize = 64;
const BATCH_BYTES: usize = 1 << 20;
/// Bytes at the front of a file in which every search looks for a NUL: the buffer of
/// grep-searcher.
const FIRST_LOOK: usize = 64 << 10;
/// A file that was modified so shortly ago is likely to be again.
const HOT: Duration = Duration::from_secs(2);
/// Share of dead content, in percent, from which the filter is built again from nothing.
const MAX_WASTE: u64 = 50;

/// A file that was read for the filter.
struct ReadFile {
    path: WorkspacePath,
    id: u64,
    content: ReadContent,
    known: Option<KnownStat>,
}

enum ReadContent {
    Text(Vec<u8>),
    Known(KnownContent),
}

/// Takes in the next unread files behind `after`; the last one looked at, or `None` at the end.
pub(super) fn fill(index: &PathIndex, root: &WorkspacePath, after: Option<&WorkspacePath>) -> Option<WorkspacePath> {
    let (batch, mounts) = next_batch(slot_of(&mut index.roots(), root)?.refresh()?, root, after)?;
    let (mut files, mut bytes, mut last) = (Vec::new(), 0, None);
    index.yield_to_searches();
    for (entry, id) in batch {
        last = Some(entry.path().clone());
        let Some((content, known)) = read(&entry) else { continue };
        if let ReadContent::Text(text) = &content {
            bytes += text.len();
        }
        files.push(ReadFile { path: entry.into_path(), id, content, known });
        if bytes >= BATCH_BYTES {
            break;
        }
    }
    let mut roots = index.roots();
    let root = slot_of(&mut roots, root)?.refresh()?;
    // Otherwise any of them may have been read from a file that was mounted there for a moment.
    if root.mounts == mounts {
        take_in(root, files);
    }
    last
}

/// The next unread files, each with the number of its state, and [`RootIndex::mounts`].
fn next_batch(
    index: &mut RootIndex,
    root: &WorkspacePath,
    after: Option<&WorkspacePath>,
) -> Option<(Vec<(Entry, u64)>, u64)> {
    if after.is_none() {
        index.stale = 0;
        if index.filter.waste() > MAX_WASTE {
            index.clear_filter();
        }
    }
    let unread = index.list.items[index.list.position_after(after)..].iter().filter(|item| item.is_unread());
    let batch: Vec<_> = unread.take(BATCH_FILES).map(|item| (item.entry.clone(), item.id)).collect();
    if batch.is_empty() {
        index.built = Some(Instant::now());
        let (paths, filter) = (index.list.memory(), index.filter.memory());
        tracing::debug!(%root, paths, filter, "the index is up to date; its size in bytes");
        return None;
    }
    Some((batch, index.mounts))
}

fn take_in(index: &mut RootIndex, files: Vec<ReadFile>) {
    let list = Arc::make_mut(&mut index.list);
    for ReadFile { path, id, content, known } in files {
        // Another number, or none: it has changed since the batch was chosen.
        let Some(at) = list.find(&path).filter(|at| list.items[*at].id == id) else { continue };
        let content = match content {
            ReadContent::Known(content) => content,
            ReadContent::Text(text) => match (index.filter.insert(&text), u32::try_from(text.len())) {
                (Some(segments), Ok(bytes)) => KnownContent::Filtered(segments, bytes, str::from_utf8(&text).is_ok()),
                _ => KnownContent::AlwaysSearch,
            },
        };
        list.items.change(at, |item| {
            item.content = content;
            if let Some(known) = known {
                item.known = OnceLock::from(known);
            }
        });
    }
}

/// What a file holds. `None` when it should be looked at another time.
fn read(entry: &Entry) -> Option<(ReadContent, Option<KnownStat>)> {
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
    if age.is_none_or(|age| age < HOT) {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or_default() + 1);
    match file.read_to_limit(&mut bytes, LARGEST + 1) {
        Ok(true) => {}
        Ok(false) | Err(_) => return always,
    }
    if !file.restat().is_ok_and(|now| now.same_file_state(&stat)) || bytes.len() as u64 != stat.size {
        return None;
    }
    Some((classified(bytes), KnownStat::of(&stat)))
}

/// The content of a file as a search would take it.
fn classified(bytes: Vec<u8>) -> ReadContent {
    // Searched as what it decodes to.
    if encoding_rs::Encoding::for_bom(&bytes).is_some() {
        return ReadContent::Known(KnownContent::AlwaysSearch);
    }
    match memchr::memchr(0, &bytes) {
        None => ReadContent::Text(bytes),
        Some(at) if at < FIRST_LOOK && !text::looks_like_utf16(&bytes) => {
            ReadContent::Known(u32::try_from(bytes.len()).map_or(KnownContent::AlwaysSearch, KnownContent::Binary))
        }
        // UTF-16 is searched as what it decodes to; whether a search gets to a late NUL depends on its pattern.
        Some(_) => ReadContent::Known(KnownContent::AlwaysSearch),
    }
}
