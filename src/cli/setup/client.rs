//! What a row of the table of clients is made of.

/// A client that `rootbound setup` knows.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) format: Format,
    /// JSON members of an entry before `command`.
    pub(super) head: &'static str,
    /// JSON members of an entry after `args`.
    pub(super) tail: &'static str,
    /// The file of each scope; the first is the default.
    pub(super) files: &'static [(EntryScope, FilePlace)],
    /// How a person's own file names the open project if no directory is given.
    pub(super) open_project: OpenProject,
    /// How a file of the project names the project.
    pub(super) project_folder: &'static str,
    pub(super) own_tools: OwnTools,
    /// The step with which a person approves the server.
    pub(super) approval: &'static str,
    /// As `approval`, for a file of the project.
    pub(super) project_approval: &'static str,
    /// How to see that it works.
    pub(super) check: &'static str,
}

/// How the servers are listed in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// As members of the object at this path.
    Json(&'static [&'static str]),
    /// As tables below this one.
    Toml(&'static str),
}

/// For whom an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryScope {
    /// One person, in every project.
    User,
    /// Everyone who has the project: the file is shared.
    Project,
    /// One person, in this project.
    Local,
}

impl EntryScope {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// Where a file is.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilePlace {
    /// Variables that name a folder or, with nothing below it, the file; the first that is set counts.
    pub(super) variables: &'static [(&'static str, &'static str)],
    pub(super) base: Base,
    /// Below `base`, with slashes; the first that exists, else the first.
    pub(super) names: &'static [&'static str],
}

/// The folder that a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Home,
    /// `~/.config`, `~/Library/Application Support` or `%APPDATA%`.
    Config,
    /// `~/.config` on macOS, too.
    DotConfig,
    Project,
}

/// What is offered where a client is set up for every project and no directory is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenProject {
    /// The client starts the server in it, so nothing is written.
    CurrentDirectory,
    /// The directory that `setup` runs in.
    Here,
    /// The client has no open project: a directory is needed.
    Unknown,
}

/// How the client's own file tools are turned off.
#[derive(Clone, Copy, Debug)]
pub(super) enum OwnTools {
    /// By this list of texts in a JSON file for each scope, the first of which is the default then.
    JsonList {
        files: &'static [(EntryScope, FilePlace)],
        path: &'static [&'static str],
        names: &'static [&'static str],
        /// What a person loses with them, and what is not turned off.
        effect: &'static str,
    },
    /// By a rule in a TOML file of the person, which is for every project.
    Policy { file: FilePlace, names: &'static [&'static str] },
    /// By leaving these out of the list at the top of a YAML file.
    YamlList { file: FilePlace, key: &'static str, names: &'static [&'static str] },
    /// Not by a file; what a person can do instead.
    ByHand(&'static str),
}
