//! The kernel's sandbox around the whole process, a second line behind the directory handles.
//!
//! | system | files | programs, sockets and the like |
//! |---|---|---|
//! | Linux | `landlock`: the roots, the folders of state and audit | `seccomp` |
//! | macOS | `seatbelt`: the same, and the system's libraries | `seatbelt` |
//! | others | nothing | nothing |
//!
//! `command` has the walls of a command that a host runs through this program.
//!
//! It stops what directory handles cannot, such as creating a file through a directory that another process has moved
//! out of its root, and what a bug in this program would open up. The process can start no program afterwards.
//!
//! Limits: elsewhere the report says that there is none. On Linux the calling thread confines itself and those that it
//! starts: install the sandbox before any other thread runs. On macOS the process has to start again for it.

mod command;
mod how;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(any(target_os = "macos", all(test, unix)))]
mod seatbelt;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod seccomp;
mod system_profile;

use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use super::optional_root::OptionalRoot;
use super::{RootSpec, Roots};
pub use command::{CommandFailure, CommandWalls, ConfinedCommand, LET_READ, is_always_readable, runs_as_root};
pub use how::Confine;
#[cfg(target_os = "linux")]
use landlock::install as confine_files;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use seccomp::install as refuse_calls;
pub use system_profile::{Restart, STARTED_AS, SystemProfile};

/// What was reached.
#[derive(Debug)]
pub struct ConfineReport {
    /// In words, for the log and for `doctor`.
    pub level: String,
    /// Whether the kernel confines file access now.
    pub enforced: bool,
    /// In words, what became of the filter on system calls.
    pub calls: String,
    /// Whether the kernel refuses programs, sockets and the like now.
    pub calls_refused: bool,
}

/// Starts the program again where that is how a process is confined (macOS), unless it has been: `main` calls this
/// before it opens anything and before any thread starts. The program may then reach `roots` with their rights and
/// `folders`, which are made if they are missing, and read `files`. `before` runs in the process that is replaced.
pub fn restart_confined(
    how: Confine,
    roots: &[RootSpec],
    files: &[PathBuf],
    folders: &[&Path],
    before: impl FnOnce(),
) -> Restart {
    #[cfg(target_os = "macos")]
    if how != Confine::Off {
        return seatbelt::restart(roots, files, folders, before);
    }
    let _ = (how, roots, files, folders, before);
    Restart::Continue(SystemProfile::none())
}

/// See [`super::Workspace::confine`].
pub(super) fn confine(
    roots: &Roots,
    how: Confine,
    folders: &[&Path],
    profile: &SystemProfile,
) -> Result<ConfineReport, String> {
    if how == Confine::Off {
        let off = || "off, as configured".to_owned();
        return Ok(ConfineReport { level: off(), enforced: false, calls: off(), calls_refused: false });
    }
    let report = install(roots, how == Confine::Required, folders, profile)?;
    if how == Confine::Required && !report.calls_refused {
        return Err(format!("confinement is required, but system calls are {}", report.calls));
    }
    Ok(report)
}

#[cfg(target_os = "linux")]
fn install(roots: &Roots, required: bool, folders: &[&Path], _: &SystemProfile) -> Result<ConfineReport, String> {
    let (level, enforced) = confine_files(roots, required, folders)?;
    if enforced {
        roots.list().iter().filter_map(|root| root.optional.as_ref()).for_each(OptionalRoot::sandboxed);
    }
    let (calls, calls_refused) = match refuse_calls() {
        Ok(()) => ("programs, sockets, changes by path and the like are refused (seccomp)".to_owned(), true),
        Err(why) => (format!("not filtered: {why}"), false),
    };
    Ok(ConfineReport { level, enforced, calls, calls_refused })
}

#[cfg(all(target_os = "linux", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn refuse_calls() -> Result<(), String> {
    Err("there is no filter for this processor".to_owned())
}

