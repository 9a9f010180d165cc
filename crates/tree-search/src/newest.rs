//! The most recently modified of many files or names, without holding them all.
//!
//! [`NewestNames`] is for a search that has only begun: it has to ask the system for the time of each name, which takes a
//! third of a glob's time on one thread. Where there are many names, other threads ask meanwhile.

use std::thread::{self, JoinHandle};
use std::{cmp::Reverse, panic, time::SystemTime};

use confined_fs::WorkspacePath;
use confined_fs::walk::{Entry, StatCache};
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use crate::SearchEntry;

/// The `limit` newest of what is pushed, ties by their keys, of which each is pushed once; holds no more than twice that.
///
/// A list that is cut when it is full, and not a sorted map: that moves its entries at every insertion, and musl's
/// `memmove` towards higher addresses copies single bytes (glob of 4,700 files in the order of their age: 3.5 ms, 0.8 ms
/// with glibc).
#[derive(Debug)]
pub struct Newest<K: Ord, V> {
    kept: Vec<((Age, K), V)>,
    limit: usize,
    /// Of the oldest item that was kept when the list was cut: older ones are of no use.
    oldest: Option<Age>,
}

type Age = Reverse<Option<SystemTime>>;

impl<K: Ord, V> Newest<K, V> {
    /// Keeps at most `limit` items.
    pub fn new(limit: usize) -> Self {
        Self { kept: Vec::new(), limit, oldest: None }
    }

    pub fn push(&mut self, modified: Option<SystemTime>, key: K, value: V) {
        let age = Reverse(modified);
        if self.limit == 0 || self.oldest.is_some_and(|oldest| age > oldest) {
            return;
        }
        self.kept.push(((age, key), value));
        if self.kept.len() >= self.limit.saturating_mul(2) {
            self.cut();
        }
    }

    /// Offers an item whose key comes after all others; the key is made only when it may be kept.
    pub fn push_next(&mut self, modified: Option<SystemTime>, key: impl FnOnce() -> K, value: V) {
        // Of two that are equally old the key decides, and this one comes last.
        if self.limit > 0 && self.oldest.is_none_or(|oldest| Reverse(modified) < oldest) {
            self.push(modified, key(), value);
        }
    }

    pub fn append(&mut self, other: Self) {
        self.kept.extend(other.kept);
        self.cut();
    }

    /// Leaves the `limit` newest, in any order.
    fn cut(&mut self) {
        if self.kept.len() > self.limit {
            let (_, (last, _), _) = self.kept.select_nth_unstable_by(self.limit - 1, |(a, _), (b, _)| a.cmp(b));
            self.oldest = Some(last.0);
            self.kept.truncate(self.limit);
        }
    }

    /// Ends the list: the items that were kept, the newest first.
    pub fn into_sorted(mut self) -> impl Iterator<Item = (K, V)> {
        self.cut();
        self.kept.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        self.kept.into_iter().map(|((_, key), value)| (key, value))
    }
}

/// Names that one thread asks for in a row, and such batches that wait at most: beyond that the thread that finds the names
/// asks, too.
const BATCH_NAMES: usize = 256;
const MAX_WAITING_BATCHES: usize = 8;

type KeptPaths = Newest<WorkspacePath, bool>;
type Batch = Vec<(Entry, bool)>;

#[derive(Debug)]
pub struct NewestNames {
    limit: usize,
    threads: usize,
    listed: KeptPaths,
    walked: KeptPaths,
    batch: Batch,
    stats: StatCache,
    helpers: Option<StatHelpers>,
}

#[derive(Debug)]
struct StatHelpers {
    batches: Sender<Batch>,
    waiting: Receiver<Batch>,
    threads: Vec<JoinHandle<KeptPaths>>,
}

impl NewestNames {
    /// Keeps at most `limit` names, with the help of `threads` threads, this one included.
    pub fn new(limit: usize, threads: usize) -> Self {
        Self {
            limit,
            threads,
            listed: Newest::new(limit),
            walked: Newest::new(limit),
            batch: Vec::new(),
            stats: StatCache::default(),
            helpers: None,
        }
    }

    pub fn push(&mut self, name: SearchEntry<'_>, is_directory: bool) {
        match name {
            SearchEntry::Indexed(listed) if listed.is_kept => {
                self.listed.push_next(listed.modified(), || listed.into_path(), is_directory);
            }
            name if self.limit > 0 => {
                self.batch.push((name.into_entry(), is_directory));
                if self.batch.len() >= BATCH_NAMES {
                    self.hand_out();
                }
            }
            _ => {}
        }
    }

