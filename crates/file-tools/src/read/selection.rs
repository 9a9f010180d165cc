//! A path with a selection after it: `src/a.rs:120-180,300-340`, `src/a.rs:def load` or another part, as in
//! `book.pdf:pages 3-5`. Also as clients and compilers write lines: `src/a.rs#L10-20`, `"my file.rs:10"`, `src/a.rs:10:5`.

use std::{fmt, ops::Range};

use confined_fs::resolve::strip_mention;

use super::{
    super::{Kind, ToolError},
    open::Format,
};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Selection {
    Lines(Vec<Range<usize>>),
    Part(Part),
}

pub(crate) fn path_before_selection(text: &str) -> Option<&str> {
    Selection::split(text).map(|(path, _)| path)
}

/// Words that begin a part that is no definition; of more than one it may begin with the plural.
const PART_WORDS: &str = "def section page cell region column paragraph sheet slide image";

/// Whether a text after a path and a colon is a part of that file: `page 3`, `def load`, `fn load`.
pub(crate) fn names_part(text: &str) -> bool {
    let is_word = |word: &str| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        is_definition(word) || PART_WORDS.split(' ').any(|one| one == singular)
    };
    text.eq_ignore_ascii_case(HEADERS_PART) || text.split_once(' ').is_some_and(|(word, _)| is_word(word))
}

/// Whether a path that was refused may be another one with a selection after it. On Windows no name holds a colon, so
/// that `a.rs:120` is no path at all there.
pub(super) fn may_end_in_selection(refusal: Kind) -> bool {
    refusal == Kind::NotFound || cfg!(windows) && matches!(refusal, Kind::InvalidInput | Kind::Denied)
}

impl Selection {
    /// The path in front of a selection and the selection. `None` if the text has none at its end.
    ///
    /// # Errors
    /// `invalid_input` for a selection that names no lines.
    pub(super) fn split(text: &str) -> Option<(&str, Result<Self, ToolError>)> {
        strip_mention(text).into_iter().find_map(|text| Self::split_outer(text).or_else(|| Self::split_fragment(text)))
    }

    fn split_outer(text: &str) -> Option<(&str, Result<Self, ToolError>)> {
        // First, and from the left: a name may have colons itself, as `Map::get`, and a heading or a sheet as well.
        let found = text.match_indices(':').find(|(at, _)| *at > 0 && names_part(&text[at + 1..]));
        if let Some((at, _)) = found {
            return Some((&text[..at], Part::parse(&text[at + 1..]).map(Self::Part)));
        }
        let (path, ranges) = text.rsplit_once(':')?;
        let is_ranges = |text: &str| {
            text.starts_with(|first: char| first.is_ascii_digit())
                && text.chars().all(|one| one.is_ascii_digit() || matches!(one, '-' | ',' | ' '))
        };
        // A compiler's line and column.
        if let Some((file, line)) = path.rsplit_once(':')
            && [line, ranges].iter().all(|number| whole_number(number).is_some())
        {
            return (!file.is_empty()).then(|| (file, line_ranges(line).map(Self::Lines)));
        }
        (!path.is_empty() && is_ranges(ranges)).then(|| (path, line_ranges(ranges).map(Self::Lines)))
    }

    /// `#L10`, `#L10-L20`, `#10-20` and `#L10C5-L20C8`, of which the lines count.
    fn split_fragment(text: &str) -> Option<(&str, Result<Self, ToolError>)> {
        let (path, fragment) = text.rsplit_once('#')?;
        let line = |end: &str| {
            let number = end.strip_prefix('L').unwrap_or(end);
            let (line, column) = number.split_once('C').unwrap_or((number, "1"));
            (whole_number(line).is_some() && whole_number(column).is_some()).then(|| line.to_owned())
        };
        let (first, last) = fragment.split_once('-').unwrap_or((fragment, fragment));
        let range = format!("{}-{}", line(first)?, line(last)?);
        (!path.is_empty()).then(|| (path, line_ranges(&range).map(Self::Lines)))
    }
}

