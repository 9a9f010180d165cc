//! A real race: one thread swaps a directory for a link while another opens a file below it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;

/// How long each race runs at least. Peers that check a path and then open it fail within 20 ms.
pub(super) const RUN: Duration = Duration::from_millis(700);
/// How long it runs at most, until both outcomes were seen: on a busy machine one thread may not run for a while.
pub(super) const LONGEST: Duration = Duration::from_secs(60);

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn swapping_a_directory_for_a_link_never_leads_outside() {
    Fixture::both(|fixture| {
        fixture.file("ws/dir/secret.txt", "inside");
        fixture.link("../out", "ws/link");
        let workspace = fixture.open();
        let (one, other) = (fixture.host("ws/dir"), fixture.host("ws/link"));
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let path = workspace.resolve("dir/secret.txt").unwrap();
            let root = workspace.resolve(".").unwrap();
            let end = Done(&done);
            let start = Instant::now();
            let (mut inside, mut denied) = (0, 0);
            let go_on = |seen_all| start.elapsed() < if seen_all { RUN } else { LONGEST };
            while go_on(inside > 0 && denied > 0) {
                match workspace.read(&path, 100) {
                    Ok(snapshot) => {
                        assert_eq!(snapshot.bytes, b"inside");
                        inside += 1;
                    }
                    Err(_) => denied += 1,
                }
                let walked = workspace.walk(&root, &ALL_FILES, &mut |entry| {
                    if let Ok(mut open) = entry.open() {
                        let mut bytes = Vec::new();
                        open.read_to_limit(&mut bytes, 100).unwrap();
                        assert_eq!(bytes, b"inside");
                    }
                    ControlFlow::Continue(())
                });
                assert!(walked.is_ok());
                write_once(&workspace, &path);
            }
            drop(end);
            assert!(inside > 0 && denied > 0, "{inside} {denied}");
        });
        assert_eq!(fixture.content("out/secret.txt"), "outside");
        assert_eq!(fs::read_dir(fixture.host("out")).unwrap().count(), 1);
    });
}

/// Replaces the file by the same content, if it can be opened at this moment.
fn write_once(workspace: &Workspace, path: &WorkspacePath) {
    let base = Base::Revision(Revision::of(b"inside"));
    let _ = workspace
        .writable(path)
        .and_then(|writable| WriteGuard::acquire(workspace, writable, base))
        .and_then(|guard| guard.commit(b"inside", Approval::by_policy()));
}

/// Ends the attacker, also when an assertion fails: the scope would wait for it.
pub(super) struct Done<'a>(pub(super) &'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
