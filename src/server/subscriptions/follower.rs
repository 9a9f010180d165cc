//! The thread that follows paths: it waits for events, looks from time to time besides, and ends with the last
//! subscription.

use std::{
    collections::BTreeSet,
    iter, mem, thread,
    time::{Duration, Instant},
};

use confined_fs::{FileKind, PathWatch, WorkspacePath};

use super::{
    followed::{Difference, FollowedState, Listing, Noticed, list, number_of},
    table::{Received, Shared, Table},
};

/// How long after the first event of a change it is looked at: a program that empties a file and then writes it makes
/// one update, and the report of this server's own change comes before its event is looked at.
const SETTLE_DELAY: Duration = Duration::from_millis(50);
/// How long events gather before they are taken.
const GATHER_DELAY: Duration = Duration::from_millis(10);
/// How often a polled file is looked at.
const FILE_INTERVAL: Duration = Duration::from_millis(500);
/// How often a polled directory is looked at, unless that takes long ([`POLL_SHARE`]).
const DIRECTORY_INTERVAL: Duration = Duration::from_secs(1);
/// A look takes at most this share of the time.
const POLL_SHARE: u32 = 20;
/// How often a watched file is looked at all the same: no event reports writes through a name outside of the roots,
/// through shared memory, or what is mounted over it.
const WATCHED_INTERVAL: Duration = Duration::from_secs(10);

/// Follows until nobody subscribes any more.
pub(super) fn follow(shared: &Shared) {
    loop {
        watch(shared);
        look(shared);
        let mut table = shared.lock();
        let ended = mem::take(&mut table.ended);
        if table.followed.is_empty() {
            // Under the lock of the look: who subscribes after this starts a thread again.
            table.is_followed = false;
            return;
        }
        let now = Instant::now();
        let next = shared.send(&mut table, now);
        let is_new = table.followed.values().any(|one| one.noticed == Noticed::NotYet);
        let times = table.followed.values().filter_map(|one| one.look_at).chain(next).chain(is_new.then_some(now));
        let wait = times.min().map_or(WATCHED_INTERVAL, |next| next.saturating_duration_since(now));
        drop(table);
        // Without the lock: thousands of watches may have to be removed.
        drop(ended);
        let inbox = &shared.inbox;
        drop(inbox.arrived.wait_timeout_while(inbox.lock(), wait, |received| !received.is_woken));
        thread::sleep(GATHER_DELAY);
        let received = mem::take(&mut *inbox.lock());
        take_events(shared, &received);
    }
}

/// Begins to notice changes of those paths that nobody looks after yet.
fn watch(shared: &Shared) {
    let new: Vec<_> = {
        let table = shared.lock();
        let new = table.followed.iter().filter(|(_, one)| one.noticed == Noticed::NotYet);
        new.map(|(path, one)| (path.clone(), one.version, one.names.clone(), one.state.is_directory())).collect()
    };
    for (path, version, names, is_directory) in new {
        let directory = names.first().filter(|_| is_directory);
        let watch = shared.watcher.as_ref().map(|watcher| {
            let mut watch = shared.workspace.watch_path(watcher, &names, &shared.on_event);
            directory.inspect(|directory| watch.add_below(&shared.workspace, directory));
            watch
        });
        let by_events = watch.as_ref().is_some_and(PathWatch::reports_all);
        let listing = directory.filter(|_| !by_events).map(|directory| list(&shared.workspace, directory, None).0);
        let mut table = shared.lock();
        // Otherwise the entry has changed meanwhile, and the next pass takes it.
        let before = table.followed.get_mut(&path).filter(|one| one.version == version).and_then(|followed| {
            followed.noticed = if by_events { Noticed::ByEvents } else { Noticed::ByPolling };
            followed.listing = listing;
            // What has changed since the subscription was made.
            followed.look_by(Instant::now());
            mem::replace(&mut followed.watch, watch)
        });
        drop(table);
        drop(before);
        shared.noticed.notify_all();
    }
}

