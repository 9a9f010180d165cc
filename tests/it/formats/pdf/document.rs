//! Writes PDF files, whole and wrong ones.

use std::{fmt::Write as _, io::Write as _};

use flate2::{Compression, write::ZlibEncoder};

/// A file as it grows, object by object.
#[derive(Default)]
pub(crate) struct Document {
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

impl Document {
    pub(crate) fn new() -> Self {
        Self { bytes: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec(), offsets: Vec::new() }
    }

    /// The number that the next object gets.
    pub(crate) fn next(&self) -> usize {
        self.offsets.len() + 1
    }

    /// Adds an object and gives its number.
    pub(crate) fn object(&mut self, body: impl AsRef<[u8]>) -> usize {
        self.offsets.push(self.bytes.len());
        let number = self.offsets.len();
        self.bytes.extend(format!("{number} 0 obj\n").bytes());
        self.bytes.extend(body.as_ref());
        self.bytes.extend(b"\nendobj\n");
        number
    }

    /// Adds a stream with further entries in its dictionary.
    pub(crate) fn stream(&mut self, entries: &str, bytes: &[u8]) -> usize {
        let mut body = format!("<</Length {} {entries}>>\nstream\n", bytes.len()).into_bytes();
        body.extend(bytes);
        body.extend(b"\nendstream");
        self.object(body)
    }

    /// Adds a stream that is compressed.
    pub(crate) fn flate(&mut self, entries: &str, bytes: &[u8]) -> usize {
        self.stream(&format!("/Filter /FlateDecode {entries}"), &flate(bytes))
    }

    /// Adds a page tree with these pages and gives the number of the catalog. Each page has the resources, too.
    pub(crate) fn tree(&mut self, contents: &[usize], resources: &str) -> usize {
        let tree = self.next() + contents.len();
        let mut kids = String::new();
        for content in contents {
            let page = self.object(format!(
                "<</Type /Page /Parent {tree} 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R \
                 /Resources <<{resources}>>>>"
            ));
            let _ = write!(kids, "{page} 0 R ");
        }
        self.object(format!("<</Type /Pages /Kids [{kids}] /Count {}>>", contents.len()));
        self.object(format!("<</Type /Catalog /Pages {tree} 0 R>>"))
    }

    /// The file, whose catalog is the object `root`.
    pub(crate) fn finish(mut self, root: usize) -> Vec<u8> {
        let start = self.bytes.len();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", self.offsets.len() + 1);
        for offset in &self.offsets {
            let _ = writeln!(table, "{offset:010} 00000 n ");
        }
        let _ = write!(
            table,
            "trailer\n<</Size {} /Root {root} 0 R>>\nstartxref\n{start}\n%%EOF\n",
            self.offsets.len() + 1
        );
        self.bytes.extend(table.bytes());
        self.bytes
    }
}

/// The font that pages of the functions below use.
pub(crate) const FONT: &str = "/Font <</F1 <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>";

/// A file with a page for each text, one line of the page for each line of the text.
pub(crate) fn pages_of(texts: &[&str]) -> Vec<u8> {
    let mut document = Document::new();
    let contents: Vec<usize> = texts.iter().map(|text| document.flate("", instructions(text).as_bytes())).collect();
    let root = document.tree(&contents, FONT);
    document.finish(root)
}

/// The instructions that show a text.
pub(crate) fn instructions(text: &str) -> String {
    let mut instructions = "BT /F1 12 Tf 14 TL 72 720 Td\n".to_owned();
    for line in text.lines() {
        let _ =
            writeln!(instructions, "({}) Tj T*", line.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)"));
    }
    instructions.push_str("ET\n");
    instructions
}

pub(crate) fn flate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}
