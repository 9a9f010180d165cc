//! A command of a host behind a profile.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::profile::Profile;
use super::system::{DYLD_SUPPORT, SANDBOX_EXEC, real};

/// What becomes `program` behind its profile, once that has been tried with a program that does nothing.
///
/// # Errors
/// Why the profile cannot be used, in words.
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
    trial.args(&profile).arg("/usr/bin/true").env_clear().stdin(Stdio::null());
    let tried = trial.output().map_err(|error| format!("{SANDBOX_EXEC} cannot be started: {error}"))?;
    if !tried.status.success() {
        let said = String::from_utf8_lossy(&tried.stderr);
        let said: String = said.lines().next().unwrap_or_default().chars().take(200).collect();
        return Err(format!("no program starts behind its profile ({}): {said}", tried.status));
    }
    let mut command = Command::new(SANDBOX_EXEC);
    command.args(profile).arg(program);
    Ok(command)
}
