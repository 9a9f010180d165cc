//! How this program was installed, which decides how a client starts it.

use std::path::Path;

use crate::config::Environment;

use super::folders::System;

/// What starts the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Launcher {
    /// Its own file.
    Program,
    Npx,
    Uvx,
    Pipx,
}

impl Launcher {
    /// The words that start the newest version on any machine.
    pub(super) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Program => &["rootbound"],
            Self::Npx => &["npx", "-y", "rootbound"],
            Self::Uvx => &["uvx", "rootbound"],
            Self::Pipx => &["pipx", "run", "rootbound"],
        }
    }
}

/// Decides by the variable that the npm launcher sets, and by the folder of the program.
pub(super) fn launcher(environment: &Environment) -> Launcher {
    if environment.variable("ROOTBOUND_LAUNCHER").is_some_and(|value| value == "npx") {
        return Launcher::Npx;
    }
    let Some(program) = environment.program.first() else { return Launcher::Program };
    let parts: Vec<String> = program.iter().map(|part| part.to_string_lossy().to_lowercase()).collect();
    let has = |names: &[&str]| parts.windows(names.len()).any(|window| window == names);
    let below_cache = environment.variable("UV_CACHE_DIR").is_some_and(|cache| program.starts_with(Path::new(cache)));
    if has(&["pipx", ".cache"]) || has(&["pipx", "cache"]) || has(&[".cache", "pipx"]) {
        return Launcher::Pipx;
    }
    // uvx runs from archives in its cache, `uv tool install` from its own folder of tools.
    if below_cache || has(&["uv", "tools"]) || parts.iter().any(|part| part.starts_with("archive-v")) && has(&["uv"]) {
        return Launcher::Uvx;
    }
    if has(&["uv", "cache"]) {
        return Launcher::Uvx;
    }
    if has(&["node_modules"]) {
        return Launcher::Npx;
    }
    Launcher::Program
}

/// The words for one machine. On Windows `npx` is a script, which only a shell starts.
pub(super) fn on_this_machine(launcher: Launcher, system: System) -> Vec<String> {
    let shell: &[&str] = if launcher == Launcher::Npx && system == System::Windows { &["cmd", "/c"] } else { &[] };
    shell.iter().chain(launcher.words()).map(|word| (*word).to_owned()).collect()
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
            ("/home/me/.cargo/bin/rootbound", Launcher::Program),
            ("/home/me/.cache/uv/archive-v0/xYz/bin/rootbound", Launcher::Uvx),
            ("/home/me/.local/share/uv/tools/rootbound/bin/rootbound", Launcher::Uvx),
            ("/home/me/.local/share/pipx/venvs/rootbound/bin/rootbound", Launcher::Program),
            ("/home/me/.local/pipx/.cache/0123/bin/rootbound", Launcher::Pipx),
            ("/home/me/.npm/_npx/01/node_modules/@rootbound/linux-x64/bin/rootbound", Launcher::Npx),
        ] {
            assert_eq!(of(program), expected, "{program}");
        }
        let variables = vec![("ROOTBOUND_LAUNCHER".into(), "npx".into())];
        assert_eq!(launcher(&Environment { variables, ..Environment::default() }), Launcher::Npx);
        let variables = vec![("UV_CACHE_DIR".into(), "/c".into())];
        let program = vec!["/c/x/bin/rootbound".into()];
        assert_eq!(launcher(&Environment { program, variables, ..Environment::default() }), Launcher::Uvx);
        assert_eq!(on_this_machine(Launcher::Npx, System::Windows), ["cmd", "/c", "npx", "-y", "rootbound"]);
    }
}