/// `120-180,300-340`, `120` or `120-`, numbered from 0: disjoint and ascending, in whichever order they were given.
fn line_ranges(text: &str) -> Result<Vec<Range<usize>>, ToolError> {
    let wrong = |why: String| {
        ToolError::invalid(format!("`{text}` names no lines: {why}")).hint("name lines as in src/a.rs:120-180,300-340")
    };
    let mut ranges = Vec::new();
    for range in text.split(',').map(str::trim).filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| whole_number(text.trim());
        let last = if last.trim().is_empty() { Some(usize::MAX) } else { number(last) };
        match (number(first), last) {
            (Some(0), _) => return Err(wrong("lines count from 1".to_owned())),
            (Some(first), Some(last)) if last < first => return Err(wrong(format!("{range} ends before it starts"))),
            (Some(first), Some(last)) => ranges.push(first - 1..last),
            _ => return Err(wrong(format!("{range:?} is not a range of numbers"))),
        }
    }
    // The window goes through the file once, so its ranges ascend, and no line is in two of them.
    ranges.sort_unstable_by_key(|range: &Range<usize>| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut().filter(|last| last.end >= range.start) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    Ok(merged)
}

/// The part of a text document that is what its pages have at the top and at the bottom.
pub(super) const HEADERS_PART: &str = "headers";

const PART_HINT_FORMS: &str = "`def NAME`, `fn NAME`, `class NAME`, `pages 3-5` (PDF), `cells 2-4` (notebook), `region X,Y,WIDTH,HEIGHT` (image), \
                     `columns 2001-4000` (long lines), `paragraphs 20-60`, `section HEADING` or `headers` (text document), \
                     `sheet NAME rows 1-200 columns A-F` (workbook), `slides 3-5` (presentation) or `image 2` (in a document)";

/// Counted from 1; `usize::MAX` for an end that is open.
type FirstAndLast = (usize, usize);

/// A part of a file. Pages, cells and columns count from 1 and both ends belong to the range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Def(String),
    Pages(FirstAndLast),
    Cells(FirstAndLast),
    /// x, y, width and height, in pixels.
    Region([usize; 4]),
    /// Characters of each line.
    Columns(FirstAndLast),
    Paragraphs(FirstAndLast),
    Section(String),
    /// A text in no other form: a heading of a text document, a sheet of a workbook, and an error elsewhere.
    Heading(String),
    Sheet(SheetPart),
    Slides(FirstAndLast),
    /// An image in a document, by its number, and its region where not all of it is wanted.
    Image(usize, Option<Box<Part>>),
}

fn invalid(text: &str, why: &str) -> ToolError {
    ToolError::invalid(format!("`part` is not valid: {text:?}{why}")).hint(format!("use {PART_HINT_FORMS}"))
}

/// Cells of a sheet, whose rows count from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SheetPart {
    pub(super) name: String,
    /// The first row and the last; `None` for all.
    pub(super) rows: Option<(usize, usize)>,
    /// The letters of the first column and the last; `None` for all.
    pub(super) columns: Option<(String, String)>,
    /// Whether cells show their formula instead of its last value.
    pub(super) formulas: bool,
}

const LAST_COLUMN: &str = "XFD";

