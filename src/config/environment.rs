//! What the process finds around it: its directory, the person's home, the program's own names, and the variables, which
//! may be options. And paths of the host, without links, as far as they exist: only to compare paths and to refuse directories
//! at the start; nothing is opened, and no check of a call relies on it.

use std::{
    ffi::{OsStr, OsString},
    path::{Component, Path, PathBuf},
};

use etcetera::BaseStrategy as _;
use text_file::nearest_name::{ONE_OF_FEW, did_you_mean, nearest_names};

use super::{OptionRow, RawArgs, Source, VARIABLE_PREFIX, options::options};

/// Not an option: it is set by a launcher that starts the program, such as npm's.
const LAUNCHER_VARIABLE: &str = "ROOTBOUND_LAUNCHER";

/// Everything that the process finds around it; a value, so that tests need not change the process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The current directory; empty if it cannot be determined.
    pub directory: PathBuf,
    pub home: Option<PathBuf>,
    /// Where state is kept unless the options say otherwise.
    pub state: Option<PathBuf>,
    pub program: Vec<PathBuf>,
    /// Where the policy of the machine is, if there is one.
    pub machine_policy: Option<PathBuf>,
    /// All variables, those that are not UTF-8 as well.
    pub variables: Vec<(OsString, OsString)>,
}

impl Environment {
    pub fn of_process() -> Self {
        let folders = etcetera::choose_base_strategy().ok();
        let state = folders.as_ref().map(|folders| match folders.state_dir() {
            Some(folder) => folder,
            // %LOCALAPPDATA%: %APPDATA% follows a person from one machine to the next.
            None if cfg!(windows) => folders.cache_dir(),
            None => folders.data_dir(),
        });
        // By the system's call, as anybody sets %ProgramFiles%. Only administrators write there, unlike in %ProgramData%.
        #[cfg(windows)]
        let administrator = known_folders::get_known_folder_path(known_folders::KnownFolder::ProgramFiles);
        #[cfg(not(windows))]
        let administrator =
            Some(PathBuf::from(if cfg!(target_os = "macos") { "/Library/Application Support" } else { "/etc" }));
        // A relative one names another folder in each directory.
        let absolute = |folder: &PathBuf| folder.is_absolute();
        Self {
            // ENOENT: it was removed; EACCES: a directory above may not be searched (getcwd(3)).
            directory: std::env::current_dir().unwrap_or_default(),
            home: folders.as_ref().map(|folders| folders.home_dir().to_owned()).filter(absolute),
            state: state.filter(absolute).map(|folder| folder.join(env!("CARGO_PKG_NAME"))),
            program: program_names(),
            machine_policy: administrator.map(|folder| folder.join(env!("CARGO_PKG_NAME")).join("policy.toml")),
            // `vars` panics at one that is not UTF-8.
            variables: std::env::vars_os().collect(),
        }
    }

    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_os_str())
    }

    pub fn state_folder(&self) -> Option<PathBuf> {
        self.state.as_deref().map(link_free)
    }

    /// The path by which this program can be started later: what was typed, if it leads to this program (a package
    /// manager may replace the file behind it), else its own file.
    pub fn lasting_program(&self) -> Option<PathBuf> {
        let own = self.program.first()?;
        let own_file = real(own);
        let plain = |path: &&PathBuf| path.is_absolute() && !path.iter().any(|part| part == "..");
        let typed = self.program.iter().skip(1).filter(plain).find(|path| real(path) == own_file);
        // Without `.` in it.
        Some(typed.unwrap_or(own).components().collect())
    }

    /// `path` from `base`, with a leading `~` as the home directory: clients start programs without
    /// a shell that would expand it.
    pub(super) fn absolute(&self, path: &Path, base: &Path) -> PathBuf {
        let absolute = match (path.strip_prefix("~"), &self.home) {
            (Ok(below), Some(home)) => home.join(below),
            _ => base.join(path),
        };
        // Without the slash at the end, which `~` alone would get: it is printed.
        absolute.components().collect()
    }

    /// Reads the variables that begin with `ROOTBOUND_`. An empty one counts as not set: clients pass
    /// `""` for what their own configuration leaves out.
    pub(super) fn options(&self, raw: &mut RawArgs, problems: &mut Vec<String>) {
        for (name, value) in &self.variables {
            let is_option = |name: &&str| name.starts_with(VARIABLE_PREFIX) && *name != LAUNCHER_VARIABLE;
            let Some(name) = name.to_str().filter(is_option) else { continue };
            let Some(option) = options().find(|option| option.variable() == name) else {
                let names: Vec<String> = options().map(OptionRow::variable).collect();
                // Without the prefix, which alone would make any two names alike.
                let words = names.iter().map(|name| &name[VARIABLE_PREFIX.len()..]);
                let near = nearest_names(&name[VARIABLE_PREFIX.len()..], words, ONE_OF_FEW);
                let next = did_you_mean(near.first().map(|near| format!("{VARIABLE_PREFIX}{near}")))
                    .unwrap_or_else(|| "unset it; `rootbound --help` lists the options".to_owned());
                problems.push(format!("{name} is not a variable of rootbound: {next}"));
                continue;
            };
            let Some(text) = value.to_str() else {
                problems.push(format!("{name} is not UTF-8: set it to UTF-8 text, or unset it"));
                continue;
            };
            if text.is_empty() {
                continue;
            }
            if !option.is_list() {
                raw.push(option, text.to_owned(), Source::Environment);
            } else if text.trim_start().starts_with("[\"") {
                match serde_json::from_str::<Vec<String>>(text) {
                    Ok(values) => values.into_iter().for_each(|value| raw.push(option, value, Source::Environment)),
                    Err(error) => problems.push(format!(
                        "{name} begins like a JSON array but is not valid ({error}): write [\"first\", \"second\"], or one value per line"
                    )),
                }
            } else {
                for line in text.lines().filter(|line| !line.is_empty()) {
                    raw.push(option, line.to_owned(), Source::Environment);
                }
            }
        }
    }
}

