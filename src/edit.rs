//! Changing text: where an `old_string` stands, what takes its place, and what to say when it does not.
//!
//! Pure functions on strings with spans. [`locate`] climbs a ladder of steps from strict to tolerant over one
//! prepared `Search`; the first step that finds a place decides, and those that refuse one say why. A tolerant step
//! works on whole lines, looks through several damages at once and keeps the file's own bytes wherever the request does
//! not change them. Nothing here knows files or encodings.

mod align;
mod apart;
mod applied;
mod blank_lines;
mod block;
mod brief;
mod diff;
mod differences;
mod elision;
mod entities;
mod escapes;
mod exact;
mod excerpt;
mod fragment;
mod gutter;
mod indent;
mod likeness;
mod line_endings;
mod line_key;
mod nearest;
mod refusal;
mod rewritten;
mod search;
mod shift;
mod slip;
mod slips;
mod spelling;
mod squeezed;
mod strategy;
mod typography;
mod whitespace;
mod whole_lines;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod trial;

use std::ops::Range;

use refusal::Refusal;
use search::{Found, Outcome, Search};

pub use apart::neighbours;
pub use brief::Brief;
#[cfg(all(any(test, fuzzing), unix))]
pub(crate) use diff::patched;
pub use diff::{Diff, unified_diff};
pub use strategy::{Strategies, Strategy};

/// At most so many places are listed in a [`Miss`]; a list of this length means "or more".
pub const MAX_PLACES: usize = 1000;

/// Lines shown to a model are cut to so many characters.
const SHOWN_CHARS: usize = 160;

/// Bytes that the replacements of one request may take in memory. Without a bound, a long `new_string` for
/// each letter of a large file costs all there is.
const MOST_INSERTED: usize = 128 << 20;

/// Lines of a file in which a text is looked for that is not in it exactly: each takes some 40 bytes of memory, which
/// in a file of nothing but newlines is 40 times its size.
const MOST_LINES: usize = 8_000_000;

/// Places that one request may replace. The diff of more of them nobody reads, and it takes minutes to make.
const MOST_REPLACED: usize = 100_000;

/// What is to be changed.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The text to be replaced, as the caller believes it stands in the file. Not empty.
    pub old: &'a str,
    /// What takes its place.
    pub new: &'a str,
    /// Replaces every place instead of demanding a single one.
    pub replace_all: bool,
    /// How many places the caller expects. A number above one that is met exactly is as good as
    /// `replace_all`: nothing is ambiguous about it.
    pub expected_replacements: Option<usize>,
}

impl Request<'_> {
    fn wants_all(&self) -> bool {
        self.replace_all || self.expected_replacements.is_some_and(|count| count > 1)
    }
}

/// One change, ready to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Byte offsets into the text, on character boundaries.
    pub span: Range<usize>,
    /// What takes the span's place, its line endings and indentation already those of the file.
    pub text: String,
}

/// Where a request applies.
#[derive(Clone, Debug)]
pub struct Located {
    /// How the places were found; to be named to the model unless exact.
    pub strategy: Strategies,
    /// At least one, ascending and disjoint.
    pub replacements: Vec<Replacement>,
}

/// Why a request does not apply.
#[derive(Clone, Debug)]
pub enum Miss {
    /// Several places match and only one was asked for.
    Ambiguous {
        /// The step that found them.
        strategy: Strategies,
        /// At least two, at most [`MAX_PLACES`].
        places: Vec<Place>,
    },
    /// The number of places is not the expected one.
    Count {
        /// The step that found them.
        strategy: Strategies,
        /// `expected_replacements`.
        expected: usize,
        /// At least one, at most [`MAX_PLACES`].
        places: Vec<Place>,
    },
    /// All places were asked for, and their replacements would take too much memory.
    TooMany {
        /// At least so many places match.
        places: usize,
    },
    /// No place matches.
    NotFound(Diagnosis),
}

