//! The server's instructions, which a client may show to its model: what each tool is for, and the roots.
//!
//! Short and without host paths; mentions only tools that are offered.

use std::fmt::Write as _;

use crate::{
    tools::{Spec, Toolbox},
    workspace::{Access, Workspace},
};

/// The longest text, in characters.
const LIMIT: usize = 1_500;

/// One root as a model may know it.
#[derive(Clone, Debug)]
pub(super) struct RootLine {
    /// The public name; `None` for a single root without one.
    pub(super) name: Option<String>,
    /// Whether it can be written.
    pub(super) access: Access,
}

/// The roots of `workspace`, by their public names.
pub(super) fn roots(workspace: &Workspace) -> Vec<RootLine> {
    let roots = workspace.roots();
    let line = |name: Option<String>, access| RootLine { name, access };
    match roots {
        [only] => vec![line(only.name().map(|_| only.public()), only.access())],
        several => several.iter().map(|root| line(Some(root.public()), root.access())).collect(),
    }
}

/// The instructions for a server with these tools and roots; less than [`LIMIT`] characters.
pub(super) fn text(toolbox: &Toolbox, roots: &[RootLine]) -> String {
    let offers = |name: &str| toolbox.get(name).is_some();
    let mut text = String::from("File tools, confined to the workspace.");
    // The core tools first, and those that find and show before those that change.
    let mut specs: Vec<&Spec> = toolbox.tools().iter().map(|tool| tool.spec).collect();
    specs.sort_by_key(|spec| (spec.group, !spec.read_only));
    let uses: Vec<String> = specs.iter().map(|spec| format!("{} {}", spec.name, spec.purpose)).collect();
    if !uses.is_empty() {
        text.push(' ');
        text.push_str(&uses.join(", "));
        text.push_str(". Prefer these to shell commands such as find, grep, cat and sed.");
    }
    if offers("read") && (offers("edit") || offers("write")) {
        text.push_str(" Read a file before you change it.");
    }
    text.push('\n');
    push_roots(&mut text, roots);
    text
}

fn push_roots(text: &mut String, roots: &[RootLine]) {
    match roots {
        [RootLine { name: None, access }] => {
            let _ = write!(text, "Paths are relative to the workspace root, which is {}.", rights(*access));
        }
        [RootLine { name: Some(name), access }] => {
            let _ = write!(
                text,
                "The workspace root is {name} ({}); paths are {name}/… or relative to it.",
                rights(*access)
            );
        }
        several => {
            text.push_str("Roots, each path beginning with the name of its root:");
            let mut used = text.chars().count();
            for (listed, root) in several.iter().enumerate() {
                let line = format!("\n- {} ({})", root.name.as_deref().unwrap_or("."), rights(root.access));
                let tail = format!("\nand {} more: ls without a path lists them.", several.len() - listed);
                used += line.chars().count();
                // Room for the closing line is kept while there are roots to come.
                if used + tail.chars().count() >= LIMIT {
                    text.push_str(&tail);
                    return;
                }
                text.push_str(&line);
            }
        }
    }
}

fn rights(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "read-only",
        Access::ReadWrite => "read-write",
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::Selection;

    use super::*;

    fn root(name: Option<&str>, access: Access) -> RootLine {
        RootLine { name: name.map(str::to_owned), access }
    }

    #[test]
    fn single_unnamed_root_means_relative_paths() {
        let text = text(&Toolbox::new(&Selection::default()), &[root(None, Access::ReadWrite)]);
        assert!(text.contains("relative to the workspace root, which is read-write"), "{text}");
        assert!(text.contains("edit changes text"), "{text}");
    }

    #[test]
    fn only_offered_tools_are_mentioned() {
        let toolbox = Toolbox::new(&Selection { read_only: true, ..Selection::default() });
        let named: Vec<_> = toolbox.tools().iter().map(|entry| entry.spec.name).collect();
        let text = text(&toolbox, &[root(Some("docs"), Access::ReadOnly)]);
        for tool in ["glob finds", "grep finds", "ls shows", "read shows", "edit changes", "write creates"] {
            let name = tool.split(' ').next().expect("a name");
            assert_eq!(text.contains(tool), named.contains(&name), "{tool}: {text}");
        }
        assert!(named.contains(&"read") && !named.contains(&"edit"), "{named:?}");
    }

    #[test]
    fn list_of_many_roots_is_cut_with_a_notice() {
        let roots: Vec<_> = (0..200).map(|n| root(Some(&format!("project-number-{n}")), Access::ReadWrite)).collect();
        let text = text(&Toolbox::new(&Selection::default()), &roots);
        assert!(text.chars().count() < LIMIT, "{}", text.chars().count());
        let listed = text.matches("\n- ").count();
        assert!(text.ends_with(&format!("and {} more: ls without a path lists them.", 200 - listed)), "{text}");
    }
}
