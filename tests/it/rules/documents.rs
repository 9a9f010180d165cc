//! Links of the documents lead to existing files and symbols, figures are in one place, and actions are pinned.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The documents with links into the code.
fn documents() -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = ["", "docs", "docs/internals", "fuzz"]
        .iter()
        .flat_map(|folder| fs::read_dir(top().join(folder)).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    out.sort();
    assert!(out.iter().any(|path| path.ends_with("CONTRIBUTING.md")), "{out:?}");
    out
}

/// Text and target of each inline link.
fn links(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("](").filter_map(|(at, _)| {
        let start = text[..at].rfind('[')?;
        let target = text[at + 2..].split(')').next()?;
        Some((&text[start + 1..at], target))
    })
}

/// The parts in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether `file` has the name in backticks of a link to it: in its path or in its text.
fn is_found(name: &str, file: &Path) -> bool {
    let path = file.strip_prefix(top()).unwrap_or(file).to_string_lossy().replace('\\', "/");
    if format!("/{path}").contains(&format!("/{name}")) {
        return true;
    }
    // An example of a call is found by what is called.
    let name = name.split_once('(').map_or(name, |(called, _)| called);
    fs::read_to_string(file).is_ok_and(|text| text.contains(name))
}

#[test]
fn links_of_documents_lead_to_files_with_what_they_name() {
    let (mut complaints, mut seen) = (Vec::new(), 0);
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document");
        let name = document.file_name().expect("a name").display().to_string();
        for (shown, target) in links(&text).filter(|(_, target)| !target.contains("://") && !target.starts_with('#')) {
            seen += 1;
            let path = target.split('#').next().unwrap_or_default();
            let file = document.parent().expect("a folder").join(path);
            if !file.exists() {
                complaints.push(format!("{name}: {target} is not there"));
                continue;
            }
            let missing = quoted(shown).filter(|symbol| !is_found(symbol, &file));
            complaints.extend(missing.map(|symbol| format!("{name}: {target} does not hold `{symbol}`")));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    assert!(seen > 40, "{seen} links");
}

/// The cells of each row of the tables of a page.
fn rows(page: &str) -> impl Iterator<Item = Vec<String>> {
    page.lines().filter(|line| line.starts_with('|')).map(|line| {
        let line = line.replace("\\|", "\u{0}");
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
    })
}

/// The numbers of a text, as they are written.
fn numbers(text: &str) -> Vec<&str> {
    let parts = text.split(|one: char| !one.is_ascii_digit() && one != '.' && one != ',');
    parts.map(|part| part.trim_matches(['.', ','])).filter(|part| !part.is_empty()).collect()
}

#[test]
fn figures_of_the_comparison_are_those_that_were_measured() {
    let page = |name: &str| fs::read_to_string(top().join("docs").join(name)).expect(name).replace("\r\n", "\n");
    let (why, measured) = (page("why.md"), page("internals/performance.md"));
    let is_figure = |cell: &str| cell.starts_with(|one: char| one.is_ascii_digit());
    // A cell as it is, or the median without its range.
    let is_one_of = |cell: &String, known: &[String]| {
        known.iter().any(|one| one == cell || one.split(" (").next() == Some(cell.as_str()))
    };
    let mut known: Vec<Vec<String>> = Vec::new();
    for mut row in rows(&measured) {
        if let Some(above) = known.last().filter(|_| row[0] == "the same" && row[1].is_empty()) {
            row[..2].clone_from_slice(&above[..2]);
        }
        known.push(row);
    }
    let (mut complaints, mut seen) = (Vec::new(), 0);
    for row in rows(&why).filter(|row| row[1..].iter().any(|cell| is_figure(cell))) {
        seen += 1;
        let shown = row.join(" | ");
        if let Some(peer) = row[0].strip_prefix("tokens for ").and_then(|rest| rest.strip_suffix(" finishes")) {
            let start = format!("- {} finishes ", peer.rsplit(' ').next().unwrap_or(peer));
            let line = measured.lines().find(|line| line.starts_with(&start)).unwrap_or_default();
            let lacking = numbers(&shown).into_iter().filter(|number| !numbers(line).contains(number));
            complaints.extend(lacking.map(|number| format!("{number} of {shown:?} is not in {line:?}")));
            continue;
        }
        let compared = row[1..].iter().find(|cell| !cell.is_empty() && !is_figure(cell));
        match known.iter().find(|one| one[0] == row[0] && compared.is_none_or(|cell| one.contains(cell))) {
            Some(one) => complaints.extend(
                row[1..]
                    .iter()
                    .filter(|cell| !is_one_of(cell, &one[1..]))
                    .map(|cell| format!("{cell:?} of {shown:?} is not in {:?}", one.join(" | "))),
            ),
            None => complaints.push(format!("{shown:?} was not measured")),
        }
    }
    // What it was compared with, in the same versions.
    let text = why.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, versions) = text.split_once("made with Rootbound ").expect("the version that it was made with");
    let (_, versions) = versions.split_once(", ").expect("more programs");
    let (versions, _) = versions.split_once(". ").expect("the end of the sentence");
    let unknown = versions.split(',').flat_map(|part| part.split(" and ")).map(str::trim);
    let unknown = unknown.filter(|version| !measured.contains(version));
    complaints.extend(unknown.map(|version| format!("{version} is not what was measured")));
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    assert!(seen >= 12, "{seen} rows with figures");
}