/// Looks at the paths whose time has come, or that an event has named, once that has settled.
fn look(shared: &Shared) {
    let now = Instant::now();
    let due: Vec<_> = {
        let mut table = shared.lock();
        let due = table.followed.iter_mut().filter(|(_, one)| one.look_at.is_some_and(|at| at <= now));
        due.map(|(path, one)| {
            one.look_at = None;
            let listing = if one.noticed == Noticed::ByPolling { one.listing.take() } else { None };
            (path.clone(), one.version, one.state.clone(), mem::take(&mut one.pending), listing)
        })
        .collect()
    };
    for (path, version, before, pending, listing) in due {
        let started = Instant::now();
        let (names, state) = match shared.workspace.names_to_follow(&path) {
            Ok(names) => (names, FollowedState::now(&shared.workspace, &path, Some(&before))),
            // What may not be read is not there; what lies behind a link to outside is not looked at.
            Err(_) => (vec![path.clone()], FollowedState::Nothing),
        };
        let listed =
            listing.zip(names.first()).map(|(before, directory)| list(&shared.workspace, directory, Some(&before)));
        let below = pending.into_iter().map(|path| (shared.workspace.stat(&path).ok(), path)).collect::<Vec<_>>();
        let took = started.elapsed();
        let mut table = shared.lock();
        table.arrived(&path, version, names, state);
        let mut is_news = false;
        for (stat, path) in below {
            if !table.own.has(&path, stat.as_ref()) {
                is_news = true;
                table.own.is_overtaken(&path, stat.is_some());
                table.reported.add(path, stat);
            }
        }
        let is_listed = listed.is_some();
        if let Some((listing, difference)) = listed {
            is_news |= compare(&mut table, &path, listing, &difference);
        }
        let Some(followed) = table.followed.get_mut(&path) else { continue };
        if is_news {
            followed.has_changed();
        }
        let interval = match (followed.noticed, is_listed) {
            (Noticed::ByEvents, _) => WATCHED_INTERVAL,
            (_, false) => FILE_INTERVAL,
            (_, true) => DIRECTORY_INTERVAL,
        };
        followed.look_by(Instant::now() + interval.max(took * POLL_SHARE));
    }
}

/// Takes over a new listing; whether it has news, which changes of this server are not.
fn compare(table: &mut Table, path: &WorkspacePath, listing: Listing, difference: &Difference) -> bool {
    let own_gone: BTreeSet<u64> = table.own.removed().map(number_of).collect();
    let is_news = difference.has_more
        || difference.gone.iter().any(|gone| !own_gone.contains(gone))
        || difference.changed.iter().any(|(path, stat)| !table.own.has(path, stat.as_ref()));
    let Some(followed) = table.followed.get_mut(path) else { return false };
    followed.listing = Some(listing);
    // All below a directory that was moved differs, and has been reported with it.
    let has_own_trees = mem::take(&mut followed.has_own_trees);
    is_news && !has_own_trees
}

/// Notes what the system has reported.
fn take_events(shared: &Shared, received: &Received) {
    if received.events.is_empty() && !received.is_incomplete {
        return;
    }
    let at = Instant::now() + SETTLE_DELAY;
    let mut moved = Vec::new();
    let mut table = shared.lock();
    for (key, followed) in &mut table.followed {
        if followed.noticed == Noticed::NotYet {
            continue;
        }
        if received.is_incomplete {
            followed.noticed = Noticed::NotYet;
            followed.look_by(at);
            if followed.state.is_directory() {
                followed.has_changed();
            }
        }
        let mut is_concerned = false;
        for name in &followed.names {
            for above in iter::successors(Some(name.clone()), WorkspacePath::parent) {
                let Some(event) = received.events.get(&above) else { continue };
                is_concerned = true;
                // A directory on the way is perhaps another one.
                if event.came_or_went && above != *name {
                    followed.noticed = Noticed::NotYet;
                }
            }
        }
        if is_concerned {
            followed.look_by(at);
        }
        let Some(own) = followed.names.first().filter(|_| followed.state.is_directory()).cloned() else { continue };
        let below = received.events.range(own.clone()..).take_while(|(path, _)| path.is_in(&own));
        let mut directories = Vec::new();
        for (path, event) in below.filter(|(path, _)| **path != own) {
            if event.came_or_went || event.is_written {
                followed.note_below(path, at);
                directories.extend((event.came_or_went && event.is_directory).then(|| path.clone()));
            }
        }
        if let Some(watch) = followed.watch.take_if(|_| !directories.is_empty()) {
            moved.push((key.clone(), watch, directories));
        }
    }
    drop(table);
    // Without the lock, as it may take long: a directory that came is watched, one that went is watched no more.
    for (key, mut watch, directories) in moved {
        for path in &directories {
            watch.forget(path);
        }
        for path in directories {
            if shared.workspace.stat(&path).is_ok_and(|stat| stat.kind == FileKind::Directory) {
                watch.add_below(&shared.workspace, &path);
            }
        }
        let mut table = shared.lock();
        if let Some(followed) = table.followed.get_mut(&key) {
            if !watch.reports_all() {
                followed.noticed = Noticed::NotYet;
            }
            followed.watch = Some(watch);
        } else {
            table.ended.push(watch);
        }
    }
}
