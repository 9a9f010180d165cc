//! XML: whether a document is well-formed.
//!
//! Finds the first error. One pass without recursion over <https://www.w3.org/TR/xml/>, without validation: no entity is
//! expanded (so that none can be a bomb), a document type is skipped, and where there is one its entities are taken
//! to be defined. Namespaces are not looked at.

use std::collections::HashSet;

use super::syntax_error::{Findings, SyntaxError, fail, line_of};
use crate::quoted;

/// The first error of a text in XML.
pub fn check(text: &str) -> Findings {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    if text[start..].trim_ascii().is_empty() {
        return Findings::default();
    }
    let (open, attributes) = (Vec::new(), HashSet::new());
    let mut checker = Checker { text, start, at: start, open, has_root: false, has_doctype: false, attributes };
    Findings { error: checker.document().err(), warnings: Vec::new() }
}

struct Checker<'t> {
    text: &'t str,
    /// After a byte-order mark.
    start: usize,
    at: usize,
    /// The elements that are open: their names, and the bytes of their tags.
    open: Vec<(&'t str, usize)>,
    has_root: bool,
    has_doctype: bool,
    /// Names of the attributes of one tag.
    attributes: HashSet<&'t str>,
}

type Checked<T = ()> = Result<T, SyntaxError>;

/// A tag as a message repeats it.
fn tag(open: &str, name: &str) -> String {
    quoted(&format!("{open}{name}>"))
}

