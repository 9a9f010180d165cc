//! The attack suite: a hostile model against the spawned server.
//!
//! Every case is one named call with the answer it must get. Before and after it the disk outside of the roots and the
//! secrets inside are compared, and the answer is searched for forbidden text. Every family runs with all barriers,
//! with `openat2` alone (no Landlock), and with the walk name by name alone. Windows has one barrier, and no links without
//! a privilege: the cases that need them run on Linux, and [`windows`] adds what only Windows takes for a path.

#![cfg(any(target_os = "linux", windows))]
#![expect(clippy::print_stdout, reason = "says how many attacks there are")]

mod aliases;
mod checkouts;
#[cfg(unix)]
mod disk;
mod edit_files;
mod frames;
mod leaks;
#[cfg(unix)]
mod links;
mod manage;
#[cfg(unix)]
mod next_start;
#[cfg(unix)]
mod optional_roots;
mod patch;
mod paths;
mod patterns;
mod policy;
mod present;
mod references;
mod resources;
mod secret_names;
#[cfg(unix)]
mod special;
mod wait;
#[cfg(windows)]
mod windows;
mod world;
mod writes;

use std::collections::BTreeSet;

use serde_json::Value;

use world::World;

/// What keeps the model from the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// All, as by default.
    All,
    /// Only `openat2`.
    Openat2,
    /// Only the walk name by name.
    Walk,
}

impl Barrier {
    /// The options that switch the others off.
    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::All => &["--confine", "auto", "--resolver", "auto"],
            Self::Openat2 => &["--confine", "off", "--resolver", "auto"],
            Self::Walk => &["--confine", "off", "--resolver", "walk"],
        }
    }
}

/// The expected outcome of a call.
#[derive(Clone, Debug)]
enum Expect {
    /// A tool's error of one of these kinds.
    Fails(&'static [&'static str]),
    /// An answer whose text contains this.
    Answers(&'static str),
    /// An answer whose text does not contain this.
    Without(&'static str),
    /// Any answer: only the disk and the text are checked.
    Harmless,
    /// A protocol error.
    Refused,
}

/// Refused at the boundary of the roots, or by policy.
const DENIED: Expect = Expect::Fails(&["denied"]);

/// One attack.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    tool: &'static str,
    arguments: Value,
    expect: Expect,
    /// Whether the call may change files of the read-write root.
    writes: bool,
}

fn case(name: impl Into<String>, tool: &'static str, arguments: Value, expect: Expect) -> Case {
    Case { name: name.into(), tool, arguments, expect, writes: false }
}

impl Case {
    /// A legitimate use that changes something.
    fn writes(mut self) -> Self {
        self.writes = true;
        self
    }
}

/// Every tool on one path; `name` describes the path.
fn every_tool(name: &str, path: &str, expect: &Expect) -> Vec<Case> {
    use serde_json::json;
    let calls = [
        ("read", json!({ "path": path })),
        ("ls", json!({ "path": path })),
        ("glob", json!({ "pattern": "**", "path": path, "no_ignore": true })),
        ("grep", json!({ "pattern": ".", "path": path, "no_ignore": true })),
        ("write", json!({ "path": path, "content": "owned" })),
        ("edit", json!({ "path": path, "old_string": "e", "new_string": "owned", "replace_all": true })),
    ];
    calls
        .into_iter()
        .map(|(tool, arguments)| case(format!("{name}: {tool}"), tool, arguments, expect.clone()))
        .chain([
            case(
                format!("{name}: append"),
                "write",
                json!({ "path": path, "content": "owned", "mode": "append" }),
                expect.clone(),
            ),
            case(
                format!("{name}: create"),
                "edit",
                json!({ "path": path, "old_string": "", "new_string": "owned" }),
                expect.clone(),
            ),
        ])
        .collect()
}

