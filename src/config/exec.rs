//! What `rootbound exec` is asked to do: its own options, all checked at once.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use clap::{Args, ValueHint, builder::ValueParser};

use confined_fs::Access;
use self_sandbox::{CommandWalls, Confine, ConfinedCommand};

use super::{
    Environment, RawArgs, Source,
    environment::{self, real},
    findings::Findings,
    options::{CONFINE_VALUES, option},
    requests::KnownValues,
    roots::{self, RootArgs},
};

/// The options of `rootbound exec` as they are typed.
#[derive(Args)]
pub(super) struct ExecArguments {
    /// A directory to read, change and execute files in, or with :ro only to read and execute; the command runs in the
    /// first one [default: the current directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    root: Vec<OsString>,
    /// A file or directory to read and execute, such as a toolchain in your home directory
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    read: Vec<OsString>,
    /// Run the command in this directory of the first root
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<OsString>,
    /// Allow the internet; local sockets of other programs stay closed
    #[arg(long)]
    network: bool,
    /// Also pass this variable, or set it; of the rest the command gets only PATH, HOME and the language
    #[arg(long, value_name = "NAME[=VALUE]", value_hint = ValueHint::Other)]
    env: Vec<OsString>,
    /// required: all walls, or nothing runs; auto: those that this system has; off: none [default: required]
    #[arg(
        long,
        value_name = "MODE",
        value_parser = ValueParser::new(KnownValues(vec!["required", "auto", "off"])),
        hide_possible_values = true
    )]
    confine: Option<OsString>,
    /// Kill the command when the process that started it ends (Linux)
    #[arg(long)]
    die_with_parent: bool,
    /// The command, which no shell reads; a path with / is relative to the directory that it runs in
    #[arg(last = true, value_name = "CMD [ARG]", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

/// Variables that a command gets; all others only by `--env`.
#[cfg(not(windows))]
const INHERITED_VARIABLES: &str = "HOME LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME LOGNAME NO_COLOR \
     PATH TERM TZ USER";
/// The same on Windows, where a program needs more of it to start.
#[cfg(windows)]
const INHERITED_VARIABLES: &str = "ComSpec NO_COLOR PATH Path PATHEXT SystemRoot TEMP TMP USERNAME USERPROFILE windir";

/// A command to run, and what a person should know before.
#[derive(Debug, PartialEq, Eq)]
pub struct ExecRequest {
    pub command: ConfinedCommand,
    /// Unusual but not wrong, for stderr.
    pub warnings: Vec<String>,
}

impl ExecArguments {
    /// Checks them; `problems` gets every one that is wrong.
    pub(super) fn checked(self, environment: &Environment, problems: &mut Vec<String>) -> ExecRequest {
        let mut warnings = Vec::new();
        let (directory, writable, mut readable) = directories(&self.root, environment, problems, &mut warnings);
        for path in &self.read {
            let path = environment.absolute(Path::new(path), &environment.directory);
            let shown = path.display();
            if environment::is_directory(&path).is_none() {
                problems.push(format!("--read {shown} does not exist"));
            } else if environment::is_file_system_root(&real(&path)) {
                // By where it leads: a link to `/` would offer everything as well.
                problems.push(format!("--read {shown} is the whole file system, which is never offered"));
            } else {
                readable.push(path);
            }
        }
        own_files(writable.iter().chain(&readable), environment, problems);
        let directory = working_directory(self.cwd.as_ref(), directory, environment, problems);
        let mut words = self.command.into_iter();
        let program = words.next().unwrap_or_default();
        if program.is_empty() {
            problems.push("no command was given: rootbound exec [OPTIONS] -- CMD [ARG]...".to_owned());
        }
        let mode = self.confine.as_deref().unwrap_or("required".as_ref()).to_string_lossy();
        let known = CONFINE_VALUES.iter().find(|(name, _)| *name == mode);
        if known.is_none() {
            problems.push(format!("--confine {mode:?}: write required, auto or off"));
        }
        let how = known.map_or(Confine::Required, |(_, confine)| *confine);
        // It needs prctl(2), `PR_SET_PDEATHSIG`. Left out without a word, it would leave a command that runs on alone.
        if self.die_with_parent && !cfg!(target_os = "linux") {
            problems.push("--die-with-parent: only Linux can do this".to_owned());
        }
        let walls = CommandWalls { writable, readable, network: self.network, how };
        let variables = variables(&self.env, environment, problems);
        let arguments = words.collect();
        let die_with_parent = self.die_with_parent;
        let command = ConfinedCommand { program, arguments, directory, variables, walls, die_with_parent };
        ExecRequest { command, warnings }
    }
}

