//! What hostile files cost, and what is reported of them: bombs, lies in the list of parts, damage, and any elements at all.

use std::{cell::Cell, io::Cursor, ops::ControlFlow};

use proptest::prelude::*;

use super::{ALL, open, paragraphs, rows};
use crate::{
    OfficeDocument, OfficeError, WantedCells,
    testing::{archive, docx, opendocument, pptx, relationships, xlsx},
    with_document,
};

fn words(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

const ROOT: (&str, &[u8]) = (
    "_rels/.rels",
    b"<Relationships><Relationship Id='r' Type='x/officeDocument' Target='word/document.xml'/></Relationships>",
);

/// A compound file whose directory has this name.
fn compound(name: &str) -> Vec<u8> {
    let mut bytes = vec![0; 1536];
    bytes[..8].copy_from_slice(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]);
    bytes[30] = 9;
    bytes[48] = 1;
    let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes[1024..1024 + wide.len()].copy_from_slice(&wide);
    bytes
}

/// Reads all of a document.
fn read_all(document: &OfficeDocument<'_>) -> Result<(), OfficeError> {
    document.outline()?;
    document.paragraphs(2, &mut |_| ControlFlow::Continue(()))?;
    for sheet in 1..=document.sheets()?.len().min(20) {
        for formulas in [false, true] {
            document.rows(sheet, &WantedCells { rows: (2, u32::MAX), formulas, max_bytes: 1000, ..ALL })?;
        }
    }
    for slide in 1..=document.slide_count().min(20) {
        document.slide(slide)?;
    }
    for image in 1..=document.images().len() {
        document.image(image)?;
    }
    Ok(())
}

/// The error of one that panicked, which is caught.
const PANICKED: OfficeError = OfficeError::Damaged("its data is invalid");

#[test]
fn files_of_other_kinds_are_told_apart() {
    let format = |error: Result<Vec<String>, OfficeError>| error.unwrap_err().to_string();
    for (bytes, error) in [
        (b"".to_vec(), "no Word, Excel, PowerPoint or OpenDocument file"),
        (b"%PDF-1.7 and more".to_vec(), "no Word, Excel, PowerPoint or OpenDocument file"),
        (archive(&[("a.txt", b"a")]), "no Word, Excel, PowerPoint or OpenDocument file"),
        (compound("EncryptedPackage"), "encrypted with a password"),
        (
            compound("WordDocument"),
            "a document of Word 97 to 2003, which is not supported; saved as .docx it can be read",
        ),
        (compound("Workbook"), "a workbook of Excel 97 to 2003, which is not supported; saved as .xlsx it can be read"),
        (
            compound("PowerPoint Document"),
            "a presentation of PowerPoint 97 to 2003, which is not supported; saved as .pptx it can be read",
        ),
        (compound("__nameid"), "no Word, Excel, PowerPoint or OpenDocument file"),
        (
            archive(&[("_rels/.rels", relationships(&[("r", "officeDocument", "xl/workbook.bin")]).as_bytes())]),
            "a binary workbook (.xlsb), which is not supported; saved as .xlsx it can be read",
        ),
        (
            archive(&[("_rels/.rels", relationships(&[("r", "officeDocument", "word/a.xml")]).as_bytes())]),
            "damaged: it has no part \"word/a.xml\"",
        ),
    ] {
        assert_eq!(format(paragraphs(&bytes)), error);
    }
}

#[test]
fn parts_that_are_absent_are_named() {
    let bytes = xlsx(&[("A", "")], "", "");
    let at = bytes.windows(10).position(|bytes| bytes == b"sheet0.xml").unwrap();
    let absent = [&bytes[..at], b"sheet9.xml", &bytes[at + 10..]].concat();
    // Its name is in the list at the end as well.
    let at = absent.windows(10).position(|bytes| bytes == b"sheet0.xml").unwrap();
    let absent = [&absent[..at], b"sheet9.xml", &absent[at + 10..]].concat();
    assert_eq!(rows(&absent, 1, &ALL), Err(OfficeError::Missing("xl/worksheets/sheet0.xml".to_owned())));
    assert_eq!(open(&absent, |document| document.sheets()).unwrap()[0].size, None);
    // Without them there are no headings and no strings.
    let bytes = docx("<w:p><w:pPr><w:pStyle w:val='H1'/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>", &[]);
    assert_eq!(paragraphs(&bytes).unwrap(), ["a"]);
}

