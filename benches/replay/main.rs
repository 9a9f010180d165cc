//! Replays edits of real source files, damaged in the ways that models damage them.
//!
//! `cargo bench --bench replay [-- EDITS [FOLDER…]]` prints for each kind of damage how many edits came out right,
//! were refused and were wrong, and fails where anything was wrong. `REPLAY_SEED` chooses other edits;
//! `REPLAY_SHOW=KIND` prints those of a kind that were wrong or refused.

#![expect(clippy::disallowed_methods, reason = "the benchmark reads source trees that are no workspace")]
#![expect(clippy::print_stdout, reason = "the table is what it is for")]

mod case;
mod change;
mod damage;
mod kinds;
mod random;
mod score;
mod source;
mod spelling;
mod traps;

use std::{env, path::PathBuf, process::ExitCode};

use case::Outcome;
use kinds::Kind;
use random::Random;
use score::Table;
use source::Source;

/// Edits where none are asked for.
const EDITS: usize = 6000;

/// Files taken from each folder.
const FILES: usize = 900;

/// Edits of one kind printed at most.
const SHOWN: usize = 12;

fn main() -> ExitCode {
    // cargo passes `--bench` on.
    let mut arguments = env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    let edits = arguments.peek().and_then(|first| first.parse().ok());
    if edits.is_some() {
        arguments.next();
    }
    let edits: usize = edits.unwrap_or(EDITS);
    let folders: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let sources = sources(&if folders.is_empty() { at_hand() } else { folders });
    if sources.is_empty() {
        println!("no source files at hand; name folders of them");
        return ExitCode::FAILURE;
    }
    let seed = env::var("REPLAY_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(4);
    let shown = env::var("REPLAY_SHOW").ok();
    let mut random = Random::new(seed);
    let all = kinds::all();
    let mut table = Table::default();
    for kind in &all {
        let mut left = SHOWN;
        for case in kind.cases(&sources, edits.div_ceil(all.len()), &mut random) {
            let outcome = case.run();
            if shown.as_deref().is_some_and(|name| name == kind.name || name == "wrong")
                && left > 0
                && is_telling(kind, &outcome, shown.as_deref() == Some("wrong"))
            {
                left -= 1;
                println!("{}\n", score::explained(kind, &case, &outcome));
            }
            table.add(kind, &outcome);
        }
    }
    println!("{} source files, seed {seed}\n{table}", sources.len());
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
