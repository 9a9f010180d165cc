//! Ordered parallel content search with early stop.
//!
//! The walk hands out names in path order, in chunks; any free thread searches a chunk, the walking
//! thread included; results are merged in order, and once the page that was asked for is complete
//! everything else stops. Holds no more than a few chunks beyond what is shown.
//!
//! # Map
//! `producer` (chunks of files, with their `known_result`s) → `pool` (threads, and the results in order) → `worker` (one
//! file) → `collector` (its lines).

mod collector;
mod known_result;
mod pool;
mod producer;
mod required_bytes;
mod worker;

use std::{sync::atomic::Ordering, thread};

use confined_fs::{AccessError, Ignored, IgnoredEntries, WalkOptions, WalkReport, Workspace, WorkspacePath};
use crossbeam_channel::bounded;

use crate::{
    ContentHits, FileFilter, PathSource, Query, Scope, SearchMode,
    content_search::{
        known_result::StoredResults,
        pool::{Chunk, SearchPool},
        producer::{Producer, StartVisitor},
        worker::Worker,
    },
    path_index::{walk_ignored_entries, walk_snapshot},
};

/// Searches the files of `scope` that `filter` admits.
///
/// # Errors
/// When the start itself cannot be opened; other files that cannot be read are counted.
///
/// # Panics
/// When a worker panicked: the panic is the call's.
pub fn search(
    workspace: &Workspace,
    scope: &Scope,
    filter: &mut FileFilter,
    ignored: Ignored,
    query: &Query<'_>,
) -> Result<ContentHits, AccessError> {
    let counts_first = query.counts_first() && scope.file().is_none();
    let pool = SearchPool::new(query, counts_first);
    let (walk, source) = if let Some(file) = scope.file() {
        pool.search_named(&mut Worker::new(workspace, query), file)?;
        (WalkReport::default(), PathSource::Walk)
    } else {
        search_directories(workspace, scope, filter, ignored, &pool)?
    };
    if counts_first {
        pool.fetch_lines(workspace);
    }
    let (answered, outdated) = (pool.answered.load(Ordering::Relaxed), pool.outdated.load(Ordering::Relaxed));
    if answered + outdated > 0 {
        tracing::debug!(answered, outdated, "files that the stored index knew");
    }
    let stopped = if walk.stopped { query.stop.stopped() } else { None };
    Ok(ContentHits { walk, source, ..pool.into_hits(stopped) })
}

/// Walks all starts on this thread, which hands chunks over to helpers and searches those that no helper takes.
fn search_directories(
    workspace: &Workspace,
    scope: &Scope,
    filter: &mut FileFilter,
    ignored: Ignored,
    pool: &SearchPool<'_>,
) -> Result<(WalkReport, PathSource), AccessError> {
    let query = pool.query;
    let helpers = query.threads.saturating_sub(1);
    let _in_progress = query.path_index.map(|index| index.search_in_progress());
    thread::scope(|threads| {
        let (sender, receiver) = bounded::<Chunk>(helpers.max(1) * 2);
        let start_helper = || {
            let receiver = receiver.clone();
            // As many as the system makes: without any, the walking thread searches alone.
            thread::Builder::new().spawn_scoped(threads, move || pool.help(workspace, &receiver)).is_ok()
        };
        let mut producer = Producer::new(workspace, pool, sender, helpers, &start_helper);
        let (mut report, mut source) = (WalkReport::default(), PathSource::Index);
        for start in scope.starts() {
            let visitor = StartVisitor::new(&mut producer, workspace, (scope, start), filter);
            let (one, from) = walk_start(workspace, start, ignored, pool, visitor)?;
            if from == PathSource::Walk {
                source = PathSource::Walk;
            }
            report.add(one);
            if report.stopped {
                break;
            }
        }
        let mut worker = producer.end();
        for chunk in receiver.try_iter() {
            pool.search(&mut worker, chunk);
        }
        Ok((report, source))
    })
}

/// The walk from one start: over what an earlier search left out, over the path index, or over the disk.
fn walk_start(
    workspace: &Workspace,
    start: &WorkspacePath,
    ignored: Ignored,
    pool: &SearchPool<'_>,
    mut visitor: StartVisitor<'_, '_>,
) -> Result<(WalkReport, PathSource), AccessError> {
    let query = pool.query;
    // Directories are visited for the stop signal alone: a tree may have few files.
    let options = WalkOptions { ignored, max_depth: None, directories: true, symlinks: false };
    let walked = if let Some(entries) = query.ignored_entries.and_then(IgnoredEntries::all) {
        Ok((walk_ignored_entries(workspace, start, entries, &options, &mut visitor), PathSource::Walk))
    } else {
        // Every file without a match is a result, with its path and its state: so none may be merely counted.
        let pattern = Some(query.pattern).filter(|_| query.mode != SearchMode::FilesWithout);
        let mut snapshot = query.path_index.and_then(|index| index.snapshot(workspace, start, pattern));
        visitor.candidates = snapshot.as_mut().and_then(|snapshot| snapshot.candidates.take());
        if visitor.candidates.is_none() {
            visitor.stored = query
                .path_index
                .zip(pattern)
                .and_then(|(index, pattern)| StoredResults::of(&index.stored(start)?, pattern));
        }
        walk_snapshot(workspace, snapshot.as_ref(), start, &options, &mut visitor)
    };
    let StartVisitor { files, stored, .. } = visitor;
    let (report, source) = walked?;
    if let (Ignored::Skip, Some(index)) = (ignored, query.path_index) {
        if let Some(stored) = stored {
            index.note_outdated(start, files, stored.unknown + pool.outdated.load(Ordering::Relaxed));
        }
        index.after_search(workspace, start, files, report.stopped);
    }
    Ok((report, source))
}
