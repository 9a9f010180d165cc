//! `rootbound call`: one tool call without a client, to try, script and debug the server; and `rootbound tools`: the tools
//! that a client would be offered, as a human-readable list or as the `tools/list` answer.
//!
//! Uses the same server as a client's call, over an in-memory transport.

use std::process::ExitCode;

use serde_json::{Map, Value};

use crate::{
    config::{BAD_CONFIGURATION, CallRequest, suggestion},
    server::{self, Server},
};
use file_tools::{Selection, Toolbox, parse_exact};

use super::{fail, print};

/// Runs one tool and prints its text: answers to stdout with exit code 0, a tool's error to stderr
/// with 1, arguments that cannot be understood with 2.
pub fn call(server: Server, offered: &Selection, request: &CallRequest) -> ExitCode {
    let toolbox = Toolbox::new(offered);
    let tool = &*request.tool.as_deref().unwrap_or_default().to_string_lossy();
    let arguments =
        match arguments(tool, &request.arguments, toolbox.get(tool).map(file_tools::ErasedTool::input_schema)) {
            Ok(arguments) => arguments,
            Err(why) => return fail(&why, BAD_CONFIGURATION),
        };
    let indexes = server.kept_indexes();
    let outcome = match server::call_once(server, tool, arguments) {
        Ok(outcome) => outcome,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let text = outcome.text();
    let code = if outcome.is_error { fail(&text, 1) } else { print(&text) };
    // After the answer was printed: nobody waits for the index.
    server::finish_indexes(indexes);
    code
}

/// Advice about JSON that a shell has changed. cmd and PowerShell before 7.3 drop its double quotes.
const QUOTING_HINT: &str = if cfg!(windows) {
    "cmd and PowerShell remove its double quotes, so write key=value (or \\\" for each quote)"
} else {
    "check the quotes, or write key=value"
};

/// Reads one JSON object, or `key=value` words.
///
/// A value is text where the tool's `schema` says so, otherwise JSON where it parses as JSON.
fn arguments(tool: &str, words: &[String], schema: Option<&Map<String, Value>>) -> Result<Map<String, Value>, String> {
    if let [word] = words
        && word.trim_start().starts_with('{')
    {
        return parse_exact(word)
            .map_err(|error| format!("the arguments are not a JSON object ({error}): {QUOTING_HINT}"));
    }
    let mut arguments = Map::new();
    for word in words {
        let Some((key, text)) = word.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let suggested = suggestion::with_names(tool, words);
            if parse_exact::<Map<String, Value>>(word).is_ok() {
                return Err(format!("a JSON object holds all arguments; type: rootbound call {tool}{suggested}"));
            }
            let json = if cfg!(windows) { "" } else { ", or one JSON object in single quotes" };
            return Err(format!(
                "{word:?} has no name: arguments are key=value{json}; type: rootbound call {tool}{suggested}"
            ));
        };
        if arguments.insert(key.to_owned(), value(text, property_type(schema, key))).is_some() {
            return Err(format!("the argument {key} is given twice: keep one"));
        }
    }
    Ok(arguments)
}

fn property_type<'a>(schema: Option<&'a Map<String, Value>>, key: &str) -> Option<&'a str> {
    schema?.get("properties")?.get(key)?.get("type")?.as_str()
}

fn value(text: &str, kind: Option<&str>) -> Value {
    let as_text = || Value::String(text.to_owned());
    if kind == Some("string") {
        return as_text();
    }
    // `007` and `1e3` may be meant as text; the server accepts numbers in text anyway.
    parse_exact(text).unwrap_or_else(|_| as_text())
}

pub fn tools(server: Server, json: bool) -> ExitCode {
    let list = match server::list_once(server) {
        Ok(list) => list,
        Err(error) => return fail(&error.to_string(), 1),
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

fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").map(|dot| dot + 1).into_iter().chain(text.find('\n')).min();
    text[..end.unwrap_or(text.len())].trim()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(words: &[&str]) -> Result<Value, String> {
        let schema = json!({"properties": {"pattern": {"type": "string"}, "max_results": {"type": "integer"}}});
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        arguments("grep", &words, schema.as_object()).map(Value::Object)
    }

    #[test]
    fn words_and_a_json_object_give_the_same_arguments() {
        let expected = json!({"pattern": "a", "max_results": 5, "literal": true, "edits": [{"x": 1}]});
        assert_eq!(read(&["pattern=a", "max_results=5", "literal=true", "edits=[{\"x\":1}]"]), Ok(expected.clone()));
        assert_eq!(read(&[&expected.to_string()]), Ok(expected));
    }

    #[test]
    fn a_text_argument_is_not_parsed_as_json() {
        assert_eq!(read(&["pattern={\"a\":1}"]), Ok(json!({"pattern": "{\"a\":1}"})));
        assert_eq!(read(&["pattern=null"]), Ok(json!({"pattern": "null"})));
        assert_eq!(read(&["other=007", "more=a=b"]), Ok(json!({"other": "007", "more": "a=b"})));
    }

    #[test]
    fn invalid_argument_words_are_refused() {
        for words in [vec!["pattern"], vec!["=x"], vec!["a=1", "a=2"], vec!["{"], vec!["{}", "a=1"]] {
            assert!(read(&words).is_err(), "{words:?}");
        }
        let beside = read(&["{\"pattern\":\"a b\"}", "path=src"]).unwrap_err();
        assert!(beside.contains("a JSON object holds all arguments") && beside.contains("=a b"), "{beside}");
    }

    #[test]
    fn first_sentence_ends_at_full_stop_or_line_end() {
        assert_eq!(first_sentence("Find files. More."), "Find files.");
        assert_eq!(first_sentence("Matches *.rs files\nMore."), "Matches *.rs files");
        assert_eq!(first_sentence("All."), "All.");
    }
}
