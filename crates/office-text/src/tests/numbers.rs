//! Numbers that stay numbers: raised and lowered text, and equations. Headers and footers.

use super::{ALL, lines, open, paragraphs};
use crate::testing::{docx, opendocument, pptx, xlsx};

fn run(align: &str, text: &str) -> String {
    format!("<w:r><w:rPr><w:vertAlign w:val='{align}'/></w:rPr><w:t>{text}</w:t></w:r>")
}

fn plain(text: &str) -> String {
    format!("<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>")
}

#[test]
fn raised_digits_of_word_get_their_sign() {
    let styles = "<w:styles><w:style w:type='character' w:styleId='Up'><w:rPr><w:vertAlign w:val='superscript'/></w:rPr></w:style>
        <w:style w:type='character' w:styleId='Mark'><w:basedOn w:val='Up'/></w:style></w:styles>";
    let p = |runs: &[String]| format!("<w:p>{}</w:p>", runs.concat());
    let by_style = |text: &str| format!("<w:r><w:rPr><w:rStyle w:val='Mark'/></w:rPr><w:t>{text}</w:t></w:r>");
    let note = "<w:r><w:rPr><w:rStyle w:val='Mark'/></w:rPr><w:footnoteReference w:id='1'/></w:r>";
    let inserted = format!("<w:ins w:author='A'>{}</w:ins>", run("superscript", "2"));
    let body = [
        p(&[plain("10"), run("superscript", "6"), plain(" m")]),
        p(&[plain("H"), run("subscript", "2"), plain("SO"), run("subscript", "4"), run("superscript", "2&#8722;")]),
        p(&[plain("x"), run("superscript", "n"), run("superscript", "+1"), plain("; 1"), run("superscript", "st")]),
        p(&[plain("10"), by_style("-"), by_style("12"), plain(" and word"), by_style("1"), plain(".")]),
        p(&[plain("noted"), note.to_owned(), plain(" 12"), run("baseline", "3")]),
        p(&[plain("10"), run("superscript", "6"), plain("5")]),
        p(&[plain("10"), inserted]),
        p(&[plain("10"), run("superscript", "6").replace("<w:t>", "<w:noBreakHyphen/><w:t>")]),
        p(&[plain("10"), run("superscript", "6").replace("<w:t>", "<w:sym w:font='Symbol' w:char='F02D'/><w:t>")]),
        format!(
            "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>",
            p(&[plain("m"), run("superscript", "2")]),
            p(&[plain("3")])
        ),
    ];
    let footnotes = format!(
        "<w:footnotes><w:footnote w:id='1'>{}</w:footnote></w:footnotes>",
        p(&[plain("E=mc"), run("superscript", "2")])
    );
    let bytes = docx(&body.concat(), &[("styles", styles), ("footnotes", &footnotes)]);
    let found = [
        "10^6 m",
        "H_2SO_4^{2−}",
        "x^{n+1}; 1st",
        "10^-12 and word^1.",
        "noted[^1] 123\n[^1]: E=mc^2",
        "10^{6}5",
        "10[inserted by A: ^2]",
        "10^-6",
        "10^−6",
        "| m^2 | 3 |\n|---|---|",
    ];
    assert_eq!(paragraphs(&bytes).unwrap(), found);
}

