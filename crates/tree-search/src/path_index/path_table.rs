//! The paths of a list in pages, which lists of other moments share.
//!
//! A change replaces the pages that it is about: its cost does not depend on the length of the list.

use std::{iter::Peekable, ops::Range, path::Path, sync::Arc};

use confined_fs::{EntryOrigin, path_order};

use super::{IndexedPath, KnownContent, PathState, PathSummary, path_page::PathPage};

/// Paths in path order.
#[derive(Clone, Debug)]
pub(super) struct PathTable {
    origin: EntryOrigin,
    /// None is empty.
    pages: Vec<Arc<PathPage>>,
    /// The position of the first path of each page, and behind them that of the end.
    starts: Vec<usize>,
}

/// A part of a page.
#[derive(Debug)]
pub(super) struct PathRun<'l> {
    page: &'l PathPage,
    slots: Range<usize>,
    origin: &'l EntryOrigin,
}

/// A path that is put into the table.
#[derive(Debug)]
pub(super) struct NewPath<'p> {
    pub(super) relative: &'p Path,
    pub(super) state: PathState,
}

impl<'l> PathRun<'l> {
    /// The paths, each made when it is asked for.
    pub(super) fn iter(&self) -> impl Iterator<Item = IndexedPath<'l>> + use<'l> {
        let Self { page, ref slots, origin } = *self;
        slots.clone().map(move |slot| IndexedPath::new(page.relative(slot), page.state(slot), origin))
    }

    /// The path at a position in it.
    pub(super) fn get(&self, at: usize) -> IndexedPath<'l> {
        let slot = self.slots.start + at;
        IndexedPath::new(self.page.relative(slot), self.page.state(slot), self.origin)
    }

    /// One for each path.
    pub(super) fn summaries(&self) -> &'l [PathSummary] {
        &self.page.summaries()[self.slots.clone()]
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

    /// The page and the position in it.
    fn locate(&self, at: usize) -> (usize, usize) {
        let page = self.starts.partition_point(|start| *start <= at) - 1;
        (page, at - self.starts[page])
    }

    pub(super) fn get(&self, at: usize) -> IndexedPath<'_> {
        let (page, slot) = self.locate(at);
        let page = &*self.pages[page];
        IndexedPath::new(page.relative(slot), page.state(slot), &self.origin)
    }

    /// The paths at these positions, page by page.
    pub(super) fn runs(&self, range: Range<usize>) -> impl Iterator<Item = PathRun<'_>> + use<'_> {
        let first = if range.is_empty() { self.pages.len() } else { self.locate(range.start).0 };
        let pages = self.pages[first..].iter().zip(&self.starts[first..]);
        pages.take_while(move |(_, start)| **start < range.end).map(move |(page, start)| {
            let slots = range.start.saturating_sub(*start)..page.len().min(range.end - start);
            PathRun { page, slots, origin: &self.origin }
        })
    }

    /// The paths at these positions.
    pub(super) fn range(&self, range: Range<usize>) -> impl Iterator<Item = IndexedPath<'_>> + use<'_> {
        self.runs(range).flat_map(|run| run.iter())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = IndexedPath<'_>> + use<'_> {
        self.range(0..self.len())
    }

    /// The first position in `range` whose path does not satisfy `is_before`, as [`slice::partition_point`].
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

    /// Adds a path behind all others.
    pub(super) fn push(&mut self, relative: &Path, state: PathState) {
        if let Some(page) = self.pages.last_mut().filter(|page| !page.is_full()) {
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

    /// Changes what is known of a path, in this list alone.
    pub(super) fn change<T>(&mut self, at: usize, change: impl FnOnce(&mut PathState) -> T) -> T {
        let (page, slot) = self.locate(at);
        Arc::make_mut(&mut self.pages[page]).change(slot, change)
    }

    /// Memory held, in bytes.
    pub(super) fn memory(&self) -> usize {
        let numbers = self.starts.capacity() * size_of::<usize>() + self.pages.capacity() * size_of::<usize>();
        numbers + self.pages.iter().map(|page| page.memory()).sum::<usize>()
    }

    /// Takes out what is at the positions `removed`, and puts in the paths `added`, which are in path order.
    /// What was known of content that is taken out is put into `dropped`.
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
            let comes_first = |new: &NewPath<'_>| next.is_none_or(|next| path_order(new.relative, next).is_lt());
            while removed.next_if(|removed| removed.end <= range.start).is_some() {}
            let is_same = removed.peek().is_none_or(|removed| removed.start >= range.end);
            if is_same && !added.peek().is_some_and(comes_first) {
                merged.keep(page);
                continue;
            }
            for (slot, at) in range.enumerate() {
                while removed.next_if(|removed| removed.end <= at).is_some() {}
                if removed.peek().is_some_and(|removed| removed.start <= at) {
                    dropped.push(page.state(slot).content().into_owned());
                    continue;
                }
                let relative = page.relative(slot);
                push_while(&mut merged, &mut added, |new| path_order(new.relative, relative).is_lt());
                merged.push(relative, page.state(slot).clone());
            }
            push_while(&mut merged, &mut added, comes_first);
        }
        push_while(&mut merged, &mut added, |_| true);
        self.pages = merged.into_pages();
        self.starts.clear();
        self.starts.push(0);
        let mut end = 0;
        self.starts.extend(self.pages.iter().map(|page| {
            end += page.len();
            end
        }));
    }
}

