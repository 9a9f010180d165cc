//! What a text says of its own encoding: a comment of PEP 263, a modeline of Vim or Emacs, `<?xml encoding>`, `@charset`,
//! an HTML `meta`, LaTeX's `inputenc`.
//!
//! A text in which that can be read has ASCII at least: what declares UTF-16, UTF-32 or ISO-2022-JP declares nothing.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::Regex;

use crate::encoding::Charset;

/// Bytes at the beginning in which all but LaTeX declare it: of HTML, by its standard, no more count.
const HEAD_BYTES: usize = 1024;
/// Bytes at the beginning that may be the preamble of a LaTeX file.
const PREAMBLE_BYTES: usize = 16 << 10;
/// Bytes at the end that Emacs looks at.
const TAIL_BYTES: usize = 3000;
/// Lines at each end that Vim looks at.
const MODELINE_LINES: usize = 5;

fn regex(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "each pattern is a constant, and compiled by a test")]
    Regex::new(pattern).expect("a valid pattern")
}

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| regex(concat!("(?-u)", $pattern)));
    };
}

pattern!(XML, r#"^<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"'>]+)["']"#);
pattern!(CSS, r#"^@charset "([^"]+)";"#);
// https://peps.python.org/pep-0263/
pattern!(PYTHON, r"^[ \t\x0c]*#.*?coding[:=][ \t]*([-\w.]+)");
pattern!(COMMENT, r"^[ \t\x0c]*(?:#|\r?$)");
pattern!(EMACS, r"-\*-(?:.*[;\s])?coding:\s*([^;\s]+?)\s*(?:;.*)?-\*-");
pattern!(EMACS_TAIL, r"(?s)Local Variables:.*?\bcoding:[ \t]*([-\w]+)");
pattern!(VIM, r"(?:^|\s)(?:vim?|ex):(?:.*[\s:])?(?:fileencoding|fenc)=([-\w]+)");
pattern!(HTML_COMMENT, r"(?s)<!--.*?(?:-->|$)");
pattern!(META, r#"(?is)<meta[\s/][^>]*?\bcharset\s*=\s*["']?\s*([^\s"'/>;]+)"#);
pattern!(TEX, r"(?m)^[^%\n]*\\(?:usepackage|RequirePackage)\s*\[(?:[^\]]*,)?\s*([-\w]+)\s*\]\s*\{\s*inputenc\s*\}");

/// The encoding that a text declares; `whole`: whether `bytes` end where the text does.
pub(crate) fn declared(bytes: &[u8], whole: bool) -> Option<Charset> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let tail = if whole { &bytes[bytes.len().saturating_sub(TAIL_BYTES)..] } else { &[] };
    let has = |text: &[u8], word: &str| memmem::find(text, word.as_bytes()).is_some();
    let lower = head.to_ascii_lowercase();
    // Most texts declare nothing: that is decided without a pattern.
    let in_head = has(&lower, "coding") || has(&lower, "charset") || has(&lower, "fenc");
    in_head
        .then(|| in_head_of(head))
        .flatten()
        .or_else(|| {
            let last = lines(tail).rev().take(MODELINE_LINES).find_map(|line| first(&VIM, line));
            (has(tail, "coding") || has(tail, "fenc")).then(|| last.or_else(|| first(&EMACS_TAIL, tail))).flatten()
        })
        .or_else(|| {
            let preamble = &bytes[..bytes.len().min(PREAMBLE_BYTES)];
            has(preamble, "inputenc").then(|| first(&TEX, preamble)).flatten()
        })
}

fn in_head_of(head: &[u8]) -> Option<Charset> {
    let mut top = lines(head);
    let (one, two) = (top.next().unwrap_or_default(), top.next().unwrap_or_default());
    // What a shell or an XML parser wants first may be before it.
    let second = || COMMENT.is_match(one) || one.starts_with(b"<?xml");
    first(&XML, head)
        .or_else(|| first(&CSS, head))
        .or_else(|| first(&EMACS, one).or_else(|| first(&PYTHON, one)))
        .or_else(|| second().then(|| first(&EMACS, two).or_else(|| first(&PYTHON, two))).flatten())
        .or_else(|| lines(head).take(MODELINE_LINES).find_map(|line| first(&VIM, line)))
        .or_else(|| {
            let begins = head.trim_ascii_start();
            let is_html = begins.starts_with(b"<") || begins.starts_with(b"{%");
            is_html.then(|| first(&META, &HTML_COMMENT.replace_all(head, &b""[..]))).flatten()
        })
}

fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn first(pattern: &Regex, text: &[u8]) -> Option<Charset> {
    let found = pattern.captures(text)?;
    Charset::of_label(str::from_utf8(found.iter().skip(1).flatten().next()?.as_bytes()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<&'static str> {
        declared(text.as_bytes(), true).map(Charset::name)
    }

    #[test]
    fn each_form_is_read_in_its_place() {
        for (text, found) in [
            ("# -*- coding: iso-8859-15 -*-\nx = 1\n", "ISO-8859-15"),
            ("#!/usr/bin/python\n# coding=latin-1\n", "ISO-8859-1"),
            ("\n# coding: cp1252\n", "windows-1252"),
            ("# vim: set fileencoding=koi8-r :\n", "KOI8-R"),
            ("int x;\n/* vim: set ts=4 fenc=cp1251: */\n", "windows-1251"),
            ("/* -*- mode: c; coding: euc-jp-unix; -*- */\n", "EUC-JP"),
            ("; -*-coding:sjis-*-\n", "Shift_JIS"),
            ("#!/bin/sh\n# -*- coding: gbk -*-\n", "GBK"),
            ("x\n# Local Variables:\n# coding: big5\n# End:\n", "Big5"),
            ("<?xml version=\"1.0\" encoding='euc-kr'?>\n<a/>", "EUC-KR"),
            ("@charset \"iso-8859-2\";\n", "ISO-8859-2"),
            ("<!DOCTYPE html>\n<META CHARSET=windows-1250>", "windows-1250"),
            ("<html><meta name=a content='b' charset='macintosh'/>", "macintosh"),
            ("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=koi8-u\">", "KOI8-U"),
            ("<meta content=\"text/html; charset=ibm866\" http-equiv=Content-Type>", "IBM866"),
            ("\\documentclass{a}\n\\usepackage[T1]{fontenc} \\usepackage[latin9]{inputenc}\n", "ISO-8859-15"),
            ("\\usepackage[utf8,ansinew]{inputenc}\n", "windows-1252"),
            ("\\usepackage[applemac]{inputenc}\n", "macintosh"),
            ("# coding: ascii\n", "US-ASCII"),
            ("# coding: tis-620\n", "ISO-8859-11"),
            ("# coding: utf-8\n", "UTF-8"),
            ("// vim:fenc=latin1\n", "ISO-8859-1"),
        ] {
            assert_eq!(name(text), Some(found), "{text}");
        }
    }

    #[test]
    fn what_is_elsewhere_or_no_encoding_declares_nothing() {
        for text in [
            "x = 1\n# coding: latin-1\n",
            "\n\n# coding: latin-1\n",
            "\"\"\"a\n# coding: latin-1\n",
            "# coding: klingon\n",
            "# coding: utf-16\n",
            "# coding: iso-2022-jp\n",
            "<?xml version='1.0' encoding='UTF-16'?>",
            " @charset \"latin1\";",
            "document.write('<meta charset=\"latin1\">')",
            "<!-- <meta charset=latin1> --><p>",
            "% \\usepackage[latin1]{inputenc}\n",
            "see the coding: of latin1\n",
        ] {
            assert_eq!(name(text), None, "{text}");
        }
        let far = format!("<html>{}<meta charset=latin1>", " ".repeat(HEAD_BYTES));
        assert_eq!(name(&far), None);
        assert_eq!(declared(b"x\n# vim: fenc=latin1\n", false).map(Charset::name), Some("ISO-8859-1"));
        let end = format!("{}# vim: fenc=latin1\n", "x\n".repeat(1000));
        assert!(name(&end).is_some() && declared(end.as_bytes(), false).is_none());
    }

    #[test]
    fn a_smaller_set_lacks_what_only_the_encoding_has() {
        let latin = Charset::of_label("latin-1").unwrap();
        assert!(latin.lacks('€') && !latin.lacks('é') && !latin.lacks('a'));
        assert!(Charset::of_label("us-ascii").unwrap().lacks('é'));
        assert!(!Charset::of_label("cp1252").unwrap().lacks('€'));
    }
}
