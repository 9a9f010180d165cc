//! Documents that tests build: parts in a ZIP archive.

use std::{fmt::Write as _, io::Write as _};

use rawzip::{CompressionMethod, ZipArchiveWriter};

const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A ZIP archive of these parts, compressed.
///
/// # Panics
/// Never: it writes to memory.
pub fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ZipArchiveWriter::new(&mut bytes);
    for (name, content) in parts {
        let part = writer.new_file(*name).compression_method(CompressionMethod::DEFLATE);
        let (mut entry, config) = part.start().expect("in memory");
        let mut packed = config.wrap(flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast()));
        packed.write_all(content).expect("in memory");
        let (encoder, descriptor) = packed.finish().expect("in memory");
        encoder.finish().expect("in memory");
        entry.finish(descriptor).expect("in memory");
    }
    writer.finish().expect("in memory");
    bytes
}

/// The part with the relationships of another one: identifier, type and target of each.
pub fn relationships(of: &[(&str, &str, &str)]) -> String {
    let mut text = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>".to_owned();
    for (id, kind, target) in of {
        let _ = write!(text, "<Relationship Id='{id}' Type='{RELATIONSHIPS}/{kind}' Target='{target}'/>");
    }
    text + "</Relationships>"
}

fn document(main: &str, own: &[(&str, &str, &str)], parts: &[(&str, &str)]) -> Vec<u8> {
    let (folder, name) = main.split_once('/').expect("a folder");
    let (package, own) = (relationships(&[("rId1", "officeDocument", main)]), relationships(own));
    let own_name = format!("{folder}/_rels/{name}.rels");
    let mut all = vec![("[Content_Types].xml", &b"<Types/>"[..]), ("_rels/.rels", package.as_bytes())];
    all.push((&own_name, own.as_bytes()));
    all.extend(parts.iter().map(|(name, content)| (*name, content.as_bytes())));
    archive(&all)
}

/// A Word document with this body, and other parts: their type, which is also their name, and their content.
pub fn docx(body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let body = format!("<w:document xmlns:w='w' xmlns:r='r'><w:body>{body}</w:body></w:document>");
    let names: Vec<String> = parts.iter().map(|(kind, _)| format!("{kind}.xml")).collect();
    let own: Vec<(&str, &str, &str)> =
        parts.iter().zip(&names).map(|((kind, _), name)| (*kind, *kind, name.as_str())).collect();
    let names: Vec<String> = names.iter().map(|name| format!("word/{name}")).collect();
    let mut all = vec![("word/document.xml", body.as_str())];
    all.extend(names.iter().zip(parts).map(|(name, (_, content))| (name.as_str(), *content)));
    document("word/document.xml", &own, &all)
}

/// A workbook of sheets, with the name and the rows of each (elements `row`), its strings (elements `si`) and its styles.
pub fn xlsx(sheets: &[(&str, &str)], strings: &str, styles: &str) -> Vec<u8> {
    let mut own = vec![("s".to_owned(), "sharedStrings", "sharedStrings.xml".to_owned())];
    own.push(("t".to_owned(), "styles", "styles.xml".to_owned()));
    let mut book = "<workbook xmlns:r='r'><sheets>".to_owned();
    let mut all = vec![("xl/sharedStrings.xml".to_owned(), format!("<sst>{strings}</sst>"))];
    all.push(("xl/styles.xml".to_owned(), format!("<styleSheet>{styles}</styleSheet>")));
    for (at, (name, rows)) in sheets.iter().enumerate() {
        let _ = write!(book, "<sheet name='{name}' sheetId='{at}' r:id='r{at}'/>");
        own.push((format!("r{at}"), "worksheet", format!("worksheets/sheet{at}.xml")));
        all.push((
            format!("xl/worksheets/sheet{at}.xml"),
            format!("<worksheet><sheetData>{rows}</sheetData></worksheet>"),
        ));
    }
    all.push(("xl/workbook.xml".to_owned(), book + "</sheets></workbook>"));
    let own: Vec<(&str, &str, &str)> =
        own.iter().map(|(id, kind, target)| (id.as_str(), *kind, target.as_str())).collect();
    let all: Vec<(&str, &str)> = all.iter().map(|(name, content)| (name.as_str(), content.as_str())).collect();
    document("xl/workbook.xml", &own, &all)
}

/// A presentation of slides, with the shapes and the notes of each; the last one is hidden. The parts have the opposite
/// order.
pub fn pptx(slides: &[(&str, &str)]) -> Vec<u8> {
    let (mut own, mut all) = (Vec::new(), Vec::new());
    let mut list = String::new();
    for (at, (shapes, notes)) in slides.iter().enumerate() {
        let name = format!("slide{}.xml", slides.len() - at);
        let _ = write!(list, "<p:sldId id='{at}' r:id='r{at}'/>");
        let notes_rels = relationships(&[("n", "notesSlide", &format!("../notesSlides/{name}"))]);
        all.push((format!("ppt/slides/_rels/{name}.rels"), notes_rels));
        let show = u8::from(at + 1 < slides.len());
        let slide = format!("<p:sld xmlns:p='p' xmlns:a='a' show='{show}'><p:spTree>{shapes}</p:spTree></p:sld>");
        all.push((format!("ppt/slides/{name}"), slide));
        all.push((format!("ppt/notesSlides/{name}"), format!("<p:notes xmlns:p='p' xmlns:a='a'>{notes}</p:notes>")));
        own.push((format!("r{at}"), "slide", format!("slides/{name}")));
    }
    // Sections name slides once more, without their parts.
    let list = format!("<p:sldIdLst>{list}</p:sldIdLst><x:sldIdLst xmlns:x='x'><x:sldId id='0'/></x:sldIdLst>");
    let book = format!("<p:presentation xmlns:p='p' xmlns:r='r'>{list}</p:presentation>");
    all.push(("ppt/presentation.xml".to_owned(), book));
    let own: Vec<(&str, &str, &str)> =
        own.iter().map(|(id, kind, target)| (id.as_str(), *kind, target.as_str())).collect();
    let all: Vec<(&str, &str)> = all.iter().map(|(name, content)| (name.as_str(), content.as_str())).collect();
    document("ppt/presentation.xml", &own, &all)
}

/// An `OpenDocument` file of a kind (`text`, `spreadsheet` or `presentation`) with these styles of its own, this body, and
/// other parts. The prefixes of its names are those that all programs write.
pub fn opendocument(kind: &str, styles: &str, body: &str, parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mimetype = format!("application/vnd.oasis.opendocument.{kind}");
    let content = format!(
        "<office:document-content><office:automatic-styles>{styles}</office:automatic-styles>
        <office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    );
    let manifest = format!(
        "<manifest:manifest><manifest:file-entry manifest:full-path='/' manifest:media-type='{mimetype}'/></manifest:manifest>"
    );
    let mut all = vec![("mimetype", mimetype.as_bytes()), ("content.xml", content.as_bytes())];
    all.push(("META-INF/manifest.xml", manifest.as_bytes()));
    all.extend(parts);
    archive(&all)
}
