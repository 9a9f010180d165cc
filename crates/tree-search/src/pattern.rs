//! A search pattern as a model writes it → the matcher that ripgrep would build for it.
//!
//! A wrong pattern becomes an error that shows the place. Knows nothing of files.

use std::{borrow::Cow, convert::Infallible, sync::Arc};

use grep_matcher::Matcher as _;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast::{self, Assertion, AssertionKind, Ast, Span, Visitor};
use regex_syntax::hir::{Class, Hir, HirKind, LookSet};
use text_file::shorten;

/// Cache of the lazy automaton per thread, in bytes; it grows only as states are met.
const DFA_CACHE: usize = 10 << 20;
/// Nesting of groups, ripgrep's own value.
const NEST_LIMIT: u32 = 250;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PatternLimits {
    /// Bytes of a regular expression or a literal. Bounds parsing.
    regex: usize,
    /// Bytes of the compiled program: `(\w{500}){500}` would cost seconds and a gigabyte.
    compiled: usize,
    /// Positions within counted repetitions, expanded: `(.{1,100}){1,60}` has 6000, and would need a
    /// millisecond for each byte of a line that keeps them all alive.
    repeated: usize,
}

/// Real patterns are a hundredth of that; `compiled` is the default of the regex crate.
const PATTERN_LIMITS: PatternLimits = PatternLimits { regex: 8 << 10, compiled: 10 << 20, repeated: 3000 };

#[derive(Clone, Copy, Debug, Default)]
pub struct PatternOptions {
    /// Plain text instead of a regular expression.
    pub literal: bool,
    pub case_sensitive: bool,
    pub word: bool,
    /// A match may span lines and `.` matches a line break, as `rg -U --multiline-dotall`.
    pub multiline: bool,
}

/// The demands of a pattern on characters beyond ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeyondAscii {
    Nothing,
    /// It matches some of them, as well as ASCII: `.`, `\w`.
    Taken,
    /// A part of it matches nothing else: `é`.
    Named,
    /// It is about bytes that are not characters: `(?-u:\xff)`.
    Bytes,
}

impl BeyondAscii {
    /// Whether the bytes of a file that is not UTF-8 do not show what of its text matches.
    pub fn searches_decoded(self) -> bool {
        matches!(self, Self::Taken | Self::Named)
    }
}

/// A compiled pattern; cloning it gives a thread its own caches.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(super) matcher: RegexMatcher,
    source: Arc<(String, PatternOptions)>,
}

impl Pattern {
    /// The matcher that ripgrep would build for `text`.
    ///
    /// # Errors
    /// When it is too long, not a regular expression, too big when compiled, or cannot match.
    pub fn compile(text: &str, options: PatternOptions) -> Result<Self, PatternError> {
        Self::compile_within(text, options, PATTERN_LIMITS)
    }

    fn compile_within(text: &str, options: PatternOptions, limits: PatternLimits) -> Result<Self, PatternError> {
        if text.len() > limits.regex {
            return Err(PatternError::TooLong { length: text.len(), limit: limits.regex });
        }
        if !options.literal {
            check_syntax(text, options, limits.repeated)?;
        }
        let wrapped = wrappable(text, options);
        let mut builder = RegexMatcherBuilder::new();
        builder
            .fixed_strings(options.literal)
            .case_insensitive(!options.case_sensitive)
            .word(options.word)
            .multi_line(true)
            .unicode(true)
            .octal(false)
            .size_limit(limits.compiled)
            .dfa_size_limit(DFA_CACHE)
            .nest_limit(NEST_LIMIT)
            // What holds a NUL is binary here, so that a pattern with one would find nothing.
            .ban_byte(Some(0));
        if options.multiline {
            builder.dot_matches_new_line(true);
        } else {
            // Tells the matcher that no match spans lines, which lets it search whole buffers.
            builder.line_terminator(Some(b'\n')).dot_matches_new_line(false);
        }
        match builder.build(&wrapped) {
            Ok(matcher) => Ok(Self { matcher, source: Arc::new((text.to_owned(), options)) }),
            Err(error) => Err(match error.kind() {
                ErrorKind::NotAllowed(_) => PatternError::LineBreak,
                ErrorKind::Banned(_) => PatternError::Nul,
                // Of this kind there is a text, and nothing else to recognise it by.
                ErrorKind::Regex(reason) if reason.contains("size limit") => {
                    PatternError::TooBig { limit: limits.compiled }
                }
                other => PatternError::elsewhere(&format!("{other:?}")),
            }),
        }
    }

