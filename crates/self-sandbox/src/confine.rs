//! The sandbox of this process: how much of it is wanted, which directories stay open, and what was reached.

use std::path::Path;

use super::GrantedDirectory;

#[cfg_attr(target_os = "linux", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confine {
    #[default]
    Auto,
    Required,
    /// None of it: the process stays as it was started.
    Off,
}

#[derive(Debug)]
pub struct ConfineReport {
    /// How far files are confined, as text for the log and for `doctor`.
    pub level: String,
    /// Whether the kernel confines file access now.
    pub enforced: bool,
    pub calls: String,
    /// Whether the kernel refuses programs, sockets and the like now.
    pub calls_refused: bool,
    /// Whether a seccomp filter, such as the profile of a container, was on the process before.
    pub has_profile: bool,
}

/// Why the sandbox cannot be had as it is required.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    #[error("confinement is required, but {0}")]
    Incomplete(String),
    #[error("{0}: {1}")]
    Folder(String, #[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Installs the kernel's sandbox around the process: no files but those of the `granted` directories, with their rights,
/// and of its `own` folders (for state and audit); no TCP; none of the system calls that a file server never needs. Call it before any
/// other thread starts, and once those folders exist.
///
/// # Errors
/// Why all of it cannot be had, where `how` requires that.
pub fn confine(granted: &[GrantedDirectory<'_>], how: Confine, own: &[&Path]) -> Result<ConfineReport, ConfineError> {
    if how == Confine::Off {
        let off = || "off, as configured".to_owned();
        return Ok(ConfineReport {
            level: off(),
            enforced: false,
            calls: off(),
            calls_refused: false,
            has_profile: false,
        });
    }
    let report = install(granted, how == Confine::Required, own)?;
    if how == Confine::Required && !report.calls_refused {
        return Err(ConfineError::Incomplete(format!("system calls are {}", report.calls)));
    }
    Ok(report)
}

#[cfg(target_os = "linux")]
fn install(granted: &[GrantedDirectory<'_>], required: bool, own: &[&Path]) -> Result<ConfineReport, ConfineError> {
    let has_profile = has_filter();
    let (level, enforced) = crate::landlock::install(granted, required, own)?;
    let (calls, calls_refused) = match crate::seccomp::install() {
        Ok(()) => ("programs, sockets, changes by path and the like are refused (seccomp)".to_owned(), true),
        Err(why) => (format!("not filtered: {why}"), false),
    };
    Ok(ConfineReport { level, enforced, calls, calls_refused, has_profile })
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the process's own state, before any call is served")]
fn has_filter() -> bool {
    std::fs::read_to_string("/proc/thread-self/status").is_ok_and(|status| status.contains("\nSeccomp:\t2\n"))
}

/// Says that this system has no such sandbox.
#[cfg(not(target_os = "linux"))]
fn install(_: &[GrantedDirectory<'_>], required: bool, _: &[&Path]) -> Result<ConfineReport, ConfineError> {
    let system = match std::env::consts::OS {
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    };
    let why = format!("{system} does not confine the process");
    if required {
        return Err(ConfineError::Incomplete(format!(
            "there is none: {why}. Remove --confine required, or see what to do on this \
             system in SECURITY.md (https://github.com/rootbound/rootbound/blob/main/SECURITY.md)"
        )));
    }
    let level = format!("none: {why}");
    Ok(ConfineReport { calls: level.clone(), level, enforced: false, calls_refused: false, has_profile: false })
}

#[cfg(all(test, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use std::{collections::BTreeMap, thread};

    use beneath::Dir;
    use libc::{
        SYS_landlock_add_rule, SYS_landlock_create_ruleset, SYS_landlock_restrict_self, SYS_prctl, SYS_seccomp,
    };
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

    use super::*;

    /// Confines a thread on which a profile refuses the calls with `errno`.
    fn confined(calls: &[i64], errno: i32, how: Confine) -> Result<ConfineReport, ConfineError> {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient(temp.path(), false).unwrap();
        let rules: BTreeMap<i64, Vec<_>> = calls.iter().map(|call| (*call, Vec::new())).collect();
        let refused = SeccompAction::Errno(errno.unsigned_abs());
        let processor = std::env::consts::ARCH.try_into().unwrap();
        let profile = SeccompFilter::new(rules, SeccompAction::Allow, refused, processor).unwrap();
        let profile: BpfProgram = profile.try_into().unwrap();
        let confined = || {
            apply_filter(&profile).unwrap();
            confine(&[GrantedDirectory { dir: &dir, may_write: true }], how, &[])
        };
        thread::scope(|scope| scope.spawn(confined).join().unwrap())
    }

    #[test]
    fn each_call_that_a_profile_refuses_takes_its_wall_alone() {
        let landlock = [SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self];
        for errno in [libc::ENOSYS, libc::EPERM, libc::EACCES] {
            for (calls, refuses_calls) in [
                (&landlock[..], true),
                (&landlock[..1], true),
                (&landlock[1..2], true),
                (&landlock[2..], true),
                (&[SYS_prctl], false),
                (&[SYS_seccomp, SYS_landlock_restrict_self], false),
            ] {
                let report = confined(calls, errno, Confine::Auto).unwrap();
                assert_eq!((report.enforced, report.calls_refused), (false, refuses_calls), "{calls:?} {report:?}");
                assert!(report.has_profile && report.level.contains("files are not confined"), "{report:?}");
                let error = confined(calls, errno, Confine::Required).unwrap_err().to_string();
                assert!(error.starts_with("confinement is required, but not complete: landlock is not"), "{error}");
            }
            let report = confined(&[SYS_seccomp], errno, Confine::Auto).unwrap();
            assert!(!report.calls_refused && report.calls.starts_with("not filtered: "), "{report:?}");
            let error = confined(&[SYS_seccomp], errno, Confine::Required).unwrap_err().to_string();
            assert!(error.starts_with("confinement is required, but "), "{error}");
        }
    }
}
