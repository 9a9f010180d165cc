//! Kinds of files: of binary content by its first bytes, and media types by names, for clients that choose a viewer or a
//! highlighter.

use encoding_rs::Encoding;
use infer::MatcherType;

use crate::{detect, encoding};

/// How many first bytes suffice for [`binary_kind`] to tell.
const SAMPLE: usize = 8 * 1024;
/// The name of a binary file of no known kind.
const UNNAMED: &str = "binary data";
/// Kinds of binary files, with the endings that [`infer`] has for them.
const KINDS: &str = "elf=ELF executable; exe,dll=Windows executable; mach=Mach-O executable; wasm=WebAssembly module; \
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
    let head = &head[..head.len().min(SAMPLE)];
    if head.starts_with(&[0xFF, 0xFE, 0, 0]) || head.starts_with(&[0, 0, 0xFE, 0xFF]) {
        return Some("UTF-32 text".to_owned());
    }
    if Encoding::for_bom(head).is_some_and(|(encoding, _)| encoding::is_utf16(encoding)) {
        return None;
    }
    if encoding::has_nul(head) && detect::utf16_without_bom(head).is_some() {
        return None;
    }
    let head = &content[..content.len().min(SAMPLE)];
    if encoding::has_nul(head) {
        return Some(name(head));
    }
    // A character that is cut at the end is none that is invalid.
    let is_utf8 = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    let has_controls = || head.iter().any(|byte| matches!(byte, 1..=8 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F));
    if is_padded && (has_controls() || name(head) != UNNAMED) {
        return Some(name(head));
    }
    if is_utf8 || !has_controls() {
        return None;
    }
    infer::get(head).map(|_| name(head))
}

/// The kind of `head` where it is known to be binary.
pub(super) fn name(head: &[u8]) -> String {
    let Some(kind) = infer::get(head) else { return UNNAMED.to_owned() };
    let extension = kind.extension();
    let mut rows = KINDS.split("; ").filter_map(|row| row.split_once('='));
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
        MatcherType::Text | MatcherType::Custom => return UNNAMED.to_owned(),
    };
    format!("{} {noun}", extension.to_ascii_uppercase())
}

/// The media type of a file called `name`; `None` for an ending that is not known.
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
            (b"\x1f\x8b\x08\x03\xff\xfe", "gzip archive"),
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
