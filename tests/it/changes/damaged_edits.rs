//! Damaged edits of real files, a few hundred of the kinds of `benches/replay`: none may give a wrong result.
//!
//! The files are those of the dependencies in the lock file, or the sources of this crate if there are none.
//! Half of the edits go through the whole server and are judged by the bytes on the disk.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::{harness::Harness, harness::program::is_wine};

#[path = "../../../benches/replay/case.rs"]
mod case;
#[path = "../../../benches/replay/change.rs"]
mod change;
#[path = "../../../benches/replay/damage.rs"]
mod damage;
#[path = "../../../benches/replay/kinds.rs"]
mod kinds;
#[path = "../../../benches/replay/random.rs"]
mod random;
#[path = "../../../benches/replay/score.rs"]
mod score;
#[path = "../../../benches/replay/several.rs"]
mod several;
#[path = "../../../benches/replay/source.rs"]
mod source;
#[path = "../../../benches/replay/spelling.rs"]
mod spelling;
#[path = "../../../benches/replay/traps.rs"]
mod traps;

use case::{Case, Outcome};
use random::Random;
use score::Table;
use source::Source;

/// Dependencies with readable sources of several styles.
const CRATES: [&str; 6] = ["clap_builder", "similar", "globset", "encoding_rs", "proptest", "toml"];

/// Edits of each kind, made by the engine and by the server.
const EACH: usize = 3;

fn sources() -> Vec<Source> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let lock = std::fs::read_to_string(package.join("Cargo.lock")).expect("the lock file is part of the package");
    let version = |name: &str| -> Option<String> {
        let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("\nname = \"{name}\"\n")))?;
        Some(entry.split("version = \"").nth(1)?.split('"').next()?.to_owned())
    };
    let registries = source::registry().and_then(|registry| registry.read_dir().ok());
    let registry = registries.and_then(|mut registries| Some(registries.next()?.ok()?.path()));
    let folders = CRATES.iter().filter_map(|name| Some(registry.as_ref()?.join(format!("{name}-{}", version(name)?))));
    let found: Vec<Source> = folders.flat_map(|folder| source::collect(&folder, 40)).collect();
    if found.is_empty() { source::collect(&package.join("src"), 100) } else { found }
}

/// Makes the edit by calls of the server's tools, like a model, of a file of its own: a large one is shown in part, and
/// another content that was shown under its name before would be changed by somebody since.
fn through_server(harness: &Harness, case: &Case, name: &str) -> Outcome {
    harness.write(name, &case.file);
    harness.call("read", json!({ "path": name })).ok();
    let answer = harness.call("edit", case.arguments(name));
    Outcome::of_call(case, answer.error_kind(), harness.bytes(name))
}

#[test]
fn no_damaged_edit_of_a_real_file_gives_a_wrong_result() {
    let sources = sources();
    assert!(!sources.is_empty(), "this crate has source files");
    let harness = Harness::new();
    let mut random = Random::new(2);
    let (mut table, mut wrong) = (Table::default(), Vec::new());
    for kind in kinds::all() {
        for (index, case) in kind.cases(&sources, 2 * EACH, &mut random).enumerate() {
            let by_engine = index % 2 == 0 && case.more.is_empty();
            let outcome =
                if by_engine { case.run() } else { through_server(&harness, &case, &format!("{}.txt", table.total())) };
            if matches!(outcome, Outcome::Wrong(_) | Outcome::Unfit(_)) {
                wrong.push(score::explained(kind.name, &case, &outcome));
            }
            table.add(&kind, &outcome);
        }
    }
    assert!(wrong.is_empty(), "{}\n{table}", wrong.join("\n\n"));
    assert_eq!(table.wrong(), 0);
    assert!(table.total() >= 300 && table.percent_right() >= 95, "{table}");
}

/// Skipped with a message if `patch` is not installed.
#[test]
fn patch_applies_the_diff_to_the_old_file_and_gives_the_new_one() {
    let is_there = Command::new("patch").arg("--version").stdout(Stdio::null()).status().is_ok_and(|it| it.success());
    if !is_there {
        assert!(std::env::var_os("CI").is_none() || is_wine(), "install patch");
        return skipped();
    }
    let harness = Harness::new();
    let (sources, mut random) = (sources(), Random::new(3));
    let mut applied = 0;
    for kind in kinds::all().into_iter().filter(|kind| kind.duty == case::Duty::Apply) {
        for case in kind.cases(&sources, 1, &mut random) {
            let (Ok(old), Some(Ok(new))) =
                (std::str::from_utf8(&case.file), case.accepted.first().map(|new| std::str::from_utf8(new)))
            else {
                continue;
            };
            harness.write("file.txt", old);
            harness.write("file.diff", text_edit::unified_diff("file.txt", old, new, text_edit::DiffExtent::Full).text);
            let patch = Command::new("patch")
                .args(["--binary", "--silent", "-p1", "-i", "file.diff"])
                .current_dir(harness.path(""))
                .output()
                .expect("patch runs");
            assert!(patch.status.success(), "{}: {}", kind.name, String::from_utf8_lossy(&patch.stdout));
            assert_eq!(harness.bytes("file.txt"), new.as_bytes(), "{}", kind.name);
            applied += 1;
        }
    }
    assert!(applied > 30, "{applied}");
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skipped() {
    eprintln!("skipped: patch is not installed");
}
