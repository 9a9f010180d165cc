//! What a file holds: which encoding its bytes are in, where neither the caller nor a byte-order mark says it, the kind of
//! binary content, and the media type by its name.
//!
//! A guess: legacy encodings are distinguished by letter frequencies, which a file of a few words does not show.

use std::{ffi::OsStr, path::Path};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE};
use infer::MatcherType;

use crate::declared::declared;
use crate::encoding::{self, Charset, decode_as, has_nul, unit, unrepresentable, without_padding};

/// How much of a file the UTF-16 heuristic looks at, in bytes.
const UTF16_SAMPLE: usize = 8 * 1024;

/// How much of a file the detector sees, in bytes from the first one that is not ASCII; it reads some 4 MB a second.
const DETECTION_SAMPLE: usize = 256 * 1024;

/// Characters of UTF-8 beyond ASCII that no other encoding has by chance.
const TELLING_CHARS: usize = 3;

/// What `bytes` are in, of which `whole` says whether they are all of the file.
pub(super) fn detect(bytes: &[u8], whole: bool) -> Charset {
    if has_nul(bytes)
        && let Some(encoding) = utf16_without_bom(bytes)
    {
        return encoding.into();
    }
    let bytes = without_padding(bytes);
    if has_nul(bytes) {
        return UTF_8.into();
    }
    let (valid, invalid) = utf8_characters(bytes);
    let is_utf8 = invalid == 0 || valid > 2 * invalid;
    if valid < TELLING_CHARS || !is_utf8 {
        let fits = |one: &Charset| {
            let is_text = || {
                let (text, had_errors) = decode_as(one.encoding, bytes);
                !had_errors && !has_c1_control(&text)
            };
            one.encoding != UTF_8 && (invalid > 0 || valid == 0 || !one.encoding.is_single_byte()) && is_text()
        };
        if let Some(declared) = declared(bytes, whole).filter(fits) {
            return declared;
        }
    }
    if is_utf8 { UTF_8.into() } else { guessed(bytes).into() }
}

/// Whether bytes that are valid UTF-8 may be in another encoding, which they declare: they have few characters beyond
/// ASCII.
pub(super) fn may_be_declared(bytes: &[u8], whole: bool) -> bool {
    declared(bytes, whole).is_some_and(|one| one.encoding != UTF_8)
        && bytes.iter().filter(|byte| **byte >= 0xC0).nth(TELLING_CHARS - 1).is_none()
}

/// A wrong guess: bytes that windows-1252 leaves unassigned, such as 0x81, decode to these controls.
fn has_c1_control(text: &str) -> bool {
    text.chars().any(|character| matches!(character, '\u{80}'..='\u{9f}'))
}

fn guessed(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0).saturating_sub(1);
    let sample = &bytes[first..bytes.len().min(first + DETECTION_SAMPLE)];
    detector.feed(sample, first + sample.len() == bytes.len());
    // It is no UTF-8: that was asked above.
    let guess = detector.guess(None, Utf8Detection::Deny);
    let (text, had_errors) = decode_as(guess, bytes);
    if had_errors || has_c1_control(&text) {
        return UTF_8;
    }
    // The detector answers GBK for all of GB 18030; only the latter can write back its four-byte sequences.
    if guess == GBK && unrepresentable(GBK.into(), &text).is_some() { GB18030 } else { guess }
}

/// Whether bytes with NULs among them look like UTF-16 without a byte-order mark: what is worth to be decoded. The
/// first 8 KiB are looked at.
pub fn looks_like_utf16(head: &[u8]) -> bool {
    utf16_without_bom(head).is_some()
}