fn push_while<'p>(
    merged: &mut MergedPages,
    added: &mut Peekable<impl Iterator<Item = NewPath<'p>>>,
    mut is_next: impl FnMut(&NewPath<'p>) -> bool,
) {
    while let Some(NewPath { relative, state }) = added.next_if(&mut is_next) {
        merged.push(relative, state);
    }
}

/// The pages of a table that is made from another one.
#[derive(Default)]
struct MergedPages {
    pages: Vec<Arc<PathPage>>,
    /// Those that come next, newly made; only the last one has room.
    made: Vec<PathPage>,
}

impl MergedPages {
    /// Adds a path behind all others.
    fn push(&mut self, relative: &Path, state: PathState) {
        if self.made.last().is_none_or(PathPage::is_full) {
            self.made.push(PathPage::default());
        }
        if let Some(page) = self.made.last_mut() {
            page.push(relative, state);
        }
    }

    /// Adds a page as it is.
    fn keep(&mut self, page: &Arc<PathPage>) {
        self.end_made();
        self.pages.push(Arc::clone(page));
    }

    /// Adds the pages that were made. A short one at their end shares with the one before: else each path that is
    /// put at the front of a full page would make one more page.
    fn end_made(&mut self) {
        let mut made = std::mem::take(&mut self.made);
        if let Some(last) = made.pop_if(|last| last.len() < PathPage::MOST / 2) {
            let before = made.pop().or_else(|| self.pages.pop().map(Arc::unwrap_or_clone));
            match before {
                Some(before) => made.extend(halves(&before, &last)),
                None => made.push(last),
            }
        }
        for mut page in made {
            page.shrink_to_fit();
            self.pages.push(Arc::new(page));
        }
    }

    fn into_pages(mut self) -> Vec<Arc<PathPage>> {
        self.end_made();
        self.pages
    }
}

/// The paths of two pages, in one if they fit, else in two of about the same length.
fn halves(one: &PathPage, two: &PathPage) -> Vec<PathPage> {
    let all = one.len() + two.len();
    let half = if all <= PathPage::MOST { all } else { all.div_ceil(2) };
    let mut pages = vec![PathPage::default()];
    for page in [one, two] {
        for slot in 0..page.len() {
            if pages.last().is_some_and(|page| page.len() >= half || page.is_full()) {
                pages.push(PathPage::default());
            }
            if let Some(into) = pages.last_mut() {
                into.push(page.relative(slot), page.state(slot).clone());
            }
        }
    }
    pages
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use confined_fs::{Access, FileKind, WatchedEntry, Workspace};

    fn origin() -> EntryOrigin {
        let workspace = Workspace::of_directory(env!("CARGO_MANIFEST_DIR"), Access::ReadOnly);
        workspace.watch(&workspace.roots()[0]).unwrap().origin()
    }

    fn state(origin: &EntryOrigin, path: &str, id: u32) -> PathState {
        let entry = origin.entry(Path::new(path), FileKind::File);
        let listed = WatchedEntry { entry, ignored: false, unreadable: false, unwatched: false, mounted: false };
        let mut state = PathState::new(&listed, id);
        state.set_content(KnownContent::Binary(id));
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
                let paths = new.iter().map(|(name, id)| NewPath { relative: Path::new(name), state: state(&origin, name, *id) });
                table.replace(vec![removed], paths, &mut dropped);
                plain.extend(new);
                let mut dropped: Vec<u32> = dropped.iter().map(|content| match content {
                    KnownContent::Binary(id) => *id,
                    other => panic!("{other:?}"),
                }).collect();
                dropped.sort_unstable();
                lost.sort_unstable();
                prop_assert_eq!(dropped, lost);
                let paths: Vec<(String, u32)> = table.iter().map(|item| (item.relative().to_str().unwrap().to_owned(), item.id)).collect();
                prop_assert_eq!(paths, plain.clone().into_iter().collect::<Vec<_>>());
                prop_assert!(table.pages.iter().all(|page| (1..=PathPage::MOST).contains(&page.len())));
                prop_assert_eq!(kept.iter().map(|item| item.id).collect::<Vec<_>>(), older, "a snapshot stays");
                for at in (0..table.len()).step_by(97) {
                    let below = table.partition_point(0..table.len(), |path| path < table.get(at).relative());
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
            let new = NewPath { relative: Path::new(&path), state: state(&origin, &path, 9) };
            table.replace(Vec::new(), std::iter::once(new), &mut Vec::new());
        }
        let shared =
            table.pages.iter().filter(|page| before.pages.iter().any(|other| Arc::ptr_eq(page, other))).count();
        assert!(shared + 2 >= before.pages.len(), "{shared} of {}", before.pages.len());
        assert!(table.pages.len() <= before.pages.len() + 1, "{}", table.pages.len());
        assert_eq!(table.len(), 5200);
    }
}
