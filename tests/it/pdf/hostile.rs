//! Files that are wrong on purpose: an answer or an error, and a server that goes on.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::{
    document::{Document, FONT, flate, instructions, pages_of},
    with,
};
use crate::harness::{Answer, Harness};

/// Reads the file; whatever the answer, the server answers the next call.
fn survives(bytes: &[u8]) -> Answer {
    let h = with(bytes);
    let answer = h.call("read", json!({ "path": "a.pdf" }));
    assert!(answer.error_kind() != Some("internal"), "{}", answer.text());
    assert!(!answer.text().contains("makes no sense"), "it panicked: {}", answer.text());
    h.write("next.txt", "still here\n");
    assert!(h.call("read", json!({ "path": "next.txt" })).ok().contains("still here"));
    answer
}

/// One page with these instructions and resources.
fn page(document: Document, content: usize, resources: &str) -> Vec<u8> {
    let mut document = document;
    let root = document.tree(&[content], resources);
    document.finish(root)
}

#[test]
fn truncated_and_damaged_files_give_what_is_left_or_an_error() {
    let whole = pages_of(&["first", "second"]);
    for length in [8, 30, whole.len() / 3, whole.len() / 2, whole.len() - 40, whole.len() - 6] {
        survives(&whole[..length]);
    }
    // Without its table the objects are searched for.
    let text = String::from_utf8_lossy(&whole).into_owned();
    let cut = memchr::memmem::rfind(&whole, b"xref\n0").unwrap();
    assert!(text.contains("startxref"));
    let answer = survives(&[&whole[..cut], b"trailer\n<</Root 6 0 R>>\n"].concat()).ok();
    assert!(answer.contains("first") && answer.contains("second"), "{answer}");
    let answer = survives(&whole[..cut]).ok();
    assert!(answer.contains("first") && answer.contains("second"), "{answer}");
    // A table that is off by some bytes.
    let moved = [b"%junk\n".as_slice(), &whole].concat();
    assert!(survives(&moved).ok().contains("second"));
    let error = survives(b"%PDF-1.7\nnothing else\n").fails("binary");
    assert!(error.starts_with("a.pdf is a PDF of 22 bytes that cannot be read: it is damaged: "), "{error}");
}

#[test]
fn circles_end() {
    // Pages that are their own parents, and kids.
    let mut document = Document::new();
    let content = document.stream("", instructions("words").as_bytes());
    let first = document.next();
    document.object(format!(
        "<</Type /Pages /Kids [{first} 0 R {} 0 R {} 0 R] /Count 99999999>>",
        first + 1,
        first + 2
    ));
    document.object(format!("<</Type /Pages /Parent {first} 0 R /Kids [{first} 0 R]>>"));
    document.object(format!("<</Type /Page /Parent {} 0 R /Contents {content} 0 R>>", first + 2));
    let root = document.object(format!("<</Type /Catalog /Pages {first} 0 R>>"));
    survives(&document.finish(root)).ok();
    // References that lead to themselves, also as a length.
    let mut document = Document::new();
    let number = document.next();
    document.object(format!("{number} 0 R"));
    let content =
        document.object(format!("<</Length {} 0 R /Filter {number} 0 R>>\nstream\nBT ET\nendstream", number + 1));
    survives(&page(document, content, &format!("/Font {number} 0 R /XObject {number} 0 R"))).ok();
    // Drawings that draw themselves, twice each.
    let mut document = Document::new();
    let form = document.next();
    document
        .stream(&format!("/Subtype /Form /Resources <</XObject <</X {form} 0 R>>>>"), b"/X Do /X Do /X Do /X Do /X Do");
    let content = document.stream("", format!("{} /X Do", instructions("words")).as_bytes());
    let answer = survives(&page(document, content, &format!("{FONT} /XObject <</X {form} 0 R>>"))).ok();
    assert!(answer.contains("words\n(page 1 is too large to be read whole: text may be missing)"), "{answer}");
    // A table that names itself as the one before.
    let mut bytes = pages_of(&["words"]);
    let start = memchr::memmem::rfind(&bytes, b"xref\n0").unwrap();
    let trailer = memchr::memmem::rfind(&bytes, b"/Size").unwrap();
    bytes.splice(trailer..trailer, format!("/Prev {start} /XRefStm {start} ").into_bytes());
    assert!(survives(&bytes).ok().contains("words"));
}

