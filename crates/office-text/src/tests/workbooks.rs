//! Workbooks: what cells show, ranges, pages and sizes.

use super::{ALL, lines, open, rows};
use crate::{OfficeSheet, WantedCells, testing::xlsx};

const STYLES: &str = "<numFmts><numFmt numFmtId='164' formatCode='yyyy-mm-dd'/></numFmts>
    <cellStyleXfs><xf numFmtId='14'/></cellStyleXfs>
    <cellXfs><xf numFmtId='0'/><xf numFmtId='164'/><xf numFmtId='22'/><xf numFmtId='46'/></cellXfs>
    <cellStyles><xf numFmtId='14'/></cellStyles>";

#[test]
fn cells_are_shown_as_what_they_are() {
    let rows = "<row r='1'><c r='A1' t='s'><v>1</v></c><c r='C1' t='s'><v>0</v></c></row>
        <row r='3'><c r='A3' s='1'><v>45351</v></c><c r='B3' s='2'><v>45351.75</v></c><c r='C3' s='3'><v>1.5</v></c>
            <c r='D3'><v>0.30000000000000004</v></c><c r='E3' t='b'><v>1</v></c><c r='F3' t='e'><v>#DIV/0!</v></c></row>
        <row><c t='inlineStr'><is><r><t>in</t></r><r><t>line</t></r><rPh><t>x</t></rPh></is></c><c t='str'><f>A1</f><v>a&#9;b\\</v></c>
            <c t='str'><v>a_x000d_b_x005F_x0009__x001B__x</v></c><c t='d'><v>2024-02-29</v></c><c s='9'><v>7</v></c><c><v>4.0999999999999996</v></c><c t='s'><v>99</v></c></row>";
    let strings =
        "<si><t>plain</t></si><si><r><t>ri</t></r><r><t xml:space='preserve'>ch </t></r><rPh><t>kana</t></rPh></si>";
    let bytes = xlsx(&[("S", rows)], strings, STYLES);
    assert_eq!(
        lines(&bytes, 1, &ALL),
        [
            "1\trich \t\tplain",
            "3\t2024-02-29\t2024-02-29T18:00:00\t36:00:00\t0.30000000000000004\tTRUE\t#DIV/0!",
            "4\tinline\ta\\tb\\\\\ta\\rb_x0009__x001B__x\t2024-02-29\t7\t4.1",
        ]
    );
}

#[test]
fn formulas_take_the_place_of_values() {
    let rows = "<row r='1'><c r='A1'><v>2</v></c><c r='B1'><f t='shared' ref='B1:B3' si='0'>A1*2</f><v>4</v></c></row>
        <row r='2'><c r='A2'><v>3</v></c><c r='B2'><f t='shared' si='0'/><v>6</v></c></row>
        <row r='3'><c r='A3'><f>SUM(A1:A2)&amp;\"\"</f><v>5</v></c><c r='B3'><f t='shared' si='0'/><v>10</v></c></row>";
    let bytes = xlsx(&[("S", rows)], "", "");
    let formulas = WantedCells { formulas: true, ..ALL };
    assert_eq!(lines(&bytes, 1, &formulas), ["1\t2\t=A1*2", "2\t3\t=A2*2", "3\t=SUM(A1:A2)&\"\"\t=A3*2"]);
    let last = WantedCells { rows: (3, 3), columns: (2, 2), ..formulas };
    assert_eq!(lines(&bytes, 1, &last), ["3\t=A3*2"]);
    assert_eq!(lines(&bytes, 1, &WantedCells { formulas: false, ..formulas }), ["1\t2\t4", "2\t3\t6", "3\t5\t10"]);
}

#[test]
fn formula_without_a_value_in_the_file_says_so() {
    const NONE: &str = "(no value stored)";
    for (cell, shown) in [
        ("<c><f>1+1</f></c>", NONE),
        ("<c><f>1+1</f><v></v></c>", NONE),
        ("<c><f>1+1</f><v/></c>", NONE),
        ("<c t='str'><f>A1</f></c>", NONE),
        ("<c><f t='shared' si='0'/></c>", NONE),
        ("<c><f t='array' ref='A1:A2'>B1:B2</f></c>", NONE),
        ("<c t='b'><f>1=1</f><v/></c>", NONE),
        // A text that is empty is a value.
        ("<c t='str'><f>A1</f><v></v></c>", ""),
        ("<c t='str'><f>A1</f><v/></c>", ""),
        ("<c t='inlineStr'><f>A1</f><is><t></t></is></c>", ""),
        ("<c><f t='array' ref='A1:A2'>B1:B2</f><v>0</v></c>", "0"),
        ("<c t='e'><f>1/0</f><v>#DIV/0!</v></c>", "#DIV/0!"),
        ("<c><v></v></c>", ""),
    ] {
        let row = format!("<row>{cell}<c><v>1</v></c></row>");
        assert_eq!(lines(&xlsx(&[("S", &row)], "", ""), 1, &ALL), [format!("1\t{shown}\t1")], "{cell}");
    }
}

