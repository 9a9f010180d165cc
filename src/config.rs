//! Start-up: what was typed on the command line, in the environment and in a file → one [`Config`].
//!
//! It holds each layer's own small struct; no lower layer knows it. Every problem is reported at
//! once. It opens nothing but the configuration file.

mod args;
mod file;
mod kind;
pub(crate) mod meant;
mod options;
mod policy;
mod program;
mod raw;
mod roots;
mod validate;

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use etcetera::BaseStrategy as _;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _};

use crate::{
    log,
    search::IndexMode,
    server,
    session::{HistoryLimits, QuotaLimits},
    tools::{Selection, Settings},
    workspace::{self, Confine, RootSpec},
};

pub use args::Action;

use raw::{Origin, RawArgs};

/// Exit code for a configuration that cannot be used.
pub const BAD_CONFIGURATION: u8 = 2;

/// What the program is to do, and with what.
#[derive(Debug)]
pub struct Config {
    /// Serve, or one of the subcommands.
    pub action: Action,
    /// What is logged to stderr.
    pub log: LevelFilter,
    /// The directories to offer; at least one, none of them the whole file system.
    pub roots: Vec<RootSpec>,
    /// Policy and ignore rules, both validated.
    pub workspace: workspace::Options,
    /// Whether the kernel is to confine the process.
    pub confine: Confine,
    /// The folder for what outlives the process; `None` keeps that in memory.
    pub state: Option<PathBuf>,
    /// What is kept of what files held before.
    pub history: HistoryLimits,
    /// What searches keep between calls.
    pub index: IndexMode,
    /// What one session may spend.
    pub quota: QuotaLimits,
    /// Where and how calls are recorded.
    pub audit: AuditOptions,
    /// Which tools are offered.
    pub selection: Selection,
    /// What the tools are told.
    pub settings: Settings,
    /// Limits of the server.
    pub server: server::Options,
    /// What is odd but not wrong, for the log.
    pub warnings: Vec<String>,
}

impl Default for Config {
    /// Every option as it is when it is not given; without a root.
    fn default() -> Self {
        Self {
            action: Action::Serve,
            log: LevelFilter::WARN,
            roots: Vec::new(),
            workspace: workspace::Options { agent_rules: true, ..workspace::Options::default() },
            confine: Confine::Auto,
            state: None,
            history: HistoryLimits::default(),
            index: IndexMode::default(),
            quota: QuotaLimits::default(),
            audit: AuditOptions::default(),
            selection: Selection::default(),
            settings: Settings::default(),
            server: server::Options::default(),
            warnings: Vec::new(),
        }
    }
}

/// The record of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditOptions {
    /// The file; none when calls are not recorded.
    pub file: Option<PathBuf>,
    /// Bytes after which it is set aside.
    pub size: u64,
    /// Whether a call that cannot be recorded is refused.
    pub required: bool,
}

impl Default for AuditOptions {
    /// 10 MiB are some 20,000 calls.
    fn default() -> Self {
        Self { file: None, size: 10 << 20, required: false }
    }
}

/// What the process finds around it; a value, so that tests need not change the process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The current directory; empty when it cannot be found out.
    pub directory: PathBuf,
    /// The person's home directory.
    pub home: Option<PathBuf>,
    /// Where state is kept unless the options say otherwise.
    pub state: Option<PathBuf>,
    /// The program that runs, by each name that a client may start it by.
    pub program: Vec<PathBuf>,
    /// The environment.
    pub variables: Vec<(OsString, OsString)>,
}

impl Environment {
    /// Those of this process.
    pub fn of_process() -> Self {
        let folders = etcetera::choose_base_strategy().ok();
        Self {
            directory: std::env::current_dir().unwrap_or_default(),
            home: folders.as_ref().map(|folders| folders.home_dir().to_owned()),
            state: folders
                .map(|folders| folders.state_dir().unwrap_or_else(|| folders.data_dir()).join(env!("CARGO_PKG_NAME"))),
            program: program::names(),
            variables: std::env::vars_os().collect(),
        }
    }

    /// `path` from `base`, with a leading `~` as the home directory: clients start programs without
    /// a shell that would expand it.
    fn absolute(&self, path: &Path, base: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(below), Some(home)) => home.join(below),
            _ => base.join(path),
        }
    }
}

