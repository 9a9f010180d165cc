//! `\u00e9` and `é` are one text in JSON: either is found where the file has the other, and the new text is written as the
//! file has its characters.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    sync::LazyLock,
};

use confined_fs::WorkspacePath;
use regex::Regex;

use super::entry::TextEdit;

const JSON_ENDINGS: &str =
    "json jsonc json5 jsonl ndjson geojson webmanifest ipynb arb har topojson map code-workspace";

/// Escapes in a row, or a backslash with what it belongs to.
static ESCAPES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?s)(?:\\u[0-9a-fA-F]{4})+|\\.").ok());

/// `one` with its characters escaped or not as those of the JSON file `text` are; `None` where that makes no difference.
pub(super) fn as_in_file(path: &WorkspacePath, text: &str, one: &TextEdit) -> Option<TextEdit> {
    let ending = path.relative().extension()?.to_str()?.to_ascii_lowercase();
    if !JSON_ENDINGS.split(' ').any(|known| known == ending) || !text.contains("\\u") && !one.old.contains("\\u") {
        return None;
    }
    let other = TextEdit { old: spelled(&one.old, text), new: spelled(&one.new, text), ..one.clone() };
    // A backslash in front makes it another text.
    let is_clear = !other.old.starts_with('\\') || !text.contains(&format!("\\{}", other.old));
    (is_clear && other.old != one.old && other.old != other.new).then_some(other)
}

fn spelled(given: &str, file: &str) -> String {
    let resolved = ESCAPES.as_ref().map_or(given.into(), |escapes| {
        escapes.replace_all(given, |found: &regex::Captures<'_>| {
            let units = found[0].split("\\u").skip(1).map(|digits| u16::from_str_radix(digits, 16));
            let text =
                units.collect::<Result<Vec<u16>, _>>().ok().and_then(|units: Vec<u16>| String::from_utf16(&units).ok());
            // Others cannot be in a string as they are.
            let is_free = |one: char| !one.is_control() && !matches!(one, '"' | '\\');
            text.filter(|text| !text.is_empty() && text.chars().all(is_free)).unwrap_or_else(|| found[0].to_owned())
        })
    });
    let escapes_all = file.is_ascii() && file.contains("\\u");
    let is_in_capitals = |found: regex::Match<'_>| found.as_str().contains(|one: char| one.is_ascii_uppercase());
    let mut escapes = ESCAPES.iter().flat_map(|escapes| escapes.find_iter(file)).filter(|found| found.len() > 5);
    let has_capitals = escapes_all && escapes.any(is_in_capitals);
    // In one pass: the text may have as many different characters as a call holds.
    let lengths = |(at, _)| [6, 12].map(|length| file.get(at..at + length));
    let in_file: HashSet<&str> = file.match_indices("\\u").flat_map(lengths).flatten().collect();
    let mut known: HashMap<char, Option<String>> = HashMap::new();
    let mut spelled = String::with_capacity(given.len());
    for character in resolved.chars() {
        // What programs escape in ASCII are the signs of HTML.
        let escape = known.entry(character).or_insert_with(|| {
            let mut lower = String::new();
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a String does not fail.
                let _ = write!(lower, "\\u{unit:04x}");
            }
            let upper = lower.to_uppercase().replace("\\U", "\\u");
            let may_be = !character.is_ascii() || "<>&'".contains(character);
            let found = [&lower, &upper].into_iter().find(|escape| may_be && in_file.contains(escape.as_str()));
            let other = || if has_capitals { &upper } else { &lower };
            found.or_else(|| (escapes_all && !character.is_ascii()).then(other)).cloned()
        });
        spelled.push_str(escape.as_deref().unwrap_or(character.encode_utf8(&mut [0; 4])));
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::spelled;

    #[test]
    fn text_is_spelled_as_the_file_is() {
        for (given, file, wanted) in [
            ("é😀<", r"\u00e9", r"\u00e9\ud83d\ude00<"),
            ("é ü", r"\u00E9 x", r"\u00E9 \u00FC"),
            (r"\u00e9 \\u00e9 \ud800 \u0022 \u12", "é", r"é \\u00e9 \ud800 \u0022 \u12"),
            (r"\ud83d\ude00", "x", "😀"),
            ("é<", r"ü \u003c", r"é\u003c"),
        ] {
            assert_eq!(spelled(given, file), wanted, "{given}");
        }
    }
}
