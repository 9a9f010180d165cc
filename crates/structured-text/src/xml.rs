//! XML: whether a document is well-formed.
//!
//! Finds the first error. One pass without recursion over <https://www.w3.org/TR/xml/>, without validation: no entity is
//! expanded (so that none can be a bomb), a document type is passed over, and where there is one its entities are taken
//! to be defined. Namespaces are not looked at.

use std::collections::HashSet;

use super::syntax_error::{Findings, SyntaxError, line_of};
use crate::quoted;

/// The first error of a text in XML.
pub fn check(text: &str) -> Findings {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    if text[start..].trim_ascii().is_empty() {
        return Findings::default();
    }
    let mut checker = Checker {
        text,
        start,
        at: start,
        open: Vec::new(),
        has_root: false,
        has_doctype: false,
        attributes: HashSet::new(),
    };
    Findings { error: checker.document().err(), warnings: Vec::new() }
}

struct Checker<'t> {
    text: &'t str,
    /// Behind a byte-order mark.
    start: usize,
    at: usize,
    /// The elements that are open: their names, and the bytes of their tags.
    open: Vec<(&'t str, usize)>,
    has_root: bool,
    has_doctype: bool,
    /// Names of the attributes of one tag.
    attributes: HashSet<&'t str>,
}

impl<'t> Checker<'t> {
    fn document(&mut self) -> Result<(), SyntaxError> {
        while self.at < self.text.len() {
            if self.rest().starts_with('<') {
                self.markup()?;
            } else {
                self.characters()?;
            }
        }
        match self.open.last() {
            Some((name, at)) => {
                let line = line_of(self.text, *at);
                let (close, open) = (quoted(&format!("</{name}>")), quoted(&format!("<{name}>")));
                Err(SyntaxError::new(self.at, format!("expected {close}: the {open} of line {line} is not closed")))
            }
            None if !self.has_root => Err(SyntaxError::new(self.at, "expected an element")),
            None => Ok(()),
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// What begins with `<`.
    fn markup(&mut self) -> Result<(), SyntaxError> {
        let (start, rest) = (self.at, self.rest());
        if rest.starts_with("<!--") {
            self.pass("<!--", "-->", "the comment is not closed")?;
            let content = &self.text[start + 4..self.at - 3];
            if let Some(at) = content.find("--") {
                return Err(SyntaxError::new(start + 4 + at, "`--` is not allowed in a comment"));
            }
            return Ok(());
        }
        if rest.starts_with("<?") {
            let target = rest.strip_prefix("<?xml");
            let is_declaration = target.is_some_and(|rest| rest.starts_with([' ', '\t', '\r', '\n']));
            if is_declaration && start != self.start {
                return Err(SyntaxError::new(start, "the XML declaration has to be the first in the file"));
            }
            return self.pass("<?", "?>", "the processing instruction is not closed");
        }
        if rest.starts_with("<![CDATA[") {
            if self.open.is_empty() {
                return Err(SyntaxError::new(start, "character data outside of the root element"));
            }
            return self.pass("<![CDATA[", "]]>", "the CDATA section is not closed");
        }
        if rest.starts_with("<!DOCTYPE") {
            if self.has_root || self.has_doctype {
                return Err(SyntaxError::new(start, "the document type has to come before the root element, once"));
            }
            self.has_doctype = true;
            return self.doctype();
        }
        if rest.starts_with("</") { self.end_tag() } else { self.start_tag() }
    }

    /// Passes over what begins here with `open` and ends with `close`.
    fn pass(&mut self, open: &str, close: &str, unclosed: &str) -> Result<(), SyntaxError> {
        let inside = self.at + open.len();
        let end = self.text[inside..].find(close).ok_or_else(|| SyntaxError::new(self.at, unclosed))?;
        self.at = inside + end + close.len();
        Ok(())
    }

    fn doctype(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let mut depth = 0;
        while let Some(offset) = self.rest().find(['<', '>', '[', ']', '"', '\'']) {
            self.at += offset;
            let rest = self.rest();
            if rest.starts_with("<!--") {
                self.pass("<!--", "-->", "the comment is not closed")?;
            } else if rest.starts_with("<?") {
                self.pass("<?", "?>", "the processing instruction is not closed")?;
            } else if let Some(quote) = rest.get(..1).filter(|sign| matches!(*sign, "\"" | "'")) {
                self.pass(quote, quote, "the quote is not closed")?;
            } else {
                self.at += 1;
                match rest.as_bytes()[0] {
                    b'<' | b'[' => depth += 1,
                    _ => depth -= 1,
                }
                if depth == 0 {
                    return Ok(());
                }
            }
        }
        Err(SyntaxError::new(start, "the document type is not closed"))
    }

    fn end_tag(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        self.at += 2;
        let name = self.name();
        self.skip_space();
        if name.is_empty() || !self.rest().starts_with('>') {
            return Err(SyntaxError::new(start, "expected a name and `>` behind `</`"));
        }
        self.at += 1;
        let found = || quoted(&format!("</{name}>"));
        match self.open.pop() {
            Some((open, _)) if open == name => Ok(()),
            Some((open, at)) => {
                let (close, opened) = (quoted(&format!("</{open}>")), quoted(&format!("<{open}>")));
                let line = line_of(self.text, at);
                Err(SyntaxError::new(
                    start,
                    format!("expected {close} for the {opened} of line {line}, found {}", found()),
                ))
            }
            None => Err(SyntaxError::new(start, format!("{} closes nothing", found()))),
        }
    }

    fn start_tag(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        self.at += 1;
        let name = self.name();
        if name.is_empty() {
            return Err(SyntaxError::new(start, "`<` begins no tag: write it as `&lt;`"));
        }
        if self.open.is_empty() && self.has_root {
            return Err(SyntaxError::new(start, format!("a second root element: {}", quoted(&format!("<{name}>")))));
        }
        self.has_root = true;
        self.attributes.clear();
        loop {
            let has_space = self.skip_space();
            let rest = self.rest();
            if rest.starts_with('>') {
                self.at += 1;
                self.open.push((name, start));
                return Ok(());
            }
            if rest.starts_with("/>") {
                self.at += 2;
                return Ok(());
            }
            if rest.is_empty() || rest.starts_with('<') {
                return Err(SyntaxError::new(start, format!("the tag {} is not closed", quoted(&format!("<{name}")))));
            }
            self.attribute(has_space)?;
        }
    }

    fn attribute(&mut self, has_space: bool) -> Result<(), SyntaxError> {
        let start = self.at;
        let name = self.name();
        if name.is_empty() {
            return Err(SyntaxError::new(start, "expected an attribute, `>` or `/>`"));
        }
        if !has_space {
            return Err(SyntaxError::new(start, "expected a space before the attribute"));
        }
        self.skip_space();
        if !self.rest().starts_with('=') {
            return Err(SyntaxError::new(start, format!("attribute {} has no value", quoted(name))));
        }
        self.at += 1;
        self.skip_space();
        let Some(quote) = self.rest().chars().next().filter(|next| matches!(next, '"' | '\'')) else {
            return Err(SyntaxError::new(
                self.at,
                format!("expected quotes around the value of attribute {}", quoted(name)),
            ));
        };
        let inside = self.at + 1;
        let Some(length) = self.text[inside..].find(quote) else {
            return Err(SyntaxError::new(self.at, format!("the value of attribute {} is not closed", quoted(name))));
        };
        let value = &self.text[inside..inside + length];
        if let Some(at) = value.find('<') {
            let message = format!("`<` in the value of attribute {}: close the quote, or write `&lt;`", quoted(name));
            return Err(SyntaxError::new(inside + at, message));
        }
        self.text_of(inside, value)?;
        if !self.attributes.insert(name) {
            return Err(SyntaxError::new(start, format!("a second attribute {}", quoted(name))));
        }
        self.at = inside + length + 1;
        Ok(())
    }

    /// Text up to the next `<`.
    fn characters(&mut self) -> Result<(), SyntaxError> {
        let rest = self.rest();
        let content = &rest[..rest.find('<').unwrap_or(rest.len())];
        if self.open.is_empty() {
            let blank = content.len() - content.trim_ascii_start().len();
            if blank < content.len() {
                let place = if self.has_root { "behind" } else { "before" };
                return Err(SyntaxError::new(self.at + blank, format!("text {place} the root element")));
            }
        }
        self.text_of(self.at, content)?;
        if let Some(at) = content.find("]]>") {
            return Err(SyntaxError::new(self.at + at, "`]]>` is not allowed in text: write it as `]]&gt;`"));
        }
        self.at += content.len();
        Ok(())
    }

    /// The references and characters of `content`, which begins at `start`.
    fn text_of(&self, start: usize, content: &str) -> Result<(), SyntaxError> {
        let is_forbidden = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
        if let Some(at) = content.bytes().position(|byte| is_forbidden(&byte)) {
            let message = format!("control character U+{:04X} is not allowed in XML", content.as_bytes()[at]);
            return Err(SyntaxError::new(start + at, message));
        }
        for at in memchr::memchr_iter(b'&', content.as_bytes()) {
            let rest = &content[at + 1..];
            let name = &rest[..rest.find(|letter| !is_name(letter) && letter != '#').unwrap_or(rest.len())];
            let is_closed = rest[name.len()..].starts_with(';');
            let is_known = match name.strip_prefix('#') {
                Some(number) => number.strip_prefix('x').map_or_else(
                    || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()),
                    |hex| !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
                ),
                None => matches!(name, "amp" | "lt" | "gt" | "quot" | "apos") || self.has_doctype && !name.is_empty(),
            };
            if !is_closed || name.is_empty() {
                return Err(SyntaxError::new(start + at, "`&` begins no reference: write it as `&amp;`"));
            }
            if !is_known {
                let message = format!("entity {} is not defined", quoted(&format!("&{name};")));
                return Err(SyntaxError::new(start + at, message));
            }
        }
        Ok(())
    }

    /// The name that begins here, passed over; empty if none does.
    fn name(&mut self) -> &'t str {
        let rest = self.rest();
        if rest.starts_with(|first: char| !is_name(first) || first.is_ascii_digit() || matches!(first, '-' | '.')) {
            return "";
        }
        let name = &rest[..rest.find(|letter| !is_name(letter)).unwrap_or(rest.len())];
        self.at += name.len();
        name
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.at += length;
        length > 0
    }
}

