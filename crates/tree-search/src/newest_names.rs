//! The most recently modified of many names. A search that has only begun has to ask the system for the time of each
//! one, which takes a third of a glob's time on one thread: where there are many, other threads ask meanwhile.

use std::{
    panic,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, SyncSender, TrySendError},
    },
    thread::{self, JoinHandle},
};

use confined_fs::{Entry, StatCache, WorkspacePath};

use super::{Newest, SearchEntry};

/// Names that one thread asks for in a row, and such batches that wait at most: beyond that whoever finds the names
/// asks, too.
const BATCH: usize = 256;
const WAITING: usize = 8;

/// A path, and whether it is that of a directory.
type Kept = Newest<WorkspacePath, bool>;
type Batch = Vec<(Entry, bool)>;

/// The newest of the names that are pushed, ties by path.
#[derive(Debug)]
pub struct NewestNames {
    limit: usize,
    threads: usize,
    /// Those that the list knows.
    listed: Kept,
    walked: Kept,
    batch: Batch,
    stats: Stats,
    others: Option<Others>,
}

/// Stats in path order.
#[derive(Debug, Default)]
struct Stats(StatCache);

/// The threads that ask.
#[derive(Debug)]
struct Others {
    batches: SyncSender<Batch>,
    waiting: Arc<Mutex<Receiver<Batch>>>,
    threads: Vec<JoinHandle<Kept>>,
}

impl NewestNames {
    /// Keeps at most `limit` names, with the help of so many threads, this one included.
    pub fn new(limit: usize, threads: usize) -> Self {
        Self {
            limit,
            threads,
            listed: Newest::new(limit),
            walked: Newest::new(limit),
            batch: Vec::new(),
            stats: Stats::default(),
            others: None,
        }
    }

    /// Offers a name, each in path order.
    pub fn push(&mut self, name: SearchEntry<'_>, is_directory: bool) {
        match name {
            SearchEntry::Indexed(listed) if listed.is_kept() => {
                self.listed.push_next(listed.modified(), || listed.into_path(), is_directory);
            }
            name if self.limit > 0 => {
                self.batch.push((name.into_entry(), is_directory));
                if self.batch.len() >= BATCH {
                    self.hand_out();
                }
            }
            _ => {}
        }
    }

    /// What was kept, the newest first.
    pub fn into_sorted(mut self) -> impl Iterator<Item = (WorkspacePath, bool)> {
        self.stats.ask(std::mem::take(&mut self.batch), &mut self.walked);
        if let Some(Others { batches, waiting, threads }) = self.others.take() {
            drop(batches);
            while let Some(batch) = next(&waiting) {
                self.stats.ask(batch, &mut self.walked);
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
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        let (limit, threads) = (self.limit, self.threads);
        let others = self.others.get_or_insert_with(|| Others::start(limit, threads));
        let refused = match others.batches.try_send(batch) {
            Ok(()) if !others.threads.is_empty() => return,
            Ok(()) => next(&others.waiting),
            Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => Some(batch),
        };
        self.stats.ask(refused.unwrap_or_default(), &mut self.walked);
    }
}

impl Others {
    /// As many as the system makes; they end with the batches.
    fn start(limit: usize, threads: usize) -> Self {
        let (batches, waiting) = mpsc::sync_channel(WAITING);
        let waiting = Arc::new(Mutex::new(waiting));
        let start = |_| {
            let waiting = Arc::clone(&waiting);
            let ask = move || {
                let (mut stats, mut newest) = (Stats::default(), Newest::new(limit));
                while let Some(batch) = next(&waiting) {
                    stats.ask(batch, &mut newest);
                }
                newest
            };
            thread::Builder::new().name("stat".to_owned()).spawn(ask).ok()
        };
        let threads = (1..threads).map_while(start).collect();
        Self { batches, waiting, threads }
    }
}

/// Waits for the next batch; `None` when there are no more.
fn next(waiting: &Mutex<Receiver<Batch>>) -> Option<Batch> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

impl Stats {
    fn ask(&mut self, batch: Batch, newest: &mut Kept) {
        for (entry, is_directory) in batch {
            let known = self.0.stat(&entry).or_else(|_| entry.stat());
            newest.push(known.ok().and_then(|stat| stat.modified), entry.into_path(), is_directory);
        }
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

    use super::*;
    use confined_fs::{Access, FileKind, Ignored, WalkOptions, Workspace};

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
