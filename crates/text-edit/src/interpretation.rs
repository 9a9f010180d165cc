//! Every way in which a request may have been meant: what a client or a model put around the text or made of its
//! characters is taken off, one kind of damage after the other. And the lines of such a text, compared once.

use std::{ops::Range, time::Duration};

use similar::DiffOp;

use crate::{Strategies, Strategy, diff, line_parts::has_letters, typography};

/// Interpretations of which no further ones are made: four kinds of damage on top of one another are rare.
const MAX_INTERPRETATIONS: usize = 64;

/// The old and the new text of a request without one kind of damage, in each way in which it may be meant, and whether only
/// a place with the same indentation shows that.
type RemoveDamage = fn(&str, &str) -> Vec<(String, String, bool)>;

/// The kinds of damage, in the order in which they are taken off.
const DAMAGE_KINDS: [(Strategy, RemoveDamage); 3] = [
    (Strategy::LineNumbers, without_gutter),
    (Strategy::Entities, without_entities),
    (Strategy::Escapes, without_escapes),
];

/// The texts of a request as it may have been meant; lines end with LF only.
pub(super) struct Interpretation {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) by: Strategies,
    /// Whether only a place with the same indentation shows that it was meant so.
    pub(super) is_doubtful: bool,
}

impl Interpretation {
    /// Every one of a request: each damage taken off, and those that are below it.
    pub(super) fn all(given: Self) -> Vec<Self> {
        let mut all = vec![given];
        let mut at = 0;
        while at < all.len() && all.len() < MAX_INTERPRETATIONS {
            let one = &all[at];
            let mut found = Vec::new();
            for (strategy, take_off) in DAMAGE_KINDS.iter().filter(|(strategy, _)| !one.by.has(*strategy)) {
                found.extend(take_off(&one.old, &one.new).into_iter().map(|(old, new, is_doubtful)| Self {
                    old,
                    new,
                    by: one.by.with(*strategy),
                    is_doubtful: one.is_doubtful || is_doubtful,
                }));
            }
            for one in found {
                if all.iter().all(|known| (&known.old, &known.new) != (&one.old, &one.new)) {
                    all.push(one);
                }
            }
            at += 1;
        }
        all
    }

    /// The request as whole lines; `None` where it cannot be taken as such, or its new text is unclear.
    pub(super) fn edit(&self) -> Option<LineEdit<'_>> {
        if brings_in_quotes(&self.old, &self.new) { None } else { LineEdit::new(&self.old, &self.new) }
    }

    /// Whether it is likely enough for the steps that look for what is nearly the same.
    pub(super) fn is_likely(&self) -> bool {
        let likely = [Strategy::Exact, Strategy::LineNumbers, Strategy::Entities];
        !self.is_doubtful && likely.iter().any(|only| self.by == *only)
    }
}

/// Time for the diff of old against new lines; beyond it the diff is coarser, which only keeps fewer lines.
const DIFF_TIME: Duration = Duration::from_millis(100);

pub(super) struct LineEdit<'r> {
    pub(super) old: Vec<&'r str>,
    pub(super) new: Vec<&'r str>,
    ops: Vec<DiffOp>,
    pub(super) deletes: bool,
}

/// Changed lines: what `old` has, what the file has there, what `new` wants.
pub(super) struct Hunk<'h> {
    pub(super) old: &'h [&'h str],
    pub(super) file: &'h [&'h str],
    pub(super) new: &'h [&'h str],
}

