//! The argument `part`: the part of a file that line numbers do not name.

use std::fmt;

use super::{super::ToolError, format::Format};

/// The forms of the argument, for errors.
const FORMS: &str = "`def NAME`, `fn NAME`, `class NAME`, `pages 3-5` (PDF), `cells 2-4` (notebook), `region X,Y,WIDTH,HEIGHT` (image) or \
                     `columns 2001-4000` (long lines)";

/// A part of a file. Pages, cells and columns count from 1 and both ends belong to the range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The definitions of this name.
    Def(String),
    /// Pages of a PDF.
    Pages { first: usize, last: usize },
    /// Cells of a notebook.
    Cells { first: usize, last: usize },
    /// A rectangle of an image, in its own pixels.
    Region { x: usize, y: usize, width: usize, height: usize },
    /// Characters of each line.
    Columns { first: usize, last: usize },
}

impl Part {
    /// Parses the argument.
    ///
    /// # Errors
    /// `invalid_input`, which names the value and the forms there are.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let text = text.trim();
        let wrong = |why: &str| {
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            ToolError::invalid(format!("`part` is not valid: {text:?}{why}")).hint(format!("use {FORMS}"))
        };
        let end = text.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(text.len());
        let (form, rest) = text.split_at(end);
        // `pages: 3` and `pages=3` mean the same; a name may begin with such a sign.
        let rest = rest.strip_prefix([':', '=']).unwrap_or(rest).trim();
        let numbers = rest.trim_start_matches([':', '=', ' ']);
        let range = |what| range(numbers).map_err(|why| wrong(&format!("{what} {why}")));
        match form.to_ascii_lowercase().as_str() {
            "def" if definition(rest).is_empty() => Err(wrong("the name of a definition is missing")),
            "def" => Ok(Self::Def(definition(rest).to_owned())),
            "pages" | "page" => range("pages").map(|(first, last)| Self::Pages { first, last }),
            "cells" | "cell" => range("cells").map(|(first, last)| Self::Cells { first, last }),
            "columns" | "column" => range("columns").map(|(first, last)| Self::Columns { first, last }),
            "region" => region(numbers).map_err(wrong),
            _ if text.split_whitespace().count() > 1 && is_definition(&form.to_ascii_lowercase()) => {
                Ok(Self::Def(definition(text).to_owned()))
            }
            _ => Err(wrong("")),
        }
    }

    /// Whether a range of lines may be given as well.
    pub(super) fn is_of_lines(&self) -> bool {
        matches!(self, Self::Columns { .. } | Self::Pages { .. })
    }

    /// The error for a file whose format has no such part.
    pub(super) fn unfit(&self, path: &impl fmt::Display, format: Format) -> ToolError {
        let fits = match self {
            Self::Def(_) => "source files",
            Self::Pages { .. } => "PDF files",
            Self::Cells { .. } => "notebooks",
            Self::Region { .. } => "images",
            Self::Columns { .. } => "text files",
        };
        let (what, instead) = match format {
            Format::Image(_) => ("an image", "part=\"region X,Y,WIDTH,HEIGHT\", or no part for all of it"),
            Format::Pdf => ("a PDF file", "part=\"pages 1-5\", or no part to read from the first page"),
            Format::Notebook => ("a notebook", "part=\"cells 1-5\", or no part to read from the first cell"),
            Format::Text => ("a text file", "start_line and end_line, part=\"def NAME\" or part=\"columns 2001-4000\""),
        };
        ToolError::invalid(format!("part {self} is for {fits}; {path} is {what}")).hint(format!("use {instead}"))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut range = |what, first: &usize, last: &usize| match *last {
            usize::MAX => write!(f, "{what} {first}-"),
            last if last == *first => write!(f, "{what} {first}"),
            last => write!(f, "{what} {first}-{last}"),
        };
        match self {
            Self::Def(name) => write!(f, "def {name}"),
            Self::Pages { first, last } => range("pages", first, last),
            Self::Cells { first, last } => range("cells", first, last),
            Self::Columns { first, last } => range("columns", first, last),
            Self::Region { x, y, width, height } => write!(f, "region {x},{y},{width},{height}"),
        }
    }
}

/// What definitions begin with in one language or another; what `def` finds of a name may be asked for by each.
const DEFINING: &str = "fn func function fun class struct enum interface trait impl type method module mod const macro namespace \
    record object protocol union proc sub defp";

/// What may be in front of that.
const MODIFIERS: &str = "pub public private protected internal static async export default abstract final unsafe";

fn is_modifier(word: &str) -> bool {
    MODIFIERS.split(' ').any(|one| one == word)
}

fn is_definition(word: &str) -> bool {
    DEFINING.split(' ').any(|one| one == word) || is_modifier(word)
}

