//! `rootbound tools`: the tools that a client would be offered, as a list for people or as the `tools/list` answer.

use std::process::ExitCode;

use serde_json::Value;

use crate::server::{self, Server};

use super::output::{fail, print};

/// Prints the complete `tools/list` answer, or a line for each tool.
pub fn tools(server: Server, json: bool) -> ExitCode {
    let list = match server::list_once(server) {
        Ok(list) => list,
        Err(why) => return fail(&why, 1),
    };
    if json {
        return print(&format!("{list:#}"));
    }
    let text = |tool: &Value, key: &str| tool[key].as_str().unwrap_or_default().to_owned();
    let lines: Vec<String> = list["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|tool| {
            let rights = if tool["annotations"]["readOnlyHint"] == true { "reads" } else { "writes" };
            format!("{:<8} {rights:<7} {}", text(tool, "name"), first_sentence(&text(tool, "description")))
        })
        .collect();
    print(&lines.join("\n"))
}

/// The first sentence of a tool's description.
fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").map(|dot| dot + 1).into_iter().chain(text.find('\n')).min();
    text[..end.unwrap_or(text.len())].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sentence_ends_at_full_stop_or_line_end() {
        assert_eq!(first_sentence("Find files. More."), "Find files.");
        assert_eq!(first_sentence("Matches *.rs files\nMore."), "Matches *.rs files");
        assert_eq!(first_sentence("All."), "All.");
    }
}