    /// The demands on characters beyond ASCII, which files in other encodings than UTF-8 do not hold
    /// in that form.
    pub fn beyond_ascii(&self) -> BeyondAscii {
        let (text, options) = &*self.source;
        let escaped = ["\\u", "\\U", "\\x{"].iter().any(|escape| text.contains(escape));
        if !text.is_ascii() || (!options.literal && escaped) {
            return BeyondAscii::Named;
        }
        match self.hir() {
            Some(hir) if names_beyond_ascii(&hir) => BeyondAscii::Named,
            Some(hir) if names_bytes(&hir) => BeyondAscii::Bytes,
            Some(hir) if options.word || takes_beyond_ascii(&hir) => BeyondAscii::Taken,
            _ => BeyondAscii::Nothing,
        }
    }

    /// The pattern without the anchors of lines (`^load$`), for lines that hold more than what it is to match; `None`
    /// where it has none.
    pub fn unanchored(&self) -> Option<Self> {
        let (text, options) = &*self.source;
        let text = if options.literal { None } else { without_anchors(text) };
        Self::compile(&text?, *options).ok()
    }

    pub fn is_in_line(&self, line: &[u8]) -> bool {
        self.matcher.is_match(line).unwrap_or(false)
    }

    /// Whether it matches the empty text between any two characters, and so in every line: `a || b`, `x*`.
    pub fn is_everywhere(&self) -> bool {
        // Neither at the beginning nor at the end of a line, and beside no word.
        self.matcher.find_at(b"\x01\x01", 1).ok().flatten().is_some_and(|found| found.end() == 1)
    }

    pub fn other_readings(&self) -> Vec<Reading> {
        let (text, options) = &*self.source;
        let compile = |text: &str, literal| {
            let pattern = Self::compile(text, PatternOptions { literal, ..*options }).ok();
            pattern.filter(|pattern| !pattern.is_everywhere())
        };
        if options.literal {
            let has_signs = [".*", ".+", "\\", "|", "^", "$", "["].iter().any(|sign| text.contains(sign));
            let pattern = if has_signs { compile(text, false) } else { None };
            return pattern.map(Reading::Regex).into_iter().collect();
        }
        // What finds its own text in a line would have found it elsewhere.
        let finds_itself = self.is_in_line(format!(" {text} ").as_bytes());
        let plain = if finds_itself { None } else { compile(text, true) };
        // A line of code between anchors: `^fn load(path)$`.
        let line = text.strip_prefix('^').unwrap_or(text);
        let line = line.strip_suffix('$').unwrap_or(line);
        let is_code = line != text && line.contains(['(', ')', '[', ']', '{', '}', '+', '*', '?', '|']);
        let within = if is_code { compile(line, true) } else { None };
        let within = within.map(|pattern| Reading::WithinAnchors { pattern, text: line.to_owned() });
        let (plainer, signs) = without_basic_escapes(text, false);
        let basic = basic_regex(text).filter(|basic| *basic != plainer);
        let basic = basic.and_then(|text| Some(Reading::Basic { pattern: compile(&text, false)?, text }));
        let unescaped = if signs.is_empty() { None } else { compile(&plainer, false) };
        let unescaped = unescaped.map(|pattern| Reading::Unescaped { pattern, text: plainer, signs });
        plain.map(Reading::PlainText).into_iter().chain(within).chain(basic).chain(unescaped).collect()
    }

    pub(super) fn multiline(&self) -> bool {
        self.source.1.multiline
    }

    /// The pattern as regex-syntax reads it with the options of the matcher, but for `word`, which
    /// only makes it match less.
    pub(super) fn hir(&self) -> Option<Hir> {
        let (text, options) = &*self.source;
        let text = if options.literal { regex_syntax::escape(text) } else { text.clone() };
        parser(*options).parse(&text).ok()
    }
}

