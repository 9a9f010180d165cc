//! Where the files of clients are on this system.

use std::path::{Path, PathBuf};

use confined_fs::host_path_exists;

use crate::config::Environment;

use super::clients::{CONFIG, DOT_CONFIG, GOOSE, XDG_CONFIG};

/// The systems whose folders differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Linux,
    Mac,
    Windows,
}

impl System {
    pub(super) fn this() -> Self {
        match () {
            () if cfg!(windows) => Self::Windows,
            () if cfg!(target_vendor = "apple") => Self::Mac,
            () => Self::Linux,
        }
    }
}

/// The folders of a person, and the current one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folders<'e> {
    pub(super) system: System,
    pub(super) environment: &'e Environment,
}

impl Folders<'_> {
    /// The path of a place.
    ///
    /// # Errors
    /// If the folder cannot be determined.
    pub(super) fn path(&self, place: &str) -> Result<PathBuf, String> {
        let mut found = Vec::new();
        for alternative in place.split('|') {
            let (folder, below) = alternative.split_once('/').unwrap_or((alternative, ""));
            if let Some(variable) = folder.strip_prefix('$') {
                if let Some(folder) = self.variable(variable) {
                    let folder = self.environment.directory.join(folder);
                    return Ok(if below.is_empty() { folder } else { folder.join(below) });
                }
            } else {
                found.push(below.split('/').fold(self.base(folder)?, |path, part| path.join(part)));
            }
        }
        let chosen = found.iter().position(|path| host_path_exists(path)).unwrap_or(0);
        Ok(found.swap_remove(chosen))
    }

    /// The repository that the current directory is in, else the directory itself.
    pub(super) fn repository(&self) -> &Path {
        let directory = &self.environment.directory;
        directory.ancestors().find(|folder| host_path_exists(&folder.join(".git"))).unwrap_or(directory)
    }

    /// Whether the current directory is the home directory.
    pub(super) fn is_home(&self) -> bool {
        self.environment.home.as_deref() == Some(&self.environment.directory)
    }

    /// Whether there is a sign of a client: one of its files, or a folder for them.
    pub(super) fn has_signs_of(&self, place: &str) -> bool {
        let Ok(path) = self.path(place) else { return false };
        let own_folder =
            |folder: &&Path| Some(*folder) != self.environment.home.as_deref() && *folder != self.environment.directory;
        host_path_exists(&path) || path.parent().filter(own_folder).is_some_and(host_path_exists)
    }

    fn base(&self, folder: &str) -> Result<PathBuf, String> {
        let home = |below: &[&str]| {
            let home = self.environment.home.as_ref();
            let home = home.ok_or("the home directory cannot be determined: set HOME to an absolute path")?;
            Ok(below.iter().fold(home.clone(), |path, part| path.join(part)))
        };
        match (folder, self.system) {
            (".", _) if self.environment.directory.as_os_str().is_empty() => {
                Err("the current directory cannot be determined: change to the project".to_owned())
            }
            (".", _) => Ok(self.environment.directory.clone()),
            ("", _) => Err("the file of this client is not known".to_owned()),
            (CONFIG | DOT_CONFIG, System::Windows) => {
                self.variable("APPDATA").map_or_else(|| home(&["AppData", "Roaming"]), Ok)
            }
            (GOOSE, System::Windows) => Ok(self.base(CONFIG)?.join("Block").join("goose").join("config")),
            (GOOSE, _) => Ok(self.base(DOT_CONFIG)?.join("goose")),
            (CONFIG, System::Mac) => home(&["Library", "Application Support"]),
            (CONFIG | DOT_CONFIG | XDG_CONFIG, _) => {
                // A relative one is to be ignored (https://specifications.freedesktop.org/basedir-spec/latest/).
                let folder = self.variable("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
                folder.map_or_else(|| home(&[".config"]), Ok)
            }
            _ => home(&[]),
        }
    }

    fn variable(&self, name: &str) -> Option<PathBuf> {
        self.environment.variable(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }
}
