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
    tree::{self, FILES},
};
use crate::harness::Harness;

/// Pages of one listing at most: an endless one fails instead.
const PAGES: usize = 500;

/// The clients with the smallest answers, and one whose tokens are counted.
#[cfg(unix)]
const PAGING: [&Client; 3] = [&CLIENTS[0], &CLIENTS[1], &CLIENTS[4]];
/// One with a mount name; filling the tree takes Wine five seconds, and paging is the same for all systems.
#[cfg(windows)]
const PAGING: [&Client; 1] = [&CLIENTS[4]];

/// The folders of which the pages are followed: of several one with Wine.
fn some(folders: [&'static str; 3]) -> impl Iterator<Item = &'static str> {
    folders.into_iter().take(if cfg!(windows) { 1 } else { 3 })
}

/// The texts of the pages of a call, each asked for with the offset that the one before names.
fn pages(client: Client, h: &Harness, tool: &str, arguments: &Value) -> Vec<String> {
    let (mut arguments, mut pages) = (arguments.clone(), Vec::new());
    loop {
        let result = client.call(h, tool, &arguments);
        let over = (client.too_large)(&result, &h.path(""));
        assert!(over.is_none(), "{} {tool} {arguments}: {}", client.name, over.unwrap_or_default());
        let facts = &result["_meta"]["rootbound/result"];
        assert!(facts.is_object(), "{tool} {arguments}: {}", text(&result));
        pages.push(shown(&result));
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

/// The text of a result; where it has one in its data, that, as it is what a model sees.
fn shown(result: &Value) -> String {
    let data = &result["structuredContent"];
    assert!(data["cut_to_fit"].is_null(), "cut by the guard: {data}");
    data["text"].as_str().map_or_else(|| text(result), str::to_owned)
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

/// A harness for `client`, and whether it is sent data.
fn with_data(client: Client, structured_output: bool) -> Harness {
    let mut setup = client.setup();
    setup.settings.structured_output = structured_output;
    filled(setup)
}

#[test]
fn reading_on_gives_each_line_once() {
    for (client, structured_output) in PAGING.iter().flat_map(|client| [(client, false), (client, true)]) {
        let h = with_data(**client, structured_output);
        for path in FILES {
            let expected = lines_of(&h.path(path));
            let what = format!("{} {path}", client.name);
            let shown: Vec<_> =
                pages(**client, &h, "read", &json!({ "path": path })).iter().flat_map(|page| numbered(page)).collect();
            assert_lines(&shown, &expected, 1, &what);
            let (back, by_number) = (expected.len() / 3 + 1, expected.len() / 2 + 1);
            for (arguments, first) in [
                (json!({ "path": path, "offset": -i64::try_from(back).expect("small") }), expected.len() - back + 1),
                (json!({ "path": path, "start_line": by_number }), by_number),
            ] {
                let pages = pages(**client, &h, "read", &arguments);
                let shown: Vec<_> = pages.iter().flat_map(|page| numbered(page)).collect();
                assert_lines(&shown, &expected, first, &format!("{what} {arguments}"));
            }
        }
    }
}

/// The names of a page of `ls`, of its first level only.
fn names(page: &str) -> Vec<String> {
    let lines = page.split('\n').skip(1).take_while(|line| line.starts_with("  "));
    let names = lines.filter(|line| !line.starts_with("   "));
    names.map(|line| line.trim().split(['\t', '/']).next().expect("a name").to_owned()).collect()
}

#[test]
fn listing_on_gives_each_entry_once() {
    for (client, structured_output) in PAGING.iter().flat_map(|client| [(client, false), (client, true)]) {
        let h = with_data(**client, structured_output);
        for folder in some(["wide", "many", "names"]) {
            let mut expected: Vec<String> = fs::read_dir(h.path(folder))
                .expect("a folder of the tree")
                .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
                .collect();
            expected.sort();
            let path = client.mount.map_or_else(|| folder.to_owned(), |mount| format!("{mount}/{folder}"));
            for (long, depth, most) in [(false, 1, 2000), (true, 1, 500), (true, 3, 70), (false, 4, 300)] {
                let arguments = json!({ "path": path, "long": long, "depth": depth, "max_results": most });
                let pages = pages(**client, &h, "ls", &arguments);
                let mut shown: Vec<String> = pages.iter().flat_map(|page| names(page)).collect();
                shown.sort();
                assert_eq!(shown, expected, "{} {arguments}", client.name);
            }
        }
    }
}

#[test]
fn reading_on_gives_each_line_of_a_definition_once() {
    for (client, structured_output) in PAGING.iter().flat_map(|client| [(client, false), (client, true)]) {
        let h = with_data(**client, structured_output);
        let lines = lines_of(&h.path("text/code.rs"));
        let starts: Vec<usize> = (1..=lines.len()).filter(|at| lines[at - 1].starts_with("fn main")).collect();
        let end = |start: usize| start + lines[start..].iter().position(|line| line == "}").expect("its end") + 1;
        let expected: Vec<usize> = starts.iter().flat_map(|start| *start..=end(*start)).collect();
        let path = client.mount.map_or_else(|| "text/code.rs".to_owned(), |mount| format!("{mount}/text/code.rs"));
        let (mut arguments, mut numbers) = (json!({ "path": path, "part": "def main" }), Vec::new());
        for page in 0.. {
            let result = client.call(&h, "read", &arguments);
            let over = (client.too_large)(&result, &h.path(""));
            assert!(over.is_none() && page < PAGES, "{} page {page}: {over:?}", client.name);
            let text = shown(&result);
            numbers.extend(numbered(&text).into_iter().map(|(number, _)| number));
            let Some((_, next)) = text.split_once("path=\"") else { break };
            arguments = json!({ "path": next.split('"').next().expect("its end") });
        }
        assert_eq!(numbers, expected, "{} {structured_output}", client.name);
    }
}

#[test]
fn reading_columns_on_gives_each_character_once() {
    for (client, structured_output) in PAGING.iter().flat_map(|client| [(client, false), (client, true)]) {
        let h = with_data(**client, structured_output);
        for file in ["text/one_line.js", "text/quotes.json", "text/cjk.txt", "text/control.txt"] {
            let path = client.mount.map_or_else(|| file.to_owned(), |mount| format!("{mount}/{file}"));
            let lines = lines_of(&h.path(file));
            let number = lines.len().min(99);
            let (mut part, mut line) = ("columns 1-".to_owned(), String::new());
            for page in 0.. {
                let arguments = json!({ "path": path, "part": part, "start_line": number, "end_line": number });
                let result = client.call(&h, "read", &arguments);
                let over = (client.too_large)(&result, &h.path(""));
                assert!(over.is_none() && page < PAGES, "{} {arguments}: {over:?}", client.name);
                let text = shown(&result);
                let (_, columns) = numbered(&text).into_iter().next().expect("a line");
                let (columns, mark) = columns.rsplit_once(" [columns ").expect("a mark");
                line.push_str(columns.strip_suffix('…').unwrap_or(columns));
                let Some((_, next)) = mark.split_once("part=\"") else { break };
                part = next.split('"').next().expect("its end").to_owned();
                if page == 0 && !part.ends_with('-') {
                    part = format!("{}-", part.split('-').next().expect("a number"));
                }
            }
            assert_eq!(line, lines[number - 1], "{} {file}", client.name);
        }
    }
}

#[test]
fn reading_files_on_gives_each_line_once() {
    for client in PAGING {
        for (structured_output, size) in [(false, None), (true, None), (false, Some(1000)), (false, Some(3000))] {
            let mut setup = client.setup();
            setup.settings.structured_output = structured_output;
            setup.settings.max_output = size;
            let h = setup.open();
            tree::write_texts(&h);
            h.write("many/file_0007.txt", "needle 7\n");
            let mount = client.mount.map_or_else(String::new, |mount| format!("{mount}/"));
            let few = ["text/crlf.txt", "many/file_0007.txt", "text/latin1.txt", "text/utf16.txt"];
            let many = ["text/plain.rs", "text/paths.md", "text/quotes.json", "text/hidden.txt", "text/base64.txt"];
            let names: Vec<&str> = if size.is_some() { few.to_vec() } else { few.into_iter().chain(many).collect() };
            let mut paths: Vec<String> = names.iter().map(|name| format!("{mount}{name}")).collect();
            let mut seen: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for page in 0.. {
                assert!(page < 3 * PAGES, "{} {size:?}: {paths:?}", client.name);
                let result = client.call(&h, "read", &json!({ "paths": paths }));
                let over = (client.too_large)(&result, &h.path(""));
                assert!(over.is_none(), "{} {paths:?}: {over:?}", client.name);
                let said = text(&result);
                assert!(size.is_none_or(|size| said.len() <= size), "{} bytes, not {size:?}: {said}", said.len());
                assert!(!said.contains("(cut ") && !said.contains("(long lines are cut"), "{said}");
                paths.clear();
                for section in said.split("==> ").skip(1) {
                    let (path, section) = section.split_once(" <==\n").expect("a heading");
                    let name = path.split(':').next().expect("a path").to_owned();
                    seen.entry(name).or_default().extend(numbered(section).into_iter().map(|(number, _)| number));
                    if let Some((_, next)) = section.split_once("; continue with path=\"") {
                        paths.push(next.split('"').next().expect("its end").to_owned());
                    }
                }
                let rest = &result["_meta"]["rootbound/result"]["not_shown"];
                paths.extend(
                    rest.as_array().into_iter().flatten().map(|path| path.as_str().expect("a path").to_owned()),
                );
                if paths.is_empty() {
                    break;
                }
            }
            for name in names {
                let all: Vec<usize> = (1..=lines_of(&h.path(name)).len()).collect();
                assert_eq!(seen[&format!("{mount}{name}")], all, "{} {size:?} {structured_output} {name}", client.name);
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
                let below = below.replace(std::path::MAIN_SEPARATOR, "/");
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
        for folder in some(["text", "many", "names"]) {
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
            let without = grepped_files(*client, &h, &path, "no such text", "files_without_match");
            let all: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
            assert_eq!(without, all, "{} {folder}", client.name);
            let counts: Vec<String> = expected.iter().map(|(name, lines)| format!("{name}:{}", lines.len())).collect();
            let shown = ask(json!({ "output_mode": "count" }));
            let shown: Vec<String> = shown.iter().flat_map(|page| listed(page)).collect();
            assert_eq!(shown, counts, "{} {folder}", client.name);
        }
    }
}

/// All files that grep lists for `pattern` in that mode.
fn grepped_files(client: Client, h: &Harness, path: &str, pattern: &str, mode: &str) -> Vec<String> {
    let arguments = json!({ "pattern": pattern, "path": path, "output_mode": mode, "max_results": 500 });
    pages(client, h, "grep", &arguments).iter().flat_map(|page| listed(page)).collect()
}

#[test]
fn searching_on_gives_each_definition_once() {
    for (client, structured_output) in PAGING.iter().flat_map(|client| [(client, false), (client, true)]) {
        let h = with_data(**client, structured_output);
        let path = |name: &str| client.mount.map_or_else(|| name.to_owned(), |mount| format!("{mount}/{name}"));
        for folder in ["wide", "text/code.rs"] {
            let arguments = json!({
                "pattern": "needle|main|small_\\d+", "path": path(folder), "output_mode": "definitions", "max_results": 500,
            });
            let shown: usize = matches(&pages(**client, &h, "grep", &arguments)).values().map(Vec::len).sum();
            assert_eq!(shown, if folder == "wide" { 150 } else { 42 }, "{} {folder}", client.name);
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
