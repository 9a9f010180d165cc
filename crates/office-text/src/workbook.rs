//! Sheets as rows of cells: which of them are wanted, and how they are written.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
};

/// Columns of the widest sheet of Excel.
pub(crate) const MAX_COLUMNS: u32 = 16_384;

/// Bytes that the cells of one row may have; and those of the longest cell, which in Excel has 32,767 characters.
pub(crate) const MAX_ROW: usize = 1 << 20;

/// What a cell shows whose formula has no value in the file.
pub(crate) const NO_VALUE: &str = "(no value stored)";

/// A sheet of a workbook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfficeSheet {
    /// As it is shown on its tab.
    pub name: String,
    /// Whether a person does not see it.
    pub hidden: bool,
    /// Rows and columns, as the sheet says or as they were counted; `None` where counting would take too long.
    pub size: Option<(u32, u32)>,
}

/// The cells that are wanted. Rows and columns count from 1, and both ends belong to a range; the last may be any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedCells {
    /// The first row and the last, counted from 1.
    pub rows: (u32, u32),
    /// The first column and the last, counted from 1.
    pub columns: (u32, u32),
    /// Whether cells show their formula instead of its last value.
    pub formulas: bool,
    /// About how many bytes are wanted at most; one row is given in any case.
    pub max_bytes: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SheetRows {
    /// The letters of the columns, each after a tab.
    pub header: String,
    /// Number and line of each row that has cells: the number, and each cell after a tab. In a cell `\` is written `\\`, a
    /// tab `\t` and a line end `\n` or `\r`.
    pub rows: Vec<(u32, String)>,
    pub next: Option<u32>,
    /// Whether cells of a row are left out, as it is too long.
    pub cut: bool,
    /// Whether cells have a formula.
    pub has_formulas: bool,
}

/// The letters of a column, `A` to `XFD`.
pub(crate) fn column_letters(column: u32) -> String {
    let Some(rest) = column.checked_sub(1) else { return String::new() };
    let letter = char::from_digit(rest % 26 + 10, 36).unwrap_or_default();
    column_letters(rest / 26) + &letter.to_uppercase().to_string()
}

/// The column of letters, as `AB`, in either case; `None` for what is no column of a sheet.
pub fn column_number(letters: &str) -> Option<u32> {
    let digit = |letter: char| letter.to_digit(36).filter(|digit| *digit > 9).map(|digit| digit - 9);
    let column =
        letters.chars().try_fold(0_u32, |column, letter| column.checked_mul(26)?.checked_add(digit(letter)?))?;
    (1..=MAX_COLUMNS).contains(&column).then_some(column)
}

