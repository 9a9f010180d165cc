//! Starts the program again behind its profile, and checks from inside that the kernel enforces it.
//!
//! The first process tries the profile with a child and then becomes `sandbox-exec` (`execve(2)`), so the client keeps
//! one process with the same descriptors, arguments, environment and directory. The trial is what lets a run without
//! the profile go on where it cannot be used: inside of another sandbox, or on a system that needs another rule.
//!
//! A variable of the environment says that the program was started again, and prevents a second restart whatever the
//! outcome. It proves nothing, so what the profile must refuse is tried then.

use std::fs::File;
use std::io;
use std::net::UdpSocket;
use std::os::unix::{ffi::OsStringExt as _, net::UnixStream, process::CommandExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::profile::{Grants, Profile};
use crate::confine::{GrantedPath, Restart, STARTED_AS, SystemProfile};

/// Programs of the system, which anybody may read where no profile refuses it.
const OUTSIDE: &[&str] = &[SANDBOX_EXEC, "/bin/ls", "/sbin/mount"];

/// The variable that says that the program was started again, and to what end.
const RESTARTED: &str = "_ROOTBOUND_RESTARTED";
const TRIAL: &str = "trial";
const RUN: &str = "run";

/// Starts the program again behind a profile, unless that has happened. `before` runs at the last moment.
pub(crate) fn restart(
    roots: &[GrantedPath<'_>],
    files: &[PathBuf],
    folders: &[&Path],
    before: impl FnOnce(),
) -> Restart {
    let restarted = std::env::var_os(RESTARTED);
    let outcome = match &restarted {
        Some(_) => granted(roots, files, folders).and_then(|grants| check(&grants)),
        None => Err(start_again(roots, files, folders, before)),
    };
    match restarted {
        Some(kind) if kind == TRIAL => Restart::Trial(outcome),
        _ => Restart::Continue(SystemProfile::new(outcome)),
    }
}

/// Returns only if it is impossible: why.
fn start_again(roots: &[GrantedPath<'_>], files: &[PathBuf], folders: &[&Path], before: impl FnOnce()) -> String {
    let prepared = || -> Result<(Vec<_>, PathBuf), String> {
        if File::open(SANDBOX_EXEC).is_err() {
            return Err(format!("{SANDBOX_EXEC} is missing"));
        }
        let program = std::env::current_exe().map_err(|error| format!("the program is unknown: {error}"))?;
        Ok((Profile::new(&granted(roots, files, folders)?)?.arguments(), program))
    };
    let (profile, program) = match prepared() {
        Ok(prepared) => prepared,
        Err(why) => return why,
    };
    let mut arguments = std::env::args_os();
    let started_as = arguments.next().unwrap_or_default();
    let mut command = Command::new(SANDBOX_EXEC);
    command.args(profile).arg(program).args(arguments).env(STARTED_AS, started_as);
    if let Err(why) = try_out(&mut command) {
        return why;
    }
    before();
    command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    format!("{SANDBOX_EXEC} cannot be started: {}", command.env(RESTARTED, RUN).exec())
}

/// Whether the program starts behind the profile and reaches its directories.
fn try_out(command: &mut Command) -> Result<(), String> {
    let Some((status, stderr)) = failure(command.env(RESTARTED, TRIAL))? else { return Ok(()) };
    let nested = "the process may already be inside of another sandbox";
    Err(match (stderr.is_empty(), stderr.contains("sandbox_apply")) {
        (true, _) => format!("the program does not start behind its profile ({status})"),
        (false, true) => format!("{nested}: {stderr}"),
        (false, false) => format!("the program does not start behind its profile: {stderr}"),
    })
}

/// The paths of a run, as the kernel knows them.
fn granted(roots: &[GrantedPath<'_>], files: &[PathBuf], folders: &[&Path]) -> Result<Grants, String> {
    let program = std::env::current_exe().map_err(|error| format!("the program is unknown: {error}"))?;
    let mut grants = Grants {
        program: real(&program)?,
        // Only some of the names by which the program or its files may be found exist.
        files: files.iter().filter(|file| is_readable_file(file)).filter_map(|file| real(file).ok()).collect(),
        dyld_support: std::fs::exists(DYLD_SUPPORT).unwrap_or(false),
        ..Grants::default()
    };
    // getcwd(3) opens the current directory, or fails.
    let directory = std::env::current_dir().ok().and_then(|directory| real(&directory).ok());
    grants.files.extend(directory.filter(|directory| directory.parent().is_some()));
    for folder in folders {
        grants.writable.push(real(folder)?);
    }
    for root in roots {
        let path = real(root.path)?;
        // Of a directory that is given twice the first one counts.
        if grants.writable.contains(&path) || grants.read_only.contains(&path) {
            continue;
        }
        if root.may_be_missing {
            // It is looked for name by name, from the directory above that exists: these are opened, nothing else in them.
            for above in path.ancestors().skip(1).take_while(|above| above.parent().is_some()) {
                grants.files.push(above.to_owned());
                if above.is_dir() {
                    break;
                }
            }
        }
        if root.may_write {
            grants.writable.push(path);
        } else {
            grants.read_only.push(path);
        }
    }
    Ok(grants)
}

fn is_readable_file(path: &Path) -> bool {
    path.to_str().is_some() && File::open(path).and_then(|file| file.metadata()).is_ok_and(|file| file.is_file())
}

/// Whether the kernel refuses what the profile does not grant, and lets the directories be read.
fn check(grants: &Grants) -> Result<(), String> {
    let refused = |what: &str, result: Result<(), io::Error>| match result {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        _ => Err(format!("the process was started with {RESTARTED}, but it may {what}")),
    };
    // The descriptors are inherited because opening /dev/null could be what is refused. The program does nothing.
    let program = Command::new("/usr/bin/true").spawn().map(|mut child| drop(child.wait()));
    refused("start programs", program)?;
    refused("use the network", UdpSocket::bind("127.0.0.1:0").map(drop))?;
    let granted = |path: &Path| grants.writable.iter().chain(&grants.read_only).any(|folder| path.starts_with(folder));
    let outside = OUTSIDE.iter().find(|path| !granted(Path::new(path)));
    outside.map_or(Ok(()), |path| refused("read files elsewhere", File::open(path).map(drop)))?;
    // tokio needs such a pair for signals, and panics without it.
    UnixStream::pair().map_err(|error| format!("the profile does not allow a pair of sockets: {error}"))?;
    for folder in grants.writable.iter().chain(&grants.read_only) {
        match File::open(folder) {
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::PERM.raw_os_error()) => {
                return Err(format!("the profile does not let the process read {}", folder.display()));
            }
            // Missing, or unreadable with or without a profile (EACCES): reported when it is opened for use.
            _ => {}
        }
    }
    Ok(())
}

/// The program that installs a profile and runs a program behind it. Part of every macOS, on the volume that no process can write to.
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
    let stderr = String::from_utf8_lossy(&tried.stderr);
    let stderr = stderr.lines().next().unwrap_or_default().chars().take(200).collect();
    Ok((!tried.status.success()).then_some((tried.status, stderr)))
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
    if let Some((status, stderr)) = failure(&mut trial)? {
        return Err(format!("no program starts behind its profile ({status}): {stderr}"));
    }
    let mut command = Command::new(SANDBOX_EXEC);
    command.args(profile).arg(program);
    Ok(command)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test tries what must be refused")]

    use std::fs;

    use super::*;

    /// Whether `program` succeeds with `arguments` behind a profile for it.
    fn succeeds(grants: &Grants, program: &str, arguments: &[&Path]) -> bool {
        let grants = Grants {
            program: real(Path::new(program)).unwrap(),
            writable: grants.writable.clone(),
            read_only: grants.read_only.clone(),
            files: grants.files.clone(),
            dyld_support: fs::exists(DYLD_SUPPORT).unwrap(),
        };
        let mut command = Command::new(SANDBOX_EXEC);
        command.args(Profile::new(&grants).unwrap().arguments()).arg(program).args(arguments);
        command.stdin(Stdio::null()).output().unwrap().status.success()
    }

    #[test]
    fn kernel_enforces_what_the_profile_says() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        for name in ["rw \")(allow default)(\n", "rw/ro", "outside"] {
            fs::create_dir_all(at(name)).unwrap();
            fs::write(at(name).join("file"), "text").unwrap();
        }
        fs::write(at("config"), "text").unwrap();
        let odd = at("rw \")(allow default)(\n");
        let grants = Grants {
            writable: vec![real(&odd).unwrap(), real(&at("rw")).unwrap(), real(&at("later")).unwrap()],
            read_only: vec![real(&at("rw/ro")).unwrap()],
            files: vec![real(&at("config")).unwrap()],
            ..Grants::default()
        };
        let may = |program: &str, arguments: &[&Path]| succeeds(&grants, program, arguments);
        for (readable, expected) in [
            (odd.join("file"), true),
            (at("rw/ro/file"), true),
            (at("config"), true),
            (at("outside/file"), false),
            ("/private/etc/hosts".into(), false),
        ] {
            assert_eq!(may("/bin/cat", &[&readable]), expected, "reading {}", readable.display());
        }
        for (writable, expected) in [
            (odd.join("new"), true),
            (at("rw/new"), true),
            (at("rw/ro/new"), false),
            (at("rw/ro/file"), false),
            (at("outside/new"), false),
            (at("config"), false),
        ] {
            assert_eq!(may("/usr/bin/touch", &[&writable]), expected, "writing {}", writable.display());
        }
        // A directory that is made after the start.
        assert!(may("/bin/mkdir", &[&at("later")]));
        assert!(may("/usr/bin/touch", &[&at("later/new")]));
        // Not /bin/sh, which executes another shell.
        let shell = |script: &str| may("/bin/bash", &[Path::new("-c"), Path::new(script)]);
        assert!(shell("exit 0"));
        assert!(!shell("/usr/bin/true"), "a program was started");
        assert!(!shell("(exit 0)"), "the process was forked");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let address = ["-z", "127.0.0.1", &port].map(Path::new);
        assert!(Command::new("/usr/bin/nc").args(address).status().unwrap().success());
        assert!(!may("/usr/bin/nc", &address), "the network was reached");
    }

    #[test]
    fn real_path_has_no_links_and_the_case_of_the_disk() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("Folder")).unwrap();
        std::os::unix::fs::symlink("Folder", temp.path().join("link")).unwrap();
        let expected = temp.path().canonicalize().unwrap().join("Folder");
        assert!(expected.starts_with("/private"), "{}", expected.display());
        assert_eq!(real(&temp.path().join("link")), Ok(expected.clone()));
        assert_eq!(real(&temp.path().join("link/a/b")), Ok(expected.join("a/b")));
        if fs::exists(temp.path().join("folder")).unwrap() {
            assert_eq!(real(&temp.path().join("folder")), Ok(expected));
        }
    }

    #[test]
    fn process_without_a_profile_is_found_out() {
        let grants = Grants::default();
        assert!(check(&grants).unwrap_err().contains("may start programs"));
    }
}
