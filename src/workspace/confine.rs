//! The second wall: the kernel confines the whole process to the roots and the folders of state and audit.
//!
//! Landlock, where there is Linux. It also stops what directory handles cannot, such as creating a
//! file through a directory that has meanwhile been moved out of its root. Beside it stands a filter
//! on system calls (`calls`).

mod calls;

use std::path::Path;

use super::roots::Roots;

/// Whether to put up the wall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confine {
    /// As much of it as this system has.
    #[default]
    Auto,
    /// All of it, or an error.
    Required,
    /// None of it.
    Off,
}

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

/// See [`super::Workspace::confine`].
pub(super) fn confine(roots: &Roots, how: Confine, folders: &[&Path]) -> Result<ConfineReport, String> {
    if how == Confine::Off {
        let off = || "off, as configured".to_owned();
        return Ok(ConfineReport { level: off(), enforced: false, calls: off(), calls_refused: false });
    }
    let (level, enforced) = wall::put_up(roots, how, folders)?;
    let (calls, calls_refused) = match calls::refuse() {
        Ok(()) => ("programs, sockets, changes by path and the like are refused (seccomp)".to_owned(), true),
        Err(why) => (format!("not filtered: {why}"), false),
    };
    if how == Confine::Required && !calls_refused {
        return Err(format!("confinement is required, but system calls are {calls}"));
    }
    Ok(ConfineReport { level, enforced, calls, calls_refused })
}

#[cfg(target_os = "linux")]
mod wall {
    use std::path::Path;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, PathBeneath,
        PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    };

    use super::Confine;
    use crate::workspace::root::Access;
    use crate::workspace::roots::Roots;

    /// What `Required` asks for: file truncation, TCP and the scopes (Linux 6.12). `Auto` asks for
    /// the same and takes what there is.
    const WANTED: ABI = ABI::V6;

    /// In words what was reached, and whether file access is confined.
    pub(super) fn put_up(roots: &Roots, how: Confine, folders: &[&Path]) -> Result<(String, bool), String> {
        let failed = |error: RulesetError| format!("landlock could not be set up: {error}");
        let rules = ruleset(roots, how, folders)?;
        let status = rules.restrict_self().map_err(failed)?;
        let abi = match status.landlock {
            LandlockStatus::Available { effective_abi, .. } => format!("landlock {effective_abi:?}"),
            _ => "landlock is not available in this kernel".to_owned(),
        };
        let (enforced, level) = match status.ruleset {
            RulesetStatus::FullyEnforced => (true, format!("{abi}, fully enforced")),
            RulesetStatus::PartiallyEnforced => (true, format!("{abi}, partially enforced")),
            RulesetStatus::NotEnforced => (false, format!("{abi}, not enforced")),
        };
        if how == Confine::Required && status.ruleset != RulesetStatus::FullyEnforced {
            return Err(format!("confinement is required, but it is {level}"));
        }
        Ok((level, enforced))
    }

    fn ruleset(roots: &Roots, how: Confine, folders: &[&Path]) -> Result<RulesetCreated, String> {
        let failed = |error: RulesetError| format!("landlock could not be set up: {error}");
        let level = match how {
            Confine::Required => CompatLevel::HardRequirement,
            _ => CompatLevel::BestEffort,
        };
        let mut rules = Ruleset::default()
            .set_compatibility(level)
            .handle_access(AccessFs::from_all(WANTED))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(WANTED)))
            .and_then(|rules| rules.scope(Scope::from_all(WANTED)))
            .and_then(Ruleset::create)
            .map_err(failed)?;
        for root in roots.list() {
            let access = match root.access() {
                Access::ReadOnly => reading(),
                Access::ReadWrite => reading() | writing(),
            };
            rules = rules.add_rule(PathBeneath::new(root.dir(), access)).map_err(failed)?;
        }
        for path in folders {
            let folder = PathFd::new(path).map_err(|error| format!("{} cannot be opened: {error}", path.display()))?;
            rules = rules.add_rule(PathBeneath::new(folder, reading() | writing())).map_err(failed)?;
        }
        Ok(rules)
    }

    fn reading() -> BitFlags<AccessFs> {
        AccessFs::ReadFile | AccessFs::ReadDir
    }

    /// What replacing, moving, copying and deleting takes; no devices, sockets or FIFOs. A link may be
    /// moved and copied; the tree operations see to it that none leads out of the roots by that.
    fn writing() -> BitFlags<AccessFs> {
        AccessFs::WriteFile
            | AccessFs::Truncate
            | AccessFs::MakeReg
            | AccessFs::MakeDir
            | AccessFs::MakeSym
            | AccessFs::RemoveFile
            | AccessFs::RemoveDir
            | AccessFs::Refer
    }
}

#[cfg(not(target_os = "linux"))]
mod wall {
    use std::path::Path;

    use super::Confine;
    use crate::workspace::roots::Roots;

    pub(super) fn put_up(_: &Roots, how: Confine, _: &[&Path]) -> Result<(String, bool), String> {
        let level = "not available on this platform".to_owned();
        if how == Confine::Required {
            return Err(format!("confinement is required, but it is {level}"));
        }
        Ok((level, false))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test tries what the wall must stop")]

    use std::fs;

    use super::*;
    use crate::workspace::{Access, Base, Options, PolicyRules, RootSpec, Workspace, WriteGuard};
    use crate::workspace::{Approval, StateDir};

    #[test]
    fn behind_the_wall_only_the_roots_and_the_state_folder_are_left() {
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
        };
        let specs = [spec("rw", Access::ReadWrite), spec("ro", Access::ReadOnly)];
        let workspace = Workspace::open(&specs, Options::default()).unwrap().workspace;
        let state = host("state");
        // The walls are around a thread and its children; this one ends with the test.
        let confined = || {
            let report = workspace.confine(Confine::Auto, &[&state]).unwrap();
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
    fn switched_off_there_is_no_wall() {
        let temp = tempfile::tempdir().unwrap();
        let workspace = Workspace::of_directory(temp.path(), Access::ReadOnly);
        let report = workspace.confine(Confine::Off, &[]).unwrap();
        assert!(!report.enforced && !report.calls_refused);
        assert!(std::os::unix::net::UnixDatagram::unbound().is_ok());
        assert!(fs::read_dir("/").is_ok());
    }
}
