//! The thread that follows paths: it waits for events of their directories, polls where there are none, and ends with
//! the last subscription.
//!
//! The disk is looked at without the lock of the table, which a committing call takes.

use std::{
    collections::BTreeSet,
    iter,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use confined_fs::{DirectoryWatcher, FileKind, WorkspacePath};

use super::{
    followed::Noticed,
    followed_state::FollowedState,
    listing::{self, Difference, Listing},
    table::{SharedTable, SubscriptionTable},
};

/// How long after the first event of a change it is looked at: a program that empties a file and then writes it makes
/// one update, and the report of this server's own change comes before its event is looked at.
const SETTLE: Duration = Duration::from_millis(50);
/// How long events gather before they are read.
const GATHER: Duration = Duration::from_millis(10);
/// Events that are held at once.
const MAX_EVENTS: usize = 4096;
/// How often a polled file is looked at.
const POLL_FILE: Duration = Duration::from_millis(500);
/// How often a polled directory is looked at, unless that takes long ([`POLL_SHARE`]).
const POLL_DIRECTORY: Duration = Duration::from_secs(1);
/// A look takes at most this share of the time.
const POLL_SHARE: u32 = 20;
/// How often a watched file is looked at all the same: no event reports writes through a name outside of the roots,
/// through shared memory, or what is mounted over it.
const LOOK: Duration = Duration::from_secs(10);

/// Follows until nobody subscribes any more.
pub(super) fn follow(shared: &Arc<SharedTable>) {
    let mut watcher = if shared.uses_events { DirectoryWatcher::new(&shared.workspace).ok() } else { None };
    loop {
        notice(shared, &mut watcher);
        check(shared);
        poll(shared);
        let wait = {
            let mut table = shared.lock();
            if table.followed.is_empty() {
                table.is_followed = false;
                return;
            }
            let now = Instant::now();
            let next = shared.send(&mut table, now);
            let times = table.followed.values().flat_map(|one| one.check_at.into_iter().chain([one.look_at]));
            times.chain(next).min().map_or(LOOK, |next| next.saturating_duration_since(now))
        };
        shared.wakeup.wait(watcher.as_ref(), wait);
        thread::sleep(GATHER);
        if let Some(watcher) = &mut watcher {
            take_events(shared, watcher);
            forget_unneeded(shared, watcher);
        }
    }
}

/// Begins to notice changes of those paths that nobody looks after yet.
fn notice(shared: &SharedTable, watcher: &mut Option<DirectoryWatcher>) {
    let new: Vec<_> = {
        let table = shared.lock();
        let new = table.followed.iter().filter(|(_, one)| one.noticed == Noticed::NotYet);
        new.map(|(path, one)| (path.clone(), one.version, one.names.clone(), one.state.is_directory())).collect()
    };
    for (path, version, names, is_directory) in new {
        let by_events = watcher.as_mut().is_some_and(|watcher| watch(watcher, &path, &names, is_directory));
        let directory = names.first().filter(|_| is_directory && !by_events);
        let listing = directory.map(|directory| listing::list(&shared.workspace, directory, None).0);
        let now = Instant::now();
        let mut table = shared.lock();
        // Otherwise the entry has changed meanwhile, and the next pass takes it.
        if let Some(followed) = table.followed.get_mut(&path).filter(|one| one.version == version) {
            followed.noticed = if by_events { Noticed::ByEvents } else { Noticed::ByPolling };
            followed.listing = listing;
            // What has changed since the subscription was made.
            followed.check_by(now);
            followed.look_at = now + if by_events { LOOK } else { POLL_FILE };
        }
        shared.noticed.notify_all();
    }
}

/// Ends the watches that only ended subscriptions needed.
fn forget_unneeded(shared: &SharedTable, watcher: &mut DirectoryWatcher) {
    let (ways, directories) = {
        let mut table = shared.lock();
        if !std::mem::take(&mut table.has_ended) {
            return;
        }
        let (mut ways, mut directories) = (BTreeSet::new(), BTreeSet::new());
        for followed in table.followed.values() {
            for name in &followed.names {
                ways.extend(iter::successors(Some(name.clone()), WorkspacePath::parent));
            }
            directories.extend(followed.names.first().filter(|_| followed.state.is_directory()).cloned());
        }
        (ways, directories)
    };
    watcher.retain(|path| {
        ways.contains(path)
            || iter::successors(Some(path.clone()), WorkspacePath::parent).any(|above| directories.contains(&above))
    });
}

/// Whether all that matters for a path is watched.
fn watch(watcher: &mut DirectoryWatcher, path: &WorkspacePath, names: &[WorkspacePath], is_directory: bool) -> bool {
    let mut is_watched = !path.root().is_absent();
    for name in names {
        is_watched &= watcher.watch_way_to(name).is_ok();
    }
    if let Some(directory) = names.first().filter(|_| is_directory) {
        is_watched &= watcher.watch_below(directory).is_ok();
    }
    is_watched
}

/// Looks at the paths that an event has named, once that has settled.
fn check(shared: &SharedTable) {
    let now = Instant::now();
    let due: Vec<_> = {
        let mut table = shared.lock();
        let due = table.followed.iter_mut().filter(|(_, one)| one.check_at.is_some_and(|at| at <= now));
        due.map(|(path, one)| {
            one.check_at = None;
            (path.clone(), one.version, one.state.clone(), std::mem::take(&mut one.pending))
        })
        .collect()
    };
    for (path, version, before, pending) in due {
        look(shared, &path, version, &before);
        let below: BTreeSet<WorkspacePath> = pending.into_iter().collect();
        let below: Vec<_> = below.into_iter().map(|path| (shared.workspace.stat(&path).ok(), path)).collect();
        let mut table = shared.lock();
        let news = below.iter().filter(|(stat, path)| !table.own.has(path, stat.as_ref()));
        let news: Vec<_> = news.cloned().collect();
        let is_news = !news.is_empty();
        for (stat, path) in news {
            table.own.is_overtaken(&path, stat.is_some());
            table.reported.add(path, stat);
        }
        if let Some(followed) = table.followed.get_mut(&path).filter(|_| is_news) {
            followed.has_changed();
        }
    }
}

/// Looks at one path itself.
fn look(shared: &SharedTable, path: &WorkspacePath, version: u64, before: &FollowedState) {
    let names = shared.workspace.names_to_follow(path);
    let (names, state) = match names {
        Ok(names) => (names, FollowedState::now(&shared.workspace, path, Some(before))),
        // What may not be read is not there; what lies behind a link to outside is not looked at.
        Err(_) => (vec![path.clone()], FollowedState::Nothing),
    };
    let mut table = shared.lock();
    shared.arrived(&mut table, path, version, names, state);
}

/// Looks at the paths whose time has come.
fn poll(shared: &SharedTable) {
    let now = Instant::now();
    let due: Vec<_> = {
        let mut table = shared.lock();
        let due = table.followed.iter_mut().filter(|(_, one)| one.look_at <= now);
        due.map(|(path, one)| {
            let polled = one.noticed == Noticed::ByPolling;
            let listing = if polled { one.listing.take() } else { None };
            (path.clone(), one.version, one.state.clone(), one.names.clone(), polled, listing)
        })
        .collect()
    };
    for (path, version, before, names, polled, listing) in due {
        let started = Instant::now();
        look(shared, &path, version, &before);
        let listed = match (&listing, names.first()) {
            (Some(before), Some(directory)) => Some(listing::list(&shared.workspace, directory, Some(before))),
            _ => None,
        };
        let ended = Instant::now();
        let least = match (polled, listed.is_some()) {
            (false, _) => LOOK,
            (true, false) => POLL_FILE,
            (true, true) => POLL_DIRECTORY,
        };
        let mut table = shared.lock();
        if let Some((listing, difference)) = listed {
            compare(&mut table, &path, listing, &difference);
        }
        if let Some(followed) = table.followed.get_mut(&path) {
            followed.look_at = ended + least.max((ended - started) * POLL_SHARE);
        }
    }
}

/// Takes over a new listing; what this server has changed is no news.
fn compare(table: &mut SubscriptionTable, path: &WorkspacePath, listing: Listing, difference: &Difference) {
    let own_gone: BTreeSet<u64> = table.own.removed().map(listing::number_of).collect();
    let is_news = difference.has_more
        || difference.gone.iter().any(|gone| !own_gone.contains(gone))
        || difference.changed.iter().any(|(path, stat)| !table.own.has(path, stat.as_ref()));
    let Some(followed) = table.followed.get_mut(path) else { return };
    followed.listing = Some(listing);
    // All below a directory that was moved differs, and has been reported with it.
    let has_own_trees = std::mem::take(&mut followed.has_own_trees);
    if is_news && !has_own_trees {
        followed.has_changed();
    }
}

/// Notes what the system has reported.
fn take_events(shared: &SharedTable, watcher: &mut DirectoryWatcher) {
    let seen = watcher.events(MAX_EVENTS);
    if seen.events.is_empty() && !seen.is_incomplete {
        return;
    }
    let at = Instant::now() + SETTLE;
    let mut new_directories = BTreeSet::new();
    {
        let mut table = shared.lock();
        for followed in table.followed.values_mut() {
            if followed.noticed == Noticed::NotYet {
                continue;
            }
            if seen.is_incomplete {
                followed.noticed = Noticed::NotYet;
                followed.check_by(at);
                if followed.state.is_directory() {
                    followed.has_changed();
                }
            }
            let (mut is_concerned, mut is_elsewhere) = (false, false);
            for name in &followed.names {
                for above in iter::successors(Some(name.clone()), WorkspacePath::parent) {
                    if let Some(event) = seen.events.get(&above) {
                        is_concerned = true;
                        // A directory on the way is perhaps another one.
                        is_elsewhere |= event.came_or_went && above != *name;
                    }
                }
            }
            if is_concerned {
                followed.check_by(at);
            }
            if is_elsewhere {
                followed.noticed = Noticed::NotYet;
            }
            let Some(own) = followed.names.first().filter(|_| followed.state.is_directory()).cloned() else { continue };
            for (path, event) in seen.events.range(own.clone()..).take_while(|(path, _)| path.is_in(&own)) {
                if *path != own && (event.came_or_went || event.is_written) {
                    followed.note_below(path, at);
                    if event.came_or_went {
                        new_directories.insert(path.clone());
                    }
                }
            }
        }
    }
    for path in new_directories {
        let is_directory = shared.workspace.stat(&path).is_ok_and(|stat| stat.kind == FileKind::Directory);
        if is_directory && watcher.watch_below(&path).is_err() {
            let mut table = shared.lock();
            for followed in table.followed.values_mut().filter(|followed| followed.holds(&path)) {
                followed.noticed = Noticed::NotYet;
            }
        }
    }
}
