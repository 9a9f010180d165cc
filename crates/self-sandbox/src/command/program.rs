//! Which file a command's name means.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::CommandFailure;

/// The file that is executed. A name with a slash is relative to `directory`, where the command runs; a relative
/// folder of `PATH` is not searched.
pub(super) fn find(name: &OsStr, directory: &Path, path: Option<&OsStr>) -> Result<PathBuf, CommandFailure> {
    let shown = name.display();
    if name.as_bytes().contains(&b'/') {
        let file = directory.join(name);
        return match ProgramFile::of(&file) {
            ProgramFile::Program => Ok(file),
            ProgramFile::Other(why) => {
                Err(CommandFailure::not_executable(format!("{shown} cannot be executed: {why}")))
            }
            ProgramFile::Missing => {
                let from =
                    if Path::new(name).is_relative() { format!(" in {}", directory.display()) } else { String::new() };
                Err(CommandFailure::not_found(format!("there is no program {shown}{from}")))
            }
        };
    }
    let mut other = None;
    for folder in path.into_iter().flat_map(std::env::split_paths).filter(|folder| folder.is_absolute()) {
        let file = folder.join(name);
        match ProgramFile::of(&file) {
            ProgramFile::Program => return Ok(file),
            ProgramFile::Other(why) => other = other.or(Some(format!("{} cannot be executed: {why}", file.display()))),
            ProgramFile::Missing => {}
        }
    }
    Err(match (other, path) {
        (Some(why), _) => CommandFailure::not_executable(why),
        (None, Some(path)) => CommandFailure::not_found(format!(
            "no folder of PATH ({}) has a program {shown}: name it by its path, or set PATH with --env PATH=…",
            path.display()
        )),
        (None, None) => CommandFailure::not_found(format!(
            "there is no PATH to look for {shown}: name it by its path, or set PATH with --env PATH=…"
        )),
    })
}

/// The kinds of what a path may lead to.
enum ProgramFile {
    Program,
    /// Something else: why it cannot be executed.
    Other(&'static str),
    Missing,
}

impl ProgramFile {
    #[expect(clippy::disallowed_methods, reason = "the host names the program; no call is served")]
    fn of(file: &Path) -> Self {
        match fs::metadata(file) {
            Ok(found) if found.is_dir() => Self::Other("it is a directory"),
            Ok(found) if !found.is_file() => Self::Other("it is not a regular file"),
            Ok(_) if access(file, Access::EXEC_OK).is_err() => {
                Self::Other("permission denied (it has no execute permission for you)")
            }
            Ok(_) => Self::Program,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Self::Other("permission denied"),
            Err(_) => Self::Missing,
        }
    }
}