impl<'r> LineEdit<'r> {
    /// Splits `old` and `new`, which end lines with LF only.
    ///
    /// `None` where they cannot be taken as lines: nothing but white space, or a final newline in only one of
    /// them, which would join two lines or part them by an empty one; that is meant so rarely, and slipped in so
    /// often, that only an exact match does it.
    pub(super) fn new(old: &'r str, new: &'r str) -> Option<Self> {
        if old.trim().is_empty() {
            return None;
        }
        let deletes = old.ends_with('\n') && new.is_empty();
        let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
            (Some(old), Some(new)) => (old, new),
            (Some(old), None) if deletes => (old, new),
            (None, None) => (old, new),
            (Some(_), None) | (None, Some(_)) => return None,
        };
        let old: Vec<&str> = old.split('\n').collect();
        let new: Vec<&str> = if deletes { Vec::new() } else { new.split('\n').collect() };
        Some(Self::of_lines(old, new, deletes))
    }

    /// The request of these lines; `deletes`: they go altogether.
    pub(super) fn of_lines(old: Vec<&'r str>, new: Vec<&'r str>, deletes: bool) -> Self {
        Self { ops: diff::ops(&old, &new, DIFF_TIME), old, new, deletes }
    }

    /// Whether there is enough to recognise: a lone brace is no description of a place.
    pub(super) fn has_substance(&self) -> bool {
        has_letters(self.old.iter().copied(), 3)
    }

    /// Runs of lines that `old` and `new` share and those that differ, as ranges into both.
    pub(super) fn changes(&self) -> impl Iterator<Item = (bool, Range<usize>, Range<usize>)> + '_ {
        self.ops.iter().map(|op| (matches!(op, DiffOp::Equal { .. }), op.old_range(), op.new_range()))
    }
}

/// Delimiters between the number and the text of a line-number gutter that was pasted along with the text; each line has one of the same group.
const GUTTER_DELIMITERS: [Delimiter; 8] = [&["\t"], &["→"], &[": "], &[":"], &[" | "], &["| "], &["|"], &[":", "-"]];

type Delimiter = &'static [&'static str];

/// Those that no text has after a number at its start; a single line with another one proves nothing, since
/// `3: x` is also a line of YAML.
const SURE_DELIMITERS: [Delimiter; 2] = [&["\t"], &["→"]];

/// The texts without their gutter, for each that they may have.
///
/// `read` prints `1<tab>text`, `cat -n` pads the number to six columns, Claude Code prints `  12→text`
/// (<https://github.com/anthropics/claude-code/issues/37403>), `grep` `12:text` for a match and `13-text` for a line
/// around one, other tools `12: text`. A gutter is one only when every line has it and the numbers count up by one.
fn without_gutter(old: &str, new: &str) -> Vec<(String, String, bool)> {
    let mut longer: Vec<&str> = Vec::new();
    let mut known: Option<String> = None;
    let stripped = GUTTER_DELIMITERS.iter().filter_map(|delimiter| {
        let old = strip(old, delimiter).filter(|old| known.as_ref() != Some(old))?;
        known = Some(old.clone());
        // Where `: ` fits all lines, `:` is likely in front of text that is indented, and then the indentation is unknown.
        let is_doubtful = longer.iter().any(|longer| delimiter.iter().any(|delimiter| longer.contains(delimiter)));
        longer.extend(*delimiter);
        let new = strip_new(new, delimiter)?;
        let is_single = !old.strip_suffix('\n').unwrap_or(&old).contains('\n');
        let is_sure = !is_single || SURE_DELIMITERS.contains(delimiter);
        is_sure.then_some((old, new, is_doubtful))
    });
    stripped.collect()
}

fn strip(text: &str, delimiter: Delimiter) -> Option<String> {
    let mut next = None;
    map_lines(text, |line| {
        let (number, rest) = numbered(line, delimiter)?;
        let counts = next.is_none_or(|next| next == number);
        next = number.checked_add(1);
        counts.then_some(rest)
    })
}

/// New text may have a gutter as well, whatever its numbers, or none at all. Of lines of both kinds nobody
/// knows which are meant.
fn strip_new(text: &str, delimiter: Delimiter) -> Option<String> {
    let has_gutter = |line: &str| numbered(line, delimiter).is_some();
    if !text.lines().any(|line| !line.trim().is_empty() && has_gutter(line)) {
        return Some(text.to_owned());
    }
    map_lines(text, |line| match numbered(line, delimiter) {
        Some((_, rest)) => Some(rest),
        None => line.trim().is_empty().then_some(""),
    })
}

