//! Landlock: the process reaches the roots and the server's own folders, and no other file.
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

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};

use crate::wanted::GrantedDirectory;

/// What is asked for: all of it where confinement is required, else as much of it as the kernel has.
const WANTED: ABI = ABI::V6;

/// Confines the calling thread and its children. In words what was reached, and whether file access is confined.
pub(super) fn install(
    directories: &[GrantedDirectory<'_>],
    required: bool,
    folders: &[&Path],
) -> Result<(String, bool), String> {
    let failed = |error: RulesetError| format!("landlock could not be set up: {error}");
    let rules = ruleset(directories, required, folders)?;
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
    if required && status.ruleset != RulesetStatus::FullyEnforced {
        return Err(format!("confinement is required, but it is {level}"));
    }
    Ok((level, enforced))
}

fn ruleset(directories: &[GrantedDirectory<'_>], required: bool, folders: &[&Path]) -> Result<RulesetCreated, String> {
    let failed = |error: RulesetError| format!("landlock could not be set up: {error}");
    let level = if required { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let mut rules = Ruleset::default()
        .set_compatibility(level)
        .handle_access(AccessFs::from_all(WANTED))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(WANTED)))
        .and_then(|rules| rules.scope(Scope::from_all(WANTED)))
        .and_then(Ruleset::create)
        .map_err(failed)?;
    for granted in directories {
        let access = if granted.may_write { reading() | writing() } else { reading() };
        rules = rules.add_rule(PathBeneath::new(granted.dir, access)).map_err(failed)?;
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

/// What replacing, moving, copying and deleting takes; no devices, sockets or FIFOs, and nothing is executed. A link
/// may be moved and copied; the tree operations make sure that none leads out of the roots by that.
pub(super) fn writing() -> BitFlags<AccessFs> {
    AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::MakeSym
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
        | AccessFs::Refer
}
