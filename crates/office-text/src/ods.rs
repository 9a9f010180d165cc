//! Sheets of an `OpenDocument` spreadsheet: ODF 1.3 part 3, clause 9.
//!
//! A row or a cell that is repeated is written once: an empty one at the end of a sheet may be a million.

use std::{collections::HashMap, mem};

use crate::{
    OfficeError,
    budget::Result,
    number_format::NumberFormat,
    odf::{CONTENT_PART, MAX_SPACES, Odf, collapsed, find_item, item},
    package::Package,
    scripts::Scripts,
    styles::Styles,
    workbook::{CellText, MAX_COLUMNS, MAX_ROW, NO_VALUE, OfficeSheet, RowCollector, SheetRows, WantedCells},
    xlsx::{MAX_CELL, MAX_COUNTED, NO_CELLS},
    xml::{Node, Tag, Xml},
};

/// Work of a cell that is repeated: about what its memory is.
const CELL_WORK: usize = 40;

pub(crate) fn sheets(odf: &Odf, package: &Package<'_>) -> Result<Vec<OfficeSheet>> {
    let least_left = package.budget.inflated.get().saturating_sub(MAX_COUNTED);
    let is_too_long = || package.budget.inflated.get() < least_left;
    let mut xml = package.required_xml(CONTENT_PART)?;
    let sized = |(name, hidden): &(String, bool)| {
        let mut size = None;
        if !is_too_long() && find_item(&mut xml, "table", |_| true)? {
            let mut reader =
                SheetReader { styles: &odf.styles, rows: RowCollector::new(NO_CELLS), at: Position::default() };
            reader.read(package, &mut xml, &is_too_long)?;
            size = Some(reader.at.size).filter(|_| !is_too_long());
        }
        Ok(OfficeSheet { name: name.clone(), hidden: *hidden, size })
    };
    odf.items.iter().map(sized).collect()
}

/// Rows of a sheet, which counts from 1.
pub(crate) fn rows(odf: &Odf, package: &Package<'_>, sheet: usize, wanted: WantedCells) -> Result<SheetRows> {
    let at = sheet.wrapping_sub(1);
    let mut reader = SheetReader { styles: &odf.styles, rows: RowCollector::new(wanted), at: Position::default() };
    if at >= odf.items.len() {
        return Err(OfficeError::Missing(format!("sheet {sheet}")));
    }
    item(package, "table", at)?.map_or(Ok(()), |mut xml| reader.read(package, &mut xml, &|| false))?;
    Ok(reader.rows.finish(&HashMap::new()))
}

#[derive(Default)]
struct Position {
    /// The row that is read, and the last of those that repeat it; the same of columns.
    row: (u32, u32),
    column: (u32, u32),
    /// What the cell says beside its paragraphs; these, and how many.
    value: Option<String>,
    /// Whether it has a formula and no type of value.
    is_unknown: bool,
    text: String,
    paragraphs: usize,
    scripts: Scripts,
    spans: Vec<Option<char>>,
    is_white: bool,
    /// The last row and the last column that have content.
    size: (u32, u32),
}

struct SheetReader<'o> {
    styles: &'o Styles,
    rows: RowCollector,
    at: Position,
}

