//! Edits: what is outside the places survives byte for byte, a tolerant step takes no more lines
//! than were given, a unique text is taken as it is, and the diff makes the new text of the old one.

use std::ops::Range;

use confined_fs::Revision;
use encoding_rs::{Encoding, UTF_8};
use file_tools::{Kind, Plan};
use serde_json::{Map, Value, json};
use text_edit::{DiffExtent, EditError, Located, MAX_PLACES, Request, Strategy};
use text_file::{Document, LineEnding, encode};

use super::{World, fields, text, world::context};

/// The file that is changed.
const NAME: &str = "draft";
/// Encodings that the text of an input is written in; the empty label keeps its bytes.
const ENCODINGS: &[&str] = &[
    "",
    "",
    "utf-8",
    "utf-16le",
    "utf-16be",
    "windows-1252",
    "shift_jis",
    "gb18030",
    "big5",
    "euc-kr",
    "windows-1251",
    "koi8-r",
    "euc-jp",
    "iso-8859-2",
    "utf-8",
    "",
];
/// Edits of one call.
const MOST_EDITS: usize = 4;

/// One pair of an input.
#[derive(Debug)]
struct EditPair {
    old: String,
    new: String,
}

/// Reads `input`: four bytes of options and, parted by [`BREAK`](super::BREAK), the file and pairs of
/// old and new text. An option takes the first old text out of the file and damages it, as models do.
///
/// # Panics
/// Where a property does not hold.
pub fn check(world: &World, input: &[u8]) {
    let Some((&[options, how, from, to], rest)) = input.split_first_chunk() else { return };
    let mut fields = fields(rest);
    let file = written(fields.next().unwrap_or_default(), usize::from(options >> 4), options & 4 != 0);
    let Ok(document) = Document::decode(file.clone(), None) else {
        return refused(world, &file);
    };
    assert_eq!(document.bytes(), file, "a file is not what it was read as");

    let mut pairs = Vec::new();
    while pairs.len() < MOST_EDITS
        && let Some(old) = fields.next()
    {
        pairs.push(EditPair { old: text(Some(old)), new: text(fields.next()) });
    }
    let Some(first) = pairs.first_mut() else { return };
    if how & 0x80 != 0 {
        first.old = damaged(document.text(), from, to, how & 0x7f);
    }
    let replace_all = options & 1 != 0;
    let expected = (options & 2 != 0).then_some(1 + usize::from(how & 3));

    let each = expected.filter(|_| pairs.len() == 1);
    let mut now = Some(document.clone());
    for one in &pairs {
        let request = Request { old: &one.old, new: &one.new, replace_all, expected_replacements: each };
        now = now.and_then(|document| one_edit(&document, &request));
    }
    whole_call(world, &file, &document, now.as_ref(), &pairs, replace_all, expected);
}

/// One request on one document: what it makes of it, if anything.
fn one_edit(document: &Document, request: &Request<'_>) -> Option<Document> {
    let text = document.text();
    match text_edit::locate(text, request) {
        Ok(located) => {
            places(text, request, &located);
            let spans: Vec<(Range<usize>, &str)> =
                located.replacements.iter().map(|one| (one.span.clone(), one.text.as_str())).collect();
            let mut expected = text.to_owned();
            for (span, new) in spans.iter().rev() {
                expected.replace_range(span.clone(), new);
            }
            let diff = text_edit::unified_diff("draft", text, &expected, DiffExtent::Full);
            assert_eq!(patched(text, &diff.text), expected, "{}", diff.text);
            let new = document.splice(&spans).ok()?;
            assert_eq!(new.text(), expected, "the bytes do not read as the new text");
            assert_eq!((new.encoding(), new.has_bom()), (document.encoding(), document.has_bom()));
            survives(document, &new, &spans);
            Some(new)
        }
        Err(miss) => {
            missed(text, request, &miss);
            None
        }
    }
}