impl SheetPart {
    /// `NAME rows 1-200 columns A-F formulas`: what follows the name is taken from the end, in any order.
    pub(super) fn parse(text: &str) -> Self {
        let mut part = Self { name: text.to_owned(), ..Self::default() };
        loop {
            part.name.truncate(part.name.trim_end_matches([',', ' ']).len());
            let mut words = part.name.rsplitn(3, ' ');
            let (last, form, name) = (words.next().unwrap_or_default(), words.next(), words.next());
            let is_form =
                |forms: &[&str]| forms.iter().any(|one| form.is_some_and(|form| form.eq_ignore_ascii_case(one)));
            let (columns, rows) = (letter_range(last), range(last).ok());
            let is_name = |text: &str| !text.trim_matches([',', ' ']).is_empty();
            let names_before = is_name(&part.name[..part.name.len() - last.len()]);
            match name.filter(|name| is_name(name)) {
                _ if last.eq_ignore_ascii_case("formulas") && names_before && !part.formulas => {
                    part.formulas = true;
                    part.name.truncate(part.name.len() - last.len());
                }
                Some(name) if is_form(&["rows", "row"]) && rows.is_some() && part.rows.is_none() => {
                    (part.rows, part.name) = (rows, name.to_owned());
                }
                Some(name) if is_form(&["columns", "column"]) && columns.is_some() && part.columns.is_none() => {
                    (part.columns, part.name) = (columns, name.to_owned());
                }
                _ => return part,
            }
        }
    }
}

/// `A-F`, `A` or `A-`, in capitals.
fn letter_range(text: &str) -> Option<(String, String)> {
    let (first, last) = text.split_once(['-', '–', ':']).unwrap_or((text, text));
    let last = if last.is_empty() { LAST_COLUMN } else { last };
    let is_column = |text: &str| (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_range = is_column(first) && is_column(last);
    is_range.then(|| (first.to_ascii_uppercase(), last.to_ascii_uppercase()))
}

/// `2` or `2 region 0,0,800,600`.
fn image(text: &str) -> Result<Part, &'static str> {
    let (number, area) = text.split_once("region").map_or((text, None), |(number, area)| (number, Some(area)));
    let number = whole_number(number.trim()).filter(|number| *number > 0).ok_or("images are numbers from 1 on")?;
    Ok(Part::Image(number, area.map(region).transpose()?.map(Box::new)))
}

