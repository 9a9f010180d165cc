//! Sheets of an `OpenDocument` spreadsheet: ODF 1.3 part 3, clause 9.
//!
//! A row or a cell that is repeated is written once: empty ones at the end of a sheet stand for a million.

use std::{collections::HashMap, mem};

use crate::{
    OfficeError,
    budget::Result,
    number_format::NumberFormat,
    odf::{CONTENT, MAX_SPACES, Odf, collapsed, find_item},
    package::Package,
    workbook::{CellText, MAX_COLUMNS, MAX_ROW, OfficeSheet, RowCollector, SheetRows, WantedCells},
    xlsx::{MAX_CELL, MAX_COUNTED, NO_CELLS},
    xml::{Node, Tag, Xml},
};

/// The sheets with their sizes, which are counted.
pub(crate) fn sheets(odf: &Odf, package: &Package<'_>) -> Result<Vec<OfficeSheet>> {
    let least_left = package.budget.inflated.get().saturating_sub(MAX_COUNTED);
    let is_too_long = || package.budget.inflated.get() < least_left;
    let mut xml = package.required_xml(CONTENT)?;
    let sized = |(name, hidden): &(String, bool)| {
        let mut size = None;
        if !is_too_long() && find_item(&mut xml, "table", |_| true)? {
            let mut reader = SheetReader::new(NO_CELLS);
            reader.read(package, &mut xml, &is_too_long)?;
            size = Some(reader.size).filter(|_| !is_too_long());
        }
        Ok(OfficeSheet { name: name.clone(), hidden: *hidden, size })
    };
    odf.items.iter().map(sized).collect()
}

/// Rows of a sheet, which counts from 1.
pub(crate) fn rows(odf: &Odf, package: &Package<'_>, sheet: usize, wanted: WantedCells) -> Result<SheetRows> {
    if sheet == 0 || sheet > odf.items.len() {
        return Err(OfficeError::Missing(format!("sheet {sheet}")));
    }
    let (mut xml, mut at) = (package.required_xml(CONTENT)?, 0);
    let mut reader = SheetReader::new(wanted);
    let is_wanted = |_: &Tag<'_>| {
        at += 1;
        at == sheet
    };
    if find_item(&mut xml, "table", is_wanted)? {
        reader.read(package, &mut xml, &|| false)?;
    }
    Ok(reader.rows.finish(&HashMap::new()))
}

/// Reads the cells of a sheet.
struct SheetReader {
    rows: RowCollector,
    /// The row that is read and the one after it and those that repeat it, and the same of columns.
    row: (u32, u32),
    column: (u32, u32),
    /// What the cell says beside its paragraphs, and these.
    value: Option<String>,
    text: String,
    /// Paragraphs of the cell, and whether the last one ends with white space.
    paragraphs: usize,
    is_white: bool,
    /// The last row and the last column that have content.
    size: (u32, u32),
}

