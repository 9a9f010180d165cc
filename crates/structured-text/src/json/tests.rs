//! Texts in each dialect, whole and damaged, beside what `serde_json` and `jsonc-parser` say of them.

use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::*;

fn error(text: &str, dialect: JsonDialect) -> Option<(usize, String)> {
    check(text, dialect).error.map(|fault| (fault.at, fault.message))
}

#[test]
fn valid_texts_pass() {
    for text in [
        "",
        " \n",
        "1",
        "-0",
        "1e999",
        "0.1E-7",
        "\"\"",
        "null",
        "[]",
        "{}",
        "[[],{}]",
        "{\"a\":[1,{\"b\":2}]}",
        "\"\\ud800 \\u00e9\\/\"",
        "\u{feff}{}",
        "\r\n{\r\n\"é\": \"日本\"}\r\n",
        "123456789012345678901234567890",
        "{\"//\": 1, \"//\": 2}",
    ] {
        assert_eq!(check(text, JsonDialect::Json).error, None, "{text:?}");
        assert_eq!(check(text, JsonDialect::Json).warnings, [], "{text:?}");
    }
    for text in ["// a\n{/* b */\"a\": [1, 2,],}//", "[\n// x\n]", "/**/1", "{\"a\":1 // é\r\n}"] {
        assert_eq!(check(text, JsonDialect::Jsonc).error, None, "{text:?}");
        assert!(check(text, JsonDialect::Json).error.is_some(), "{text:?}");
    }
    for text in ["{a: 'b\\'', $c: +.5, 'd': 5., e: 0xFF, f: -Infinity, ünï: NaN}", "'a\\\nb\\\r\nc\\x'", "\u{a0}1"] {
        assert_eq!(check(text, JsonDialect::Json5).error, None, "{text:?}");
        assert!(check(text, JsonDialect::Jsonc).error.is_some(), "{text:?}");
    }
}

#[test]
fn first_error_is_named_at_its_place() {
    for (text, at, message) in [
        ("{\"a\": 1\n \"b\": 2}", 9, "expected `,` or `}`"),
        ("[1 2]", 3, "expected `,` or `]`"),
        ("1\u{2}", 1, "expected the end of the file: the JSON value before is complete"),
        ("[1,]", 2, "trailing comma before `]`"),
        ("{\"a\": 1,\n}", 7, "trailing comma before `}`"),
        ("{,}", 1, "expected a key, found `,`"),
        ("[1,,2]", 3, "expected a value, found `,`"),
        ("{a: 1}", 1, "expected a key in double quotes"),
        ("{'a': 1}", 1, "expected double quotes around a string"),
        ("{\"a\" 1}", 5, "expected `:` after the key"),
        ("{\"a\": }", 6, "expected a value, found `}`"),
        ("{\"a\": True}", 6, "expected a value, found `True`"),
        ("[undefined]", 1, "expected a value, found `undefined`"),
        ("[01]", 1, "`01` is no JSON number"),
        ("[1.]", 1, "`1.` is no JSON number"),
        ("[+1]", 1, "`+1` is no JSON number"),
        ("[\"a\nb\"]", 1, "the string is not closed in its line"),
        ("[\"a\tb\"]", 3, "control character in a string: write it as \\u0009"),
        ("[\"\\x\"]", 2, "unknown escape `\\x`"),
        ("[\"\\u12g4\"]", 2, "expected four hexadecimal digits after `\\u`"),
        ("// a\n1", 0, "comments are not allowed in JSON"),
        ("{\n\"a\": [1\n}", 10, "`}` does not close the `[` of line 2"),
        ("{}}", 2, "`}` closes nothing"),
        ("{} {}", 3, "expected the end of the file: the JSON value before is complete"),
        ("{\n\"a\": 1\n", 9, "expected `}`: the `{` of line 1 is not closed"),
        ("{\"a\":", 5, "expected `}`: the `{` of line 1 is not closed"),
    ] {
        assert_eq!(error(text, JsonDialect::Json), Some((at, message.to_owned())), "{text:?}");
    }
    assert_eq!(error("{} /* a", JsonDialect::Jsonc), Some((3, "the comment is not closed".to_owned())));
}

#[test]
fn key_that_occurs_twice_in_one_object_is_a_warning() {
    let warnings = check("{\"a\": {\"a\": 1}, \"b\": {\"a\": 1},\n\"a\": 2}", JsonDialect::Json).warnings;
    assert_eq!(warnings, [SyntaxError::new(31, "duplicate key `a`")]);
}

#[test]
fn each_line_of_json_lines_is_a_text() {
    let faults = check_lines("{}\n{]\r\n\n[1\n2\n").warnings;
    assert_eq!(faults.iter().map(|fault| fault.at).collect::<Vec<_>>(), [4, 10]);
}

#[test]
fn deep_nesting_needs_no_stack() {
    let text = "[{\"a\":".repeat(100_000);
    assert!(check(&text, JsonDialect::Json).error.is_some());
    let text = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(check(&text, JsonDialect::Json).error, None);
}

/// Pieces of JSON, so that most texts are nearly valid.
fn pieces() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\\n\"", "1", "-2.5e3", "true", "null", " ", "\n", "// x\n",
        "/* y */", "'c'", "é", "\\", "\"", "0", ".", "+", "\t", "nul", "\u{2}", "\u{feff}",
    ];
    let piece = prop_oneof![9 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => ".{0,4}"];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn accepts_what_serde_json_accepts(text in pieces()) {
        let plain = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let expected = plain.trim_matches([' ', '\n', '\t', '\r']).is_empty()
            || serde_json::from_str::<IgnoredAny>(plain).is_ok();
        prop_assert_eq!(check(&text, JsonDialect::Json).error.is_none(), expected, "{:?}", text);
    }

    #[test]
    fn each_dialect_accepts_what_a_smaller_one_does(text in pieces()) {
        let accepts = |dialect| check(&text, dialect).error.is_none();
        prop_assert!(!accepts(JsonDialect::Json) || accepts(JsonDialect::Jsonc), "{text:?}");
        prop_assert!(!accepts(JsonDialect::Jsonc) || accepts(JsonDialect::Json5), "{text:?}");
        if accepts(JsonDialect::Jsonc) {
            let plain = text.strip_prefix('\u{feff}').unwrap_or(&text);
            let options = jsonc_parser::ParseOptions::default();
            prop_assert!(jsonc_parser::parse_to_value(plain, &options).is_ok(), "{:?}", text);
        }
    }
}
