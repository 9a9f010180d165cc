//! `OpenDocument`: texts, sheets and slides, and what hostile ones cost.

use super::{ALL, lines, open, paragraphs, rows};
use crate::{
    OfficeError, OfficeKind, OfficeSheet, Slide, WantedCells,
    testing::{archive, opendocument},
};

const STYLES: &str = "<style:style style:name='P1' style:family='paragraph' style:parent-style-name='Title'/>
    <style:style style:name='P1' style:family='text'><style:text-properties text:display='none'/></style:style>
    <text:list-style style:name='L1'><text:list-level-style-number text:level='1' style:num-format='1' style:num-suffix='.' text:start-value='3'/>
      <text:list-level-style-bullet text:level='2' text:bullet-char='x'/>
      <text:list-level-style-number text:level='3' style:num-format='a' style:num-prefix='(' style:num-suffix=')'/></text:list-style>
    <text:list-style style:name='L2'><text:list-level-style-number text:level='1' style:num-format=''/></text:list-style>";

/// The styles that have names.
const NAMED: &str = "<office:document-styles><style:style style:name='Title' style:family='paragraph'/>
    <text:outline-style style:name='Outline'><text:outline-level-style text:level='1' style:num-format='1' style:num-suffix='.'/>
      <text:outline-level-style text:level='2' style:num-format='1' text:display-levels='2'/></text:outline-style>
    </office:document-styles>";

fn texts(body: &str) -> Vec<String> {
    paragraphs(&opendocument("text", STYLES, body, &[])).unwrap()
}

fn sheets(body: &str) -> Vec<u8> {
    let hidden = "<style:style style:name='ta2' style:family='table'><style:table-properties table:display='false'/></style:style>";
    opendocument("spreadsheet", hidden, body, &[])
}

#[test]
fn headings_have_their_levels_and_numbers() {
    let body = "<text:p text:style-name='P1'>Report</text:p><text:h text:outline-level='1'>One</text:h>
        <text:h text:outline-level='2'>One  <text:span>more</text:span></text:h><text:p>text</text:p>
        <text:h text:outline-level='1' text:is-list-header='true'>Free</text:h><text:h text:outline-level='3'>Deep</text:h>";
    assert_eq!(texts(body), ["Report", "# One", "## One more", "text", "# Free", "### Deep"]);
    let bytes = opendocument("text", STYLES, body, &[("styles.xml", NAMED.as_bytes())]);
    assert_eq!(paragraphs(&bytes).unwrap(), ["# Report", "# 1. One", "## 1.1 One more", "text", "# Free", "### Deep"]);
    let outline = open(&bytes, |document| document.outline()).unwrap();
    assert_eq!(outline.sections("one").first(), Some(&(2..5)));
}

#[test]
fn white_space_is_collapsed_and_that_of_elements_is_not() {
    let body = "<text:p>\n  a \t <text:span> b</text:span>\n<text:s text:c='3'/> c<text:tab/> <text:line-break/>d&amp;<text:soft-page-break/>e  </text:p>
        <text:p> </text:p><text:table-of-content><text:index-title-template>no</text:index-title-template><text:index-body>
        <text:p><text:a xlink:href='#x'>Chapter<text:s/></text:a></text:p></text:index-body></text:table-of-content>
        <text:p>x<text:ruby><text:ruby-base>kanji</text:ruby-base><text:ruby-text>kana</text:ruby-text></text:ruby></text:p>
        <text:p><text:title>title</text:title> <text:creator>name</text:creator></text:p>
        <text:p>a<text:span text:style-name='P1'>secret</text:span>b</text:p>
        <text:section text:display='none'><text:p>unseen</text:p></text:section><text:p>end</text:p>";
    let found =
        ["a b     c\t \nd&e", "Chapter", "xkanji", "title name", "a[hidden: secret]b", "[hidden: unseen]", "end"];
    assert_eq!(texts(body), found);
}

