//! The entry of this server for a client: the program that starts it, as it was installed, and its arguments.

use std::{
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use change_set::host_directory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Map, Value};

use crate::config::{Environment, SetupRequest, command};

use super::{
    clients::{Client, EntryScope, Folders, OpenProject, System},
    error::{Result, refused},
};

pub(super) const DEFAULT_NAME: &str = "files";

/// The arguments of the server below DeerFlow, which starts it in the workspace of a thread: the directories by the
/// five paths that DeerFlow's model knows, with the rights of its own tools. They are relative to the workspace of a
/// thread, `.deer-flow/users/USER/threads/THREAD/user-data/workspace` below `backend`, next to which the skills are.
/// Optional, as the tools are asked for in another directory, and since DeerFlow makes some of them later.
const DEERFLOW_DIRECTORIES: &str = "--root /mnt/user-data/workspace=.:optional \
     --root /mnt/user-data/uploads=../uploads:optional \
     --root /mnt/user-data/outputs=../outputs:optional \
     --root /mnt/skills=../../../../../../../../skills:ro:optional \
     --root /mnt/acp-workspace=../../acp-workspace:ro:optional";

/// The arguments of an entry that only reads: below DeerFlow that for the tool group `file:read`, where there are two.
const READING_ARGUMENTS: &[&str] = &["--read-only"];