impl Part {
    /// Parses the argument `part`.
    ///
    /// # Errors
    /// `invalid_input`, which names the value and the forms there are.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let text = text.trim();
        let wrong = |why: &str| invalid(text, &format!(": {why}"));
        let end = text.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(text.len());
        let (form, rest) = text.split_at(end);
        // `pages: 3` and `pages=3` mean the same; a name may begin with such a sign.
        let rest = rest.strip_prefix([':', '=']).unwrap_or(rest).trim();
        let numbers = rest.trim_start_matches([':', '=', ' ']);
        let range = |what| range(numbers).map_err(|why| wrong(&format!("{what} {why}")));
        match form.to_ascii_lowercase().as_str() {
            "def" if definition(rest).is_empty() => Err(wrong("the name of a definition is missing")),
            "def" => Ok(Self::Def(definition(rest).to_owned())),
            "pages" | "page" => range("pages").map(Self::Pages),
            // As grep names a line of a cell, which is shown whole.
            "cells" | "cell" => {
                let numbers = numbers.split_once(" line").map_or(numbers, |(cell, _)| cell);
                self::range(numbers).map_err(|why| wrong(&format!("cells {why}"))).map(Self::Cells)
            }
            "columns" | "column" => range("columns").map(Self::Columns),
            "region" => region(numbers).map_err(wrong),
            "paragraphs" | "paragraph" => range("paragraphs").map(Self::Paragraphs),
            "slides" | "slide" => range("slides").map(Self::Slides),
            "section" | "sheet" if rest.trim_matches(['#', ' ', ',']).is_empty() => Err(wrong("a name is missing")),
            "section" => Ok(Self::Section(rest.trim_start_matches(['#', ' ']).to_owned())),
            "sheet" => Ok(Self::Sheet(SheetPart::parse(rest))),
            "image" | "images" => image(numbers).map_err(wrong),
            _ if text.split_whitespace().count() > 1 && is_definition(&form.to_ascii_lowercase()) => {
                Ok(Self::Def(definition(text).to_owned()))
            }
            _ if text.is_empty() => Err(invalid(text, "")),
            _ => Ok(Self::Heading(text.to_owned())),
        }
    }

    pub(super) fn is_of_lines(&self) -> bool {
        !matches!(self, Self::Def(_) | Self::Cells(..) | Self::Region(..) | Self::Image(..))
    }

    /// The error for a file whose format has no such part.
    pub(super) fn unfit(&self, path: &impl fmt::Display, format: Format) -> ToolError {
        let (what, instead) = match format {
            Format::Image(_) => ("an image", "part=\"region X,Y,WIDTH,HEIGHT\", or no part for all of it"),
            Format::Pdf => ("a PDF file", "part=\"pages 1-5\", or no part to read from the first page"),
            Format::Notebook => ("a notebook", "part=\"cells 1-5\", or no part to read from the first cell"),
            Format::Text => ("a text file", "start_line and end_line, part=\"def NAME\" or part=\"columns 2001-4000\""),
            Format::Office => (
                "an Office document",
                "part=\"paragraphs 1-50\", part=\"sheet NAME rows 1-200\" or part=\"slides 1-5\"",
            ),
        };
        self.unfit_in(path, what, instead)
    }

    /// The error for a file that is `what`, in which `instead` is a part.
    pub(super) fn unfit_in(&self, path: &impl fmt::Display, what: &str, instead: &str) -> ToolError {
        let fits = match self {
            Self::Def(_) => "source files",
            Self::Pages(..) => "PDF files",
            Self::Cells(..) => "notebooks",
            Self::Region(..) => "images",
            Self::Columns(..) => "text files",
            Self::Paragraphs(..) | Self::Section(_) => "Word and OpenDocument texts",
            Self::Heading(text) => return invalid(text, ""),
            Self::Sheet(_) => "workbooks",
            Self::Slides(..) => "presentations",
            Self::Image(..) => "Office documents",
        };
        ToolError::invalid(format!("part {self} is for {fits}; {path} is {what}")).hint(format!("use {instead}"))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |f: &mut fmt::Formatter<'_>, what, (first, last): &FirstAndLast| match *last {
            usize::MAX => write!(f, "{what} {first}-"),
            last if last == *first => write!(f, "{what} {first}"),
            last => write!(f, "{what} {first}-{last}"),
        };
        match self {
            Self::Sheet(SheetPart { name, rows, columns, formulas }) => {
                write!(f, "sheet {name}")?;
                rows.map_or(Ok(()), |rows| range(f, " rows", &rows))?;
                if let Some((first, last)) = columns {
                    write!(f, " columns {first}-{last}")?;
                }
                f.write_str(if *formulas { " formulas" } else { "" })
            }
            Self::Def(name) => write!(f, "def {name}"),
            Self::Pages(numbers) => range(f, "pages", numbers),
            Self::Cells(numbers) => range(f, "cells", numbers),
            Self::Columns(numbers) => range(f, "columns", numbers),
            Self::Region([x, y, width, height]) => write!(f, "region {x},{y},{width},{height}"),
            Self::Paragraphs(numbers) => range(f, "paragraphs", numbers),
            Self::Slides(numbers) => range(f, "slides", numbers),
            Self::Section(heading) => write!(f, "section {heading}"),
            Self::Heading(text) => f.write_str(text),
            Self::Image(number, None) => write!(f, "image {number}"),
            Self::Image(number, Some(region)) => write!(f, "image {number} {region}"),
        }
    }
}

/// Words that begin a definition in one language or another; each may be used in place of `def`.
const DEFINING_WORDS: &str = "fn func function fun class struct enum interface trait impl type method module mod const macro namespace \
    record object protocol union proc sub defp";

/// Words that may precede those.
const MODIFIER_WORDS: &str = "pub public private protected internal static async export default abstract final unsafe";

fn is_modifier(word: &str) -> bool {
    MODIFIER_WORDS.split(' ').any(|one| one == word)
}

fn is_definition(word: &str) -> bool {
    DEFINING_WORDS.split(' ').any(|one| one == word) || is_modifier(word)
}

