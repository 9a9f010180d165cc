//! A line as the alignment compares it: by its content, by its letters alone, or by parts where it is long.

use std::collections::HashMap;

use crate::{
    line_parts::{content, parts},
    placeholder,
    similarity::{self, Budget},
};

/// Lines less alike than this are different lines.
pub(super) const LEAST: f64 = 0.5;

/// The similarity of two lines that differ in nothing but white space, punctuation and casing.
const SAME_LETTERS: f64 = 0.97;

/// A line as it is compared.
pub(super) struct LineKey<'t> {
    /// Without white space at its ends.
    pub(super) content: &'t str,
    /// A hash of its letters, where they mean anything.
    pub(super) letters: Option<u64>,
    /// How much it says.
    pub(super) weight: f32,
    /// White space in front of it.
    indent: &'t str,
    /// Whether it looks like a placeholder for code.
    pub(super) is_placeholder: bool,
}

impl<'t> LineKey<'t> {
    pub(super) fn new(line: &'t str) -> Self {
        const MOST: usize = 80;
        const LEAST: usize = 4;
        let content = content(line);
        let length = u16::try_from(content.len().min(MOST) + LEAST).unwrap_or(u16::MAX);
        let weight = if content.is_empty() { 1.0 } else { f32::from(length) };
        let indent = parts(line).0;
        Self {
            content,
            letters: letters(content),
            weight,
            indent,
            is_placeholder: placeholder::is_placeholder(content),
        }
    }

    /// Whether they are indented alike: of several braces that one is meant.
    pub(super) fn has_indent_of(&self, other: &Self) -> bool {
        self.indent == other.indent
    }

    /// From 0 to 1, by as much work as the budget still pays for.
    pub(super) fn alike(&self, other: &Self, budget: &mut Budget) -> f64 {
        if self.content == other.content {
            return 1.0;
        }
        if self.letters.is_some() && self.letters == other.letters {
            return SAME_LETTERS;
        }
        let (short, long) = (self.content.len().min(other.content.len()), self.content.len().max(other.content.len()));
        if short * 2 < long {
            return 0.0;
        }
        match similarity::of_lines(self.content, other.content, budget).0 {
            alike if alike > 0.0 => alike,
            // Too long to be compared letter by letter.
            _ => long_alike(self.content, other.content, budget),
        }
    }
}

/// How alike two long lines are: by their ends and, where they are not too long for it, by their words.
fn long_alike(a: &str, b: &str, budget: &mut Budget) -> f64 {
    const MOST: usize = 1 << 20;
    // Comparing ends is as fast as reading; words are hashed one by one.
    if !budget.spend((a.len() + b.len()) / 64, 1) {
        return 0.0;
    }
    let ends = ends_shared(a, b);
    if ends >= LEAST || a.len().max(b.len()) > MOST || !budget.spend(a.len() + b.len(), 1) {
        return ends;
    }
    let mut counts: HashMap<&str, i32> = HashMap::new();
    for word in split(a) {
        *counts.entry(word).or_default() += 1;
    }
    let (mut shared, mut whole) = (0, 0);
    for word in split(b) {
        whole += word.len();
        if let Some(count) = counts.get_mut(word).filter(|count| **count > 0) {
            *count -= 1;
            shared += word.len();
        }
    }
    let other: usize = split(a).map(str::len).sum();
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(shared) / number(whole.max(other).max(1))
}

/// The words of a line.
fn split(line: &str) -> impl Iterator<Item = &str> {
    line.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The share of the longer text that both have at their ends.
pub(super) fn ends_shared(a: &str, b: &str) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let (before, after) = shared_ends(a, b);
    number(before + after) / number(a.len().max(b.len()).max(1))
}

/// Bytes that both texts begin with, and that the rests of both end with; on character boundaries.
pub(super) fn shared_ends(a: &str, b: &str) -> (usize, usize) {
    let mut before = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    while !a.is_char_boundary(before) {
        before -= 1;
    }
    let (a, b) = (&a[before..], &b[before..]);
    let mut after = a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    while !a.is_char_boundary(a.len() - after) {
        after -= 1;
    }
    (before, after)
}

/// A hash of the letters and digits of a line, whatever their casing; `None` where they are too few to mean anything.
pub(super) fn letters(line: &str) -> Option<u64> {
    const FEWEST: usize = 3;
    // Fowler, Noll and Vo's hash: every line of the file is hashed, and an accident only costs a vote.
    let mut hash: u64 = 0xCBF2_9CE4_8422_2325;
    let mut count = 0;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    for character in line.chars() {
        if character.is_ascii_alphanumeric() {
            count += 1;
            add(character.to_ascii_lowercase() as u8);
        } else if !character.is_ascii() && character.is_alphanumeric() {
            count += 1;
            character.to_lowercase().for_each(|lower| u32::from(lower).to_le_bytes().into_iter().for_each(&mut add));
        }
    }
    (count >= FEWEST).then_some(hash)
}