    /// Ends the list: the items that were kept, the newest first.
    pub fn into_sorted(mut self) -> impl Iterator<Item = (WorkspacePath, bool)> {
        ask(&mut self.stats, std::mem::take(&mut self.batch), &mut self.walked);
        if let Some(StatHelpers { batches, waiting, threads }) = self.helpers.take() {
            // The threads end once the channel is closed and empty.
            drop(batches);
            for batch in waiting {
                ask(&mut self.stats, batch, &mut self.walked);
            }
            for thread in threads {
                self.walked.append(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
            }
        }
        self.walked.append(self.listed);
        self.walked.into_sorted()
    }

    /// Gives the batch to another thread, or asks for it here where they all have enough.
    fn hand_out(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH_NAMES));
        let (limit, threads) = (self.limit, self.threads);
        let helpers = self.helpers.get_or_insert_with(|| StatHelpers::start(limit, threads));
        let refused = match helpers.batches.try_send(batch) {
            Ok(()) if !helpers.threads.is_empty() => return,
            // No thread could be started: it is taken back.
            Ok(()) => helpers.waiting.try_recv().ok(),
            Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => Some(batch),
        };
        ask(&mut self.stats, refused.unwrap_or_default(), &mut self.walked);
    }
}

impl StatHelpers {
    /// As many as the system makes; they end with the batches.
    fn start(limit: usize, threads: usize) -> Self {
        let (batches, waiting) = bounded::<Batch>(MAX_WAITING_BATCHES);
        let start = |_| {
            let waiting = waiting.clone();
            let ask = move || {
                let (mut stats, mut newest) = (StatCache::default(), Newest::new(limit));
                waiting.iter().for_each(|batch| ask(&mut stats, batch, &mut newest));
                newest
            };
            thread::Builder::new().name("stat".to_owned()).spawn(ask).ok()
        };
        // The thread that calls is one of them.
        let threads = (1..threads).map_while(start).collect();
        Self { batches, waiting, threads }
    }
}

fn ask(stats: &mut StatCache, batch: Batch, newest: &mut KeptPaths) {
    for (entry, is_directory) in batch {
        // Where the directory cannot be opened, as with too many open files, the path may still do.
        let known = stats.stat(&entry).or_else(|_| entry.stat());
        newest.push(known.ok().and_then(|stat| stat.modified), entry.into_path(), is_directory);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the test sets times")]

    use std::{
        fs::{self, File},
        ops::ControlFlow,
        time::{Duration, SystemTime},
    };

    use confined_fs::walk::{Ignored, WalkOptions};
    use confined_fs::{Access, FileKind, Workspace};

    use super::*;

    #[test]
    fn newest_keeps_the_latest() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let mut newest = Newest::new(3);
        for (time, name) in [(1, "old"), (9, "b"), (9, "a"), (5, "mid"), (2, "older")] {
            newest.push(at(time), name, ());
        }
        assert!(newest.into_sorted().map(|(name, ())| name).eq(["a", "b", "mid"]));
    }

    #[test]
    fn push_next_keeps_the_same_items_as_push() {
        let times = [3, 9, 9, 1, 9, 4, 9, 3, 0, 10, 11, 12, 2, 12, 13, 0, 14, 14];
        for limit in 0..=times.len() {
            let (mut all, mut in_order) = (Newest::new(limit), Newest::new(limit));
            for (at, time) in times.into_iter().enumerate() {
                let modified = (time > 0).then(|| SystemTime::UNIX_EPOCH + Duration::from_secs(time));
                all.push(modified, at, ());
                in_order.push_next(modified, || at, ());
            }
            let mut sorted: Vec<_> = times.into_iter().enumerate().map(|(at, time)| (Reverse(time), at)).collect();
            sorted.sort_unstable();
            let wanted: Vec<usize> = sorted.into_iter().map(|(_, at)| at).take(limit).collect();
            assert_eq!(all.into_sorted().map(|(at, ())| at).collect::<Vec<_>>(), wanted, "{limit}");
            assert_eq!(in_order.into_sorted().map(|(at, ())| at).collect::<Vec<_>>(), wanted, "{limit}");
        }
    }

    #[test]
    fn newest_names_are_the_same_with_any_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        for directory in 0..30_u64 {
            let path = folder.path().join(format!("d{directory:02}"));
            fs::create_dir(&path).unwrap();
            for file in 0..100_u64 {
                let seconds = 1_000_000_000 + (directory * 7919 + file * 104_729) % 997;
                let file = File::create(path.join(format!("f{file:02}"))).unwrap();
                file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
            }
        }
        let workspace = Workspace::of_directory(folder.path(), Access::ReadOnly);
        let root = workspace.root_path(&workspace.roots()[0]);
        let options = WalkOptions { ignored: Ignored::Skip, max_depth: None, directories: false, symlinks: false };
        let mut all = Vec::new();
        let mut newest: Vec<_> = [1, 2, 5].map(|threads| NewestNames::new(60, threads)).into();
        workspace
            .walk(&root, &options, &mut |entry| {
                assert_eq!(entry.kind(), FileKind::File);
                all.push((std::cmp::Reverse(entry.stat().unwrap().modified), entry.path().clone()));
                for newest in &mut newest {
                    newest.push(SearchEntry::Walked(entry.clone()), false);
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        all.sort();
        let wanted: Vec<_> = all.into_iter().take(60).map(|(_, path)| (path, false)).collect();
        for newest in newest {
            assert_eq!(newest.into_sorted().collect::<Vec<_>>(), wanted);
        }
        assert_eq!(NewestNames::new(0, 2).into_sorted().count(), 0);
    }
}