/// The process was confined when it was started, or it is not confined.
#[cfg(not(target_os = "linux"))]
fn install(_: &Roots, required: bool, _: &[&Path], profile: &SystemProfile) -> Result<ConfineReport, String> {
    let Some(why) = profile.missing() else {
        return Ok(ConfineReport {
            level: "a Seatbelt profile allows only the directories, the state and the system's libraries".to_owned(),
            enforced: true,
            calls: "programs and sockets are refused (Seatbelt)".to_owned(),
            calls_refused: true,
        });
    };
    if required {
        return Err(format!(
            "confinement is required, but there is none: {why}. Remove --confine required, or see what to do on this \
             system in SECURITY.md (https://github.com/rootbound/rootbound/blob/main/SECURITY.md)"
        ));
    }
    let report = |level: String| ConfineReport { calls: level.clone(), level, enforced: false, calls_refused: false };
    Ok(report(format!("none: {why}")))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test tries what the sandbox must stop")]

    use std::fs;

    use super::*;
    use crate::{Access, Base, PolicyRules, RootSpec, StageOptions, Workspace, WorkspaceOptions, WriteGuard};
    use crate::{Approval, StateDir};

    #[test]
    fn sandbox_leaves_only_roots_and_state_folder_accessible() {
        let temp = tempfile::tempdir().unwrap();
        let host = |name: &str| temp.path().join(name);
        for name in ["rw", "ro", "out", "state"] {
            fs::create_dir(host(name)).unwrap();
            fs::write(host(name).join("file"), name).unwrap();
        }
        let spec = |name: &str, access| RootSpec {
            name: Some(name.into()),
            path: host(name),
            access,
            policy: PolicyRules::default(),
            optional: false,
        };
        let specs = [spec("rw", Access::ReadWrite), spec("ro", Access::ReadOnly)];
        let workspace = Workspace::open(&specs, WorkspaceOptions::default()).unwrap().workspace;
        let state = host("state");
        // The sandbox is that of a thread and its children; this one ends with the test.
        let confined = || {
            let report = workspace.confine(Confine::Auto, &[&state], &SystemProfile::none()).unwrap();
            if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
                assert!(report.calls_refused, "{}", report.calls);
                assert!(std::os::unix::net::UnixDatagram::unbound().is_err());
            }
            if !report.enforced {
                // A kernel without Landlock: there is nothing to see but the honest report.
                assert!(report.level.contains("not"), "{}", report.level);
                return;
            }
            assert!(fs::read(host("out/file")).is_err());
            assert!(fs::write(host("ro/file"), "x").is_err());
            assert!(std::net::TcpListener::bind("127.0.0.1:0").is_err() || report.level.contains("partially"));
            assert_eq!(fs::read(host("ro/file")).unwrap(), b"ro");

            let path = workspace.resolve("rw/new/file").unwrap();
            let writable = workspace.writable(&path).unwrap();
            let guard = WriteGuard::acquire(&workspace, writable, Base::Absent).unwrap();
            let committed = guard.commit(b"one", Approval::by_policy()).unwrap();
            let writable = workspace.writable(&path).unwrap();
            let base = Base::Revision(committed.revision);
            let guard = WriteGuard::acquire(&workspace, writable, base).unwrap();
            guard.commit(b"two", Approval::by_policy()).unwrap();
            assert_eq!(workspace.read(&path, 10).unwrap().bytes, b"two");

            let state = StateDir::open(&state).unwrap();
            state.append("log", b"x").unwrap();
            state.replace("seen", b"y").unwrap();
            assert_eq!(state.read("seen", 9).unwrap(), b"y");
        };
        std::thread::scope(|scope| scope.spawn(confined).join().unwrap());
        assert_eq!(fs::read(host("ro/file")).unwrap(), b"ro");
    }

    #[test]
    fn process_has_no_right_to_write_below_a_staged_root() {
        let temp = tempfile::tempdir().unwrap();
        let (root, state) = (temp.path().join("root"), temp.path().join("state"));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("file"), "old").unwrap();
        StateDir::open(&state).unwrap();
        let spec = RootSpec {
            name: None,
            path: root.clone(),
            access: Access::ReadWrite,
            policy: PolicyRules::default(),
            optional: false,
        };
        let layer = StageOptions { state: state.clone(), most_bytes: 1 << 20, is_view: true };
        let options = WorkspaceOptions { stage: Some(layer), ..WorkspaceOptions::default() };
        let workspace = Workspace::open(&[spec], options).unwrap().workspace;
        let confined = || {
            let report = workspace.confine(Confine::Auto, &[&state], &SystemProfile::none()).unwrap();
            let path = workspace.resolve("file").unwrap();
            let base = Base::Revision(crate::Revision::of(b"old"));
            let guard = WriteGuard::acquire(&workspace, workspace.writable(&path).unwrap(), base).unwrap();
            guard.commit(b"new", Approval::by_policy()).unwrap();
            assert_eq!(workspace.read(&path, 10).unwrap().bytes, b"new");
            if report.enforced {
                assert!(fs::write(root.join("file"), "x").is_err() && fs::write(root.join("other"), "x").is_err());
                assert!(fs::remove_file(root.join("file")).is_err());
                assert!(fs::rename(root.join("file"), root.join("moved")).is_err());
            }
        };
        std::thread::scope(|scope| scope.spawn(confined).join().unwrap());
        assert_eq!(fs::read(root.join("file")).unwrap(), b"old");
    }

    #[test]
    fn off_installs_no_sandbox() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::of_directory(temp.path(), Access::ReadOnly);
        let report = workspace.confine(Confine::Off, &[], &SystemProfile::none()).unwrap();
        assert!(!report.enforced && !report.calls_refused);
        assert!(std::os::unix::net::UnixDatagram::unbound().is_ok());
        assert!(fs::read_dir("/").is_ok());
    }
}
