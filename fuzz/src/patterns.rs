//! Patterns: arguments of glob and grep are used or refused by name, patterns compile within bounds or
//! are errors that show the value, and a search finds the lines that the regex crate finds.

use std::path::Path;

use file_tools::{Answer, CallContext, Content, Kind, Plan, ToolError};
use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};
use tree_search::{FileFilter, NameGlob, Pattern, PatternError, PatternOptions};

use super::{World, fields, text, world::context};

/// Lines of a haystack; more than a search shows would hide some.
const MAX_LINES: usize = 400;
/// Names that globs are tried on.
const NAMES: &[&str] = &[
    "f",
    "a/f",
    "a/b/g",
    "src/main.rs",
    "src/a b.txt",
    ".hidden",
    "x.min.js",
    "größe/ö.md",
    "a\\b",
    "[x]",
    "{y}",
    "a\nb",
    "A/F",
    "very/deep/er/path/to/a/file.tar.gz",
];
/// The file that is searched.
const HAYSTACK: &str = "haystack";

/// Reads `input`: an object as the arguments of both tools; else an option byte and, parted by
/// [`BREAK`](super::BREAK), pattern, glob and haystack.
///
/// # Panics
/// Where a property does not hold.
pub fn check(world: &World, input: &[u8]) {
    if input.first() == Some(&b'{') {
        if let Ok(Value::Object(arguments)) = serde_json::from_slice(input) {
            for tool in ["glob", "grep"] {
                let _ = called(world, &context(world.tree()), tool, arguments.clone());
            }
        }
        return;
    }
    let Some((&options, rest)) = input.split_first() else { return };
    let mut fields = fields(rest);
    let (pattern, glob, haystack) = (text(fields.next()), text(fields.next()), text(fields.next()));
    let options = PatternOptions {
        literal: options & 1 != 0,
        case_sensitive: options & 2 != 0,
        word: options & 4 != 0,
        multiline: options & 8 != 0,
    };
    globs(world, &glob, options.case_sensitive);
    regexes(world, &pattern, options, &haystack);
}

/// A glob as the pattern of glob and as the filter of grep.
fn globs(world: &World, glob: &str, case_sensitive: bool) {
    let exact = NameGlob::compile(glob, true);
    let loose = NameGlob::compile(glob, false);
    assert_eq!(exact.is_ok(), loose.is_ok(), "{glob:?} depends on case");
    if let (Ok(exact), Ok(loose)) = (&exact, &loose) {
        // What a class leaves out, it leaves out in both cases.
        for name in NAMES.iter().filter(|_| !glob.contains('[')) {
            assert!(!exact.matches(Path::new(name)) || loose.matches(Path::new(name)), "{glob:?} misses {name}");
        }
        let plain = glob.trim().trim_start_matches(['/', '.']);
        if !glob.contains(['*', '?', '[', ']', '{', '}', '\\', ',', '!'])
            && !plain.is_empty()
            && !glob.trim().ends_with('/')
        {
            let relative: String = glob.trim().trim_start_matches("./").trim_start_matches('/').to_owned();
            if !relative.contains("./") && !relative.contains("//") && !relative.starts_with('/') {
                assert!(exact.matches(Path::new(&relative)), "{glob:?} does not match {relative:?}");
            }
        }
    }
    if let Ok(mut filter) = FileFilter::new(Some(glob), None) {
        for name in NAMES {
            let _ = filter.admits(Path::new(name));
        }
    }
    let arguments =
        json!({ "pattern": glob, "case_sensitive": case_sensitive, "include_dirs": true, "no_ignore": true });
    let cx = context(world.tree());
    match called(world, &cx, "glob", object(arguments)) {
        Ok(answer) => {
            for path in answer.data.iter().flat_map(|data| data["paths"].as_array().into_iter().flatten()) {
                let path = path.as_str().expect("paths are text");
                let found =
                    cx.workspace.resolve(path).unwrap_or_else(|error| panic!("{glob:?} found {path:?}: {error}"));
                cx.workspace.stat(&found).unwrap_or_else(|error| panic!("{glob:?} found {path:?}: {error}"));
            }
        }
        Err(error) => {
            let shown: String = glob.chars().take(20).flat_map(char::escape_debug).collect();
            let said = error.text();
            let names = said.contains(&shown) || said.contains(&glob.chars().take(20).collect::<String>());
            assert!(names || error.kind() != Kind::InvalidInput || has_odd(glob), "{said:?} does not show {glob:?}");
        }
    }
}