#[test]
fn deep_nesting_ends() {
    for (open, close) in [("[", "]"), ("<</A ", ">>"), ("(", ")")] {
        let deep = format!("{}{}", open.repeat(300_000), close.repeat(300_000));
        let mut document = Document::new();
        let content = document.flate("", format!("{deep} {} {deep}", instructions("words")).as_bytes());
        let resources = format!("{FONT} /XObject {deep}");
        survives(&page(document, content, if open == "(" { &resources } else { FONT }));
        let mut document = Document::new();
        document.object(&deep);
        let root = document.object(format!("<</Type /Catalog /Pages {deep}>>"));
        survives(&document.finish(root));
    }
    // A long way from page to page.
    let mut document = Document::new();
    let first = document.next();
    for number in first..first + 20_000 {
        document.object(format!("<</Type /Pages /Kids [{} 0 R]>>", number + 1));
    }
    let content = document.next() + 1;
    document.object(format!("<</Type /Page /Contents {content} 0 R /Resources <<{FONT}>>>>"));
    document.stream("", instructions("words").as_bytes());
    let root = document.object(format!("<</Type /Catalog /Pages {first} 0 R>>"));
    assert!(survives(&document.finish(root)).ok().contains("words"));
}

#[test]
fn bombs_are_cut() {
    let zeros = vec![b' '; 64 << 20];
    let once = flate(&zeros);
    // Instructions of 64 MB, of which some are read.
    let mut document = Document::new();
    let content = document.stream("/Filter /FlateDecode", &once);
    let answer = survives(&page(document, content, FONT)).ok();
    assert!(answer.contains("too large to be read whole"), "{answer}");
    // The same in each font, and twice compressed.
    let twice = flate(&once);
    let mut document = Document::new();
    let map = document.stream("/Filter [/FlateDecode /FlateDecode]", &twice);
    let mut fonts = String::new();
    let mut used = String::new();
    for font in 0..200 {
        let _ = write!(fonts, "/G{font} <</Type /Font /Subtype /Type0 /ToUnicode {map} 0 R /Encoding {map} 0 R>> ");
        let _ = write!(used, "/G{font} 1 Tf ");
    }
    let content = document.stream("", format!("{used} {}", instructions("words")).as_bytes());
    survives(&page(document, content, &format!("/Font <<{fonts}>>")));
    // Objects in a stream of them, and a table that is one.
    let mut document = Document::new();
    let stream = document.next();
    document.stream("/Type /ObjStm /N 99999999 /First 0 /Filter [/FlateDecode /FlateDecode]", &twice);
    let mut bytes = document.finish(stream);
    let start = bytes.len();
    bytes.extend(
        format!(
            "9 0 obj\n<</Type /XRef /W [1 2 1] /Size 99999999 /Root 7 0 R /Length {} /Filter /FlateDecode>>\nstream\n",
            once.len()
        )
        .bytes(),
    );
    bytes.extend(&once);
    bytes.extend(format!("\nendstream\nendobj\nstartxref\n{start}\n%%EOF").bytes());
    survives(&bytes);
}

#[test]
fn absurd_numbers_are_harmless() {
    let numbers = ["-1", "99999999999999999999", "1e9", "4294967295", "0.0000001", "-.", "+-3"];
    for number in numbers {
        let mut document = Document::new();
        let content = document.flate(
            &format!("/DecodeParms <</Predictor 15 /Columns {number} /Colors {number} /BitsPerComponent {number}>>"),
            format!(
                "{number} 0 0 {number} 0 0 cm BT /F1 {number} Tf {number} Tz {number} Tc {number} Tw {number} TL \
                 {number} {number} Td [(a) {number} (b)] TJ {number} {number} ({number}) \" (end) Tj ET"
            )
            .as_bytes(),
        );
        let font = format!(
            "/Font <</F1 <</Type /Font /Subtype /Type3 /FontMatrix [{number} 0 0 1 0 0] /FirstChar {number} \
             /Widths [{number} {number}] /Encoding <</Differences [{number} /a /b]>>>>>>"
        );
        survives(&page(document, content, &font)).ok();
        let mut bytes = pages_of(&["words"]);
        let at = memchr::memmem::rfind(&bytes, b"startxref\n").unwrap() + 10;
        bytes.truncate(at);
        bytes.extend(number.bytes());
        assert!(survives(&bytes).ok().contains("words"));
    }
}

/// Some files of different build, to be damaged.
fn samples() -> Vec<Vec<u8>> {
    vec![
        pages_of(&["some words on a page\nand a line", "more"]),
        include_bytes!("aes-256-object-streams.pdf").to_vec(),
        include_bytes!("rc4-128.pdf").to_vec(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_are_answered(
        sample in 0_usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 1..12),
    ) {
        let mut bytes = samples().swap_remove(sample);
        for (index, byte, kind) in changes {
            let at = index.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => {
                    bytes.remove(at);
                }
                2 => bytes.insert(at, byte),
                _ => bytes[at] = b'0' + byte % 10,
            }
        }
        // What begins otherwise is another kind of file.
        bytes[..8].copy_from_slice(b"%PDF-1.7");
        let h = Harness::new();
        h.write("a.pdf", &bytes);
        let answer = h.call("read", json!({ "path": "a.pdf" }));
        prop_assert!(!answer.text().contains("makes no sense"), "it panicked");
        prop_assert!(answer.error_kind() != Some("internal"));
    }
}
