//! Staged changes: a server that ends while it changes a layer, and an apply that ends while it changes the disk.

use std::{fs, path::Path};

use serde_json::json;

use crate::program::{Outcome, program};

use super::{
    is_long,
    points::{Victim, each, look, met},
    scenario::{Scenario, World},
    snapshot::Snapshot,
};

/// Each call, or in the usual run every one of so many.
fn is_skipped(number: u64, usual: u64) -> bool {
    !is_long() && number % usual != 1
}

/// What a server shows after one look, which recovers: each entry, and each line of each file.
fn view(scenario: &Scenario, server: &mut Victim) -> Result<Vec<String>, String> {
    let mut lines = Vec::new();
    for call in [
        look(),
        ("ls", json!({ "depth": 9 })),
        ("grep", json!({ "pattern": "^", "output_mode": "content", "head_limit": 200 })),
    ] {
        let (succeeded, text) = server.call(&call).expect("the server has not ended");
        if !succeeded {
            return Err(format!("{}: {call:?}: {text}", scenario.name));
        }
        if call.0 != "read" {
            lines.extend(text.lines().map(str::to_owned));
        }
    }
    lines.sort_unstable();
    Ok(lines)
}

/// The layers' files, and what is in no view: names of a change that is not complete.
fn in_layers(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().map(|entry| entry.expect("an entry")) {
        found.push(entry.path().display().to_string());
        if entry.file_type().expect("a kind").is_dir() {
            found.extend(in_layers(&entry.path()));
        }
    }
    found
}

fn check(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

#[test]
fn staged_change_is_whole_wherever_the_server_ends() {
    let scenario = Scenario::staged();
    let world = World::new();
    let mut server = Victim::start(&scenario, &world, None);
    let mut views = vec![view(&scenario, &mut server).expect("a view")];
    for call in &scenario.calls {
        assert!(server.call(call).expect("the server has not ended").0, "{call:?}");
        views.push(view(&scenario, &mut server).expect("a view"));
    }
    server.end();
    let ends = |fault: &str| {
        let world = World::new();
        let disk = Snapshot::of(&world.root());
        let mut server = Victim::start(&scenario, &world, Some(fault));
        let answered = scenario.calls.iter().take_while(|call| server.call(call).is_some()).count();
        let log = server.end();
        let Some(point) = met(&log) else { return Ok(false) };
        let mut server = Victim::start(&scenario, &world, None);
        let now = view(&scenario, &mut server)?;
        server.end();
        let why = format!("{fault} at {point}, {answered} calls answered");
        let allowed = &views[answered..(answered + 2).min(views.len())];
        check(allowed.contains(&now), || format!("{why}: the view is {now:#?}"))?;
        check(Snapshot::of(&world.root()) == disk, || format!("{why}: the disk has changed"))?;
        let left: Vec<String> = in_layers(&world.state().join("stage"));
        let left: Vec<&String> = left.iter().filter(|path| path.contains(".txn")).collect();
        check(left.is_empty(), || format!("{why}: {left:?}"))?;
        Ok(true)
    };
    for fault in ["kill-before", "kill-after"] {
        let usual = if fault == "kill-before" { 7 } else { 13 };
        let met = each(|number| if is_skipped(number, usual) { Ok(true) } else { ends(&format!("{fault}:{number}")) });
        println!("{}: {fault} at {met} calls", scenario.name);
    }
}

/// A subcommand of the program in a world.
fn run(world: &World, fault: Option<&str>, arguments: &[&str]) -> Outcome {
    let mut command = program(&world.root());
    command.arg("--state-dir").arg(world.state()).args(["--allow", "patch", "--read-before-write", "off"]);
    if let Some(fault) = fault {
        command.env("_ROOTBOUND_FAULT", fault);
    }
    Outcome::of(command.args(arguments))
}

fn with_staged_patch(scenario: &Scenario) -> World {
    let world = World::new();
    let (tool, arguments) = &scenario.calls[0];
    run(&world, None, &["--stage", "call", tool, &arguments.to_string()]).succeeded();
    world
}

#[test]
fn apply_is_whole_wherever_it_ends_and_the_next_one_completes_it() {
    let scenario = Scenario::staged();
    let world = with_staged_patch(&scenario);
    let old = Snapshot::of(&world.root());
    run(&world, None, &["stage", "apply"]).succeeded();
    let new = Snapshot::of(&world.root());
    assert_ne!(old, new);
    let ends = |fault: &str| {
        let world = with_staged_patch(&scenario);
        let ended = run(&world, Some(fault), &["stage", "apply"]);
        let Some(point) = met(&ended.stderr) else { return Ok(false) };
        let why = format!("{fault} at {point}");
        run(&world, None, &["call", "read", "path=dir/c.txt"]).succeeded();
        let now = Snapshot::of(&world.root());
        check(now == old || now == new, || {
            format!("{why}: before it differs in\n{}and after it in\n{}", now.differences(&old), now.differences(&new))
        })?;
        let again = run(&world, None, &["stage", "apply"]);
        check(again.code == Some(0), || format!("{why}: the next apply: {}{}", again.stdout, again.stderr))?;
        let now = Snapshot::of(&world.root());
        check(now == new, || format!("{why}: after the next apply\n{}", now.differences(&new)))?;
        // The folders of the layer are left, and nothing in them.
        let left = in_layers(&world.state().join("stage"));
        check(left.iter().all(|path| !path.ends_with("record")) && left.len() == 2, || format!("{why}: {left:?}"))?;
        Ok(true)
    };
    let met = each(|number| if is_skipped(number, 9) { Ok(true) } else { ends(&format!("kill-before:{number}")) });
    println!("apply: kill-before at {met} calls");
}
