//! `rootbound guide`: what a person gives to the model, for clients that do not show it the server's instructions.
//!
//! The names and uses of the tools are those of the registry, the roots those of the options. Nothing is opened.

use std::{fmt::Write as _, process::ExitCode};

use text_file::estimated_tokens;

use crate::config::{Config, GuideClient, GuidePart, GuideRequest};
use file_tools::{ErasedTool, Toolbox};

use super::{print, remark};

const SKILL_NAME: &str = "rootbound-files";
/// The paths that `deerflow` shows to its model, as `docs/clients.md` offers them.
const DEERFLOW_ROOTS: &str = "`/mnt/user-data/workspace` (relative paths begin here), `/mnt/user-data/uploads`, \
                              `/mnt/user-data/outputs`, and to read only `/mnt/skills` and `/mnt/acp-workspace`";
/// Roots that are listed; a longer list is of no use to a model.
const MAX_ROOTS: usize = 10;

pub fn guide(config: &Config, request: &GuideRequest) -> ExitCode {
    let words = GuideTexts::new(config, request);
    let client = request.client();
    let mut texts = Vec::new();
    if client.has_skill && request.part != Some(GuidePart::Paragraph) {
        let place = format!("skills/public/{SKILL_NAME}/SKILL.md in the folder of DeerFlow");
        texts.push((place, words.skill()));
    } else if request.part == Some(GuidePart::Skill) {
        texts.push((format!("the file {SKILL_NAME}/SKILL.md in the skills folder of the client"), words.skill()));
    }
    if request.part != Some(GuidePart::Skill) {
        texts.push((client.file.to_owned(), words.paragraph(client)));
    }
    if client.name == "claude-code" {
        let changing = words.tools.iter().filter(|tool| !tool.spec.read_only).map(|tool| tool.spec.name);
        let (prefix, changing) = (words.prefix, changing.collect::<Vec<_>>().join("|"));
        remark(&format!("# Matcher for hooks of yours on Edit|Write: Edit|Write|{prefix}({changing})\n"));
    }
    for (index, (place, text)) in texts.iter().enumerate() {
        let tokens = estimated_tokens(text);
        let gap = if index > 0 { "\n" } else { "" };
        // To stderr: stdout is often sent to the file that is named here.
        remark(&format!("{gap}# For {place} (at most about {tokens} tokens):\n"));
        let code = print(&format!("{gap}{text}"));
        if code != ExitCode::SUCCESS {
            return code;
        }
    }
    ExitCode::SUCCESS
}

struct GuideTexts<'c> {
    config: &'c Config,
    client: &'static GuideClient,
    prefix: &'c str,
    /// Those that find and show before those that change, and the core tools first.
    tools: Vec<&'static ErasedTool>,
}

impl<'c> GuideTexts<'c> {
    fn new(config: &'c Config, request: &'c GuideRequest) -> Self {
        let mut tools = Toolbox::new(&config.selection).tools().to_vec();
        tools.sort_by_key(|tool| (tool.spec.group, !tool.spec.read_only));
        let client = request.client();
        Self { config, client, prefix: request.prefix.as_deref().unwrap_or(client.prefix), tools }
    }

    /// A tool as the client shows it; `None` if it is not offered.
    fn tool(&self, name: &str) -> Option<String> {
        self.tools.iter().any(|tool| tool.spec.name == name).then(|| format!("`{}{name}`", self.prefix))
    }

    fn paragraph(&self, client: &GuideClient) -> String {
        let uses: Vec<_> = self
            .tools
            .iter()
            .map(|tool| format!("`{}{}` {}", self.prefix, tool.spec.name, tool.spec.purpose))
            .collect();
        let mut text = format!(
            "## Files\n\nWork on files with these tools: {}. Prefer them to shell commands such as find, grep, cat and \
             sed.",
            uses.join(", ")
        );
        if client.has_skill {
            let _ = write!(
                text,
                " Where other instructions name `read_file`, `write_file`, `str_replace`, `ls`, `glob` or `grep`, use \
                 these. The skill `{SKILL_NAME}` has more."
            );
        }
        if let Some(sentence) = self.see_first() {
            let _ = write!(text, " {sentence}");
        }
        if let Some(wait) = self.tool("wait") {
            let _ = write!(text, " To follow a build or a log, call {wait}; never poll.");
        }
        let _ = write!(text, " {} {CUT_ADVICE}", self.paths());
        text
    }

