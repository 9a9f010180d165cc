//! `rootbound call` and `rootbound tools`: the way to try, script and debug the server without a client.
//!
//! Both go through the same server over an in-memory transport.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use serde_json::{Map, Value};

use crate::{
    server::{self, Block, Server},
    tools::{Selection, Toolbox, args::parse_spelled},
};

use super::{BAD_CONFIGURATION, meant};

/// Runs one tool and prints its text: answers to stdout with exit code 0, a tool's error to stderr
/// with 1, arguments that cannot be understood with 2.
pub fn call(server: Server, offered: &Selection, tool: &str, words: &[String]) -> ExitCode {
    let toolbox = Toolbox::new(offered);
    let arguments = match arguments(tool, words, toolbox.get(tool).map(crate::tools::Entry::input_schema)) {
        Ok(arguments) => arguments,
        Err(why) => return complain(&why, BAD_CONFIGURATION),
    };
    let outcome = match server::call_once(server, tool, arguments) {
        Ok(outcome) => outcome,
        Err(why) => return complain(&why, 1),
    };
    let text: Vec<String> = outcome
        .content
        .iter()
        .map(|block| match block {
            Block::Text(text) => text.clone(),
            // Four characters of base64 stand for three bytes.
            Block::Image { mime, data } => format!("[image: {mime}, about {} KB]", data.len() * 3 / 4 / 1000 + 1),
        })
        .collect();
    let text = text.join("\n");
    if outcome.is_error { complain(&text, 1) } else { print(&text) }
}

/// Prints what a client would be offered: the whole `tools/list` answer, or a line for each tool.
pub fn tools(server: Server, json: bool) -> ExitCode {
    let list = match server::list_once(server) {
        Ok(list) => list,
        Err(why) => return complain(&why, 1),
    };
    if json {
        return print(&format!("{list:#}"));
    }
    let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let lines: Vec<String> = list
        .get("tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|tool| {
            let rights = match tool.pointer("/annotations/readOnlyHint").and_then(Value::as_bool) {
                Some(true) => "reads",
                _ => "writes",
            };
            format!("{:<8} {rights:<7} {}", text(tool, "name"), first_sentence(&text(tool, "description")))
        })
        .collect();
    print(&lines.join("\n"))
}

/// The first sentence of a tool's description; what lists of tools show.
fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").map(|dot| dot + 1).into_iter().chain(text.find('\n')).min();
    text[..end.unwrap_or(text.len())].trim()
}

/// Reads one JSON object, or `key=value` words.
///
/// A value is text where the tool's `schema` says so, otherwise JSON where it parses as JSON.
fn arguments(tool: &str, words: &[String], schema: Option<&Map<String, Value>>) -> Result<Map<String, Value>, String> {
    if let [word] = words
        && word.trim_start().starts_with('{')
    {
        return parse_spelled(word).map_err(|error| {
            format!("the arguments are no JSON object ({error}): check the quotes, or write key=value")
        });
    }
    let mut arguments = Map::new();
    for word in words {
        let Some((key, text)) = word.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let typed = meant::named(tool, words);
            return Err(format!(
                "{word:?} has no name: arguments are key=value, or one JSON object in single quotes; type: \
                 rootbound call {tool}{typed}"
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
    // `007` and `1e3` may be meant as they are spelled; the server reads numbers in text all the same.
    parse_spelled(text).unwrap_or_else(|_| as_text())
}

fn print(text: &str) -> ExitCode {
    // A reader that has left, as `| head` does, is no failure.
    let _ = writeln!(io::stdout().lock(), "{}", text.strip_suffix('\n').unwrap_or(text));
    ExitCode::SUCCESS
}

fn complain(text: &str, code: u8) -> ExitCode {
    let _ = writeln!(io::stderr().lock(), "{text}");
    ExitCode::from(code)
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
    fn words_and_one_json_object_say_the_same() {
        let expected = json!({"pattern": "a", "max_results": 5, "literal": true, "edits": [{"x": 1}]});
        assert_eq!(read(&["pattern=a", "max_results=5", "literal=true", "edits=[{\"x\":1}]"]), Ok(expected.clone()));
        assert_eq!(read(&[&expected.to_string()]), Ok(expected));
    }

    #[test]
    fn what_the_schema_calls_text_stays_as_it_was_typed() {
        assert_eq!(read(&["pattern={\"a\":1}"]), Ok(json!({"pattern": "{\"a\":1}"})));
        assert_eq!(read(&["pattern=null"]), Ok(json!({"pattern": "null"})));
        assert_eq!(read(&["other=007", "more=a=b"]), Ok(json!({"other": "007", "more": "a=b"})));
    }

    #[test]
    fn words_that_are_no_arguments_are_refused() {
        for words in [vec!["pattern"], vec!["=x"], vec!["a=1", "a=2"], vec!["{"], vec!["{}", "a=1"]] {
            assert!(read(&words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn a_first_sentence_ends_at_its_full_stop_or_line() {
        assert_eq!(first_sentence("Find files. More."), "Find files.");
        assert_eq!(first_sentence("Matches *.rs files\nMore."), "Matches *.rs files");
        assert_eq!(first_sentence("All."), "All.");
    }
}
