//! `read` of Word, Excel, `PowerPoint` and `OpenDocument` files: their text by paragraphs, rows and slides, the images
//! within, and what they must not do to the server.

use std::iter;

use confined_fs::Revision;
use file_tools::Settings;
use office_text::testing::{archive, docx, opendocument, pptx, relationships, xlsx};
use serde_json::{Value, json};

use crate::harness::{Harness, Setup};

/// A harness with one document.
fn with(name: &str, bytes: impl AsRef<[u8]>) -> Harness {
    let h = Harness::new();
    h.write(name, bytes);
    h
}

fn read(h: &Harness, name: &str, more: &Value) -> String {
    let mut arguments = json!({ "path": name });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    h.call("read", arguments).ok()
}

fn part(h: &Harness, name: &str, part: &str) -> String {
    body(&read(h, name, &json!({ "part": part }))).to_owned()
}

/// The text without its last line.
fn body(text: &str) -> &str {
    text.rsplit_once('\n').map_or("", |(body, _)| body)
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn heading(text: &str) -> String {
    format!("<w:p><w:pPr><w:outlineLvl w:val='0'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

/// Two sections, of which the first has a table.
fn report() -> Vec<u8> {
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph(text));
    let row = |one: &str, two: &str| format!("<w:tr>{}{}</w:tr>", cell(one), cell(two));
    let table = format!("<w:tbl>{}{}</w:tbl>", row("city", "sum"), row("Rome", "4|2"));
    let changed = "<w:p><w:del w:author='Ann'><w:r><w:delText>old</w:delText></w:r></w:del></w:p>";
    docx(&[&heading("Results"), &paragraph("They are good."), &table, &heading("Next"), changed].concat(), &[])
}

fn cell(place: &str, value: &str) -> String {
    format!("<c r='{place}' t='str'><v>{value}</v></c>")
}

fn rows(texts: &[&[&str]]) -> String {
    let row = |(at, cells): (usize, &&[&str])| {
        let cell = |(column, text): (usize, &&str)| cell(&format!("{}{}", ["A", "B"][column], at + 1), text);
        let cells: String = cells.iter().enumerate().map(cell).collect();
        format!("<row r='{}'>{cells}</row>", at + 1)
    };
    texts.iter().enumerate().map(row).collect()
}

fn shape(kind: &str, text: &str) -> String {
    format!(
        "<p:sp><p:nvSpPr><p:nvPr><p:ph type='{kind}'/></p:nvPr></p:nvSpPr>\
         <p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )
}

#[test]
fn word_document_is_shown_by_paragraphs() {
    let h = with("a.docx", report());
    let answer = h.call("read", json!({ "path": "a.docx" }));
    let facts = answer.facts();
    let rev = &facts["revision"].as_str().unwrap()[..6];
    assert_eq!(
        answer.ok(),
        format!(
            "1\t# Results\n2\tThey are good.\n3\t| city | sum |\n\t|---|---|\n4\t| Rome | 4\\|2 |\n5\t# Next\n\
             6\t[deleted by Ann: old]\n(6 paragraphs, numbered for part=\"paragraphs N-M\", rev {rev})"
        )
    );
    assert_eq!((&facts["paragraphs"], &facts["has_more"]), (&json!(6), &json!(false)));
    assert_eq!(facts["size"], json!(h.bytes("a.docx").len()));
    assert_eq!(part(&h, "a.docx", "paragraphs 4-5"), "4\t| Rome | 4\\|2 |\n5\t# Next");
    assert_eq!(part(&h, "a.docx", "paragraph 2"), "2\tThey are good.");
    for heading in ["section next", "Next", "# next"] {
        assert_eq!(part(&h, "a.docx", heading), "5\t# Next\n6\t[deleted by Ann: old]");
    }
    assert_eq!(
        body(&h.call("read", json!({ "path": "a.docx:paragraphs 5-" })).ok()),
        "5\t# Next\n6\t[deleted by Ann: old]"
    );
    assert_eq!(
        body(&h.call("read", json!({ "path": "a.docx:section Next" })).ok()),
        "5\t# Next\n6\t[deleted by Ann: old]"
    );
    // What was asked for is shown whole: no continuation.
    let some = h.call("read", json!({ "path": "a.docx", "part": "paragraphs 1-2" }));
    assert_eq!(some.facts()["next_part"], "paragraphs 3-");
    assert!(!some.ok().contains("continue"));
    let error = h.call("read", json!({ "path": "a.docx", "part": "paragraphs 7-9" })).fails("invalid_input");
    assert_eq!(error, "paragraph 7 is past the end: a.docx has 6 paragraphs\n\nhint: use part=\"paragraphs 1-6\"");
}

#[test]
fn section_that_is_missing_or_there_twice_is_answered_with_what_there_is() {
    let h = with("a.docx", docx(&[heading("A"), paragraph("one"), heading("B"), heading("a")].concat(), &[]));
    let fails = |part: &str| h.call("read", json!({ "path": "a.docx", "part": part })).fails("invalid_input");
    assert_eq!(fails("section C"), "no heading of a.docx is called \"C\"\n\nhint: name a heading as it is: A, B, a");
    assert_eq!(
        fails("section A"),
        "2 headings of a.docx are called \"A\"\n\nhint: name one by its paragraphs: paragraphs 1-2, paragraphs 4-4"
    );
}

#[test]
fn cut_text_names_the_headings_after_the_cut() {
    let sections: Vec<String> =
        (1..=40).map(|n| heading(&format!("Part {n}")) + &paragraph(&"words ".repeat(50))).collect();
    let settings = Settings { max_output: Some(4096), ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    h.write("a.docx", docx(&sections.concat(), &[]));
    let text = h.call("read", json!({ "path": "a.docx" })).ok();
    let (footer, outline) = text.rsplit_once("\nnot shown: ").unwrap();
    assert!(text.len() <= 4096 && footer.contains("; continue with part=\"paragraphs "), "{text}");
    assert!(outline.contains(" # Part 20 · 41 # Part 21") && outline.ends_with("79 # Part 40"), "{outline}");
}

#[test]
fn workbook_is_shown_by_sheets_and_rows() {
    let plan =
        rows(&[&["task", "days"], &["dig", "a\tb"], &[]]) + "<row r='9'><c r='B9'><f>SUM(A1:A2)</f><v>42</v></c></row>";
    let h = with("a.xlsx", xlsx(&[("Plan", &plan), ("Old costs", &rows(&[&["1"]]))], "", ""));
    let answer = h.call("read", json!({ "path": "a.xlsx" }));
    let facts = answer.facts();
    let rev = &facts["revision"].as_str().unwrap()[..6];
    assert_eq!(
        answer.ok(),
        format!(
            "sheet 1 of 2: Plan: 9 rows, 2 columns\nsheet 2 of 2: Old costs: 1 row, 1 column\n\
             --- sheet Plan: 9 rows, 2 columns ---\n\tA\tB\n1\ttask\tdays\n2\tdig\ta\\tb\n9\t\t42\n\
             --- sheet Old costs: 1 row, 1 column ---\n\tA\n1\t1\n\
             (some values are computed; their formulas: part=\"sheet Plan formulas\")\n(2 sheets, rev {rev})"
        )
    );
    assert_eq!((&facts["sheets"], &facts["has_more"]), (&json!(2), &json!(false)));
    let plan = "--- sheet Plan: 9 rows, 2 columns ---\n";
    for name in ["sheet Plan", "Plan"] {
        assert_eq!(part(&h, "a.xlsx", &format!("{name} rows 2-8 columns B")), format!("{plan}\tB\n2\ta\\tb"));
    }
    assert_eq!(part(&h, "a.xlsx", "sheet plan formulas, rows 9"), format!("{plan}\tA\tB\n9\t\t=SUM(A1:A2)"));
    assert_eq!(part(&h, "a.xlsx", "sheet 1 rows 3-4"), format!("{plan}(no cells with content)"));
    for name in ["Old costs", "'old costs'", "2"] {
        let text = part(&h, "a.xlsx", &format!("sheet {name}"));
        assert_eq!(text, "--- sheet Old costs: 1 row, 1 column ---\n\tA\n1\t1", "{name}");
    }
    let text = part(&h, "a.xlsx", "sheet Plan row 9");
    let note = "(some values are computed; their formulas: part=\"sheet Plan formulas\")";
    assert_eq!(text, format!("{plan}\tA\tB\n9\t\t42\n{note}"));
    let fails = |part: &str| h.call("read", json!({ "path": "a.xlsx", "part": part })).fails("invalid_input");
    assert_eq!(
        fails("sheet Costs"),
        "no sheet of a.xlsx is called \"Costs\"\n\nhint: name a sheet as it is: Plan, Old costs"
    );
    assert!(fails("sheet Plan rows 10-12").starts_with("row 10 is past the end: sheet Plan of a.xlsx has 9 rows"));
    // A sheet that says less than it has.
    h.write(
        "b.xlsx",
        xlsx(&[("S", &("<dimension ref='A1:A2'/>".to_owned() + &rows(&[&["1"], &["2"], &["3"]])))], "", ""),
    );
    assert_eq!(part(&h, "b.xlsx", "sheet S rows 3-"), "--- sheet S: 2 rows, 1 column ---\n\tA\n3\t3");
}

#[test]
fn presentation_is_shown_by_slides() {
    let first = shape("title", "The title") + &shape("body", "text");
    let slides = [(first.as_str(), shape("body", "say this")), ("", String::new()), ("", String::new())];
    let slides: Vec<(&str, &str)> = slides.iter().map(|(shapes, notes)| (*shapes, notes.as_str())).collect();
    let h = with("a.pptx", pptx(&slides));
    let answer = h.call("read", json!({ "path": "a.pptx" }));
    assert_eq!(answer.facts()["slides"], json!(3));
    assert_eq!(
        body(&answer.ok()),
        "--- slide 1 of 3: The title ---\ntext\nnotes:\nsay this\n--- slide 2 of 3 ---\n(no text on this slide)\n\
         --- slide 3 of 3 (hidden) ---\n(no text on this slide)"
    );
    assert_eq!(part(&h, "a.pptx", "slides 2"), "--- slide 2 of 3 ---\n(no text on this slide)");
    let error = h.call("read", json!({ "path": "a.pptx", "part": "slides 9" })).fails("invalid_input");
    assert_eq!(error, "slide 9 is past the end: a.pptx has 3 slides\n\nhint: use part=\"slides 1-3\"");
}

#[test]
fn opendocument_is_read_as_the_others_are() {
    let text = "<text:h text:outline-level='1'>Results</text:h><text:p>All is good.</text:p>";
    let h = with("a.odt", opendocument("text", "", text, &[]));
    assert_eq!(body(&read(&h, "a.odt", &json!({ "part": "section results" }))), "1\t# Results\n2\tAll is good.");
    let cells = "<table:table-row><table:table-cell office:value-type='float' office:value='2'/></table:table-row>";
    h.write(
        "a.ods",
        opendocument("spreadsheet", "", &format!("<table:table table:name='S'>{cells}</table:table>"), &[]),
    );
    assert!(read(&h, "a.ods", &json!({ "part": "sheet S" })).contains("\tA\n1\t2\n"));
    let slide = "<draw:page><draw:frame><draw:text-box><text:p>words</text:p></draw:text-box></draw:frame></draw:page>";
    h.write("a.odp", opendocument("presentation", "", slide, &[]));
    assert!(read(&h, "a.odp", &json!({})).starts_with("--- slide 1 of 1 ---\nwords\n"));
    h.write("a.odg", opendocument("drawing", "", "<draw:page/>", &[]));
    let error = h.call("read", json!({ "path": "a.odg" })).fails("binary");
    assert!(error.contains("it is an OpenDocument drawing, chart or formula, which is not supported"), "{error}");
}

#[test]
fn part_of_another_format_does_not_fit() {
    let h = with("a.docx", report());
    h.write("a.xlsx", xlsx(&[("S", "")], "", ""));
    h.write("a.txt", "text\n");
    for (name, part, said) in [
        ("a.docx", "sheet S", "part sheet S is for workbooks; a.docx is a text document\n\nhint: use part=\"para"),
        ("a.docx", "pages 1-2", "part pages 1-2 is for PDF files; a.docx is a text document"),
        ("a.docx", "def main", "part def main is for source files; a.docx is a text document"),
        ("a.xlsx", "slides 1", "part slides 1 is for presentations; a.xlsx is a workbook\n\nhint: use"),
        ("a.txt", "paragraphs 1-2", "part paragraphs 1-2 is for Word and OpenDocument texts; a.txt is a text file"),
        ("a.docx", "image 1", "image 1 is past the end: a.docx has 0 images"),
        ("a.docx", "image 0", "`part` is not valid: \"image 0\": images are numbers from 1 on"),
        ("a.xlsx", "sheet", "`part` is not valid: \"sheet\": a name is missing"),
        ("a.txt", "Next", "`part` is not valid: \"Next\"\n\nhint: use `def NAME`"),
        ("a.docx", "Nowhere", "no heading of a.docx is called \"Nowhere\""),
    ] {
        let error = h.call("read", json!({ "path": name, "part": part })).fails("invalid_input");
        assert!(error.starts_with(said), "{error}");
    }
    let error = h.call("read", json!({ "path": "a.docx", "start_line": 3 })).fails("invalid_input");
    assert!(error.starts_with("a.docx is an Office document: its lines have no numbers"), "{error}");
}

/// The contents of all pages of a document, one after the other, without headings and line breaks: each part that a footer
/// names, in its place.
fn paged(h: &Harness, name: &str) -> (String, usize) {
    let (mut found, mut calls, mut left) = (String::new(), 0, vec![json!({})]);
    while let Some(more) = left.pop() {
        calls += 1;
        assert!(calls < 200, "it does not end");
        let mut arguments = json!({ "path": name });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = h.call("read", arguments);
        let (text, facts) = (answer.ok(), answer.facts());
        let text = text.split("\nnot shown: ").next().unwrap();
        assert!(answer.ok().len() <= 4096, "{}", answer.ok().len());
        for line in body(text).lines().filter(|line| !line.starts_with("---") && !line.starts_with('\t')) {
            found.push_str(line);
        }
        let continued = text.rsplit_once("; continue with ").map_or("", |(_, continued)| continued);
        let parts: Vec<&str> = continued.split('"').skip(1).step_by(2).collect();
        assert_eq!(facts["has_more"], json!(!parts.is_empty()), "{text}");
        assert_eq!(facts.get("next_part"), parts.first().map(|part| json!(part)).as_ref(), "{text}");
        left.extend(parts.iter().rev().map(|part| json!({ "part": part })));
        if let Some((offset, next)) = facts.get("next_offset").zip(left.last_mut()) {
            next["offset"] = offset.clone();
        }
    }
    (found, calls)
}

#[test]
fn paging_gives_every_paragraph_row_and_slide_once() {
    let settings = Settings { max_output: Some(4096), ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    let text = |n: usize| format!("number {n} {}.", "é of some length ".repeat(if n % 9 == 4 { 700 } else { n % 9 }));
    let texts: Vec<String> = (1..=30).map(text).collect();
    h.write("a.docx", docx(&texts.iter().map(|text| paragraph(text)).collect::<String>(), &[]));
    let numbered = |texts: &[String]| -> Vec<String> {
        texts.iter().enumerate().map(|(at, text)| format!("{}\t{text}", at + 1)).collect()
    };
    let (found, calls) = paged(&h, "a.docx");
    assert!(found == numbered(&texts).concat() && calls > 9, "{calls}");

    let shapes: Vec<String> = texts.iter().map(|text| shape("body", text)).collect();
    h.write("a.pptx", pptx(&shapes.iter().map(|shape| (shape.as_str(), "")).collect::<Vec<_>>()));
    assert!(paged(&h, "a.pptx").0 == texts.concat());

    let column: Vec<[&str; 1]> = texts.iter().map(|text| [text.as_str()]).collect();
    let column: Vec<&[&str]> = column.iter().map(|cells| &cells[..]).collect();
    h.write("a.xlsx", xlsx(&[("A", &rows(&column[..9])), ("Empty", ""), ("B 2", &rows(&column[9..]))], "", ""));
    let list =
        "sheet 1 of 3: A: 9 rows, 1 columnsheet 2 of 3: Empty: 0 rows, 0 columnssheet 3 of 3: B 2: 21 rows, 1 column";
    let found = paged(&h, "a.xlsx").0;
    let mut lines = [numbered(&texts[..9]), numbered(&texts[9..])].concat();
    assert!(lines.iter().all(|line| found.matches(line).count() == 1), "{found}");
    lines.extend(["(no cells with content)".to_owned(), list.to_owned()]);
    assert_eq!(found.len(), lines.concat().len());
}

#[test]
fn workbook_without_a_part_shows_the_first_rows_of_each_sheet() {
    let numbers: Vec<String> = (1..=90).map(|n| n.to_string()).collect();
    let columns = |first: usize, last: usize| -> Vec<[&str; 1]> {
        numbers[first - 1..last].iter().map(|text| [text.as_str()]).collect()
    };
    let sheet = |columns: &[[&str; 1]]| rows(&columns.iter().map(|cells| &cells[..]).collect::<Vec<_>>());
    let row = |at: usize| format!("<row r='{at}'><c r='A{at}'><v>{at}</v></c></row>");
    let gap: String =
        iter::once("<row r='3'><c r='A3'><f>A1</f></c></row>".to_owned()).chain((60..=110).map(row)).collect();
    let sheets = [
        ("Long", sheet(&columns(1, 90))),
        ("Short' state='hidden", sheet(&columns(1, 2))),
        ("Forty", sheet(&columns(1, 40))),
        ("Gap", gap),
    ];
    let sheets: Vec<(&str, &str)> = sheets.iter().map(|(name, rows)| (*name, rows.as_str())).collect();
    let h = with("a.xlsx", xlsx(&sheets, "", ""));
    let text = read(&h, "a.xlsx", &json!({}));
    assert!(text.contains("\n40\t40\n--- sheet Short: 2 rows, 1 column (hidden) ---\n\tA\n1\t1\n2\t2\n--- "), "{text}");
    assert!(text.contains("\n--- sheet Gap: 110 rows, 1 column ---\n\tA\n3\t(no value stored)\n60\t60\n"), "{text}");
    assert!(
        text.contains(
            "\n98\t98\n(some values are computed; their formulas: part=\"sheet Gap formulas\")\n(4 sheets, rev "
        ),
        "{text}"
    );
    assert!(text.ends_with("; continue with part=\"sheet Long rows 41-\", part=\"sheet Gap rows 99-\")"), "{text}");
    // It goes on to the end of that sheet.
    let text = part(&h, "a.xlsx", "sheet Long rows 41-");
    assert!(text.contains("\tA\n41\t41\n") && text.ends_with("\n90\t90"), "{text}");
    // A limit counts the rows of all sheets.
    let text = read(&h, "a.xlsx", &json!({ "limit": 91 }));
    assert!(
        text.contains("\n90\t90\n--- sheet Short: 2 rows, 1 column (hidden) ---\n\tA\n1\t1\n(4 sheets, "),
        "{text}"
    );
    let next =
        "; continue with part=\"sheet Short rows 2-\", part=\"sheet Forty rows 1-\", part=\"sheet Gap rows 1-\")";
    assert!(text.ends_with(next), "{text}");

    // Each of many has its share of the answer.
    let settings = Settings { max_output: Some(6000), ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    let names: Vec<String> = (1..=9).map(|n| format!("S{n}")).collect();
    let wide = "words ".repeat(20);
    let wide = rows(&[&[wide.as_str()][..]; 30]);
    h.write("b.xlsx", xlsx(&names.iter().map(|name| (name.as_str(), wide.as_str())).collect::<Vec<_>>(), "", ""));
    let text = read(&h, "b.xlsx", &json!({}));
    assert!(text.len() <= 6000 && text.ends_with(" and likewise 4 more sheets)"), "{text}");
    for name in names {
        assert!(text.contains(&format!("--- sheet {name}: 30 rows, 1 column ---\n\tA\n1\twords ")), "{text}");
    }
}

#[test]
fn offset_and_limit_count_lines() {
    let h = with("a.docx", docx(&["one", "two", "three"].map(paragraph).concat(), &[]));
    let text = read(&h, "a.docx", &json!({ "limit": 2 }));
    assert!(
        text.starts_with("1\tone\n2\ttwo\n(3 par") && text.ends_with("; continue with part=\"paragraphs 3-\")"),
        "{text}"
    );
    assert_eq!(body(&read(&h, "a.docx", &json!({ "offset": 2 }))), "3\tthree");
    assert_eq!(body(&read(&h, "a.docx", &json!({ "offset": 9 }))), "(offset is past the end)");
}

#[test]
fn each_of_several_files_may_name_a_part() {
    let h = with("a.docx", report());
    h.write("b.xlsx", xlsx(&[("Old plan", ""), ("2026", &rows(&[&["1"], &["2"], &["3"], &["4"]]))], "", ""));
    h.write("c d.pptx", pptx(&[(&shape("body", "one"), ""), (&shape("body", "two"), "")]));
    h.write("e.rs", "// about\nfn load() {}\nfn other() {}\n");
    let read = |paths: Value| h.call("read", json!({ "paths": paths })).ok();
    let parts = [
        ("a.docx", "paragraph 2", "2\tThey are good.\n("),
        ("b.xlsx", "sheet 2026 row 3", "--- sheet 2026: 4 rows, 1 column ---\n\tA\n3\t3\n("),
        ("b.xlsx", "2026", "--- sheet 2026: 4 rows, 1 column ---\n\tA\n1\t1\n2\t2\n3\t3\n4\t4\n("),
        ("c d.pptx", "slide 2", "--- slide 2 of 2 (hidden) ---\ntwo\n("),
        ("a.docx", "Next", "5\t# Next\n6\t[deleted by Ann: old]\n("),
        ("e.rs", "fn load", "1\t// about\n2\tfn load() {}\n(lines 1-2 of 3, with the comment above, rev "),
    ];
    let objects: Vec<Value> = parts.iter().map(|(path, part, _)| json!({ "path": path, "part": part })).collect();
    let text = read(json!(objects));
    for (path, _, shown) in parts {
        assert!(text.contains(&format!("==> {path} <==\n{shown}")), "{shown}: {text}");
    }
    assert_eq!(read(json!(json!(objects).to_string())), text);
    let texts: Vec<String> = parts
        .iter()
        .map(|(path, part, _)| format!("{path}:{}{part}", if part.contains(' ') { "" } else { "section " }))
        .collect();
    assert_eq!(read(json!(texts)), text);
    // A file of that name goes first.
    if cfg!(unix) {
        h.write("a.docx:paragraph 2", "another\n");
        assert!(read(json!(["a.docx:paragraph 2"])).contains("\n1\tanother\n"));
    }
}

#[test]
fn image_in_a_document_is_named_and_shown() {
    let mut png = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(8, 6).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let own = relationships(&[("i1", "image", "media/image1.png"), ("i2", "image", "media/image2.emf")]);
    let drawing = "<w:p><w:drawing><wp:docPr descr='a cat'/><a:blip r:embed='i1'/></w:drawing></w:p>";
    let main = format!("<w:document xmlns:w='w' xmlns:r='r'><w:body>{drawing}</w:body></w:document>");
    let h = with(
        "a.docx",
        archive(&[
            ("[Content_Types].xml", b"<Types/>"),
            ("_rels/.rels", relationships(&[("d", "officeDocument", "word/document.xml")]).as_bytes()),
            ("word/document.xml", main.as_bytes()),
            ("word/_rels/document.xml.rels", own.as_bytes()),
            ("word/media/image1.png", png.get_ref()),
            ("word/media/image2.emf", b"\x01\0\0\0l\0\0\0"),
        ]),
    );
    let size = png.get_ref().len();
    assert_eq!(body(&read(&h, "a.docx", &json!({}))), format!("1\t[image 1: a cat (image1.png, {size} bytes)]"));
    let answer = h.call("read", json!({ "path": "a.docx", "part": "image 1" }));
    let facts = answer.facts();
    assert_eq!((&facts["width"], &facts["height"]), (&json!(8), &json!(6)));
    assert_eq!(facts["size"], json!(h.bytes("a.docx").len()));
    let answer = h.call("read", json!({ "path": "a.docx", "part": "image 1 region 2,2,4,4" }));
    assert!(answer.ok().contains("(region 2,2,4,4 of 8×6 shown at 12×12, rev "), "{}", answer.ok());
    let error = h.call("read", json!({ "path": "a.docx", "part": "image 2" })).fails("binary");
    assert!(error.starts_with("image 2 of a.docx is no PNG, JPEG, WebP or GIF, but "), "{error}");
    h.call("read", json!({ "path": "a.docx", "part": "image 1 region 90,90,4,4" })).fails("invalid_input");
}

#[test]
fn document_that_cannot_be_read_says_why() {
    let h = Harness::new();
    let fails = |name: &str, bytes: &[u8]| {
        h.write(name, bytes);
        h.call("read", json!({ "path": name })).fails("binary")
    };
    let compound = |name: &str| {
        let mut bytes = vec![0; 2048];
        bytes[..8].copy_from_slice(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]);
        bytes[30] = 9;
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        bytes[512..512 + name.len()].copy_from_slice(&name);
        bytes
    };
    let whole = report();
    for (name, bytes, said, hint) in [
        ("a.docx", &whole[..whole.len() / 2], "damaged: the list of its parts", "create it again"),
        ("b.docx", &compound("EncryptedPackage"), "encrypted with a password", "ask the user for a copy without"),
        ("c.doc", &compound("WordDocument"), "a document of Word 97 to 2003", "ask the user to save it as .docx"),
    ] {
        let error = fails(name, bytes);
        let size = bytes.len();
        let begin = format!("{name} is an Office document of {size} bytes that cannot be read: it is {said}");
        assert!(error.starts_with(&begin) && error.contains(&format!("\n\nhint: {hint}")), "{error}");
    }
    // Other archives and compound files are what they were.
    let zip = archive(&[("a.txt", b"text")]);
    for name in ["a.zip", "d.docx"] {
        assert!(fails(name, &zip).starts_with(&format!("{name} is not text: ZIP archive, ")));
    }
    assert!(fails("a.msi", &compound("Property")).starts_with("a.msi is not text: "));
    let error = h.call("read", json!({ "path": "a.zip", "part": "paragraphs 1-2" })).fails("invalid_input");
    assert!(error.contains("a.zip is a text file"), "{error}");
    // By its content, whatever it is called, and a text by any name.
    h.write("named.bin", &whole);
    assert!(read(&h, "named.bin", &json!({})).starts_with("1\t# Results\n"));
    h.write("text.docx", "no document\n");
    assert!(read(&h, "text.docx", &json!({})).starts_with("1\tno document\n"));
}

#[test]
fn damaged_slide_leaves_the_others() {
    let bytes = pptx(&[(&shape("body", "one"), ""), ("<p:sp", ""), (&shape("body", "three"), "")]);
    let text = read(&with("a.pptx", bytes), "a.pptx", &json!({}));
    let second = "--- slide 2 of 3 ---\n(cannot be read: it is damaged: ";
    assert!(text.contains(second) && text.contains("\nthree\n"), "{text}");
}

#[test]
fn hidden_characters_are_named_by_their_place() {
    let h = with("a.docx", docx(&[paragraph("plain"), paragraph("if admin\u{202e}")].concat(), &[]));
    let text = read(&h, "a.docx", &json!({}));
    assert!(text.contains("\n(hidden characters: U+202E at paragraph 2)\n(2 par"), "{text}");
}

#[test]
fn headers_and_footers_are_named_and_are_a_part() {
    let header = |text: &str| format!("<w:hdr>{}</w:hdr>", paragraph(text));
    let bytes = docx(&paragraph("body"), &[("header", &header("Top\u{202e}")), ("footer", &header("Bottom"))]);
    let h = with("a.docx", &bytes);
    let text = read(&h, "a.docx", &json!({}));
    assert!(
        text.starts_with("1\tbody\n(not shown: 1 header and 1 footer; part=\"headers\")\n(1 paragraph, numbered"),
        "{text}"
    );
    assert!(!part(&h, "a.docx", "paragraphs 1").contains("not shown"));
    let text = part(&h, "a.docx", "Headers");
    let shown = "--- header ---\nTop\u{202e}\n--- footer ---\nBottom\n(hidden characters: U+202E at headers, part 1)";
    assert!(text.starts_with(shown), "{text}");
    let text = h.call("read", json!({ "paths": ["a.docx:headers"] })).ok();
    assert!(text.contains("\n--- footer ---\nBottom\n"), "{text}");
    let text = h.call("read", json!({ "path": "a.docx", "part": "headers", "limit": 3 })).ok();
    assert!(text.ends_with("; continue with part=\"headers\" and offset=3)"), "{text}");
    let text = h.call("read", json!({ "path": "a.docx", "part": "headers", "offset": 3 })).ok();
    assert!(text.starts_with("Bottom\n(4 lines, "), "{text}");
    h.write("b.docx", docx(&paragraph("body"), &[]));
    assert_eq!(part(&h, "b.docx", "headers"), "(it holds no text)");
}

#[test]
fn compound_files_and_binary_workbooks_are_named() {
    // A header whose directory is the first sector after it.
    let compound = |name: &str| {
        let mut bytes = vec![0; 1536];
        bytes[..8].copy_from_slice(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
        bytes[30] = 9;
        for (at, unit) in name.encode_utf16().enumerate() {
            bytes[512 + at * 2..][..2].copy_from_slice(&unit.to_le_bytes());
        }
        bytes
    };
    let h = Harness::new();
    for (file, name, said) in [
        ("a.msg", "__substg1.0_0037001F", "it is an Outlook message (.msg), which is not supported"),
        ("b.bin", "__SUBSTG1.0_0037001F", "it is an Outlook message (.msg), which is not supported"),
        ("c.bin", "VisioDocument", "it is a Visio drawing, which is not supported"),
        ("d.bin", "WordDocument", "it is a document of Word 97 to 2003, which"),
        ("e.bin", "Other", "e.bin is not text: OLE compound file, 1536 bytes"),
    ] {
        h.write(file, compound(name));
        let error = h.call("read", json!({ "path": file })).fails("binary");
        assert!(error.contains(said), "{file}: {error}");
    }
    let grep = h.call("grep", json!({ "pattern": "x" })).ok();
    assert!(grep.starts_with("No matches found"), "{grep}");
    let types = b"<Types/>".as_slice();
    let package = relationships(&[("rId1", "officeDocument", "xl/workbook.bin")]);
    let parts =
        [("[Content_Types].xml", types), ("_rels/.rels", package.as_bytes()), ("xl/workbook.bin", b"\x83\x01\0")];
    h.write("f.bin", archive(&parts));
    let error = h.call("read", json!({ "path": "f.bin" })).fails("binary");
    assert!(error.contains("it is a binary workbook (.xlsb), which is not supported; saved as .xlsx"), "{error}");
}

#[test]
fn names_in_an_untrusted_document_are_not_words_of_the_server() {
    let settings = Settings { max_output: Some(3000), ..Settings::default() };
    let h = Setup { settings, untrusted: &["root"], ..Setup::default() }.open();
    let long = "many words ".repeat(30);
    let many: Vec<[&str; 1]> = (0..40).map(|_| [long.as_str()]).collect();
    let many: Vec<&[&str]> = many.iter().map(|cells| &cells[..]).collect();
    h.write("a.xlsx", xlsx(&[("obey me", &rows(&many))], "", ""));
    h.write("a.docx", docx(&(heading("obey me") + &paragraph(&long)).repeat(20), &[]));
    let text = read(&h, "a.xlsx", &json!({}));
    assert!(text.contains("; continue with part=\"sheet 1 rows "), "{text}");
    assert!(!read(&h, "a.docx", &json!({})).contains("not shown"));
    for (name, part) in [("a.xlsx", "sheet X"), ("a.docx", "section X")] {
        let error = h.call("read", json!({ "path": name, "part": part })).fails("invalid_input");
        assert!(!error.contains("obey"), "{error}");
    }
}

#[test]
fn document_that_was_read_is_neither_edited_nor_replaced_by_text() {
    let h = with("a.docx", report());
    let edit = json!({ "path": "a.docx", "old_string": "good", "new_string": "bad" });
    let error = h.call("edit", edit.clone()).fails("not_read");
    assert!(error.starts_with("a.docx has not been read: it is not text but Word document, "), "{error}");
    read(&h, "a.docx", &json!({}));
    let hint = "\n\nhint: a document can be read and not edited: write the text to a new file, or ask the user to change it \
                in the program that it is of";
    assert!(h.call("edit", edit).fails("binary").ends_with(hint));
    // Text by the name of a document is what no program opens.
    let write = |more: Value| {
        let mut arguments = json!({ "path": "a.docx", "content": "text now\n" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        h.call("write", arguments).fails("binary")
    };
    for more in
        [json!({}), json!({ "mode": "append" }), json!({ "expected_revision": Revision::of(&report()).to_string() })]
    {
        assert!(write(more).ends_with(hint));
    }
    assert_eq!(h.bytes("a.docx"), report());
}