impl<'t> Checker<'t> {
    fn document(&mut self) -> Checked {
        while self.at < self.text.len() {
            if self.rest().starts_with('<') {
                self.markup()?;
            } else {
                self.characters()?;
            }
        }
        match self.open.last() {
            Some((name, at)) => {
                let (close, open, line) = (tag("</", name), tag("<", name), line_of(self.text, *at));
                fail(self.at, format!("expected {close}: the {open} of line {line} is not closed"))
            }
            None if !self.has_root => fail(self.at, "expected an element"),
            None => Ok(()),
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Reads a tag, or whatever else begins with `<`.
    fn markup(&mut self) -> Checked {
        let (start, rest) = (self.at, self.rest());
        if self.skip_other()? {
            let content = rest[..self.at - start].strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
            if let Some(at) = content.and_then(|content| content.find("--")) {
                return fail(start + 4 + at, "`--` is not allowed in a comment");
            }
            let target = rest.strip_prefix("<?xml");
            let is_declaration = target.is_some_and(|rest| rest.starts_with([' ', '\t', '\r', '\n']));
            if is_declaration && start != self.start {
                return fail(start, "the XML declaration has to be the first in the file");
            }
            return Ok(());
        }
        if rest.starts_with("<![CDATA[") {
            if self.open.is_empty() {
                return fail(start, "character data outside of the root element");
            }
            return self.skip("<![CDATA[", "]]>", "the CDATA section is not closed");
        }
        if rest.starts_with("<!DOCTYPE") {
            if self.has_root || self.has_doctype {
                return fail(start, "the document type has to come before the root element, once");
            }
            self.has_doctype = true;
            return self.doctype();
        }
        if rest.starts_with("</") { self.end_tag() } else { self.start_tag() }
    }

    /// Skips a comment or a processing instruction, if one begins here.
    fn skip_other(&mut self) -> Checked<bool> {
        if self.rest().starts_with("<!--") {
            self.skip("<!--", "-->", "the comment is not closed")?;
        } else if self.rest().starts_with("<?") {
            self.skip("<?", "?>", "the processing instruction is not closed")?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Skips what begins here with `open` and ends with `close`.
    fn skip(&mut self, open: &str, close: &str, unclosed: &str) -> Checked {
        let inside = self.at + open.len();
        let end = self.text[inside..].find(close).ok_or_else(|| SyntaxError::new(self.at, unclosed))?;
        self.at = inside + end + close.len();
        Ok(())
    }

    fn doctype(&mut self) -> Checked {
        let start = self.at;
        let mut depth = 0;
        while let Some(offset) = self.rest().find(['<', '>', '[', ']', '"', '\'']) {
            self.at += offset;
            let sign = &self.rest()[..1];
            if matches!(sign, "\"" | "'") {
                self.skip(sign, sign, "the quote is not closed")?;
            } else if !self.skip_other()? {
                self.at += 1;
                depth += if matches!(sign, "<" | "[") { 1 } else { -1 };
                if depth == 0 {
                    return Ok(());
                }
            }
        }
        fail(start, "the document type is not closed")
    }

    fn end_tag(&mut self) -> Checked {
        let start = self.at;
        self.at += 2;
        let name = self.name();
        self.skip_space();
        if name.is_empty() || !self.rest().starts_with('>') {
            return fail(start, "expected a name and `>` after `</`");
        }
        self.at += 1;
        let found = tag("</", name);
        match self.open.pop() {
            Some((open, _)) if open == name => Ok(()),
            Some((open, at)) => {
                let (close, opened, line) = (tag("</", open), tag("<", open), line_of(self.text, at));
                fail(start, format!("expected {close} for the {opened} of line {line}, found {found}"))
            }
            None => fail(start, format!("{found} closes nothing")),
        }
    }

    fn start_tag(&mut self) -> Checked {
        let start = self.at;
        self.at += 1;
        let name = self.name();
        if name.is_empty() {
            return fail(start, "`<` begins no tag: write it as `&lt;`");
        }
        if self.open.is_empty() && self.has_root {
            return fail(start, format!("a second root element: {}", tag("<", name)));
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
                return fail(start, format!("the tag {} is not closed", quoted(&format!("<{name}"))));
            }
            self.attribute(has_space)?;
        }
    }

    fn attribute(&mut self, has_space: bool) -> Checked {
        let start = self.at;
        let name = self.name();
        if name.is_empty() {
            return fail(start, "expected an attribute, `>` or `/>`");
        }
        if !has_space {
            return fail(start, "expected a space before the attribute");
        }
        let shown = quoted(name);
        self.skip_space();
        if !self.rest().starts_with('=') {
            return fail(start, format!("attribute {shown} has no value"));
        }
        self.at += 1;
        self.skip_space();
        let (at, inside) = (self.at, self.at + 1);
        let Some(quote) = self.rest().chars().next().filter(|next| matches!(next, '"' | '\'')) else {
            return fail(at, format!("expected quotes around the value of attribute {shown}"));
        };
        let Some(length) = self.text[inside..].find(quote) else {
            return fail(at, format!("the value of attribute {shown} is not closed"));
        };
        let value = &self.text[inside..inside + length];
        if let Some(at) = value.find('<') {
            let message = format!("`<` in the value of attribute {shown}: close the quote, or write `&lt;`");
            return fail(inside + at, message);
        }
        self.text_of(inside, value)?;
        if !self.attributes.insert(name) {
            return fail(start, format!("a second attribute {shown}"));
        }
        self.at = inside + length + 1;
        Ok(())
    }

    /// Text up to the next `<`.
    fn characters(&mut self) -> Checked {
        let rest = self.rest();
        let content = &rest[..rest.find('<').unwrap_or(rest.len())];
        if self.open.is_empty() {
            let blank = content.len() - content.trim_ascii_start().len();
            if blank < content.len() {
                let place = if self.has_root { "after" } else { "before" };
                return fail(self.at + blank, format!("text {place} the root element"));
            }
        }
        self.text_of(self.at, content)?;
        if let Some(at) = content.find("]]>") {
            return fail(self.at + at, "`]]>` is not allowed in text: write it as `]]&gt;`");
        }
        self.at += content.len();
        Ok(())
    }

    /// The references and characters of `content`, which begins at `start`.
    fn text_of(&self, start: usize, content: &str) -> Checked {
        let is_forbidden = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
        if let Some(at) = content.bytes().position(|byte| is_forbidden(&byte)) {
            let message = format!("control character U+{:04X} is not allowed in XML", content.as_bytes()[at]);
            return fail(start + at, message);
        }
        for at in memchr::memchr_iter(b'&', content.as_bytes()) {
            let rest = &content[at + 1..];
            let name = &rest[..rest.find(|letter| !is_name(letter) && letter != '#').unwrap_or(rest.len())];
            let is_closed = rest[name.len()..].starts_with(';');
            let is_known = match name.strip_prefix('#') {
                Some(number) => {
                    let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |digits| (digits, 16));
                    !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))
                }
                None => matches!(name, "amp" | "lt" | "gt" | "quot" | "apos") || self.has_doctype && !name.is_empty(),
            };
            if !is_closed || name.is_empty() {
                return fail(start + at, "`&` begins no reference: write it as `&amp;`");
            }
            if !is_known {
                return fail(start + at, format!("entity {} is not defined", quoted(&format!("&{name};"))));
            }
        }
        Ok(())
    }

    /// Skips the name that begins here; empty if none does.
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
    // The grammar has none between ASCII and U+00B7.
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
            ("<a/>\n x", 6, "text after the root element"),
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