pub(crate) fn after_delimiter(rest: &str) -> Option<&str> {
    GUTTER_DELIMITERS.iter().copied().flatten().find_map(|delimiter| rest.strip_prefix(delimiter))
}

/// The text with each line but the empty one after a final newline replaced; `None` where one cannot be.
fn map_lines<'t>(text: &'t str, mut replaced: impl FnMut(&'t str) -> Option<&'t str>) -> Option<String> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let lines = body.split('\n').map(&mut replaced).collect::<Option<Vec<&str>>>()?;
    Some(lines.join("\n") + &text[body.len()..])
}

/// Number and text of a line with a gutter. After the number of an empty line everything may be lost.
fn numbered(line: &str, delimiter: Delimiter) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.len() - line.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let number = line[..digits].parse().ok()?;
    let rest = &line[digits..];
    match delimiter.iter().find_map(|delimiter| rest.strip_prefix(delimiter)) {
        Some(text) => Some((number, text)),
        None => rest.trim_end().is_empty().then_some((number, "")),
    }
}

/// The characters that are written as entities, and how.
const ENTITY_NAMES: [(char, &[&str]); 5] = [
    ('<', &["&lt;", "&#60;", "&#x3c;", "&#x3C;"]),
    ('>', &["&gt;", "&#62;", "&#x3e;", "&#x3E;"]),
    ('"', &["&quot;", "&#34;", "&#x22;"]),
    ('\'', &["&#39;", "&apos;", "&#x27;", "&#039;"]),
    ('&', &["&amp;", "&#38;", "&#x26;"]),
];

/// The texts with their HTML entities resolved (`a &lt; b &amp;&amp; c` for `a < b && c`); empty without entities, and where
/// it is unclear which are meant literally.
///
/// A kind of entity counts only when `old` has no such character as it is; a file that has the entities itself is
/// found as it is, or with `&amp;lt;` for them.
fn without_entities(old: &str, new: &str) -> Vec<(String, String, bool)> {
    let (old_entities, old_plain) = present(old);
    let (new_entities, new_plain) = present(new);
    // What only the new text has as entities was escaped alike, unless it has such characters, or others that the old one
    // has as entities, as they are.
    let is_mixed = new_entities.contains(&true);
    let is_unclear = |kind: usize| {
        let (is_escaped, is_plain) = (old_entities[kind] || new_entities[kind], old_plain[kind] || new_plain[kind]);
        old_entities[kind] && old_plain[kind] || is_mixed && is_escaped && is_plain
    };
    if !old_entities.contains(&true) || (0..ENTITY_NAMES.len()).any(is_unclear) {
        return Vec::new();
    }
    vec![(resolve_entities(old), resolve_entities(new), false)]
}

/// The entity that `text` begins with: its kind and length.
fn entity(text: &str) -> Option<(usize, usize)> {
    ENTITY_NAMES.iter().enumerate().find_map(|(kind, (_, spellings))| {
        let spelling = spellings.iter().find(|spelling| text.starts_with(**spelling))?;
        Some((kind, spelling.len()))
    })
}

/// Which kinds a text has as entities, and which as they are. An ampersand that begins another entity is not a plain one.
fn present(text: &str) -> ([bool; ENTITY_NAMES.len()], [bool; ENTITY_NAMES.len()]) {
    let (mut entities, mut plain) = ([false; ENTITY_NAMES.len()], [false; ENTITY_NAMES.len()]);
    for (at, character) in text.char_indices() {
        let Some(kind) = ENTITY_NAMES.iter().position(|(known, _)| *known == character) else { continue };
        match entity(&text[at..]).filter(|_| character == '&') {
            Some((kind, _)) => entities[kind] = true,
            None => plain[kind] = true,
        }
    }
    (entities, plain)
}

pub(crate) fn resolve_entities(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        result.push_str(&rest[..at]);
        let (character, len) = entity(&rest[at..]).map_or(('&', 1), |(kind, len)| (ENTITY_NAMES[kind].0, len));
        result.push(character);
        rest = &rest[at + len..];
    }
    result + rest
}