/// A pattern of grep on a haystack.
fn regexes(world: &World, pattern: &str, options: PatternOptions, haystack: &str) {
    let compiled = Pattern::compile(pattern, options);
    let oracle = oracle(pattern, options);
    compiles_like(pattern, &compiled, &oracle);
    // A line must hold text, or the file is not text.
    let haystack: String = haystack
        .replace(['\0', '\u{feff}'], "")
        .replace(world.host(), "")
        .split_terminator('\n')
        .take(MAX_LINES)
        .fold(String::new(), |all, line| all + line + "\n");
    world.put(HAYSTACK, haystack.as_bytes());
    let arguments = json!({
        "pattern": pattern, "path": HAYSTACK, "literal": options.literal, "case_sensitive": options.case_sensitive,
        "word": options.word, "multiline": options.multiline, "max_results": 500,
    });
    let result = called(world, &context(world.scratch()), "grep", object(arguments));
    let answer = match (compiled, result) {
        (Ok(_), Ok(answer)) => answer,
        (Err(_), Err(error)) => {
            assert_eq!(error.kind(), Kind::InvalidInput, "{}", error.text());
            return;
        }
        (Ok(_), Err(error)) => {
            assert!(pattern.is_empty(), "{pattern:?} compiles, but grep says: {}", error.text());
            return;
        }
        (Err(error), Ok(_)) => panic!("{pattern:?} was searched despite {error:?}"),
    };
    let Ok(oracle) = oracle else { return };
    let facts = &answer.facts;
    if facts["truncated"] == true || facts["skipped"]["binary"].as_u64().is_some_and(|count| count > 0) {
        return;
    }
    let found: Vec<u64> = answer
        .data
        .iter()
        .flat_map(|data| data["results"].as_array().into_iter().flatten())
        .flat_map(|file| file["lines"].as_array().into_iter().flatten())
        .filter_map(|line| line["line"].as_u64())
        .collect();
    if options.multiline {
        // What is found after the last line is in no line.
        let matches = oracle.find_iter(haystack.as_bytes()).any(|found| found.start() < haystack.len());
        assert_eq!(!found.is_empty(), matches, "{pattern:?} in {haystack:?}: {found:?}");
        return;
    }
    let expected: Vec<u64> = haystack
        .split_terminator('\n')
        .zip(1..)
        .filter(|(line, _)| oracle.is_match(line.as_bytes()))
        .map(|(_, number)| number)
        .collect();
    assert_eq!(found, expected, "{pattern:?} in {haystack:?}");
}

/// Both take the pattern, or both refuse it; a refusal shows the place.
fn compiles_like(pattern: &str, compiled: &Result<Pattern, PatternError>, oracle: &Result<Regex, regex::Error>) {
    match (compiled, oracle) {
        (Ok(_), Err(regex::Error::Syntax(error))) => panic!("{pattern:?} compiles, but: {error}"),
        (Err(PatternError::Syntax { reason, column, place, .. }), Ok(_)) => {
            panic!("{pattern:?} is refused at {column}: {reason}\n{place}")
        }
        (Err(PatternError::Syntax { place, column, .. }), Err(_)) => {
            assert!(*column <= pattern.chars().count() + 1, "{pattern:?}: column {column}");
            assert!(place.chars().count() < 300, "{place}");
        }
        _ => {}
    }
}

/// The pattern as the regex crate reads it.
fn oracle(pattern: &str, options: PatternOptions) -> Result<Regex, regex::Error> {
    let mut pattern = if options.literal { regex::escape(pattern) } else { pattern.to_owned() };
    if options.word {
        // Parsed alone first, so that nothing closes the group.
        RegexBuilder::new(&pattern).unicode(true).multi_line(true).build()?;
        let word = |pattern: &str| format!(r"\b{{start-half}}(?:{pattern})\b{{end-half}}");
        // A comment at its end would swallow the end of the group.
        let wrapped = word(&pattern);
        let ends = regex_syntax::parse(&wrapped).is_ok();
        pattern = if ends { wrapped } else { word(&format!("{pattern}\n")) };
    }
    RegexBuilder::new(&pattern)
        .unicode(true)
        .multi_line(true)
        .case_insensitive(!options.case_sensitive)
        .dot_matches_new_line(options.multiline)
        .build()
}

/// A call; what any answer must be, whatever was asked.
fn called(world: &World, cx: &CallContext, tool: &str, arguments: Map<String, Value>) -> Result<Answer, ToolError> {
    let entry = world.toolbox().get(tool).expect("one of the tools");
    let result = match entry.plan(cx, arguments.clone()) {
        Ok(Plan::Answer(answer)) => Ok(answer),
        Ok(Plan::Change(_) | Plan::Wait(_)) => panic!("{tool} changes something or waits"),
        Err(error) => Err(error),
    };
    match &result {
        Ok(answer) => {
            for block in &answer.content {
                let Content::Text(text) = block else { panic!("{tool} shows a picture") };
                assert!(cx.budget.fits(text), "{} bytes of answer", text.len());
                assert!(!text.contains(world.host()), "{text:?} shows a host path");
            }
        }
        Err(error) => {
            let text = error.text();
            assert!(error.kind() != Kind::Internal, "{arguments:?}: {text}");
            assert!(text.len() < 8192, "{} bytes of error", text.len());
            let sent = Value::Object(arguments).to_string();
            assert!(sent.contains(world.host()) || !text.contains(world.host()), "{text:?} shows a host path");
            assert!(
                text.contains("hint: ") || error.kind() == Kind::Denied || text.contains("at most"),
                "{text:?} shows no way on"
            );
        }
    }
    result
}

/// Whether a text holds what an error shows escaped.
fn has_odd(text: &str) -> bool {
    text.chars().any(|character| character.is_control() || !character.is_ascii())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}
