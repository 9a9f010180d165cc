//! Reads all sources, in order, into one [`Config`](super::Config), or says why the program does not start.

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Write as _},
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::log;

use super::{
    Action, Environment, Invocation, RawArgs, commands, file, machine_policy::MachinePolicy, suggestion, validate,
};

/// Exit code for a configuration that cannot be used.
// As clap exits for a command line that it does not understand, so that both have one code.
pub const BAD_CONFIGURATION: u8 = 2;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// clap's answer: help, version, or a misspelled command line.
    #[error(transparent)]
    Usage(clap::Error),
    #[error("{}", .0.join("; "))]
    Problems(Vec<String>),
}

impl StartError {
    /// Prints it and returns the exit code: 0 for help and version, 2 otherwise.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Usage(error) => {
                // A closed pipe is not reported, and a stderr that nobody reads must not block the exit.
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

impl Invocation {
    /// Reads command line (with the program's name first), environment and file.
    pub fn read(arguments: impl IntoIterator<Item = OsString>, environment: &Environment) -> Result<Self, StartError> {
        let (mut raw, mut problems) = (RawArgs::default(), Vec::new());
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let words = arguments.get(1..).unwrap_or_default().to_vec();
        let line = match commands::parse(arguments, environment, &mut raw, &mut problems) {
            Ok(line) => line,
            Err(error) => return Err(refused(error, &words, &environment.directory)),
        };
        // What prints or sets up something reaches no file of a workspace.
        let is_bound = !matches!(line, ControlFlow::Break(Invocation::Print(_) | Invocation::SetUp(_)));
        let place = environment.machine_policy.as_deref().filter(|_| is_bound);
        let policy = place.map_or(Ok(None), MachinePolicy::read).unwrap_or_else(|why| {
            problems.extend(why);
            None
        });
        if matches!(line, ControlFlow::Break(Invocation::Execute(_))) {
            problems.extend(policy.as_ref().and_then(MachinePolicy::exec_refusal));
        }
        let (action, directories) = match line {
            ControlFlow::Break(_) if !problems.is_empty() => return Err(StartError::Problems(problems)),
            ControlFlow::Break(invocation) => return Ok(invocation),
            ControlFlow::Continue(start) => start,
        };
        if action == Action::Serve
            && let Some(problem) = suggestion::for_missing_call(&directories, &environment.directory)
                .or_else(|| suggestion::for_misspelled_command(&directories, &environment.directory))
        {
            problems.push(problem);
            return Err(StartError::Problems(problems));
        }
        environment.options(&mut raw, &mut problems);
        let file = read_file(&mut raw, environment, &mut problems);
        let config = validate::config(&raw, action, &directories, (file.as_deref(), policy), environment, problems);
        config.map(|config| Self::Start(Box::new(config))).map_err(StartError::Problems)
    }
}

/// The most likely meaning of clap's `error` about `words` in the current `directory`.
fn refused(error: clap::Error, words: &[OsString], directory: &Path) -> StartError {
    let misspelled = |words: &[OsString]| suggestion::for_misspelled_command(words, directory);
    // Options of grep itself, as in `rootbound grep -i x`; one before the tool is an option of this program.
    let suggest = |first: usize| suggestion::for_missing_call(&words[first..], directory);
    let tool = (0..words.len()).find_map(|first| Some((first, suggest(first)?)));
    let tool = tool.filter(|(first, _)| is_unknown_after(&error, &words[..*first]));
    // Words after `exec` are of another program.
    let problem = tool
        .filter(|_| words.first().is_none_or(|first| first != "exec"))
        .map(|(_, problem)| problem)
        .or_else(|| suggestion::unknown_option(&error))
        .or_else(|| match (error.kind(), words.split_first()) {
            (ErrorKind::UnknownArgument, _) => misspelled(words),
            (ErrorKind::InvalidSubcommand, Some((first, of))) if first == "help" => {
                suggestion::for_help(of).or_else(|| misspelled(of))
            }
            _ => None,
        });
    problem.map_or(StartError::Usage(error), |problem| StartError::Problems(vec![problem]))
}

/// Whether clap stopped at an option that it does not know and that is not one of `words`, the first of the line.
fn is_unknown_after(error: &clap::Error, words: &[OsString]) -> bool {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return false };
    let is_it = |word: &OsString| word.to_str().is_some_and(|word| word.split('=').next() == Some(option));
    error.kind() == ErrorKind::UnknownArgument && !words.iter().any(is_it)
}

