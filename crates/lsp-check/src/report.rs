//! What the caller sees of what a server says.

use std::path::Path;

use source_outline::problems::{ChangedLines, MAX_SHOWN, Problem, new_problems};
use text_file::shorten;

use confined_fs::{Root, Visibility, Workspace, WorkspacePath, escape_controls};

use super::{
    LanguageServer,
    check::ServerReport,
    checked::{Checked, FileChange, LARGEST_TEXT},
    diagnostics::Diagnostic,
    scrub::Scrubber,
    trouble::{Trouble, read_for},
};

/// Whether all of a file is shown to the caller. Of a secret one a server reads the values, and may quote them.
pub(super) fn is_open(workspace: &Workspace, path: &WorkspacePath) -> bool {
    workspace.visibility(path).is_ok_and(|seen| seen == Visibility::Open)
}

/// A file that the caller may read without a mask, by the URI that a server gave.
fn readable(workspace: &Workspace, uri: &str) -> Option<(WorkspacePath, String)> {
    let path = workspace.resolve(uri).ok().filter(|_| uri.starts_with("file://"))?;
    if !is_open(workspace, &path) {
        return None;
    }
    let text = workspace.read(&path, LARGEST_TEXT as u64).ok()?;
    Some((path, String::from_utf8_lossy(&text.bytes).into_owned()))
}

/// The start of what a server says.
pub(super) fn brief(text: &str) -> String {
    shorten(text, 200).into_owned()
}

/// What the caller sees of a verdict.
pub(super) fn shown(
    scrubber: &Scrubber,
    workspace: &Workspace,
    name: &str,
    change: FileChange<'_>,
    verdict: ServerReport,
) -> Checked {
    let problems = |text: &str, found: &[Diagnostic]| -> Vec<Problem> {
        let lines: Vec<&str> = text.split('\n').collect();
        found.iter().map(|one| one.problem(&lines, name, |text| scrubber.clean(text))).collect()
    };
    let before = change.before.unwrap_or_default();
    let lines = ChangedLines::between(before, change.after);
    let found = new_problems(&problems(before, &verdict.before), problems(change.after, &verdict.after), &lines);
    let mut elsewhere = Vec::new();
    for (uri, diagnostics) in verdict.elsewhere {
        if elsewhere.len() >= MAX_SHOWN {
            break;
        }
        // Files that the caller may not see are not named.
        let Some((path, text)) = readable(workspace, &uri) else { continue };
        elsewhere.extend(problems(&text, &diagnostics).into_iter().map(|one| (path.clone(), one)));
    }
    Checked { problems: found, elsewhere, note: None }
}

/// Cuts the paths of the host from what a server says.
pub(super) fn scrubber(workspace: &Workspace, home: Option<&Path>) -> Scrubber {
    let public = |root: &Root| Some(root.public()).filter(|public| public != ".").unwrap_or_default();
    let roots = workspace.roots().iter().map(|root| (root.host().display().to_string(), public(root)));
    Scrubber::new(roots.collect(), home)
}

/// What allows a server to open what it was refused; empty where that is not known.
pub(super) fn remedy(workspace: &Workspace, server: &LanguageServer, trouble: &Trouble, home: Option<&Path>) -> String {
    let mut folders = trouble.installed_in().to_vec();
    if let (Some(denied), true) = (trouble.denied(), folders.is_empty()) {
        if workspace.roots().iter().any(|root| denied.starts_with(root.host())) {
            let name = denied.file_name().unwrap_or_default().display();
            return if server.program.may_write {
                String::new()
            } else {
                format!("; it may not write {name}: add `write = true` to [lsp.{}]", server.name)
            };
        }
        if !server.program.readable.iter().any(|readable| denied.starts_with(readable)) {
            folders.push(read_for(denied, home));
        }
    }
    if folders.is_empty() {
        return String::new();
    }
    let more = if server.program.readable.is_empty() { "" } else { "…, " };
    let (named, listed) = (folders.join(" and "), folders.join("\", \""));
    let (named, listed) = (escape_controls(&named), escape_controls(&listed));
    format!("; it may not read {named}: add `read = [{more}\"{listed}\"]` to [lsp.{}]", server.name)
}
