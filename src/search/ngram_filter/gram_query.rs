//! From a regular expression to the boolean query of grams that any match must contain.
//!
//! An over-approximation by construction: whatever is not understood becomes `All`. It may admit a
//! file without a match, never refuse one with a match. Follows the idea of Cox, "Regular Expression
//! Matching with a Trigram Index" (2012), with sliding windows in place of prefix and suffix sets.

use regex_syntax::hir::{Class, ClassBytesRange, ClassUnicodeRange, Hir, HirKind, Look, Repetition};

use super::gram::{self, GRAM, Gram, folded};
use crate::search::pattern::Pattern;

/// Characters of a class that are distinguished, such as those of `\s`; a larger class counts as any text.
const MAX_CLASS: usize = 32;
/// Strings of an alternation that are kept as they are, and their length in bytes.
const MAX_STRINGS: usize = 32;
const MAX_STRING: usize = 64;
/// Strings of one window.
const MAX_WINDOW: usize = 64;
/// Windows of one run: more narrow the answer no further.
const MAX_WINDOWS: usize = 64;
/// Items of one sequence; what follows is not looked at.
const MAX_PARTS: usize = 512;
/// How often what is repeated is written out.
const MAX_COPIES: u32 = 8;
/// Grams of a query: beyond, evaluating it costs more than it saves.
const MAX_GRAMS: usize = 8192;

/// What a text must contain to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GramQuery {
    /// Nothing in particular.
    All,
    /// Nothing can match.
    Nothing,
    /// This gram.
    Gram(Gram),
    /// All of these.
    And(Vec<GramQuery>),
    /// At least one of these.
    Or(Vec<GramQuery>),
}

impl GramQuery {
    /// The query of a pattern, as it was compiled. `lines`: no match holds a line break.
    pub(super) fn of(pattern: &Hir, lines: bool) -> Self {
        let query = sequence(pattern, lines).query();
        if query.grams() > MAX_GRAMS { Self::All } else { query }
    }

    fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Self::All => {}
                Self::Nothing => return Self::Nothing,
                Self::And(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        single_or(all, Self::All, Self::And)
    }

    fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut any = Vec::new();
        for part in parts {
            match part {
                Self::All => return Self::All,
                Self::Nothing => {}
                Self::Or(inner) => any.extend(inner),
                other => any.push(other),
            }
        }
        single_or(any, Self::Nothing, Self::Or)
    }

    fn grams(&self) -> usize {
        match self {
            Self::All | Self::Nothing => 0,
            Self::Gram(_) => 1,
            Self::And(parts) | Self::Or(parts) => parts.iter().map(Self::grams).sum(),
        }
    }
}

/// `empty`, the only part, or `many`. Equal neighbours, and single grams that occur again, count once.
fn single_or(mut parts: Vec<GramQuery>, empty: GramQuery, many: fn(Vec<GramQuery>) -> GramQuery) -> GramQuery {
    let mut seen = std::collections::HashSet::new();
    parts.retain(|part| match part {
        GramQuery::Gram(gram) => seen.insert(*gram),
        _ => true,
    });
    parts.dedup();
    match parts.len() {
        0 => empty,
        1 => parts.swap_remove(0),
        _ => many(parts),
    }
}

/// A part of a match, in the order of the text.
#[derive(Clone, Debug)]
enum PatternPart {
    /// Exactly one of these folded strings.
    Strings(Vec<Vec<u8>>),
    /// Some text of unknown length, which satisfies this.
    Gap(GramQuery),
}

#[derive(Clone, Debug, Default)]
struct Sequence {
    parts: Vec<PatternPart>,
}

fn sequence(pattern: &Hir, lines: bool) -> Sequence {
    let mut out = Sequence::default();
    match pattern.kind() {
        // Looks match no text: what surrounds one is adjacent.
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.literal(&literal.0),
        HirKind::Class(class) => out.push(self::class(class, lines)),
        HirKind::Capture(capture) => return sequence(&capture.sub, lines),
        HirKind::Concat(parts) => {
            for part in parts {
                out.append(&sequence(part, lines));
            }
        }
        HirKind::Alternation(branches) => out.push(alternation(branches, lines)),
        HirKind::Repetition(repetition) => out.repeat(repetition, lines),
    }
    out
}

fn class(class: &Class, lines: bool) -> PatternPart {
    let size = match class {
        Class::Unicode(class) => class.iter().map(ClassUnicodeRange::len).sum(),
        Class::Bytes(class) => class.iter().map(ClassBytesRange::len).sum::<usize>(),
    };
    if size > MAX_CLASS {
        return PatternPart::Gap(GramQuery::All);
    }
    let characters = |range: &ClassUnicodeRange| range.start()..=range.end();
    let mut strings: Vec<_> = match class {
        Class::Unicode(class) => {
            class.iter().flat_map(characters).map(|one| folded(one.to_string().as_bytes())).collect()
        }
        Class::Bytes(class) => {
            class.iter().flat_map(|range| range.start()..=range.end()).map(|byte| folded(&[byte])).collect()
        }
    };
    if lines {
        strings.retain(|string| string != b"\n");
    }
    if strings.is_empty() {
        return PatternPart::Gap(GramQuery::Nothing);
    }
    strings.sort_unstable();
    strings.dedup();
    PatternPart::Strings(strings)
}