/// UTF-16 without a byte-order mark, where the first bytes are clearly that: at least a quarter of the units
/// is ASCII text in one byte order, next to none in the other, no unit is a control character, no
/// surrogate is unpaired, and the other units are not pairs of ASCII characters, as in a text with a few NUL bytes.
fn utf16_without_bom(bytes: &[u8]) -> Option<&'static Encoding> {
    if bytes.len() < 4 || !bytes.len().is_multiple_of(2) && bytes.len() < UTF16_SAMPLE {
        return None;
    }
    let sample = &bytes[..bytes.len().min(UTF16_SAMPLE) & !1];
    let (little, big) = (ascii_units(UTF_16LE, sample), ascii_units(UTF_16BE, sample));
    let (encoding, most, least) = if little >= big { (UTF_16LE, little, big) } else { (UTF_16BE, big, little) };
    if most * 4 < sample.len() / 2 || least * 8 > most {
        return None;
    }
    // By chance that is every fifth unit of a Chinese text.
    let pairs = sample.chunks_exact(2).filter(|pair| pair.iter().all(|byte| is_ascii_text(u16::from(*byte)))).count();
    if pairs * 4 > (sample.len() / 2 - most) * 3 {
        return None;
    }
    // A sample may end between the halves of a pair.
    let is_cut = bytes.len() > sample.len();
    let units = sample.chunks_exact(2).map(|pair| unit(encoding, pair));
    let count = sample.len() / 2;
    let is_text = char::decode_utf16(units).enumerate().all(|(index, decoded)| match decoded {
        Ok(character) => !character.is_control() || matches!(character, '\t' | '\n' | '\r' | '\u{c}'),
        Err(_) => is_cut && index + 2 >= count,
    });
    is_text.then_some(encoding)
}

/// Characters of several bytes in UTF-8, and places that are invalid. A legacy encoding yields valid sequences only by
/// chance (about one pair in eight for GBK, fewer elsewhere): two thirds of them are UTF-8 with stray bytes.
fn utf8_characters(bytes: &[u8]) -> (usize, usize) {
    if bytes.is_ascii() {
        return (0, 0);
    }
    let (mut valid, mut invalid) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    (valid, invalid)
}

fn ascii_units(encoding: &'static Encoding, sample: &[u8]) -> usize {
    sample.chunks_exact(2).filter(|pair| is_ascii_text(unit(encoding, pair))).count()
}

fn is_ascii_text(unit: u16) -> bool {
    matches!(unit, 0x20..=0x7E | 0x09 | 0x0A | 0x0D)
}

/// How many first bytes suffice for [`binary_kind`] to tell.
const SAMPLE_BYTES: usize = 8 * 1024;
/// The name of a binary file of no known kind.
const UNNAMED_BINARY: &str = "binary data";
/// Kinds of binary files, with the endings that [`infer`] has for them.
const BINARY_KINDS: &str = "elf=ELF executable; exe,dll=Windows executable; mach=Mach-O executable; wasm=WebAssembly module; \
     class=Java class file; bc=LLVM bitcode; obj=COFF object file; dex,dey=Android executable; \
     der=DER certificate; qcow2=QCOW2 disk image; pdf=PDF document; ps=PostScript document; \
     rtf=RTF document; sqlite=SQLite database; gz=gzip archive; bz2=bzip2 archive; xz=xz archive; \
     zst=Zstandard archive; deb=Debian package; rpm=RPM package; jpg=JPEG image; webp=WebP image; \
     doc,docx=Word document; xls,xlsx=Excel document; ppt,pptx=PowerPoint document; \
     odt,ods,odp=OpenDocument file";

/// Media types with their endings: those of the IANA registry, and for source code those that editors use.
const MEDIA_TYPES: &str = "text/x-c=c,h text/x-c++=cc,cpp,hpp text/x-csharp=cs text/css=css text/csv=csv image/gif=gif text/x-go=go \
     text/html=htm,html application/x-ipynb+json=ipynb text/x-java=java image/jpeg=jpeg,jpg \
     text/javascript=js,jsx,mjs application/json=json text/x-kotlin=kt text/x-lua=lua text/markdown=md \
     application/pdf=pdf text/x-php=php image/png=png text/x-python=py text/x-ruby=rb text/x-rust=rs \
     text/x-shellscript=sh application/sql=sql image/svg+xml=svg text/x-swift=swift application/toml=toml \
     text/typescript=ts,tsx image/webp=webp application/xml=xml application/yaml=yaml,yml";