/// The arguments of the entry that writes where there are two, for the tool group `file:write`.
const DEERFLOW_WRITING: &[&str] = &["--tools", "edit,write"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerEntry {
    pub(super) name: String,
    pub(super) value: Map<String, Value>,
}

pub(super) fn is_ours(entry: &Value) -> bool {
    launching_words(entry).is_some()
}

/// The command of an entry and its arguments: opencode has one list of both, and Zed once had an object there.
fn start_of(entry: &Value) -> Option<(&str, &[Value])> {
    let (command, arguments) = match entry.get("command")? {
        Value::Array(words) => return Some((words.first()?.as_str()?, &words[1..])),
        Value::Object(inner) => (inner.get("path")?, inner.get("args")),
        command => (command, entry.get("args")),
    };
    Some((command.as_str()?, arguments.and_then(Value::as_array).map_or(&[], Vec::as_slice)))
}

/// How many of an entry's arguments say what its command starts, up to the name of this program; `None` if it starts
/// another one, whatever its own arguments are.
fn launching_words(entry: &Value) -> Option<usize> {
    let (command, arguments) = start_of(entry)?;
    if names_program(command) {
        return Some(0);
    }
    let starter = command.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    let starter = starter.split('.').next().unwrap_or_default();
    if !STARTER_PROGRAMS.contains(&starter) && !starter.starts_with("python") {
        return None;
    }
    let mut is_value = false;
    for (index, word) in arguments.iter().enumerate() {
        let word = word.as_str()?;
        let is_own = !is_value && !word.starts_with('-') && !STARTER_PROGRAMS.contains(&word.trim_start_matches('/'));
        if is_own {
            return (!word.starts_with('@') && names_program(word)).then_some(index + 1);
        }
        is_value = !is_value && VALUED_OPTIONS.split(' ').any(|option| option == word);
    }
    None
}

/// Programs that start others, and the words between them and what they start.
const STARTER_PROGRAMS: &[&str] = &[
    "npx", "npm", "exec", "x", "bunx", "bun", "pnpm", "dlx", "yarn", "node", "uvx", "uv", "tool", "run", "pipx", "py",
    // `cmd /d /s /c` starts what follows.
    "cmd", "c", "d", "s",
];

/// Their options that a value follows.
const VALUED_OPTIONS: &str =
    "--from --with --python -p --package --index --index-url --default-index --registry --cache-dir --spec";

pub(super) fn names_program(word: &str) -> bool {
    let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = file.split(['@', '=', '<', '>', '~']).next().unwrap_or(file);
    let name = name.strip_suffix('}').unwrap_or(name).to_lowercase();
    name.strip_suffix(".exe").or(name.strip_suffix(".js")).unwrap_or(&name) == NAME_OF_PROGRAM
}

const NAME_OF_PROGRAM: &str = env!("CARGO_PKG_NAME");

impl ServerEntry {
    /// The same, with what a person chose for its start in the entry that is there: a version, an index.
    pub(super) fn started_as(&self, found: &Value) -> Self {
        let mut new = self.clone();
        let entry = Value::Object(self.value.clone());
        let (own, there) = (launching_words(&entry).unwrap_or(0), launching_words(found).unwrap_or(0));
        // Options of another starter, such as `uvx --from`, say nothing to this one.
        if let (Some((command, arguments)), Some((same, chosen))) = (start_of(&entry), start_of(found))
            && command == same
        {
            new.start([&[command.into()], &chosen[..there], &arguments[own..]].concat());
        }
        new
    }

    pub(super) fn argv(&self) -> Vec<String> {
        let entry = Value::Object(self.value.clone());
        let (command, arguments) = start_of(&entry).unwrap_or_default();
        std::iter::once(command).chain(arguments.iter().filter_map(Value::as_str)).map(str::to_owned).collect()
    }

    /// Gives it this command with its arguments, as one list if it has that already.
    pub(super) fn start(&mut self, words: Vec<Value>) {
        if self.value.get("command").is_some_and(Value::is_array) {
            self.value.insert("command".to_owned(), words.into());
        } else {
            self.value.insert("command".to_owned(), words[0].clone());
            self.value.insert("args".to_owned(), words[1..].into());
        }
    }
}

/// The entries that are asked for.
///
/// # Errors
/// A sentence with the next step.
pub(super) fn entries(
    client: &Client,
    scope: EntryScope,
    request: &SetupRequest,
    folders: &Folders<'_>,
) -> Result<Vec<ServerEntry>> {
    check_options(&request.options)?;
    let words = start_words(scope, folders)?;
    let directories = directories(client, scope, request, folders)?;
    let name = request.name.as_deref().unwrap_or(DEFAULT_NAME);
    let entry = |(name, own): (String, &[&str])| {
        check_name(&name)?;
        let own = own.iter().map(|&word| word.to_owned());
        let words = words.iter().cloned().chain(own).chain(request.options.iter().chain(&directories).cloned());
        let mut entry = ServerEntry { name, value: members(client.head) };
        if client.one_list {
            entry.value.insert("command".to_owned(), Value::Array(Vec::new()));
        }
        entry.start(words.map(Value::from).collect());
        entry.value.extend(members(client.tail));
        Ok(entry)
    };
    let reading: &[&str] = if request.split || request.read_only { READING_ARGUMENTS } else { &[] };
    let writing = request.split.then(|| (format!("{name}-write"), DEERFLOW_WRITING));
    std::iter::once((name.to_owned(), reading)).chain(writing).map(entry).collect()
}

fn members(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

/// The program and what comes before its own arguments. A file that is shared has no path of this machine.
fn start_words(scope: EntryScope, folders: &Folders<'_>) -> Result<Vec<String>> {
    let launcher = launcher(folders.environment);
    if scope == EntryScope::Project {
        return Ok(launcher.iter().map(|&word| word.to_owned()).collect());
    }
    if launcher != PROGRAM_LAUNCHER {
        return Ok(on_this_machine(launcher, folders.system));
    }
    let program = folders.environment.lasting_program();
    let program = program.ok_or("the path of this program cannot be determined: start it by its absolute path")?;
    Ok(vec![text_of(&program)?])
}

fn directories(
    client: &Client,
    scope: EntryScope,
    request: &SetupRequest,
    folders: &Folders<'_>,
) -> Result<Vec<String>> {
    for directory in &request.directories {
        let Some(real) = host_directory(directory) else {
            return refused(format!("there is no directory {}: check the path", directory.display()));
        };
        if real.parent().is_none() {
            return refused(format!(
                "{} is the whole file system: name the directories that the model needs",
                directory.display()
            ));
        }
    }
    if client.splits_tools() && request.directories.is_empty() {
        return Ok(DEERFLOW_DIRECTORIES.split(' ').map(str::to_owned).collect());
    }
    if scope == EntryScope::Project {
        if request.directories.is_empty() {
            return Ok(vec![client.project_folder.to_owned()]);
        }
        let project = &folders.environment.directory;
        return request.directories.iter().map(|directory| below(project, client.project_folder, directory)).collect();
    }
    if !request.directories.is_empty() {
        return request.directories.iter().map(|directory| text_of(&plain(directory))).collect();
    }
    match client.open_project {
        // Without a directory the server takes the current one, but never / or the home directory.
        OpenProject::CurrentDirectory => Ok(Vec::new()),
        OpenProject::Here if !folders.is_home() => Ok(vec![text_of(&folders.environment.directory)?]),
        OpenProject::Here | OpenProject::Unknown => refused(format!(
            "{} starts servers outside of any project: name the directories to offer, as in `rootbound setup {} \
             ~/code/app`",
            client.title, client.id
        )),
    }
}

pub(super) fn is_in(project: &Path, directory: &Path) -> bool {
    plain(directory).starts_with(plain(project))
}

fn below(project: &Path, project_folder: &str, directory: &Path) -> Result<String> {
    let (project, directory) = (plain(project), plain(directory));
    let Ok(rest) = directory.strip_prefix(&project) else {
        return refused(format!(
            "{} is outside of the project {}, and its path is not the same on other machines: use --scope user, or \
             name a directory of the project",
            directory.display(),
            project.display()
        ));
    };
    let rest = text_of(rest)?.replace('\\', "/");
    Ok(if rest.is_empty() { project_folder.to_owned() } else { format!("{project_folder}/{rest}") })
}

fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            other => out.push(other),
        }
    }
    out
}