#[test]
fn entities_are_not_expanded() {
    let laughs = "<!DOCTYPE d [<!ENTITY a 'ha'><!ENTITY b '&a;&a;'><!ENTITY c SYSTEM 'file:///etc/passwd'>]>";
    let body = format!("{}{}", words("&b;&c;&lt;&amp;&#65;&#x42;&#0;&#xD800;"), words("<![CDATA[<b>&a;]]>"));
    let document = format!("{laughs}<w:document xmlns:w='w'><w:body>{body}</w:body></w:document>");
    let bytes = archive(&[ROOT, ("word/document.xml", document.as_bytes())]);
    assert_eq!(paragraphs(&bytes).unwrap(), ["&b;&c;<&AB&#0;&#xD800;", "<b>&a;"]);
}

#[test]
fn text_before_the_damage_is_read() {
    let body = [words("one"), words("two"), "<w:p><w:r></w:p>".to_owned(), words("three")].concat();
    let bytes = docx(&body, &[]);
    let mut found = Vec::new();
    let result = open(&bytes, |document| {
        document.paragraphs(1, &mut |paragraph| {
            found.push(paragraph.text.to_owned());
            ControlFlow::Continue(())
        })
    });
    assert_eq!((result, found.len()), (Err(OfficeError::Damaged("its XML is not well-formed")), 2));
    for (document, error) in [
        ("<w:document xmlns:w='w'><w:body>", "damaged: its XML ends too early"),
        ("<w:document xmlns:w='w'><w:body a='", "damaged: its XML is not well-formed"),
        ("\u{feff}", "no Word, Excel, PowerPoint or OpenDocument file"),
    ] {
        let bytes = archive(&[ROOT, ("word/document.xml", document.as_bytes())]);
        assert_eq!(paragraphs(&bytes).unwrap_err().to_string(), error);
    }
    let bytes = archive(&[ROOT, ("word/document.xml", &b"\xff\xfe<\0a\0>\0<\0/\0a\0>\0"[..])]);
    assert_eq!(paragraphs(&bytes), Err(OfficeError::Damaged("its XML is not UTF-8")));
}

#[test]
fn one_text_and_the_depth_of_elements_are_bounded() {
    let bytes = docx(&words(&"a".repeat(9 << 20)), &[]);
    assert_eq!(paragraphs(&bytes), Err(OfficeError::TooLarge("one of its texts has more than 8 MiB")));
    let bytes = docx(&"<w:tbl>".repeat(1000), &[]);
    assert_eq!(paragraphs(&bytes), Err(OfficeError::TooLarge("its elements are nested too deeply")));
    // Many small texts of one paragraph.
    let bytes = docx(&format!("<w:p>{}</w:p>", format!("<w:t>{}</w:t>", "b".repeat(1 << 20)).repeat(6)), &[]);
    open(&bytes, |document| {
        document.paragraphs(1, &mut |paragraph| {
            assert!(paragraph.cut && paragraph.text.len() == 4 << 20);
            ControlFlow::Continue(())
        })
    })
    .unwrap();
    let styles: String = (0..300_000).map(|at| format!("<w:style w:styleId='{at}'/>")).collect();
    let bytes = docx("", &[("styles", &format!("<w:styles xmlns:w='w'>{styles}</w:styles>"))]);
    let held = OfficeError::TooLarge("its names, styles and notes take too much memory");
    assert_eq!(paragraphs(&bytes), Err(held));
}

