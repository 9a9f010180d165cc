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

/// Asked for is all of it where confinement is required, else as much of it as the kernel has.
const WANTED_ABI: ABI = ABI::V6;

/// Confines the calling thread and its children to these directories and folders. Returns as text what was reached, and
/// whether file access is confined.
pub(super) fn install(
    directories: &[GrantedDirectory<'_>],
    required: bool,
    folders: &[&Path],
) -> Result<(String, bool), ConfineError> {
    let failed = |error: RulesetError| ConfineError::Refused("landlock could not be set up".to_owned(), error.into());
    let mut rules = ruleset(required, false).map_err(failed)?;
    for granted in directories {
        let access = if granted.may_write { reading() | writing() } else { reading() };
        rules = rules.add_rule(PathBeneath::new(granted.dir, access)).map_err(failed)?;
    }
    for path in folders {
        let folder = PathFd::new(path)
            .map_err(|error| ConfineError::Refused(format!("{} cannot be opened", path.display()), error.into()))?;
        rules = rules.add_rule(PathBeneath::new(folder, reading() | writing())).map_err(failed)?;
    }
    let (status, abi) = restrict(rules).map_err(failed)?;
    let abi =
        abi.map_or_else(|| "landlock is not available in this kernel".to_owned(), |abi| format!("landlock {abi:?}"));
    let (enforced, level) = match status {
        RulesetStatus::FullyEnforced => (true, format!("{abi}, fully enforced")),
        RulesetStatus::PartiallyEnforced => (true, format!("{abi}, partially enforced")),
        RulesetStatus::NotEnforced => (false, format!("{abi}, not enforced")),
    };
    if required && status != RulesetStatus::FullyEnforced {
        return Err(ConfineError::Incomplete(format!("it is {level}")));
    }
    Ok((level, enforced))
}

/// Confines the calling thread and its children to `walls`, what every program needs, and the file `program`.
pub(super) fn confine_command(walls: &CommandWalls, program: &Path, required: bool) -> Result<(), Box<dyn Error>> {
    let failed = |error: RulesetError| format!("Landlock could not be set up: {error}");
    match command_rules(walls, program, required).and_then(restrict).map_err(failed)? {
        (RulesetStatus::FullyEnforced, _) => Ok(()),
        (RulesetStatus::PartiallyEnforced, abi) => Err(format!(
            "this kernel's Landlock ({}) lacks some of the rules: ABI 6 (Linux 6.12) has all of them, see landlock(7)",
            abi.map_or_else(|| "none".to_owned(), |abi| format!("{abi:?}"))
        )
        .into()),
        (RulesetStatus::NotEnforced, _) => Err("this kernel has no Landlock: files are not confined".into()),
    }
}

fn command_rules(walls: &CommandWalls, program: &Path, required: bool) -> Result<RulesetCreated, RulesetError> {
    let mut rules = ruleset(required, walls.network)?;
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
fn ruleset(required: bool, network: bool) -> Result<RulesetCreated, RulesetError> {
    let level = if required { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let mut rules = Ruleset::default().set_compatibility(level).handle_access(AccessFs::from_all(WANTED_ABI))?;
    if !network {
        rules = rules.handle_access(AccessNet::from_all(WANTED_ABI))?;
    }
    rules.scope(Scope::from_all(WANTED_ABI))?.create()
}

/// Puts the rules in force; returns how much of them is, and the ABI of a kernel that has Landlock.
fn restrict(rules: RulesetCreated) -> Result<(RulesetStatus, Option<ABI>), RulesetError> {
    let status = rules.restrict_self()?;
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi),
        _ => None,
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
