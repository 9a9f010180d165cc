//! `sandbox-exec`, which installs a profile and runs a program behind it, and the paths that profiles need.

use std::fs::File;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::profile::Profile;

/// Part of every macOS, on the volume that no process can write to.
pub(super) const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";
/// The system's rules for its dynamic linker, imported by its own profiles.
pub(super) const DYLD_SUPPORT: &str = "/System/Library/Sandbox/Profiles/dyld-support.sb";

/// The real path of a file that may be missing: that of the nearest directory above it, and the rest as it is.
#[expect(clippy::disallowed_methods, reason = "once at start-up, on trusted paths, before any call is served")]
pub(super) fn real(path: &Path) -> Result<PathBuf, String> {
    let path = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    for above in path.ancestors() {
        let Ok(found) = above.canonicalize() else { continue };
        // With the letters' case that the disk has, where the file system ignores it (F_GETPATH).
        let known = File::open(&found).ok().and_then(|file| rustix::fs::getpath(file).ok());
        let found = known.map_or(found, |path| PathBuf::from(std::ffi::OsString::from_vec(path.into_bytes())));
        let rest = path.strip_prefix(above).map_err(|error| error.to_string())?;
        return Ok(found.join(rest).components().collect());
    }
    Err(format!("{} has no real path", path.display()))
}

/// Runs a trial of a profile; returns its status and the first line of its error output where it failed.
pub(super) fn failure(trial: &mut Command) -> Result<Option<(ExitStatus, String)>, String> {
    let tried = trial.stdin(Stdio::null()).output();
    let tried = tried.map_err(|error| format!("{SANDBOX_EXEC} cannot be started: {error}"))?;
    let said = String::from_utf8_lossy(&tried.stderr);
    let said = said.lines().next().unwrap_or_default().chars().take(200).collect();
    Ok((!tried.status.success()).then_some((tried.status, said)))
}

/// Builds the command that becomes `program` behind its profile, once that has been tried with a program that does
/// nothing.
///
/// # Errors
/// Why the profile cannot be used, as text.
pub(crate) fn command_behind_profile(
    program: &Path,
    writable: &[PathBuf],
    readable: &[PathBuf],
    network: bool,
) -> Result<Command, String> {
    let real_paths = |paths: &[PathBuf]| paths.iter().map(|path| real(path)).collect::<Result<Vec<_>, _>>();
    let mut executable = real_paths(readable)?;
    executable.push(real(program)?);
    let dyld_support = std::fs::exists(DYLD_SUPPORT).unwrap_or(false);
    let profile = Profile::of_command(&executable, &real_paths(writable)?, network, dyld_support)?.arguments();
    let mut trial = Command::new(SANDBOX_EXEC);
    trial.args(&profile).arg("/usr/bin/true").env_clear();
    if let Some((status, said)) = failure(&mut trial)? {
        return Err(format!("no program starts behind its profile ({status}): {said}"));
    }
    let mut command = Command::new(SANDBOX_EXEC);
    command.args(profile).arg(program);
    Ok(command)
}