fn alternation(branches: &[Hir], lines: bool) -> PatternPart {
    let sequences: Vec<_> = branches.iter().map(|branch| sequence(branch, lines)).collect();
    let mut strings = Vec::new();
    for branch in &sequences {
        match branch.strings() {
            Some(some) if strings.len() + some.len() <= MAX_STRINGS => strings.extend(some),
            _ => return PatternPart::Gap(GramQuery::or(sequences.iter().map(Sequence::query))),
        }
    }
    strings.sort_unstable();
    strings.dedup();
    PatternPart::Strings(strings)
}

impl Sequence {
    fn push(&mut self, part: PatternPart) {
        if self.parts.len() < MAX_PARTS {
            self.parts.push(part);
        } else if !matches!(self.parts.last(), Some(PatternPart::Gap(GramQuery::All))) {
            self.parts.push(PatternPart::Gap(GramQuery::All));
        }
    }

    fn append(&mut self, other: &Self) {
        for part in &other.parts {
            self.push(part.clone());
        }
    }

    /// One part a character, so that windows can begin at each; invalid bytes are parts of one byte.
    fn literal(&mut self, literal: &[u8]) {
        for chunk in literal.utf8_chunks() {
            for character in chunk.valid().chars() {
                self.push(PatternPart::Strings(vec![folded(character.to_string().as_bytes())]));
            }
            for byte in chunk.invalid() {
                self.push(PatternPart::Strings(vec![folded(&[*byte])]));
            }
        }
    }

    fn repeat(&mut self, repetition: &Repetition, lines: bool) {
        let once = sequence(&repetition.sub, lines);
        if repetition.min == 0 {
            let optional = match (repetition.max, once.strings()) {
                (Some(1), Some(mut strings)) => {
                    strings.push(Vec::new());
                    PatternPart::Strings(strings)
                }
                _ => PatternPart::Gap(GramQuery::All),
            };
            return self.push(optional);
        }
        let copies = repetition.min.min(MAX_COPIES);
        for _ in 0..copies {
            self.append(&once);
        }
        if repetition.max != Some(copies) {
            // The last one is adjacent to what follows, as the first ones are to what is before.
            self.push(PatternPart::Gap(GramQuery::All));
            self.append(&once);
        }
    }

    /// Every string of the sequence, where they are few and short.
    fn strings(&self) -> Option<Vec<Vec<u8>>> {
        let mut all = vec![Vec::new()];
        for part in &self.parts {
            let PatternPart::Strings(strings) = part else { return None };
            if all.len() * strings.len() > MAX_STRINGS {
                return None;
            }
            all = product(&all, strings);
            if all.iter().any(|string| string.len() > MAX_STRING) {
                return None;
            }
        }
        Some(all)
    }

    fn query(&self) -> GramQuery {
        let runs = self.parts.split(|part| matches!(part, PatternPart::Gap(_)));
        let windows = runs.flat_map(|run| {
            let run: Vec<&[Vec<u8>]> = run
                .iter()
                .filter_map(|part| match part {
                    PatternPart::Strings(strings) => Some(strings.as_slice()),
                    PatternPart::Gap(_) => None,
                })
                .collect();
            windows(&run)
        });
        let gaps = self.parts.iter().filter_map(|part| match part {
            PatternPart::Gap(query) => Some(query.clone()),
            PatternPart::Strings(_) => None,
        });
        GramQuery::and(windows.chain(gaps))
    }
}

/// What the windows over adjacent parts demand: from each part on as many as surely make a gram.
fn windows(run: &[&[Vec<u8>]]) -> Vec<GramQuery> {
    let mut demands = Vec::new();
    for start in 0..run.len() {
        if demands.len() == MAX_WINDOWS {
            break;
        }
        let mut strings = vec![Vec::new()];
        for (at, part) in run[start..].iter().enumerate() {
            if strings.len() * part.len() > MAX_WINDOW {
                break;
            }
            strings = product(&strings, part);
            let shortest = strings.iter().map(Vec::len).min().unwrap_or_default();
            // A long first part is joined with its neighbour: the grams across are wanted too.
            let joined = at > 0 || run.len() == start + 1 || run[start + 1].len() * strings.len() > MAX_WINDOW;
            if shortest >= GRAM && joined {
                break;
            }
        }
        demands.push(GramQuery::or(strings.iter().map(|string| {
            let grams = gram::certain(string);
            GramQuery::and(grams.into_iter().map(GramQuery::Gram))
        })));
    }
    demands
}