/// Escapes and what they mean. The backslash itself comes last: it decides how the others are read.
const ESCAPE_CHARS: [(char, &str); 5] = [('n', "\n"), ('t', "\t"), ('"', "\""), ('\'', "'"), ('\\', "\\")];

/// The texts with their escapes resolved, in each way that is possible: `\n`, `\t` and quotes spelled out with a backslash,
/// as after escaping once too often.
///
/// A kind of escape counts only when `old` has no such character as it is. Which kinds were escaped too often
/// is found by trying; more than one that fits is no match.
fn without_escapes(old: &str, new: &str) -> Vec<(String, String, bool)> {
    let Some(new) = resolve_brought_in(old, new) else { return Vec::new() };
    let present: Vec<usize> =
        (0..ESCAPE_CHARS.len()).filter(|kind| is_over_escaped(old, ESCAPE_CHARS[*kind])).collect();
    // All escapes of the text are the likeliest interpretation, but every other is tried too.
    let all = (1_u32..1 << present.len()).rev().filter_map(|bits| {
        let chosen = present.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        let kinds: Vec<(char, &str)> = chosen.map(|(_, kind)| ESCAPE_CHARS[*kind]).collect();
        // A resolved backslash alone changes too little to tell one interpretation from another.
        if kinds == [('\\', "\\")] {
            return None;
        }
        Some((resolve_escapes(old, &kinds), resolve_new(&new, &kinds)?, kinds.len() < present.len()))
    });
    all.collect()
}

/// Whether `new` has double quotes, all of them escaped, of which the lines of `old` say nothing: where those are damaged
/// otherwise, the quotes may be, too.
pub(crate) fn brings_in_quotes(old: &str, new: &str) -> bool {
    let has_none = |text: &str| !text.contains('"') && !escapes(text).contains(&'"');
    has_none(old) && is_over_escaped(new, ('"', "\""))
}

/// The characters of `text`, a backslash together with the one after it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let count = if rest.starts_with('\\') { 2 } else { 1 };
        let piece;
        (piece, rest) = rest.split_at(rest.chars().take(count).map(char::len_utf8).sum());
        (!piece.is_empty()).then_some(piece)
    })
}

/// The letter of a piece that is an escape; a plain quote for a curly one.
fn escape(piece: &str) -> Option<char> {
    let letter = piece.strip_prefix('\\')?.chars().next()?;
    let quote = typography::plain(letter).filter(|plain| matches!(*plain, "\"" | "'"));
    Some(quote.and_then(|plain| plain.chars().next()).unwrap_or(letter))
}

fn escapes(text: &str) -> Vec<char> {
    pieces(text).filter_map(escape).collect()
}

/// `new` with those escapes resolved that `old` has none of, so that it says nothing about them; `None` where nobody
/// can tell. Only tabs that indent a line and double quotes outside of quotes are sure.
fn resolve_brought_in(old: &str, new: &str) -> Option<String> {
    let seen = escapes(old);
    let brought_in: Vec<char> = escapes(new).into_iter().filter(|letter| !seen.contains(letter)).collect();
    let mut new = new.to_owned();
    if brought_in.contains(&'"') {
        if new.replace("\\\"", "").contains(['"', '\'', '`']) {
            return None;
        }
        new = resolve_escapes(&new, &[('"', "\"")]);
    }
    if brought_in.contains(&'t') {
        new = with_indenting_tabs(&new);
        if escapes(&new).contains(&'t') {
            return None;
        }
    }
    // One that the file's own text has as well may be meant literally.
    if brought_in.iter().any(|letter| matches!(letter, 'n' | '\'' | '\\')) { None } else { Some(new) }
}

/// `text` with each `\t` resolved that has only white space before it in its line.
fn with_indenting_tabs(text: &str) -> String {
    let mut indents = true;
    let resolved = pieces(text).map(|piece| {
        let is_tab = indents && piece == "\\t";
        indents = is_tab || matches!(piece, "\n" | "\\n") || indents && piece.trim().is_empty();
        if is_tab { "\t" } else { piece }
    });
    resolved.collect()
}