/// The paths of this process's program: its own file, and what a client typed to start it. They are never written: a
/// program below a root could otherwise be replaced by another, which then runs unconfined.
fn program_names() -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = std::env::current_exe().into_iter().collect();
    if let (Ok(directory), Some(typed)) = (std::env::current_dir(), std::env::args_os().next()) {
        names.extend(typed_names(&typed, &directory, std::env::var_os("PATH").as_deref()));
    }
    names
}

/// Where a shell or a client looks for `typed`. For a bare name these are the folders of `PATH` up to the one that
/// has it: a file created in an earlier folder would be found first.
fn typed_names(typed: &OsStr, directory: &Path, path: Option<&OsStr>) -> Vec<PathBuf> {
    if Path::new(typed).components().count() != 1 {
        return vec![directory.join(typed)];
    }
    let mut names = Vec::new();
    for folder in path.into_iter().flat_map(std::env::split_paths) {
        // An empty one is the current directory (POSIX, Base Definitions, 8.3).
        let folder = directory.join(folder);
        let found = spellings(typed).into_iter().find(|name| holds(&folder, Path::new(name)));
        let is_found = found.is_some();
        names.extend(spellings(typed).into_iter().map(|name| folder.join(name)));
        if is_found {
            return names;
        }
    }
    // It was started by an unknown name.
    Vec::new()
}

fn spellings(typed: &OsStr) -> Vec<OsString> {
    let mut names = vec![typed.to_os_string()];
    if cfg!(windows) {
        names.extend([".exe", ".cmd", ".bat", ".com"].map(|end| {
            let mut name = typed.to_os_string();
            name.push(end);
            name
        }));
    }
    names
}