#[derive(Clone, Debug)]
pub enum Reading {
    PlainText(Pattern),
    WithinAnchors {
        pattern: Pattern,
        text: String,
    },
    Regex(Pattern),
    /// A basic regular expression of `grep`: operators have a backslash, and the same signs without one are text.
    Basic {
        pattern: Pattern,
        text: String,
    },
    /// A backslash before each of these operators that is one too many.
    Unescaped {
        pattern: Pattern,
        text: String,
        signs: Vec<char>,
    },
}

/// The basic regular expression `pattern`, as it is written here, where it has operators of such a one.
fn basic_regex(pattern: &str) -> Option<String> {
    let (text, signs) = without_basic_escapes(pattern, true);
    (!signs.is_empty() && parser(PatternOptions::default()).parse(&text).is_ok()).then_some(text)
}

/// The pattern without the backslashes that a basic regular expression needs before operators, and these operators; with
/// one before such signs that have none, where these `are_text`.
fn without_basic_escapes(pattern: &str, are_text: bool) -> (String, Vec<char>) {
    const REGEX_OPERATORS: &str = "|(){}+?";
    let (mut text, mut signs, mut letters) = (String::new(), Vec::new(), pattern.chars());
    while let Some(letter) = letters.next() {
        match (letter, if letter == '\\' { letters.next() } else { None }) {
            ('\\', Some(sign)) if REGEX_OPERATORS.contains(sign) => {
                text.push(sign);
                if !signs.contains(&sign) {
                    signs.push(sign);
                }
            }
            (sign, None) if are_text && REGEX_OPERATORS.contains(sign) => text.extend(['\\', sign]),
            (letter, next) => text.extend([letter].into_iter().chain(next)),
        }
    }
    (text, signs)
}

fn parser(options: PatternOptions) -> regex_syntax::Parser {
    regex_syntax::ParserBuilder::new()
        .nest_limit(NEST_LIMIT)
        // As the matcher, which finds bytes that are no characters: `(?-u:\xff)`.
        .utf8(false)
        .multi_line(true)
        .case_insensitive(!options.case_sensitive)
        .dot_matches_new_line(options.multiline)
        .build()
}

/// Parses on its own first: grep-regex reports a place in a pattern that it has already wrapped.
fn check_syntax(text: &str, options: PatternOptions, limit: usize) -> Result<(), PatternError> {
    match parser(options).parse(text) {
        Ok(hir) => match repeated_positions(&hir, 1, false) {
            positions if positions > limit => Err(PatternError::TooRepetitive { positions, limit }),
            _ => Ok(()),
        },
        Err(regex_syntax::Error::Parse(error)) => Err(PatternError::syntax(text, error.kind(), error.span())),
        Err(regex_syntax::Error::Translate(error)) => Err(PatternError::syntax(text, error.kind(), error.span())),
        Err(other) => Err(PatternError::elsewhere(&other.to_string())),
    }
}

/// The pattern as grep-regex can put it into a group: where it ends in a comment (`(?x)`), the comment
/// would swallow the end of the group, so a line break ends it.
fn wrappable(text: &str, options: PatternOptions) -> Cow<'_, str> {
    // In a pattern without comments the line break would have to match.
    if !options.literal && text.contains('#') {
        let ended = format!("{text}\n");
        let (plain, with_end) = (parser(options).parse(text), parser(options).parse(&ended));
        if plain.is_ok() && plain == with_end {
            return Cow::Owned(ended);
        }
    }
    Cow::Borrowed(text)
}

/// Whether a part of `hir` matches characters beyond ASCII and no others.
fn names_beyond_ascii(hir: &Hir) -> bool {
    any_part(hir, &|kind| match kind {
        HirKind::Literal(literal) => !literal.0.is_ascii() && str::from_utf8(&literal.0).is_ok(),
        HirKind::Class(Class::Unicode(class)) => class.ranges().first().is_some_and(|first| !first.start().is_ascii()),
        _ => false,
    })
}

