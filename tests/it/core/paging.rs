//! Paging of grep and glob to the end: every result exactly once, each match with its context, no answer over its size.

use std::collections::BTreeMap;

use file_tools::Settings;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Harness, Setup, share};

/// One line of a random file.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just("plain".to_owned()),
        2 => Just(String::new()),
        3 => (0..100).prop_map(|number| format!("    hit {number}")),
        1 => (1..2500_usize, 0..2500_usize).prop_map(|(lead, tail)| format!("{}hit{}", "a".repeat(lead), "b".repeat(tail))),
        1 => (150..400_usize).prop_map(|lead| format!("{}hit 本", "日".repeat(lead))),
        1 => Just("first".to_owned()),
        1 => Just("last".to_owned()),
    ]
}

type Tree = BTreeMap<String, Vec<String>>;

fn tree() -> impl Strategy<Value = Tree> {
    let name = (0..4_usize, 0..12_usize).prop_map(|(folder, name)| match folder {
        0 => format!("f{name}.txt"),
        _ => format!("{}/f{name}.txt", "folder ".repeat(folder * 3).trim_end()),
    });
    prop::collection::btree_map(name, prop::collection::vec(line(), 0..40), 1..14)
}

fn server(tree: &Tree, max_output: Option<usize>, threads: usize) -> Harness {
    let settings =
        Settings { structured_output: true, max_output, search_threads: Some(threads), ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    for (path, lines) in tree {
        h.write(path, lines.join("\n") + if lines.is_empty() { "" } else { "\n" });
    }
    h
}

/// All pages of a call, each of at most `most` bytes.
fn pages(h: &Harness, tool: &str, call: &Value, most: usize) -> Vec<Value> {
    let (mut pages, mut offset) = (Vec::new(), 0);
    loop {
        let mut call = call.clone();
        call["offset"] = json!(offset);
        let answer = h.call(tool, call.clone());
        assert!(answer.text().len() <= most, "{call}: {} bytes", answer.text().len());
        pages.push(answer.structured().clone());
        let Some(next) = answer.facts().get("next_offset").cloned() else {
            assert_eq!(answer.facts()["truncated"], json!(false), "{call}: {}", answer.text());
            return pages;
        };
        let shown = answer.facts()["shown"].as_u64().unwrap();
        assert_eq!(next, json!(offset + shown), "{call}");
        assert!(shown > 0, "{call}: {}", answer.text());
        offset += shown;
    }
}

/// The lines of the pages, as path, number and whether it is context.
fn lines(page: &Value) -> Vec<(String, u64, bool)> {
    let mut lines = Vec::new();
    for result in page["results"].as_array().unwrap() {
        let path = result["path"].as_str().unwrap();
        for line in result["lines"].as_array().into_iter().flatten() {
            lines.push((path.to_owned(), line["line"].as_u64().unwrap(), line["context"] == json!(true)));
        }
    }
    lines
}

fn matches(pages: &[Value]) -> Vec<(String, u64)> {
    let all = pages.iter().flat_map(lines);
    all.filter(|(_, _, context)| !context).map(|(path, number, _)| (path, number)).collect()
}

/// Each match of the page has all its context on it, and no other line is there.
fn assert_context(tree: &Tree, page: &Value, before: u64, after: u64) {
    if page["notes"].as_array().unwrap().iter().any(|note| note.as_str().unwrap().starts_with("(context cut")) {
        return;
    }
    let shown = lines(page);
    for (path, number, context) in &shown {
        let holds = |other: u64| shown.iter().any(|(one, line, _)| one == path && *line == other);
        if *context {
            let near = |(one, line, context): &(String, u64, bool)| {
                one == path && !context && (line.saturating_sub(before)..=line + after).contains(number)
            };
            assert!(shown.iter().any(near), "{path}:{number} is context of nothing in {page}");
        } else {
            let last = (number + after).min(tree[path].len() as u64);
            for line in number.saturating_sub(before).max(1)..=last {
                assert!(holds(line), "{path}:{line} is missing around {number} in {page}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: share(24), ..ProptestConfig::default() })]

    #[test]
    fn pages_of_lines_hold_every_match_once_with_its_context(
        tree in tree(),
        (before, after) in prop_oneof![Just((0, 0)), (0..8_u64, 0..8_u64), Just((50, 50))],
        max_output in prop_oneof![Just(1000), Just(1500), 1000..9000_usize],
        (max_results, threads) in (prop_oneof![Just(1), Just(3), Just(100)], prop_oneof![Just(1), Just(4)]),
        multiline in any::<bool>(),
    ) {
        let pattern = if multiline { "first.*?last|hit" } else { "hit" };
        let call = json!({
            "pattern": pattern, "multiline": multiline, "before": before, "after": after, "max_results": max_results,
        });
        let small = server(&tree, Some(max_output), threads);
        let paged = pages(&small, "grep", &call, max_output);
        for page in &paged {
            prop_assert!(lines(page).is_sorted_by(|one, other| one.0 != other.0 || one.1 < other.1), "{page}");
        }
        let large = server(&tree, Some(8 << 20), 1);
        let mut whole = call.clone();
        whole["max_results"] = json!(500);
        let whole = pages(&large, "grep", &whole, 8 << 20);
        if multiline {
            // A match of many lines may be cut; each begins on a page.
            let all = matches(&whole);
            prop_assert!(matches(&paged).iter().all(|line| all.contains(line)));
        } else {
            let expected: Vec<_> = tree.iter().flat_map(|(path, lines)| {
                let hits = (1_u64..).zip(lines).filter(|(_, line)| line.contains("hit"));
                hits.map(move |(number, _)| (path.clone(), number))
            }).collect();
            let mut found = matches(&paged);
            prop_assert_eq!(&found, &matches(&whole));
            found.sort();
            let mut sorted = expected.clone();
            sorted.sort();
            prop_assert_eq!(found, sorted);
            for page in &paged {
                assert_context(&tree, page, before, after);
            }
        }
        let count = |pages: &[Value]| pages.iter().map(|page| page["shown"].as_u64().unwrap()).sum::<u64>();
        prop_assert_eq!(count(&paged), count(&whole));
    }

    #[test]
    fn pages_of_files_hold_every_file_once(
        tree in tree(),
        max_output in 1000..3000_usize,
        max_results in prop_oneof![Just(1), Just(3), Just(100)],
        mode in prop_oneof![Just("files_with_matches"), Just("files_without_match"), Just("count")],
        newest in any::<bool>(),
    ) {
        let h = server(&tree, Some(max_output), 2);
        let sort = if newest { "modified" } else { "path" };
        let call = json!({"pattern": "hit", "output_mode": mode, "max_results": max_results, "sort": sort});
        let mut found: Vec<_> = pages(&h, "grep", &call, max_output).iter().flat_map(|page| {
            page["results"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        }).collect();
        let holds = |lines: &[String]| lines.iter().any(|line| line.contains("hit")) == (mode != "files_without_match");
        let expected: Vec<_> = tree.iter().filter(|(_, lines)| holds(lines)).map(|(path, _)| path.clone()).collect();
        found.sort();
        prop_assert_eq!(found, expected);
        let call = json!({"pattern": "*.txt", "max_results": max_results, "sort": sort});
        let mut found: Vec<_> = pages(&h, "glob", &call, max_output).iter().flat_map(|page| {
            page["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        }).collect();
        found.sort();
        prop_assert_eq!(found, tree.keys().cloned().collect::<Vec<_>>());
    }
}

#[test]
fn context_of_skipped_matches_leaves_room_for_the_page() {
    // Each file has one match among long lines: what is kept of skipped ones once filled the answer.
    let long = format!("{}\n", "x".repeat(190));
    let tree: Tree =
        (0..70).map(|file| (format!("f{file:02}.txt"), vec![long.repeat(60).trim_end().to_owned()])).collect();
    for threads in [1, 4] {
        let h = server(&tree, Some(8000), threads);
        for path in tree.keys() {
            h.write(path, format!("{0}hit\n{0}", long.repeat(50)));
        }
        let call = json!({"pattern": "^hit$", "context": 50, "max_results": 1, "offset": 65});
        let answer = h.call("grep", call);
        assert!(answer.ok().contains("==> f65.txt <==") && answer.ok().contains("\n51:hit"), "{}", answer.text());
        assert_eq!(answer.facts()["next_offset"], json!(66));
    }
}

#[test]
fn thousands_of_files_are_paged_without_a_gap() {
    let tree: Tree =
        (0..share(3000)).map(|file| (format!("d{}/f{file:04}.txt", file % 7), vec!["hit".to_owned()])).collect();
    let h = server(&tree, None, 4);
    let paged = pages(&h, "grep", &json!({"pattern": "hit", "max_results": 500}), 50 << 10);
    let mut found: Vec<_> = matches(&paged).into_iter().map(|(path, _)| path).collect();
    found.sort();
    assert!(found.iter().eq(tree.keys()));
}
