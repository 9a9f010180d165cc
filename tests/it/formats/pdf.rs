//! `read` of PDF files: their text by pages, and what they must not do to the server.

pub(crate) mod document;
mod hostile;

use file_tools::Settings;
use serde_json::{Value, json};

use crate::harness::{Harness, Setup};
use document::{Document, FONT, instructions, pages_of};

/// A harness with one PDF.
fn with(bytes: impl AsRef<[u8]>) -> Harness {
    let h = Harness::new();
    h.write("a.pdf", bytes);
    h
}

fn read(h: &Harness, more: &Value) -> String {
    let mut arguments = json!({ "path": "a.pdf" });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    h.call("read", arguments).ok()
}

/// The text without its last line.
fn body(text: &str) -> &str {
    text.rsplit_once('\n').unwrap().0
}

#[test]
fn pages_are_shown_under_headings() {
    let h = with(pages_of(&["First page\nSecond line", "Another (page)"]));
    let answer = h.call("read", json!({ "path": "a.pdf" }));
    let facts = answer.facts();
    let rev = &facts["revision"].as_str().unwrap()[..6];
    assert_eq!(
        answer.ok(),
        format!(
            "--- page 1 of 2 ---\nFirst page\nSecond line\n--- page 2 of 2 ---\nAnother (page)\n(2 pages, rev {rev})"
        )
    );
    assert_eq!((&facts["pages"], &facts["first_page"], &facts["last_page"]), (&json!(2), &json!(1), &json!(2)));
    assert_eq!((&facts["has_more"], &facts["returned_lines"]), (&json!(false), &json!(3)));
    assert!(facts.get("next_part").is_none());
    assert_eq!(facts["size"], json!(h.bytes("a.pdf").len()));
}

#[test]
fn part_gives_the_pages_asked_for() {
    let h = with(pages_of(&["one", "two", "three", "four"]));
    let part = |part: &str| read(&h, &json!({ "part": part }));
    assert_eq!(body(&part("pages 2-3")), "--- page 2 of 4 ---\ntwo\n--- page 3 of 4 ---\nthree");
    assert_eq!(body(&part("page 4")), "--- page 4 of 4 ---\nfour");
    assert_eq!(body(&part("pages 3-")), "--- page 3 of 4 ---\nthree\n--- page 4 of 4 ---\nfour");
    assert_eq!(body(&part("pages 3-99")), body(&part("pages 3-4")));
    // What was asked for is shown whole: no continuation.
    assert!(!part("pages 1-2").contains("continue"));
    assert_eq!(h.call("read", json!({ "path": "a.pdf", "part": "pages 1-2" })).facts()["next_part"], "pages 3-");
    let error = h.call("read", json!({ "path": "a.pdf", "part": "pages 7-9" })).fails("invalid_input");
    assert_eq!(error, "page 7 is past the end: a.pdf has 4 pages\n\nhint: use part=\"pages 1-4\"");
}

#[test]
fn parts_of_other_formats_do_not_fit() {
    let h = with(pages_of(&["one"]));
    for part in ["cells 1-2", "def main", "region 0,0,8,8", "columns 1-9"] {
        let error = h.call("read", json!({ "path": "a.pdf", "part": part })).fails("invalid_input");
        assert!(error.contains("a.pdf is a PDF file") && error.contains("pages 1-5"), "{error}");
    }
    h.write("a.txt", "text\n");
    h.call("read", json!({ "path": "a.txt", "part": "pages 1-2" })).fails("invalid_input");
}

#[test]
fn offset_and_limit_count_the_lines_of_the_pages() {
    let h = with(pages_of(&["1a\n1b\n1c", "2a\n2b", "3a"]));
    let text = read(&h, &json!({ "offset": 2 }));
    assert_eq!(body(&text), "--- page 1 of 3 ---\n1c\n--- page 2 of 3 ---\n2a\n2b\n--- page 3 of 3 ---\n3a");
    let text = read(&h, &json!({ "limit": 2 }));
    assert!(text.starts_with("--- page 1 of 3 ---\n1a\n1b\n(3 pages, rev "), "{text}");
    assert!(text.ends_with("; continue with part=\"pages 1-\" and offset=2)"), "{text}");
    let text = read(&h, &json!({ "part": "pages 1-2", "offset": 1, "limit": 1 }));
    assert!(text.ends_with("; continue with part=\"pages 1-2\" and offset=2)"), "{text}");
    for wrong in [json!({ "start_line": 1 }), json!({ "offset": -5 })] {
        let mut arguments = json!({ "path": "a.pdf" });
        arguments.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        h.call("read", arguments).fails("invalid_input");
    }
}