/// Whether `text` has an escape of this kind and not a single such character as it is.
fn is_over_escaped(text: &str, (letter, character): (char, &str)) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let has_plain = || pieces(body).any(|piece| !piece.starts_with('\\') && piece == character);
    pieces(body).any(|piece| escape(piece) == Some(letter)) && !has_plain()
}

fn resolve_escapes(text: &str, kinds: &[(char, &str)]) -> String {
    let meant = |piece| kinds.iter().find(|(letter, _)| escape(piece) == Some(*letter));
    // A curly quote stays one.
    let character = |piece| match meant(piece) {
        None => piece,
        Some(('"' | '\'', _)) => &piece[1..],
        Some((_, character)) => character,
    };
    pieces(text).map(character).collect()
}

/// New text is resolved likewise where it was escaped likewise; where it has such a character both ways, nobody
/// knows which is meant.
fn resolve_new(text: &str, kinds: &[(char, &str)]) -> Option<String> {
    let mut over_escaped = Vec::new();
    for kind in kinds {
        let is_escaped = text.contains(&format!("\\{}", kind.0)) || escapes(text).contains(&kind.0);
        let is_plain = kind.0 != '\\' && text.strip_suffix('\n').unwrap_or(text).contains(kind.1);
        if is_escaped && !is_over_escaped(text, *kind) && is_plain {
            return None;
        }
        if is_escaped {
            over_escaped.push(*kind);
        }
    }
    Some(resolve_escapes(text, &over_escaped))
}

#[cfg(test)]
mod tests {
    use crate::{
        Strategy::{Entities, Escapes, Exact, Indentation, LineNumbers},
        testing::{assert_ambiguous, assert_edited, assert_missed},
    };

    const SAMPLE_FILE: &str = "use std::fs;\n\nfn main() {\n    run();\n}\n";

    #[test]
    fn the_gutter_of_read_is_taken_off_old_and_new() {
        let old = "     3\tfn main() {\n     4\t    run();\n     5\t}\n";
        let expected = "use std::fs;\n\nfn main() {\n    stop();\n}\n";
        assert_edited(SAMPLE_FILE, old, &old.replace("run", "stop"), LineNumbers, expected);
        assert_edited(SAMPLE_FILE, old, "fn main() {\n    stop();\n}\n", LineNumbers, expected);
    }

    #[test]
    fn other_gutters_are_known_and_an_empty_line_may_lack_its_delimiter() {
        assert_edited(
            SAMPLE_FILE,
            "1→use std::fs;\n2\n3→fn main() {",
            "1→use std::io;\n2\n3→fn main() {",
            LineNumbers,
            &SAMPLE_FILE.replace("fs", "io"),
        );
        assert_edited(
            SAMPLE_FILE,
            "3: fn main() {\n4:     run();",
            "3: fn main() {\n4:     go();",
            LineNumbers,
            &SAMPLE_FILE.replace("run", "go"),
        );
    }

    #[test]
    fn flush_left_gutter_of_read_is_taken_off() {
        let old = "3\tfn main() {\n4\t    run();\n5\t}\n";
        let expected = "use std::fs;\n\nfn main() {\n    stop();\n}\n";
        assert_edited(SAMPLE_FILE, old, &old.replace("run", "stop"), LineNumbers, expected);
        assert_edited(
            SAMPLE_FILE,
            "1\tuse std::fs;\n2\t",
            "1\tuse std::io;\n2\t",
            LineNumbers,
            &SAMPLE_FILE.replace("fs", "io"),
        );
    }