#[test]
fn raised_digits_of_other_programs_get_their_sign() {
    let runs = "<a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>6</a:t></a:r><a:r><a:rPr baseline='0'/><a:t> H</a:t></a:r>
        <a:r><a:rPr baseline='-25%'/><a:t>2</a:t></a:r><a:r><a:t>O</a:t></a:r></a:p>";
    let shape = |kind: &str| {
        format!("<p:sp><p:nvSpPr><p:nvPr><p:ph type='{kind}'/></p:nvPr></p:nvSpPr><p:txBody>{runs}</p:txBody></p:sp>")
    };
    let slide = open(&pptx(&[(&(shape("title") + &shape("body")), "")]), |document| document.slide(1)).unwrap();
    assert_eq!((slide.title.as_deref(), slide.text.as_str()), (Some("10^6 H_2O"), "10^6 H_2O"));

    let rich = |text: &str| {
        format!(
            "<r><t>{text}</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>6</t></r><r><t xml:space='preserve'> m</t></r>"
        )
    };
    let rows = format!(
        "<row r='1'><c t='s'><v>0</v></c><c t='inlineStr'><is>{}</is></c><c t='s'><v>1</v></c><c><v>7</v></c></row>",
        rich("2&#183;10")
    );
    let strings = format!("<si>{}</si><si><r><rPr><vertAlign val='subscript'/></rPr><t>2</t></r></si>", rich("10"));
    assert_eq!(lines(&xlsx(&[("S", &rows)], &strings, ""), 1, &ALL), ["1\t10^6 m\t2·10^6 m\t_2\t7"]);

    let styles = "<style:style style:name='Up' style:family='text'><style:text-properties style:text-position='super 58%'/></style:style>
        <style:style style:name='Down' style:family='text'><style:text-properties style:text-position='-33% 58%'/></style:style>
        <style:style style:name='Flat' style:family='text' style:parent-style-name='Up'><style:text-properties style:text-position='0% 100%'/></style:style>";
    let p = "<text:p>10<text:span text:style-name='Up'>6<text:span text:style-name='Flat'>k</text:span></text:span> H<text:span
        text:style-name='Down'>2</text:span>O, 1<text:span text:style-name='Up'>st</text:span><text:s/>9</text:p>";
    let shown = "10^6k H_2O, 1st 9";
    assert_eq!(paragraphs(&opendocument("text", styles, p, &[])).unwrap(), [shown]);
    let sheet = format!(
        "<table:table table:name='S'><table:table-row><table:table-cell>{p}</table:table-cell></table:table-row></table:table>"
    );
    assert_eq!(lines(&opendocument("spreadsheet", styles, &sheet, &[]), 1, &ALL), [format!("1\t{shown}")]);
    let page =
        format!("<draw:page draw:name='1'><draw:frame><draw:text-box>{p}</draw:text-box></draw:frame></draw:page>");
    let slide = open(&opendocument("presentation", styles, &page, &[]), |document| document.slide(1)).unwrap();
    assert_eq!(slide.text, shown);
}

/// Elements of Office Math in a few letters: `<f><num>` for `<m:f><m:num>`, and `{a}` for a run.
fn office_math(text: &str) -> String {
    let text = text.replace("</", "\u{1}").replace('<', "<m:").replace('\u{1}', "</m:");
    let text = text.replace('{', "<m:r><w:rPr><w:b/></w:rPr><m:t>").replace('}', "</m:t></m:r>");
    format!("<w:p><m:oMathPara><m:oMath>{text}</m:oMath></m:oMathPara></w:p>")
}