fn directories(
    given: &[OsString],
    environment: &Environment,
    problems: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> (PathBuf, Vec<PathBuf>, Vec<PathBuf>) {
    let mut raw = RawArgs::default();
    for value in given {
        match value.to_str() {
            Some(text) => raw.push(option("root"), text.to_owned(), Source::CommandLine),
            None => problems.push(format!("--root {} is not UTF-8", value.display())),
        }
    }
    if given.is_empty() {
        match roots::current_directory(environment, "--root DIR") {
            Ok(path) => return (path.clone(), vec![path], Vec::new()),
            Err(why) => problems.push(why),
        }
        return Default::default();
    }
    let roots = raw.values.iter().collect();
    let args = RootArgs { directories: &[], roots, read_only: false, default_to_current: false, serves: false };
    let (file_base, mine) = (Path::new(""), Vec::new());
    let mut found = Findings { raw: &raw, file_base, environment, problems: mine, warnings: Vec::new() };
    let mut specs = roots::specs(&args, &mut found, &mut None);
    problems.append(&mut found.problems);
    warnings.append(&mut found.warnings);
    specs.retain(|spec| {
        let kind = environment::is_directory(&spec.path);
        match kind {
            Some(true) => return true,
            Some(false) => problems.push(format!("--root {} is not a directory", spec.path.display())),
            None if spec.optional => {}
            None => problems.push(format!("--root {} does not exist", spec.path.display())),
        }
        false
    });
    let first = specs.first().map(|spec| spec.path.clone()).unwrap_or_default();
    let (writable, readable): (Vec<_>, Vec<_>) = specs.into_iter().partition(|spec| spec.access == Access::ReadWrite);
    for inner in &readable {
        let path = real(&inner.path);
        if let Some(outer) = writable.iter().find(|outer| path.starts_with(real(&outer.path))) {
            problems.push(format!(
                "--root {} is read-only inside of {}, which is writable, and the kernel can only add rights below a \
                 directory: make that one :ro as well, or name the directories in it that the command may change",
                inner.path.display(),
                outer.path.display()
            ));
        }
    }
    let paths = |specs: Vec<confined_fs::RootSpec>| specs.into_iter().map(|spec| spec.path).collect();
    (first, paths(writable), paths(readable))
}

/// Refuses a path that contains the state of this program, or is inside of it: the former content of files, and what
/// later decides what a model has seen.
fn own_files<'p>(paths: impl Iterator<Item = &'p PathBuf>, environment: &Environment, problems: &mut Vec<String>) {
    let configured = environment.variable("ROOTBOUND_STATE_DIR").filter(|folder| !folder.is_empty());
    // Both: the one of this environment, and the one of a server that is started without it.
    let configured = configured.map(|folder| environment.absolute(Path::new(folder), &environment.directory));
    let folders: Vec<PathBuf> = configured.iter().chain(&environment.state).map(|folder| real(folder)).collect();
    let folders: Vec<PathBuf> =
        folders.into_iter().filter(|folder| environment::is_directory(folder) == Some(true)).collect();
    for path in paths {
        let at = real(path);
        if let Some(folder) = folders.iter().find(|folder| folder.starts_with(&at) || at.starts_with(folder)) {
            problems.push(format!(
                "{} would let the command reach the state folder of rootbound, {}: name directories without it",
                path.display(),
                folder.display()
            ));
        }
    }
}

/// The directory in which the command runs: `--cwd` from the first root, or that root.
fn working_directory(
    given: Option<&OsString>,
    first: PathBuf,
    environment: &Environment,
    problems: &mut Vec<String>,
) -> PathBuf {
    let Some(given) = given else { return first };
    let directory = environment.absolute(Path::new(given), &first);
    let shown = given.display();
    if first.as_os_str().is_empty() {
        // The roots are wrong, which has been reported.
    } else if environment::is_directory(&directory) != Some(true) {
        problems.push(format!("--cwd {shown} is not a directory in {}", first.display()));
    } else if !real(&directory).starts_with(real(&first)) {
        problems.push(format!("--cwd {shown} is outside of the first --root, {}", first.display()));
    }
    directory
}

fn variables(given: &[OsString], environment: &Environment, problems: &mut Vec<String>) -> Vec<(OsString, OsString)> {
    // The others may hold keys and tokens, which a command that a model wrote has no need of.
    let inherited =
        |name: &OsStr| environment.variable(name.to_str()?).map(|value| (name.to_owned(), value.to_owned()));
    let mut variables: Vec<_> =
        INHERITED_VARIABLES.split_ascii_whitespace().filter_map(|name| inherited(OsStr::new(name))).collect();
    for text in given {
        let (name, value) = split(text);
        if name.is_empty() {
            problems.push(format!("--env {} has no name: write NAME or NAME=VALUE", text.display()));
            continue;
        }
        // A variable that is set here takes the place of an inherited one.
        variables.retain(|(own, _)| own != name);
        match value {
            Some(value) => variables.push((name.to_owned(), value.to_owned())),
            None => variables.extend(environment.variables.iter().rfind(|(own, _)| own == name).cloned()),
        }
    }
    variables
}

fn split(text: &OsStr) -> (&OsStr, Option<&OsStr>) {
    let bytes = text.as_encoded_bytes();
    let Some(at) = bytes.iter().position(|byte| *byte == b'=') else { return (text, None) };
    match (text.to_str(), at) {
        (Some(text), at) => (text[..at].as_ref(), Some(text[at + 1..].as_ref())),
        #[cfg(unix)]
        (None, at) => {
            use std::os::unix::ffi::OsStrExt as _;
            (OsStr::from_bytes(&bytes[..at]), Some(OsStr::from_bytes(&bytes[at + 1..])))
        }
        #[cfg(not(unix))]
        (None, _) => (OsStr::new(""), None),
    }
}
