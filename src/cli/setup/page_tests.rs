//! The part of `docs/clients.md` that has a section for each client, made from the same rows as the files.

use std::fmt::Write as _;

use crate::config::Environment;

use super::clients::{
    CLIENT_ROWS, Client, EDITOR_CLIENT, EntryScope, Folders, Format, OpenProject, System, TERMINAL_CLIENT,
};

/// Where a person's files are, by system. The home directory is `~` in all of them.
const SYSTEMS: [(System, &str); 3] = [(System::Linux, "Linux"), (System::Mac, "macOS"), (System::Windows, "Windows")];

/// In place of the project in paths.
const PROJECT: &str = "PROJECT";

fn environment() -> Environment {
    Environment {
        directory: PROJECT.into(),
        home: Some("~".into()),
        program: vec!["BIN".into()],
        variables: vec![("APPDATA".into(), "%APPDATA%".into())],
        ..Environment::default()
    }
}

/// The file of a scope, once if it is the same on every system.
fn places(client: &Client, scope: EntryScope) -> String {
    let place = client.file(scope).expect("a place");
    if place.is_empty() {
        return "the file that lists its servers".to_owned();
    }
    let paths = SYSTEMS.map(|(system, name)| {
        let environment = environment();
        let path = Folders { system, environment: &environment }.path(place).expect("a path").display().to_string();
        let path = path.replace('\\', "/").replace(&format!("{PROJECT}/"), "");
        let path = if system == System::Windows && path.contains('%') { path.replace('/', "\\") } else { path };
        (name, path)
    });
    let alike = paths.iter().all(|(_, path)| *path == paths[0].1);
    let mut out = Vec::new();
    for (index, (name, path)) in paths.iter().enumerate() {
        if alike && index == 0 {
            out.push(format!("`{path}`"));
        } else if !alike {
            out.push(format!("`{path}` ({name})"));
        }
    }
    let variables: Vec<String> = place
        .split('|')
        .filter_map(|one| one.strip_prefix('$')?.split('/').next())
        .map(|variable| format!("`{variable}`"))
        .collect();
    if !variables.is_empty() {
        out.push(format!("elsewhere by {}", variables.join(" or ")));
    }
    out.join(", ")
}

fn section(client: &Client) -> String {
    let mut out = String::new();
    let directory = if client.open_project == OpenProject::Unknown { " ~/code/app" } else { "" };
    let is_by_hand = matches!(client.format, Format::Yaml(_)) || client.file(EntryScope::User) == Some("");
    let write = if is_by_hand { "`, and paste what it prints" } else { " --write`" };
    let _ = writeln!(out, "### {}\n\n`rootbound setup {}{directory}{write}\n", client.title, client.id);
    for (scope, _) in client.files {
        let _ = writeln!(out, "- `--scope {}`: {}", scope.name(), places(client, *scope));
    }
    let approval = match client.approval.strip_prefix("none") {
        Some(why) => format!("No approval is needed{why}."),
        None => format!("Then {}.", client.approval),
    };
    let (mut steps, mut check) = (vec![approval], vec![format!("To check: {}.", client.check)]);
    // The page says once what most clients need.
    if [EDITOR_CLIENT, TERMINAL_CLIENT]
        .iter()
        .any(|usual| (usual.approval, usual.check) == (client.approval, client.check))
    {
        (steps, check) = (Vec::new(), Vec::new());
    }
    if !client.project_approval.is_empty() && client.project_approval != client.approval {
        steps.push(format!("In a project, {}.", client.project_approval));
    }
    steps.append(&mut check);
    if !steps.is_empty() {
        let _ = writeln!(out, "- {}", steps.join(" ").replace("FILE", "mcp.json").replace("NAME", "files"));
    }
    out + "\n"
}

/// A line for each client: where the server starts, and so what its entry may name.
fn folders() -> String {
    let mut out = "\n| client | the server starts in | its entry names | in a project's file | known from |\n\
                   |---|---|---|---|---|\n"
        .to_owned();
    for client in CLIENT_ROWS {
        let names = match client.open_project {
            _ if client.splits_tools() => "its five paths, from there",
            OpenProject::CurrentDirectory => "nothing, or absolute folders",
            OpenProject::Here => "absolute folders",
            OpenProject::Unknown => "absolute folders, asked for",
        };
        let project = client.file(EntryScope::Project).map(|_| format!("`{0}` or `{0}/DIR`", client.project_folder));
        let (folder, known) = client.starts_in;
        let _ = writeln!(out, "| {} | {folder} | {names} | {} | {known} |", client.title, project.unwrap_or_default());
    }
    out + "\n"
}

mod tests {
    use super::*;

    #[test]
    fn setup_page_has_a_section_for_each_client() {
        let sections: String = std::iter::once("\n".to_owned()).chain(CLIENT_ROWS.iter().map(section)).collect();
        compare("setup_page` -->\n", "<!-- end of setup -->", &sections);
    }

    #[test]
    fn setup_page_says_for_each_client_where_a_server_starts() {
        compare("the same command -->\n", "<!-- end of folders -->", &folders());
    }

    /// Compares the part of the page between two marks, or writes it.
    #[expect(clippy::disallowed_methods, reason = "the documentation is no file of a workspace")]
    fn compare(begin: &str, end: &str, expected: &str) {
        // The tests of this file may write at the same time.
        static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _one = ONE.lock();
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients.md");
        let text = std::fs::read_to_string(&path).expect("docs/clients.md").replace("\r\n", "\n");
        let (before, rest) = text.split_once(begin).expect("a mark before the part");
        let (part, after) = rest.split_once(end).expect("a mark after the part");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, format!("{before}{begin}{expected}{end}{after}")).expect("written");
        } else {
            assert_eq!(part, expected, "docs/clients.md differs from the table: run the command that it names");
        }
    }
}
