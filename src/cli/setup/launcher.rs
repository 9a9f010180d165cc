//! How this program was installed, which decides how a client starts it.

use std::path::Path;

use crate::config::Environment;

use super::folders::System;

/// What starts the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Launcher {
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

/// Decides by the folder of the program, and by the variable that the npm launcher sets.
pub(super) fn launcher(environment: &Environment) -> Launcher {
    let by_npm = environment.variable("ROOTBOUND_LAUNCHER").is_some_and(|value| value == "npx");
    let otherwise = if by_npm { Launcher::Npx } else { Launcher::Program };
    let Some(program) = environment.program.first() else { return otherwise };
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
    // Installed globally, the program itself lasts: it needs no Node.js, and nobody is asked for a newer version.
    let is_global = has(&["lib", "node_modules"]) || has(&["npm", "node_modules"]) || has(&["global"]);
    match has(&["node_modules"]) {
        true if is_global && !has(&["_npx"]) => Launcher::Program,
        true => Launcher::Npx,
        false => otherwise,
    }
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
            ("/home/me/.npm/_npx/01/node_modules/@rootbound/linux-x64/rootbound", Launcher::Npx),
            ("/code/app/node_modules/@rootbound/linux-x64/rootbound", Launcher::Npx),
            ("/usr/local/lib/node_modules/rootbound/node_modules/@rootbound/linux-x64/rootbound", Launcher::Program),
            ("/home/me/.nvm/versions/node/v22.1.0/lib/node_modules/@rootbound/linux-x64/rootbound", Launcher::Program),
            ("/home/me/.bun/install/global/node_modules/@rootbound/linux-x64/rootbound", Launcher::Program),
        ] {
            assert_eq!(of(program), expected, "{program}");
        }
        let variables = vec![("ROOTBOUND_LAUNCHER".into(), "npx".into())];
        assert_eq!(launcher(&Environment { variables: variables.clone(), ..Environment::default() }), Launcher::Npx);
        let program = vec!["/opt/lib/node_modules/rootbound/node_modules/@rootbound/linux-x64/rootbound".into()];
        assert_eq!(launcher(&Environment { program, variables, ..Environment::default() }), Launcher::Program);
        let variables = vec![("UV_CACHE_DIR".into(), "/c".into())];
        let program = vec!["/c/x/bin/rootbound".into()];
        assert_eq!(launcher(&Environment { program, variables, ..Environment::default() }), Launcher::Uvx);
        assert_eq!(on_this_machine(Launcher::Npx, System::Windows), ["cmd", "/c", "npx", "-y", "rootbound"]);
    }
}
