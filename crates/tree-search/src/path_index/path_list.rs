//! All paths below one root, in path order, in pages that lists of other moments share.
//!
//! A change replaces the pages that it is about: its cost does not depend on the length of the list.
//!
//! A search skips along the summaries alone, which are consecutive in memory. They are made here whenever a path is
//! added or changed, and nowhere else, so that none can differ from its path. The paths themselves are a [`PathText`]: one
//! after the other in one piece of memory.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};
use std::{collections::HashSet, ffi::OsStr, iter::Peekable, path::Path};

use confined_fs::walk::{Entry, EntryOrigin, Ignored, TreeListing, VerifiedListing, WalkOptions};
use confined_fs::watch::{WatchedEntry, Watcher};
use confined_fs::{AccessError, FileKind, Stat, Workspace, WorkspacePath, path::path_order};

use super::path_state::{IndexedPath, KnownContent, KnownStat, PathState, short_inode};

/// The names below one root, in path order, each directory before what is in it.
#[derive(Clone, Debug)]
pub(crate) struct PathList {
    pub(super) items: PathTable,
    root: WorkspacePath,
    next_id: u32,
}

impl PathList {
    /// Lists and watches everything below `root`.
    ///
    /// # Errors
    /// When the root itself cannot be listed.
    pub(super) fn read(root: &WorkspacePath, watcher: &mut Watcher) -> Result<Self, AccessError> {
        let mut list = Self::empty(root, watcher.origin());
        watcher.watch_tree(root, true, &mut |listed| list.push(&listed, None))?;
        list.items.shrink_to_fit();
        Ok(list)
    }

    /// Lists everything below `root` that no ignore rule leaves out, without a watch, until `is_over` is true of how many
    /// names there are: the list, and whether that is all. `with_times`: each file is asked for its stat.
    ///
    /// # Errors
    /// When the root itself cannot be listed.
    pub(crate) fn walk(
        workspace: &Workspace,
        root: &WorkspacePath,
        with_times: bool,
        mut is_over: impl FnMut(usize) -> bool,
    ) -> Result<(Self, bool), AccessError> {
        let mut list = Self::empty(root, workspace.entry_origin(root));
        let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: true, symlinks: false };
        let report = workspace.walk(root, &options, &mut |entry| {
            let stat = if with_times && entry.kind() == FileKind::File { entry.stat().ok() } else { None };
            list.push(&WatchedEntry::of_unwatched(entry), stat.as_ref());
            if is_over(list.items.len()) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        list.items.shrink_to_fit();
        Ok((list, !report.stopped))
    }

    /// Lists what is above and below `start` from what a former process listed, as far as that is still true. The list is
    /// to be used only where that says that it is whole.
    pub(super) fn verify(
        workspace: &Workspace,
        start: &WorkspacePath,
        listing: &TreeListing,
    ) -> (Self, VerifiedListing) {
        let root = workspace.root_path(start.root());
        let mut list = Self::empty(&root, workspace.entry_origin(&root));
        let verified = workspace.verify_listing(start, listing, &mut |name| {
            let id = list.new_id();
            list.items.push(name.relative, PathState::verified(&name, id));
        });
        (list, verified)
    }

    pub(crate) fn empty(root: &WorkspacePath, origin: EntryOrigin) -> Self {
        Self { items: PathTable::new(origin), root: root.clone(), next_id: 0 }
    }

    pub(super) fn push(&mut self, listed: &WatchedEntry, stat: Option<&Stat>) {
        let mut state = PathState::new(listed, self.new_id());
        if let Some(known) = stat.and_then(|stat| KnownStat::of(stat, false)) {
            state.known = OnceLock::from(known);
        }
        self.items.push(listed.entry.path().relative(), state);
    }

    /// Another number for each state of a file; comes round after four billion.
    fn new_id(&mut self) -> u32 {
        self.next_id = self.next_id.wrapping_add(1);
        self.next_id
    }

    pub(crate) fn unignored(&self) -> impl Iterator<Item = IndexedPath<'_>> {
        let is_shown =
            |item: &IndexedPath<'_>| !item.ignored && matches!(item.kind, FileKind::File | FileKind::Directory);
        self.items.iter().filter(is_shown)
    }