#[expect(clippy::disallowed_methods, reason = "only compared with other paths; Workspace::open opens what was given")]
pub(super) fn real(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    let Some((part, mut real)) = existing else { return path.to_owned() };
    // Below that nothing is a link, so `..` is resolved by its text.
    for name in path.strip_prefix(part).unwrap_or(Path::new("")).components() {
        match name {
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => real.push(name),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    real
}

/// The folder of the program's own without links on the way to it, as it is opened from here on: nobody can lead it
/// elsewhere after the checks at the start. Windows follows them where it is opened.
pub(super) fn link_free(folder: &Path) -> PathBuf {
    if cfg!(windows) { folder.to_owned() } else { real(folder) }
}

/// As [`link_free`], for a file: a link in its own place stays one.
pub(super) fn link_free_file(file: &Path) -> PathBuf {
    match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) if !cfg!(windows) => link_free(folder).join(name),
        _ => file.to_owned(),
    }
}

/// Why nothing can be kept at `path`: a link on the way to it leads nowhere.
#[expect(clippy::disallowed_methods, reason = "only reports what cannot be used; what is used is opened later")]
pub(super) fn broken_link(path: &Path) -> Option<String> {
    let (last, found) = path.ancestors().find_map(|part| Some((part, part.symlink_metadata().ok()?)))?;
    (found.is_symlink() && last.canonicalize().is_err())
        .then(|| format!("{} is a link that leads nowhere", last.display()))
}

pub(super) fn names_of(path: &Path) -> Vec<PathBuf> {
    let mut names = vec![path.to_owned(), real(path)];
    names.dedup();
    names
}

pub(super) fn holds(directory: &Path, name: &Path) -> bool {
    directory.join(name).symlink_metadata().is_ok()
}

/// Whether the path leads to a directory; `None` if it leads to nothing.
#[expect(clippy::disallowed_methods, reason = "only reports what is missing; what is used is opened later")]
pub(super) fn is_directory(path: &Path) -> Option<bool> {
    path.metadata().ok().map(|found| found.is_dir())
}

/// Whether the path is `/`, a drive or a share.
pub(super) fn is_file_system_root(path: &Path) -> bool {
    path.has_root() && !path.components().any(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test makes what is found")]

    use super::*;

    fn with(variables: Vec<(&str, &str)>) -> Environment {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Environment { variables, ..Environment::default() }
    }

    #[test]
    fn a_list_in_the_environment_is_lines_or_a_json_array() {
        let read = |text: &str| {
            let (mut raw, mut problems) = (RawArgs::default(), Vec::new());
            with(vec![("ROOTBOUND_DENY", text)]).options(&mut raw, &mut problems);
            (raw.texts("deny"), problems)
        };
        assert_eq!(read("*.a\n{b,c}\n").0, ["*.a", "{b,c}"]);
        assert_eq!(read("[\"*.a\", \"x y\"]").0, ["*.a", "x y"]);
        assert_eq!(read("[Mm]akefile").0, ["[Mm]akefile"]);
        assert_eq!(read("[\"a\", b]").1.len(), 1);
    }

    #[test]
    fn the_variable_of_a_launcher_is_not_an_option() {
        let (mut raw, mut problems) = (RawArgs::default(), Vec::new());
        let given = vec![("ROOTBOUND_LAUNCHER", "npx"), ("ROOTBOUND_LAUNCH", "npx")];
        with(given).options(&mut raw, &mut problems);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("ROOTBOUND_LAUNCH is not a variable of rootbound"), "{problems:?}");
    }

    #[test]
    fn folders_of_path_count_up_to_the_one_with_the_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["one", "two", "three"] {
            std::fs::create_dir(at(name)).expect("made");
        }
        std::fs::write(at("two/tool"), "").expect("written");
        let path = std::env::join_paths(["one", "two", "three"].map(at)).expect("plain names");
        let names = typed_names(OsStr::new("tool"), folder.path(), Some(&path));
        assert!(names.contains(&at("one/tool")) && names.contains(&at("two/tool")), "{names:?}");
        assert!(!names.contains(&at("three/tool")), "{names:?}");
        assert!(typed_names(OsStr::new("other"), folder.path(), Some(&path)).is_empty());
        assert_eq!(typed_names(OsStr::new("./two/tool"), folder.path(), None), [folder.path().join("./two/tool")]);
    }
}