/// Whether a part of `hir` matches bytes that are not characters: `(?-u:\xff)`.
fn names_bytes(hir: &Hir) -> bool {
    any_part(hir, &|kind| match kind {
        HirKind::Class(Class::Bytes(class)) => class.ranges().last().is_some_and(|last| !last.end().is_ascii()),
        HirKind::Literal(literal) => str::from_utf8(&literal.0).is_err(),
        _ => false,
    })
}

/// Whether a part of `hir` matches characters beyond ASCII, too, or looks at them: `.`, `\w`, `[^,]`, `\b`.
fn takes_beyond_ascii(hir: &Hir) -> bool {
    // A letter in either case has these two: no text means them by an ASCII letter.
    let is_fold = |character: char| matches!(character, 'ſ' | '\u{212A}');
    any_part(hir, &|kind| match kind {
        HirKind::Class(Class::Unicode(class)) => class
            .ranges()
            .iter()
            .any(|range| !(range.end().is_ascii() || range.start() == range.end() && is_fold(range.end()))),
        HirKind::Look(look) => LookSet::singleton(*look).contains_word_unicode(),
        _ => false,
    })
}

fn any_part(hir: &Hir, holds: &impl Fn(&HirKind) -> bool) -> bool {
    holds(hir.kind()) || hir.kind().subs().iter().any(|part| any_part(part, holds))
}

/// Counts the positions of `hir` within counted repetitions, each as often as it is repeated.
fn repeated_positions(hir: &Hir, times: usize, counted: bool) -> usize {
    let (times, counted) = match hir.kind() {
        HirKind::Literal(literal) if counted => return times.saturating_mul(literal.0.len()),
        HirKind::Class(_) if counted => return times,
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(repetition.min).max(1);
            (times.saturating_mul(usize::try_from(most).unwrap_or(usize::MAX)), counted || most > 1)
        }
        _ => (times, counted),
    };
    let positions = hir.kind().subs().iter().map(|part| repeated_positions(part, times, counted));
    positions.fold(0, usize::saturating_add)
}

/// `pattern` with nothing where it has anchors; `None` if it has none, or is not a regular expression.
fn without_anchors(pattern: &str) -> Option<String> {
    let ast = ast::parse::Parser::new().parse(pattern).ok()?;
    let Ok(anchors) = ast::visit(&ast, Anchors::default());
    if anchors.0.is_empty() {
        return None;
    }
    let (mut text, mut from) = (String::new(), 0);
    for span in anchors.0 {
        text.push_str(&pattern[from..span.start.offset]);
        text.push_str("(?:)");
        from = span.end.offset;
    }
    text.push_str(&pattern[from..]);
    Some(text)
}

#[derive(Default)]
struct Anchors(Vec<Span>);

impl Visitor for Anchors {
    type Output = Self;
    type Err = Infallible;

    fn finish(self) -> Result<Self, Infallible> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        if let Ast::Assertion(assertion) = ast {
            let Assertion { span, kind } = &**assertion;
            let is_anchor = matches!(
                kind,
                AssertionKind::StartLine | AssertionKind::EndLine | AssertionKind::StartText | AssertionKind::EndText
            );
            if is_anchor {
                self.0.push(*span);
            }
        }
        Ok(())
    }
}

/// Characters of the pattern that an error shows around the place.
const MAX_SHOWN: usize = 80;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Longer than `limit` bytes.
    #[error("the pattern has {length} bytes, more than {limit}")]
    TooLong {
        /// Bytes of the pattern.
        length: usize,
        /// Bytes that a pattern may have.
        limit: usize,
    },
    #[error("invalid regex at character {column}: {reason}")]
    Syntax {
        reason: String,
        /// Where, counted in characters from 1.
        column: usize,
        place: String,
        /// The pattern as it is written here, where it is a basic regular expression of `grep`.
        basic: Option<String>,
    },
    /// It needs a line break to match, but lines are searched one by one.
    #[error("the pattern contains a line break, but each line is searched separately")]
    LineBreak,
    /// It needs a NUL byte to match, which no text holds.
    #[error("the pattern contains a NUL byte, which no text file has")]
    Nul,
    /// Compiled, it would have more than `limit` bytes.
    #[error("the pattern is too large: compiled, it has more than {limit} bytes")]
    TooBig {
        /// Bytes that a program may have.
        limit: usize,
    },
    /// Its counted repetitions expand to more than `limit` positions.
    #[error("the pattern is too large: its counted repetitions expand to {positions} positions, more than {limit}")]
    TooRepetitive { positions: usize, limit: usize },
}