#[test]
fn each_answer_of_the_security_review_names_a_test_or_says_why_not() {
    let folder = top().join("docs/internals");
    let page = fs::read_to_string(folder.join("security-review.md")).expect("the review").replace("\r\n", "\n");
    let (mut complaints, mut seen) = (Vec::new(), 0);
    for row in rows(&page).filter(|row| row.len() == 2 && row[1] != "answer" && !row[1].starts_with("---")) {
        let mut tests = links(&row[1])
            .filter(|(_, target)| Path::new(target).extension().is_some_and(|end| end == "rs"))
            .peekable();
        let says_why = ["not applicable", "not met", "as ", "]("].iter().any(|words| row[1].contains(words));
        if tests.peek().is_none() && !says_why {
            complaints.push(format!("{:?} has no answer", row[0]));
        }
        for (shown, target) in tests {
            seen += 1;
            let text = fs::read_to_string(folder.join(target)).unwrap_or_default();
            let is_test =
                |name: &str| text.contains(&format!("fn {name}(")) || text.contains(&format!("mcp_test!({name},"));
            complaints
                .extend(quoted(shown).filter(|name| !is_test(name)).map(|name| format!("{target}: no test {name}")));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    assert!(seen > 40, "{seen} tests");
}

#[test]
fn actions_are_pinned_by_commit_with_the_version_beside_it() {
    let mut seen = 0;
    for entry in fs::read_dir(top().join(".github/workflows")).expect("workflows") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a workflow");
        for line in text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("uses: ")) {
            seen += 1;
            let (_, at) = line.split_once('@').unwrap_or_default();
            let (commit, version) = at.split_once(" # v").unwrap_or_default();
            let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_commit && version.contains('.'), "{}: {line}", path.display());
        }
    }
    assert!(seen > 0, "no action is used");
}

#[test]
fn the_repository_has_one_address() {
    let manifest = fs::read_to_string(top().join("Cargo.toml")).expect("a manifest");
    let field = |name: &str| {
        let start = format!("{name} = \"");
        manifest.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix('"')).expect("a field").to_owned()
    };
    let address = field("repository");
    assert_eq!(field("homepage"), address);
    let report = format!("{address}/security/advisories/new");
    for file in ["SECURITY.md", ".github/ISSUE_TEMPLATE/config.yml", ".github/ISSUE_TEMPLATE/bug.yml"] {
        assert!(
            fs::read_to_string(top().join(file)).expect(file).contains(&report),
            "{file} does not lead to {report}"
        );
    }
}