/// The definition that is meant by its first line, or the beginning of that.
fn definition(text: &str) -> &str {
    let mut rest = text.trim();
    if let Some((_, after)) = rest.strip_prefix("pub(").and_then(|after| after.split_once(')')) {
        rest = after.trim_start();
    }
    while let Some((_, after)) = rest.split_once(char::is_whitespace).filter(|(word, _)| is_modifier(word)) {
        rest = after.trim_start();
    }
    // The parentheses of C++'s `operator()` are a part of its name.
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
    const WRONG_REGION: &str = "a region is four whole numbers: x,y,width,height";
    let fields: Option<Vec<usize>> =
        text.split([',', ' ']).filter(|field| !field.is_empty()).map(whole_number).collect();
    match fields.as_deref() {
        Some([_, _, 0, _] | [_, _, _, 0]) => Err("a region has a width and a height above 0"),
        Some(&[x, y, width, height]) => Ok(Part::Region([x, y, width, height])),
        _ => Err(WRONG_REGION),
    }
}

/// Digits alone as a number; one that is too large for any file counts as the largest.
fn whole_number(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Only a number that is too large fails here. Not an error: it is past the end of any file, and answered as such.
    is_number.then(|| text.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::single_range_in_vec_init, reason = "a list of ranges may have one")]

    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str) -> Option<(String, Vec<Range<usize>>)> {
        match Selection::split(text)? {
            (path, Ok(Selection::Lines(ranges))) => Some((path.to_owned(), ranges)),
            _ => None,
        }
    }

    #[test]
    fn lines_after_a_path_are_read() {
        for (text, path, ranges) in [
            ("src/a.rs:120-180,300-340", "src/a.rs", &[119..180, 299..340][..]),
            ("a:7", "a", &[6..7]),
            ("a:7-", "a", &[6..usize::MAX]),
            ("a:9, 2-4 ,4-5", "a", &[1..5, 8..9]),
            ("a:b:1-2", "a:b", &[0..2]),
            ("a:1-99999999999999999999", "a", &[0..usize::MAX]),
            ("@src/a.rs#L10-20", "@src/a.rs", &[9..20]),
            ("a.rs#L10-L20", "a.rs", &[9..20]),
            ("a.rs#L7", "a.rs", &[6..7]),
            ("a.rs#7-9", "a.rs", &[6..9]),
            ("a.rs#L7C3-L9C1", "a.rs", &[6..9]),
            ("@\"a b.rs:7\"", "a b.rs", &[6..7]),
            ("@\"a b.rs\"#L7", "@\"a b.rs\"", &[6..7]),
            ("a.rs:10:5", "a.rs", &[9..10]),
        ] {
            assert_eq!(lines(text), Some((path.to_owned(), ranges.to_vec())), "{text}");
        }
        for text in ["a", "a:", ":7", "a:x", "C:/a.rs", "a:-7", "a:7b", "a#b", "#L7", "a#L", "a#L7-", "a#Lx", "C#"] {
            assert!(Selection::split(text).is_none(), "{text}");
        }
        for text in ["a:0", "a:5-3", "a:1-2-3", "a#L0", "a#L5-L3"] {
            let (_, refused) = Selection::split(text).expect("a selection");
            assert!(refused.unwrap_err().text().contains("names no lines"), "{text}");
        }
    }

    #[test]
    fn part_after_a_path_is_read() {
        let sheet = |name: &str, rows| Part::Sheet(SheetPart { name: name.to_owned(), rows, ..SheetPart::default() });
        for (text, path, part) in [
            ("a b.pdf:pages 3-5", "a b.pdf", Part::Pages((3, 5))),
            ("a.ipynb:cells 2", "a.ipynb", Part::Cells((2, 2))),
            ("C:/a.png:region 0,0,8,6", "C:/a.png", Part::Region([0, 0, 8, 6])),
            ("a.docx:section On: this", "a.docx", Part::Section("On: this".to_owned())),
            ("a.pptx:slides 3", "a.pptx", Part::Slides((3, 3))),
            ("a.docx:headers", "a.docx", Part::Heading("headers".to_owned())),
            ("a.pdf:page 1", "a.pdf", Part::Pages((1, 1))),
            ("a.docx:paragraph 20", "a.docx", Part::Paragraphs((20, 20))),
            ("a b.pptx:slide 9", "a b.pptx", Part::Slides((9, 9))),
            ("a.ipynb:cell 2", "a.ipynb", Part::Cells((2, 2))),
            ("b.rs:struct Walk", "b.rs", Part::Def("struct Walk".to_owned())),
            ("b.ods:sheet a:b row 3", "b.ods", sheet("a:b", Some((3, 3)))),
            ("b.xlsx:sheet 2026 rows 3-9", "b.xlsx", sheet("2026", Some((3, 9)))),
            ("b.xlsx:sheet Old plan", "b.xlsx", sheet("Old plan", None)),
        ] {
            let (found, selection) = Selection::split(text).expect("a selection");
            assert_eq!((found, selection.unwrap()), (path, Selection::Part(part)), "{text}");
        }
        let (path, part) = Selection::split("src/a.rs:def Walk::next").expect("a selection");
        assert_eq!((path, part.unwrap()), ("src/a.rs", Selection::Part(Part::Def("Walk::next".to_owned()))));
    }

    proptest! {
        #[test]
        fn ranges_are_disjoint_and_ascending(text in "a:[0-9, -]{0,30}") {
            for pair in lines(&text).unwrap_or_default().1.windows(2) {
                prop_assert!(pair[0].end < pair[1].start);
            }
        }
    }
}

