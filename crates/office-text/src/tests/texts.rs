//! Word documents: headings, lists, tables, notes, changes and images.

use std::ops::ControlFlow;

use super::{open, paragraphs};
use crate::{
    Heading, Outline,
    testing::{archive, docx, relationships},
};

const STYLES: &str = "<w:styles xmlns:w='w'>
    <w:style w:styleId='H1'><w:name w:val='heading 1'/><w:basedOn w:val='N'/><w:pPr><w:numPr><w:numId w:val='5'/></w:numPr></w:pPr></w:style>
    <w:style w:styleId='Sub'><w:name w:val='Mine'/><w:basedOn w:val='H2'/></w:style>
    <w:style w:styleId='H2'><w:name w:val='Uberschrift 2'/><w:pPr><w:outlineLvl w:val='1'/></w:pPr></w:style>
    <w:style w:styleId='T'><w:name w:val='Title'/></w:style>
    <w:style w:styleId='Loop'><w:name w:val='a'/><w:basedOn w:val='Loop'/></w:style>
    <w:style w:styleId='Items'><w:name w:val='b'/><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr></w:style>
    </w:styles>";

/// List 1 has numbers and within them signs, and starts at 3; list 2 goes on with it, list 3 begins again. List 4 shows no
/// numbers, list 5 is that of headings.
const NUMBERING: &str = "<w:numbering xmlns:w='w'>
    <w:abstractNum w:abstractNumId='7'><w:lvl w:ilvl='0'><w:start w:val='3'/><w:numFmt w:val='decimal'/></w:lvl>
      <w:lvl w:ilvl='1'><w:start w:val='1'/><w:numFmt w:val='bullet'/></w:lvl></w:abstractNum>
    <w:abstractNum w:abstractNumId='8'><w:lvl w:ilvl='0'><w:start w:val='1'/><w:numFmt w:val='none'/></w:lvl></w:abstractNum>
    <w:abstractNum w:abstractNumId='10'><w:lvl w:ilvl='0'><w:numFmt w:val='upperRoman'/></w:lvl>
      <w:lvl w:ilvl='1'><w:lvlRestart w:val='0'/><w:isLgl/><w:lvlText w:val='%1.%2'/></w:lvl></w:abstractNum>
    <w:abstractNum w:abstractNumId='9'><w:lvl w:ilvl='0'/><w:lvl w:ilvl='1'><w:lvlText w:val='%1.%2'/></w:lvl>
      <w:lvl w:ilvl='2'><w:numFmt w:val='lowerLetter'/><w:lvlText w:val='(%3)'/></w:lvl>
      <w:lvl w:ilvl='3'><w:numFmt w:val='upperRoman'/><w:lvlText w:val='%2-%3 %4 '/></w:lvl></w:abstractNum>
    <w:num w:numId='1'><w:abstractNumId w:val='7'/></w:num>
    <w:num w:numId='2'><w:abstractNumId w:val='7'/></w:num>
    <w:num w:numId='3'><w:abstractNumId w:val='7'/><w:lvlOverride w:ilvl='0'><w:startOverride w:val='1'/></w:lvlOverride></w:num>
    <w:num w:numId='4'><w:abstractNumId w:val='8'/></w:num>
    <w:num w:numId='5'><w:abstractNumId w:val='9'/></w:num>
    <w:num w:numId='6'><w:abstractNumId w:val='10'/></w:num>
    </w:numbering>";