/// The definition that is meant by its first line, or the beginning of that.
fn definition(text: &str) -> &str {
    let mut rest = text.trim();
    if let Some((_, behind)) = rest.strip_prefix("pub(").and_then(|behind| behind.split_once(')')) {
        rest = behind.trim_start();
    }
    while let Some((_, behind)) = rest.split_once(char::is_whitespace).filter(|(word, _)| is_modifier(word)) {
        rest = behind.trim_start();
    }
    let end = rest.find(['(', '{']).filter(|end| *end > 0 && !rest[..*end].ends_with("operator")).unwrap_or(rest.len());
    rest[..end].trim_end_matches([' ', ':'])
}

/// `3-5`, `3` or `3-`, which goes to the end. The error continues a sentence that begins with what is counted.
fn range(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| {
        let text = text.trim();
        match whole_number(text) {
            Some(0) => Err("count from 1".to_owned()),
            Some(number) => Ok(number),
            None => Err(format!("are numbers, not {text:?}")),
        }
    };
    let Some((first, last)) = text.split_once("..").or_else(|| text.split_once(['-', '–'])) else {
        return number(text).map(|only| (only, only));
    };
    let first = number(first)?;
    let last = if last.trim().is_empty() { usize::MAX } else { number(last)? };
    if last < first { Err(format!("{first}-{last} end before they start")) } else { Ok((first, last)) }
}

fn region(text: &str) -> Result<Part, &'static str> {
    const WRONG: &str = "a region is four whole numbers: x,y,width,height";
    let fields: Option<Vec<usize>> =
        text.split([',', ' ']).filter(|field| !field.is_empty()).map(whole_number).collect();
    match fields.as_deref() {
        Some([_, _, 0, _] | [_, _, _, 0]) => Err("a region has a width and a height above 0"),
        Some(&[x, y, width, height]) => Ok(Part::Region { x, y, width, height }),
        _ => Err(WRONG),
    }
}

/// Digits alone as a number; one that is too large for any file counts as the largest.
fn whole_number(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_form_is_read_and_shown() {
        for (text, shown) in [
            ("def tcp_may_undo", "def tcp_may_undo"),
            ("  DEF  Walk::new ", "def Walk::new"),
            ("pages 3-5", "pages 3-5"),
            ("page 3", "pages 3"),
            ("pages = 3 - 5", "pages 3-5"),
            ("cells: 2..4", "cells 2-4"),
            ("def=load", "def load"),
            ("def ::main", "def ::main"),
            ("fn main", "def fn main"),
            ("pub(crate) fn main", "def fn main"),
            ("async function load(path) {", "def function load"),
            ("export default class Walk:", "def class Walk"),
            ("def load(path):", "def load"),
            ("page 9", "pages 9"),
            ("columns 2001-", "columns 2001-"),
            ("columns2001-4000", "columns 2001-4000"),
            ("region 0,0,800,600", "region 0,0,800,600"),
            ("region 0, 0, 800, 600", "region 0,0,800,600"),
            ("columns 1-99999999999999999999999", "columns 1-"),
        ] {
            assert_eq!(Part::parse(text).map(|part| part.to_string()).ok().as_deref(), Some(shown), "{text}");
        }
    }

    #[test]
    fn invalid_part_is_named_with_the_valid_forms() {
        for (text, said) in [
            ("", "is not valid: \"\"\n"),
            ("lines 3-5", "is not valid: \"lines 3-5\"\n"),
            ("def", "the name of a definition is missing"),
            ("pages 0-5", "pages count from 1"),
            ("pages 5-3", "pages 5-3 end before they start"),
            ("pages x", "pages are numbers, not \"x\""),
            ("pages -3", "pages are numbers, not \"\""),
            ("region 0,0,800", "four whole numbers"),
            ("region 0,0,0,5", "above 0"),
            ("region -1,0,5,5", "four whole numbers"),
        ] {
            let error = Part::parse(text).unwrap_err().text();
            assert!(error.contains(said) && error.contains("`cells 2-4`"), "{text}: {error}");
        }
    }

    #[test]
    fn a_part_that_a_file_does_not_have_names_what_fits() {
        let error = Part::Pages { first: 1, last: 2 }.unfit(&"a.txt", Format::Text).text();
        assert!(error.starts_with("part pages 1-2 is for PDF files; a.txt is a text file\n\nhint: use "), "{error}");
    }

    #[test]
    fn a_name_of_a_definition_may_begin_with_an_equals_sign() {
        let part = Part::parse("def==").expect("a part");
        assert_eq!(Part::parse(&part.to_string()).expect("the same part"), part);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(def|page|cells?|region|columns)?[ :=]*[-0-9a-z., –]{0,20}") {
            if let Ok(part) = Part::parse(&text) {
                prop_assert_eq!(Part::parse(&part.to_string()).unwrap(), part);
            }
        }
    }
}
