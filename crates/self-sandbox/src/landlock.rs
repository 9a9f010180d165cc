//! Landlock: the server reaches the roots and its own folders, a command what its walls and `needs` list, and no other
//! file.
//!
//! See landlock(7). What an ABI of the kernel lacks is left out where confinement is not required:
//!
//! | ABI | Linux | what it adds |
//! |---|---|---|
//! | 1 | 5.13 | reading, writing, making and removing files and directories |
//! | 2 | 5.19 | renames and links between directories (`Refer`; before, each of them fails with `EXDEV`) |
//! | 3 | 6.2 | `truncate(2)`, which ABI 2 allows everywhere |
//! | 4 | 6.7 | TCP: no port may be bound or connected to |
//! | 5 | 6.10 | `ioctl(2)` on devices |
//! | 6 | 6.12 | scopes: no abstract Unix socket of, and no signal to, a process outside |
//!
//! Limits: it knows nothing of `chmod`, `chown`, `setxattr`, `utime`, `stat` and `access`, nor of UDP and local
//! sockets. `seccomp` refuses most of these. A file that was opened before keeps its rights.

use std::{error::Error, path::Path};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use crate::command::needs::{COMMON_NEEDS, NETWORK_NEEDS, Right};
use crate::{ConfineError, GrantedDirectory, command::CommandWalls};

/// Asked for is all of it; of what a kernel lacks, only the rest is in force, which the callers say or refuse.
const WANTED_ABI: ABI = ABI::V6;

/// Confines the calling thread and its children to these directories and folders. Returns as text what was reached, and
/// whether file access is confined.
pub(super) fn install(
    directories: &[GrantedDirectory<'_>],
    required: bool,
    folders: &[&Path],
) -> Result<(String, bool), ConfineError> {
    let own = |path: &&Path| {
        PathFd::new(path)
            .map_err(|error| ConfineError::Folder(format!("{} cannot be opened", path.display()), error.into()))
    };
    let own: Vec<PathFd> = folders.iter().map(own).collect::<Result<_, _>>()?;
    // A container's profile may refuse each of the calls, and the one for no_new_privs.
    let reached = confined(directories, &own);
    let is_full = matches!(reached, Ok((RulesetStatus::FullyEnforced, _)));
    let (level, enforced) = match reached {
        Ok((RulesetStatus::FullyEnforced, abi)) => (format!("landlock {abi}, fully enforced"), true),
        Ok((RulesetStatus::PartiallyEnforced, abi)) => (format!("landlock {abi}, partially enforced"), true),
        Ok((RulesetStatus::NotEnforced, _)) => ("landlock is not available, files are not confined".to_owned(), false),
        Err(error) => (format!("landlock is not in force, files are not confined: {error}"), false),
    };
    if required && !is_full {
        return Err(ConfineError::Incomplete(format!("not complete: {level}")));
    }
    Ok((level, enforced))
}

fn confined(directories: &[GrantedDirectory<'_>], own: &[PathFd]) -> Result<(RulesetStatus, String), RulesetError> {
    let mut rules = ruleset(false)?;
    for granted in directories {
        let access = if granted.may_write { reading() | writing() } else { reading() };
        rules = rules.add_rule(PathBeneath::new(granted.dir, access))?;
    }
    for folder in own {
        rules = rules.add_rule(PathBeneath::new(folder, reading() | writing()))?;
    }
    restrict(rules)
}

/// Confines the calling thread and its children to `walls`, what every program needs, and the file `program`.
pub(super) fn confine_command(walls: &CommandWalls, program: &Path) -> Result<(), Box<dyn Error>> {
    let failed = |error: RulesetError| format!("Landlock could not be set up: {error}");
    match command_rules(walls, program).and_then(restrict).map_err(failed)? {
        (RulesetStatus::FullyEnforced, _) => Ok(()),
        (RulesetStatus::PartiallyEnforced, abi) => Err(format!(
            "this kernel's Landlock ({abi}) lacks some of the rules: ABI 6 (Linux 6.12) has all of them, see landlock(7)",
        )
        .into()),
        (RulesetStatus::NotEnforced, _) => Err("Landlock is not available: files are not confined".into()),
    }
}

fn command_rules(walls: &CommandWalls, program: &Path) -> Result<RulesetCreated, RulesetError> {
    let mut rules = ruleset(walls.network)?;
    let network = if walls.network { NETWORK_NEEDS } else { &[] };
    for need in COMMON_NEEDS.iter().chain(network) {
        let access = match need.0 {
            Right::Execute => executing(),
            Right::Read => reading(),
            Right::Device => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev,
        };
        rules = rules.add_rules(path_beneath_rules(need.paths(), access))?;
    }
    // Besides what the server itself may do, what programs talk through; no devices.
    let writing = writing() | AccessFs::MakeFifo | AccessFs::MakeSock;
    rules
        .add_rules(path_beneath_rules(&walls.readable, executing()))?
        .add_rules(path_beneath_rules([program], executing()))?
        .add_rules(path_beneath_rules(&walls.writable, executing() | writing))
}

/// Begins rules that refuse every file, TCP without `network`, and what is reached through processes outside.
fn ruleset(network: bool) -> Result<RulesetCreated, RulesetError> {
    let mut rules =
        Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(AccessFs::from_all(WANTED_ABI))?;
    if !network {
        rules = rules.handle_access(AccessNet::from_all(WANTED_ABI))?;
    }
    rules.scope(Scope::from_all(WANTED_ABI))?.create()
}

/// Puts the rules in force; returns how much of them is, and the kernel's ABI as text.
fn restrict(rules: RulesetCreated) -> Result<(RulesetStatus, String), RulesetError> {
    let status = rules.restrict_self()?;
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => format!("{effective_abi:?}"),
        _ => "none".to_owned(),
    };
    Ok((status.ruleset, abi))
}

fn reading() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::ReadDir
}

fn executing() -> BitFlags<AccessFs> {
    reading() | AccessFs::Execute
}

/// The rights that replacing, moving, copying and deleting take; no devices, sockets or FIFOs, and nothing is executed.
/// A link may be moved and copied; the tree operations make sure that none leads out of the roots by that.
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
