//! The last steps of this process before it is the command.

use std::process::Command;

use crate::wanted::Confine;

use super::{CommandFailure, ConfinedCommand};

impl ConfinedCommand {
    /// Becomes the command, and so returns only if that is impossible. On Windows, which cannot replace a process, it
    /// returns the command's exit code. `remark` gets what a person should know, one line each. Call it before any
    /// thread starts and before anything is opened.
    #[cfg(unix)]
    pub fn start(mut self, remark: &dyn Fn(&str)) -> Result<u8, CommandFailure> {
        use std::os::unix::process::CommandExt as _;

        use rustix::process::{Resource, Rlimit, setrlimit};

        super::descriptors::close_inherited();
        self.follow_parent()?;
        // A core dump would be a copy of the memory, written by the kernel, which no wall stops.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        let path = self.variables.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let program = super::program::find(&self.program, &self.directory, path)?;
        std::env::set_current_dir(&self.directory).map_err(|error| {
            CommandFailure::refused(format!("{} cannot be entered: {error}", self.directory.display()))
        })?;
        if !self.variables.iter().any(|(name, _)| name == "TMPDIR") {
            match super::temporary::directory(&self.walls) {
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
                super::LET_READ,
            ));
        }
        let mut command = self.confined(&program, remark)?;
        command.env_clear().envs(self.variables).args(&self.arguments);
        let error = command.exec();
        let needed = missing.map_or_else(String::new, |options| format!("; add {options}"));
        let reason = format!("{} cannot be executed: {error}{needed}", self.program.display());
        Err(match error.kind() {
            // The file is there, so it is what it names in its first line, or its dynamic linker.
            std::io::ErrorKind::NotFound => CommandFailure::not_found(format!("{reason} (its interpreter)")),
            _ => CommandFailure::not_executable(reason),
        })
    }

    /// Keeps `git` from settings in the home directory that it may not read: it ends because of them, while it works
    /// without. Returns the options that let `program` read what it belongs to, where they are missing.
    #[cfg(unix)]
    #[expect(clippy::disallowed_methods, reason = "the host names the program; no call is served")]
    fn prepared_for_home(&mut self, program: &std::path::Path) -> Option<String> {
        use std::path::{Path, PathBuf};

        let value = |name: &str| self.variables.iter().rfind(|(own, _)| own == name).map(|(_, value)| value.clone());
        let home = PathBuf::from(value("HOME").filter(|home| Path::new(home).is_absolute())?);
        let missing = super::missing_reads::missing_reads(program, &self.walls, &home, value("PATH").as_deref());
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

    /// Runs the command and returns its exit code: this system has no walls for a command.
    #[cfg(not(unix))]
    pub fn start(self, _remark: &dyn Fn(&str)) -> Result<u8, CommandFailure> {
        if self.walls.how != Confine::Off {
            return Err(CommandFailure::refused(
                "this system has no walls for a command (Linux and macOS have them): --confine off runs it without"
                    .to_owned(),
            ));
        }
        self.follow_parent()?;
        let mut command = Command::new(&self.program);
        let status =
            command.args(&self.arguments).current_dir(&self.directory).env_clear().envs(self.variables).status();
        let shown = self.program.display();
        match status {
            Ok(status) => Ok(status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(CommandFailure { code: 127, reason: format!("{shown} is not found") })
            }
            Err(error) => Err(CommandFailure::not_executable(format!("{shown} cannot be executed: {error}"))),
        }
    }

    /// Puts the walls around this process.
    #[cfg(target_os = "linux")]
    fn confined(&self, program: &std::path::Path, remark: &dyn Fn(&str)) -> Result<Command, CommandFailure> {
        use std::os::unix::process::CommandExt as _;

        if self.walls.how != Confine::Off {
            let required = self.walls.how == Confine::Required;
            let missing = super::rules::install(&self.walls, program, required).map_err(|why| {
                CommandFailure::refused(format!(
                    "the command is not started, as it cannot be confined: {why}. --confine auto runs it with the walls \
                     that there are"
                ))
            })?;
            for why in missing {
                remark(&format!("the walls around the command are not complete: {why}"));
            }
        }
        let mut command = Command::new(program);
        command.arg0(&self.program);
        Ok(command)
    }

    /// The program that puts the walls around itself and then becomes the command.
    #[cfg(target_os = "macos")]
    fn confined(&self, program: &std::path::Path, remark: &dyn Fn(&str)) -> Result<Command, CommandFailure> {
        use crate::seatbelt::command_behind_profile;

        match (self.walls.how, &self.walls) {
            (Confine::Off, _) => Ok(Command::new(program)),
            (how, walls) => match command_behind_profile(program, &walls.writable, &walls.readable, walls.network) {
                Ok(command) => Ok(command),
                Err(why) if how == Confine::Auto => {
                    remark(&format!("the command runs without walls: {why}"));
                    Ok(Command::new(program))
                }
                Err(why) => Err(CommandFailure::refused(format!(
                    "the command is not started, as it cannot be confined: {why}. --confine auto runs it without walls"
                ))),
            },
        }
    }

    #[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
    fn confined(&self, program: &std::path::Path, _remark: &dyn Fn(&str)) -> Result<Command, CommandFailure> {
        if self.walls.how == Confine::Off {
            return Ok(Command::new(program));
        }
        Err(CommandFailure::refused(
            "this system has no walls for a command (Linux and macOS have them): --confine off runs it without"
                .to_owned(),
        ))
    }

    /// Has the kernel kill the command when the parent ends: prctl(2), `PR_SET_PDEATHSIG`.
    #[cfg(target_os = "linux")]
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

    #[cfg(not(target_os = "linux"))]
    fn follow_parent(&self) -> Result<(), CommandFailure> {
        if self.die_with_parent {
            return Err(CommandFailure::refused("--die-with-parent: only Linux has this".to_owned()));
        }
        Ok(())
    }
}
