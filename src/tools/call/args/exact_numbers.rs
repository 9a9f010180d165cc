//! Numbers as they are spelled in a request.
//!
//! A parser keeps the value of a number and forgets its spelling, so `1.10` sent as the content of a file
//! would be written as `1.1`, and `12345678901234567890123` as `1.2345678901234568e+22`. The arguments of a
//! call are therefore read with every such number as a text; scalars are read leniently after that, so that
//! nothing else changes.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Number;

/// Reads JSON with its numbers as [`quote_numbers`] has them.
///
/// # Errors
/// Those of the parser.
pub(crate) fn parse<T: DeserializeOwned>(json: &str) -> Result<T, serde_json::Error> {
    match quote_numbers(json.as_bytes()) {
        Some(quoted) => serde_json::from_slice(&quoted),
        None => serde_json::from_str(json),
    }
}

/// The JSON text with each number quoted whose value would not be printed as it is spelled; `None` where
/// there is none, as in nearly every text. What is not JSON stays what it is.
pub(crate) fn quote_numbers(json: &[u8]) -> Option<Vec<u8>> {
    let mut quoted: Option<Vec<u8>> = None;
    // Up to where `json` has been copied into `quoted`.
    let (mut copied, mut at) = (0, 0);
    while at < json.len() {
        match json[at] {
            b'"' => at = end_of_string(json, at),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let end = at + json[at..].iter().take_while(|byte| is_part(byte)).count();
                if changes(&json[at..end]) {
                    let out = quoted.get_or_insert_with(|| Vec::with_capacity(json.len() + 16));
                    out.extend_from_slice(&json[copied..at]);
                    out.push(b'"');
                    out.extend_from_slice(&json[at..end]);
                    out.push(b'"');
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    let mut out = quoted?;
    out.extend_from_slice(&json[copied..]);
    Some(out)
}

/// The index after the closing quote of the string that begins at `at`.
fn end_of_string(json: &[u8], at: usize) -> usize {
    let mut here = at + 1;
    loop {
        match json.get(here..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
            None => return json.len(),
            Some(found) if json[here + found] == b'"' => return here + found + 1,
            Some(found) => here += found + 2,
        }
    }
}

/// Whether it is a number of JSON's that would not be printed so.
fn changes(token: &[u8]) -> bool {
    // An integer of the usual length, which is nearly every number.
    if token.len() < 19 && token.iter().all(u8::is_ascii_digit) {
        return false;
    }
    // The grammar alone first: 1e400 is a number that no double holds.
    serde_json::from_slice::<IgnoredAny>(token).is_ok()
        && serde_json::from_slice::<Number>(token).map_or(true, |number| number.to_string().as_bytes() != token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(json: &str) -> Option<String> {
        quote_numbers(json.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn numbers_that_would_be_printed_otherwise_are_quoted() {
        for number in [
            "1.10",
            "1e5",
            "1E+2",
            "-0",
            "1.0e0",
            "12345678901234567890123",
            "-12345678901234567890",
            "1e400",
            "0.10",
            "0.1000000000000000055511151231257827",
            "1e-07",
            "100000000000000000000.0",
        ] {
            let json = format!(r#"{{"a":{number},"b":[{number}, "{number}"]}}"#);
            let expected = format!(r#"{{"a":"{number}","b":["{number}", "{number}"]}}"#);
            assert_eq!(quoted(&json), Some(expected));
        }
    }

    #[test]
    fn other_numbers_and_text_stay_as_they_are() {
        for json in [
            "17",
            "-17",
            "0",
            "1.5",
            "-0.0",
            "1.0",
            "18446744073709551615",
            "-9223372036854775808",
            r#"{"a":"1.10"}"#,
            r#""say \"1.10\" \\""#,
            r#"["\\",2]"#,
            "true",
            "",
            "\"1.10",
            "\"\\",
        ] {
            assert_eq!(quoted(json), None, "{json}");
        }
    }

    #[test]
    fn what_is_no_number_is_not_made_a_text() {
        for json in ["1.", "01", "-", "1.e5", "--1", "1e", "1.10.1"] {
            assert_eq!(quoted(json), None, "{json}");
        }
    }
}