fn product(heads: &[Vec<u8>], tails: &[Vec<u8>]) -> Vec<Vec<u8>> {
    heads.iter().flat_map(|head| tails.iter().map(move |tail| [head.as_slice(), tail].concat())).collect()
}

/// What a pattern demands of content.
#[derive(Debug)]
pub(in crate::search) struct FilterQuery {
    pub(super) grams: GramQuery,
    /// A part of a file does not decide: a match may span lines, or look at where the file begins or ends.
    pub(super) whole_file: bool,
}

impl FilterQuery {
    /// The demands of `pattern`.
    pub(in crate::search) fn of(pattern: &Pattern) -> Self {
        let Some(hir) = pattern.hir() else {
            // An unknown demand leaves nothing out.
            return Self { grams: GramQuery::All, whole_file: true };
        };
        let looks = hir.properties().look_set();
        let at_an_end = looks.contains(Look::Start) || looks.contains(Look::End);
        Self { grams: GramQuery::of(&hir, !pattern.multiline()), whole_file: pattern.multiline() || at_an_end }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::search::pattern::PatternOptions;

    fn query(pattern: &str) -> GramQuery {
        let hir = regex_syntax::ParserBuilder::new().utf8(false).case_insensitive(true).multi_line(true).build();
        GramQuery::of(&hir.clone().parse(pattern).unwrap(), true)
    }

    fn admits(query: &GramQuery, held: &HashSet<Gram>) -> bool {
        match query {
            GramQuery::All => true,
            GramQuery::Nothing => false,
            GramQuery::Gram(gram) => held.contains(gram),
            GramQuery::And(parts) => parts.iter().all(|part| admits(part, held)),
            GramQuery::Or(parts) => parts.iter().any(|part| admits(part, held)),
        }
    }

    fn may_match(pattern: &str, text: &str) -> bool {
        let mut held = HashSet::new();
        gram::each(text.as_bytes(), |gram| {
            held.insert(gram);
        });
        admits(&query(pattern), &held)
    }

    #[test]
    fn literal_query_needs_its_grams_in_any_case() {
        assert!(may_match("Kernel_Init", "x = kernel_init();"));
        assert!(may_match("kiss", "\u{212A}I\u{17F}S"));
        assert!(!may_match("kernel_init", "kernel_exit"));
    }

    #[test]
    fn pattern_without_usable_string_admits_all() {
        for pattern in ["ab", "a.b.c.d", r"\w+", "(abc)?", "abcd|x", "[a-z]{8}", "", "^$"] {
            assert_eq!(query(pattern), GramQuery::All, "{pattern}");
        }
    }

    #[test]
    fn alternations_and_repetitions_keep_required_grams() {
        assert!(may_match("(foo|bar)baz", "a barbaz") && !may_match("(foo|bar)baz", "bazbar"));
        assert!(may_match("(abc)+def", "abcabcdef") && !may_match("(abc)+def", "abcabc def"));
        assert!(may_match("colou?r_", "the color_x") && !may_match("colou?r_", "colon_"));
        assert!(may_match("x{6}y", "xxxxxxy") && !may_match("(needle|haystack).*end", "nothing at the end"));
    }

    #[test]
    fn white_space_before_a_word_is_part_of_the_query() {
        for text in ["fn block_on_x", "fn\tblock_on_x", "fn \u{2003}block_on_x"] {
            assert!(may_match(r"fn\s+block_on_", text), "{text:?}");
        }
        // Each gram of the word is here, but the word begins nowhere.
        assert!(!may_match(r"fn\s+block_on_", "fn CLOCK_ON_BLOCK"));
        assert!(!may_match(r"\sblock", "a\nblock"));
        let hir = regex_syntax::ParserBuilder::new().utf8(false).build().parse(r"\sblock").unwrap();
        assert_eq!(GramQuery::of(&hir, false), query("block"));
    }

    #[test]
    fn assertions_match_no_text() {
        assert!(!may_match(r"foo\bbar_", "foo bar_"));
        assert!(may_match(r"(?m)^needle$", "needle"));
    }

    #[test]
    fn query_size_is_bounded() {
        let many: Vec<String> = (0..3000).map(|number| format!("word{number:05}")).collect();
        assert!(query(&many.join("|")).grams() <= MAX_GRAMS);
        assert!(query("((((abc){9}){9}){9}){9}").grams() <= MAX_GRAMS);
    }

    #[test]
    fn anchors_to_file_ends_need_the_whole_file() {
        let whole_file =
            |text: &str| FilterQuery::of(&Pattern::compile(text, PatternOptions::default()).unwrap()).whole_file;
        for text in ["end\\z", "\\Astart", "end(?:\\z|x)", "(?-m:end$)", "(?-m:^start)"] {
            assert!(whole_file(text), "{text}");
        }
        for text in ["end$", "^start", "\\bword\\b", "plain"] {
            assert!(!whole_file(text), "{text}");
        }
    }
}