/// A place that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1, as `read` does.
    pub line: usize,
    /// That line, cut to a printable length.
    pub text: String,
}

/// What is known about a text that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// One to three lower-case clauses of at most 300 characters: the first lines of an error.
    pub summary: String,
    /// Further differences and the nearest block with line numbers; may be empty.
    pub details: String,
    /// Whether the new text stands there already.
    pub already_applied: bool,
    /// What to do about it.
    pub next: Next,
}

/// What a model does best about a text that was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Copy the lines that the details show.
    Copy,
    /// Read the file: there is nothing to be shown.
    Read,
    /// Look whether the change is made already.
    Look,
    /// Send less of the text, without the path in it: the client may have shown another one than the file has.
    LeaveOutPath,
}

/// Finds the place or places of `request.old` in `text`.
///
/// # Errors
/// [`Miss`] when there is no place, or not the wanted number of them. The cost of that answer is bounded,
/// whatever the texts hold.
pub fn locate(text: &str, request: &Request<'_>) -> Result<Located, Miss> {
    let search = Search::new(text, request);
    let mut refusals = Vec::new();
    if !request.old.is_empty() {
        for (index, step) in LADDER.iter().enumerate() {
            if index == EXACT_STEPS && has_too_many_lines(text) {
                return Err(Miss::NotFound(nearest::unlooked_for(MOST_LINES)));
            }
            match step(&search) {
                Outcome::Found(mut found) => {
                    let differs = request.old.contains('\r') != text.contains('\r');
                    if !found.by.is_exact() && differs && request.old.contains(['\n', '\r']) {
                        found.by = found.by.with(Strategy::LineEndings);
                    }
                    return decide(text, request, found);
                }
                Outcome::Refused(refusal) => {
                    refusals.push(refusal);
                    if refusal.is_final() {
                        break;
                    }
                }
                Outcome::None => {}
            }
        }
    }
    let mut diagnosis = nearest::diagnose(&search);
    if let Some(refusal) = Refusal::chief(&refusals) {
        refusal.explain(&search, &mut diagnosis);
    }
    Err(Miss::NotFound(diagnosis))
}

