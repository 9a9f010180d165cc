//! An Excel workbook: `SpreadsheetML`, ECMA-376 part 1, clause 18.
//!
//! A sheet is read from its start to the last row that is wanted, and of the strings that cells share only those are kept
//! that are shown. calamine 0.38 keeps them all, and reserves room for as many as the file says there are.

use std::collections::{BTreeSet, HashMap};

use crate::{
    OfficeError,
    budget::Result,
    number_format::NumberFormat,
    package::Package,
    scripts::Scripts,
    story::script_of,
    workbook::{
        CellText, MAX_COLUMNS, MAX_ROW, NO_VALUE, OfficeSheet, RowCollector, SheetRows, WantedCells, cell_place,
        column_letters, column_number,
    },
    xml::{Node, Tag, Xml, character},
};

/// Work of the budget for counting rows and columns of sheets that do not say their size: a million cells.
pub(crate) const MAX_COUNTED: u64 = 160 << 20;

/// Bytes of the text of one cell that are kept: four for each of the 32,767 characters that Excel takes.
pub(crate) const MAX_CELL: usize = 128 << 10;

/// Bytes of a formula that cells share: four for each of the 8,192 characters that Excel takes.
const MAX_FORMULA: usize = 32 << 10;

/// Bytes of the strings that the rows of one answer share, and of such formulas.
const MAX_STRINGS: usize = 16 << 20;

/// What is wanted of a sheet whose rows and columns are counted.
pub(crate) const NO_CELLS: WantedCells =
    WantedCells { rows: (1, u32::MAX), columns: (0, 0), formulas: false, max_bytes: 0 };

pub(crate) struct Xlsx {
    sheets: Vec<(OfficeSheet, String)>,
    formats: Vec<NumberFormat>,
    is_1904: bool,
    strings: String,
}

impl Xlsx {
    pub(crate) fn open(package: &Package<'_>, main: &str) -> Result<Self> {
        let relationships = package.relationships(main)?;
        let strings = relationships.of_type("sharedStrings");
        let (mut sheets, mut is_1904) = (Vec::new(), false);
        package.tags(main, &mut |tag| match tag.name() {
            "workbookPr" => is_1904 = matches!(tag.text("date1904").as_str(), "1" | "true"),
            "sheet" => {
                // Also `veryHidden`, which only a program can show.
                let hidden = tag.text("state").to_lowercase().ends_with("hidden");
                let sheet = OfficeSheet { name: tag.text("name"), hidden, size: None };
                let part = relationships.part(&tag.prefixed("id"));
                // Many sheets may be one part. The next read fails where this does.
                let _ = package.budget.hold(part.len());
                sheets.push((sheet, part));
            }
            _ => {}
        })?;
        let (mut formats, mut own, mut is_cells) = (Vec::new(), HashMap::new(), false);
        package.tags(&relationships.of_type("styles"), &mut |tag| match tag.name() {
            "numFmt" => drop(own.insert(tag.text("numFmtId"), NumberFormat::of_code(&tag.text("formatCode")))),
            // The formats of cells, and those of what follows them.
            "cellXfs" => is_cells = true,
            "cellStyles" | "dxfs" => is_cells = false,
            "xf" if is_cells => {
                let id = tag.text("numFmtId");
                formats.push(own.get(&id).copied().unwrap_or_else(|| NumberFormat::built_in(id.parse().unwrap_or(0))));
            }
            _ => {}
        })?;
        Ok(Self { sheets, formats, is_1904, strings })
    }

    pub(crate) fn sheets(&self, package: &Package<'_>) -> Result<Vec<OfficeSheet>> {
        let least_left = package.budget.inflated.get().saturating_sub(MAX_COUNTED);
        let sized = |(sheet, part): &(OfficeSheet, String)| {
            let Some(mut xml) = package.xml(part)? else { return Ok(sheet.clone()) };
            let mut reader = SheetReader { xlsx: self, rows: RowCollector::new(NO_CELLS), at: Position::default() };
            let is_too_long = || package.budget.inflated.get() < least_left;
            reader.read(&mut xml, &|at| at.is_sized || is_too_long())?;
            let is_known = reader.at.is_sized || !is_too_long();
            Ok(OfficeSheet { size: is_known.then_some(reader.at.size), ..sheet.clone() })
        };
        self.sheets.iter().map(sized).collect()
    }

