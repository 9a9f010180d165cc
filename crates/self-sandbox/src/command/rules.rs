//! The walls of a command on Linux: rules of Landlock, and the filter on system calls.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::seccomp::install_for_command as refuse_calls;

use crate::landlock as server_rules;

use super::CommandWalls;
use super::needs::{ALWAYS, NETWORK, Right};

/// What is asked for: all of it where confinement is required, else as much of it as the kernel has.
const WANTED: ABI = ABI::V6;

/// Confines the calling thread and what it starts. Returns what is missing, in words.
///
/// # Errors
/// What is missing, where `required`.
pub(super) fn install(walls: &CommandWalls, program: &Path, required: bool) -> Result<Vec<String>, String> {
    let outcomes = [confine_files(walls, program, required), refuse_calls(walls.network)];
    let missing: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if required && !missing.is_empty() { Err(missing.join("; ")) } else { Ok(missing) }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn refuse_calls(_network: bool) -> Result<(), String> {
    Err("system calls are not filtered: there is no filter for this processor".to_owned())
}

/// Lets the process reach `walls`, what every program needs, and the file `program`.
pub(super) fn confine_files(walls: &CommandWalls, program: &Path, required: bool) -> Result<(), String> {
    let failed = |error: RulesetError| format!("Landlock could not be set up: {error}");
    let status = ruleset(walls, program, required).and_then(RulesetCreated::restrict_self).map_err(failed)?;
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => format!("{effective_abi:?}"),
        _ => "none".to_owned(),
    };
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        RulesetStatus::PartiallyEnforced => Err(format!(
            "this kernel's Landlock ({abi}) lacks some of the rules: ABI 6 (Linux 6.12) has all of them, see landlock(7)"
        )),
        RulesetStatus::NotEnforced => Err("this kernel has no Landlock: files are not confined".to_owned()),
    }
}

fn ruleset(walls: &CommandWalls, program: &Path, required: bool) -> Result<RulesetCreated, RulesetError> {
    let level = if required { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let mut rules = Ruleset::default().set_compatibility(level).handle_access(AccessFs::from_all(WANTED))?;
    if !walls.network {
        rules = rules.handle_access(AccessNet::from_all(WANTED))?;
    }
    let mut rules = rules.scope(Scope::from_all(WANTED))?.create()?;
    let network = if walls.network { NETWORK } else { &[] };
    for need in ALWAYS.iter().chain(network) {
        let access = match need.right {
            Right::Execute => executing(),
            Right::Read => AccessFs::ReadFile | AccessFs::ReadDir,
            Right::Device => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev,
        };
        rules = rules.add_rules(path_beneath_rules(need.paths(), access))?;
    }
    rules
        .add_rules(path_beneath_rules(&walls.readable, executing()))?
        .add_rules(path_beneath_rules([program], executing()))?
        .add_rules(path_beneath_rules(&walls.writable, executing() | writing()))
}

fn executing() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute
}

/// What the server itself may do, and what programs talk through; no devices.
fn writing() -> BitFlags<AccessFs> {
    server_rules::writing() | AccessFs::MakeFifo | AccessFs::MakeSock
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test tries what each wall alone must stop")]

    use std::fs;
    use std::path::PathBuf;
    use std::process::{Command, Output};
    use std::thread;

    use super::*;

    /// Runs a script of `sh` behind one wall, in a folder with `root` and `outside/secret`. The wall is that of a thread
    /// and of what it starts.
    fn behind(wall: impl FnOnce(&CommandWalls) + Send, script: &str) -> Output {
        let temp = tempfile::tempdir().unwrap();
        for folder in ["root", "outside"] {
            fs::create_dir(temp.path().join(folder)).unwrap();
        }
        fs::write(temp.path().join("outside/secret"), "secret").unwrap();
        let root: PathBuf = temp.path().join("root");
        let walls = CommandWalls { writable: vec![root.clone()], ..CommandWalls::default() };
        let confined = || {
            wall(&walls);
            Command::new("/bin/sh").args(["-c", script]).current_dir(&root).output().unwrap()
        };
        thread::scope(|scope| scope.spawn(confined).join().unwrap())
    }

    #[test]
    fn landlock_alone_keeps_files_and_other_processes_away() {
        let other = std::os::unix::process::parent_id();
        let status = |script: &str| {
            let landlock = |walls: &CommandWalls| confine_files(walls, Path::new("/bin/sh"), true).unwrap();
            behind(landlock, script).status.code()
        };
        assert_eq!(status("echo x > file && cat file && (cat file) | cat && cp /bin/true t && ./t"), Some(0));
        for script in [
            "cat ../outside/secret",
            "echo x > ../outside/new",
            "rm ../outside/secret",
            "ls /",
            "ls /proc",
            &format!("cat /proc/{other}/environ"),
            &format!("cat /proc/{other}/root/etc/passwd"),
            &format!("kill -CONT {other}"),
        ] {
            assert_ne!(status(script), Some(0), "{script}");
        }
    }

    #[test]
    fn filter_alone_keeps_namespaces_and_sockets_away() {
        let status = |script: &str| behind(|_| refuse_calls(false).unwrap(), script).status.code();
        assert_eq!(
            status("echo x > file && cat file && (cat file) | cat && mkfifo p && kill $$; true"),
            None,
            "killed"
        );
        assert_eq!(status("echo x > file && chmod 600 file && sleep 0 & wait"), Some(0));
        for script in
            ["unshare -U true", "unshare -Ur true", "nsenter -t 1 -m true", "bash -c '< /dev/tcp/127.0.0.1/9'"]
        {
            let output = behind(|_| refuse_calls(false).unwrap(), script);
            assert_ne!(output.status.code(), Some(0), "{script}");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!said.contains("refused"), "the network answered: {said}");
        }
    }
}
