//! `rootbound checkpoint`: names the state of the roots as it is now, for people and for hooks of clients.

use std::process::ExitCode;

use crate::{server::Services, session::history::CheckpointName};

use super::output::{fail, print};

/// Names the state.
pub fn checkpoint(services: &Services, name: &str) -> ExitCode {
    let name: CheckpointName = match name.parse() {
        Ok(name) => name,
        Err(why) => return fail(&format!("{why}\n\nhint: choose a short name such as before-agent"), 1),
    };
    let history = &services.session.history;
    if !history.on_disk() {
        let why = "no history is kept: --history or --state-dir is off, or the state folder cannot be used";
        return fail(&format!("the checkpoint {name} was not made, as {why}"), 1);
    }
    let roots: Vec<&str> = services.workspace.roots().iter().map(|root| root.key()).collect();
    match history.set_checkpoint(&name, 0, &roots) {
        Ok(false) => print(&format!("Checkpoint {name} made")),
        Ok(true) => print(&format!("Checkpoint {name} moved: it is now the state of this moment")),
        Err(error) => fail(&format!("the checkpoint {name} was not made: {}", error.kind()), 1),
    }
}
