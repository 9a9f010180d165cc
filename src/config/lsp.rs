//! `[lsp.NAME]` tables of the configuration file → [`LanguageServer`]s, checked: nothing that a model may write is ever
//! started. Each key is read by its type, and every problem has its line.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use confined_fs::RootSpec;
use lsp_check::LanguageServer;
use self_sandbox::{BrokeredProgram, Confine, find_program};
use serde_json::{Number, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    LspTable,
    environment::real,
    findings::{Findings, nearest_or_all},
    options::CONFINE_VALUES,
};

/// Seconds that a change may wait for a server.
const MAX_TIMEOUT: f64 = 60.0;
const MAX_TABLES: usize = 50;

/// Checks the tables of the file. A program that is missing is a warning: it may be installed later.
pub(super) fn servers(found: &mut Findings<'_>, roots: &[RootSpec], confine: Confine) -> Vec<LanguageServer> {
    let tables = &found.raw.language_servers;
    let Some(first) = tables.first() else { return Vec::new() };
    if !cfg!(target_os = "linux") {
        found.problems.push(format!(
            "{}: language servers are started on Linux alone, where the kernel can confine each of them: remove the \
             [lsp] tables",
            first.place
        ));
        return Vec::new();
    }
    if !cfg!(feature = "lsp") {
        let why = "this program was built without language servers: remove the [lsp] tables";
        found.problems.push(format!("{}: {why}", first.place));
        return Vec::new();
    }
    if tables.len() > MAX_TABLES {
        found.problems.push(format!("{}: more than {MAX_TABLES} language servers: remove some", first.place));
    }
    let mut servers: Vec<LanguageServer> = Vec::new();
    for table in tables.iter().take(MAX_TABLES) {
        let mut check = TableCheck { table, roots, found };
        let server = check.server(confine);
        for earlier in &servers {
            if let Some(twice) = earlier.extensions.iter().find(|one| server.extensions.contains(one)) {
                let (one, other) = (&earlier.name, &server.name);
                check.problem(
                    "extensions",
                    &format!("lsp.{one} and lsp.{other} are both for files .{twice}: name it in one of them"),
                );
            }
        }
        servers.push(server);
    }
    servers
}

struct TableCheck<'t, 'r> {
    table: &'t LspTable,
    roots: &'t [RootSpec],
    found: &'t mut Findings<'r>,
}

impl TableCheck<'_, '_> {
    fn problem(&mut self, key: &str, why: &str) {
        self.found.problems.push(format!("{}: {why}", self.table.place_of(key)));
    }

    fn server(&mut self, confine: Confine) -> LanguageServer {
        let table = self.table;
        let program = self.program();
        let mut variables = self.variables();
        // Cargo tries for half a minute before it believes that there is no network.
        if program.file_name().is_some_and(|name| name == "rust-analyzer") && !table.is_on("network") {
            variables.insert(0, ("CARGO_NET_OFFLINE".into(), "true".into()));
        }
        let arguments = table.texts("args");
        if arguments.iter().any(|argument| argument.contains('\0')) {
            self.problem("args", "args contain a NUL character: remove it");
        }
        LanguageServer {
            name: table.name.clone(),
            program: BrokeredProgram {
                program: program.into(),
                arguments: arguments.into_iter().map(str::to_owned).collect(),
                variables,
                readable: self.readable(),
                may_write: table.is_on("write"),
                network: table.is_on("network"),
                confine: self.confine(confine),
            },
            extensions: self.extensions(),
            root_markers: self.root_markers(),
            timeout: self.timeout(),
            settings: table.table("settings"),
            initialization_options: table.table("initialization_options"),
        }
    }