fn p(style: &str, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn item(list: u8, level: u8, text: &str) -> String {
    let list = format!("<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{list}'/></w:numPr>");
    format!("<w:p><w:pPr>{list}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[test]
fn headings_are_those_of_their_styles() {
    let body = [
        p("T", "Report"),
        p("H1", "One"),
        p("Sub", "One.One &amp; more"),
        p("Loop", "text"),
        p("", " "),
        p("H1", "Two"),
        "<w:p><w:pPr><w:outlineLvl w:val='9'/></w:pPr><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>".into(),
    ];
    let bytes = docx(&body.concat(), &[("styles", STYLES)]);
    let found = paragraphs(&bytes).unwrap();
    assert_eq!(found, ["# Report", "# One", "## One.One & more", "text", "# Two", "a\tb\nc"]);
    let outline = open(&bytes, |document| document.outline()).unwrap();
    let heading =
        |level, text: &str, paragraph| Heading { level, text: text.to_owned(), label: String::new(), paragraph };
    let headings =
        vec![heading(1, "Report", 1), heading(1, "One", 2), heading(2, "One.One & more", 3), heading(1, "Two", 5)];
    assert_eq!(outline, Outline { paragraphs: 6, headings });
    for (text, section) in [(" one", Some(2..5)), ("one.one & MORE", Some(3..5)), ("Two", Some(5..7)), ("three", None)]
    {
        assert_eq!(outline.sections(text), section.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn lists_have_their_signs_and_numbers() {
    let body = [
        item(1, 0, "a"),
        item(1, 1, "b"),
        item(2, 0, "c"),
        item(3, 0, "d"),
        item(3, 0, "e"),
        p("Items", "f"),
        item(0, 0, "g"),
        item(9, 0, "h"),
        item(3, 0, "i"),
        item(4, 0, "j"),
        p("H1", "k"),
        p("H1", "l"),
        item(5, 1, "m"),
        item(5, 1, "n"),
        item(5, 2, "o"),
        item(5, 2, "p"),
        item(5, 3, "q"),
        item(6, 0, "r"),
        item(6, 1, "s"),
        item(6, 0, "t"),
        item(6, 1, "u"),
    ];
    let bytes = docx(&body.concat(), &[("styles", STYLES), ("numbering", NUMBERING)]);
    // What begins again takes the other lists of its definition with it, as Word and LibreOffice have it.
    let found = [
        "3. a",
        "  - b",
        "4. c",
        "1. d",
        "2. e",
        "3. f",
        "g",
        "h",
        "4. i",
        "j",
        "# 1. k",
        "# 2. l",
        "  2.1 m",
        "  2.2 n",
        "    (a) o",
        "    (b) p",
        "      2-b I q",
        "I. r",
        "  1.1 s",
        "II. t",
        "  2.2 u",
    ];
    assert_eq!(paragraphs(&bytes).unwrap(), found);
    let outline = open(&bytes, |document| document.outline()).unwrap();
    assert_eq!(outline.headings[1].text, "2. l");
    for text in ["2. L", "l"] {
        assert_eq!(outline.sections(text).first(), Some(&(12..22)));
    }
}

#[test]
fn a_list_may_be_that_of_a_style() {
    let styles =
        "<w:styles><w:style w:type='numbering' w:styleId='L'><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr>
        </w:style></w:styles>";
    let numbering = "<w:numbering><w:abstractNum w:abstractNumId='1'><w:numStyleLink w:val='L'/></w:abstractNum>
        <w:abstractNum w:abstractNumId='2'><w:styleLink w:val='L'/><w:lvl w:ilvl='0'><w:numFmt w:val='upperLetter'/>
        <w:lvlText w:val='%1)'/></w:lvl></w:abstractNum><w:num w:numId='2'><w:abstractNumId w:val='1'/></w:num>
        <w:num w:numId='1'><w:abstractNumId w:val='2'/></w:num></w:numbering>";
    let body = item(2, 0, "a") + &item(1, 0, "b");
    let bytes = docx(&body, &[("styles", styles), ("numbering", numbering)]);
    assert_eq!(paragraphs(&bytes).unwrap(), ["A) a", "B) b"]);
}

#[test]
fn signs_of_forms_and_the_style_of_paragraphs_without_one() {
    let styles = "<w:styles><w:style w:type='paragraph' w:default='1' w:styleId='N'><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr>
        </w:pPr></w:style></w:styles>";
    let body = "<w:p><w:r><w:sym w:char='F0FE'/><w:t>a</w:t><w:ptab/><w:sym w:char='f06f'/></w:r></w:p>";
    let bytes = docx(body, &[("styles", styles), ("numbering", NUMBERING)]);
    assert_eq!(paragraphs(&bytes).unwrap(), ["3. \u{2611}a\t\u{25a1}"]);
}

#[test]
fn tables_are_those_of_markdown_and_rows_are_paragraphs() {
    let cell = |text: &str| format!("<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>");
    let wide = "<w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p><w:r><w:t>w</w:t></w:r></w:p></w:tc>";
    let inner = format!("<w:tc><w:tbl><w:tr>{}{}</w:tr></w:tbl><w:p/></w:tc>", cell("x"), cell("y"));
    let lines = "<w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p><w:p><w:r><w:t>2</w:t></w:r></w:p></w:tc>";
    let row = |cells: &[&str]| format!("<w:tr>{}</w:tr>", cells.concat());
    let body = format!(
        "<w:tbl>{}{}{}</w:tbl>{}",
        row(&[&cell("a|b"), wide]),
        row(&[lines, &inner, &cell("z")]),
        row(&[&cell(""), &cell("")]),
        p("", "after")
    );
    let found = paragraphs(&docx(&body, &[])).unwrap();
    assert_eq!(found, ["| a\\|b | w |  |\n|---|---|---|", "| 1<br>2 | x / y | z |", "after"]);
}

#[test]
fn notes_comments_and_changes_are_marked() {
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let note = |kind: &str, id: u8, text: &str| {
        format!("<w:{kind} w:id='{id}' w:author='B'><w:p>{}</w:p><w:p>{}</w:p></w:{kind}>", run(text), run("more"))
    };
    let part = |kind: &str, notes: &str| format!("<w:{kind} xmlns:w='w'>{notes}</w:{kind}>");
    let footnotes = part("footnotes", &(note("footnote", 2, "foot") + &note("footnote", 3, "\tfoot too")));
    let (endnotes, comments) =
        (part("endnotes", &note("endnote", 2, "end")), part("comments", &note("comment", 0, "why")));
    let body = format!(
        "<w:p>{}<w:ins w:author='A'>{}{}</w:ins><w:del w:author='A'><w:r><w:delText>old</w:delText></w:r></w:del>
         <w:moveFrom>{}</w:moveFrom><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>
         <w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>!</w:t></w:r></w:p>
         <w:p>{}<w:r><w:footnoteReference w:id='3'/></w:r><w:r><w:endnoteReference w:id='2'/></w:r>
         <w:r><w:commentReference w:id='0'/></w:r><w:r><w:footnoteReference w:id='99'/></w:r></w:p>",
        run("new "),
        run("in"),
        run("serted"),
        run("moved"),
        run("text")
    );
    let bytes = docx(&body, &[("footnotes", &footnotes), ("endnotes", &endnotes), ("comments", &comments)]);
    assert_eq!(
        paragraphs(&bytes).unwrap(),
        [
            "new [inserted by A: inserted][deleted by A: old][deleted: moved][hidden: secret]!",
            "text[^1][^e1][comment by B: why more][^2]\n[^1]: foot too more\n[^e1]: end more",
        ]
    );
}

#[test]
fn what_is_there_twice_is_read_once() {
    let body = "<w:p><w:r><w:t>a</w:t></w:r><w:r><mc:AlternateContent xmlns:mc='m'><mc:Choice><w:drawing><w:txbxContent>
        <w:p><w:r><w:t>box</w:t></w:r></w:p><w:p><w:r><w:t>two</w:t></w:r></w:p></w:txbxContent></w:drawing></mc:Choice>
        <mc:Fallback><w:t>box</w:t></mc:Fallback></mc:AlternateContent></w:r>
        <w:r><mc:AlternateContent xmlns:mc='m'><mc:Choice Requires='e'><e:symEx e:char='1F60F' xmlns:e='e'/></mc:Choice>
        <mc:Fallback><w:t>\u{1F60F}</w:t></mc:Fallback></mc:AlternateContent></w:r>
        <w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>b</w:t></w:r>
        <w:ruby><w:rt><w:r><w:t>kana</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>kanji</w:t></w:r></w:rubyBase></w:ruby></w:p>";
    assert_eq!(paragraphs(&docx(body, &[])).unwrap(), ["a\u{1F60F}bkanji\nbox\ntwo"]);
}

#[test]
fn images_are_numbered_and_can_be_taken_out() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x30\x08\x06\0\0\0";
    let image = |id: &str| {
        format!(
            "<w:r><w:drawing><wp:docPr descr='a  cat' xmlns:wp='p'/><a:blip r:embed='{id}' xmlns:a='a' xmlns:r='r'/></w:drawing></w:r>"
        )
    };
    let body =
        format!("<w:document xmlns:w='w'><w:body><w:p>{}{}</w:p></w:body></w:document>", image("i10"), image("no"));
    let own = relationships(&[("i10", "image", "media/image10.png"), ("i2", "image", "/word/media/image2.png")]);
    let bytes = archive(&[
        ("_rels/.rels", relationships(&[("r", "officeDocument", "/word/document.xml")]).as_bytes()),
        ("word/document.xml", body.as_bytes()),
        ("word/_rels/document.xml.rels", own.as_bytes()),
        ("word/media/image10.png", png),
        ("word/media/image2.png", b"none"),
    ]);
    let size = png.len();
    assert_eq!(paragraphs(&bytes).unwrap(), [format!("[image 2: a cat (image10.png, {size} bytes)][image: a cat]")]);
    open(&bytes, |document| {
        let found: Vec<_> = document.images().iter().map(|image| (image.name.as_str(), image.size)).collect();
        assert_eq!(found, [("image2.png", 4), ("image10.png", size as u64)]);
        assert_eq!(document.image(2)?, png);
        assert!(document.image(0).is_err() && document.image(3).is_err());
        Ok(())
    })
    .unwrap();
}

#[test]
fn pages_to_the_end_give_everything_once() {
    let body: String = (0..100).map(|at| p("", &format!("paragraph {at}"))).collect();
    let bytes = docx(&body, &[]);
    let all = paragraphs(&bytes).unwrap();
    let (mut found, mut next) = (Vec::new(), 1);
    while next <= 100 {
        open(&bytes, |document| {
            let mut rest = 7;
            document.paragraphs(next, &mut |paragraph| {
                found.push(paragraph.text.to_owned());
                next = paragraph.number + 1;
                rest -= 1;
                if rest == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        })
        .unwrap();
    }
    assert_eq!(found, all);
}

#[test]
fn text_is_as_people_type_it() {
    let body =
        p("", "Mu\u{308}ller\u{a0}1\u{202f}600&#160;EUR") + &p("", "Ge\u{ad}burtstag, \u{fb01}nden, 555\u{2011}01, x²");
    let bytes = docx(&body, &[]);
    assert_eq!(paragraphs(&bytes).unwrap(), ["Müller 1 600 EUR", "Geburtstag, finden, 555-01, x²"]);
}

#[test]
fn diagrams_have_their_text() {
    let point =
        |text: &str| format!("<d:pt xmlns:d='d'><d:t><a:p xmlns:a='a'><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>");
    let data = format!(
        "<d:dataModel xmlns:d='d'>{}{}<d:relIds r:dm='r' xmlns:r='r'/></d:dataModel>",
        point("one"),
        point("two")
    );
    let body = "<w:document xmlns:w='w'><w:body><w:p><w:r><w:t>a </w:t></w:r><d:relIds r:dm='d' xmlns:d='d' xmlns:r='r'/></w:p>
        <w:p><c:chart r:id='c' xmlns:c='c' xmlns:r='r'/></w:p></w:body></w:document>";
    let bytes = archive(&[
        ("_rels/.rels", relationships(&[("r", "officeDocument", "word/document.xml")]).as_bytes()),
        ("word/document.xml", body.as_bytes()),
        ("word/_rels/document.xml.rels", relationships(&[("d", "diagramData", "diagrams/data1.xml")]).as_bytes()),
        ("word/diagrams/data1.xml", data.as_bytes()),
    ]);
    assert_eq!(
        paragraphs(&bytes).unwrap(),
        ["a [chart or diagram] one / two / [chart or diagram]", "[chart or diagram]"]
    );
}