fn text_of(path: &Path) -> Result<String> {
    let why = || format!("{} is not UTF-8, so no configuration file can name it: rename it", path.display());
    Ok(path.to_str().ok_or_else(why)?.to_owned())
}

/// Names that every client accepts: DeerFlow drops tools whose names have other characters.
fn check_name(name: &str) -> Result<()> {
    let fits = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    if !name.is_empty() && name.len() <= 40 && name.chars().all(fits) {
        return Ok(());
    }
    refused(format!("--name {name:?} is not a name of an entry: use up to 40 letters, digits, - and _"))
}

fn check_options(options: &[String]) -> Result<()> {
    let words = std::iter::once("rootbound").chain(options.iter().map(String::as_str));
    match command().try_get_matches_from(words) {
        Ok(matches) => match (matches.subcommand_name(), matches.get_one::<OsString>("dir")) {
            (Some(name), _) => {
                refused(format!("the subcommand {name} follows --: give only options of the server there"))
            }
            (_, Some(directory)) => {
                let directory = directory.display();
                refused(format!("the directory {directory} follows --: give directories before it"))
            }
            _ => Ok(()),
        },
        // A subcommand that needs arguments.
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
            refused("a subcommand follows --: give only options of the server there")
        }
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let near = match error.get(ContextKind::SuggestedArg) {
                Some(ContextValue::String(name)) => format!("did you mean {name}? "),
                _ => String::new(),
            };
            let wrong = first.trim_start_matches("error: ");
            refused(format!("after --: {wrong}; {near}rootbound --help lists the options of the server"))
        }
    }
}

/// The words that start the newest version of this server on any machine, by how this one was installed.
pub(super) type Launcher = &'static [&'static str];

const PROGRAM_LAUNCHER: Launcher = &["rootbound"];
pub(super) const NPX_LAUNCHER: Launcher = &["npx", "-y", "rootbound"];
pub(super) const UVX_LAUNCHER: Launcher = &["uvx", "rootbound"];
const PIPX_LAUNCHER: Launcher = &["pipx", "run", "rootbound"];