#[test]
fn sheets_are_listed_with_their_sizes() {
    let rows = "<row r='2'><c r='B2'><v>1</v></c></row><row r='9'><c r='D9'><v>1</v></c></row>";
    let bytes = xlsx(&[("One", rows), ("Two' state='hidden", "")], "", "");
    let sheet = |name: &str, hidden, size| OfficeSheet { name: name.to_owned(), hidden, size: Some(size) };
    let found = open(&bytes, |document| document.sheets()).unwrap();
    assert_eq!(found, [sheet("One", false, (9, 4)), sheet("Two", true, (0, 0))]);
}

#[test]
fn ranges_and_pages_give_each_cell_once() {
    let row =
        |at: u32| format!("<row r='{at}'><c r='A{at}' t='s'><v>{}</v></c><c r='C{at}'><v>{at}</v></c></row>", at % 7);
    let all: String = (1..=200).map(row).collect();
    let strings: String = (0..7).map(|at| format!("<si><t>string {at}</t></si>")).collect();
    let bytes = xlsx(&[("S", &all)], &strings, "");
    let whole = lines(&bytes, 1, &ALL);
    assert_eq!(whole.len(), 200);
    assert_eq!(whole[99], "100\tstring 2\t\t100");
    let (mut found, mut next) = (Vec::new(), Some(1));
    while let Some(first) = next {
        let page = rows(&bytes, 1, &WantedCells { rows: (first, u32::MAX), max_bytes: 100, ..ALL }).unwrap();
        assert_eq!(page.header, "\tA\tB\tC");
        assert!(page.rows.len() < 10);
        found.extend(page.rows.into_iter().map(|(_, line)| line));
        next = page.next;
    }
    assert_eq!(found, whole);
    let part = rows(&bytes, 1, &WantedCells { rows: (150, 151), columns: (2, 3), ..ALL }).unwrap();
    assert_eq!((part.header.as_str(), part.next), ("\tB\tC", None));
    assert_eq!(part.rows, [(150, "150\t\t150".to_owned()), (151, "151\t\t151".to_owned())]);
    assert!(lines(&bytes, 1, &WantedCells { rows: (201, 300), ..ALL }).is_empty());
    assert!(rows(&bytes, 2, &ALL).is_err() && rows(&bytes, 0, &ALL).is_err());
}

#[test]
fn rows_are_skipped_as_they_are_read() {
    // Empty rows, rows without numbers, and rows whose tags lie across what is read at once.
    let row = |at: usize| match at % 4 {
        0 => "<row/>".to_owned(),
        1 => format!("<row spans='1:2'\n r = '{at}'><c><v>{at}</v></c></row>"),
        2 => format!("<row r=\"{at}\"><c><v>{at}</v></c><!--{}--></row>", "x".repeat(at % 97)),
        _ => format!("<row><c><v>{at}</v></c></row ><rowBreaks/>"),
    };
    let all: String = (1..=4000).map(row).collect();
    let strings: String =
        (0..3000).map(|at| if at % 5 == 0 { "<si/>".into() } else { format!("<si><t>{at}</t></si>") }).collect();
    let prefixed = all.replace("<row", "<x:row").replace("</row", "</x:row");
    let bytes = xlsx(&[("S", &all), ("P", &prefixed)], &strings, "");
    let whole = lines(&bytes, 1, &ALL);
    assert_eq!(whole.len(), 3000);
    assert_eq!(lines(&bytes, 2, &ALL), whole);
    for first in [2, 3, 5, 1000, 2222, 3999] {
        let wanted = WantedCells { rows: (first, u32::MAX), ..ALL };
        let rest: Vec<String> = whole
            .iter()
            .filter(|line| line.split('\t').next().unwrap().parse::<u32>().unwrap() >= first)
            .cloned()
            .collect();
        assert_eq!(lines(&bytes, 1, &wanted), rest, "{first}");
        assert_eq!(lines(&bytes, 2, &wanted), rest, "{first}");
    }
    let shared: String = [0, 1, 4, 2998, 2999, 5, 10].iter().map(|at| format!("<c t='s'><v>{at}</v></c>")).collect();
    let bytes = xlsx(&[("S", &format!("<row>{shared}</row>"))], &strings, "");
    assert_eq!(lines(&bytes, 1, &ALL), ["1\t\t1\t4\t2998\t2999"]);
}

#[test]
fn rows_without_cells_may_be_the_first() {
    let bytes = xlsx(&[("S", "<row r='1'/><row r='2'><c><v>2</v></c></row><row r='3'><c><v>3</v></c></row>")], "", "");
    for first in 1..=3 {
        let found = lines(&bytes, 1, &WantedCells { rows: (first, 9), ..ALL });
        assert_eq!(found, ["2\t2", "3\t3"][first.saturating_sub(2) as usize..]);
    }
}