    /// Rows of a sheet, which counts from 1.
    pub(crate) fn rows(&self, package: &Package<'_>, sheet: usize, mut wanted: WantedCells) -> Result<SheetRows> {
        let missing = || OfficeError::Missing(format!("sheet {sheet}"));
        let (_, part) = self.sheets.get(sheet.wrapping_sub(1)).ok_or_else(missing)?;
        loop {
            let mut reader = SheetReader { xlsx: self, rows: RowCollector::new(wanted), at: Position::default() };
            reader.read(&mut package.required_xml(part)?, &|_| false)?;
            reader.at.wanted_strings = reader.rows.shared();
            if let Some(mut xml) = package.xml(&self.strings)?.filter(|_| !reader.at.wanted_strings.is_empty()) {
                reader.read(&mut xml, &|_| false)?;
            }
            if reader.at.strings_size <= MAX_STRINGS {
                return Ok(reader.rows.finish(&reader.at.strings));
            }
            // Fewer rows have fewer strings; without any bytes it is one row.
            if wanted.max_bytes == 0 {
                return Err(OfficeError::TooLarge("a row has more than 16 MiB of text"));
            }
            wanted.max_bytes /= 32;
        }
    }
}

#[derive(Default)]
struct Cell {
    column: u32,
    style: usize,
    kind: String,
    value: String,
    scripts: Scripts,
    /// `None` where there is none; empty where its text is not wanted.
    formula: Option<String>,
    /// Whether a value is stored, which may be empty where it is a text.
    has_value: bool,
    shared: Option<u32>,
    is_wanted: bool,
}

impl Cell {
    fn push(&mut self, text: &str, is_formula: bool) {
        let target = self.formula.as_mut().filter(|_| is_formula).unwrap_or(&mut self.value);
        if target.len() + text.len() <= MAX_CELL {
            target.push_str(&self.scripts.add(text));
        }
    }
}

#[derive(Default)]
struct Position {
    row: u32,
    cell: Cell,
    /// The last row and the last column, and whether the sheet says so.
    size: (u32, u32),
    is_sized: bool,
    string: u32,
    wanted_strings: BTreeSet<u32>,
    strings: HashMap<u32, String>,
    strings_size: usize,
    /// Formulas that several cells share, with row and column of the cell that has it.
    formulas: HashMap<u32, (u32, u32, String)>,
    formulas_size: usize,
}

struct SheetReader<'x> {
    xlsx: &'x Xlsx,
    rows: RowCollector,
    at: Position,
}