impl SheetReader {
    fn new(wanted: WantedCells) -> Self {
        let (value, text) = (None, String::new());
        Self {
            rows: RowCollector::new(wanted),
            row: (0, 1),
            column: (0, 1),
            value,
            text,
            paragraphs: 0,
            is_white: false,
            size: (0, 0),
        }
    }

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
                        if self.row.1 <= first {
                            // The start of the next sheet ends this one.
                            let mut is_over = false;
                            let is_first = |tag: &Tag<'_>| {
                                is_over |= tag.name() == "table";
                                if tag.name() == "table-row" {
                                    self.start_row(tag);
                                }
                                is_over || tag.name() == "table-row" && self.row.1 > first
                            };
                            if !xml.skip_to(name.trim_end_matches("-row"), is_first)? || is_over {
                                break;
                            }
                        }
                        if self.row.0 > last || is_enough() {
                            break;
                        }
                    }
                    "table-cell" | "covered-table-cell" => self.start_cell(&tag),
                    // Comments, shapes, and how Japanese is pronounced.
                    "annotation" | "shapes" | "forms" | "ruby-text" => xml.skip()?,
                    _ if tag.full_name().starts_with("draw:") => xml.skip()?,
                    "p" => {
                        is_text = true;
                        self.push(if self.paragraphs > 0 { "\n" } else { "" });
                        (self.paragraphs, self.is_white) = (self.paragraphs + 1, true);
                    }
                    "s" => self.push(&" ".repeat(tag.number("c").unwrap_or(1).min(MAX_SPACES))),
                    "tab" => self.push("\t"),
                    "line-break" => self.push("\n"),
                    _ => {}
                },
                Node::Text(text) if is_text => {
                    let mut is_white = self.is_white;
                    self.push(&collapsed(&text, &mut is_white));
                    self.is_white = is_white;
                }
                Node::Text(_) => {}
                Node::End(tag) => match tag.local_name().into_inner() {
                    "p" => is_text = false,
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
        self.row = (self.row.1, self.row.1.saturating_add(count));
        self.column = (0, 1);
    }

    fn start_cell(&mut self, tag: &Tag<'_>) {
        let count = tag.number("number-columns-repeated").unwrap_or(1).max(1);
        self.column = (self.column.1, self.column.1.saturating_add(count));
        self.text.clear();
        self.paragraphs = 0;
        let formula = Some(tag.text("formula")).filter(|formula| self.rows.wanted.formulas && !formula.is_empty());
        self.value = formula.map_or_else(|| value(tag), |formula| Some(plain_formula(&formula)));
    }

    fn push(&mut self, text: &str) {
        self.is_white = false;
        if self.text.len() + text.len() <= MAX_CELL {
            self.text.push_str(text);
        }
    }

    fn end_cell(&mut self, package: &Package<'_>) -> Result<()> {
        let text = self.value.take().unwrap_or_else(|| mem::take(&mut self.text));
        if text.is_empty() || self.column.0 > MAX_COLUMNS {
            return Ok(());
        }
        let end = self.column.1.min(MAX_COLUMNS + 1);
        self.size = (self.size.0.max(self.row.1 - 1), self.size.1.max(end - 1));
        let WantedCells { rows: (first_row, _), columns: (first, last), .. } = self.rows.wanted;
        let row = self.row.0.max(first_row);
        // One more than fit, so that it is known.
        let most = MAX_ROW / text.len() + 1;
        for column in (self.column.0.max(first)..end.min(last.saturating_add(1))).take(most) {
            package.budget.inflate(text.len())?;
            if !self.rows.push(row, column, CellText::Own(text.clone())) {
                break;
            }
        }
        Ok(())
    }

    /// Ends a row and those that repeat it; false once there is no more room.
    fn end_row(&mut self, package: &Package<'_>) -> Result<bool> {
        let (first, last) = self.rows.wanted.rows;
        for row in self.row.0.max(first).saturating_add(1)..self.row.1.min(last.saturating_add(1)) {
            package.budget.inflate(self.rows.row_bytes)?;
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
        "date" => Some(date(&tag.text("date-value"))),
        "time" => Some(tag.text("time-value")).map(|text| clock(&text).unwrap_or(text)),
        "boolean" => Some(tag.text("boolean-value").to_uppercase()),
        _ => Some(tag.text("string-value")),
    };
    text.filter(|text| !text.is_empty())
}

/// A date with milliseconds at most; a time of no day, which is one of the day that is counted from, without it.
fn date(text: &str) -> String {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let rest: String = rest.chars().take(3).collect();
    let rest = rest.trim_end_matches('0');
    let rest = if rest.is_empty() { String::new() } else { format!(".{rest:0<3}") };
    whole.trim_start_matches("1899-12-30T").to_owned() + &rest
}

/// `36:00:00` for `PT36H00M00S`.
fn clock(duration: &str) -> Option<String> {
    let (mut days, mut number) = (0.0, String::new());
    for sign in duration.strip_prefix('P')?.chars() {
        let of_day = match sign {
            'T' => continue,
            'D' => 1.0,
            'H' => 24.0,
            'M' => 1440.0,
            'S' => 86_400.0,
            _ => {
                number.push(sign);
                continue;
            }
        };
        days += mem::take(&mut number).parse::<f64>().ok()? / of_day;
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