/// Where a request was found.
fn places(text: &str, request: &Request<'_>, located: &Located) {
    let count = located.replacements.len();
    assert!(count >= 1, "found at no place");
    match request.expected_replacements {
        Some(expected) => assert_eq!(count, expected),
        None => assert!(request.replace_all || count == 1, "{count} places"),
    }
    let mut end = 0;
    for one in &located.replacements {
        let span = one.span.clone();
        assert!(end <= span.start && span.start <= span.end && span.end <= text.len(), "{span:?} after {end}");
        let covered = text.get(span.clone()).expect("a span on character boundaries");
        end = span.end;
        if located.strategy.is_exact() {
            assert_eq!(covered, request.old);
        } else if !located.strategy.has(Strategy::Escapes) {
            // One line of escapes becomes several.
            assert!(breaks(covered) <= breaks(request.old), "{covered:?} for {:?}", request.old);
        }
    }
    if let Some(at) = single(text, request.old)
        && !located.strategy.is_exact()
    {
        assert!(may_be_passed_over(text, at, request), "{:?} is in {text:?} once, but: {located:?}", request.old);
    }
    if located.strategy.is_exact() && !request.new.contains('\n') {
        assert!(located.replacements.iter().all(|one| one.text == request.new), "{located:?}");
    }
}

/// Where `old` is, if that is once and between whole line endings.
fn single(text: &str, old: &str) -> Option<usize> {
    let at = text.find(old).filter(|_| !old.is_empty())?;
    let next = at + text[at..].chars().next()?.len_utf8();
    let alone = !text[next..].contains(old) && !cuts_crlf(text, at) && !cuts_crlf(text, at + old.len());
    alone.then_some(at)
}

/// The two reasons to pass over a text that is there once: further new lines, or what follows the
/// removed ones, would be left with the wrong part of the indentation in front of it; white space
/// that ends its last line would be left as a line of its own.
fn may_be_passed_over(text: &str, at: usize, request: &Request<'_>) -> bool {
    let rest = text[at + request.old.len()..].split('\n').next().unwrap_or_default();
    let trails = !rest.is_empty() && rest.trim().is_empty() && request.new.ends_with('\n');
    text[..at].ends_with([' ', '\t']) || trails
}

/// What the engine says of a text that it did not find as pairs.
fn missed(text: &str, request: &Request<'_>, miss: &EditError) {
    if let Some(at) = single(text, request.old).filter(|_| request.expected_replacements.is_none_or(|count| count == 1))
    {
        assert!(may_be_passed_over(text, at, request), "{:?} is in {text:?} once, but: {miss:?}", request.old);
    }
    match miss {
        EditError::NotFound(diagnosis) => {
            assert!(diagnosis.summary.chars().count() <= 300, "{}", diagnosis.summary);
            assert!(diagnosis.details.len() < 64 << 10, "{} bytes of details", diagnosis.details.len());
        }
        EditError::Ambiguous { places, .. } => {
            assert!((2..=MAX_PLACES).contains(&places.len()) && !request.replace_all, "{} places", places.len());
            let lines = text.matches('\n').count() + 1;
            assert!(places.iter().all(|place| (1..=lines).contains(&place.line)), "{places:?}");
        }
        EditError::Count { places, expected, .. } => {
            assert!(!places.is_empty() && Some(*expected) == request.expected_replacements, "{places:?}");
        }
        EditError::TooMany { .. } => assert!(request.new.len() > 1 << 16, "few bytes are too many"),
    }
}

/// The bytes outside the spans are those of the file.
fn survives(old: &Document, new: &Document, spans: &[(Range<usize>, &str)]) {
    let (Some((first, _)), Some((last, _))) = (spans.first(), spans.last()) else { return };
    let (was, is) = (old.bytes(), new.bytes());
    let mark = if old.has_bom() { Encoding::for_bom(was).map_or(0, |(_, length)| length) } else { 0 };
    assert_eq!(was[..mark], is[..mark], "the mark");
    for (text, from_end) in [(&old.text()[..first.start], false), (&old.text()[last.end..], true)] {
        let Some(length) = byte_length(old, text, from_end, &was[mark..]) else { continue };
        let (kept, found) = if from_end {
            (&was[was.len() - length..], is.get(is.len().saturating_sub(length)..))
        } else {
            (&was[mark..mark + length], is.get(mark..mark + length))
        };
        assert_eq!(Some(kept), found, "bytes outside of {first:?}..{last:?} in {}", old.encoding().name());
    }
}

