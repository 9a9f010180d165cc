//! The walls of a run, one line each: how paths are opened, and what the kernel refuses the process.
//!
//! Each system has other walls; SECURITY.md has the table. A wall that this system has, but that is not in force in this
//! run although it is wanted, is a complaint; one that the system does not have is named with what a person can do.

use confined_fs::Root;
use self_sandbox::{Confine, ConfineReport};

use crate::{config::Config, server::Services};

use super::report_text::{ReportText, UNNAMED};

/// Whether this system has a wall around the process.
const CONFINES: bool = cfg!(any(target_os = "linux", target_os = "macos"));

/// What a person can do on a system whose kernel does not confine the process.
const ELSEWHERE: &str = if cfg!(windows) {
    "to have one, run rootbound in WSL 2, with a low integrity level, or as another user: see \"On Windows\" in SECURITY.md"
} else {
    "to have one, run rootbound in a container or as another user"
};

pub(super) fn walls(
    out: &mut ReportText,
    config: &Config,
    services: &Services,
    confinement: &ConfineReport,
    complaints: &mut Vec<String>,
) {
    let resolver = match (services.workspace.confined_opens(), config.workspace.force_fallback) {
        (true, _) => "in one step that the kernel confines (openat2)",
        (false, true) => "name by name, without following links (--resolver walk)",
        (false, false) if cfg!(target_os = "linux") => {
            "name by name, without following links: this kernel, or the container, has no openat2"
        }
        (false, false) => "name by name below the handle of each directory, without following links",
    };
    out.head("paths", &format!("opened {resolver}"));

    let asked = match config.confine {
        Confine::Auto => "auto",
        Confine::Required => "required",
        Confine::Off => "off",
    };
    out.head("kernel", &format!("{} (--confine {asked})", confinement.level));
    if config.confine == Confine::Off {
        return out.head("system calls", &confinement.calls);
    }
    if !CONFINES {
        return out.line(ELSEWHERE);
    }
    if confinement.enforced && cfg!(target_os = "linux") {
        services.workspace.roots().iter().for_each(|root| optional_rule(out, root));
    }
    out.head("system calls", &confinement.calls);
    if !confinement.enforced {
        complaints.push(format!("the kernel does not confine the process: {}", confinement.level));
    }
    // Where one wall is for both, one sentence is enough.
    if !confinement.calls_refused && confinement.calls != confinement.level {
        complaints.push(format!("system calls are {}", confinement.calls));
    }
}

/// How much more Landlock allows while a directory may be missing. A Seatbelt profile names paths, and so allows no more.
fn optional_rule(out: &mut ReportText, root: &Root) {
    let name = root.name().unwrap_or(UNNAMED);
    match root.sandboxed_above() {
        Some(above) => out.line(&format!(
            "{name} is optional, so the kernel's rule for it ({}) is on all of {}; each path is still opened only below \
             the directory itself",
            root.rights(),
            above.display()
        )),
        None if root.is_optional() => out.line(&format!(
            "{name} is optional, and the directory above it is too wide for a rule of the kernel (/, or one that holds \
             the home directory): if it is made or replaced after the start, restart the server"
        )),
        None => {}
    }
}
