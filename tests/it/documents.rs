//! Links of the documents lead to existing files and symbols, and actions are pinned.

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