    /// A skill file: <https://github.com/bytedance/deer-flow/blob/main/backend/packages/harness/deerflow/skills/validation.py>.
    fn skill(&self) -> String {
        let names: Vec<_> = self.tools.iter().map(|tool| format!("{}{}", self.prefix, tool.spec.name)).collect();
        let description = format!(
            "How to find, read and change files with {}. Use it before a task on files in the workspace, uploads or \
             outputs, when an edit finds no match, and when an answer was cut.",
            names.join(", ")
        );
        // A JSON string is a YAML one.
        let description = serde_json::Value::from(description);
        let mut text = format!("---\nname: {SKILL_NAME}\ndescription: {description}\n---\n\n# Files\n\n## Tools\n\n");
        for ErasedTool { spec, examples, .. } in &self.tools {
            let _ = write!(text, "- `{}{}` {}", self.prefix, spec.name, spec.purpose);
            for (index, example) in examples.iter().enumerate() {
                let _ = write!(text, "{} `{example}`", if index == 0 { ":" } else { " or" });
            }
            text.push('\n');
        }
        text.push_str("\n## Rules\n\n");
        let _ = writeln!(text, "- {}", self.paths());
        if let Some(sentence) = self.see_first() {
            let _ = writeln!(text, "- {sentence}");
        }
        if let Some(edit) = self.tool("edit") {
            let _ = writeln!(
                text,
                "- {edit}: copy `old_string` exactly, without line numbers, and long enough to occur once. Of several \
                 `edits` all are made or none."
            );
            let _ = writeln!(
                text,
                "- If {edit} finds no match for a text that an answer shows: paths in answers may be written \
                 differently than in the file. Repeat it with a shorter `old_string` that has no path."
            );
        }
        if let Some(undo) = self.tool("undo") {
            let _ = writeln!(
                text,
                "- A change with `checkpoint` names the state before it; {undo} with that name as `to` goes back."
            );
        }
        if let Some(wait) = self.tool("wait") {
            let _ = writeln!(
                text,
                "- After you start a build, a test run or a server: one {wait} on its log with `pattern`, then again with the \
                 `offset` that the answer names. Never sleep, or read a log again and again."
            );
        }
        if self.client.has_skill {
            text.push_str("- Do several files or replacements in one call: a run stops after 50 calls of one tool.\n");
        }
        let _ = writeln!(text, "- {CUT_ADVICE}");
        text
    }

    fn see_first(&self) -> Option<String> {
        self.tool("edit").or_else(|| self.tool("write"))?;
        let how = match (self.tool("read"), self.tool("grep")) {
            (Some(read), Some(grep)) => format!("{read} it, or have {grep} show a line of it"),
            (Some(tool), None) | (None, Some(tool)) => format!("use {tool}"),
            (None, None) => return None,
        };
        Some(format!("See a file before you change it: {how}."))
    }

    fn paths(&self) -> String {
        let lister = || self.tool("ls").map(|ls| format!(" {ls} without a path lists them.")).unwrap_or_default();
        let roots = &self.config.roots;
        let rights = |index: usize| {
            let root = &roots[index];
            root.access.rights(root.policy.untrusted || self.config.workspace.policy.untrusted)
        };
        let names: Option<Vec<&str>> = roots.iter().map(|root| root.name.as_deref()).collect();
        match names.as_deref() {
            Some([]) if self.client.has_skill => {
                format!("Paths begin with {DEERFLOW_ROOTS}, as far as they exist.{}", lister())
            }
            Some([]) => "Paths are relative to the workspace root.".to_owned(),
            Some([name]) => format!("Paths are `{name}/…` ({}) or relative to it.", rights(0)),
            Some(names) => {
                let first = names.iter().enumerate().take(MAX_ROOTS);
                let shown: Vec<_> = first.map(|(index, name)| format!("`{name}` ({})", rights(index))).collect();
                let more = names.len() - shown.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("Paths begin with the name of a root: {}{more}.{}", shown.join(", "), lister())
            }
            None if roots.len() == 1 => format!("Paths are relative to the workspace root ({}).", rights(0)),
            None => format!("Paths begin with the name of a root.{}", lister()),
        }
    }
}