fn read_file(raw: &mut RawArgs, environment: &Environment, problems: &mut Vec<String>) -> Option<PathBuf> {
    let given = raw.effective("config")?.clone();
    if given.text.is_empty() {
        problems.push(format!("{} is empty: name a TOML file, or remove it", given.origin()));
        return None;
    }
    // A placeholder that a client did not fill in is reported with those of the other options.
    if given.text.contains("${") {
        return None;
    }
    let path = environment.absolute(Path::new(&given.text), &environment.directory);
    file::read(&path, &given.text, raw, problems);
    Some(path)
}

#[cfg(test)]
mod tests {
    use tracing::level_filters::LevelFilter;

    use super::*;
    use crate::config::{CallRequest, Config, environment};
    use confined_fs::{Access, RootSpec};
    use file_tools::ReadBeforeWrite;

    fn environment() -> Environment {
        Environment {
            directory: "/code/app".into(),
            home: Some("/home/me".into()),
            state: Some("/home/me/.local/state/rootbound".into()),
            program: Vec::new(),
            machine_policy: None,
            variables: Vec::new(),
        }
    }

    fn variables(environment: &mut Environment, list: &[(&str, &str)]) {
        environment.variables = list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    }

    fn read(arguments: &[&str], environment: &Environment) -> Result<Config, StartError> {
        let arguments = std::iter::once("rootbound").chain(arguments.iter().copied()).map(OsString::from);
        match Invocation::read(arguments, environment)? {
            Invocation::Start(config) => Ok(*config),
            other => panic!("does not start: {other:?}"),
        }
    }

    fn problems(arguments: &[&str], environment: &Environment) -> Vec<String> {
        match read(arguments, environment) {
            Err(StartError::Problems(problems)) => problems,
            other => panic!("not refused with problems: {other:?}"),
        }
    }

    /// With slashes on Windows, too.
    fn paths(config: &Config) -> Vec<String> {
        let text = |root: &RootSpec| root.path.to_str().expect("UTF-8").replace(std::path::MAIN_SEPARATOR, "/");
        config.roots.iter().map(text).collect()
    }

    #[test]
    fn without_arguments_the_current_directory_is_served() {
        let config = read(&[], &environment()).expect("fine");
        assert_eq!(config.action, Action::Serve);
        assert_eq!(paths(&config), ["/code/app"]);
        assert_eq!(config.roots[0].access, Access::ReadWrite);
        assert_eq!(config.state.as_deref(), Some(Path::new("/home/me/.local/state/rootbound")));
    }

    #[test]
    fn file_system_and_home_directory_are_offered_only_by_name() {
        for (directory, word) in [
            ("/", "is /"),
            ("/home/me", "is the home directory"),
            ("/home", "contains the home directory"),
            ("", "cannot be determined"),
        ] {
            let there = Environment { directory: directory.into(), ..environment() };
            let refused = problems(&["tools"], &there);
            assert!(
                refused.len() == 1 && refused[0].contains(word) && refused[0].contains("rootbound DIR"),
                "{refused:?}"
            );
            let other = problems(&["--log=loud"], &there);
            assert!(other.len() == 2 && other.contains(&refused[0]), "{other:?}");
            if directory.is_empty() {
                assert_eq!(problems(&[], &there), refused);
                continue;
            }
            let config = read(&[], &there).expect("starts, to say so");
            assert_eq!(
                (config.server.unconfigured.as_ref(), config.roots.len(), config.state),
                (Some(&refused[0]), 0, None)
            );
        }
        assert!(problems(&["/"], &environment())[0].contains("whole file system"));
        assert!(problems(&["--root", "all=/tmp/.."], &environment())[0].contains("whole file system"));
        for named in [&["/home/me"][..], &["/home"], &["--root", "all=/home"]] {
            let config = read(named, &environment()).expect("asked for by name");
            assert!(config.warnings[0].contains("home directory"), "{:?}", config.warnings);
        }
    }