    pub(super) fn files(&self) -> usize {
        self.items.iter().filter(|item| item.is_file() && !item.ignored).count()
    }

    /// The range of what is below `start`, for an answer; `None` when that is no directory of the list, or
    /// nothing is listed below it: a walk of nothing costs nothing, and fails where it must (a mounted folder
    /// that was removed elsewhere has a name and cannot be listed).
    pub(super) fn below(&self, start: &WorkspacePath) -> Option<Range<usize>> {
        self.range_of(start).filter(|range| *start == self.root || !range.is_empty())
    }

    /// The range of what is below a directory; `None` when that is no directory that is listed.
    pub(super) fn range_of(&self, directory: &WorkspacePath) -> Option<Range<usize>> {
        if *directory == self.root {
            return Some(0..self.items.len());
        }
        let at = self.find(directory)?;
        let item = self.items.get(at);
        let listed = item.kind == FileKind::Directory && !item.ignored && !item.unreadable && !item.unwatched;
        listed.then(|| at + 1..self.end_of(at))
    }

    pub(super) fn position_after(&self, after: Option<&WorkspacePath>) -> usize {
        let is_passed = |after: &WorkspacePath, path: &Path| path_order(path, after.relative()).is_le();
        after.map_or(0, |after| self.items.partition_point(0..self.items.len(), |path| is_passed(after, path)))
    }

    pub(super) fn find(&self, path: &WorkspacePath) -> Option<usize> {
        let at = self.items.partition_point(0..self.items.len(), |one| path_order(one, path.relative()).is_lt());
        // By their bytes: a comparison of paths takes each apart into its names.
        let is_there = at < self.items.len() && self.items.get(at).relative.as_os_str() == path.relative().as_os_str();
        (is_there && path.is_in(&self.root)).then_some(at)
    }

    pub(super) fn added(&mut self, listed: WatchedEntry) -> AddedPath {
        let state = PathState::new(&listed, self.new_id());
        AddedPath { entry: listed.entry, state, is_kept: false }
    }

    pub(super) fn end_of(&self, at: usize) -> usize {
        let (top, all) = (self.items.get(at), self.items.len());
        let is_in = |path: &Path| path.starts_with(top.relative);
        // Most subtrees are small.
        let mut step = 1;
        while at + step < all && is_in(self.items.get(at + step).relative) {
            step *= 2;
        }
        self.items.partition_point(at + step / 2..all.min(at + step), is_in)
    }

    pub(super) fn forget_asked(&mut self) {
        for at in 0..self.items.len() {
            if self.items.get(at).known.get().is_some_and(|known| known.asked) {
                self.items.change(at, |item| item.known = OnceLock::new());
            }
        }
    }

    pub(super) fn forget_content(&mut self, at: usize, dropped: &mut Vec<KnownContent>) {
        let id = self.new_id();
        dropped.push(self.items.change(at, |item| {
            item.known = OnceLock::new();
            item.id = id;
            std::mem::take(&mut item.content)
        }));
    }

    /// Takes what is at these positions out, and puts others in. What was known of content that is gone is put into
    /// `dropped`.
    pub(super) fn replace(
        &mut self,
        removed: Vec<Range<usize>>,
        mut added: Vec<AddedPath>,
        dropped: &mut Vec<KnownContent>,
    ) {
        // A new name may be another one of a file that is known.
        let new_files = added.iter().filter(|item| !item.is_kept && item.state.is_file());
        let stats = new_files.filter_map(|item| item.entry.stat().ok()).filter(|stat| stat.links() != 1);
        let linked: HashSet<u32> = stats.map(|stat| short_inode(stat.inode())).collect();
        if !removed.is_empty() || !added.is_empty() {
            added.sort_by(|one, two| one.entry.path().cmp(two.entry.path()));
            let added = added.iter().map(|new| (new.entry.path().relative(), new.state.clone()));
            self.items.replace(removed, added, dropped);
        }
        if linked.is_empty() {
            return;
        }
        for at in 0..self.items.len() {
            if self.items.get(at).known.get().is_some_and(|known| linked.contains(&known.inode)) {
                self.forget_content(at, dropped);
            }
        }
    }
}