const CUT_ADVICE: &str =
    "An answer that was cut ends with the call that continues it, and an error with the next step.";

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;
    use confined_fs::{Access, PolicyRules, RootSpec};
    use file_tools::{Group, Selection};

    fn config(selection: Selection) -> Config {
        Config { selection, ..Config::default() }
    }

    fn both(config: &Config, prefix: &str) -> [String; 2] {
        let request = GuideRequest { prefix: Some(prefix.to_owned()), ..GuideRequest::default() };
        let words = GuideTexts::new(config, &request);
        [words.paragraph(request.client()), words.skill()]
    }

    fn all() -> Selection {
        Selection { groups: vec![Group::Manage, Group::Patch, Group::Watch, Group::Present], ..Selection::default() }
    }

    /// The names of the arguments in a schema and in the objects of its lists.
    fn names(schema: &Value, out: &mut Vec<String>) {
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            out.push(name.clone());
            names(&inner["items"], out);
        }
    }

    fn keys(object: &Map<String, Value>, out: &mut Vec<String>) {
        for (key, value) in object {
            out.push(key.clone());
            value.as_array().into_iter().flatten().filter_map(Value::as_object).for_each(|inner| keys(inner, out));
        }
    }

    #[test]
    fn every_tool_has_examples_with_arguments_of_its_schema() {
        let toolbox = Toolbox::new(&all());
        for tool in toolbox.tools() {
            let schema = Value::Object(tool.input_schema().clone());
            assert!(!tool.examples.is_empty(), "{tool:?}");
            let (mut known, mut used) = (Vec::new(), Vec::new());
            names(&schema, &mut known);
            for example in tool.examples {
                keys(serde_json::from_str::<Value>(example).expect("JSON").as_object().expect("an object"), &mut used);
            }
            assert!(used.iter().all(|key| known.contains(key)), "{tool:?}: {used:?} of {known:?}");
        }
    }

    #[test]
    fn texts_name_every_offered_tool_with_the_prefix_and_no_other() {
        let reading = Selection { read_only: true, ..all() };
        let one = Selection { only: Some(vec!["read".into()]), ..Selection::default() };
        for selection in [Selection::default(), all(), reading, one] {
            let offered: Vec<_> = Toolbox::new(&selection).tools().iter().map(|tool| tool.spec.name).collect();
            for text in both(&config(selection), "x__") {
                for tool in Toolbox::known() {
                    assert_eq!(text.contains(&format!("`x__{tool}`")), offered.contains(&tool), "{tool}: {text}");
                }
                assert_eq!(text.contains("before you change it"), offered.contains(&"edit"), "{text}");
            }
        }
    }

    #[test]
    fn roots_are_named_with_their_rights_as_far_as_the_options_name_them() {
        let root = |name: Option<&str>, access| RootSpec {
            name: name.map(str::to_owned),
            path: "/nowhere".into(),
            access,
            policy: PolicyRules::default(),
            optional: false,
        };
        let paths = |roots: Vec<RootSpec>| {
            let config = Config { roots, ..Config::default() };
            GuideTexts::new(&config, &GuideRequest::default()).paths()
        };
        assert_eq!(paths(Vec::new()), "Paths are relative to the workspace root.");
        let (write, read) = (Access::ReadWrite, Access::ReadOnly);
        assert_eq!(paths(vec![root(None, read)]), "Paths are relative to the workspace root (read-only).");
        assert_eq!(paths(vec![root(Some("a"), write)]), "Paths are `a/…` (read-write) or relative to it.");
        let several = paths(vec![root(Some("a"), write), root(Some("b"), read)]);
        assert!(several.starts_with("Paths begin with the name of a root: `a` (read-write), `b` (read-only)."));
        assert_eq!(
            paths(vec![root(Some("a"), write), root(None, read)]),
            "Paths begin with the name of a root. `ls` without a path lists them."
        );
        let many = paths((0..50).map(|n| root(Some(&format!("root{n}")), write)).collect());
        assert!(many.contains("`root9` (read-write) and 40 more."), "{many}");
    }

    #[test]
    fn texts_are_short() {
        let tools = Toolbox::new(&Selection::default()).tools().len();
        for (text, tokens_by_tool) in both(&Config::default(), "mcp__files__").iter().zip([42, 133]) {
            assert!(estimated_tokens(text) < tools * tokens_by_tool, "{}: {text}", estimated_tokens(text));
        }
    }
}