impl SheetReader<'_> {
    /// Reads until there are enough rows, or `is_enough` says so at the start of one.
    fn read(&mut self, package: &Package<'_>, xml: &mut Xml<'_>, is_enough: &dyn Fn() -> bool) -> Result<()> {
        let (first, last) = self.rows.wanted.rows;
        let mut is_text = false;
        while let Some(node) = xml.next()? {
            match node {
                Node::Start(tag) => match tag.name() {
                    "table-row" => {
                        let name = tag.full_name().to_owned();
                        self.start_row(&tag);
                        if self.at.row.1 < first {
                            // The start of the next sheet ends this one.
                            let mut is_over = false;
                            let is_first = |tag: &Tag<'_>| {
                                is_over |= tag.name() == "table";
                                if tag.name() == "table-row" {
                                    self.start_row(tag);
                                }
                                is_over || tag.name() == "table-row" && self.at.row.1 >= first
                            };
                            if !xml.skip_to(name.trim_end_matches("-row"), is_first)? || is_over {
                                break;
                            }
                        }
                        if self.at.row.0 > last || is_enough() {
                            break;
                        }
                    }
                    "table-cell" | "covered-table-cell" => self.start_cell(&tag),
                    // Comments, shapes, and how Japanese is pronounced.
                    "annotation" | "shapes" | "forms" | "ruby-text" => xml.skip()?,
                    _ if tag.full_name().starts_with("draw:") => xml.skip()?,
                    "p" => {
                        is_text = true;
                        self.push(if self.at.paragraphs > 0 { "\n" } else { "" });
                        (self.at.paragraphs, self.at.is_white) = (self.at.paragraphs + 1, true);
                    }
                    "span" => {
                        let outer = self.at.spans.last().copied().flatten();
                        let sign = self.styles.script(format!("text {}", tag.text("style-name")), outer);
                        self.at.spans.push(sign);
                        self.at.scripts.set(sign);
                    }
                    "s" => self.push_sign(&" ".repeat(tag.number("c").unwrap_or(1).min(MAX_SPACES))),
                    "tab" => self.push_sign("\t"),
                    "line-break" => self.push_sign("\n"),
                    _ => {}
                },
                Node::Text(text) if is_text => {
                    let mut is_white = self.at.is_white;
                    let text = collapsed(&text, &mut is_white);
                    let shown = self.at.scripts.add(&text);
                    self.push(&shown);
                    self.at.is_white = is_white;
                }
                Node::Text(_) => {}
                Node::End(tag) => match tag.local_name().into_inner() {
                    "p" => {
                        let shown = self.at.scripts.end(None);
                        self.push(&shown);
                        is_text = false;
                    }
                    "span" => {
                        self.at.spans.pop();
                        self.at.scripts.set(self.at.spans.last().copied().flatten());
                    }
                    "table-cell" | "covered-table-cell" => self.end_cell(package)?,
                    "table-row" if !self.end_row(package)? => break,
                    "table" => break,
                    _ => {}
                },
            }
        }
        Ok(())
    }

    fn start_row(&mut self, tag: &Tag<'_>) {
        let count = tag.number("number-rows-repeated").unwrap_or(1).max(1);
        self.at.row = (self.at.row.1.saturating_add(1), self.at.row.1.saturating_add(count));
        self.at.column = (0, 0);
    }

    fn start_cell(&mut self, tag: &Tag<'_>) {
        let count = tag.number("number-columns-repeated").unwrap_or(1).max(1);
        self.at.column = (self.at.column.1.saturating_add(1), self.at.column.1.saturating_add(count));
        self.at.text.clear();
        self.at.paragraphs = 0;
        let formula = Some(tag.text("formula")).filter(|formula| !formula.is_empty());
        self.rows.has_formulas |= formula.is_some();
        // A text that is empty is a value.
        self.at.is_unknown = formula.is_some() && tag.text("value-type") != "string";
        let formula = formula.filter(|_| self.rows.wanted.formulas);
        self.at.value = formula.map_or_else(|| value(tag), |formula| Some(plain_formula(&formula)));
    }

    fn push_sign(&mut self, text: &str) {
        let shown = self.at.scripts.end(None) + text;
        self.push(&shown);
    }

    fn push(&mut self, text: &str) {
        self.at.is_white = false;
        if self.at.text.len() + text.len() <= MAX_CELL {
            self.at.text.push_str(text);
        }
    }

    fn end_cell(&mut self, package: &Package<'_>) -> Result<()> {
        let mut text = self.at.value.take().unwrap_or_else(|| mem::take(&mut self.at.text));
        if text.is_empty() && self.at.is_unknown {
            NO_VALUE.clone_into(&mut text);
        }
        if text.is_empty() || self.at.column.0 > MAX_COLUMNS {
            return Ok(());
        }
        let end = self.at.column.1.min(MAX_COLUMNS);
        self.at.size = (self.at.size.0.max(self.at.row.1), self.at.size.1.max(end));
        let WantedCells { rows: (first_row, _), columns: (first, last), .. } = self.rows.wanted;
        let row = self.at.row.0.max(first_row);
        // One more than fit, so that it is known.
        let most = MAX_ROW / text.len() + 1;
        for column in (self.at.column.0.max(first)..=end.min(last)).take(most) {
            package.budget.inflate(text.len() + CELL_WORK)?;
            if !self.rows.push(row, column, CellText::Own(text.clone())) {
                break;
            }
        }
        Ok(())
    }

    /// Ends a row and those that repeat it; false once there is no more room.
    fn end_row(&mut self, package: &Package<'_>) -> Result<bool> {
        let (first, last) = self.rows.wanted.rows;
        for row in self.at.row.0.max(first).saturating_add(1)..=self.at.row.1.min(last) {
            // A cell has two bytes at least.
            package.budget.inflate(self.rows.row_bytes * (CELL_WORK / 2))?;
            if !self.rows.repeat(row) {
                break;
            }
        }
        Ok(self.rows.next.is_none())
    }
}

/// What the attributes of a cell say that it shows: 19.389. `None` where that is its paragraphs.
fn value(tag: &Tag<'_>) -> Option<String> {
    let number = |text: &str| Some(NumberFormat::Number.render(text.trim().parse().ok()?, false));
    let text = match tag.text("value-type").as_str() {
        "float" | "percentage" | "currency" => Some(tag.text("value")).map(|text| number(&text).unwrap_or(text)),
        // With milliseconds at most; a time of no day is one of the day that is counted from.
        "date" => {
            let text: String = tag.text("date-value").chars().take(23).collect();
            Some(text.trim_start_matches("1899-12-30T").trim_end_matches(".000").to_owned())
        }
        "time" => Some(tag.text("time-value")).map(|text| clock(&text).unwrap_or(text)),
        "boolean" => Some(tag.text("boolean-value").to_uppercase()),
        _ => Some(tag.text("string-value")),
    };
    text.filter(|text| !text.is_empty())
}

/// `36:00:00` for `PT36H00M00S`.
fn clock(duration: &str) -> Option<String> {
    let mut days = 0.0;
    for part in duration.strip_prefix('P')?.replace('T', "").split_inclusive(char::is_alphabetic) {
        let of_day = match part.chars().last()? {
            'D' => 1.0,
            'H' => 24.0,
            'M' => 1440.0,
            'S' => 86_400.0,
            _ => return None,
        };
        days += part[..part.len() - 1].parse::<f64>().ok()? / of_day;
    }
    Some(NumberFormat::Duration.render(days, false))
}

/// A formula without the prefix of its language and the signs around references: `=A1` for `of:=[.A1]`.
fn plain_formula(formula: &str) -> String {
    let (mut found, mut is_quoted, mut before) = ("=".to_owned(), false, ' ');
    for sign in formula.split_once('=').map_or(formula, |(_, formula)| formula).chars() {
        is_quoted ^= sign == '"';
        if is_quoted || !(matches!(sign, '[' | ']') || sign == '.' && matches!(before, '[' | ':')) {
            found.push(sign);
        }
        before = sign;
    }
    found
}