    /// The file that is started. It is looked up now: later, `PATH` could lead to a file that a model wrote.
    fn program(&mut self) -> PathBuf {
        let (table, environment) = (self.table, self.found.environment);
        let Some(command) = table.text("command").filter(|command| !command.trim().is_empty()) else {
            self.problem("command", &format!("lsp.{} has no command: add command = \"rust-analyzer\"", table.name));
            return PathBuf::new();
        };
        let has_slash = command.contains('/');
        let path = if has_slash {
            let path = environment.absolute(Path::new(command), Path::new(""));
            if !path.is_absolute() {
                let next = "write an absolute one, or a name that is in PATH";
                self.problem("command", &format!("command {command:?} is a relative path: {next}"));
                return PathBuf::new();
            }
            find_program(&path)
        } else {
            let folders = environment.variable("PATH").map(|path| std::env::split_paths(path).collect::<Vec<_>>());
            // A relative folder of `PATH` would be looked for wherever the server is started, so perhaps in a root.
            let folders = folders.into_iter().flatten().filter(|folder| folder.is_absolute());
            folders.map(|folder| folder.join(command)).find_map(|path| find_program(&path))
        };
        let Some(path) = path else {
            self.found.warnings.push(format!(
                "lsp.{}: there is no program {command}{}, so files .{} get no diagnostics: install it, or write its path",
                table.name,
                if has_slash { "" } else { " in PATH" },
                table.texts("extensions").join(", .")
            ));
            return PathBuf::from(command);
        };
        // By both names: a model could replace a link inside of a root as well as its target.
        for path in [&path, &real(&path)] {
            if let Some(root) = self.roots.iter().find(|root| path.starts_with(real(&root.path))) {
                let (shown, root) = (path.display(), root.path.display());
                let why = "which is offered: a model could replace it; install it elsewhere";
                self.problem("command", &format!("command {shown} is inside of {root}, {why}"));
                break;
            }
        }
        path
    }

    /// `NAME=VALUE`, or `NAME` for the value that this process has.
    fn variables(&mut self) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        for text in self.table.texts("env") {
            let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            let own = || self.found.environment.variable(name).map(Into::into);
            if name.is_empty() || text.contains('\0') {
                let next = "write NAME=VALUE, or NAME to pass on the server's own";
                self.problem("env", &format!("env {text:?} has no name: {next}"));
            } else if let Some(value) = value.map(OsString::from).or_else(own) {
                variables.push((name.into(), value));
            }
        }
        variables
    }

    /// Absolute paths: what is readable must not depend on where the server was started.
    fn readable(&mut self) -> Vec<OsString> {
        let mut readable = Vec::new();
        for text in self.table.texts("read") {
            let path = self.found.environment.absolute(Path::new(text), self.found.file_base);
            if text.is_empty() || !path.is_absolute() || !(text.starts_with('/') || text.starts_with('~')) {
                let next = "write an absolute one, or one that begins with ~/";
                self.problem("read", &format!("read {text:?} is a relative path: {next}"));
            } else if real(&path).parent().is_none() {
                let next = "name what the language server needs";
                self.problem("read", &format!("read {text:?} is the whole file system: {next}"));
            } else if path.try_exists().is_ok_and(|exists| exists) {
                // A rule of the kernel needs a path that exists (landlock_add_rule(2)).
                readable.push(path.into());
            }
        }
        readable
    }

    fn confine(&mut self, usual: Confine) -> Confine {
        let Some(mode) = self.table.text("confine") else { return usual };
        let known = CONFINE_VALUES.iter().find(|(name, _)| *name == mode);
        if known.is_none() {
            self.problem("confine", &format!("confine {mode:?}: write required, auto or off"));
        }
        known.map_or(Confine::Auto, |(_, confine)| *confine)
    }

    fn extensions(&mut self) -> Vec<String> {
        let given = self.table.texts("extensions");
        if given.is_empty() {
            let name = &self.table.name;
            self.problem("extensions", &format!("lsp.{name} has no extensions: add extensions = [\"rs\"]"));
        }
        let mut extensions: Vec<String> = Vec::new();
        for text in given {
            let extension = text.trim_start_matches('.').to_lowercase();
            if extension.is_empty() || extension.contains(['/', '.', '*', '\0']) {
                let next = "write what is after the last dot, such as \"rs\"";
                self.problem("extensions", &format!("{text:?} is no extension: {next}"));
            } else if !extensions.contains(&extension) {
                extensions.push(extension);
            }
        }
        extensions
    }

    fn root_markers(&mut self) -> Vec<String> {
        let given = self.table.texts("root_markers");
        for text in &given {
            if text.is_empty() || matches!(*text, "." | "..") || text.contains(['/', '\0', '*']) {
                let next = "write one such as \"Cargo.toml\"";
                self.problem("root_markers", &format!("{text:?} is no name of a file: {next}"));
            }
        }
        given.into_iter().map(str::to_owned).collect()
    }

    fn timeout(&mut self) -> Option<Duration> {
        let value = self.table.value("timeout")?;
        let seconds = value.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= MAX_TIMEOUT);
        if seconds.is_none() {
            self.problem("timeout", &format!("timeout = {value} is not between 0 and {MAX_TIMEOUT} seconds: write 5"));
        }
        seconds.map(Duration::from_secs_f64)
    }
}