/// Names the kind of a binary file from its first bytes (8 KiB are looked at), or `None` for what looks like text.
///
/// The sign of binary content is a NUL byte that UTF-16 does not explain, and that is not one of a few at the beginning or
/// the end of a text, whose bytes this looks at where they are all of a file. Without one, only content that is
/// not UTF-8, holds control characters and starts with a known magic number counts: a Latin-1 text that
/// happens to begin with `BM` is not a bitmap.
pub fn binary_kind(head: &[u8]) -> Option<String> {
    let content = encoding::without_padding(head);
    let is_padded = content.len() < head.len();
    let head = &head[..head.len().min(SAMPLE_BYTES)];
    if head.starts_with(&[0xFF, 0xFE, 0, 0]) || head.starts_with(&[0, 0, 0xFE, 0xFF]) {
        return Some("UTF-32 text".to_owned());
    }
    if Encoding::for_bom(head).is_some_and(|(encoding, _)| encoding::is_utf16(encoding)) {
        return None;
    }
    if encoding::has_nul(head) && utf16_without_bom(head).is_some() {
        return None;
    }
    // Formats whose first bytes are NULs are known by these.
    let whole = Some(kind_name(head)).filter(|kind| kind != UNNAMED_BINARY);
    let head = &content[..content.len().min(SAMPLE_BYTES)];
    if encoding::has_nul(head) {
        return Some(whole.unwrap_or_else(|| kind_name(head)));
    }
    // A character that is cut at the end is none that is invalid.
    let is_utf8 = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    let has_controls = || head.iter().any(|byte| matches!(byte, 1..=8 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F));
    if is_padded && (has_controls() || kind_name(head) != UNNAMED_BINARY) {
        return Some(kind_name(head));
    }
    if is_utf8 || !has_controls() { None } else { infer::get(head).map(|_| kind_name(head)) }
}

/// Kinds of files of boxes (ISO/IEC 14496-12), by the brands that they name.
const BOX_BRANDS: &str = "AVIF image=avif avis; HEIC image=heic heix heim heis hevc hevx hevm hevs; HEIF image=mif1 msf1 mif2; \
     JPEG 2000 image=jp2 jpx jpm; CR3 image=crx; QuickTime video=qt";

/// Kinds of compound files ([MS-CFB]), by a name in their directory.
const COMPOUND_KINDS: &str = "Outlook message=__substg1.0_; Word document=WordDocument; Excel document=Workbook; \
     PowerPoint document=PowerPoint Document; Visio drawing=VisioDocument; Publisher document=Quill; \
     encrypted Office document=EncryptedPackage";

/// Kinds that `infer` does not know, or takes for another one: it calls every compound file an MSI archive.
fn other_kind(head: &[u8]) -> Option<String> {
    let rows = |table: &'static str| table.split("; ").filter_map(|row| row.split_once('='));
    if head.starts_with(b"\0\0\0\x0CjP  \r\n\x87\n") || head.starts_with(b"\xFF\x4F\xFF\x51") {
        return Some("JPEG 2000 image".to_owned());
    }
    if head.starts_with(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
        let has = |name: &str| {
            let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
            memchr::memmem::find(head, &name).is_some()
        };
        let found = rows(COMPOUND_KINDS).find(|(_, name)| has(name));
        return Some(found.map_or("OLE compound file", |(kind, _)| kind).to_owned());
    }
    if memchr::memmem::find(head, b"xl/workbook.bin").is_some() && head.starts_with(b"PK\x03\x04") {
        return Some("Excel binary workbook (.xlsb)".to_owned());
    }
    let size = usize::try_from(u32::from_be_bytes(*head.first_chunk()?)).unwrap_or(usize::MAX);
    let brands = head.get(8..size.min(head.len())).filter(|_| head[4..].starts_with(b"ftyp"))?;
    let of_brand = |brand: &[u8]| {
        rows(BOX_BRANDS).find(|(_, known)| known.split(' ').any(|known| known.as_bytes() == brand.trim_ascii_end()))
    };
    // The first brand is that of the file, but for the general one.
    let kinds = brands.chunks(4).filter_map(of_brand);
    kinds.min_by_key(|(kind, _)| *kind == "HEIF image").map(|(kind, _)| kind.to_owned())
}

