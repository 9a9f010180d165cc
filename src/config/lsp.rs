//! `[lsp.NAME]` tables → [`LanguageServer`]s, checked: nothing that a model may write is ever started.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use confined_fs::RootSpec;
use lsp_check::LanguageServer;
use self_sandbox::{BrokeredProgram, Confine, find_program};

use super::{Environment, host_path::real, lsp_table::LspTable};

/// How long a change waits for a server, in seconds, unless the table says otherwise; and at most.
const TIMEOUT: f64 = 5.0;
const LONGEST_TIMEOUT: f64 = 60.0;
/// Tables in one file.
const MOST: usize = 50;

/// What the rest of the configuration says that matters here.
pub(super) struct LspArgs<'a> {
    pub(super) tables: &'a [LspTable],
    pub(super) roots: &'a [RootSpec],
    pub(super) file_base: &'a Path,
    pub(super) confine: Confine,
}

/// Reads the tables. A program that is missing is a warning: it may be installed later.
pub(super) fn servers(
    args: &LspArgs<'_>,
    environment: &Environment,
    problems: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Vec<LanguageServer> {
    let Some(first) = args.tables.first() else { return Vec::new() };
    if !cfg!(target_os = "linux") {
        problems.push(format!(
            "{}: language servers are started on Linux alone, where the kernel can confine each of them: remove the \
             [lsp] tables",
            first.place
        ));
        return Vec::new();
    }
    if !cfg!(feature = "lsp") {
        let why = "this program was built without language servers: remove the [lsp] tables";
        problems.push(format!("{}: {why}", first.place));
        return Vec::new();
    }
    if args.tables.len() > MOST {
        problems.push(format!("{}: more than {MOST} language servers: remove some", first.place));
    }
    let mut found: Vec<LanguageServer> = Vec::new();
    for table in args.tables.iter().take(MOST) {
        let server = server(table, args, environment, problems, warnings);
        for earlier in &found {
            if let Some(twice) = earlier.extensions.iter().find(|one| server.extensions.contains(one)) {
                problems.push(format!(
                    "{}: lsp.{} and lsp.{} are both for files .{twice}: name it in one of them",
                    table.place_of("extensions"),
                    earlier.name,
                    server.name
                ));
            }
        }
        found.push(server);
    }
    found
}

fn server(
    table: &LspTable,
    args: &LspArgs<'_>,
    environment: &Environment,
    problems: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> LanguageServer {
    let program = program(table, args, environment, problems, warnings);
    let mut variables = variables(table, environment, problems);
    // Cargo tries for half a minute before it believes that there is no network.
    if program.file_name().is_some_and(|name| name == "rust-analyzer") && !table.is_on("network") {
        variables.insert(0, ("CARGO_NET_OFFLINE".into(), "true".into()));
    }
    LanguageServer {
        name: table.name.clone(),
        program: BrokeredProgram {
            program,
            arguments: arguments(table, problems),
            variables,
            readable: readable(table, args, environment, problems),
            may_write: table.is_on("write"),
            network: table.is_on("network"),
            confine: confine(table, args, problems),
        },
        extensions: extensions(table, problems),
        root_markers: root_markers(table, problems),
        timeout: timeout(table, problems),
        settings: table.table("settings"),
        initialization_options: table.table("initialization_options"),
    }
}

/// The file that is started. It is looked up now: later, `PATH` could lead to a file that a model wrote.
fn program(
    table: &LspTable,
    args: &LspArgs<'_>,
    environment: &Environment,
    problems: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> PathBuf {
    let Some((command, place)) = table.text("command").filter(|(command, _)| !command.trim().is_empty()) else {
        let place = table.place_of("command");
        problems.push(format!("{place}: lsp.{} has no command: add command = \"rust-analyzer\"", table.name));
        return PathBuf::new();
    };
    let has_slash = command.contains('/');
    let path = if has_slash {
        let path = environment.absolute(Path::new(command), Path::new(""));
        if !path.is_absolute() {
            problems.push(format!(
                "{place}: command {command:?} is a relative path: write an absolute one, or a name that is in PATH"
            ));
            return PathBuf::new();
        }
        find_program(&path)
    } else {
        let folders = environment.variable("PATH").map(|path| std::env::split_paths(path).collect::<Vec<_>>());
        let folders = folders.into_iter().flatten().filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(command)).find_map(|path| find_program(&path))
    };
    let Some(path) = path else {
        warnings.push(format!(
            "lsp.{}: there is no program {command}{}, so files .{} get no diagnostics: install it, or write its path",
            table.name,
            if has_slash { "" } else { " in PATH" },
            table.texts("extensions").join(", .")
        ));
        return PathBuf::from(command);
    };
    for path in [&path, &real(&path)] {
        if let Some(root) = args.roots.iter().find(|root| path.starts_with(real(&root.path))) {
            problems.push(format!(
                "{place}: command {} is inside of {}, which is offered: a model could replace it; install it elsewhere",
                path.display(),
                root.path.display()
            ));
            break;
        }
    }
    path
}

fn arguments(table: &LspTable, problems: &mut Vec<String>) -> Vec<String> {
    let found = table.texts("args");
    if found.iter().any(|argument| argument.contains('\0')) {
        problems.push(format!("{}: args contain a NUL character: remove it", table.place_of("args")));
    }
    found.into_iter().map(str::to_owned).collect()
}

/// `NAME=VALUE`, or `NAME` for the value that this process has.
fn variables(table: &LspTable, environment: &Environment, problems: &mut Vec<String>) -> Vec<(OsString, OsString)> {
    let mut found: Vec<(OsString, OsString)> = Vec::new();
    for text in table.texts("env") {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if name.is_empty() || text.contains('\0') {
            problems.push(format!(
                "{}: env {text:?} has no name: write NAME=VALUE, or NAME to pass on the server's own",
                table.place_of("env")
            ));
        } else if let Some(value) = value.map(OsString::from).or_else(|| environment.variable(name).map(Into::into)) {
            found.push((name.into(), value));
        }
    }
    found
}

/// Absolute paths: what is readable must not depend on where the server was started.
fn readable(
    table: &LspTable,
    args: &LspArgs<'_>,
    environment: &Environment,
    problems: &mut Vec<String>,
) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for text in table.texts("read") {
        let path = environment.absolute(Path::new(text), args.file_base);
        if text.is_empty() || !path.is_absolute() || !(text.starts_with('/') || text.starts_with('~')) {
            problems.push(format!(
                "{}: read {text:?} is a relative path: write an absolute one, or one that begins with ~/",
                table.place_of("read")
            ));
        } else if real(&path).parent().is_none() {
            problems.push(format!(
                "{}: read {text:?} is the whole file system: name what the language server needs",
                table.place_of("read")
            ));
        } else if path.try_exists().is_ok_and(|exists| exists) {
            found.push(path);
        }
    }
    found
}

fn confine(table: &LspTable, args: &LspArgs<'_>, problems: &mut Vec<String>) -> Confine {
    match table.text("confine") {
        None => args.confine,
        Some(("auto", _)) => Confine::Auto,
        Some(("required", _)) => Confine::Required,
        Some(("off", _)) => Confine::Off,
        Some((other, place)) => {
            problems.push(format!("{place}: confine {other:?}: write required, auto or off"));
            Confine::Auto
        }
    }
}

fn extensions(table: &LspTable, problems: &mut Vec<String>) -> Vec<String> {
    let given = table.texts("extensions");
    let place = table.place_of("extensions");
    if given.is_empty() {
        problems.push(format!("{place}: lsp.{} has no extensions: add extensions = [\"rs\"]", table.name));
    }
    let mut found: Vec<String> = Vec::new();
    for text in given {
        let extension = text.trim_start_matches('.').to_lowercase();
        if extension.is_empty() || extension.contains(['/', '.', '*', '\0']) {
            problems
                .push(format!("{place}: {text:?} is no extension: write what is behind the last dot, such as \"rs\""));
        } else if !found.contains(&extension) {
            found.push(extension);
        }
    }
    found
}

fn root_markers(table: &LspTable, problems: &mut Vec<String>) -> Vec<String> {
    let given = table.texts("root_markers");
    for text in &given {
        if text.is_empty() || matches!(*text, "." | "..") || text.contains(['/', '\0', '*']) {
            problems.push(format!(
                "{}: {text:?} is no name of a file: write one such as \"Cargo.toml\"",
                table.place_of("root_markers")
            ));
        }
    }
    given.into_iter().map(str::to_owned).collect()
}

fn timeout(table: &LspTable, problems: &mut Vec<String>) -> Duration {
    let Some((value, place)) = table.value("timeout") else { return Duration::from_secs_f64(TIMEOUT) };
    let seconds = value.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= LONGEST_TIMEOUT);
    if seconds.is_none() {
        problems.push(format!("{place}: timeout = {value} is not between 0 and {LONGEST_TIMEOUT} seconds: write 5"));
    }
    Duration::from_secs_f64(seconds.unwrap_or(TIMEOUT))
}
