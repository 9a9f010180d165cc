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

/// What follows the number of a damaged page.
const DAMAGED: &str = ": its content is damaged or in an unknown form; text may be missing)";

#[test]
fn text_is_not_lost_in_silence() {
    let lines = (0..200).fold(String::new(), |lines, line| lines + &format!("line number {line} of the page\n"));
    let plain = instructions(&lines).into_bytes();
    let whole = flate(&plain);
    let middle = [&whole[..300], &b"\xff\xfe\xfd\xfc".repeat(20), &whole[380..]].concat();
    let unbalanced = [b"BT /F1 9 Tf (line number 0) Tj [ [ [ (", plain.as_slice()].concat();
    let flated = "/Filter /FlateDecode";
    // Whether some of the text is there.
    for (entries, bytes, some) in [
        (flated, &whole[..300], true),
        (flated, &middle, true),
        ("", &unbalanced, true),
        ("", b"BT /F1 9 Tf (line number 0) Tj <</A [ (more) Tj", true),
        (flated, b"no such data", false),
        ("/Filter /ASCII85Decode", b"\x80~>", false),
        ("/Filter /ASCIIHexDecode", b"zz>", false),
        ("/Filter /RunLengthDecode", b"\x20(", false),
        ("/Filter /LZWDecode", b"\xff\xff", false),
        ("/Filter /FooDecode", &plain, false),
        ("/Filter /JPXDecode", &plain, false),
        ("/F (other.txt)", b"", false),
    ] {
        let mut document = Document::new();
        let content = document.stream(entries, bytes);
        let answer = survives(&page(document, content, FONT)).ok();
        assert!(answer.contains(&format!("\n(page 1{DAMAGED}\n")), "{entries}: {answer}");
        assert_eq!(answer.contains("line number 0"), some, "{entries}: {answer}");
        assert_eq!(answer.contains("(no text could be read on this page; 0 images)"), !some, "{entries}: {answer}");
        assert!(!answer.contains("holds no text"), "{entries}: {answer}");
    }
    // No such object, one that is itself, one that is no stream, and a drawing.
    for (content, lost) in [("99 0 R", true), ("2 0 R", true), ("[1 0 R]", true), ("1 0 R", true), ("3 0 R", true)]
        .into_iter()
        .chain([("null", false), ("[]", false), ("4 0 R", false)])
    {
        let mut document = Document::new();
        document.object("(no stream)");
        document.object("2 0 R");
        document.stream("", b"/X Do");
        document.stream("", b"");
        let drawing = document.stream("/Subtype /Form /Filter /FooDecode", &plain);
        document.object(format!(
            "<</Type /Page /Parent 7 0 R /Contents {content} /Resources <</XObject <</X {drawing} 0 R>>>>>>"
        ));
        document.object("<</Type /Pages /Kids [6 0 R] /Count 1>>");
        document.object("<</Type /Catalog /Pages 7 0 R>>");
        let answer = survives(&document.finish(8)).ok();
        assert_eq!(answer.contains(&format!("(page 1{DAMAGED}")), lost, "{content}: {answer}");
        assert_eq!(answer.contains("holds no text"), !lost, "{content}: {answer}");
    }
}

#[test]
fn small_flaws_are_no_loss() {
    let plain = instructions("words").into_bytes();
    let whole = flate(&plain);
    // Without a header, with a wrong one, without its checksum, with more behind it; end marks without a start.
    for (entries, bytes) in [
        ("/Filter /FlateDecode", whole[2..].to_vec()),
        ("/Filter /FlateDecode", [b"\0\0", &whole[2..]].concat()),
        ("/Filter /FlateDecode", whole[..whole.len() - 4].to_vec()),
        ("/Filter /FlateDecode", whole[..whole.len() - 1].to_vec()),
        ("/Filter /FlateDecode", [whole.as_slice(), &[0; 40]].concat()),
        ("", [b") ] > ", plain.as_slice()].concat()),
        ("", plain.clone()),
    ] {
        let mut document = Document::new();
        let content = document.stream(entries, &bytes);
        let answer = survives(&page(document, content, FONT)).ok();
        assert!(answer.contains("words") && !answer.contains("damaged"), "{entries}: {answer}");
    }
}

#[test]
fn damaged_pages_are_named_together() {
    let mut document = Document::new();
    let unknown = document.stream("/Filter /FooDecode", b"x");
    let empty = document.stream("", b"");
    let text = document.flate("", instructions("words").as_bytes());
    let root = document.tree(&[unknown, text, unknown, unknown, empty, unknown], FONT);
    let answer = survives(&document.finish(root)).ok();
    let (body, _) = answer.rsplit_once('\n').unwrap();
    assert_eq!(
        body,
        "--- page 1 of 6 ---\n(no text could be read on this page; 0 images)\n--- page 2 of 6 ---\nwords\n\
         --- pages 3-4 of 6 ---\n(no text could be read on these pages; 0 images)\n\
         --- page 5 of 6 ---\n(no text on this page; 0 images)\n\
         --- page 6 of 6 ---\n(no text could be read on this page; 0 images)\n\
         (pages 1, 3-4, 6: their content is damaged or in an unknown form; text may be missing)"
    );
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
    #![proptest_config(ProptestConfig { cases: crate::harness::share(64), ..ProptestConfig::default() })]

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