type KeyType = (fn(&Value) -> bool, &'static str);

const TEXT_TYPE: KeyType = (Value::is_string, "text");
const TEXTS_TYPE: KeyType = (
    |value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
    "a list of texts: [\"first\", \"second\"]",
);
const SWITCH_TYPE: KeyType = (Value::is_boolean, "true or false");
const TABLE_TYPE: KeyType = (Value::is_object, "a table");

const TABLE_KEYS: &[(&str, KeyType)] = &[
    ("command", TEXT_TYPE),
    ("args", TEXTS_TYPE),
    ("extensions", TEXTS_TYPE),
    ("root_markers", TEXTS_TYPE),
    ("timeout", (Value::is_number, "a number of seconds")),
    ("env", TEXTS_TYPE),
    ("read", TEXTS_TYPE),
    ("write", SWITCH_TYPE),
    ("network", SWITCH_TYPE),
    ("confine", TEXT_TYPE),
    ("settings", TABLE_TYPE),
    ("initialization_options", TABLE_TYPE),
];

/// Reads the tables below `lsp`. `place` is where an offset of the file is, as problems begin.
pub(super) fn tables(
    value: &Spanned<DeValue<'_>>,
    place: &dyn Fn(usize) -> String,
    problems: &mut Vec<String>,
) -> Vec<LspTable> {
    let DeValue::Table(tables) = value.get_ref() else {
        let found = value.get_ref().type_str();
        problems.push(format!("{}: lsp is {found}, but must be tables: [lsp.rust]", place(value.span().start)));
        return Vec::new();
    };
    let mut read = Vec::new();
    for (name, value) in tables {
        let (at, name) = (place(name.span().start), name.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(table) => {
                let values = values(table, place, problems);
                read.push(LspTable { name, place: at, values });
            }
            other => {
                problems.push(format!("{at}: lsp.{name} is {}, but must be a table: [lsp.{name}]", other.type_str()));
            }
        }
    }
    read
}

/// The values of a table that have the types that their keys take, each with its place.
fn values(
    table: &DeTable<'_>,
    place: &dyn Fn(usize) -> String,
    problems: &mut Vec<String>,
) -> BTreeMap<String, (Value, String)> {
    let mut values = BTreeMap::new();
    for (key, value) in table {
        let (at, key): (String, &str) = (place(key.span().start), key.get_ref());
        let Some((_, (fits, expected))) = TABLE_KEYS.iter().find(|(known, _)| *known == key) else {
            let known: Vec<&str> = TABLE_KEYS.iter().map(|(known, _)| *known).collect();
            let next = nearest_or_all(key, &known, "keys");
            problems.push(format!("{at}: unknown key of a language server {key:?}: {next}"));
            continue;
        };
        match json(value.get_ref()).filter(fits) {
            Some(found) => {
                values.insert(key.to_owned(), (found, at));
            }
            None => problems.push(format!("{at}: {key} is {}, but must be {expected}", value.get_ref().type_str())),
        }
    }
    values
}

/// The same value in JSON; `None` for what JSON cannot say: a date, `nan`, a number that is too large.
fn json(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Integer(number) => {
            // TOML allows underscores between digits, Rust does not.
            Value::Number(i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()?.into())
        }
        DeValue::Float(number) => Value::Number(Number::from_f64(number.as_str().replace('_', "").parse().ok()?)?),
        DeValue::Array(values) => values.iter().map(|value| json(value.get_ref())).collect::<Option<_>>()?,
        DeValue::Table(table) => {
            let pairs = table.iter().map(|(key, value)| Some((key.get_ref().to_string(), json(value.get_ref())?)));
            Value::Object(pairs.collect::<Option<_>>()?)
        }
        DeValue::Datetime(_) => return None,
    })
}