#[test]
fn sizes_and_checksums_are_compared() {
    let bytes = docx(&words(&"a".repeat(5000)), &[]);
    let entry = bytes.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
    for (at, what) in [(16, "the checksum"), (20, "the packed size"), (24, "the size")] {
        let mut wrong = bytes.clone();
        wrong[entry + at] ^= 0x55;
        assert!(matches!(paragraphs(&wrong), Err(OfficeError::Damaged(_))), "{what}");
    }
    let mut encrypted = bytes.clone();
    encrypted[entry + 8] |= 1;
    assert_eq!(paragraphs(&encrypted), Err(OfficeError::Password));
    let mut method = bytes.clone();
    method[entry + 10] = 12;
    assert!(matches!(paragraphs(&method), Err(OfficeError::Damaged(_))));
    let mut place = bytes.clone();
    place[entry + 42] ^= 1;
    assert!(matches!(paragraphs(&place), Err(OfficeError::Damaged(_))));
    // A list that ends elsewhere, or has another number of parts.
    let end = bytes.len() - 22;
    for at in [8, 10, 12, 16] {
        let mut wrong = bytes.clone();
        wrong[end + at] ^= 0x3;
        let found = paragraphs(&wrong);
        assert!(found.is_ok() || matches!(found, Err(OfficeError::Damaged(_) | OfficeError::NoDocument)), "{at}");
    }
    assert_eq!(
        paragraphs(&bytes[..end]),
        Err(OfficeError::Damaged("the list of its parts, which is at its end, is missing or wrong"))
    );
}

#[test]
fn a_workbook_may_have_ten_thousand_sheets() {
    let sheets: Vec<String> = (0..10_000).map(|at| format!("Sheet {at}")).collect();
    let sheets: Vec<(&str, &str)> =
        sheets.iter().map(|name| (name.as_str(), "<row r='1'><c r='A1'><v>7</v></c></row>")).collect();
    let bytes = xlsx(&sheets, "", "");
    open(&bytes, |document| {
        let found = document.sheets()?;
        assert_eq!((found.len(), found[9_999].size), (10_000, Some((1, 1))));
        assert_eq!(document.rows(10_000, &ALL)?.rows, [(1, "1\t7".to_owned())]);
        Ok(())
    })
    .unwrap();
}

#[test]
fn work_that_is_no_longer_wanted_ends() {
    let body: String = (0..20_000).map(|at| words(&format!("paragraph {at}"))).collect();
    let bytes = docx(&body, &[]);
    let stopped = Cell::new(false);
    let mut count = 0;
    let result = with_document(Cursor::new(&bytes), &|| stopped.get(), |document| {
        document.paragraphs(1, &mut |_| {
            count += 1;
            stopped.set(true);
            ControlFlow::Continue(())
        })
    });
    assert_eq!(result, Err(OfficeError::Stopped));
    assert!(count < 5000, "{count}");
}

/// Names of elements and attributes that mean something, and some that do not.
const NAMES: &[&str] = &[
    "p",
    "r",
    "t",
    "tbl",
    "tr",
    "tc",
    "pPr",
    "rPr",
    "numPr",
    "ins",
    "del",
    "txbxContent",
    "footnote",
    "comment",
    "footnoteReference",
    "vanish",
    "gridSpan",
    "br",
    "sp",
    "ph",
    "txBody",
    "blip",
    "relIds",
    "row",
    "c",
    "v",
    "f",
    "is",
    "si",
    "rPh",
    "dimension",
    "sheetData",
    "Fallback",
    "body",
    "h",
    "list",
    "list-item",
    "note",
    "note-body",
    "annotation",
    "changed-region",
    "deletion",
    "change",
    "table",
    "table-row",
    "table-cell",
    "frame",
    "image",
    "span",
    "notes",
    "page",
    "style",
    "list-style",
    "list-level-style-number",
    "other",
];