impl PatternError {
    fn syntax(text: &str, reason: &impl ToString, span: &Span) -> Self {
        let before = text.get(..span.start.offset).unwrap_or(text);
        // A pattern of several lines is shown by the line that holds the place.
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_start..].lines().next().unwrap_or_default();
        let column = before[line_start..].chars().count();
        let width = text.get(span.start.offset..span.end.offset).map_or(1, |part| part.chars().count().max(1));

        let skipped = column.saturating_sub(MAX_SHOWN / 2);
        let mut place: String = line.chars().skip(skipped).take(MAX_SHOWN).collect();
        let shown = place.chars().count();
        let mut carets_at = column - skipped;
        if skipped > 0 {
            place.insert(0, '…');
            carets_at += 1;
        }
        if line.chars().count() > skipped + MAX_SHOWN {
            place.push('…');
        }
        let carets = width.min((shown + 1).saturating_sub(column - skipped)).max(1);
        place.push('\n');
        place.extend(std::iter::repeat_n(' ', carets_at));
        place.extend(std::iter::repeat_n('^', carets));
        let (reason, column) = (first_line(&reason.to_string()), before.chars().count() + 1);
        Self::Syntax { reason, column, place, basic: basic_regex(text) }
    }

    pub(super) fn elsewhere(reason: &str) -> Self {
        Self::Syntax { reason: first_line(reason), column: 1, place: String::new(), basic: None }
    }
}

/// The first line of a reason: the others explain it at length.
fn first_line(reason: &str) -> String {
    let first = reason.lines().next().unwrap_or_default();
    shorten(first, 200).into_owned()
}

#[cfg(test)]
mod tests {
    use grep_matcher::Matcher;

    use super::*;

    fn matches(pattern: &str, options: PatternOptions, text: &str) -> bool {
        Pattern::compile(pattern, options).unwrap().matcher.is_match(text.as_bytes()).unwrap()
    }

    #[test]
    fn case_sensitive_option_decides_case() {
        assert!(matches("note", PatternOptions::default(), "NOTE"));
        assert!(!matches("note", PatternOptions { case_sensitive: true, ..Default::default() }, "NOTE"));
    }

    #[test]
    fn literal_pattern_has_no_metacharacters() {
        let literal = PatternOptions { literal: true, ..Default::default() };
        assert!(matches("a(b", literal, "xa(b"));
        assert!(!matches("a.b", literal, "axb"));
    }

    #[test]
    fn word_option_needs_boundaries_on_both_sides() {
        let word = PatternOptions { word: true, ..Default::default() };
        assert!(matches("get", word, "a.get()"));
        assert!(!matches("get", word, "target"));
    }

    #[test]
    fn dot_matches_line_break_only_in_multiline() {
        assert!(!matches("a.b", PatternOptions::default(), "a\nb"));
        assert!(matches("a.b", PatternOptions { multiline: true, ..Default::default() }, "a\nb"));
    }

    #[test]
    fn syntax_error_shows_its_column() {
        let Err(PatternError::Syntax { reason, column, place, .. }) =
            Pattern::compile("foo(bar", PatternOptions::default())
        else {
            panic!("an unclosed group compiled")
        };
        assert_eq!((reason.as_str(), column), ("unclosed group", 4));
        assert_eq!(place, "foo(bar\n   ^");
    }

    #[test]
    fn syntax_error_in_long_pattern_shows_an_excerpt() {
        let pattern = format!("{}[z-a]{}", "é".repeat(300), "x".repeat(300));
        let Err(PatternError::Syntax { column, place, .. }) = Pattern::compile(&pattern, PatternOptions::default())
        else {
            panic!("a reversed range compiled")
        };
        assert_eq!(column, 302);
        let (shown, carets) = place.split_once('\n').unwrap();
        let at = carets.find('^').unwrap();
        assert_eq!(shown.chars().skip(at).take(3).collect::<String>(), "z-a");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
    }

