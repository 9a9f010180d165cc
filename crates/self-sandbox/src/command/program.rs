//! Which file a command's name means, and what it needs besides where it is installed in a place of its own: the folder
//! that it belongs to.

use std::path::{Path, PathBuf};
use std::{ffi::OsStr, fs, io::Read as _, os::unix::ffi::OsStrExt as _};

use rustix::fs::{Access, access};

use super::{CommandFailure, CommandWalls, is_always_readable};

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

/// Folders of programs below the folder of what they belong to.
const PROGRAM_FOLDERS: &[&str] = &["bin", ".bin", "shims"];
/// Paths that a proxy of rustup reads, in the home directory.
const RUSTUP_PATHS: &[&str] = &[".rustup", ".cargo/registry", ".cargo/git", ".cargo/config.toml"];

/// The paths that `--read` should name so that `program` runs; empty where it needs no more than its own file.
#[expect(clippy::disallowed_methods, reason = "the host names the program; no call is served")]
pub(super) fn missing_reads(program: &Path, walls: &CommandWalls, home: &Path, path: Option<&OsStr>) -> Vec<PathBuf> {
    let real = |file: &Path| fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let is_covered = |file: &Path| {
        is_always_readable(file) || walls.offer(file) || file.parent().is_some_and(|folder| walls.offer(folder))
    };
    let interpreters = interpreters(program, path);
    let mut found: Vec<PathBuf> = Vec::new();
    for file in std::iter::once(program.to_owned()).chain(interpreters.iter().cloned()) {
        let resolved = real(&file);
        // A lone program needs nothing but its file.
        let is_lone =
            file == program && interpreters.is_empty() && resolved == file && tree(&file, home) == file.parent();
        for one in [&file, &resolved] {
            found.extend(tree(one, home).filter(|_| !is_lone && !is_covered(one)).map(Path::to_owned));
        }
    }
    let has_rustup = program.parent().is_some_and(|folder| folder.join("rustup").exists());
    if has_rustup && !is_covered(&home.join(RUSTUP_PATHS[0])) {
        found.extend(program.parent().filter(|_| !is_covered(program)).map(Path::to_owned));
        found.extend(RUSTUP_PATHS.iter().map(|path| home.join(path)).filter(|path| path.exists()));
    }
    // Paths are compared name by name, so that a directory is directly before all that is in it.
    found.sort();
    found.dedup_by(|later, earlier| later.starts_with(earlier));
    found
}

/// The folder that a program belongs to, never one that all programs of the person share.
fn tree<'f>(file: &'f Path, home: &Path) -> Option<&'f Path> {
    let folder = file.parent()?;
    let is_programs = folder.file_name().is_some_and(|name| PROGRAM_FOLDERS.iter().any(|one| name == *one));
    let above = folder.parent().filter(|above| {
        let is_shared = *above == home || [".local", ".cargo"].iter().any(|name| **above == home.join(name));
        is_programs && !is_shared && above.parent().is_some()
    });
    Some(above.unwrap_or(folder))
}

/// The program in the first line of a script, and the one that `env` looks for there.
#[expect(clippy::disallowed_methods, reason = "the host names the program; no call is served")]
fn interpreters(program: &Path, path: Option<&OsStr>) -> Vec<PathBuf> {
    let mut start = Vec::new();
    let read = fs::File::open(program).and_then(|file| file.take(256).read_to_end(&mut start));
    let text = String::from_utf8_lossy(&start);
    let Some(line) = text.strip_prefix("#!").filter(|_| read.is_ok()).and_then(|text| text.lines().next()) else {
        return Vec::new();
    };
    let mut words = line.split_whitespace();
    let first = words.next().map(PathBuf::from);
    let is_env = first.as_ref().is_some_and(|first| first.ends_with("env"));
    let named = words.find(|word| is_env && !word.starts_with('-') && !word.contains('='));
    let folders = path.into_iter().flat_map(std::env::split_paths);
    let named = named.and_then(|name| folders.map(|folder| folder.join(name)).find(|file| file.is_file()));
    first.into_iter().chain(named).filter(|file| file.exists()).collect()
}