    #[test]
    fn gutter_of_grep_has_two_delimiters_and_keeps_indentation() {
        let old = "2-\n3-fn main() {\n4:    run();\n5-}";
        assert_edited(
            SAMPLE_FILE,
            old,
            "\nfn main() {\n    stop();\n}",
            LineNumbers,
            &SAMPLE_FILE.replace("run", "stop"),
        );
        assert_edited(SAMPLE_FILE, old, &old.replace("run", "go"), LineNumbers, &SAMPLE_FILE.replace("run", "go"));
        assert_edited(
            SAMPLE_FILE,
            "4:    run();\n5:}",
            "4:    go();\n5:}",
            LineNumbers,
            &SAMPLE_FILE.replace("run", "go"),
        );
        assert_edited(SAMPLE_FILE, "4-    run();\n5-}", "    go();\n}", LineNumbers, &SAMPLE_FILE.replace("run", "go"));
        assert_missed(SAMPLE_FILE, "4-    run();", "    go();");
        assert_missed(SAMPLE_FILE, "3-fn main() {\n--\n5:}", "x");
    }

    #[test]
    fn numbers_that_do_not_count_up_are_no_gutter() {
        assert_missed(SAMPLE_FILE, "3\tfn main() {\n9\t    run();\n", "x\n");
        assert_missed(SAMPLE_FILE, "3\tfn main() {\n    run();\n", "x\n");
    }

    #[test]
    fn new_text_with_a_gutter_in_some_lines_is_refused() {
        assert_missed(SAMPLE_FILE, "3\tfn main() {\n4\t    run();\n", "3\tfn main() {\n    go();\n");
    }

    #[test]
    fn a_single_line_with_a_number_and_a_colon_proves_nothing() {
        assert_missed("alpha beta\n", "1: alpha beta", "1: gamma");
        assert_edited("alpha beta\n", "     1\talpha beta", "     1\tgamma", LineNumbers, "gamma\n");
    }

    #[test]
    fn a_single_line_without_its_indentation_takes_no_lines_that_may_lack_theirs() {
        assert_missed("if x:\n    alpha()\n\n", "2\talpha()\n3\t", "2\talpha()\n3\tbeta()\n4\t");
        let text = "if x:\n    alpha()\n\nend\n";
        assert_edited(text, "2\talpha()\n3\t\n", "2\t\n", LineNumbers, "if x:\n\nend\n");
    }

    #[test]
    fn a_blank_line_that_is_only_a_number_is_blank() {
        let text = "x\n\n  fn one() {\n  }\n\ny\n";
        let new = "2: \n3:   fn one() {\n4:   }\n5: \n6: \n7:   fn two();";
        assert_missed(text, "2: \n3:   fn one() {\n4:   }\n5: ", new);
        assert_edited(
            text,
            "2: \n3:   fn one() {\n4:   }\n5: \n",
            &format!("{new}\n"),
            LineNumbers,
            "x\n\n  fn one() {\n  }\n\n\n  fn two();\ny\n",
        );
    }

    #[test]
    fn two_places_are_ambiguous() {
        assert_eq!(assert_ambiguous("foo1\nbar\nfoo1\nbar\n", "1\tfoo1\n2\tbar\n", "x\n"), [1, 3]);
    }

    #[test]
    fn entities_in_old_and_new_are_resolved() {
        assert_edited(
            "if (a < b && c) {\n    f(\"x\", 'y');\n}\n",
            "if (a &lt; b &amp;&amp; c) {\n    f(&quot;x&quot;, &#39;y&#39;);\n}\n",
            "if (a &gt; b &amp;&amp; c) {\n    f(&quot;z&quot;, &#39;y&#39;);\n}\n",
            Entities,
            "if (a > b && c) {\n    f(\"z\", 'y');\n}\n",
        );
        assert_edited("x: Vec<u8>,\n", "x: Vec&lt;u8&gt;,", "x: Vec<u16>,", Entities, "x: Vec<u16>,\n");
    }

    #[test]
    fn entities_that_the_file_has_are_kept() {
        let html = "<b>a &lt; b</b>\n<i>c</i>\n";
        assert_edited(html, "a &lt; b", "a &gt; b", Exact, &html.replace("&lt;", "&gt;"));
        assert_edited(
            html,
            "&lt;b&gt;a &amp;lt; b&lt;/b&gt;\n",
            "&lt;b&gt;a &amp;gt; b&lt;/b&gt;\n",
            Entities,
            &html.replace("&lt;", "&gt;"),
        );
    }