    #[test]
    fn beyond_ascii_says_what_is_asked_of_such_characters() {
        let says = |text: &str| Pattern::compile(text, PatternOptions::default()).unwrap().beyond_ascii();
        for text in [
            "é",
            "[a-zé]",
            "x\\xe9",
            "\\u00e9",
            "\\u{e9}",
            "\\x{e9}",
            "\\p{Greek}+",
            "(a|[\\x80-\\u{ff}])",
            "[^[:ascii:]]?",
        ] {
            assert_eq!(says(text), BeyondAscii::Named, "{text}");
        }
        for text in [".", "\\w+", "[^x]", "caf.", "\\p{L}", "\\bcaf", "(a|\\s+)b", "f\\b{end}"] {
            assert_eq!(says(text), BeyondAscii::Taken, "{text}");
        }
        for text in ["k", "s", "kiss", "a|b", "[a-z]+", "^x$", "(?-u:\\w)x", "a\\.b"] {
            assert_eq!(says(text), BeyondAscii::Nothing, "{text}");
        }
        assert_eq!(says("a(?-u:\\xff)"), BeyondAscii::Bytes);
        let word = PatternOptions { word: true, ..Default::default() };
        assert_eq!(Pattern::compile("caf", word).unwrap().beyond_ascii(), BeyondAscii::Taken);
    }

    #[test]
    fn anchors_can_be_left_out() {
        let unanchored = |text: &str| Pattern::compile(text, PatternOptions::default()).unwrap().unanchored();
        assert!(unanchored("load").is_none() && unanchored("\\bload\\b").is_none());
        for text in ["^load$", "(?:^|x)load", "^tcp_.*load(er)?$", "\\Aload"] {
            let pattern = unanchored(text).unwrap();
            assert!(pattern.matcher.is_match(b"int xtcp_load(x)").unwrap(), "{text}");
        }
    }

    #[test]
    fn unbalanced_parenthesis_is_a_syntax_error() {
        assert!(matches!(Pattern::compile("a)|(?:b", PatternOptions::default()), Err(PatternError::Syntax { .. })));
    }

    #[test]
    fn pattern_may_end_in_a_comment() {
        for word in [false, true] {
            let options = PatternOptions { word, ..Default::default() };
            assert!(matches("(?x) a b # two letters", options, "x ab") && !matches("(?x) a b # two", options, "a b"));
            assert!(matches("a #b", options, "a #b"), "without the flag it is no comment");
        }
    }

    #[test]
    fn line_break_in_pattern_needs_multiline() {
        assert_eq!(Pattern::compile("a\\nb", PatternOptions::default()).unwrap_err(), PatternError::LineBreak);
        assert_eq!(
            Pattern::compile("a\nb", PatternOptions { literal: true, ..Default::default() }).unwrap_err(),
            PatternError::LineBreak
        );
        assert!(Pattern::compile("a\\nb", PatternOptions { multiline: true, ..Default::default() }).is_ok());
    }

    #[test]
    fn nul_and_oversized_patterns_are_refused() {
        assert_eq!(Pattern::compile("a\\x00", PatternOptions::default()).unwrap_err(), PatternError::Nul);
        for (too_much, positions) in
            [("(\\w{500}){500}", 250_000), ("(.{1,100}){1,60}x", 6000), ("((a|b){1,80}){2,}{50}", 8000)]
        {
            let error = Pattern::compile(too_much, PatternOptions::default()).unwrap_err();
            assert_eq!(error, PatternError::TooRepetitive { positions, limit: 3000 });
        }
        assert!(Pattern::compile("\\w{150}x.{0,2000}y", PatternOptions::default()).is_ok());
        assert!(matches!(
            Pattern::compile(&"a".repeat((8 << 10) + 1), PatternOptions::default()),
            Err(PatternError::TooLong { length: 8193, limit: 8192 })
        ));
    }

