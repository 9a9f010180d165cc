//! The roles of the configuration, and which of them this process may need.

use confined_fs::Access;

use crate::{config::Config, tools::Toolbox};

use super::report_text::ReportText;

pub(super) fn roles(out: &mut ReportText, config: &Config) {
    for (number, role) in config.roles.iter().enumerate() {
        let applies = if config.role.as_ref().is_some_and(|own| own.name == role.name) {
            if config.client_roles.is_empty() { "applies" } else { "applies to other clients" }
        } else if config.client_roles.iter().any(|own| own.name == role.name) {
            "applies to clients of that name"
        } else {
            "does not apply to this process"
        };
        out.head(if number == 0 { "roles" } else { "" }, &format!("{:?}, for {}: {applies}", role.name, role.who()));
        let root = |root: &confined_fs::RootSpec| {
            let name = root.name.clone().unwrap_or_else(|| root.path.display().to_string());
            if root.access == Access::ReadOnly { format!("{name} (read-only)") } else { name }
        };
        let roots: Vec<String> = role.roots.iter().map(root).collect();
        let tools = Toolbox::new(&role.selection);
        let tools: Vec<&str> = tools.tools().iter().map(|tool| tool.spec.name).collect();
        out.line(&format!("  directories: {}; tools: {}", roots.join(", "), tools.join(", ")));
    }
    if !config.client_roles.is_empty() {
        out.line("a client's name is what it says; the kernel confines the process to the directories of all clients");
    }
}
