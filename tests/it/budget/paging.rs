//! Following each continuation to its end: every line, match and path is in one answer, and in one only.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    clients::{CLIENTS, Client, text},
    filled,
    tree::FILES,
};
use crate::harness::Harness;

/// Pages of one listing at most: an endless one fails instead.
const PAGES: usize = 500;

/// The clients with the smallest answers, and one whose tokens are counted.
const PAGING: [&Client; 3] = [&CLIENTS[0], &CLIENTS[1], &CLIENTS[4]];

/// The texts of the pages of a call, each asked for with the offset that the one before names.
fn pages(client: Client, h: &Harness, tool: &str, arguments: &Value) -> Vec<String> {
    let (mut arguments, mut pages) = (arguments.clone(), Vec::new());
    loop {
        let result = client.call(h, tool, &arguments);
        let over = (client.too_large)(&result, &h.path(""));
        assert!(over.is_none(), "{} {tool} {arguments}: {}", client.name, over.unwrap_or_default());
        let facts = &result["_meta"]["rootbound/result"];
        assert!(facts.is_object(), "{tool} {arguments}: {}", text(&result));
        pages.push(text(&result));
        let Some(next) = facts["next_offset"].as_u64() else { return pages };
        let after = arguments["offset"].as_u64().unwrap_or(0);
        assert!(next > after && pages.len() < PAGES, "{tool} {arguments} goes on at {next}, page {}", pages.len());
        if let Some(arguments) = arguments.as_object_mut() {
            for spent in ["start_line", "end_line"] {
                arguments.remove(spent);
            }
        }
        arguments["offset"] = next.into();
    }
}

/// The numbered lines of a page of `read`.
fn numbered(page: &str) -> Vec<(usize, String)> {
    let line = |line: &str| {
        let (number, text) = line.split_once('\t')?;
        Some((number.trim_start().parse().ok()?, text.to_owned()))
    };
    page.split('\n').filter_map(line).collect()
}

/// The lines of a file of the tree as `read` shows them, up to where it cuts long ones.
fn lines_of(path: &Path) -> Vec<String> {
    let bytes = fs::read(path).expect("a file of the tree");
    let text = match bytes.get(..2) {
        Some([0xff, 0xfe]) => {
            let units: Vec<u16> = bytes[2..].chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            String::from_utf16(&units).expect("UTF-16")
        }
        _ => String::from_utf8(bytes).unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect()),
    };
    text.strip_suffix('\n').unwrap_or(&text).split('\n').map(|line| line.trim_end_matches('\r').to_owned()).collect()
}

#[track_caller]
fn assert_lines(shown: &[(usize, String)], expected: &[String], first: usize, what: &str) {
    let numbers: Vec<usize> = shown.iter().map(|(number, _)| *number).collect();
    let all: Vec<usize> = (first..=expected.len()).collect();
    let at = numbers.iter().zip(&all).position(|(shown, expected)| shown != expected);
    assert!(numbers == all, "{what}: {} lines, not {}; other from {at:?}", numbers.len(), all.len());
    for ((number, shown), expected) in shown.iter().zip(&expected[first - 1..]) {
        let shown = shown.split_once("… [line of ").map_or(shown.as_str(), |(head, _)| head);
        assert!(expected.starts_with(shown) && (shown == expected || shown.len() > 100), "{what}:{number}: {shown}");
    }
}

#[test]
fn reading_on_gives_each_line_once() {
    for client in PAGING {
        let h = filled(client.setup());
        for path in FILES {
            let expected = lines_of(&h.path(path));
            let what = format!("{} {path}", client.name);
            let shown: Vec<_> =
                pages(*client, &h, "read", &json!({ "path": path })).iter().flat_map(|page| numbered(page)).collect();
            assert_lines(&shown, &expected, 1, &what);
            let (back, by_number) = (expected.len() / 3 + 1, expected.len() / 2 + 1);
            for (arguments, first) in [
                (json!({ "path": path, "offset": -i64::try_from(back).expect("small") }), expected.len() - back + 1),
                (json!({ "path": path, "start_line": by_number }), by_number),
            ] {
                let pages = pages(*client, &h, "read", &arguments);
                let shown: Vec<_> = pages.iter().flat_map(|page| numbered(page)).collect();
                assert_lines(&shown, &expected, first, &format!("{what} {arguments}"));
            }
        }
    }
}