/// Why the program does not start.
#[derive(Debug)]
pub enum Refusal {
    /// clap's own answer: help, version, or a misspelled command line.
    Usage(clap::Error),
    /// One sentence for each problem, with its next step.
    Problems(Vec<String>),
}

impl Refusal {
    /// Prints it where it belongs and says how the program ends: 0 for help and version, 2 otherwise.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Usage(error) => {
                // A closed pipe is not worth a word, and one that nobody reads is not waited for.
                let _ = if error.use_stderr() && !io::stderr().is_terminal() {
                    log::Lines.write_all(error.render().to_string().as_bytes())
                } else {
                    error.print()
                };
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(BAD_CONFIGURATION))
            }
            Self::Problems(problems) => {
                for problem in problems {
                    let _ = log::Lines.write_all(format!("rootbound: {problem}\n").as_bytes());
                }
                ExitCode::from(BAD_CONFIGURATION)
            }
        }
    }
}

impl Config {
    /// Starts the log on stderr, for the process's life.
    pub fn start_log(&self) {
        // rmcp's warnings repeat what clients are told, such as the name of an unknown tool.
        let rmcp = if self.log == LevelFilter::WARN { LevelFilter::ERROR } else { self.log };
        let filter = Targets::new().with_default(self.log).with_target("rmcp", rmcp);
        tracing_subscriber::fmt().with_max_level(self.log).with_writer(|| log::Lines).finish().with(filter).init();
    }

    /// Reads command line (with the program's name first), environment and file.
    pub fn read(arguments: impl IntoIterator<Item = OsString>, around: &Environment) -> Result<Self, Refusal> {
        let (mut raw, mut problems) = (RawArgs::default(), Vec::new());
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let words = arguments.get(1..).unwrap_or_default().to_vec();
        let meant = |words: &[OsString]| meant::without_call(words, &around.directory);
        let (action, directories) = args::command_line(arguments, &mut raw, &mut problems).map_err(|error| {
            // Options of grep's own, as in `rootbound grep -i x`.
            let tool = (0..words.len()).find_map(|first| meant(&words[first..]));
            match tool.filter(|_| error.kind() == clap::error::ErrorKind::UnknownArgument) {
                Some(said) => Refusal::Problems(vec![said]),
                None => Refusal::Usage(error),
            }
        })?;
        if action == Action::Serve
            && let Some(said) = meant(&directories)
        {
            return Err(Refusal::Problems(vec![said]));
        }
        args::environment(around.variables.iter().cloned(), &mut raw, &mut problems);
        let file = read_file(&mut raw, around, &mut problems);
        validate::config(&raw, action, &directories, file.as_deref(), around, problems).map_err(Refusal::Problems)
    }
}

/// Reads the file that `--config` names and returns its path.
fn read_file(raw: &mut RawArgs, around: &Environment, problems: &mut Vec<String>) -> Option<PathBuf> {
    let (option, given) = raw.one("config").map(|(option, given)| (option, given.clone()))?;
    if given.text.is_empty() {
        problems.push(format!("{} is empty: name a TOML file, or leave it out", Origin(option, &given.source)));
        return None;
    }
    // What a client did not fill in is reported with the other options.
    if given.text.contains("${") {
        return None;
    }
    let path = around.absolute(Path::new(&given.text), &around.directory);
    file::read(&path, &given.text, raw, problems);
    Some(path)
}