#[test]
fn equations_of_office_are_linear() {
    let f = |above: &str, below: &str| format!("<f><fPr><ctrlPr/></fPr><num>{above}</num><den>{below}</den></f>");
    let sup = |base: &str, above: &str| format!("<sSup><e>{base}</e><sup>{above}</sup></sSup>");
    let matrix = "<m><mPr/><mr><e>{a}</e><e>{b}</e></mr><mr><e>{c}</e><e>{d}</e></mr></m>";
    for (equation, shown) in [
        (f("{a+1}", "{2}") + "{=}" + &sup("{x}", "{2}"), "(a+1)/2 = x^2"),
        (f("{a}", "{b+1}"), "a/(b+1)"),
        (f("{2a}", "{3b}"), "2a/(3b)"),
        (f(&f("{a}", "{b}"), "{c}"), "(a/b)/c"),
        (f("{a}", &f("{b}", "{c}")), "a/(b/c)"),
        (f("{1}", "{2}") + "{x}", "(1/2)x"),
        ("{2}".to_owned() + &f("{1}", "{2}"), "2(1/2)"),
        ("{x=}".to_owned() + &f("{1}", "{2}") + "{+1}", "x = 1/2+1"),
        (sup("{x}", "{n+1}"), "x^{n+1}"),
        (sup("{a+b}", "{2}"), "(a+b)^2"),
        (sup(&sup("{x}", "{2}"), "{3}"), "(x^2)^3"),
        (sup("{10}", "{-6}") + "{m}", "10^-6 m"),
        ("<sSub><e>{a}</e><sub>{ij}</sub></sSub>".to_owned(), "a_{ij}"),
        ("<sSubSup><e>{x}</e><sub>{1}</sub><sup>{2}</sup></sSubSup>".to_owned(), "x_1^2"),
        ("<rad><radPr><degHide m:val='1'/></radPr><deg/><e>{x+1}</e></rad>".to_owned(), "√(x+1)"),
        ("<rad><deg>{3}</deg><e>{x}</e></rad>".to_owned(), "√[3]x"),
        (
            "<nary><naryPr><chr m:val='∑'/></naryPr><sub>{i=1}</sub><sup>{n}</sup><e>".to_owned() + &sup("{i}", "{2}") + "</e></nary>",
            "∑_{i=1}^n i^2",
        ),
        ("<nary><sub>{0}</sub><sup>{1}</sup><e>{x+1}</e></nary>".to_owned(), "∫_0^1 (x+1)"),
        (format!("<d><e>{matrix}</e></d>"), "(a, b; c, d)"),
        (format!("<d><dPr><begChr m:val='|'/><endChr m:val='|'/></dPr><e>{matrix}</e></d>"), "|a, b; c, d|"),
        (matrix.to_owned(), "[a, b; c, d]"),
        ("<d><e>{x+1}</e></d>{·2}".to_owned(), "(x+1)·2"),
        ("<d><dPr><begChr m:val='{'/><endChr m:val=''/></dPr><e><eqArr><e>{x&amp;=1}</e><e>{y&amp;=2}</e></eqArr></e></d>".replace("='{'", "='&#123;'"), "{x=1; y=2"),
        ("<d><e>".to_owned() + &f("{n}", "{k}").replace("<ctrlPr/>", "<type m:val='noBar'/>") + "</e></d>", "(n choose k)"),
        ("<func><fName>{sin}</fName><e>{x}</e></func>{+1}".to_owned(), "sin x+1"),
        ("<func><fName><limLow><e>{lim}</e><lim>{x→0}</lim></limLow></fName><e>{f}</e></func>".to_owned(), "lim_{x→0} f"),
        ("<acc><accPr><chr m:val='⃗'/></accPr><e>{v}</e></acc><bar><e>{x}</e></bar>".to_owned(), "v\u{20d7}x\u{304}"),
        ("{a&lt;b==c}".to_owned(), "a < b == c"),
    ] {
        assert_eq!(paragraphs(&docx(&office_math(&equation), &[])).unwrap(), [shown], "{equation}");
    }
    // Beside digits of the line.
    let half = office_math(&f("{1}", "{2}")).replace("<w:p><m:oMathPara>", "").replace("</m:oMathPara></w:p>", "");
    let power = office_math(&sup("{3}", "{4}")).replace("<w:p><m:oMathPara>", "").replace("</m:oMathPara></w:p>", "");
    for (runs, shown) in [
        ([plain("5"), half.clone(), plain(" cups")], "5 1/2 cups"),
        ([half.clone(), half.clone(), plain("x")], "1/2 1/2 x"),
        ([plain("2"), power, plain("5")], "2 3^4 5"),
        ([plain("("), half, plain(")")], "(1/2)"),
    ] {
        assert_eq!(paragraphs(&docx(&format!("<w:p>{}</w:p>", runs.concat()), &[])).unwrap(), [shown]);
    }
    // On a slide, where the older form is a picture, and within a line of text.
    let line = office_math(&f("{1}", "{2}"))
        .replace("w:p>", "a:p>")
        .replace("<m:oMathPara>", "<a:r><a:t>half </a:t></a:r><m:oMathPara>");
    let shape = format!(
        "<p:sp><mc:AlternateContent><mc:Choice><p:txBody>{line}</p:txBody></mc:Choice><mc:Fallback><a:p><a:r><a:t>no</a:t></a:r></a:p></mc:Fallback></mc:AlternateContent></p:sp>"
    );
    assert_eq!(open(&pptx(&[(&shape, "")]), |document| document.slide(1)).unwrap().text, "half 1/2");
}