    #[test]
    fn characters_in_both_forms_are_unclear() {
        assert_missed("if a < b or c < d:\n", "if a &lt; b or c < d:\n", "if x:\n");
        assert_missed("if alpha < beta:\n", "if alpha &lt; beta:\n", "if alpha < 3 or beta &lt; 4:\n");
        assert_missed("if alpha < \"b\":\n", "if alpha &lt; \"b\":\n", "if alpha &lt; &quot;c&quot;:\n");
        // The new text is HTML as it is, only the old one was escaped.
        let html = "<b>a &amp; b</b>\n<i>c</i>\n";
        assert_missed(html, "&lt;b&gt;a &amp;amp; b&lt;/b&gt;\n", "<b>a &amp; c</b>\n");
    }

    #[test]
    fn entities_come_with_other_damages() {
        let file = "fn f() {\n    if alpha < beta {\n        go();\n    }\n}\n";
        assert_edited(
            file,
            "if alpha &lt; beta {\n    go();\n}\n",
            "if alpha &lt; beta {\n    go();\n    stop(&amp;x);\n}\n",
            Indentation,
            &file.replace("go();\n", "go();\n        stop(&x);\n"),
        );
        assert_edited(
            file,
            "2\t    if alpha &lt; beta {\n3\t        go();\n",
            "2\t    if alpha &gt; beta {\n3\t        go();\n",
            LineNumbers,
            &file.replace('<', ">"),
        );
    }

    #[test]
    fn escapes_are_resolved_in_old_and_new() {
        assert_edited(
            "fn f() {\n\trun();\n}\n",
            r"fn f() {\n\trun();\n}",
            r"fn f() {\n\tgo();\n}",
            Escapes,
            "fn f() {\n\tgo();\n}\n",
        );
        assert_edited(
            "    say(\"hello\");\n",
            r#"say(\"hello\");"#,
            r#"say(\"bye\");"#,
            Escapes,
            "    say(\"bye\");\n",
        );
        assert_edited(
            "    say(\"hello\");\n",
            r#"    say(\"hello\");"#,
            "    say(\"bye\");",
            Escapes,
            "    say(\"bye\");\n",
        );
    }

    #[test]
    fn escapes_that_the_file_has_are_kept() {
        assert_edited(
            "print(\"one\\n\")\n",
            r#"print(\"one\n\")"#,
            r#"print(\"two\n\")"#,
            Escapes,
            "print(\"two\\n\")\n",
        );
        assert_edited(
            "print(\"one\\n\")\n",
            r#"print(\"one\\n\")"#,
            r#"print(\"two\\n\")"#,
            Escapes,
            "print(\"two\\n\")\n",
        );
    }

    #[test]
    fn new_text_with_such_a_character_both_ways_is_refused() {
        assert_missed("say(\"hello\");\n", r#"say(\"hello\");"#, r#"say("a \"b\"");"#);
    }

    #[test]
    fn old_text_with_such_a_character_both_ways_is_not_over_escaped() {
        assert_missed("say(\"hello\");\n", r#"say("hello\");"#, "x");
    }

    #[test]
    fn escapes_of_a_kind_that_old_text_lacks_are_resolved_only_where_they_are_sure() {
        let edited = |new, expected| assert_edited("a(1);\nb(2);\n", r"a(1);\nb(2);", new, Escapes, expected);
        edited(r"a(1);\n\tc();\nb(2);", "a(1);\n\tc();\nb(2);\n");
        edited(r#"a(1);\nb(\"2\");"#, "a(1);\nb(\"2\");\n");
        assert_missed("a(1);\nb(2);\n", r"a(1);\nb(2);", r"a(1);\nb('x\ty');");
        assert_missed("a(1);\nb(2);\n", r"a(1);\nb(2);", r#"a(1);\nb("x\"y");"#);
        assert_missed("say(\"hello\");\n", r#"say(\"hello\");"#, r#"say(\"bye\n\");"#);
    }

    #[test]
    fn a_fragment_is_not_widened() {
        assert_missed("x = say(\"hello\");\n", r#"say(\"hello\");"#, "y");
    }
}
