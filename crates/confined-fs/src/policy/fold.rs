//! Folds names, and the patterns of globs, to the form in which policy compares them: one form for all spellings that some
//! file system takes for the same name.
//!
//! APFS and NTFS ignore case (CVE-2025-59944: `.cUrSoR/mcp.json`), NTFS drops trailing dots and spaces and reads streams
//! (`.git::$INDEX_ALLOCATION`, CVE-2019-1352), HFS+ ignores invisible characters (CVE-2014-9390: `.g\u{200c}it`).
//! Folding on every system costs little and errs on the side of refusing.

use std::path::{Path, is_separator};
use std::{borrow::Cow, collections::BTreeSet, ffi::OsStr, fmt::Write as _, iter::Peekable, str::Chars};

use unicode_normalization::UnicodeNormalization as _;

use text_file::escape::is_invisible;

/// A relative path with each name folded, joined by `/`.
#[derive(Debug)]
pub(super) struct Folded {
    path: String,
    starts: Vec<usize>,
}

impl Folded {
    /// The whole path; "" for the root.
    pub(super) fn as_str(&self) -> &str {
        &self.path
    }

    pub(super) fn tails(&self) -> impl Iterator<Item = &str> {
        self.starts.iter().map(|start| &self.path[*start..])
    }

    pub(super) fn file_name(&self) -> &str {
        self.starts.last().map_or("", |start| &self.path[*start..])
    }
}

pub(super) fn fold(relative: &Path) -> Folded {
    let mut path = String::with_capacity(relative.as_os_str().len());
    let mut starts = Vec::with_capacity(16);
    for name in relative {
        if !path.is_empty() {
            path.push('/');
        }
        starts.push(path.len());
        path.push_str(&fold_name(name));
    }
    Folded { path, starts }
}

/// Lower case, compatibility form, nothing invisible, no dots or spaces at the end, no stream of NTFS.
fn fold_name(name: &OsStr) -> Cow<'_, str> {
    let text = name.to_string_lossy();
    let simple = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && !byte.is_ascii_control() && byte != b':';
    if text.bytes().all(simple) && !text.ends_with(['.', ' ']) { text } else { Cow::Owned(fold_text(&text)) }
}

pub(super) fn fold_text(name: &str) -> String {
    without_stream(&fold_characters(name)).trim_end_matches(['.', ' ']).to_owned()
}

/// A part of a name: its characters only, not what is special about the end of a name.
pub(super) fn fold_characters(text: &str) -> String {
    // Twice through case: U+017F (long s) is lower case already, and becomes `s` by way of `S`.
    text.nfkc()
        .filter(|character| !is_invisible(*character) && !character.is_control())
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        // Again, as a change of case does not keep the normal form (Unicode Standard, 5.18).
        .nfkc()
        // NFKC makes a slash of U+FF0F and `a/c` of U+2100: one name must not become two.
        .map(|character| if character == '/' { '\u{fffd}' } else { character })
        .collect()
}

/// `.git::$INDEX_ALLOCATION` and `.env::$DATA` are `.git` and `.env` to NTFS, which Linux mounts too.
/// A type begins with `$`; other names with colons stay what they are.
fn without_stream(name: &str) -> &str {
    match name.split_once(':') {
        Some((file, stream)) if !file.is_empty() && (stream.starts_with('$') || stream.contains(":$")) => file,
        _ => name,
    }
}

/// How many members a range beyond ASCII may have: each becomes an alternative.
const MAX_MEMBERS: u32 = 1024;

/// One character beyond ASCII. `globset` compares bytes and takes the ends of a range apart into
/// theirs: the negated classes are what begins a character of two, three and four bytes at least, the
/// other is 0x80 to 0xC2, what continues one, and a beginning which the number of bytes leaves no room for.
const BEYOND_ASCII: &str = "[!\u{0}-\u{7f}][\u{80}-\u{bf}],[!\u{0}-\u{7c0}][\u{80}-\u{bf}][\u{80}-\u{bf}],\
                            [!\u{0}-\u{f000}][\u{80}-\u{bf}][\u{80}-\u{bf}][\u{80}-\u{bf}]";

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// `/`, `*`, or a brace or comma of a group: the same in both patterns.
    Sign(char),
    /// One character: those of a `[class]`; `?` is all but none.
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

