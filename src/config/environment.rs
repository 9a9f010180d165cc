//! What the process finds around it: its directory, the person's home, variables, the program's own names.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use etcetera::BaseStrategy as _;

use super::{host_path, program};

/// What the process finds around it; a value, so that tests need not change the process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The current directory; empty if it cannot be determined.
    pub directory: PathBuf,
    /// The person's home directory.
    pub home: Option<PathBuf>,
    /// Where state is kept unless the options say otherwise.
    pub state: Option<PathBuf>,
    /// The paths by which a client may start the program that runs.
    pub program: Vec<PathBuf>,
    /// The environment.
    pub variables: Vec<(OsString, OsString)>,
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        let folders = etcetera::choose_base_strategy().ok();
        let state = folders.as_ref().map(|folders| match folders.state_dir() {
            Some(folder) => folder,
            // %LOCALAPPDATA%: %APPDATA% follows a person from one machine to the next.
            None if cfg!(windows) => folders.cache_dir(),
            None => folders.data_dir(),
        });
        // A relative one names another folder in each directory.
        let absolute = |folder: &PathBuf| folder.is_absolute();
        Self {
            directory: std::env::current_dir().unwrap_or_default(),
            home: folders.as_ref().map(|folders| folders.home_dir().to_owned()).filter(absolute),
            state: state.filter(absolute).map(|folder| folder.join(env!("CARGO_PKG_NAME"))),
            program: program::names(),
            variables: std::env::vars_os().collect(),
        }
    }

    /// A variable of the environment.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_os_str())
    }

    /// The usual state folder, without links on the way to it.
    pub fn state_folder(&self) -> Option<PathBuf> {
        self.state.as_deref().map(host_path::lasting)
    }

    /// The path by which this program can be started later: what was typed, if it leads to this program (a package
    /// manager may replace the file behind it), else its own file.
    pub fn lasting_program(&self) -> Option<PathBuf> {
        let own = self.program.first()?;
        let real = host_path::real(own);
        let plain = |path: &&PathBuf| path.is_absolute() && !path.iter().any(|part| part == "..");
        let typed = self.program.iter().skip(1).filter(plain).find(|path| host_path::real(path) == real);
        // Without `.` in it.
        Some(typed.unwrap_or(own).components().collect())
    }

    /// `path` from `base`, with a leading `~` as the home directory: clients start programs without
    /// a shell that would expand it.
    pub(super) fn absolute(&self, path: &Path, base: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(below), Some(home)) => home.join(below),
            _ => base.join(path),
        }
    }
}
