//! Styles of paragraphs, and the numbers of lists: what a paragraph takes from its style, and the sign before an item.

use std::{
    collections::{HashMap, HashSet},
    iter,
};

/// Styles that are based on each other, of which Word makes no more than ten.
const MAX_BASES: usize = 16;

/// Levels of a list: Word has nine, and `OpenDocument` ten.
pub(crate) const MAX_LEVELS: usize = 10;

/// Characters of the text around the number of an item: ECMA-376 part 1, 17.9.11.
pub(crate) const MAX_LABEL: usize = 255;

/// The mark of text that is not shown in print.
pub(crate) const HIDDEN_MARK: &str = "hidden";

#[derive(Default)]
pub(crate) struct Style {
    pub(crate) based_on: String,
    /// The level of a heading, from 0; 9 is body text.
    pub(crate) outline: Option<u8>,
    pub(crate) list: Option<String>,
    pub(crate) level: Option<usize>,
    pub(crate) is_hidden: Option<bool>,
    /// The sign of raised or lowered text; a space for one that says it is neither.
    pub(crate) script: Option<char>,
}

#[derive(Clone, Default)]
pub(crate) struct Level {
    pub(crate) start: Option<u32>,
    pub(crate) format: String,
    /// What is before its items, as `%1.%2)`, where `%2` is the number of the second level.
    pub(crate) text: Option<String>,
    /// Whether it begins again where the list does; and whether it goes on after an item of a level above.
    pub(crate) restarts: bool,
    pub(crate) goes_on: bool,
    /// Whether the numbers of the levels above are in figures here: 17.9.4.
    pub(crate) is_legal: bool,
}

pub(crate) type Levels = [Level; MAX_LEVELS];

/// The definition of a list, with which all of its lists count; and its levels.
pub(crate) type List = (String, Levels);

#[derive(Default)]
pub(crate) struct Styles {
    pub(crate) named: HashMap<String, Style>,
    pub(crate) lists: HashMap<String, List>,
}

impl Styles {
    /// Whether text in this style is raised (`^`) or lowered (`_`); `otherwise` where it does not say so.
    pub(crate) fn script(&self, name: String, otherwise: Option<char>) -> Option<char> {
        let style = Style { based_on: name, ..Style::default() };
        self.inherited(&style, |style| style.script).or(otherwise)
    }

    pub(crate) fn inherited<'s, T>(&'s self, style: &'s Style, find: impl Fn(&Style) -> Option<T>) -> Option<T> {
        iter::successors(Some(style), |style| self.named.get(&style.based_on)).take(MAX_BASES).find_map(find)
    }
}

#[derive(Default)]
pub(crate) struct Numbers {
    pub(crate) last: HashMap<String, [Option<u32>; MAX_LEVELS]>,
    begun: HashSet<String>,
}

impl Numbers {
    /// The sign or the number of the next item of a list, indented where it is not that of a heading.
    pub(crate) fn prefix(&mut self, id: &str, list: &List, level: usize, is_heading: bool) -> String {
        let ((definition, levels), level) = (list, level.min(MAX_LEVELS - 1));
        let numbers = self.last.entry(definition.clone()).or_default();
        if self.begun.insert(id.to_owned()) {
            numbers.iter_mut().zip(levels).filter(|(_, level)| level.restarts).for_each(|(number, _)| *number = None);
        }
        let below = numbers.iter_mut().zip(levels).skip(level + 1).filter(|(_, level)| !level.goes_on);
        below.for_each(|(number, _)| *number = None);
        let start = |level: &Level| level.start.unwrap_or(1);
        let next = numbers[level].map_or(start(&levels[level]), |number| number.saturating_add(1));
        numbers[level] = Some(next);
        let Level { format, text, is_legal, .. } = &levels[level];
        let mut label = match (format.as_str(), text) {
            ("bullet", _) => "-".to_owned(),
            (_, Some(text)) => text.clone(),
            ("none", None) => String::new(),
            _ => format!("%{}.", level + 1),
        };
        for (at, (number, level)) in numbers.iter().zip(levels).enumerate().rev() {
            let format = if *is_legal { "decimal" } else { &level.format };
            let number = numeral(format, number.unwrap_or(start(level)));
            label = label.replace(&format!("%{}", at + 1), &number);
        }
        match label.trim_end() {
            "" => String::new(),
            label => format!("{}{label} ", "  ".repeat(if is_heading { 0 } else { level })),
        }
    }
}

/// `inserted by A`; without the name of an author where it is not known.
pub(crate) fn by(what: &str, author: &str) -> String {
    let author: String = author.chars().take(100).collect();
    if author.is_empty() { what.to_owned() } else { format!("{what} by {author}") }
}

/// A number of a list in one of the forms of 17.18.59; in figures where it is none of those with letters.
fn numeral(format: &str, number: u32) -> String {
    const ROMAN_DIGITS: &str = "m cm d cd c xc l xl x ix v iv i";
    const ROMAN_VALUES: [u32; 13] = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1];
    let (mut rest, mut roman) = (number, String::new());
    match (format, number) {
        ("none" | "bullet", _) => String::new(),
        ("decimalZero", _) => format!("{number:02}"),
        ("lowerRoman", 1..4000) => {
            for (letters, value) in ROMAN_DIGITS.split(' ').zip(ROMAN_VALUES) {
                roman.extend((0..rest / value).map(|_| letters));
                rest %= value;
            }
            roman
        }
        // After z comes aa, and after it bb.
        ("lowerLetter", 1..=780) => {
            let letter = (b'a'..=b'z').nth((number as usize - 1) % 26).map_or('z', char::from);
            letter.to_string().repeat((number as usize).div_ceil(26))
        }
        ("upperRoman", 1..4000) => numeral("lowerRoman", number).to_uppercase(),
        ("upperLetter", 1..=780) => numeral("lowerLetter", number).to_uppercase(),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_form_of_their_list() {
        for (format, number, text) in [
            ("decimal", 12, "12"),
            ("decimalZero", 7, "07"),
            ("none", 7, ""),
            ("lowerRoman", 1994, "mcmxciv"),
            ("upperRoman", 48, "XLVIII"),
            ("upperRoman", 4000, "4000"),
            ("lowerLetter", 26, "z"),
            ("lowerLetter", 28, "bb"),
            ("upperLetter", 780, &"Z".repeat(30)),
            ("upperLetter", 0, "0"),
            ("ideographDigital", 3, "3"),
        ] {
            assert_eq!(numeral(format, number), text, "{format} {number}");
        }
    }
}