/// `pattern`, which is a glob, for names that were folded (`folded`) or that are as they are: text folded as names are, one
/// character for `?`.
///
/// Reads a pattern as `globset` does and writes another one. `globset` compares bytes: to it `?` is one byte of `é`.
/// What a pattern is about (which list, which paths) is decided in `globs`.
///
/// # Errors
/// Why it cannot be compared, in a few words.
pub(crate) fn translate(pattern: &str, folded: bool) -> Result<String, String> {
    let pieces = pieces(pattern);
    let mut out = String::with_capacity(pattern.len() * 2);
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) if folded => {
                push_literal(&mut out, &fold_piece(text, is_edge(&pieces, at, false), is_edge(&pieces, at, true)));
            }
            Piece::Text(text) => push_literal(&mut out, text),
            Piece::Class { negated, ranges } => push_class(&mut out, *negated, ranges, folded)?,
            Piece::Sign(sign) => out.push(*sign),
        }
    }
    Ok(out)
}

/// The pattern for exactly `name`. More than `globset::escape`: a backslash is a character too.
pub(crate) fn literal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    push_literal(&mut out, name);
    out
}

fn push_literal(out: &mut String, text: &str) {
    for character in text.chars() {
        if matches!(character, '?' | '*' | '[' | ']' | '{' | '}' | ',' | '\\') {
            out.extend(['[', character, ']']);
        } else {
            out.push(character);
        }
    }
}

/// Text of a pattern as the same text in a name is folded. What folds to nothing stays: a pattern
/// must not match everything because its only letter is invisible.
fn fold_piece(text: &str, begins: bool, ends: bool) -> String {
    let folded = match (begins, ends) {
        (true, true) => fold_text(text),
        (_, true) => fold_characters(text).trim_end_matches(['.', ' ']).to_owned(),
        (_, false) => fold_characters(text),
    };
    if folded.is_empty() && !text.is_empty() { text.to_owned() } else { folded }
}

/// Whether what is at `at` is an edge of a name: its end where `forward`, or else its beginning.
fn is_edge(pieces: &[Piece], at: usize, forward: bool) -> bool {
    // Before the first piece there is none, as after the last.
    let (next, brace) = if forward { (at + 1, '}') } else { (at.wrapping_sub(1), '{') };
    match pieces.get(next) {
        None | Some(Piece::Sign('/')) => true,
        Some(Piece::Sign(sign)) if *sign == brace => is_edge(pieces, next, forward),
        Some(Piece::Sign(',')) => partner(pieces, next, forward).is_some_and(|end| is_edge(pieces, end, forward)),
        _ => false,
    }
}

fn partner(pieces: &[Piece], at: usize, closing: bool) -> Option<usize> {
    let mut depth = 0_usize;
    let (inner, outer) = if closing { ('{', '}') } else { ('}', '{') };
    let mut is_partner = |index: &usize| {
        let is_outer = pieces[*index] == Piece::Sign(outer);
        let found = is_outer && depth == 0;
        depth += usize::from(pieces[*index] == Piece::Sign(inner));
        // Cannot underflow: at depth 0 an outer brace is the one that is looked for.
        depth -= usize::from(is_outer && !found);
        found
    };
    if closing { (at + 1..pieces.len()).find(&mut is_partner) } else { (0..at).rev().find(&mut is_partner) }
}