/// Decides by the folder of the program, and by the variable that the npm launcher sets.
pub(super) fn launcher(environment: &Environment) -> Launcher {
    let by_npm = environment.variable("ROOTBOUND_LAUNCHER").is_some_and(|value| value == "npx");
    let otherwise = if by_npm { NPX_LAUNCHER } else { PROGRAM_LAUNCHER };
    let Some(program) = environment.program.first() else { return otherwise };
    let parts: Vec<String> = program.iter().map(|part| part.to_string_lossy().to_lowercase()).collect();
    let has = |names: &[&str]| parts.windows(names.len()).any(|window| window == names);
    let below_cache = environment.variable("UV_CACHE_DIR").is_some_and(|cache| program.starts_with(Path::new(cache)));
    if has(&["pipx", ".cache"]) || has(&["pipx", "cache"]) || has(&[".cache", "pipx"]) {
        return PIPX_LAUNCHER;
    }
    // uvx runs from archives in its cache, `uv tool install` from its own folder of tools.
    let is_archive = parts.iter().any(|part| part.starts_with("archive-v")) && has(&["uv"]);
    if below_cache || is_archive || has(&["uv", "tools"]) || has(&["uv", "cache"]) {
        return UVX_LAUNCHER;
    }
    // Installed globally, the program itself lasts: it needs no Node.js, and nobody is asked for a newer version.
    let is_global = has(&["lib", "node_modules"]) || has(&["npm", "node_modules"]) || has(&["global"]);
    match has(&["node_modules"]) {
        true if is_global && !has(&["_npx"]) => PROGRAM_LAUNCHER,
        true => NPX_LAUNCHER,
        false => otherwise,
    }
}

/// The words for one machine. On Windows `npx` is a script, which only a shell starts.
pub(super) fn on_this_machine(launcher: Launcher, system: System) -> Vec<String> {
    let shell: &[&str] = if launcher == NPX_LAUNCHER && system == System::Windows { &["cmd", "/c"] } else { &[] };
    shell.iter().chain(launcher).map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(program: &str) -> Launcher {
        launcher(&Environment { program: vec![program.into()], ..Environment::default() })
    }

    #[test]
    fn program_in_the_folder_of_a_launcher_is_started_by_it() {
        for (program, expected) in [
            ("/home/me/.cargo/bin/rootbound", PROGRAM_LAUNCHER),
            ("/home/me/.cache/uv/archive-v0/xYz/bin/rootbound", UVX_LAUNCHER),
            ("/home/me/.local/share/uv/tools/rootbound/bin/rootbound", UVX_LAUNCHER),
            ("/home/me/.local/share/pipx/venvs/rootbound/bin/rootbound", PROGRAM_LAUNCHER),
            ("/home/me/.local/pipx/.cache/0123/bin/rootbound", PIPX_LAUNCHER),
            ("/home/me/.npm/_npx/01/node_modules/@rootbound/linux-x64/rootbound", NPX_LAUNCHER),
            ("/code/app/node_modules/@rootbound/linux-x64/rootbound", NPX_LAUNCHER),
            ("/usr/local/lib/node_modules/rootbound/node_modules/@rootbound/linux-x64/rootbound", PROGRAM_LAUNCHER),
            ("/home/me/.nvm/versions/node/v22.1.0/lib/node_modules/@rootbound/linux-x64/rootbound", PROGRAM_LAUNCHER),
            ("/home/me/.bun/install/global/node_modules/@rootbound/linux-x64/rootbound", PROGRAM_LAUNCHER),
        ] {
            assert_eq!(of(program), expected, "{program}");
        }
        let variables = vec![("ROOTBOUND_LAUNCHER".into(), "npx".into())];
        assert_eq!(launcher(&Environment { variables: variables.clone(), ..Environment::default() }), NPX_LAUNCHER);
        let program = vec!["/opt/lib/node_modules/rootbound/node_modules/@rootbound/linux-x64/rootbound".into()];
        assert_eq!(launcher(&Environment { program, variables, ..Environment::default() }), PROGRAM_LAUNCHER);
        let variables = vec![("UV_CACHE_DIR".into(), "/c".into())];
        let program = vec!["/c/x/bin/rootbound".into()];
        assert_eq!(launcher(&Environment { program, variables, ..Environment::default() }), UVX_LAUNCHER);
        assert_eq!(on_this_machine(NPX_LAUNCHER, System::Windows), ["cmd", "/c", "npx", "-y", "rootbound"]);
    }
}