/// A step of the ladder.
type Step = fn(&Search<'_>) -> Outcome;

/// From strict to tolerant; the first that finds a place decides. Before the first tolerant one it is made sure that
/// the change is not there already.
const LADDER: &[Step] = &[
    exact::find,
    line_endings::find,
    applied::find,
    whole_lines::as_given,
    whole_lines::without_gutter,
    whole_lines::unescaped,
    whole_lines::without_entities,
    slips::find,
    blank_lines::find,
];

/// Steps of the ladder that need no list of the file's lines.
const EXACT_STEPS: usize = 2;

fn has_too_many_lines(text: &str) -> bool {
    text.len() > MOST_LINES && memchr::memchr_iter(b'\n', text.as_bytes()).count() > MOST_LINES
}

fn decide(text: &str, request: &Request<'_>, found: Found) -> Result<Located, Miss> {
    let Found { replacements, overlapping, by: strategy, .. } = found;
    let count = replacements.len();
    if request.wants_all() && count >= most_places(request.new) {
        return Err(Miss::TooMany { places: count });
    }
    let listed = || {
        let mut starts: Vec<usize> = replacements.iter().map(|replacement| replacement.span.start).collect();
        starts.extend(overlapping);
        starts.sort_unstable();
        places(text, starts.into_iter())
    };
    let is_single = count == 1 && overlapping.is_none();
    match request.expected_replacements {
        Some(expected) if count != expected && (request.replace_all || is_single || expected != 1) => {
            Err(Miss::Count { strategy, expected, places: listed() })
        }
        Some(expected) if expected > 1 && overlapping.is_none() => Ok(Located { strategy, replacements }),
        _ if is_single || request.replace_all => Ok(Located { strategy, replacements }),
        _ => Err(Miss::Ambiguous { strategy, places: listed() }),
    }
}

/// How many places may take `new` when all of them are asked for.
fn most_places(new: &str) -> usize {
    (MOST_INSERTED / (new.len() + size_of::<Replacement>())).clamp(2, MOST_REPLACED + 1)
}

/// Line numbers and lines of ascending offsets.
fn places(text: &str, starts: impl Iterator<Item = usize>) -> Vec<Place> {
    let mut line = 1;
    let mut counted_to = 0;
    let mut cached: Option<(usize, String)> = None;
    starts
        .take(MAX_PLACES)
        .map(|start| {
            line += text[counted_to..start].matches('\n').count();
            counted_to = start;
            let shown = match cached.take() {
                Some((number, shown)) if number == line => shown,
                _ => line_at(text, start),
            };
            cached = Some((line, shown.clone()));
            Place { line, text: shown }
        })
        .collect()
}

/// The line around `offset`, cut.
fn line_at(text: &str, offset: usize) -> String {
    let start = text[..offset].rfind('\n').map_or(0, |found| found + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |found| offset + found);
    shown(&text[start..end])
}

/// A line as it can be shown: cut, without a final CR.
fn shown(line: &str) -> String {
    let line = line.strip_suffix('\r').unwrap_or(line);
    crate::text::shorten(line, SHOWN_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy as Generator, any, prop, prop_assert, prop_assert_eq, proptest};

    use super::*;

    /// Text over a small alphabet, so that near misses of every kind are common.
    fn text() -> impl Generator<Value = String> {
        let piece = prop::sample::select(&[
            "foo", "bar1", "}", "“", "\"", "'", "’", " ", "  ", "\t", "\n", "\n", "\r\n", "\r", "\\n", "\\t", "\\\"",
            "1\t", "2\t", "12: ", "é", "e\u{301}", "\u{a0}", "…", "...", "-", "–", "// note", "日本",
        ]);
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    /// A part of `text` by two of its boundaries, damaged in one of the ways models damage text.
    fn damaged(text: &str, from: prop::sample::Index, to: prop::sample::Index, how: usize) -> String {
        let boundaries: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        let (a, b) = (boundaries[from.index(boundaries.len())], boundaries[to.index(boundaries.len())]);
        let part = &text[a.min(b)..a.max(b)];
        let each_line = |change: fn(&str) -> String| part.split('\n').map(change).collect::<Vec<_>>().join("\n");
        match how {
            0 => part.replace("\r\n", "\n"),
            1 => each_line(|line| line.trim_end().to_owned()),
            2 => each_line(|line| format!("    {line}")),
            3 => part.replace(['“', '”'], "\"").replace('\u{a0}', " "),
            4 => part.replace('\n', "\\n"),
            5 => part.replace("foo", "fo"),
            _ => part.to_owned(),
        }
    }

    proptest! {
        #[test]
        fn spans_are_ascending_disjoint_and_never_cover_more_lines_than_old(
            text in text(), new in text(), how in 0_usize..7,
            from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(),
            replace_all in any::<bool>(),
        ) {
            let old = damaged(&text, from, to, how);
            let request = Request { old: &old, new: &new, replace_all, expected_replacements: None };
            let Ok(located) = locate(&text, &request) else { return Ok(()) };
            prop_assert!(replace_all || located.replacements.len() == 1);
            let mut end = 0;
            for Replacement { span, .. } in &located.replacements {
                prop_assert!(end <= span.start && span.start <= span.end);
                // Panics off a character boundary.
                let covered = &text[span.clone()];
                end = span.end;
                if !located.strategy.is_exact() && !located.strategy.has(Strategy::Escapes) {
                    let terminators = |text: &str| line_endings::canonical(text).matches('\n').count();
                    prop_assert!(terminators(covered) <= terminators(&old));
                }
            }
        }

        #[test]
        fn an_answer_is_given_for_any_strings(text in any::<String>(), old in any::<String>(), new in any::<String>()) {
            let request = Request { old: &old, new: &new, replace_all: false, expected_replacements: None };
            if let Err(Miss::NotFound(diagnosis)) = locate(&text, &request) {
                prop_assert!(diagnosis.summary.chars().count() <= 300);
            }
        }

        #[test]
        fn a_unique_text_is_replaced_and_the_reverse_restores_it(
            before in "[a-z \n]{0,20}", old in "[A-Z]{1,4}(\n[A-Z]{1,4})?", new in "[0-9]{1,4}(\n[0-9]{1,4})?", after in "[a-z \n]{0,20}",
            crlf in any::<bool>(),
        ) {
            let ending = |text: &str| if crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
            // Without any line ending in the file, those of the request would count; without the full stop, some
            // lines would lack their indentation.
            let text = ending(&format!("\n{before}.{old}{after}"));
            let apply = |text: &str, old: &str, new: &str| trial::edited(text, old, new).map(|(_, text)| text);
            let changed = apply(&text, &old, &new).unwrap();
            prop_assert_eq!(&changed, &ending(&format!("\n{before}.{new}{after}")));
            prop_assert_eq!(apply(&changed, &new, &old).unwrap(), text);
        }
    }

    /// Bounded by the budgets of each step: without them these would run for hours.
    #[test]
    fn hostile_requests_on_five_megabytes_are_answered() {
        let line = "    a_name = another_name + third_name(x);\n";
        let text = line.repeat(5_000_000 / line.len());
        let olds =
            [line.trim_start().repeat(5000) + "y", line.repeat(5000) + "y", line.replace("= ", "= “").repeat(3000)];
        for old in olds {
            let request = Request { old: &old, new: "z\nz", replace_all: false, expected_replacements: None };
            assert!(locate(&text, &request).is_err());
        }
        // Slips, blank lines and escapes at every place.
        let slipped = line.replace("another", "anohter");
        for old in [
            format!("{line}{slipped}{line}"),
            format!("{slipped}\n{line}{line}").repeat(2000),
            format!("\t{}\\n\\t\\\"", slipped.trim_end()).repeat(300),
            line.replace("    ", "12: ").repeat(3000),
        ] {
            let new = format!("{old}x1 = 1;\n");
            let request = Request { old: &old, new: &new, replace_all: false, expected_replacements: None };
            assert!(locate(&text, &request).is_err());
        }
    }

    #[test]
    fn a_file_of_too_many_lines_takes_exact_texts_only() {
        let text = format!("one\n{}two \n", "\n".repeat(MOST_LINES));
        let of = |old| Request { old, new: "x\n", replace_all: false, expected_replacements: None };
        assert!(locate(&text, &of("one\n")).is_ok());
        let Err(Miss::NotFound(diagnosis)) = locate(&text, &of("two\n")) else { panic!("found") };
        assert!(diagnosis.summary.contains("more than 8000000 lines") && diagnosis.next == Next::Read, "{diagnosis:?}");
    }

    #[test]
    fn an_empty_old_text_is_answered() {
        let request = Request { old: "", new: "x", replace_all: false, expected_replacements: None };
        assert!(matches!(locate("a", &request), Err(Miss::NotFound(_))));
    }

    #[test]
    fn the_stricter_step_decides() {
        let text = "foo(1)\n  foo(1) \n";
        let (strategy, result) = trial::edited(text, "  foo(1)", "  bar(1)").unwrap();
        assert_eq!((strategy.is_exact(), result.as_str()), (true, "foo(1)\n  bar(1) \n"));
    }

    #[test]
    fn places_are_bounded_and_shown_cut() {
        let text = "x".repeat(5000);
        let request = Request { old: "x", new: "y", replace_all: false, expected_replacements: None };
        let Err(Miss::Ambiguous { places, .. }) = locate(&text, &request) else { panic!("not ambiguous") };
        assert_eq!(places.len(), MAX_PLACES);
        assert!(places[0].text.chars().count() < 200);
    }
}