fn element() -> impl Strategy<Value = String> {
    let attribute = (
        "(val|id|r|s|t|si|lvl|type|gridSpan|hMerge|ref|author|w:val|r:embed|level|name|style-name|class|value-type\
         |number-rows-repeated|number-columns-repeated|outline-level|start-value|change-id|display|formula)",
        "([0-9]{0,3}|A1:B9|shared|s|title|&amp;|\u{fc})",
    );
    let tag = (prop::sample::select(NAMES), prop::option::of(attribute));
    let leaf = prop_oneof![
        "[a-z|\u{e9}]{0,9}",
        Just("&#65;&lt;&none;".to_owned()),
        Just("<!-- -->".to_owned()),
        Just("12".to_owned())
    ];
    let named = move |(name, attribute): (&str, Option<(String, String)>), inner: String| {
        let attribute = attribute.map(|(name, value)| format!(" {name}='{value}'")).unwrap_or_default();
        format!("<{name}{attribute}>{inner}</{name}>")
    };
    leaf.prop_recursive(6, 60, 6, move |inner| {
        (tag.clone(), prop::collection::vec(inner, 0..6)).prop_map(move |(tag, inner)| named(tag, inner.concat()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn any_elements_are_read(parts in prop::collection::vec(element(), 1..8)) {
        let part = format!("<a xmlns:w='w' xmlns:r='r'>{}</a>", parts.concat());
        let texts = docx(&parts.concat(), &[("styles", &part), ("numbering", &part), ("footnotes", &part), ("comments", &part)]);
        let sheets = xlsx(&[("S", &parts.concat())], &parts.concat(), &parts.concat());
        let slides = pptx(&[(&parts.concat(), &parts.concat())]);
        let [text, spreadsheet, presentation] = ["text", "spreadsheet", "presentation"]
            .map(|kind| opendocument(kind, &parts.concat(), &parts.concat(), &[("styles.xml", part.as_bytes())]));
        for bytes in [texts, sheets, slides, text, spreadsheet, presentation] {
            prop_assert_ne!(open(&bytes, read_all), Err(PANICKED));
        }
    }

    #[test]
    fn any_bytes_are_read(
        place in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<bool>(), kind in 0..3,
    ) {
        let mut bytes = match kind {
            0 => docx(&words("a").repeat(9), &[("styles", "<w:styles/>")]),
            1 => xlsx(&[("S", "<row r='1'><c r='A1' t='s'><v>0</v></c></row>")], "<si><t>a</t></si>", ""),
            _ => pptx(&[("<p:sp><a:t>a</a:t></p:sp>", "")]),
        };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut {
            bytes.truncate(place.index(bytes.len()));
        }
        prop_assert_ne!(open(&bytes, read_all), Err(PANICKED));
    }

    #[test]
    fn rows_fit_what_was_asked_for(rows in prop::collection::vec((1..50_u32, 1..30_u32, "[a-z\t]{0,20}"), 0..60), max_bytes in 0..300_usize) {
        let mut rows = rows;
        rows.sort();
        rows.dedup_by_key(|(row, column, _)| (*row, *column));
        let xml: String = rows.iter().map(|(row, column, text)| {
            format!("<row r='{row}'><c r='{}{row}' t='str'><v>{text}</v></c></row>", crate::workbook::column_letters(*column))
        }).collect();
        let bytes = xlsx(&[("S", &xml)], "", "");
        let (mut first, mut found) = (1, Vec::new());
        loop {
            let page = super::rows(&bytes, 1, &WantedCells { rows: (first, u32::MAX), max_bytes, ..ALL }).unwrap();
            let size: usize = page.rows.iter().map(|(_, line)| line.len()).sum();
            prop_assert!(page.rows.len() <= 1 || size <= max_bytes, "{size} {max_bytes}");
            found.extend(page.rows.into_iter().map(|(row, _)| row));
            match page.next {
                Some(next) => first = next,
                None => break,
            }
        }
        let mut wanted: Vec<u32> = rows.iter().filter(|(_, _, text)| !text.is_empty()).map(|(row, _, _)| *row).collect();
        wanted.dedup();
        prop_assert_eq!(found, wanted);
    }
}