pub(super) struct AddedPath {
    pub(super) entry: Entry,
    pub(super) state: PathState,
    pub(super) is_kept: bool,
}

#[derive(Clone, Debug)]
pub(super) struct PathTable {
    origin: EntryOrigin,
    /// Each has at least one path, so that its first one can be compared.
    pages: Vec<Arc<PathPage>>,
    /// The position of the first path of each page, and after them that of the end.
    starts: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct PathRun<'l> {
    page: &'l PathPage,
    slots: Range<usize>,
    origin: &'l EntryOrigin,
}

type NewPath<'p> = (&'p Path, PathState);

impl<'l> PathRun<'l> {
    fn iter(&self) -> impl Iterator<Item = IndexedPath<'l>> + use<'l> {
        let Self { page, ref slots, origin } = *self;
        slots.clone().map(move |slot| page.get(slot, origin))
    }

    pub(super) fn get(&self, at: usize) -> IndexedPath<'l> {
        self.page.get(self.slots.start + at, self.origin)
    }

    pub(super) fn summaries(&self) -> &'l [PathSummary] {
        &self.page.summaries[self.slots.clone()]
    }
}

impl PathTable {
    /// An empty one for paths of that root.
    pub(super) fn new(origin: EntryOrigin) -> Self {
        Self { origin, pages: Vec::new(), starts: vec![0] }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    fn locate(&self, at: usize) -> (usize, usize) {
        // The first start is 0, so at least one is not after `at`.
        let page = self.starts.partition_point(|start| *start <= at) - 1;
        (page, at - self.starts[page])
    }

    pub(super) fn get(&self, at: usize) -> IndexedPath<'_> {
        let (page, slot) = self.locate(at);
        self.pages[page].get(slot, &self.origin)
    }

    pub(super) fn runs(&self, range: Range<usize>) -> impl Iterator<Item = PathRun<'_>> + use<'_> {
        let first = if range.is_empty() { self.pages.len() } else { self.locate(range.start).0 };
        let pages = self.pages[first..].iter().zip(&self.starts[first..]);
        pages.take_while(move |(_, start)| **start < range.end).map(move |(page, start)| {
            let slots = range.start.saturating_sub(*start)..page.len().min(range.end - start);
            PathRun { page, slots, origin: &self.origin }
        })
    }