#[test]
fn paging_gives_every_line_once() {
    let page = |number: usize, lines: usize| {
        let lines: Vec<String> = (0..lines).map(|line| format!("page {number} line {line} of some length\n")).collect();
        lines.concat()
    };
    // One page alone is larger than an answer.
    let texts: Vec<String> = (1..=9).map(|number| page(number, if number == 4 { 300 } else { 20 })).collect();
    let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
    let settings = Settings { max_output: Some(4096), ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    h.write("a.pdf", pages_of(&refs));
    let mut found = String::new();
    let mut more = json!({});
    for call in 0.. {
        assert!(call < 40, "it does not end");
        let mut arguments = json!({ "path": "a.pdf" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = h.call("read", arguments);
        let (text, facts) = (answer.ok(), answer.facts());
        assert!(text.len() <= 4096, "{}", text.len());
        for line in body(&text).lines().filter(|line| !line.starts_with("---")) {
            found.push_str(line);
            found.push('\n');
        }
        if facts["has_more"] == json!(false) {
            break;
        }
        let next = facts["next_part"].as_str().unwrap();
        assert!(text.contains(&format!("; continue with part=\"{next}\"")), "{text}");
        more = json!({ "part": next });
        if let Some(offset) = facts.get("next_offset") {
            more["offset"] = offset.clone();
        }
    }
    assert_eq!(found, texts.concat());
}

#[test]
fn pages_without_text_are_said() {
    let image = "/XObject <</I <</Type /XObject /Subtype /Image>>>>";
    let mut document = Document::new();
    let picture = document.stream("/Type /XObject /Subtype /Image /Width 1 /Height 1", b"x");
    let drawn = document.stream("", b"q /I Do Q /I Do");
    let text = document.flate("", instructions("words").as_bytes());
    let resources =
        format!("{FONT} {}", image.replace("<</Type /XObject /Subtype /Image>>", &format!("{picture} 0 R")));
    let root = document.tree(&[text, drawn, drawn, text, drawn], &resources);
    let h = with(document.finish(root));
    assert_eq!(
        body(&read(&h, &json!({}))),
        "--- page 1 of 5 ---\nwords\n--- pages 2-3 of 5 ---\n(no text on these pages; 4 images)\n\
         --- page 4 of 5 ---\nwords\n--- page 5 of 5 ---\n(no text on this page; 2 images)"
    );
    let mut document = Document::new();
    let picture = document.stream("/Type /XObject /Subtype /Image /Width 1 /Height 1", b"x");
    let drawn = document.stream("", b"/I Do BI /W 1 /H 1 ID \x00\x01 EI");
    let root = document.tree(&[drawn, drawn], &format!("/XObject <</I {picture} 0 R>>"));
    let h = with(document.finish(root));
    assert_eq!(body(&read(&h, &json!({}))), "(this PDF holds no text; 4 images on 2 pages)");
}

#[test]
fn composite_fonts_are_read_by_their_unicode_map() {
    let mut document = Document::new();
    let map = document.flate(
        "",
        b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange \
          2 beginbfchar <0001> <0048> <0002> <D83DDE00> endbfchar \
          2 beginbfrange <0010> <0012> <0061> <0020> <0021> [<00660066> <FB01>] endbfrange endcmap",
    );
    let content =
        document.stream("", b"BT /F2 10 Tf 72 700 Td <0001001000110012> Tj [<0020> -600 <0021> <0002>] TJ ET");
    let font = format!(
        "/Font <</F2 <</Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode {map} 0 R \
         /DescendantFonts [<</Type /Font /Subtype /CIDFontType2 /BaseFont /X /DW 500 /W [1 [600] 16 18 450]>>]>>>>"
    );
    let root = document.tree(&[content], &font);
    assert_eq!(body(&read(&with(document.finish(root)), &json!({}))), "--- page 1 of 1 ---\nHabcff fi😀");
}

#[test]
fn fonts_of_adobe_collections_are_read_without_a_unicode_map() {
    // Name of the encoding, ordering, codes of a string, and its text.
    let fonts = [
        ("H", "Japan1", "30212422", "亜あ"),
        ("V", "Japan1", "3021", "亜"),
        ("Ext-H", "Japan1", "3021", "亜"),
        ("EUC-H", "Japan1", "B0A1", "亜"),
        ("90ms-RKSJ-H", "Japan1", "889F41", "亜A"),
        ("UniJIS-UTF16-H", "Japan1", "4E9C", "亜"),
        ("Identity-H", "Japan1", "0022034B", "Aあ"),
        ("Identity-V", "GB1", "044C", "便"),
        ("Identity-H", "CNS1", "0253", "一"),
        ("Identity-H", "Korea1", "043E", "가"),
        ("Identity-H", "KR", "0022", "A"),
        ("Identity-H", "Identity", "0022", ""),
        ("CNS-EUC-H", "CNS1", "C4A18EA1C4A1", "一一"),
        ("CNS-EUC-V", "CNS1", "C4A1", "一"),
        ("GB-EUC-H", "GB1", "B0A1", "啊"),
        ("GB-H", "GB1", "3021", "啊"),
        ("KSC-H", "Korea1", "3021", "가"),
        ("KSCms-UHC-H", "Korea1", "B0A1", "가"),
        ("ETen-B5-H", "CNS1", "A440", "一"),
    ];
    for (encoding, ordering, codes, text) in fonts {
        let mut document = Document::new();
        let content = document.stream("", format!("BT /F2 10 Tf 72 700 Td <{codes}> Tj ET").as_bytes());
        let system = format!("/CIDSystemInfo <</Registry (Adobe) /Ordering ({ordering}) /Supplement 2>>");
        let font = format!(
            "/Font <</F2 <</Type /Font /Subtype /Type0 /BaseFont /X /Encoding /{encoding} \
             /DescendantFonts [<</Type /Font /Subtype /CIDFontType0 /BaseFont /X {system}>>]>>>>"
        );
        let root = document.tree(&[content], &font);
        let shown = read(&with(document.finish(root)), &json!({}));
        // The characters of vertical writing may be below each other.
        let found: String = shown.lines().filter(|line| !line.starts_with(['-', '('])).collect();
        assert_eq!(found, text, "{encoding} {ordering}: {shown}");
        assert_eq!(shown.contains("left out"), text.is_empty(), "{encoding} {ordering}: {shown}");
    }
}

#[test]
fn words_lines_and_columns_are_found_by_gaps() {
    let content: &[u8] = b"BT /F1 10 Tf 72 700 Td [(W) 80 (ord) -300 (by) -20 (TJ)] TJ 0 -12 Td (under it) Tj \
        0 -40 Td (after a gap) Tj ET BT /F1 10 Tf 1 0 0 1 300 700 Tm (right column) Tj ET \
        BT /F1 10 Tf 72 600 Td (left) Tj 120 0 Td (cell) Tj ET \
        BT /F1 10 Tf 72 580 Td (x) Tj /F1 6 Tf 5 4 Td (2) Tj ET";
    let mut document = Document::new();
    let content = document.stream("", content);
    let root = document.tree(&[content], FONT);
    assert_eq!(
        body(&read(&with(document.finish(root)), &json!({}))),
        "--- page 1 of 1 ---\nWord byTJ\nunder it\n\nafter a gap\n\nright column\n\nleft  cell\n\nx2"
    );
}

#[test]
fn encodings_of_simple_fonts_are_applied() {
    let mut document = Document::new();
    let content = document.stream(
        "",
        b"BT /W 10 Tf 72 700 Td (caf\\351 \\200) Tj /D 10 Tf 0 -14 Td (ABC) Tj /S 10 Tf 0 -14 Td (abc) Tj ET",
    );
    let fonts = "/Font <</W <</Type /Font /Subtype /TrueType /BaseFont /Arial /Encoding /WinAnsiEncoding>> \
                 /D <</Type /Font /Subtype /Type1 /BaseFont /X /Encoding <</Differences [65 /Lslash /f_f_i /uni20AC]>>>> \
                 /S <</Type /Font /Subtype /Type1 /BaseFont /Symbol>>>>";
    let root = document.tree(&[content], fonts);
    let text = read(&with(document.finish(root)), &json!({}));
    assert_eq!(body(&text), "--- page 1 of 1 ---\ncafé €\nŁffi€\nαβχ");
}

#[test]
fn drawings_turned_pages_and_own_texts_are_followed() {
    let mut document = Document::new();
    let form = document.flate(
        &format!("/Type /XObject /Subtype /Form /Matrix [1 0 0 1 0 -20] /Resources <<{FONT}>>"),
        b"BT /F1 10 Tf 72 700 Td (in a drawing) Tj ET",
    );
    let content = document.stream(
        "",
        b"BT /F1 10 Tf 72 700 Td /Span <</ActualText <FEFF00660069>>> BDC (xy) Tj EMC (t) Tj ET /X Do \
          BT /F1 10 Tf 0 1 -1 0 100 100 Tm (upwards) Tj ( text) Tj ET",
    );
    let root = document.tree(&[content], &format!("{FONT} /XObject <</X {form} 0 R>> /Rotate 90"));
    assert_eq!(
        body(&read(&with(document.finish(root)), &json!({}))),
        "--- page 1 of 1 ---\nfit\n\nin a drawing\n\nupwards text"
    );
}

#[test]
fn encrypted_files_open_with_the_empty_password() {
    for bytes in [
        &include_bytes!("pdf/rc4-40.pdf")[..],
        include_bytes!("pdf/rc4-128.pdf"),
        include_bytes!("pdf/aes-128.pdf"),
        include_bytes!("pdf/aes-256.pdf"),
        include_bytes!("pdf/aes-256-object-streams.pdf"),
    ] {
        assert_eq!(body(&read(&with(bytes), &json!({}))), "--- page 1 of 1 ---\nThe secret is out.");
    }
    let h = with(include_bytes!("pdf/password.pdf"));
    let error = h.call("read", json!({ "path": "a.pdf" })).fails("binary");
    assert!(
        error.starts_with("a.pdf is a PDF of 2398 bytes that cannot be read: it is encrypted with a password\n"),
        "{error}"
    );
}

#[test]
fn a_pdf_is_known_by_its_content() {
    let h = Harness::new();
    let pdf = pages_of(&["words"]);
    h.write("named.bin", &pdf);
    assert!(h.call("read", json!({ "path": "named.bin" })).ok().contains("words"));
    h.write("after.pdf", [b"some mail header\r\n\r\n".as_slice(), &pdf].concat());
    assert!(h.call("read", json!({ "path": "after.pdf" })).ok().contains("words"));
    h.write("text.pdf", "no PDF at all\n");
    assert!(h.call("read", json!({ "path": "text.pdf" })).ok().contains("no PDF at all"));
}

#[test]
fn a_pdf_that_was_read_counts_as_seen_but_cannot_be_edited() {
    let h = with(pages_of(&["words"]));
    read(&h, &json!({}));
    h.call("edit", json!({ "path": "a.pdf", "old_string": "words", "new_string": "others" })).fails("binary");
    h.call("write", json!({ "path": "a.pdf", "content": "text now\n" })).ok();
}

#[test]
fn the_data_says_what_the_text_says() {
    let settings = Settings { structured_output: true, ..Settings::default() };
    let h = Setup { settings, ..Setup::default() }.open();
    h.write("a.pdf", pages_of(&["one", "two", "three"]));
    let answer = h.call("read", json!({ "path": "a.pdf", "part": "pages 2" }));
    let data = answer.structured();
    assert_eq!(data["text"], answer.ok());
    assert_eq!((&data["pages"], &data["first_page"], &data["next_part"]), (&json!(3), &json!(2), &json!("pages 3-")));
}
