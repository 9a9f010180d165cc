//! Patterns: globs that leave the root, globs and regexes that are expensive.

use serde_json::json;

use super::{Case, Expect, case};

/// `..` and absolute paths inside patterns (gemini-cli#29075), for `glob` and for grep's `glob`.
pub(super) fn leaving() -> Vec<Case> {
    let patterns = [
        "../*",
        "../outside/*",
        "../**/zebra*",
        "sub/../../outside/*",
        "/etc/passwd",
        "/etc/*",
        "{host}/outside/*",
        "{..,.}/outside/*",
        "{../outside,sub}/*",
        "[.][.]/outside/*",
        "[.]./outside/*",
        "..\\/outside/*",
        "\\.\\./outside/*",
        "**/../../outside/*",
        "?./outside/*",
        "*/../../outside/*",
        "out_dir/*",
        "out_dir/**/*",
        "out_*/**",
        "sub/up/*",
        "{out_dir,out_parent}/**",
        "!../outside/*",
        "file:///etc/*",
        "~/*",
        "**/zebra-*",
        "**/*secret*",
    ];
    patterns
        .iter()
        .flat_map(|pattern| {
            [
                case(
                    format!("glob {pattern}"),
                    "glob",
                    json!({ "pattern": pattern, "no_ignore": true }),
                    Expect::Harmless,
                ),
                case(
                    format!("glob {pattern} below a folder"),
                    "glob",
                    json!({ "pattern": pattern, "path": "app/sub", "no_ignore": true, "include_dirs": true }),
                    Expect::Harmless,
                ),
                case(
                    format!("grep in {pattern}"),
                    "grep",
                    json!({ "pattern": "CANARY|root:", "glob": pattern, "no_ignore": true }),
                    Expect::Harmless,
                ),
            ]
        })
        .chain([
            case("a pattern out is an error", "glob", json!({ "pattern": "../*" }), WRONG),
            case("so is one within braces", "glob", json!({ "pattern": "{../outside,sub}/*" }), WRONG),
            case("so is one behind a folder", "glob", json!({ "pattern": "sub/../../*" }), WRONG),
        ])
        .collect()
}

const WRONG: Expect = Expect::Fails(&["invalid_input", "denied"]);

/// Patterns that cost seconds or gigabytes in other programs: each ends, and the server lives
/// (CVE-2022-3517, CVE-2026-27903, CVE-2026-27904).
pub(super) fn costly() -> Vec<Case> {
    let globs = [
        ("braces doubled", "{a,b}".repeat(40)),
        ("braces nested", format!("{}a{}", "{".repeat(200), "}".repeat(200))),
        ("a brace of thousands", format!("{{{}}}", "ab,".repeat(4000))),
        ("stars", "*a".repeat(200)),
        ("double stars", "**/".repeat(300) + "x"),
        ("a class of everything", "[\0-\u{10ffff}]".repeat(50)),
        ("question marks", "?".repeat(3000)),
        ("open brackets", "[".repeat(2000)),
        ("a range of numbers", "{1..1000000000}".to_owned()),
        ("very long", "x".repeat(1 << 20)),
    ];
    globs
        .iter()
        .flat_map(|(name, glob)| {
            [
                case(format!("glob: {name}"), "glob", json!({ "pattern": glob }), Expect::Harmless),
                case(
                    format!("grep's glob: {name}"),
                    "grep",
                    json!({ "pattern": "alpha", "glob": glob }),
                    Expect::Harmless,
                ),
            ]
        })
        .chain(costly_regexes().iter().flat_map(|(name, regex)| {
            [
                case(format!("grep: {name}"), "grep", json!({ "pattern": regex }), Expect::Harmless),
                case(
                    format!("grep in several lines: {name}"),
                    "grep",
                    json!({ "pattern": regex, "path": "app/long-line.txt", "multiline": true }),
                    Expect::Harmless,
                ),
            ]
        }))
        .collect()
}

/// Regular expressions that cost time or memory, or that there are none of, by name.
pub(super) fn costly_regexes() -> Vec<(&'static str, String)> {
    vec![
        ("catastrophic elsewhere", "(a+)+$".to_owned()),
        ("catastrophic alternation", "(x|x)*y".to_owned()),
        ("catastrophic on the long line", "(x*)*z".to_owned()),
        ("counted repetition", "(\\w{500}){500}".to_owned()),
        ("counted thrice", "((a{100}){100}){100}".to_owned()),
        ("nested groups", format!("{}a{}", "(".repeat(5000), ")".repeat(5000))),
        ("nested classes", format!("{}a{}", "[".repeat(3000), "]".repeat(3000))),
        ("Unicode classes", "\\p{L}{1000}".to_owned()),
        ("many alternatives", "abcdef|".repeat(1000)),
        ("very long", "y".repeat(1 << 20)),
        ("look-around", "(?<=a)b".to_owned()),
        ("back-reference", "(a)\\1".to_owned()),
    ]
}
