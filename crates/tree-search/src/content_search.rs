//! Ordered parallel content search with early stop.
//!
//! The walk hands out names in path order, in chunks; any free thread searches a chunk, the walking
//! thread included; results are merged in order, and once the page that was asked for is complete
//! everything else stops. Holds no more than a few chunks beyond what is shown.
//!
//! # Map
//! `producer` (chunks of files, with their `known_result`s) → `pool` (threads, and the results in order) → `worker` (one
//! file) → `collector` (its lines), `definitions` (which of them define, declare or only mention what matches).

mod collector;
mod definitions;
mod document;
mod known_result;
mod pool;
mod producer;
mod required_bytes;
mod worker;

use std::{sync::atomic::Ordering, thread};

use confined_fs::walk::{Ignored, WalkReport};
use confined_fs::{AccessError, Workspace};
use crossbeam_channel::bounded;

use crate::{ContentHits, FileFilter, MetLinks, PathSource, Query, Scope};
use pool::{Chunk, SearchPool};
use producer::Producer;
use worker::Worker;

pub use document::{DocumentSearch, HitLimits};

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
    let (mut walk, source, mut links) = if let Some(file) = scope.file() {
        pool.search_named(&mut Worker::new(workspace, query), file)?;
        (WalkReport::default(), PathSource::Walk, MetLinks::default())
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
    let hits = pool.into_hits(stopped);
    if hits.capped {
        // How far ahead of a full page the walk was depends on the threads.
        walk.worktrees = 0;
        links = MetLinks::default();
    }
    Ok(ContentHits { walk, links, source, ..hits })
}

/// Walks all starts on this thread, which hands chunks over to helpers and searches those that no helper takes.
fn search_directories(
    workspace: &Workspace,
    scope: &Scope,
    filter: &mut FileFilter,
    ignored: Ignored,
    pool: &SearchPool<'_>,
) -> Result<(WalkReport, PathSource, MetLinks), AccessError> {
    let (mut report, mut source) = (WalkReport::default(), PathSource::Index);
    let Some(first) = scope.starts().first() else { return Ok((report, source, MetLinks::default())) };
    let query = pool.query;
    let _in_progress = query.path_index.map(|index| index.search_in_progress());
    thread::scope(|threads| {
        // Two chunks for each helper may wait, besides the one that it searches.
        let (sender, receiver) = bounded::<Chunk>(query.threads.saturating_sub(1).max(1) * 2);
        let start_helper = || {
            let receiver = receiver.clone();
            // As many as the system makes: without any, the walking thread searches alone.
            thread::Builder::new().spawn_scoped(threads, move || pool.help(workspace, &receiver)).is_ok()
        };
        let worker = Worker::new(workspace, query);
        let mut producer = Producer::new(pool, worker, (scope, first), filter, sender, &start_helper);
        for start in scope.starts() {
            let (walked, from) = producer.walk(start, ignored)?;
            if from == PathSource::Walk {
                source = PathSource::Walk;
            }
            report.add(walked);
            if report.stopped {
                break;
            }
        }
        let (mut worker, links) = producer.end();
        // What is still in the channel: else this thread would only wait for the helpers.
        for chunk in receiver.try_iter() {
            pool.search(&mut worker, chunk);
        }
        Ok((report, source, links))
    })
}