    #[test]
    fn the_open_project_of_claude_code_is_offered_where_no_directory_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path().to_str().expect("UTF-8");
        let above = folder.path().join("me");
        let above = above.to_str().expect("UTF-8");
        for (variable, home, offered) in [
            (project, "/home/me", true),
            ("/", "/home/me", false),
            ("relative", "/home/me", false),
            ("/does/not/exist", "/home/me", false),
            (project, project, false),
            (project, above, false),
        ] {
            let mut there = Environment { directory: home.into(), home: Some(home.into()), ..environment() };
            variables(&mut there, &[("CLAUDE_PROJECT_DIR", variable)]);
            let config = read(&[], &there).expect("starts");
            assert_eq!(config.roots.iter().any(|root| root.path == folder.path()), offered, "{variable} {home}");
            assert_eq!(config.server.unconfigured.is_none(), offered, "{variable} {home}");
            // Only where nothing is configured.
            let config = read(&["/code/app"], &there).expect("starts");
            // On Windows it is on the drive of the current directory.
            assert!(matches!(paths(&config).as_slice(), [one] if one.ends_with("/code/app")), "{:?}", paths(&config));
            assert_eq!(config.server.unconfigured, None);
        }
        let mut elsewhere = environment();
        variables(&mut elsewhere, &[("CLAUDE_PROJECT_DIR", project)]);
        assert_eq!(paths(&read(&[], &elsewhere).expect("starts")), ["/code/app"]);
    }

    #[test]
    fn with_home_at_slash_an_absolute_pattern_is_not_a_host_path() {
        let nobody = Environment { home: Some("/".into()), ..environment() };
        read(&["--deny", "/private/**", "--hide", "/x"], &nobody).expect("they begin at the root");
        // Absolute on Windows, where `/home/me` is not.
        let home = if cfg!(windows) { "C:/home/me" } else { "/home/me" };
        let at_home = Environment { home: Some(home.into()), ..environment() };
        let found = problems(&["--deny", &format!("{home}/x")], &at_home);
        assert!(found.iter().any(|found| found.contains("outside of the directories offered")), "{found:?}");
    }

    #[test]
    fn directories_and_options_are_accepted_on_both_sides_of_a_subcommand() {
        // `x:ro` would be a file of drive X on Windows.
        let config =
            read(&["lib", "--root", "a=xx:ro", "call", "grep", "pattern=y", "--root", "b=~/z"], &environment());
        let config = config.expect("fine");
        assert_eq!(paths(&config), ["/code/app/lib", "/code/app/xx", "/home/me/z"]);
        assert_eq!(config.roots[1].access, Access::ReadOnly);
        assert_eq!(
            config.action,
            Action::Call(CallRequest { tool: Some("grep".into()), arguments: vec!["pattern=y".into()] })
        );
        let config =
            read(&["--root", "x", "--read-only", "tools", "--json", "--log=info"], &environment()).expect("fine");
        assert_eq!((config.action, config.log), (Action::Tools { json: true }, LevelFilter::INFO));
    }

    #[test]
    fn flags_override_variables_and_patterns_are_combined() {
        let mut environment = environment();
        variables(
            &mut environment,
            &[
                ("ROOTBOUND_READ_ONLY", "1"),
                ("ROOTBOUND_MAX_OUTPUT", "11000"),
                ("ROOTBOUND_ROOT", "a\nb=/srv/b:ro"),
                ("ROOTBOUND_DENY", "[\"*.a\", \"*.b\"]"),
                ("ROOTBOUND_LOG", ""),
                ("PATH", "${unrelated}"),
            ],
        );
        let config =
            read(&["--deny", "*.c", "--max-output", "20KiB", "--read-only=false"], &environment).expect("fine");
        assert_eq!(config.settings.max_output, Some(20 << 10));
        assert!(!config.selection.read_only);
        assert_eq!(config.workspace.policy.deny, ["*.a", "*.b", "*.c"]);
        assert_eq!(paths(&config), ["/code/app/a", "/srv/b"]);
        let config = read(&["x"], &environment).expect("fine");
        assert_eq!((paths(&config), config.roots[0].access), (vec!["/code/app/x".to_owned()], Access::ReadOnly));
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let mut environment = environment();
        variables(&mut environment, &[("ROOTBOUND_READONLY", "1"), ("ROOTBOUND_STRUCTURED_OUTPUT", "maybe")]);
        let arguments = [
            "--max-output=lots",
            "--time-limit=0",
            "--max-files-created=none",
            "--confirm=maybe",
            "--index-size=-1",
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
        let refused = problems(&arguments, &environment);
        assert_eq!(refused.len(), 16, "{refused:#?}");
        let all = refused.join("\n");
        for part in ["did you mean ROOTBOUND_READ_ONLY?", "did you mean read?", "r.toml cannot be read", "\"a\""] {
            assert!(all.contains(part), "{part}: {all}");
        }
    }

    #[test]
    fn unfilled_placeholders_of_a_client_are_reported() {
        let mut environment = environment();
        variables(&mut environment, &[("ROOTBOUND_ALLOW", "${user_config.allow}")]);
        let refused = problems(&["${user_config.roots}", "--deny=${user_config.deny}", ""], &environment).join("\n");
        for part in ["${user_config.roots}", "--deny", "ROOTBOUND_ALLOW", "an empty directory"] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
        // In a call the same text is an argument.
        assert!(read(&["call", "grep", "pattern=${x}"], &self::environment()).is_ok());
    }

    #[test]
    fn a_tool_that_other_options_exclude_is_reported() {
        assert!(problems(&["--read-only", "--tools", "read,edit"], &environment())[0].contains("names edit"));
        let config = read(&["--tools", "read, grep", "--read-before-write", "off"], &environment()).expect("fine");
        assert_eq!(config.selection.only, Some(vec!["read".to_owned(), "grep".to_owned()]));
        assert_eq!(config.settings.read_before_write, ReadBeforeWrite::Off);
    }

    #[test]
    fn paths_in_the_file_are_relative_to_its_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("r.toml");
        #[expect(clippy::disallowed_methods, reason = "the test makes the file that is read")]
        std::fs::write(&file, "root = [\"code=src:ro\"]\nstate_dir = \"seen\"\ntime_limit = 5\n").expect("written");
        let config = read(&["--config", file.to_str().expect("UTF-8")], &environment()).expect("fine");
        assert_eq!(config.roots[0].path, folder.path().join("src"));
        assert_eq!(config.state, Some(environment::link_free(&folder.path().join("seen"))));
        assert_eq!(config.server.deadline.as_secs(), 5);
    }

    #[test]
    fn the_programs_own_files_are_listed_as_never_writable() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("r[1].toml");
        #[expect(clippy::disallowed_methods, reason = "the test makes the file that is read")]
        std::fs::write(&file, "root = [\".\"]\n").expect("written");
        let config = read(&["--config", file.to_str().expect("UTF-8")], &environment()).expect("fine");
        assert!(config.workspace.server_files.contains(&file), "{:?}", config.workspace.server_files);
        let program = Environment { program: vec!["/code/app/bin/rootbound".into()], ..environment() };
        let config = read(&["--audit", "/logs/calls.jsonl", "--root", "/code/app"], &program).expect("fine");
        let own = ["/code/app/bin/rootbound", "/logs/calls.jsonl", "/logs/calls.jsonl.5"];
        assert!(
            own.iter().all(|path| config.workspace.server_files.contains(&path.into())),
            "{:?}",
            config.workspace.server_files
        );
        let config = read(&[], &environment()).expect("fine");
        assert!(config.roots[0].policy.is_empty() && config.workspace.policy.is_empty());
    }

    #[test]
    fn a_state_folder_that_overlaps_a_root_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |below: &str| folder.path().join(below).to_str().expect("UTF-8").to_owned();
        let (root, other) = (at("a/root"), at("other"));
        #[expect(clippy::disallowed_methods, reason = "the test makes what is offered")]
        std::fs::create_dir_all(&root).expect("made");
        for state in ["a/root", "a/root/state", "a", "new/../a/root/new", "."] {
            let refused = problems(&["--state-dir", &at(state), "--log=loud", &other, &root], &environment());
            assert!(refused.len() == 2 && refused.iter().any(|why| why.contains("state-dir")), "{state}: {refused:?}");
        }
        let config = read(&["--state-dir", &at("a/roots"), &root], &environment()).expect("fine");
        assert_eq!(config.state, Some(environment::link_free(&folder.path().join("a/roots"))));

        let own = Environment { state: Some(at("a/root/.local/state").into()), ..environment() };
        let config = read(&[&root], &own).expect("the default folder is replaced, not refused");
        assert_eq!(config.state, None);
        assert!(config.warnings[0].contains("memory only"), "{:?}", config.warnings);
    }

    #[test]
    fn words_of_other_programs_are_answered_with_what_does_that_here() {
        for (line, here) in [
            (&["help", "grep"][..], "rootbound tools --json"),
            (&["help", "Apply_Patch"], "rootbound --allow patch call apply_patch patch=…"),
            (&["help", "serve"], "rootbound DIR"),
            (&["help", "setpu"], "rootbound setup"),
            (&["serve"], "rootbound DIR"),
            (&["serve", "--read-only", "."], "rootbound DIR"),
            (&["-v"], "rootbound --version"),
            (&[".", "--verbose"], "--log info"),
            (&["call", "ls", "-v"], "rootbound call ls"),
        ] {
            let said = problems(line, &environment()).join("\n");
            assert!(said.contains(here), "{line:?}: {said}");
        }
    }

    #[test]
    fn flags_that_deerflow_forbids_are_unknown() {
        for flag in ["-c", "-e", "-p", "--print", "--eval", "--shell", "--call"] {
            assert!(matches!(read(&[flag], &environment()), Err(StartError::Usage(_))), "{flag}");
        }
    }
}