/// Files below `folder`, as the server prints them for `client`.
fn files_below(client: Client, h: &Harness, folder: &str) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    let mut folders = vec![h.path(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of the tree").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let below = entry.path().strip_prefix(h.path("")).expect("below it").display().to_string();
                let printed = client.mount.map_or_else(|| below.clone(), |mount| format!("{mount}/{below}"));
                files.push((printed, entry.path()));
            }
        }
    }
    files.sort();
    files
}

/// Matching lines by file, as the pages of grep show them.
fn matches(pages: &[String]) -> BTreeMap<String, Vec<usize>> {
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for page in pages {
        let mut heading = None;
        for line in page.split('\n') {
            if let Some(path) = line.strip_prefix("==> ").and_then(|line| line.strip_suffix(" <==")) {
                heading = Some(path.to_owned());
                continue;
            }
            let mut parts = line.splitn(3, ':');
            let (path, number) = match &heading {
                Some(path) => (path.clone(), parts.next()),
                None => (parts.next().unwrap_or_default().to_owned(), parts.next()),
            };
            if let Some(number) = number.and_then(|number| number.parse().ok()) {
                found.entry(path).or_default().push(number);
            }
        }
    }
    found
}

#[test]
fn searching_on_gives_each_match_and_file_once() {
    for client in PAGING {
        let h = filled(client.setup());
        for folder in ["many", "names", "text"] {
            let files = files_below(*client, &h, folder);
            let lines = |path: &Path| -> Vec<usize> {
                let lines = lines_of(path);
                let hits = lines.iter().enumerate().filter(|(_, line)| line.contains("needle"));
                hits.map(|(at, _)| at + 1).collect()
            };
            let expected: BTreeMap<String, Vec<usize>> =
                files.iter().map(|(name, path)| (name.clone(), lines(path))).collect();
            let expected: BTreeMap<_, _> = expected.into_iter().filter(|(_, lines)| !lines.is_empty()).collect();
            let path = client.mount.map_or_else(|| folder.to_owned(), |mount| format!("{mount}/{folder}"));
            let ask = |more: Value| {
                let mut arguments = json!({ "pattern": "needle", "path": path, "max_results": 500 });
                arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
                pages(*client, &h, "grep", &arguments)
            };
            for context in [0, 2] {
                let shown = matches(&ask(json!({ "context": context })));
                assert!(
                    shown == expected,
                    "{} {folder} context {context}: {}",
                    client.name,
                    difference(&shown, &expected)
                );
            }
            let names: Vec<String> = expected.keys().cloned().collect();
            let shown = ask(json!({ "output_mode": "files_with_matches" }));
            let shown: Vec<String> = shown.iter().flat_map(|page| listed(page)).collect();
            assert_eq!(shown, names, "{} {folder}", client.name);
            let counts: Vec<String> = expected.iter().map(|(name, lines)| format!("{name}:{}", lines.len())).collect();
            let shown = ask(json!({ "output_mode": "count" }));
            let shown: Vec<String> = shown.iter().flat_map(|page| listed(page)).collect();
            assert_eq!(shown, counts, "{} {folder}", client.name);
        }
    }
}

fn difference(shown: &BTreeMap<String, Vec<usize>>, expected: &BTreeMap<String, Vec<usize>>) -> String {
    let other = expected.iter().find(|(path, lines)| shown.get(*path) != Some(lines));
    format!("{:?}, not {other:?}", other.map(|(path, _)| shown.get(path)))
}

/// The lines of a list: between the header and what is said below an empty line.
fn listed(page: &str) -> Vec<String> {
    page.split('\n').skip(1).take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn finding_on_gives_each_path_once() {
    for client in PAGING {
        let h = filled(client.setup());
        for (folder, sort) in [("many", "path"), ("names", "modified"), ("wide", "path"), ("wide", "modified")] {
            let mut expected: Vec<String> =
                files_below(*client, &h, folder).into_iter().map(|(name, _)| name).collect();
            let path = client.mount.map_or_else(|| folder.to_owned(), |mount| format!("{mount}/{folder}"));
            let pages = pages(
                *client,
                &h,
                "glob",
                &json!({ "pattern": "**", "path": path, "sort": sort, "max_results": 1000 }),
            );
            let line = |line: String| line.split_once(". ").map(|(_, path)| path.to_owned()).expect("a numbered path");
            let mut shown: Vec<String> = pages.iter().flat_map(|page| listed(page)).map(line).collect();
            shown.sort();
            expected.sort();
            assert_eq!(shown, expected, "{} {folder}", client.name);
        }
    }
}