/// How many bytes at one end of `bytes` stand for `text`; `None` where that is not simple to say.
fn byte_length(document: &Document, text: &str, from_end: bool, bytes: &[u8]) -> Option<usize> {
    let encoding = document.encoding();
    if encoding == UTF_8 && document.had_errors() {
        // Byte for byte from the front, each invalid sequence one U+FFFD.
        let (mut length, mut left) = (0, text);
        let all = String::from_utf8_lossy(bytes);
        let skipped = if from_end { all.len() - text.len() } else { 0 };
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            for character in chunk.valid().chars() {
                if at >= skipped && !left.is_empty() {
                    length += character.len_utf8();
                    left = &left[character.len_utf8()..];
                }
                at += character.len_utf8();
            }
            if !chunk.invalid().is_empty() {
                if at >= skipped && !left.is_empty() {
                    length += chunk.invalid().len();
                    left = &left[char::REPLACEMENT_CHARACTER.len_utf8()..];
                }
                at += char::REPLACEMENT_CHARACTER.len_utf8();
            }
        }
        return Some(length);
    }
    if document.had_errors() {
        return None;
    }
    let written = encode(text, encoding, false, LineEnding::None).ok()?;
    let is_there = if from_end { bytes.ends_with(&written) } else { bytes.starts_with(&written) };
    is_there.then_some(written.len())
}

/// The tool on the file, compared with what the engine made of it.
fn whole_call(
    world: &World,
    file: &[u8],
    before: &Document,
    after: Option<&Document>,
    pairs: &[EditPair],
    replace_all: bool,
    expected: Option<usize>,
) {
    world.put(NAME, file);
    let cx = context(world.scratch());
    let mut arguments = json!({ "path": NAME, "replace_all": replace_all });
    if let [only] = pairs {
        arguments["old_string"] = only.old.clone().into();
        arguments["new_string"] = only.new.clone().into();
    } else {
        arguments["edits"] = pairs.iter().map(|one| json!({ "old_string": one.old, "new_string": one.new })).collect();
    }
    if let Some(expected) = expected {
        arguments["expected_replacements"] = expected.into();
    }
    let entry = world.toolbox().get("edit").expect("one of the tools");
    match entry.plan(&cx, object(arguments)) {
        Ok(Plan::Change(change)) => {
            let preview = change.preview();
            let is_put = pairs.iter().any(|one| one.old.is_empty());
            let Some(after) = after else {
                assert!(is_put, "the tool makes an edit that the engine refuses: {}", preview.diff);
                return;
            };
            assert_eq!(patched(before.text(), &preview.diff), after.text(), "{}", preview.diff);
            let fingerprint = change.fingerprint();
            assert_eq!(fingerprint.content, Some(Revision::of(after.bytes())), "{}", preview.diff);
        }
        Ok(other) => panic!("an edit without a change: {other:?}"),
        Err(error) => {
            let text = error.text();
            assert!(error.kind() != Kind::Internal, "{text}");
            let is_sent = holds(pairs, before, world.host());
            assert!(is_sent || !text.contains(world.host()), "{text:?} shows a host path");
            assert!(text.contains("hint: "), "{text:?} shows no way on");
            let stated = pairs.iter().any(|one| one.old == one.new || one.old.is_empty()) || expected.is_some();
            assert!(after.is_none() || stated, "the tool refuses what the engine makes: {text}");
        }
    }
}

/// Whether a text is in the file or in the call, so that an answer may repeat it.
fn holds(pairs: &[EditPair], document: &Document, text: &str) -> bool {
    document.text().contains(text) || pairs.iter().any(|one| one.old.contains(text) || one.new.contains(text))
}