/// One character of a set, as alternatives: `globset` would take a class beyond ASCII for bytes.
/// All that is beyond ASCII where a negated set leaves out a part of that: refusing errs that way.
fn push_class(out: &mut String, negated: bool, ranges: &[(char, char)], folded: bool) -> Result<(), String> {
    let mut ascii = BTreeSet::new();
    let mut texts = BTreeSet::new();
    for (first, last) in ranges {
        if u32::from(*last).saturating_sub(u32::from(*first)) >= MAX_MEMBERS && !negated {
            return Err(format!("[{first}-{last}] has more than {MAX_MEMBERS} members: write ? for any character"));
        }
        let end = if negated { (*last).min('\u{7f}') } else { *last };
        for member in *first..=end {
            let text = if folded { fold_characters(&member.to_string()) } else { member.to_string() };
            match *text.as_bytes() {
                [byte] => drop(ascii.insert(byte.to_ascii_lowercase())),
                [] => {}
                _ => drop(texts.insert(text)),
            }
        }
    }
    let of_class = |byte: &u8| *byte != b'/' && ascii.contains(&byte.to_ascii_lowercase()) != negated;
    let chosen: Vec<char> = (0..0x80_u8).filter(of_class).map(char::from).collect();
    // `!`, `^`, `-` and `]` have a meaning in a class, depending on their position.
    let (odd, plain): (Vec<char>, Vec<char>) = chosen.into_iter().partition(|c| matches!(c, '!' | '^' | '-' | ']'));
    let mut alternatives = Vec::new();
    if !plain.is_empty() {
        let mut class = String::from("[");
        for run in plain.chunk_by(|one, next| u32::from(*one) + 1 == u32::from(*next)) {
            match *run {
                [first, _, .., last] => drop(write!(class, "{first}-{last}")),
                _ => class.extend(run),
            }
        }
        alternatives.push(class + "]");
    }
    alternatives.extend(odd.into_iter().map(|c| literal(&c.to_string())));
    alternatives.extend(texts.iter().map(|text| literal(text)));
    if negated {
        alternatives.push(BEYOND_ASCII.to_owned());
    }
    if alternatives.is_empty() {
        return Err("a [class] of it names no character".to_owned());
    }
    match alternatives.as_slice() {
        [one] if !negated => out.push_str(one),
        _ => drop(write!(out, "{{{}}}", alternatives.join(","))),
    }
    Ok(())
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut depth = 0_usize;
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '?' => pieces.push(Piece::Class { negated: true, ranges: Vec::new() }),
            '[' => push_set(&mut pieces, class(&mut rest)),
            '*' => pieces.push(Piece::Sign('*')),
            '{' | '}' => {
                depth = if character == '{' { depth + 1 } else { depth.saturating_sub(1) };
                pieces.push(Piece::Sign(character));
            }
            ',' if depth > 0 => pieces.push(Piece::Sign(',')),
            '\\' if !is_separator('\\') => rest.next().into_iter().for_each(|literal| push_text(&mut pieces, literal)),
            other => push_text(&mut pieces, other),
        }
    }
    pieces
}

fn push_set(pieces: &mut Vec<Piece>, (negated, ranges): (bool, Vec<(char, char)>)) {
    match *ranges.as_slice() {
        [(first, last)] if first == last && !negated => push_text(pieces, first),
        _ => pieces.push(Piece::Class { negated, ranges }),
    }
}

fn push_text(pieces: &mut Vec<Piece>, character: char) {
    if is_separator(character) {
        pieces.push(Piece::Sign('/'));
    } else if let Some(Piece::Text(text)) = pieces.last_mut() {
        text.push(character);
    } else {
        pieces.push(Piece::Text(character.to_string()));
    }
}

/// The inside of `[…]`, up to and with its end.
pub(super) fn class(rest: &mut Peekable<Chars<'_>>) -> (bool, Vec<(char, char)>) {
    let negated = rest.next_if(|next| matches!(next, '!' | '^')).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut in_range = false;
    for character in rest.by_ref() {
        match (character, ranges.last_mut()) {
            (']', Some(_)) => break,
            ('-', Some(_)) if !in_range => in_range = true,
            (_, Some(range)) if in_range => {
                range.1 = character;
                in_range = false;
            }
            _ => ranges.push((character, character)),
        }
    }
    if in_range {
        ranges.push(('-', '-'));
    }
    (negated, ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_fold_together() {
        for spelling in ["config", "CONFIG", "config.", "config . ", "con\u{200b}fig", "ｃonfig"] {
            assert_eq!(fold(Path::new(spelling)).as_str(), "config", "{spelling:?}");
        }
        assert_eq!(fold(Path::new("a/\u{212a}ey\u{17f}")).as_str(), "a/keys");
    }

    #[test]
    fn ntfs_streams_fold_to_their_file_and_other_colons_stay() {
        for (name, folded) in [
            (".git::$INDEX_ALLOCATION/config", ".git/config"),
            (".git:$I30:$INDEX_ALLOCATION", ".git"),
            (".env::$DATA", ".env"),
            (".env .:$DATA", ".env"),
            ("12:30:00.log", "12:30:00.log"),
            ("a:b", "a:b"),
            ("std::fs.md", "std::fs.md"),
            ("price:5$", "price:5$"),
            (":$x", ":$x"),
        ] {
            // On Windows no name of a path can be `a:b`: that is `b` in the current folder of drive `a:`.
            if cfg!(unix) || name != "a:b" {
                assert_eq!(fold(Path::new(name)).as_str(), folded, "{name}");
            }
        }
    }
}
