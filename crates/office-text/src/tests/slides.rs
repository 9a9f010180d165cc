//! Presentations: slides in their order, with titles, text and notes.

use super::open;
use crate::{Slide, testing::pptx};

fn shape(kind: &str, paragraphs: &[&str]) -> String {
    let text: String = paragraphs.iter().map(|text| format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>")).collect();
    format!("<p:sp><p:nvSpPr><p:nvPr><p:ph type='{kind}'/></p:nvPr></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>")
}

#[test]
fn slides_have_title_text_and_notes_in_the_order_of_the_presentation() {
    let table = "<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></a:txBody></a:tc>
        <a:tc gridSpan='2'><a:txBody><a:p><a:r><a:t>b</a:t></a:r></a:p></a:txBody></a:tc><a:tc hMerge='1'><a:txBody><a:p/></a:txBody></a:tc>
        </a:tr></a:tbl></p:graphicFrame>";
    let levels = "<p:sp><p:txBody><a:p><a:pPr lvl='0'/><a:r><a:t>top</a:t></a:r></a:p><a:p><a:pPr lvl='2'/><a:r><a:t>deep</a:t></a:r>
        <a:br/><a:r><a:t>er</a:t></a:r><a:endParaRPr><a:sym typeface='Arial'/></a:endParaRPr></a:p></p:txBody></p:sp>";
    let first = shape("body", &["before"])
        + &shape("title", &["The", "title"])
        + &shape("dt", &["today"])
        + "<p:graphicFrame><p:nvPr><p:ph type='dt'/></p:nvPr></p:graphicFrame>"
        + levels
        + table
        + &shape("sldNum", &["1"]);
    let second =
        shape("ctrTitle", &[""]) + "<p:pic><p:nvPicPr><p:cNvPr descr='cat'/></p:nvPicPr><a:blip r:embed='x'/></p:pic>";
    let notes = shape("sldImg", &["no"]) + &shape("body", &["say this", "and that"]) + &shape("sldNum", &["1"]);
    let bytes = pptx(&[(&first, &notes), (&second, "")]);
    open(&bytes, |document| {
        assert_eq!(document.slide_count(), 2);
        let text = "before\ntop\n    - deep\ner\n| a | b |  |\n|---|---|---|".to_owned();
        let notes = "say this\nand that".to_owned();
        let slide = Slide { title: Some("The title".to_owned()), text, notes, ..Slide::default() };
        assert_eq!(document.slide(1)?, slide);
        let slide =
            Slide { title: Some(String::new()), hidden: true, text: "[image: cat]".to_owned(), ..Slide::default() };
        assert_eq!(document.slide(2)?, slide);
        assert!(document.slide(0).is_err() && document.slide(3).is_err());
        Ok(())
    })
    .unwrap();
}