pub(super) fn kind_name(head: &[u8]) -> String {
    if let Some(kind) = other_kind(head) {
        return kind;
    }
    let Some(kind) = infer::get(head) else { return UNNAMED_BINARY.to_owned() };
    // infer knows a document by its third or fourth part alone, and writers order them as they like.
    let part = |folder: &[u8]| memchr::memmem::find(head, folder).is_some();
    let extension = match kind.extension() {
        "zip" if !part(b"[Content_Types].xml") => "zip",
        "zip" if part(b"word/") => "docx",
        "zip" if part(b"xl/") => "xlsx",
        "zip" if part(b"ppt/") => "pptx",
        other => other,
    };
    let mut rows = BINARY_KINDS.split("; ").filter_map(|row| row.split_once('='));
    if let Some((_, known)) = rows.find(|(endings, _)| endings.split(',').any(|ending| ending == extension)) {
        return known.to_owned();
    }
    let noun = match kind.matcher_type() {
        MatcherType::App => "program",
        MatcherType::Archive => "archive",
        MatcherType::Audio => "audio",
        MatcherType::Book => "book",
        MatcherType::Doc => "document",
        MatcherType::Font => "font",
        MatcherType::Image => "image",
        MatcherType::Video => "video",
        MatcherType::Text | MatcherType::Custom => return UNNAMED_BINARY.to_owned(),
    };
    format!("{} {noun}", extension.to_ascii_uppercase())
}

/// Endings of documents: PDF, Word, Excel, `PowerPoint` and `OpenDocument`.
const DOCUMENT_ENDINGS: &str = "pdf doc docm docx dotx odp ods odt otp ots ott ppt pptm pptx ppsx xls xlsm xlsx xltx";

/// Whether a file is called as documents are, whose text is read and searched part by part.
pub fn is_document_name(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    !ending.is_empty() && DOCUMENT_ENDINGS.split(' ').any(|known| known.eq_ignore_ascii_case(ending))
}

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// Portable Document Format.
    Pdf,
    /// Word, Excel, `PowerPoint` or `OpenDocument`: a ZIP archive, or a compound file (older, or encrypted).
    Office,
}

/// Within how many first bytes a file that is called a PDF has the header of one.
// As Acrobat takes it: PDF Reference 1.7, appendix H, implementation note 13.
const PDF_HEADER_WITHIN: usize = 1024;
const PDF_HEADER: &[u8] = b"%PDF-";
/// Bytes by which [`document_format`] recognises all but archives with another first part.
pub const DOCUMENT_HEAD_BYTES: usize = PDF_HEADER_WITHIN;
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
const COMPOUND_FILE_MAGIC: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];
/// The first part of most documents. An EPUB begins with its media type as `OpenDocument` does.
const FIRST_PARTS: [&[u8]; 7] =
    [b"[Content_Types].xml", b"_rels/", b"docProps/", b"word/", b"xl/", b"ppt/", b"mimetype"];
const EPUB_START: &[u8] = b"mimetypeapplication/epub";

/// The format that a file which begins with `head` may be a document of; its name decides only where the content leaves it
/// open. Of an archive with another first part, a longer head may hold the part that every Office document has.
///
/// ```
/// use std::path::Path;
///
/// use text_file::{DocumentFormat, document_format};
///
/// assert_eq!(document_format(Path::new("report"), b"%PDF-1.7\n"), Some(DocumentFormat::Pdf));
/// assert_eq!(document_format(Path::new("notes.pdf"), b"about %PDF-1.7"), Some(DocumentFormat::Pdf));
/// assert_eq!(document_format(Path::new("notes.txt"), b"about %PDF-1.7"), None);
/// ```
pub fn document_format(path: &Path, head: &[u8]) -> Option<DocumentFormat> {
    let is_pdf_name = || path.extension().is_some_and(|name| name.eq_ignore_ascii_case("pdf"));
    // A text may speak of the header; in a file of that name it may have other bytes before it.
    let is_pdf = head.starts_with(PDF_HEADER)
        || is_pdf_name() && memchr::memmem::find(&head[..head.len().min(PDF_HEADER_WITHIN)], PDF_HEADER).is_some();
    let is_archive = || {
        let Some(rest) = head.strip_prefix(ZIP_MAGIC) else { return false };
        let name = rest.get(26..).unwrap_or_default();
        FIRST_PARTS.iter().any(|first| name.starts_with(first)) && !name.starts_with(EPUB_START)
            // It may have its parts in any order.
            || is_document_name(path)
            || memchr::memmem::find(head, FIRST_PARTS[0]).is_some()
    };
    if is_pdf {
        return Some(DocumentFormat::Pdf);
    }
    (head.starts_with(COMPOUND_FILE_MAGIC) || is_archive()).then_some(DocumentFormat::Office)
}