#[cfg(test)]
mod part_tests {
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
            ("paragraph 20", "paragraphs 20"),
            ("section ## Results: a", "section Results: a"),
            ("sheet Plan, rows 1-200, columns a-f", "sheet Plan rows 1-200 columns A-F"),
            ("sheet Plan formulas rows 5-", "sheet Plan rows 5- formulas"),
            ("sheet: rows 3", "sheet rows 3"),
            ("Sheet Old plan rows 1 rows 2 columns C-", "sheet Old plan rows 1 rows 2 columns C-XFD"),
            ("sheet rows formulas", "sheet rows formulas"),
            ("slide 3", "slides 3"),
            ("image: 2 region 0,0,8,6", "image 2 region 0,0,8,6"),
        ] {
            assert_eq!(Part::parse(text).map(|part| part.to_string()).ok().as_deref(), Some(shown), "{text}");
        }
    }

    #[test]
    fn invalid_part_is_named_with_the_valid_forms() {
        for (text, said) in [
            ("", "is not valid: \"\"\n"),
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
        let error = Part::Pages((1, 2)).unfit(&"a.txt", Format::Text).text();
        assert!(error.starts_with("part pages 1-2 is for PDF files; a.txt is a text file\n\nhint: use "), "{error}");
        let error = Part::parse("lines 3-5").expect("a heading").unfit(&"a.txt", Format::Text).text();
        assert!(error.starts_with("`part` is not valid: \"lines 3-5\"\n\nhint: use "), "{error}");
    }

    #[test]
    fn a_name_of_a_definition_may_begin_with_an_equals_sign() {
        let part = Part::parse("def==").expect("a part");
        assert_eq!(Part::parse(&part.to_string()).expect("the same part"), part);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(
            text in "(def|page|cells?|region|columns|paragraphs|section|sheet|slides|image)?[ :=]*[-#\"0-9a-z., –]{0,20}\
                     (,? rows [0-9-]{1,4})?( columns [a-c-]{1,3})?( formulas)?"
        ) {
            if let Ok(part) = Part::parse(&text) {
                prop_assert_eq!(Part::parse(&part.to_string()).unwrap(), part);
            }
        }
    }

    #[test]
    fn sheet_without_a_name_is_read_as_it_is_printed() {
        for text in ["sheet, rows 1", "sheet , formulas", "sheet ,, columns a-b", "sheet rows 1", "sheet formulas"] {
            let part = Part::parse(text).unwrap();
            assert_eq!(Part::parse(&part.to_string()).unwrap(), part, "{text}");
        }
    }
}
