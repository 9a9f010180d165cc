//! Bytes that every match of a pattern holds, looked for before a file is searched.
//!
//! Most files hold no match, and a regex engine, even by its own prefilter, takes five times as long to find that out.
//! Three rare bytes at fixed distances are compared at every position, without a branch, which compiles to vector
//! instructions; where they are met, the whole run decides. May admit a file without a match, never refuses one with a
//! match.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::Pattern;

const MAX_RUN_BYTES: usize = 24;
const MAX_RUNS: usize = 4;
/// Positions that are compared before it is decided whether the run is there.
const WINDOW_POSITIONS: usize = 1024;
/// How often three bytes may be met, in a million million positions: 2 of 100 windows.
const MAX_FREQUENCY: u64 = 20_000_000;
/// Files of which one in four may be admitted before it is not worth to ask.
const MIN_ASKED: u32 = 64;

/// Bytes by how often they are in source text, with that, in 10,000 (Linux and Rust sources, equal shares).
const FREQUENT_BYTES: [(&[u8], u64); 5] = [
    (b"\n _aeinorst", 400),
    (b"\t(),/0:ESTbcdfhlmpu", 130),
    (b"\"#*-.123468;=>ABCDFILMNOPRUgkvwxy{}", 50),
    (b"!&579<GHKVWXY[]`qz", 20),
    (b"%'+QZ\\j|", 6),
];
const RARE_FREQUENCY: u64 = 3;

/// One byte of a run: a byte of the text is it once the bits of `either` are set, which for a letter is its case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RunByte {
    value: u8,
    either: u8,
}

impl RunByte {
    fn is(self, byte: u8) -> bool {
        byte | self.either == self.value
    }

    /// How often it is in 10,000 bytes of source text.
    fn frequency(self) -> u64 {
        let of = |byte: u8| {
            FREQUENT_BYTES.iter().find(|(bytes, _)| bytes.contains(&byte)).map_or(RARE_FREQUENCY, |(_, often)| *often)
        };
        if self.either == 0 { of(self.value) } else { of(self.value) + of(self.value & !self.either) }
    }
}

/// Adjacent bytes, and the three of them that are looked for first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    bytes: Vec<RunByte>,
    rarest: [usize; 3],
    often: u64,
}

impl Run {
    fn of(bytes: &[RunByte]) -> Option<Self> {
        let bytes = &bytes[..bytes.len().min(MAX_RUN_BYTES)];
        let mut places: Vec<usize> = (0..bytes.len()).collect();
        places.sort_by_key(|place| bytes[*place].frequency());
        let rarest: [usize; 3] = places.get(..3)?.try_into().ok()?;
        let often = rarest.iter().map(|place| bytes[*place].frequency()).product();
        Some(Self { bytes: bytes.to_vec(), rarest, often })
    }

    fn is_in(&self, text: &[u8]) -> bool {
        let Some(positions) = (text.len() + 1).checked_sub(self.bytes.len()) else { return false };
        let mut start = 0;
        while start < positions {
            let end = positions.min(start + WINDOW_POSITIONS);
            if meets(self.rarest.map(|place| (&text[start + place..end + place], self.bytes[place])))
                && (start..end).any(|at| self.bytes.iter().zip(&text[at..]).all(|(byte, met)| byte.is(*met)))
            {
                return true;
            }
            start = end;
        }
        false
    }
}