/// Runs the cases of a family with `barrier` and reports every one that succeeded.
fn run(barrier: Barrier, family: &str) {
    let cases = families_of(family);
    let mut world = match family {
        "worktrees" => World::arranged(barrier, &[], checkouts::build),
        "names_in_secrets" => World::with(barrier, &["--secrets", "names"]),
        _ => World::new(barrier),
    };
    println!("{} attacks", cases.len());
    let mut complaints: Vec<String> = cases.iter().filter_map(|case| world.attack(case).err()).collect();
    complaints.extend(world.compare().err());
    assert!(
        complaints.is_empty(),
        "{barrier:?}: {} of {} succeeded\n{}",
        complaints.len(),
        cases.len(),
        complaints.join("\n")
    );
    world.alive();
}

macro_rules! families {
    ($($(#[$meta:meta])? $family:ident: $cases:expr;)*) => {
        fn families() -> Vec<(&'static str, Vec<Case>)> {
            let mut families = Vec::with_capacity(48);
            $($(#[$meta])? families.push((stringify!($family), $cases));)*
            families
        }

        $($(#[$meta])? mod $family {
            use super::{Barrier, run};

            #[test]
            fn with_all_barriers() {
                run(Barrier::All, stringify!($family));
            }

            #[test]
            #[cfg(target_os = "linux")]
            fn with_openat2_alone() {
                run(Barrier::Openat2, stringify!($family));
            }

            #[test]
            #[cfg(target_os = "linux")]
            fn with_the_walk_alone() {
                run(Barrier::Walk, stringify!($family));
            }
        })*
    };
}

families! {
    prefix_siblings: paths::siblings();
    paths_that_leave: paths::leaving();
    magic_paths: paths::magic();
    signs_around_paths: references::signs();
    names_of_files: references::names();
    #[cfg(unix)] links_out: links::out();
    #[cfg(unix)] links_within: links::honest();
    patterns_that_leave: patterns::leaving();
    patterns_that_cost: patterns::costly();
    secrets_by_alias: aliases::secrets();
    names_in_secrets: secret_names::cases();
    files_that_run_later: policy::run_later();
    read_only_roots: policy::read_only();
    #[cfg(unix)] hard_links: disk::hard_links();
    #[cfg(unix)] special_files: special::cases();
    odd_names: leaks::odd_names();
    error_texts: leaks::errors();
    replacements: writes::cases();
    edits_of_several_files: edit_files::cases();
    second_arguments: manage::cases();
    patches: patch::cases();
    presented_files: present::cases();
    worktrees: checkouts::cases();
    waits_that_leave: wait::leaving();
    waits_for_secrets: wait::secrets();
    waits_that_cost: wait::arguments();
    #[cfg(unix)] waits_for_special_files: wait::special();
    #[cfg(unix)] own_files: next_start::own_files();
    #[cfg(unix)] repositories: next_start::repositories();
    #[cfg(unix)] linked_names: next_start::linked_names();
    #[cfg(unix)] agent_rules: next_start::agent_rules();
    #[cfg(windows)] windows_paths_out: windows::out();
    #[cfg(windows)] windows_names: windows::names();
    #[cfg(windows)] windows_case: windows::other_case();
    #[cfg(windows)] windows_patterns: windows::patterns();
}

fn families_of(family: &str) -> Vec<Case> {
    let cases = families().into_iter().find(|(name, _)| *name == family).map(|(_, cases)| cases);
    cases.unwrap_or_default().into_iter().filter(World::has_what_it_needs).collect()
}

#[test]
fn there_are_at_least_150_distinct_attacks() {
    let mut names = BTreeSet::new();
    let mut calls = BTreeSet::new();
    for (family, cases) in families() {
        for case in cases {
            assert!(names.insert(format!("{family}: {}", case.name)), "{family}: {} is listed twice", case.name);
            calls.insert(format!("{} {}", case.tool, case.arguments));
        }
    }
    let frames = frames::names();
    println!("{} named attacks, {} distinct calls, {} frames", names.len(), calls.len(), frames.len());
    assert!(calls.len() >= 150, "{}", calls.len());
}