#[test]
fn lists_have_their_signs_and_numbers() {
    let list = |attributes: &str, items: &str| format!("<text:list {attributes}>{items}</text:list>");
    let item = |text: &str| format!("<text:list-item><text:p>{text}</text:p></text:list-item>");
    let nested =
        |inner: &str| format!("<text:list-item><text:p>b</text:p><text:p>more</text:p>{inner}</text:list-item>");
    let inner = list("", &(item("c") + &format!("<text:list-item>{}</text:list-item>", list("", &item("d")))));
    let first = item("a") + &nested(&inner) + "<text:list-header><text:p>e</text:p></text:list-header>";
    let start = "<text:list-item text:start-value='9'><text:p>h</text:p></text:list-item>";
    let body = [
        list("text:style-name='L1'", &first),
        list("text:style-name='L1' text:continue-numbering='true'", &item("f")),
        list("text:style-name='L1'", &(item("g") + start + &item("i"))),
        list("text:style-name='L2'", &item("j")),
        list("", &item("k")),
        list("text:style-name='none'", &nested(&list("text:style-name='L1'", &item("l")))),
    ];
    let found = [
        "3. a",
        "4. b",
        "more",
        "  - c",
        "    (a) d",
        "e",
        "5. f",
        "3. g",
        "9. h",
        "10. i",
        "j",
        "- k",
        "- b",
        "more",
        "  - l",
    ];
    assert_eq!(texts(&body.concat()), found);
}