impl SheetReader<'_> {
    /// Reads until there are enough rows or all strings, or `is_enough` says so at the start of a row.
    fn read(&mut self, xml: &mut Xml<'_>, is_enough: &dyn Fn(&Position) -> bool) -> Result<()> {
        let WantedCells { rows: (first, last), formulas, .. } = self.rows.wanted;
        let (mut is_value, mut is_formula) = (false, false);
        while let Some(node) = xml.next()? {
            match node {
                Node::Start(tag) => match tag.name() {
                    "dimension" => {
                        // Some writers say `A1` whatever there is.
                        let last = tag.text("ref").split_once(':').and_then(|(_, last)| cell_place(last));
                        (self.at.is_sized, self.at.size) = (last.is_some(), last.unwrap_or_default());
                    }
                    "row" => {
                        self.at.row = tag.number("r").unwrap_or(self.at.row.saturating_add(1));
                        self.at.cell.column = 0;
                        // Cells before it may have the formulas that those after it share.
                        if self.at.row < first && !formulas {
                            let name = tag.full_name().to_owned();
                            let is_first = |tag: &Tag<'_>| {
                                if tag.name() == "row" {
                                    self.at.row = tag.number("r").unwrap_or(self.at.row.saturating_add(1));
                                }
                                tag.name() == "row" && self.at.row >= first
                            };
                            if !xml.skip_to(&name, is_first)? {
                                break;
                            }
                        }
                        if self.at.row > last || is_enough(&self.at) {
                            break;
                        }
                    }
                    "c" => self.start_cell(&tag),
                    "si" => {
                        let Some(&next) = self.at.wanted_strings.first() else { break };
                        if self.at.string < next {
                            let name = tag.full_name().to_owned();
                            let is_next = |tag: &Tag<'_>| {
                                self.at.string += u32::from(tag.name() == "si");
                                tag.name() == "si" && self.at.string >= next
                            };
                            if !xml.skip_to(&name, is_next)? {
                                break;
                            }
                        }
                        let is_wanted = self.at.wanted_strings.contains(&self.at.string);
                        self.at.cell = Cell { is_wanted, ..Cell::default() };
                    }
                    // Some writers have both, of which Excel shows the string.
                    "v" if self.at.cell.kind == "inlineStr" => {}
                    "v" | "t" => {
                        is_value = self.at.cell.is_wanted;
                        self.at.cell.has_value = matches!(self.at.cell.kind.as_str(), "str" | "inlineStr");
                    }
                    "vertAlign" => self.at.cell.scripts.set(Some(script_of(&tag))),
                    "f" => {
                        is_formula = formulas;
                        self.at.cell.formula = Some(String::new());
                        self.rows.has_formulas |= (first..=last).contains(&self.at.row);
                        self.at.cell.shared = tag.number("si").filter(|_| formulas);
                    }
                    // How Japanese is pronounced.
                    "rPh" => xml.skip()?,
                    _ => {}
                },
                Node::Text(text) if is_value || is_formula => self.at.cell.push(&text, is_formula),
                Node::Text(_) => {}
                Node::End(tag) => match tag.local_name().into_inner() {
                    "v" | "t" | "f" => (is_value, is_formula) = (false, false),
                    "r" => self.at.cell.scripts.set(None),
                    "c" => {
                        self.at.cell.value += &self.at.cell.scripts.end(None);
                        self.share_formula();
                        let text = self.cell_text().filter(|_| self.at.cell.is_wanted);
                        if text.is_some_and(|text| !self.rows.push(self.at.row, self.at.cell.column, text)) {
                            break;
                        }
                    }
                    "si" if self.end_string() => break,
                    "sheetData" => break,
                    _ => {}
                },
            }
        }
        Ok(())
    }

    fn start_cell(&mut self, tag: &Tag<'_>) {
        let column = cell_place(&tag.text("r")).map_or(self.at.cell.column + 1, |(_, column)| column);
        let is_wanted = column <= MAX_COLUMNS && self.rows.wants(self.at.row, column);
        let (style, kind) = if is_wanted { (tag.number("s").unwrap_or(0), tag.text("t")) } else { (0, String::new()) };
        self.at.cell = Cell { column, style, kind, is_wanted, ..Cell::default() };
        if !self.at.is_sized {
            self.at.size = (self.at.size.0.max(self.at.row), self.at.size.1.max(column));
        }
    }

    /// Gives the cell the formula that it shares, or keeps its own for others.
    fn share_formula(&mut self) {
        let is_wanted = self.at.cell.is_wanted && self.rows.row_bytes < MAX_ROW;
        let Position { row, cell, formulas, formulas_size, .. } = &mut self.at;
        let (Some(at), Some(formula)) = (cell.shared, &mut cell.formula) else { return };
        if !formula.is_empty() && formula.len() <= MAX_FORMULA && *formulas_size + formula.len() < MAX_STRINGS {
            *formulas_size += formula.len() + 100;
            formulas.insert(at, (*row, cell.column, formula.clone()));
        } else if let Some((its_row, its_column, shared)) = formulas.get(&at).filter(|_| is_wanted) {
            let by = |to: u32, from: u32| i64::from(to) - i64::from(from);
            *formula = moved(shared, by(*row, *its_row), by(cell.column, *its_column));
        }
    }

    fn end_string(&mut self) -> bool {
        self.at.cell.value += &self.at.cell.scripts.end(None);
        if self.at.cell.is_wanted {
            self.at.strings_size += self.at.cell.value.len();
            self.at.strings.insert(self.at.string, unescaped(&self.at.cell.value));
        }
        self.at.string += 1;
        // One that is empty may have been gone past.
        self.at.wanted_strings = self.at.wanted_strings.split_off(&self.at.string);
        self.at.strings_size > MAX_STRINGS
    }

    /// The text of the cell; `None` for an empty one.
    fn cell_text(&self) -> Option<CellText> {
        let Cell { style, kind, value, formula, shared, has_value, .. } = &self.at.cell;
        match (formula, shared) {
            // A program that does not compute has written it.
            (Some(_), _) if !self.rows.wanted.formulas && value.is_empty() && !has_value => {
                return Some(CellText::Own(NO_VALUE.to_owned()));
            }
            (Some(formula), _) if !formula.is_empty() => return Some(CellText::Own(format!("={formula}"))),
            // The cell that has it is missing, or it is too long.
            (Some(_), Some(at)) => return Some(CellText::Own(format!("=(shared formula {at})"))),
            // One of several cells of an array has no text.
            _ => {}
        }
        let number = value.trim().parse::<f64>();
        Some(CellText::Own(match (kind.as_str(), number) {
            _ if value.is_empty() => return None,
            ("s", _) => return value.trim().parse().ok().map(CellText::Shared),
            ("b", _) => if value.trim() == "0" { "FALSE" } else { "TRUE" }.to_owned(),
            ("str" | "inlineStr", _) => unescaped(value),
            ("" | "n", Ok(number)) => {
                self.xlsx.formats.get(*style).copied().unwrap_or_default().render(number, self.xlsx.is_1904)
            }
            // Errors, and dates as ISO 8601 has them.
            _ => value.clone(),
        }))
    }
}

