//! Descriptors that the process inherited, which a command must not get: a file that is open already is behind no wall.

use std::fs;

use rustix::process::{Resource, getrlimit};

/// Where the system lists the descriptors of a process.
#[cfg(target_os = "linux")]
const LIST: &str = "/proc/self/fd";
#[cfg(not(target_os = "linux"))]
const LIST: &str = "/dev/fd";

/// Descriptors that are tried where there is no list.
const MOST: u64 = 65_536;

/// Closes all but stdin, stdout and stderr. Call it before anything is opened.
pub(super) fn close_inherited() {
    #[expect(clippy::disallowed_methods, reason = "the process's own descriptors, before any call is served")]
    let listed: Option<Vec<i32>> = fs::read_dir(LIST).ok().map(|entries| {
        entries.flatten().filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok())).collect()
    });
    let all = || {
        let limit = getrlimit(Resource::Nofile).current.map_or(MOST, |limit| limit.min(MOST));
        (0..i32::try_from(limit).unwrap_or(i32::MAX)).collect()
    };
    for number in listed.unwrap_or_else(all) {
        if number > 2 {
            // The one that listed the directory is closed already.
            let _ = nix::unistd::close(number);
        }
    }
}
