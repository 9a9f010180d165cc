//! The last steps of this process before it is the command.

use std::{
    fs, io,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{CommandFailure, ConfinedCommand, LET_READ, program, program::missing_reads, temporary_directory};
use crate::Confine;

impl ConfinedCommand {
    /// Becomes the command, and so returns only if that is impossible. `remark` gets what a person should know, one line
    /// each. Call it before any thread starts and before anything is opened.
    pub fn start(mut self, remark: &dyn Fn(&str)) -> Result<u8, CommandFailure> {
        close_inherited();
        self.follow_parent()?;
        // A core dump would be a copy of the memory, written by the kernel, which no wall stops.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        // Of several the last one counts, as in `Command::envs`.
        let path = self.variables.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let program = program::find(&self.program, &self.directory, path)?;
        std::env::set_current_dir(&self.directory).map_err(|error| {
            CommandFailure::refused(format!("{} cannot be entered: {error}", self.directory.display()))
        })?;
        if !self.variables.iter().any(|(name, _)| name == "TMPDIR") {
            // Before the walls: a rule of Landlock is on a directory that exists.
            match temporary_directory::make() {
                Ok(path) => {
                    self.variables.push(("TMPDIR".into(), path.clone().into()));
                    self.walls.writable.push(path);
                }
                Err(why) => remark(&format!("the command has no directory for temporary files: {why}")),
            }
        }
        let missing = self.prepared_for_home(&program);
        if let (Some(options), false) = (&missing, self.walls.how == Confine::Off) {
            remark(&format!(
                "{} is installed in a place of its own, of which the command may read this file alone; {}{options}",
                self.program.display(),
                LET_READ,
            ));
        }
        let mut command = self.confined(&program, remark)?;
        command.env_clear().envs(self.variables).args(&self.arguments);
        let error = command.exec();
        let needed = missing.map_or_else(String::new, |options| format!("; add {options}"));
        let reason = format!("{} cannot be executed: {error}{needed}", self.program.display());
        Err(match error.kind() {
            // The file is there, so it is what it names in its first line, or its dynamic linker.
            io::ErrorKind::NotFound => CommandFailure::not_found(format!("{reason} (its interpreter)")),
            _ => CommandFailure::not_executable(reason),
        })
    }

    /// Keeps `git` from settings in the home directory that it may not read: it ends because of them, while it works
    /// without. Returns the options that let `program` read what it belongs to, where they are missing.
    #[expect(clippy::disallowed_methods, reason = "the host names the program; no call is served")]
    fn prepared_for_home(&mut self, program: &Path) -> Option<String> {
        let value = |name: &str| self.variables.iter().rfind(|(own, _)| own == name).map(|(_, value)| value.clone());
        let home = PathBuf::from(value("HOME").filter(|home| Path::new(home).is_absolute())?);
        let missing = missing_reads(program, &self.walls, &home, value("PATH").as_deref());
        let settings = [home.join(".config/git/config"), home.join(".gitconfig")];
        let (open, closed): (Vec<_>, Vec<_>) =
            settings.into_iter().filter(|file| file.exists()).partition(|file| self.walls.offer(file));
        if self.walls.how != Confine::Off && !closed.is_empty() && value("GIT_CONFIG_GLOBAL").is_none() {
            let usable = open.into_iter().next().unwrap_or_else(|| "/dev/null".into());
            self.variables.push(("GIT_CONFIG_GLOBAL".into(), usable.into()));
        }
        let shown = |path: &PathBuf| {
            let path = path.strip_prefix(&home).map_or_else(|_| path.clone(), |below| Path::new("~").join(below));
            // `--read` itself knows what `~` is.
            let quote = if path.to_string_lossy().contains([' ', '(', ')', '&', ';']) { "'" } else { "" };
            format!("--read {quote}{}{quote}", path.display())
        };
        (!missing.is_empty()).then(|| missing.iter().map(shown).collect::<Vec<_>>().join(" "))
    }

    fn confined(&self, program: &Path, remark: &dyn Fn(&str)) -> Result<Command, CommandFailure> {
        if self.walls.how != Confine::Off {
            let required = self.walls.how == Confine::Required;
            let walls = [
                crate::landlock::confine_command(&self.walls, program),
                crate::seccomp::install_for_command(self.walls.network),
            ];
            let missing: Vec<String> = walls.into_iter().filter_map(|wall| Some(wall.err()?.to_string())).collect();
            if required && !missing.is_empty() {
                return Err(CommandFailure::refused(format!(
                    "the command is not started, as it cannot be confined: {}. --confine auto runs it with the walls that \
                     there are",
                    missing.join("; ")
                )));
            }
            for why in missing {
                remark(&format!("the walls around the command are not complete: {why}"));
            }
        }
        let mut command = Command::new(program);
        command.arg0(&self.program);
        Ok(command)
    }

    /// Has the kernel kill the command when the parent ends: prctl(2), `PR_SET_PDEATHSIG`.
    fn follow_parent(&self) -> Result<(), CommandFailure> {
        use rustix::process::{Signal, getppid, set_parent_process_death_signal};

        if !self.die_with_parent {
            return Ok(());
        }
        let failed = |why: String| CommandFailure::refused(format!("--die-with-parent: {why}"));
        let parent = getppid();
        set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| failed(error.to_string()))?;
        // It may have ended in between, and nobody would send the signal.
        if getppid() == parent { Ok(()) } else { Err(failed("the parent has ended".to_owned())) }
    }
}

/// Where the system lists the descriptors of a process.
const DESCRIPTOR_FOLDER: &str = "/proc/self/fd";

/// Descriptors that are tried where there is no list.
const MAX_DESCRIPTORS: u64 = 65_536;

/// Closes the descriptors that the process inherited, all but stdin, stdout and stderr: a file that is open already is
/// behind no wall. Call it before anything is opened.
fn close_inherited() {
    #[expect(clippy::disallowed_methods, reason = "the process's own descriptors, before any call is served")]
    let listed: Option<Vec<i32>> = fs::read_dir(DESCRIPTOR_FOLDER).ok().map(|entries| {
        entries.flatten().filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok())).collect()
    });
    let all = || {
        let limit = getrlimit(Resource::Nofile).current.map_or(MAX_DESCRIPTORS, |limit| limit.min(MAX_DESCRIPTORS));
        (0..i32::try_from(limit).unwrap_or(i32::MAX)).collect()
    };
    for number in listed.unwrap_or_else(all) {
        if number > 2 {
            // The one that listed the directory is closed already.
            let _ = nix::unistd::close(number);
        }
    }
}