    #[test]
    fn pattern_limits_are_configurable() {
        let compile = |text: &str, limits| Pattern::compile_within(text, PatternOptions::default(), limits);
        let default = PATTERN_LIMITS;
        assert!(compile("(.{1,100}){1,60}x", PatternLimits { repeated: 6000, ..default }).is_ok());
        assert_eq!(
            compile("\\w\\w", PatternLimits { compiled: 1000, ..default }).unwrap_err(),
            PatternError::TooBig { limit: 1000 }
        );
        assert_eq!(
            compile("abcd", PatternLimits { regex: 3, ..default }).unwrap_err(),
            PatternError::TooLong { length: 4, limit: 3 }
        );
    }

    #[test]
    fn pattern_that_matches_the_empty_text_is_everywhere() {
        let is = |text: &str| Pattern::compile(text, PatternOptions::default()).unwrap().is_everywhere();
        for text in ["a || b", "x*", "(foo)?", "|a", "a|", "a{0,3}", "a || b$"] {
            assert!(is(text), "{text}");
        }
        for text in ["a|b", "^", "$", "^$", ".*", "^.*$", r"\b", "x+", r"\|\|"] {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn other_readings_are_those_that_may_find_something() {
        let shown = |text: &str, literal| {
            let pattern = Pattern::compile(text, PatternOptions { literal, ..Default::default() }).unwrap();
            let shown = |reading| match reading {
                Reading::PlainText(_) => "plain".to_owned(),
                Reading::Regex(_) => "regex".to_owned(),
                Reading::WithinAnchors { text, .. } | Reading::Basic { text, .. } | Reading::Unescaped { text, .. } => {
                    text
                }
            };
            pattern.other_readings().into_iter().map(shown).collect::<Vec<_>>().join(" ")
        };
        for (text, expected) in [
            ("foo(bar)", "plain"),
            ("arr[0]", "plain"),
            ("status?.message", "plain"),
            ("\"$5\"", "plain"),
            ("end$", "plain"),
            ("^start", "plain"),
            ("$VAR", "plain"),
            ("C++", ""),
            ("foo", ""),
            ("a.b", ""),
            (r"\bfoo", "plain"),
            (r"alpha\|beta", "plain alpha|beta"),
            (r"\(a\|b\)\+", "plain (a|b)+"),
            (r"\(a\|b\)(c)", r"plain (a|b)\(c\) (a|b)(c)"),
            (r"\w+\|b", r"plain \w\+|b \w+|b"),
            ("^fn load(path)$", "plain fn load(path)"),
            (r"\| a \|", "plain"),
            (r"foo\.bar", "plain"),
        ] {
            assert_eq!(shown(text, false), expected, "{text}");
        }
        for (text, expected) in [("foo.*bar", "regex"), ("a|b", "regex"), ("foo(bar)", ""), ("a || b", "")] {
            assert_eq!(shown(text, true), expected, "{text}");
        }
    }

    #[test]
    fn error_has_the_basic_regex_that_it_may_be() {
        let basic = |text: &str| match Pattern::compile(text, PatternOptions::default()).unwrap_err() {
            PatternError::Syntax { basic, .. } => basic,
            error => panic!("{error:?}"),
        };
        assert_eq!(basic(r"fn load(\|fn save(").as_deref(), Some(r"fn load\(|fn save\("));
        assert_eq!(basic(r"fo\{2\}(").as_deref(), Some(r"fo{2}\("));
        assert_eq!((basic("foo("), basic(r"\(foo(")), (None, None));
    }

    #[test]
    fn anchors_are_left_out_and_nothing_else() {
        for (pattern, expected) in [
            ("^load$", "(?:)load(?:)"),
            (r"(?:^|x)\w+(er)?\z", r"(?:(?:)|x)\w+(er)?(?:)"),
            ("(?x) ^ é # ^\n$", "(?x) (?:) é # ^\n(?:)"),
        ] {
            assert_eq!(without_anchors(pattern).as_deref(), Some(expected));
        }
        for pattern in [r"\bload\b", "[^a]", r"\^", "load", "(", "(?x) # ^"] {
            assert_eq!(without_anchors(pattern), None, "{pattern}");
        }
    }
}
