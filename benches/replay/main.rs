//! Replays edits of real source files, damaged in the ways that models damage them.
//!
//! Most are made by the engine alone, one in five and all calls of several edits by the tool on a file.
//! `cargo bench --bench replay [-- EDITS [FOLDER…]]` prints for each kind of damage how many edits came out right,
//! were refused and were wrong, and fails where anything was wrong. `REPLAY_SEED` chooses other edits;
//! `REPLAY_SHOW=KIND` prints those of a kind that were wrong or refused.
//!
//! `-- --hunks DIR [HUNKS]` replays real changes instead, which `benches/mine.py DIR` fetches, and measures as well how
//! many refused edits a model repairs that copies what the error shows. `REPLAY_SHOW` may be `wrong`, `unrepaired` or
//! one of them and a kind. `-- --pairs DIR [EDITS]` makes edits of the same changes with two damages each.

#![expect(clippy::disallowed_methods, reason = "the benchmark reads source trees that are no workspace")]
#![expect(clippy::print_stdout, reason = "the table is what it is for")]

mod blemish;
mod case;
mod change;
mod copier;
mod damage;
mod hunks;
mod kinds;
mod mined;
mod pairs;
mod random;
mod score;
mod several;
mod source;
mod spelling;
mod tool;
mod traps;

use std::{env, path::PathBuf, process::ExitCode};

use case::Outcome;
use kinds::Kind;
use random::Random;
use score::Table;
use source::Source;
use tool::Tool;

/// Edits where none are asked for.
const EDITS: usize = 6000;

/// Hunks of real changes where no number is asked for.
const HUNKS: usize = 10_000;

/// Files taken from each folder.
const FILES: usize = 900;

/// One in so many edits is made by a call of the tool; the engine alone makes the others.
const BY_TOOL: usize = 5;

/// Edits of one kind printed at most.
const SHOWN: usize = 12;

fn main() -> ExitCode {
    let seed = env::var("REPLAY_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(4);
    let shown = env::var("REPLAY_SHOW").ok();
    let all: Vec<String> = env::args().skip(1).collect();
    if let Some(at) = all.iter().position(|argument| argument == "--hunks") {
        let most = all.get(at + 2).and_then(|most| most.parse().ok()).unwrap_or(HUNKS);
        let dir = all.get(at + 1).map_or_else(PathBuf::new, PathBuf::from);
        return mined::replay(&dir, most, shown.as_deref(), Random::new(seed));
    }
    if let Some(at) = all.iter().position(|argument| argument == "--pairs") {
        let most = all.get(at + 2).and_then(|most| most.parse().ok()).unwrap_or(HUNKS);
        let dir = all.get(at + 1).map_or_else(PathBuf::new, PathBuf::from);
        return pairs::replay(&dir, most, shown.as_deref(), Random::new(seed));
    }
    // cargo passes `--bench` on.
    let mut arguments = all.into_iter().filter(|argument| !argument.starts_with('-')).peekable();
    let edits = arguments.peek().and_then(|first| first.parse().ok());
    if edits.is_some() {
        arguments.next();
    }
    let edits: usize = edits.unwrap_or(EDITS);
    let folders: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let sources = sources(&if folders.is_empty() { at_hand() } else { folders });
    if sources.is_empty() {
        println!("no source files found; name folders of them");
        return ExitCode::FAILURE;
    }
    let mut random = Random::new(seed);
    let all = kinds::all();
    let mut table = Table::default();
    let mut tool = match Tool::start() {
        Ok(tool) => tool,
        Err(error) => {
            println!("the server does not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (mut made, mut made_by_tool) = (0_usize, 0_usize);
    for kind in &all {
        let mut left = SHOWN;
        for case in kind.cases(&sources, edits.div_ceil(all.len()), &mut random) {
            made += 1;
            // Several edits are the tool's business; of the others it makes some, too.
            let by_tool = !case.more.is_empty() || made % BY_TOOL == 0;
            let outcome = if by_tool { tool.run(&case) } else { case.run() };
            made_by_tool += usize::from(by_tool);
            if shown.as_deref().is_some_and(|name| name == kind.name || name == "wrong")
                && left > 0
                && is_telling(kind, &outcome, shown.as_deref() == Some("wrong"))
            {
                left -= 1;
                println!("{}\n", score::explained(kind.name, &case, &outcome));
            }
            table.add(kind, &outcome);
        }
    }
    println!("{} source files, seed {seed}, {made_by_tool} edits by calls of the tool\n{table}", sources.len());
    if table.wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_telling(kind: &Kind, outcome: &Outcome, only_wrong: bool) -> bool {
    match outcome {
        Outcome::Right(_) => false,
        Outcome::Wrong(_) | Outcome::Unfit(_) => true,
        Outcome::NoMatch | Outcome::Ambiguous => !only_wrong && kind.duty == case::Duty::Apply,
    }
}

/// Source trees that most machines have.
fn at_hand() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = source::registry().into_iter().collect();
    for minor in 9..=15 {
        folders.push(PathBuf::from(format!("/usr/lib/python3.{minor}")));
        folders.push(PathBuf::from(format!("/usr/local/lib/python3.{minor}")));
    }
    folders.push(PathBuf::from("/usr/include"));
    folders.push(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"));
    folders
}

fn sources(folders: &[PathBuf]) -> Vec<Source> {
    folders.iter().flat_map(|folder| source::collect(folder, FILES)).collect()
}