/// A formula, as the cell so many rows and columns further has it: only what has a `$` stays (18.3.1.40).
fn moved(formula: &str, rows: i64, columns: i64) -> String {
    let (mut found, mut rest) = (String::new(), formula);
    while let Some(first) = rest.chars().next() {
        // A text, the name of a sheet or of the column of a table up to its end; a word; or one sign.
        let end = match first {
            '"' | '\'' => rest[1..].find(first).map(|at| at + 2),
            '[' => rest.find(']').map(|at| at + 1),
            _ => rest.find(|sign: char| !(sign.is_alphanumeric() || matches!(sign, '$' | '_' | '.' | '\\'))),
        };
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()).max(first.len_utf8()));
        let is_range = found.ends_with(':') || after.starts_with(':');
        let cell = moved_cell(word, is_range, rows, columns).filter(|_| !after.starts_with(['(', '!']));
        found.push_str(cell.as_deref().unwrap_or(word));
        rest = after;
    }
    found
}

/// A reference to one cell, as `$B7`, or a side of a range of whole columns or rows; `None` for another word.
fn moved_cell(word: &str, is_range: bool, rows: i64, columns: i64) -> Option<String> {
    let (name, row) = word.split_at(word.trim_end_matches(|sign: char| sign.is_ascii_digit()).len());
    let (letters, fixed_row) = name.strip_suffix('$').map_or((name, ""), |letters| (letters, "$"));
    let (letters, fixed_column) = letters.strip_prefix('$').map_or((letters, ""), |letters| (letters, "$"));
    if letters.is_empty() && row.is_empty() || !is_range && (letters.is_empty() || row.is_empty()) {
        return None;
    }
    let to = |number: u32, by: i64, fixed: &str, last: u32| {
        let moved = i64::from(number) + if fixed.is_empty() { by } else { 0 };
        u32::try_from(moved).ok().filter(|moved| (1..=last).contains(moved))
    };
    let (mut column, mut number) = (Some(String::new()), Some(String::new()));
    if !letters.is_empty() {
        column = to(column_number(letters)?, columns, fixed_column, MAX_COLUMNS).map(column_letters);
    }
    if !row.is_empty() {
        number = to(row.parse().ok()?, rows, fixed_row, u32::MAX).map(|row| row.to_string());
    }
    let moved = |(column, row)| format!("{fixed_column}{column}{fixed_row}{row}");
    Some(column.zip(number).map_or_else(|| "#REF!".to_owned(), moved))
}

/// Text without the escapes of characters that XML does not take, as `_x000D_`: 22.9.2.19.
fn unescaped(mut text: &str) -> String {
    let mut found = String::new();
    while let Some((before, rest)) = text.split_once("_x") {
        let sign = rest.get(..5).and_then(|code| character(code.strip_suffix('_')?));
        found.push_str(if sign.is_some() { before } else { &text[..before.len() + 2] });
        found.extend(sign);
        text = if sign.is_some() { &rest[5..] } else { rest };
    }
    found + text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_formula_moves_with_its_cell() {
        for (formula, found) in [
            ("A1+B$1*$C1-$D$1", "B3+C$1*$C3-$D$1"),
            ("SUM(a1:Z9)&\"A1 \"\"B1\"&'A1 b'!A1", "SUM(B3:AA11)&\"A1 \"\"B1\"&'A1 b'!B3"),
            ("LOG10(A1)+Q1!B2+Sales[A1]+tax_2", "LOG10(B3)+Q1!C4+Sales[A1]+tax_2"),
            ("ä+é1+1.5E3*\"", "ä+é1+1.5E3*\""),
            ("XFD1", "#REF!"),
            ("SUM(A:$B)+SUM($1:3)*2+ab", "SUM(B:$B)+SUM($1:5)*2+ab"),
            ("", ""),
        ] {
            assert_eq!(moved(formula, 2, 1), found);
        }
        assert_eq!(moved("A2+A$1", -2, 0), "#REF!+A$1");
    }
}