/// A file that is not text is refused as such.
fn refused(world: &World, file: &[u8]) {
    world.put(NAME, file);
    let entry = world.toolbox().get("edit").expect("one of the tools");
    let arguments = json!({ "path": NAME, "old_string": "a", "new_string": "b" });
    match entry.plan(&context(world.scratch()), object(arguments)) {
        Err(error) => assert_eq!(error.kind(), Kind::Binary, "{}", error.text()),
        Ok(plan) => panic!("a binary file was edited: {plan:?}"),
    }
}

/// The bytes of the file: `field` as it is, or its text in an encoding.
fn written(field: &[u8], encoding: usize, bom: bool) -> Vec<u8> {
    let label = ENCODINGS[encoding % ENCODINGS.len()];
    let Some(encoding) = Encoding::for_label(label.as_bytes()) else { return field.to_vec() };
    let text = String::from_utf8_lossy(field);
    encode(&text, encoding, bom, LineEnding::None).unwrap_or_else(|_| field.to_vec())
}

/// A part of `text`, from and to a share of its lines or characters, as a model may give it back.
fn damaged(text: &str, from: u8, to: u8, how: u8) -> String {
    let ends: Vec<usize> = if how & 0x40 == 0 {
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).chain([text.len()]).collect()
    } else {
        text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
    };
    let at = |share: u8| ends[usize::from(share) * (ends.len() - 1) / 255];
    let (one, other) = (at(from).min(at(to)), at(from).max(at(to)));
    let part = &text[one..other];
    let lines = |change: &dyn Fn(usize, &str) -> String| {
        part.split('\n').enumerate().map(|(number, line)| change(number, line)).collect::<Vec<_>>().join("\n")
    };
    match how & 0x0f {
        0 => part.replace("\r\n", "\n"),
        1 => lines(&|_, line| line.trim_end().to_owned()),
        2 => lines(&|_, line| format!("    {line}")),
        3 => part.replace(['“', '”'], "\"").replace(['‘', '’'], "'").replace('\u{a0}', " ").replace('–', "-"),
        4 => part.replace('\n', "\\n").replace('\t', "\\t").replace('"', "\\\""),
        5 => lines(&|number, line| format!("{:>6}\t{line}", number + 1)),
        6 => lines(&|_, line| line.trim_start().to_owned()),
        7 => lines(&|_, line| line.replace('\t', "    ")),
        8 => lines(&|_, line| line.replace("    ", "\t")),
        9 => part.replace('e', ""),
        10 => part.replace('\n', "\r\n"),
        11 => part.trim_end_matches('\n').to_owned(),
        12 => lines(&|number, line| if number == 1 { format!("{line}x") } else { line.to_owned() }),
        _ => part.to_owned(),
    }
}

/// Line breaks of any kind.
fn breaks(text: &str) -> usize {
    text.matches('\n').count()
}

fn cuts_crlf(text: &str, at: usize) -> bool {
    text[..at].ends_with('\r') && text[at..].starts_with('\n')
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

/// What `patch` makes of `old`, for a diff that applies where it says.
///
/// # Panics
/// Where a line of the diff is not in `old`.
pub fn patched(old: &str, diff: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut at, mut result) = (0, String::new());
    let lines: Vec<&str> = diff.split_inclusive('\n').skip(2).collect();
    for (index, line) in lines.iter().enumerate() {
        let is_unterminated = lines.get(index + 1).is_some_and(|next| next.starts_with('\\'));
        let content = if is_unterminated { &line[1..line.len() - 1] } else { &line[1..] };
        match line.as_bytes()[0] {
            b'@' => {
                let range = line.split(['-', ' ']).nth(2).expect("a range");
                let (start, length) = range.split_once(',').unwrap_or((range, "1"));
                let start = start.parse::<usize>().expect("a line") - usize::from(length != "0");
                result.extend(old[at..start].iter().copied());
                at = start;
            }
            b'+' => result.push_str(content),
            b'\\' => {}
            sign => {
                assert_eq!(old[at], content, "a line of the diff that is not in the file");
                at += 1;
                if sign == b' ' {
                    result.push_str(content);
                }
            }
        }
    }
    result.extend(old[at..].iter().copied());
    result
}