/// Row and column of `AB12`; the row is 0 where it is missing.
pub(crate) fn cell_place(text: &str) -> Option<(u32, u32)> {
    let digits = text.find(|letter: char| letter.is_ascii_digit()).unwrap_or(text.len());
    let row = if digits == text.len() { 0 } else { text[digits..].parse().ok()? };
    Some((row, column_number(&text[..digits])?))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CellText {
    Own(String),
    Shared(u32),
}

pub(crate) struct RowCollector {
    pub(crate) wanted: WantedCells,
    bytes: usize,
    pub(crate) row_bytes: usize,
    rows: Vec<(u32, Vec<(u32, CellText)>)>,
    pub(crate) next: Option<u32>,
    pub(crate) has_formulas: bool,
    cut: bool,
}

impl RowCollector {
    pub(crate) fn new(wanted: WantedCells) -> Self {
        Self { wanted, bytes: 0, row_bytes: 0, rows: Vec::new(), next: None, has_formulas: false, cut: false }
    }

    pub(crate) fn wants(&self, row: u32, column: u32) -> bool {
        let WantedCells { rows, columns, .. } = self.wanted;
        (rows.0..=rows.1).contains(&row) && (columns.0..=columns.1).contains(&column)
    }

    /// Adds a cell that is wanted; cells come row by row. False once there is no more room for rows.
    pub(crate) fn push(&mut self, row: u32, column: u32, cell: CellText) -> bool {
        if self.rows.last().is_none_or(|(last, _)| *last != row) {
            if self.bytes > self.wanted.max_bytes {
                self.next = Some(row);
                return false;
            }
            self.rows.push((row, Vec::new()));
            self.row_bytes = 0;
        }
        let Some((_, cells)) = self.rows.last_mut() else { return false };
        // The length of a string that is shared is known later.
        let bytes = if let CellText::Own(text) = &cell { text.len() + 1 } else { 8 };
        if self.row_bytes + bytes > MAX_ROW {
            self.cut = true;
            return true;
        }
        self.row_bytes += bytes;
        self.bytes += bytes;
        cells.push((column, cell));
        true
    }

    /// Adds the row before this one once more; false where it has no cells, or there is no more room.
    pub(crate) fn repeat(&mut self, row: u32) -> bool {
        let Some((_, cells)) = self.rows.last().filter(|(last, _)| *last == row - 1) else { return false };
        cells.clone().into_iter().all(|(column, cell)| self.push(row, column, cell))
    }

    pub(crate) fn shared(&self) -> BTreeSet<u32> {
        let cells = self.rows.iter().flat_map(|(_, cells)| cells);
        cells.filter_map(|(_, cell)| if let CellText::Shared(at) = cell { Some(*at) } else { None }).collect()
    }

    pub(crate) fn finish(self, strings: &HashMap<u32, String>) -> SheetRows {
        let mut found =
            SheetRows { next: self.next, cut: self.cut, has_formulas: self.has_formulas, ..SheetRows::default() };
        let first_column = self.wanted.columns.0.max(1);
        let (mut widest, mut bytes) = (0, 0);
        for (number, mut cells) in self.rows {
            let mut line = number.to_string();
            let mut column = first_column - 1;
            cells.sort_by_key(|(column, _)| *column);
            for (at, cell) in cells {
                let text = match &cell {
                    CellText::Own(text) => text,
                    CellText::Shared(at) => strings.get(at).map_or("", String::as_str),
                };
                if text.is_empty() || at <= column {
                    continue;
                }
                if line.len() + text.len() > MAX_ROW {
                    found.cut = true;
                    break;
                }
                line.extend((column..at).map(|_| '\t'));
                column = at;
                let text = text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r");
                line.push_str(&text);
            }
            if column < first_column {
                continue;
            }
            bytes += line.len();
            if bytes > self.wanted.max_bytes && !found.rows.is_empty() {
                found.next = Some(number);
                break;
            }
            widest = widest.max(column);
            found.rows.push((number, line));
        }
        for column in first_column..=widest {
            let _ = write!(found.header, "\t{}", column_letters(column));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_letters() {
        for (column, letters) in [(1, "A"), (26, "Z"), (27, "AA"), (702, "ZZ"), (703, "AAA"), (16_384, "XFD")] {
            assert_eq!(column_letters(column), letters);
            assert_eq!(column_number(letters), Some(column));
        }
        for letters in ["", "XFE", "A1", "ZZZZZZZZZZ", "Ä"] {
            assert_eq!(column_number(letters), None, "{letters}");
        }
        assert_eq!(cell_place("ab12"), Some((12, 28)));
        assert_eq!(cell_place("12"), None);
        assert_eq!(cell_place("A99999999999"), None);
    }

    const ALL_CELLS: WantedCells =
        WantedCells { rows: (1, u32::MAX), columns: (1, u32::MAX), formulas: false, max_bytes: 8 };

    #[test]
    fn rows_end_where_the_bytes_do_and_say_where_they_continue() {
        let text = |text: &str| CellText::Own(text.to_owned());
        let mut rows = RowCollector::new(ALL_CELLS);
        assert!(rows.push(1, 1, text("a\tb")) && rows.push(1, 3, text("c\\d\n")));
        assert!(!rows.push(7, 2, text("e")));
        let found = rows.finish(&HashMap::new());
        assert_eq!(found.rows, [(1, "1\ta\\tb\t\tc\\\\d\\n".to_owned())]);
        assert_eq!((found.header.as_str(), found.next, found.cut), ("\tA\tB\tC", Some(7), false));
    }

    #[test]
    fn shared_strings_count_when_they_are_known() {
        let mut rows = RowCollector::new(WantedCells { columns: (2, 9), max_bytes: 20, ..ALL_CELLS });
        for row in 1..=3 {
            assert!(rows.push(row, 2, CellText::Shared(row % 2)));
        }
        assert_eq!(rows.shared(), BTreeSet::from([0, 1]));
        let found = rows.finish(&HashMap::from([(0, "a long string".repeat(2)), (1, "o".to_owned())]));
        assert_eq!(found.rows, [(1, "1\to".to_owned())]);
        assert_eq!((found.header.as_str(), found.next), ("\tB", Some(2)));
    }
}