#[test]
fn equations_of_opendocument_are_linear() {
    let row = |text: &str| format!("<mrow>{text}</mrow>");
    let formula = [
        row(
            "<mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn></mfrac><mo>=</mo><msup><mi>x</mi><mn>2</mn></msup>",
        ),
        row(
            "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><msub><mi>a</mi><mi>i</mi></msub><mi>b</mi>",
        ),
        row("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt><mo>≤</mo><mroot><mi>y</mi><mn>3</mn></mroot>"),
        row("<mi>sin</mi><mo>\u{2061}</mo><mi>x</mi><mo>+</mo><mover><mi>v</mi><mo>→</mo></mover>"),
        row(
            "<mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo>)</mo>",
        ),
        row(
            "<mfenced open='[' close=']'><mi>a</mi><mi>b</mi></mfenced><mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>",
        ),
    ];
    let found =
        ["(a+1)/2 = x^2", "∑_{i=1}^n a_i b", "√(x+1) ≤ √[3]y", "sin x+v\u{20d7}", "(1, 2; 3, 4)", "[a,b]n choose k"];
    for (formula, shown) in formula.iter().zip(found) {
        let math = format!(
            "<math xmlns='m'><semantics>{formula}<annotation encoding='StarMath 5.0'>no</annotation></semantics></math>"
        );
        let body = "<text:p>so <draw:frame><draw:object xlink:href='./Object 1'/><draw:image xlink:href='x'/></draw:frame>.</text:p>";
        let bytes = opendocument("text", "", body, &[("Object 1/content.xml", math.as_bytes())]);
        assert_eq!(paragraphs(&bytes).unwrap(), [format!("so {shown}.")]);
        let inline =
            body.replace("<draw:object xlink:href='./Object 1'/>", &format!("<draw:object>{math}</draw:object>"));
        assert_eq!(paragraphs(&opendocument("text", "", &inline, &[])).unwrap(), [format!("so {shown}.")]);
    }
    let chart = "<office:document-content><office:body/></office:document-content>";
    let body = "<text:p><draw:frame><draw:object xlink:href='./Object 1'/></draw:frame></text:p>";
    let bytes = opendocument("text", "", body, &[("Object 1/content.xml", chart.as_bytes())]);
    assert_eq!(paragraphs(&bytes).unwrap(), ["[chart, diagram or formula:]"]);
}

#[test]
fn long_and_deep_equations_end() {
    let deep = |times: usize| "<f><num>".repeat(times) + "{1}" + &"</num><den>{2}</den></f>".repeat(times);
    let text = paragraphs(&docx(&office_math(&deep(100)), &[])).unwrap().concat();
    assert!(text.starts_with(&"(".repeat(99)) && text.ends_with("1/2)/2)/2"[3..].trim_start_matches('(')), "{text}");
    for body in ["{1}".repeat(30_000), format!("{{{}}}", "1".repeat(70_000)), "<f/>".repeat(30_000)] {
        let after = office_math(&body) + "<w:p><w:r><w:t>after</w:t></w:r></w:p>";
        assert_eq!(paragraphs(&docx(&after, &[])).unwrap(), ["[equation, too long to be shown]", "after"]);
    }
}

#[test]
fn headers_and_footers_are_read_by_themselves() {
    let p = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let part = |kind: &str, text: &str| format!("<w:{kind}>{text}</w:{kind}>");
    let (header, footer) = (part("hdr", &(p("Secret") + &p("Page"))), part("ftr", &p("© 2026")));
    let bytes = docx(&p("body"), &[("header", &header), ("footer", &footer)]);
    let headers = |bytes: &[u8]| open(bytes, |document| document.headers()).unwrap();
    let found = [("header", "Secret\nPage".to_owned()), ("footer", "© 2026".to_owned())];
    assert_eq!(headers(&bytes), found);
    assert_eq!(paragraphs(&bytes).unwrap(), ["body"]);
    assert_eq!(headers(&docx(&p("body"), &[("header", &part("hdr", "<w:p/>"))])), []);

    let styles = "<office:document-styles><office:master-styles><style:master-page>
        <style:header><text:p>Secret</text:p><text:p>Page</text:p></style:header>
        <style:header-left><text:p>Secret</text:p><text:p>Page</text:p></style:header-left>
        <style:header-first/><style:footer><text:p>© 2026</text:p></style:footer></style:master-page>
        </office:master-styles></office:document-styles>";
    let bytes = opendocument("text", "", "<text:p>body</text:p>", &[("styles.xml", styles.as_bytes())]);
    assert_eq!(headers(&bytes), found);
    assert_eq!(headers(&opendocument("text", "", "<text:p>body</text:p>", &[])), []);
}
