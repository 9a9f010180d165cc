//! The part of `docs/clients.md` that has a section for each client, made from the same rows as the files.

use std::fmt::Write as _;

use crate::config::Environment;

use super::{
    clients::{CLIENTS, Client, EntryScope, OpenProject},
    folders::{Folders, System},
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
    let _ = writeln!(out, "### {}\n\n`rootbound setup {}{directory} --write`\n", client.title, client.id);
    for (scope, _) in client.files {
        let _ = writeln!(out, "- `--scope {}`: {}", scope.name(), places(client, *scope));
    }
    let fill = |text: &str| text.replace("FILE", "mcp.json").replace("NAME", "files");
    let approval = match client.approval.strip_prefix("none") {
        Some(why) => format!("No approval is needed{why}"),
        None => format!("Then {}", client.approval),
    };
    let _ = write!(out, "- {}.", fill(&approval));
    if !client.project_approval.is_empty() && client.project_approval != client.approval {
        let _ = write!(out, " In a project, {}.", fill(client.project_approval));
    }
    let _ = writeln!(out, " To check: {}.\n", fill(client.check));
    out
}

mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the documentation is no file of a workspace")]
    fn setup_page_has_a_section_for_each_client() {
        const BEGIN: &str = "setup_page` -->\n";
        const END: &str = "<!-- end of setup -->";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients.md");
        let text = std::fs::read_to_string(&path).expect("docs/clients.md").replace("\r\n", "\n");
        let (before, rest) = text.split_once(BEGIN).expect("a mark before the clients");
        let (sections, after) = rest.split_once(END).expect("a mark after the clients");
        let expected: String = std::iter::once("\n".to_owned()).chain(CLIENTS.iter().map(section)).collect();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, format!("{before}{BEGIN}{expected}{END}{after}")).expect("written");
        } else {
            assert_eq!(sections, expected, "docs/clients.md differs from the table: run the command that it names");
        }
    }
}