#[test]
fn notes_comments_and_changes_are_marked() {
    let note = |class: &str, text: &str| {
        format!(
            "<text:note text:note-class='{class}'><text:note-citation>7</text:note-citation><text:note-body>
            <text:p>{text}</text:p><text:p>more</text:p></text:note-body></text:note>"
        )
    };
    let change = |id: u8, kind: &str, text: &str| {
        format!("<text:changed-region xml:id='{id}'><text:{kind}><office:change-info><dc:creator>A</dc:creator><dc:date>1</dc:date>
            </office:change-info>{text}</text:{kind}></text:changed-region>")
    };
    let changes = change(1, "insertion", "")
        + &change(2, "deletion", "<text:p>old</text:p><text:p>lines</text:p>")
        + &change(3, "format-change", "");
    let body = format!("<text:tracked-changes>{changes}</text:tracked-changes><text:sequence-decls/>
        <text:p>new <text:change-start text:change-id='1'/>in<text:span>serted</text:span></text:p>
        <text:p>too<text:change-end text:change-id='1'/> text<text:change text:change-id='2'/><text:change-start text:change-id='3'/>!<text:change-end
        text:change-id='3'/><text:change text:change-id='99'/></text:p><text:change text:change-id='2'/>
        <text:p>text{}{}{}<office:annotation><dc:creator>B</dc:creator><dc:date>1</dc:date><text:p>why</text:p></office:annotation></text:p>",
        note("footnote", "foot"), note("endnote", "end"), note("footnote", "two"));
    let found = [
        "new [inserted by A: inserted]",
        "[inserted by A: too] text[deleted by A: old\nlines]!",
        "[deleted by A: old\nlines]",
        "text[^1][^e1][^2][comment by B: why]\n[^1]: foot more\n[^e1]: end more\n[^2]: two more",
    ];
    assert_eq!(texts(&body), found);
}

#[test]
fn tables_are_those_of_markdown() {
    let cell = |text: &str| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>");
    let wide = "<table:table-cell table:number-columns-spanned='2'><text:p>w</text:p></table:table-cell><table:covered-table-cell/>";
    let inner = format!(
        "<table:table-cell><table:table><table:table-row>{}{}</table:table-row></table:table></table:table-cell>",
        cell("x"),
        cell("y")
    );
    let same =
        "<table:table-cell table:number-columns-repeated='2'><text:p>1</text:p><text:p>2</text:p></table:table-cell>";
    let body = format!(
        "<table:table><table:table-column table:number-columns-repeated='3'/><table:table-header-rows><table:table-row>{}{wide}</table:table-row>
        </table:table-header-rows><table:table-row>{same}{inner}</table:table-row></table:table><text:p>after</text:p>", cell("a|b"));
    assert_eq!(texts(&body), ["| a\\|b | w |  |\n|---|---|---|", "| 1<br>2 | 1<br>2 | x / y |", "after"]);
}

#[test]
fn images_and_boxes_are_in_their_places() {
    let image = |href: &str| {
        format!(
            "<draw:frame><draw:image xlink:href='{href}'/><svg:title>a</svg:title><svg:desc>cat </svg:desc></draw:frame>"
        )
    };
    let body = format!("<text:p>see {} and {}<draw:frame><draw:text-box><text:p>box</text:p><text:p>two {}</text:p></draw:text-box></draw:frame>
        <draw:custom-shape><text:p>shape</text:p></draw:custom-shape> end</text:p>{}<draw:frame><draw:object xlink:href='./Object 1'><math:mi>x</math:mi></draw:object>
        <draw:image xlink:href='./ObjectReplacements/Object 1'/></draw:frame>",
        image("Pictures/b.png"), image("http://x/Pictures/b.png"), image("Pictures/10.png"), image("../Pictures/b.png"));
    let bytes = opendocument(
        "text",
        STYLES,
        &body,
        &[("Pictures/10.png", b"12345"), ("Pictures/b.png", b"123"), ("Pictures/", b"")],
    );
    let found = [
        "see [image 1: a cat (b.png, 3 bytes)] and [image: a cat] end\nbox\ntwo [image 2: a cat (10.png, 5 bytes)]\nshape",
        "[image: a cat]",
        "[chart, diagram or formula:]",
    ];
    assert_eq!(paragraphs(&bytes).unwrap(), found);
    assert_eq!(open(&bytes, |document| document.image(2)).unwrap(), b"12345");
}

#[test]
fn slides_have_title_text_and_notes() {
    let styles = "<style:style style:name='dp2' style:family='drawing-page'><style:drawing-page-properties presentation:visibility='hidden'/></style:style>";
    let frame = |class: &str, text: &str| {
        format!(
            "<draw:frame presentation:class='{class}'><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"
        )
    };
    let table = "<draw:frame><table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>
        <table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table><draw:image xlink:href='Pictures/preview.svm'/></draw:frame>";
    let notes = format!(
        "<presentation:notes><draw:page-thumbnail presentation:class='page'/>{}{}</presentation:notes>",
        frame("notes", "say this</text:p><text:p>and that"),
        frame("page-number", "1")
    );
    let first = [
        frame("outline", "before"),
        frame("title", "The</text:p><text:p>title"),
        frame("title", "another"),
        frame("date-time", "today"),
        "<office:annotation><dc:creator>A</dc:creator><text:p>no</text:p></office:annotation>".to_owned(),
        table.to_owned(),
        notes,
    ]
    .concat();
    let body = format!("<presentation:footer-decl>no</presentation:footer-decl><draw:page draw:style-name='dp1'>{first}</draw:page><draw:page/>
        <draw:page draw:style-name='dp2'><draw:custom-shape><text:p>c</text:p></draw:custom-shape></draw:page>");
    let bytes = opendocument("presentation", styles, &body, &[]);
    open(&bytes, |document| {
        assert_eq!((document.kind(), document.slide_count()), (OfficeKind::Presentation, 3));
        let text = "before\nanother\n| a | b |\n|---|---|".to_owned();
        let slide = Slide {
            title: Some("The title".to_owned()),
            text,
            notes: "say this\nand that".to_owned(),
            ..Slide::default()
        };
        assert_eq!(document.slide(1)?, slide);
        assert_eq!(document.slide(2)?, Slide::default());
        assert_eq!(document.slide(3)?, Slide { text: "c".to_owned(), hidden: true, ..Slide::default() });
        assert!(document.slide(0).is_err() && document.slide(4).is_err());
        Ok(())
    })
    .unwrap();
    // One without content may be the first.
    let bytes = opendocument("presentation", "", "<draw:page/><draw:page><text:p>b</text:p></draw:page>", &[]);
    assert_eq!(open(&bytes, |document| document.slide(2)).unwrap().text, "b");
}

#[test]
fn cells_are_shown_as_what_they_are() {
    let cell = |kind: &str, value: &str| {
        format!("<table:table-cell office:value-type='{kind}' {value}><text:p>shown</text:p></table:table-cell>")
    };
    let numbers = [
        cell("float", "office:value='0.30000000000000004'"),
        cell("percentage", "office:value='0.25'"),
        cell("currency", "office:currency='EUR' office:value='4.10'"),
        cell("float", "office:value='1E+300'"),
        cell("float", ""),
    ]
    .concat();
    let times = [
        cell("date", "office:date-value='2024-02-29'"),
        cell("date", "office:date-value='2024-02-29T18:00:00'"),
        cell("time", "office:time-value='PT09H30M00S'"),
        cell("time", "office:time-value='PT36H00M00.125S'"),
        cell("time", "office:time-value='x'"),
        cell("date", "office:date-value='1899-12-30T20:30:00.000400000'"),
        cell("date", "office:date-value='2024-02-29T18:00:00.465100000'"),
    ]
    .concat();
    let others = [
        cell("boolean", "office:boolean-value='true'"),
        cell("string", "office:string-value='own'"),
        cell("string", ""),
    ]
    .concat();
    let text = "<table:table-cell><office:annotation><text:p>no</text:p></office:annotation><text:p>a  <text:s text:c='2'/>b</text:p><text:p/>
        <text:p>c&#9;<text:tab/>d<text:a>e</text:a></text:p><draw:frame><text:p>no</text:p></draw:frame></table:table-cell>";
    let body = format!("<table:table table:name='S'><table:shapes><draw:frame><draw:text-box><text:p>no</text:p></draw:text-box></draw:frame></table:shapes>
        <table:table-row>{numbers}</table:table-row><table:table-row>{times}</table:table-row><table:table-row>{others}{text}</table:table-row></table:table>");
    assert_eq!(
        lines(&sheets(&body), 1, &ALL),
        [
            "1\t0.30000000000000004\t0.25\t4.1\t1e300\tshown",
            "2\t2024-02-29\t2024-02-29T18:00:00\t09:30:00\t36:00:00.125\tx\t20:30:00\t2024-02-29T18:00:00.465",
            "3\tTRUE\town\tshown\ta   b\\n\\nc \\tde",
        ]
    );
}

#[test]
fn formulas_take_the_place_of_values() {
    let body = "<table:table><table:table-row><table:table-cell table:formula='of:=SUM([.A1:.B2];[$&apos;x y&apos;.C3])&amp;&quot;[.D4]&quot;*1.5'
        office:value-type='float' office:value='1'/><table:table-cell office:value-type='float' office:value='2'/></table:table-row></table:table>";
    assert_eq!(
        lines(&sheets(body), 1, &WantedCells { formulas: true, ..ALL }),
        ["1\t=SUM(A1:B2;$'x y'.C3)&\"[.D4]\"*1.5\t2"]
    );
    assert_eq!(lines(&sheets(body), 1, &ALL), ["1\t1\t2"]);
}

#[test]
fn formula_without_a_value_in_the_file_says_so() {
    const NONE: &str = "(no value stored)";
    for (cell, shown) in [
        ("/>", NONE),
        (" office:value-type='float'/>", NONE),
        ("><text:p/></table:table-cell>", NONE),
        (" office:value-type='string'/>", ""),
        (" office:value-type='string' office:string-value=''><text:p/></table:table-cell>", ""),
        (" office:value-type='string' office:string-value=''><text:p>#DIV/0!</text:p></table:table-cell>", "#DIV/0!"),
        ("><text:p>5</text:p></table:table-cell>", "5"),
        (" office:value-type='float' office:value='0'/>", "0"),
    ] {
        let row = format!("<table:table-cell table:formula='of:=1+1'{cell}{}", number(1, ""));
        let body = format!("<table:table><table:table-row>{row}</table:table-row></table:table>");
        assert_eq!(lines(&sheets(&body), 1, &ALL), [format!("1\t{shown}\t1")], "{cell}");
    }
}

fn number(value: u32, more: &str) -> String {
    format!("<table:table-cell office:value-type='float' office:value='{value}' {more}/>")
}

#[test]
fn what_is_repeated_is_shown_as_often_as_it_is_wanted() {
    let row = |more: &str, cells: &str| format!("<table:table-row {more}>{cells}</table:table-row>");
    let empty = "<table:table-cell table:number-columns-repeated='16000'/>";
    let body = [
        row("", &(number(1, "table:number-columns-repeated='2'") + "<table:table-cell/>" + &number(2, "") + empty)),
        row("table:number-rows-repeated='3'", empty),
        format!(
            "<table:table-row-group><table:table-header-rows>{}</table:table-header-rows></table:table-row-group>",
            row("table:number-rows-repeated='3'", &(number(3, "") + "<table:covered-table-cell/>"))
        ),
        row("", &number(4, "")),
        row("table:number-rows-repeated='1048568'", empty),
    ];
    let body = format!(
        "<table:table table:name='A'>{}</table:table><table:table table:name='B' table:style-name='ta2'/>
        <table:table table:name='C'>{}</table:table>",
        body.concat(),
        row("", &number(7, ""))
    );
    let bytes = sheets(&body);
    let sheet = |name: &str, hidden, size| OfficeSheet { name: name.to_owned(), hidden, size: Some(size) };
    let found = open(&bytes, |document| document.sheets()).unwrap();
    assert_eq!(found, [sheet("A", false, (8, 4)), sheet("B", true, (0, 0)), sheet("C", false, (1, 1))]);
    let whole = ["1\t1\t1\t\t2", "5\t3", "6\t3", "7\t3", "8\t4"];
    assert_eq!(lines(&bytes, 1, &ALL), whole);
    for first in 2..=9 {
        let rest: Vec<&str> = whole.iter().copied().filter(|line| line.as_bytes()[0] - b'0' >= first).collect();
        assert_eq!(lines(&bytes, 1, &WantedCells { rows: (u32::from(first), u32::MAX), ..ALL }), rest, "{first}");
    }
    assert_eq!(lines(&bytes, 1, &WantedCells { rows: (1, 6), columns: (2, 3), ..ALL }), ["1\t1"]);
    let page = rows(&bytes, 1, &WantedCells { max_bytes: 9, ..ALL }).unwrap();
    assert_eq!((page.rows.len(), page.next), (1, Some(5)));
    let page = rows(&bytes, 1, &WantedCells { rows: (6, 9), max_bytes: 3, ..ALL }).unwrap();
    assert_eq!((page.rows, page.next), (vec![(6, "6\t3".to_owned())], Some(7)));
    assert_eq!(lines(&bytes, 3, &ALL), ["1\t7"]);
    assert_eq!(lines(&bytes, 2, &ALL), [""; 0]);
    assert!(rows(&bytes, 0, &ALL).is_err() && rows(&bytes, 4, &ALL).is_err());
}

#[test]
fn repeats_without_end_cost_what_is_wanted() {
    let cell = number(5, "table:number-columns-repeated='4294967295'");
    let row = format!("<table:table-row table:number-rows-repeated='4294967295'>{cell}{cell}</table:table-row>");
    let bytes = sheets(&format!("<table:table>{row}{row}</table:table>"));
    assert_eq!(open(&bytes, |document| document.sheets()).unwrap()[0].size, Some((u32::MAX, 16_384)));
    let wanted = WantedCells { rows: (9, u32::MAX), columns: (3, 5), max_bytes: 20, ..ALL };
    let found = rows(&bytes, 1, &wanted).unwrap();
    assert_eq!((found.rows[0].1.as_str(), found.next.is_some()), ("9\t5\t5\t5", true));
    let found = rows(&bytes, 1, &WantedCells { rows: (9, 9), ..ALL }).unwrap();
    assert_eq!(found.rows[0].1.len(), 1 + 2 * 16_384);
    // Of a text that is long, as much as a row may have.
    let long = format!(
        "<table:table-row><table:table-cell table:number-columns-repeated='16384'><text:p>{}</text:p></table:table-cell></table:table-row>",
        "x".repeat(100_000)
    );
    let found = rows(&sheets(&format!("<table:table>{long}</table:table>")), 1, &ALL).unwrap();
    assert!(found.cut && found.rows[0].1.len() < 1 << 20);
    let cells = "<table:table-row><table:table-cell table:number-columns-repeated='4294967295'><text:p>x</text:p></table:table-cell></table:table-row>";
    assert_eq!(texts(&format!("<table:table>{cells}</table:table>"))[0].matches("| x ").count(), 100);
    assert_eq!(texts("<text:p>a<text:s text:c='4294967295'/>b</text:p>"), [format!("a{}b", " ".repeat(1000))]);
}

#[test]
fn what_is_open_without_end_is_bounded() {
    let starts = "<text:change-start text:change-id='1'/>".repeat(500);
    let change = "<text:tracked-changes><text:changed-region text:id='1'><text:insertion/></text:changed-region></text:tracked-changes>";
    assert_eq!(texts(&format!("{change}<text:p>{starts}a</text:p>")), ["[inserted: a]"]);
    let deep = opendocument("text", "", &"<text:list><text:list-item>".repeat(1000), &[]);
    assert_eq!(paragraphs(&deep), Err(OfficeError::TooLarge("its elements are nested too deeply")));
    // Ends and levels that nothing began, and items of no list.
    let body = "<text:list-item><text:h text:outline-level='200'>a</text:h></text:list-item><text:note-body><text:p>b</text:p></text:note-body>
        <table:table-cell><text:p>c</text:p></table:table-cell><table:table-row/><draw:image/><svg:title>no</svg:title><text:p>d</text:p>";
    assert_eq!(texts(body), ["###### a", "d\n: b"]);
    let names: String = (0..400_000).map(|_| "<draw:page/>").collect();
    let held = OfficeError::TooLarge("its names, styles and notes take too much memory");
    let bytes = opendocument("presentation", "", &(names + "<draw:page/>"), &[]);
    assert_eq!(open(&bytes, |document| document.slide(1)), Err(held));
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let manifest = |more: &str| format!("<m><e m:media-type='application/vnd.oasis.opendocument.text'>{more}</e></m>");
    let content = ("content.xml", &b"<office:document-content/>"[..]);
    for (bytes, error) in [
        (archive(&[("META-INF/manifest.xml", manifest("").as_bytes())]), "damaged: it has no part \"content.xml\""),
        (
            archive(&[("META-INF/manifest.xml", manifest("<m:encryption-data/>").as_bytes()), content]),
            "encrypted with a password",
        ),
        (
            opendocument("drawing", "", "<draw:page/>", &[]),
            "an OpenDocument drawing, chart or formula, which is not supported; saved as .pdf it can be read",
        ),
        (archive(&[content]), "no Word, Excel, PowerPoint or OpenDocument file"),
    ] {
        assert_eq!(paragraphs(&bytes).unwrap_err().to_string(), error);
    }
    let laughs = "<!DOCTYPE d [<!ENTITY a 'ha'>]><office:document-content><office:body><office:text><text:p>&a;</text:p></office:text></office:body></office:document-content>";
    let bytes = archive(&[("content.xml", laughs.as_bytes()), ("META-INF/manifest.xml", manifest("").as_bytes())]);
    assert_eq!(paragraphs(&bytes).unwrap(), ["&a;"]);
}