/// Whether a character may be in a name; of those beyond ASCII nearly all may.
fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_:-.".contains(letter) || letter > '\u{b6}'
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_valid;
    use super::*;

    #[test]
    fn valid_texts_pass() {
        assert_valid(
            check,
            [
                "",
                "<a/>",
                "\u{feff}<?xml version=\"1.0\"?>\r\n<!-- - -->\n<a b='\"' c=\"&lt;&#10;&#x1F;>\"/>\n<?pi x > y?>\n",
                "<a>1 > 0 ]] &amp;<![CDATA[ <b> & ]] ]]><b:c xmlns:b=\"x\"/></a >",
                "<!DOCTYPE a [<!ENTITY e \"]>'\"> <!-- ' --> <?p ]> ?>]>\n<a>&e;&nbsp;</a>",
                "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" 'http://x/y.dtd'><plist/>",
                "<\u{e9}l\u{e9}ment a-b.c_d=''></\u{e9}l\u{e9}ment>",
            ],
        );
    }

    #[test]
    fn first_error_is_named_at_its_place() {
        for (text, at, message) in [
            ("<a>\n<b></a>", 7, "expected `</b>` for the `<b>` of line 2, found `</a>`"),
            ("<a>\n<b>", 7, "expected `</b>`: the `<b>` of line 2 is not closed"),
            ("<a/></a>", 4, "`</a>` closes nothing"),
            ("<a/><b/>", 4, "a second root element: `<b>`"),
            ("<a b=1/>", 5, "expected quotes around the value of attribute `b`"),
            ("<a b/>", 3, "attribute `b` has no value"),
            ("<a b='1' b='2'/>", 9, "a second attribute `b`"),
            ("<a b='1'c='2'/>", 8, "expected a space before the attribute"),
            ("<a b='<c/>'/>", 6, "`<` in the value of attribute `b`: close the quote, or write `&lt;`"),
            ("<a b='1/>", 5, "the value of attribute `b` is not closed"),
            ("<a ,/>", 3, "expected an attribute, `>` or `/>`"),
            ("<a <b/>", 0, "the tag `<a` is not closed"),
            ("<a>x < y</a>", 5, "`<` begins no tag: write it as `&lt;`"),
            ("<a>x & y</a>", 5, "`&` begins no reference: write it as `&amp;`"),
            ("<a>&nbsp;</a>", 3, "entity `&nbsp;` is not defined"),
            ("<a>]]></a>", 3, "`]]>` is not allowed in text: write it as `]]&gt;`"),
            ("<a><!-- -- --></a>", 8, "`--` is not allowed in a comment"),
            ("<a><!-- </a>", 3, "the comment is not closed"),
            ("<a><![CDATA[ </a>", 3, "the CDATA section is not closed"),
            ("x<a/>", 0, "text before the root element"),
            ("<a/>\n x", 6, "text behind the root element"),
            ("\n<?xml version='1.0'?><a/>", 1, "the XML declaration has to be the first in the file"),
            ("<!-- x -->", 10, "expected an element"),
            ("<!DOCTYPE a [<a/>", 0, "the document type is not closed"),
            ("<a>\u{1}</a>", 3, "control character U+0001 is not allowed in XML"),
        ] {
            assert_eq!(check(text).error, Some(SyntaxError::new(at, message)), "{text:?}");
        }
    }

    #[test]
    fn hostile_texts_end_soon() {
        let entities: Vec<String> = (1..40).map(|n| format!("<!ENTITY e{n} '&e{0};&e{0};'>", n - 1)).collect();
        for text in [
            format!("<!DOCTYPE a [<!ENTITY e0 'x'>{}]><a>&e39;</a>", entities.concat()),
            "<a>".repeat(300_000),
            "<a b='".repeat(100_000),
            "<!DOCTYPE a [".to_owned() + &"<".repeat(300_000),
            "<a ".to_owned() + &(0..50_000).map(|n| format!("a{n}='' ")).collect::<Vec<_>>().concat(),
            "&".repeat(300_000),
            "<!--".repeat(100_000),
        ] {
            check(&text);
        }
    }
}