/// Whether at some position each of the texts has its byte.
fn meets([one, two, three]: [(&[u8], RunByte); 3]) -> bool {
    let mut least = u8::MAX;
    for ((a, b), c) in one.0.iter().zip(two.0).zip(three.0) {
        let other = |met: u8, byte: RunByte| (met | byte.either) ^ byte.value;
        least = least.min(other(*a, one.1) | other(*b, two.1) | other(*c, three.1));
    }
    least == 0
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequiredBytes {
    runs: Vec<Run>,
    asked: u32,
    admitted: u32,
}

impl RequiredBytes {
    /// Those of a pattern; `None` where none are rare enough.
    pub(super) fn of(pattern: &Pattern) -> Option<Self> {
        let runs = best(&pattern.hir()?)?;
        Some(Self { runs, asked: 0, admitted: 0 })
    }

    pub(super) fn rules_out(&mut self, text: &[u8]) -> bool {
        if self.asked >= MIN_ASKED && self.admitted > self.asked / 4 {
            return false;
        }
        let is_in = self.runs.iter().any(|run| run.is_in(text));
        self.asked = self.asked.saturating_add(1);
        self.admitted += u32::from(is_in);
        !is_in
    }
}

fn best(pattern: &Hir) -> Option<Vec<Run>> {
    let mut search = RunSearch::default();
    search.add(pattern);
    search.end_run();
    search.best
}

#[derive(Default)]
struct RunSearch {
    /// The bytes that are adjacent to what comes next.
    run: Vec<RunByte>,
    best: Option<Vec<Run>>,
}

impl RunSearch {
    fn add(&mut self, part: &Hir) {
        match part.kind() {
            // An assertion takes no byte: what is on its two sides is adjacent.
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => {
                self.run.extend(literal.0.iter().map(|byte| RunByte { value: *byte, either: 0 }));
            }
            HirKind::Class(class) => match letter(class) {
                Some(byte) => self.run.push(byte),
                None => self.end_run(),
            },
            HirKind::Capture(capture) => self.add(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.add(part)),
            HirKind::Repetition(repetition) => {
                // What follows the first repetition may be the second, so that the run ends with it.
                if repetition.min > 0 {
                    self.add(&repetition.sub);
                }
                self.end_run();
            }
            HirKind::Alternation(branches) => {
                self.end_run();
                // A match may be by a branch that has no run: then there are none.
                let runs: Option<Vec<_>> = branches.iter().map(best).collect();
                self.offer(runs.unwrap_or_default().concat());
            }
        }
    }

    fn end_run(&mut self) {
        let run = Run::of(&self.run);
        self.run.clear();
        self.offer(run.into_iter().collect());
    }

    fn offer(&mut self, runs: Vec<Run>) {
        let often = |runs: &[Run]| runs.iter().map(|run| run.often).sum::<u64>();
        let is_rare = !runs.is_empty() && runs.len() <= MAX_RUNS && often(&runs) <= MAX_FREQUENCY;
        if is_rare && self.best.as_ref().is_none_or(|best| often(&runs) < often(best)) {
            self.best = Some(runs);
        }
    }
}

fn letter(class: &Class) -> Option<RunByte> {
    let class = match class {
        Class::Unicode(class) => class.clone(),
        Class::Bytes(class) => class.to_unicode_class()?,
    };
    let mut characters =
        class.iter().map(|range| u8::try_from(range.start()).ok().filter(|_| range.start() == range.end()));
    match (characters.next()??, characters.next(), characters.next()) {
        (one, None, None) if one.is_ascii() => Some(RunByte { value: one, either: 0 }),
        (upper, Some(Some(lower)), None) if upper.is_ascii_uppercase() && lower == upper.to_ascii_lowercase() => {
            Some(RunByte { value: lower, either: 0x20 })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::PatternOptions;

    fn required(text: &str, options: PatternOptions) -> Option<RequiredBytes> {
        RequiredBytes::of(&Pattern::compile(text, options).unwrap())
    }

    fn insensitive(text: &str) -> Option<RequiredBytes> {
        required(text, PatternOptions::default())
    }

    #[test]
    fn run_is_found_in_any_case_at_any_place() {
        for length in [10_usize, 1023, 1024, 1025, 3000] {
            for at in [0, length.saturating_sub(500) / 2, length - 10] {
                let mut text = vec![b'z'; length];
                text[at..at + 10].copy_from_slice(b"uMb_gIvEbA");
                assert!(!insensitive("umb_giveba").unwrap().rules_out(&text), "{at} of {length}");
                text[at] = b'x';
                assert!(insensitive("umb_giveba").unwrap().rules_out(&text), "{at} of {length}");
            }
        }
        assert!(insensitive("umb_giveba").unwrap().rules_out(b""));
    }

    #[test]
    fn case_counts_where_it_is_asked_for() {
        let options = PatternOptions { case_sensitive: true, ..PatternOptions::default() };
        assert!(required("give_Urb", options).unwrap().rules_out(b"x give_urb"));
        assert!(!required("give_Urb", options).unwrap().rules_out(b"x give_Urb"));
    }

    #[test]
    fn one_branch_of_an_alternation_is_enough() {
        let mut any = insensitive("quux_zz|give_urb_bh|jump_q").unwrap();
        assert!(!any.rules_out(b"a GIVE_URB_BH") && !any.rules_out(b"jump_q") && any.rules_out(b"jump_give_quux"));
    }

    #[test]
    fn characters_with_other_forms_are_no_part_of_a_run() {
        // K and S have U+212A and U+017F.
        assert!(!insensitive("jumpsquux").unwrap().rules_out("jump\u{17F}quux".as_bytes()));
        assert!(!insensitive("jumpkquux").unwrap().rules_out("jump\u{212A}quux".as_bytes()));
    }

    #[test]
    fn patterns_without_a_rare_run_require_nothing() {
        for text in ["", "ab", "the", r"\w+", "(quux_zz)?", "quux_zz|the", "a.b.c", "q{0,3}", "[a-z]{9}", "é", "^$"] {
            assert_eq!(insensitive(text), None, "{text}");
        }
        let many: Vec<String> = (0..9).map(|number| format!("{number}quux_zz")).collect();
        assert_eq!(insensitive(&many.join("|")), None);
    }

    #[test]
    fn text_that_admits_often_is_no_longer_asked_about() {
        let mut required = insensitive("quux_zz").unwrap();
        for _ in 0..MIN_ASKED {
            assert!(!required.rules_out(b"quux_zz"));
        }
        assert!(!required.rules_out(b"something else"));
    }

    proptest! {
        #[test]
        fn text_that_matches_is_never_ruled_out(
            pattern in "(\\(?[jqzkXs_é]{1,6}[|?+.]?\\)?){1,4}",
            text in "[jqzkxs_JQZKXS\u{17F}\u{212A}é\n]{0,40}",
            (case_sensitive, word, multiline) in any::<(bool, bool, bool)>(),
        ) {
            let options = PatternOptions { case_sensitive, word, multiline, ..PatternOptions::default() };
            let Ok(pattern) = Pattern::compile(&pattern, options) else { return Ok(()) };
            let matches = text.lines().any(|line| pattern.is_in_line(line.as_bytes()));
            if let Some(mut required) = RequiredBytes::of(&pattern) {
                prop_assert!(!(matches && required.rules_out(text.as_bytes())));
            }
        }
    }
}