    pub(super) fn range(&self, range: Range<usize>) -> impl Iterator<Item = IndexedPath<'_>> + use<'_> {
        self.runs(range).flat_map(|run| run.iter())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = IndexedPath<'_>> + use<'_> {
        self.range(0..self.len())
    }

    pub(super) fn partition_point(&self, range: Range<usize>, mut is_before: impl FnMut(&Path) -> bool) -> usize {
        let Range { mut start, mut end } = range;
        while start < end {
            let middle = start.midpoint(end);
            let (page, slot) = self.locate(middle);
            if is_before(self.pages[page].relative(slot)) {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }

    pub(super) fn push(&mut self, relative: &Path, state: PathState) {
        if let Some(page) = self.pages.last_mut().filter(|page| page.len() < PathPage::MAX_PATHS) {
            Arc::make_mut(page).push(relative, state);
        } else {
            if let Some(page) = self.pages.last_mut() {
                Arc::make_mut(page).shrink_to_fit();
            }
            let mut page = PathPage::default();
            page.push(relative, state);
            self.pages.push(Arc::new(page));
            self.starts.push(self.len());
        }
        if let Some(end) = self.starts.last_mut() {
            *end += 1;
        }
    }

    pub(super) fn shrink_to_fit(&mut self) {
        if let Some(page) = self.pages.last_mut() {
            Arc::make_mut(page).shrink_to_fit();
        }
        self.pages.shrink_to_fit();
        self.starts.shrink_to_fit();
    }

    pub(super) fn change<T>(&mut self, at: usize, change: impl FnOnce(&mut PathState) -> T) -> T {
        let (page, slot) = self.locate(at);
        Arc::make_mut(&mut self.pages[page]).change(slot, change)
    }

    pub(super) fn memory(&self) -> usize {
        let numbers = self.starts.capacity() * size_of::<usize>() + self.pages.capacity() * size_of::<usize>();
        numbers + self.pages.iter().map(|page| page.memory()).sum::<usize>()
    }

    /// Takes out what is at the positions `removed`, and puts in the paths `added`, which are in path order.
    /// The knowledge of content that is taken out is put into `dropped`.
    pub(super) fn replace<'p>(
        &mut self,
        mut removed: Vec<Range<usize>>,
        added: impl Iterator<Item = NewPath<'p>>,
        dropped: &mut Vec<KnownContent>,
    ) {
        removed.retain(|range| !range.is_empty());
        removed.sort_by_key(|range| range.start);
        let mut removed = removed.into_iter().peekable();
        let mut added = added.peekable();
        let pages = std::mem::take(&mut self.pages);
        let mut merged = MergedPages::default();
        for (index, page) in pages.iter().enumerate() {
            let range = self.starts[index]..self.starts[index + 1];
            let next = pages.get(index + 1).map(|page| page.relative(0));
            let comes_first = |new: &NewPath<'_>| next.is_none_or(|next| path_order(new.0, next).is_lt());
            while removed.next_if(|removed| removed.end <= range.start).is_some() {}
            let is_same = removed.peek().is_none_or(|removed| removed.start >= range.end);
            if is_same && !added.peek().is_some_and(comes_first) {
                merged.keep(page);
                continue;
            }
            for (slot, at) in range.enumerate() {
                while removed.next_if(|removed| removed.end <= at).is_some() {}
                if removed.peek().is_some_and(|removed| removed.start <= at) {
                    dropped.push(page.states[slot].content.clone());
                    continue;
                }
                let relative = page.relative(slot);
                push_while(&mut merged, &mut added, |new| path_order(new.0, relative).is_lt());
                merged.made.push(relative, page.states[slot].clone());
            }
            push_while(&mut merged, &mut added, comes_first);
        }
        push_while(&mut merged, &mut added, |_| true);
        merged.end_made();
        self.pages = merged.pages;
        self.starts = vec![0];
        for page in &self.pages {
            self.starts.push(self.len() + page.len());
        }
    }
}

fn push_while<'p>(
    merged: &mut MergedPages,
    added: &mut Peekable<impl Iterator<Item = NewPath<'p>>>,
    mut is_next: impl FnMut(&NewPath<'p>) -> bool,
) {
    while let Some((relative, state)) = added.next_if(&mut is_next) {
        merged.made.push(relative, state);
    }
}

#[derive(Default)]
struct MergedPages {
    pages: Vec<Arc<PathPage>>,
    made: PathPage,
}

impl MergedPages {
    fn keep(&mut self, page: &Arc<PathPage>) {
        self.end_made();
        self.pages.push(Arc::clone(page));
    }

    /// Adds pages of the paths that were made, all of about the same length. A few share with the page before: else each
    /// path that is put between two full pages would make one more page.
    fn end_made(&mut self) {
        let mut made = std::mem::take(&mut self.made);
        if (1..PathPage::MAX_PATHS / 2).contains(&made.len())
            && let Some(before) = self.pages.pop()
        {
            let few = std::mem::replace(&mut made, Arc::unwrap_or_clone(before));
            made.append(&few, 0..few.len());
        }
        let pages = made.len().div_ceil(PathPage::MAX_PATHS);
        for at in 0..pages {
            let mut page = PathPage::default();
            page.append(&made, made.len() * at / pages..made.len() * (at + 1) / pages);
            page.shrink_to_fit();
            self.pages.push(Arc::new(page));
        }
    }
}

#[derive(Clone, Debug, Default)]
struct PathPage {
    text: PathText,
    states: Vec<PathState>,
    summaries: Vec<PathSummary>,
}

impl PathPage {
    /// Paths of one page at most: a change copies one page where a search holds the list, so they should be few; a page
    /// has five allocations, so they should be many.
    const MAX_PATHS: usize = 512;

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    fn relative(&self, slot: usize) -> &Path {
        self.text.get(slot)
    }

    fn get<'l>(&'l self, slot: usize, origin: &'l EntryOrigin) -> IndexedPath<'l> {
        IndexedPath::new(self.relative(slot), &self.states[slot], origin)
    }

    fn append(&mut self, other: &Self, slots: Range<usize>) {
        slots.for_each(|slot| self.push(other.relative(slot), other.states[slot].clone()));
    }

    pub(super) fn push(&mut self, relative: &Path, state: PathState) {
        self.text.push(relative);
        self.summaries.push(PathSummary::of(&state));
        self.states.push(state);
    }

    pub(super) fn change<T>(&mut self, slot: usize, change: impl FnOnce(&mut PathState) -> T) -> T {
        let state = &mut self.states[slot];
        let result = change(state);
        self.summaries[slot] = PathSummary::of(state);
        result
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.text.bytes.shrink_to_fit();
        self.text.ends.shrink_to_fit();
        self.states.shrink_to_fit();
        self.summaries.shrink_to_fit();
    }

    pub(super) fn memory(&self) -> usize {
        size_of::<Self>()
            + self.text.bytes.capacity()
            + self.text.ends.capacity() * size_of::<u32>()
            + self.states.capacity() * size_of::<PathState>()
            + self.summaries.capacity() * size_of::<PathSummary>()
            + self.states.iter().map(PathState::memory).sum::<usize>()
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct PathText {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl PathText {
    pub(crate) fn push(&mut self, path: &Path) {
        self.bytes.extend_from_slice(path.as_os_str().as_encoded_bytes());
        // A page of paths has 2 MiB at most.
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    pub(crate) fn get(&self, at: usize) -> &Path {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let bytes = &self.bytes[start..self.ends[at] as usize];
        #[cfg(unix)]
        let path = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes);
        // Nothing is indexed there.
        #[cfg(not(unix))]
        let path = OsStr::new(str::from_utf8(bytes).unwrap_or_default());
        Path::new(path)
    }
}

/// The answer for most searches that meet a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathSummary {
    Ask,
    /// Neither a file, a link nor ignored: nothing that a search of content is about.
    NoFile,
    Secret,
    Binary(u32),
    /// [`KnownContent::Filtered`] in one segment, or in several of whole lines: of no more bytes than these cover.
    Filtered {
        first: u32,
        /// How many these are; 0 where one segment has all of it.
        count: u16,
        last: u32,
        utf8: bool,
    },
}

impl PathSummary {
    pub(super) fn of(item: &PathState) -> Self {
        if item.unreadable || item.unwatched || item.ignored || item.kind == FileKind::Symlink {
            return Self::Ask;
        }
        if !item.is_file() {
            return Self::NoFile;
        }
        match &item.content {
            KnownContent::Secret => Self::Secret,
            KnownContent::Binary(bytes) => Self::Binary(*bytes),
            KnownContent::Filtered(segments, _, utf8) => {
                let filtered = |(others, last): (Range<u32>, u32)| {
                    let (first, count) = (others.start, u16::try_from(others.len()).ok()?);
                    Some(Self::Filtered { first, count, last, utf8: *utf8 })
                };
                segments.consecutive().and_then(filtered).unwrap_or(Self::Ask)
            }
            KnownContent::Unread | KnownContent::AlwaysSearch => Self::Ask,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use confined_fs::Access;

    #[test]
    fn snapshots_share_unchanged_paths() {
        let workspace = Workspace::of_directory(concat!(env!("CARGO_MANIFEST_DIR"), "/.."), Access::ReadOnly);
        let root = workspace.root_path(&workspace.roots()[0]);
        let mut list = PathList::read(&root, &mut workspace.watch(root.root()).unwrap()).unwrap();
        let before = list.clone();
        list.forget_content(3, &mut Vec::new());
        assert!(list.items.len() > 100);
        assert_ne!(before.items.get(3).id, list.items.get(3).id, "the older list goes on saying what it said");
        let ids = |list: &PathList| list.items.iter().map(|item| item.id).collect::<Vec<_>>();
        let (before, after) = (ids(&before), ids(&list));
        assert_eq!((0..after.len()).filter(|at| before[*at] != after[*at]).collect::<Vec<_>>(), [3]);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod path_table_tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use confined_fs::{Access, FileKind, Workspace, watch::WatchedEntry};

    fn origin() -> EntryOrigin {
        let workspace = Workspace::of_directory(env!("CARGO_MANIFEST_DIR"), Access::ReadOnly);
        workspace.watch(&workspace.roots()[0]).unwrap().origin()
    }

    fn state(origin: &EntryOrigin, path: &str, id: u32) -> PathState {
        let entry = origin.entry(Path::new(path), FileKind::File);
        let listed = WatchedEntry { entry, ignored: false, unreadable: false, unwatched: false, mounted: false };
        let mut state = PathState::new(&listed, id);
        state.content = KnownContent::Binary(id);
        state
    }

    fn name(number: u32) -> String {
        format!("folder{:02}/file{:04}", number / 100, number % 100)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn replaced_paths_are_those_of_a_plain_map(
            first in 0_u32..3000,
            edits in prop::collection::vec((0_u32..4000, 0_u32..1200, prop::collection::vec(0_u32..5000, 0..600)), 0..12),
        ) {
            let origin = origin();
            let (mut table, mut plain, mut id) = (PathTable::new(origin.clone()), BTreeMap::new(), 0);
            for number in (0..first).map(|number| number * 2) {
                id += 1;
                plain.insert(name(number), id);
                table.push(Path::new(&name(number)), state(&origin, &name(number), id));
            }
            for (from, count, added) in edits {
                let older: Vec<u32> = table.iter().map(|item| item.id).collect();
                let kept = table.clone();
                let removed = (from as usize).min(table.len())..(from as usize + count as usize).min(table.len());
                let gone: Vec<String> = plain.keys().skip(removed.start).take(removed.len()).cloned().collect();
                let mut lost: Vec<u32> = gone.iter().filter_map(|name| plain.remove(name)).collect();
                let mut new = BTreeMap::new();
                for name in added.into_iter().map(name).filter(|name| !plain.contains_key(name)) {
                    id += 1;
                    new.insert(name, id);
                }
                let mut dropped = Vec::new();
                let paths = new.iter().map(|(name, id)| (Path::new(name), state(&origin, name, *id)));
                table.replace(vec![removed], paths, &mut dropped);
                plain.extend(new);
                let mut dropped: Vec<u32> = dropped.iter().map(|content| match content {
                    KnownContent::Binary(id) => *id,
                    other => panic!("{other:?}"),
                }).collect();
                dropped.sort_unstable();
                lost.sort_unstable();
                prop_assert_eq!(dropped, lost);
                let paths: Vec<(String, u32)> = table.iter().map(|item| (item.relative.to_str().unwrap().to_owned(), item.id)).collect();
                prop_assert_eq!(paths, plain.clone().into_iter().collect::<Vec<_>>());
                prop_assert!(table.pages.iter().all(|page| (1..=PathPage::MAX_PATHS).contains(&page.len())));
                prop_assert_eq!(kept.iter().map(|item| item.id).collect::<Vec<_>>(), older, "a snapshot stays");
                for at in (0..table.len()).step_by(97) {
                    let below = table.partition_point(0..table.len(), |path| path < table.get(at).relative);
                    prop_assert_eq!(below, at);
                }
            }
        }
    }

    #[test]
    fn one_added_path_leaves_all_other_pages_shared() {
        let origin = origin();
        let mut table = PathTable::new(origin.clone());
        for number in 0..5000 {
            table.push(Path::new(&name(number)), state(&origin, &name(number), number));
        }
        let before = table.clone();
        for round in 0..200 {
            let path = format!("folder20/added{round:03}");
            let new = (Path::new(&path), state(&origin, &path, 9));
            table.replace(Vec::new(), std::iter::once(new), &mut Vec::new());
        }
        let shared =
            table.pages.iter().filter(|page| before.pages.iter().any(|other| Arc::ptr_eq(page, other))).count();
        assert!(shared + 2 >= before.pages.len(), "{shared} of {}", before.pages.len());
        assert!(table.pages.len() <= before.pages.len() + 1, "{}", table.pages.len());
        assert_eq!(table.len(), 5200);
    }
}

#[cfg(test)]
mod path_page_tests {
    use super::*;

    #[test]
    fn path_summary_has_12_bytes() {
        assert_eq!(size_of::<PathSummary>(), 12);
    }
}