/// A number of bytes in the largest unit that it is a whole number of.
pub(crate) fn readable(count: u64) -> String {
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if count > 0 && count.trailing_zeros() >= shift {
            return format!("{} {unit}", count >> shift);
        }
    }
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{tools::ReadBeforeWrite, workspace::Access};

    fn around() -> Environment {
        Environment {
            directory: "/code/app".into(),
            home: Some("/home/me".into()),
            state: Some("/home/me/.local/state/rootbound".into()),
            program: Vec::new(),
            variables: Vec::new(),
        }
    }

    fn variables(around: &mut Environment, list: &[(&str, &str)]) {
        around.variables = list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    }

    fn read(arguments: &[&str], around: &Environment) -> Result<Config, Refusal> {
        Config::read(std::iter::once("rootbound").chain(arguments.iter().copied()).map(OsString::from), around)
    }

    fn problems(arguments: &[&str], around: &Environment) -> Vec<String> {
        match read(arguments, around) {
            Err(Refusal::Problems(problems)) => problems,
            other => panic!("not refused with problems: {other:?}"),
        }
    }

    fn paths(config: &Config) -> Vec<&str> {
        config.roots.iter().map(|root| root.path.to_str().expect("UTF-8")).collect()
    }

    #[test]
    fn without_arguments_the_current_directory_is_served() {
        let config = read(&[], &around()).expect("fine");
        assert_eq!(config.action, Action::Serve);
        assert_eq!(paths(&config), ["/code/app"]);
        assert_eq!(config.roots[0].access, Access::ReadWrite);
        assert_eq!(config.state.as_deref(), Some(Path::new("/home/me/.local/state/rootbound")));
    }

    #[test]
    fn the_file_system_and_the_home_directory_are_not_offered_unasked() {
        for (directory, word) in [("/", "is /"), ("/home/me", "home directory"), ("", "cannot be found out")] {
            let refused = problems(&[], &Environment { directory: directory.into(), ..around() });
            assert!(
                refused.len() == 1 && refused[0].contains(word) && refused[0].contains("rootbound DIR"),
                "{refused:?}"
            );
        }
        assert!(problems(&["/"], &around())[0].contains("whole file system"));
        assert!(problems(&["--root", "all=/tmp/.."], &around())[0].contains("whole file system"));
        let config = read(&["/home/me"], &around()).expect("asked for by name");
        assert!(config.warnings[0].contains("home directory"), "{:?}", config.warnings);
    }

    #[test]
    fn a_home_directory_that_is_the_whole_file_system_makes_no_pattern_one_of_the_host() {
        let nobody = Environment { home: Some("/".into()), ..around() };
        read(&["--deny", "/private/**", "--hide", "/x"], &nobody).expect("they begin at the root");
        assert!(problems(&["--deny", "/home/me/x"], &around())[0].contains("outside of the directories offered"));
    }

    #[test]
    fn directories_may_stand_on_both_sides_of_a_subcommand() {
        let config = read(&["lib", "--root", "a=x:ro", "call", "grep", "pattern=y", "--root", "b=~/z"], &around());
        let config = config.expect("fine");
        assert_eq!(paths(&config), ["/code/app/lib", "/code/app/x", "/home/me/z"]);
        assert_eq!(config.roots[1].access, Access::ReadOnly);
        assert_eq!(config.action, Action::Call { tool: "grep".into(), arguments: vec!["pattern=y".into()] });
        let config = read(&["--root", "x", "--read-only", "tools", "--json", "--log=info"], &around()).expect("fine");
        assert_eq!((config.action, config.log), (Action::Tools { json: true }, LevelFilter::INFO));
    }

    #[test]
    fn flags_win_over_variables_and_patterns_add_up() {
        let mut around = around();
        variables(
            &mut around,
            &[
                ("ROOTBOUND_READ_ONLY", "1"),
                ("ROOTBOUND_MAX_OUTPUT", "11000"),
                ("ROOTBOUND_ROOT", "a\nb=/srv/b:ro"),
                ("ROOTBOUND_DENY", "[\"*.a\", \"*.b\"]"),
                ("ROOTBOUND_LOG", ""),
                ("PATH", "${unrelated}"),
            ],
        );
        let config = read(&["--deny", "*.c", "--max-output", "20KiB", "--read-only=false"], &around).expect("fine");
        assert_eq!(config.settings.max_output, 20 << 10);
        assert!(!config.selection.read_only);
        assert_eq!(config.workspace.policy.deny, ["*.a", "*.b", "*.c"]);
        assert_eq!(paths(&config), ["/code/app/a", "/srv/b"]);
        let config = read(&["x"], &around).expect("fine");
        assert_eq!((paths(&config), config.roots[0].access), (vec!["/code/app/x"], Access::ReadOnly));
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let mut around = around();
        variables(&mut around, &[("ROOTBOUND_READONLY", "1"), ("ROOTBOUND_STRUCTURED_OUTPUT", "maybe")]);
        let arguments = [
            "--max-output=lots",
            "--time-limit=0",
            "--max-concurrent=none",
            "--confirm=maybe",
            "--confirm-time-limit=0",
            "--log=loud",
            "--confine=yes",
            "--read-before-write=never",
            "--tools=raed",
            "--allow=shell",
            "--root=a=x",
            "--root=a=y",
            "--root=/=z",
            "--root=/m=x",
            "--root=/m/n=x",
            "--config=/nonexistent/r.toml",
        ];
        let refused = problems(&arguments, &around);
        assert_eq!(refused.len(), 16, "{refused:#?}");
        let all = refused.join("\n");
        for part in ["did you mean ROOTBOUND_READ_ONLY?", "did you mean read?", "r.toml cannot be read", "\"a\""] {
            assert!(all.contains(part), "{part}: {all}");
        }
    }

    #[test]
    fn what_a_client_did_not_fill_in_is_named() {
        let mut around = around();
        variables(&mut around, &[("ROOTBOUND_ALLOW", "${user_config.allow}")]);
        let refused = problems(&["${user_config.roots}", "--deny=${user_config.deny}", ""], &around).join("\n");
        for part in ["${user_config.roots}", "--deny", "ROOTBOUND_ALLOW", "an empty directory"] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
        // A search for the very text is no configuration.
        assert!(read(&["call", "grep", "pattern=${x}"], &self::around()).is_ok());
    }

    #[test]
    fn tools_that_other_options_leave_out_are_not_forgotten_silently() {
        assert!(problems(&["--read-only", "--tools", "read,edit"], &around())[0].contains("names edit"));
        let config = read(&["--tools", "read, grep", "--read-before-write", "off"], &around()).expect("fine");
        assert_eq!(config.selection.only, Some(vec!["read".to_owned(), "grep".to_owned()]));
        assert_eq!(config.settings.read_before_write, ReadBeforeWrite::Off);
    }

    #[test]
    fn paths_in_the_file_are_relative_to_its_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("r.toml");
        #[expect(clippy::disallowed_methods, reason = "the test makes the file that is read")]
        std::fs::write(&file, "root = [\"code=src:ro\"]\nstate_dir = \"seen\"\ntime_limit = 5\n").expect("written");
        let config = read(&["--config", file.to_str().expect("UTF-8")], &around()).expect("fine");
        assert_eq!(config.roots[0].path, folder.path().join("src"));
        assert_eq!(config.state, Some(folder.path().join("seen")));
        assert_eq!(config.server.deadline.as_secs(), 5);
    }

    #[test]
    fn the_programs_own_files_are_out_of_reach_below_a_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("r[1].toml");
        #[expect(clippy::disallowed_methods, reason = "the test makes the file that is read")]
        std::fs::write(&file, "root = [\".\"]\n").expect("written");
        let config = read(&["--config", file.to_str().expect("UTF-8")], &around()).expect("fine");
        assert!(config.workspace.own.contains(&file), "{:?}", config.workspace.own);
        let program = Environment { program: vec!["/code/app/bin/rootbound".into()], ..around() };
        let config = read(&["--audit", "/logs/calls.jsonl", "--root", "/code/app"], &program).expect("fine");
        let own = ["/code/app/bin/rootbound", "/logs/calls.jsonl", "/logs/calls.jsonl.5"];
        assert!(own.iter().all(|path| config.workspace.own.contains(&path.into())), "{:?}", config.workspace.own);
        let config = read(&[], &around()).expect("fine");
        assert!(config.roots[0].policy.is_empty() && config.workspace.policy.is_empty());
    }

    #[test]
    fn the_state_folder_overlaps_no_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |below: &str| folder.path().join(below).to_str().expect("UTF-8").to_owned();
        let (root, other) = (at("a/root"), at("other"));
        #[expect(clippy::disallowed_methods, reason = "the test makes what is offered")]
        std::fs::create_dir_all(&root).expect("made");
        for state in ["a/root", "a/root/state", "a", "new/../a/root/new", "."] {
            let refused = problems(&["--state-dir", &at(state), "--log=loud", &other, &root], &around());
            assert!(refused.len() == 2 && refused.iter().any(|why| why.contains("state-dir")), "{state}: {refused:?}");
        }
        let config = read(&["--state-dir", &at("a/roots"), &root], &around()).expect("fine");
        assert_eq!(config.state, Some(folder.path().join("a/roots")));

        let own = Environment { state: Some(at("a/root/.local/state").into()), ..around() };
        let config = read(&[&root], &own).expect("a folder that nobody chose is no reason not to start");
        assert_eq!(config.state, None);
        assert!(config.warnings[0].contains("memory only"), "{:?}", config.warnings);
    }

    #[test]
    fn the_command_line_refuses_what_deerflow_refuses() {
        for flag in ["-c", "-e", "-p", "--print", "--eval", "--shell", "--call"] {
            assert!(matches!(read(&[flag], &around()), Err(Refusal::Usage(_))), "{flag}");
        }
    }
}