/// The media type of a file called `name`, for clients that choose a viewer or a highlighter; `None` for an ending that is not known.
///
/// ```
/// use text_file::media_type;
///
/// assert_eq!(media_type("src/lib.rs"), Some("text/x-rust"));
/// assert_eq!(media_type("Makefile"), None);
/// ```
pub fn media_type(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    let mut rows = MEDIA_TYPES.split_ascii_whitespace().filter_map(|row| row.split_once('='));
    let is_its = |endings: &str| endings.split(',').any(|known| known.eq_ignore_ascii_case(ending));
    rows.find(|(_, endings)| is_its(endings)).map(|(media_type, _)| media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_content_is_named() {
        for (bytes, kind) in [
            (&b"%PDF-1.7\n\x00\xff"[..], "PDF document"),
            (&[&b"\x7fELF\x02\x01\x01"[..], &[0; 57]].concat(), "ELF executable"),
            (b"PK\x03\x04\x14\0\0\0", "ZIP archive"),
            (
                b"PK\x03\x04\x14\0\0\0\0\0_rels/.relsPK\x03\x04[Content_Types].xmlPK\x03\x04word/styles.xml",
                "Word document",
            ),
            (b"\x1f\x8b\x08\x03\xff\xfe", "gzip archive"),
            (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic\0\0", "HEIC image"),
            (b"\0\0\0\x18ftypmif1\0\0\0\0mif1miaf\0\0", "HEIF image"),
            (b"\0\0\0\x14ftypheix\0\0\0\0mif1avif", "HEIC image"),
            (b"\0\0\0\x1Cftypmif1\0\0\0\0mif1avifmiaf", "AVIF image"),
            (b"\0\0\0\x0CjP  \r\n\x87\n\0\0\0\x14ftypjp2 ", "JPEG 2000 image"),
            (b"\xFF\x4F\xFF\x51\0\x29\0\0", "JPEG 2000 image"),
            (b"\0\0\x01\0\x01\0\x10\x10\0\0\x01\0", "ICO image"),
            (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0", "OLE compound file"),
            (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0_\0_\0s\0u\0b\0s\0t\0g\x001\0.\x000\0_\0", "Outlook message"),
            (b"PK\x03\x04\x14\0\0\0[Content_Types].xmlPK\x03\x04xl/workbook.bin", "Excel binary workbook (.xlsb)"),
            (b"abc\0def\x01\x02", "binary data"),
            (b"\xff\xfe\0\0a\0\0\0", "UTF-32 text"),
        ] {
            assert_eq!(binary_kind(bytes).as_deref(), Some(kind), "{bytes:?}");
        }
    }

    #[test]
    fn text_in_any_encoding_is_not_binary() {
        for bytes in [
            &b""[..],
            b"plain\n",
            b"caf\xe9\n",
            b"BM\xe9 is how it begins\n",
            b"\xff\xfeh\0i\0",
            b"h\0i\0\n\0",
            b"\0h\0i\0\n",
            "naïve, cut in the middle of é".as_bytes(),
            b"\x1b[31mred\x1b[0m",
        ] {
            assert_eq!(binary_kind(bytes), None, "{bytes:?}");
        }
        assert_eq!(binary_kind(&"é".as_bytes()[..1]), None);
    }
}
