//! XML: whether a document is well-formed.
//!
//! Finds the first error. `quick-xml` finds the parts of a document, without recursion; here is what it leaves to others
//! of <https://www.w3.org/TR/xml/>: one root, names, attributes, references. No entity is expanded (so that none can be
//! a bomb), and where there is a document type its entities are taken to be defined. Namespaces are not looked at.

use quick_xml::{
    Error, Reader,
    errors::{IllFormedError, SyntaxError as Part},
    escape::resolve_predefined_entity,
    events::{
        Event,
        attributes::{AttrError, Attribute, Attributes},
    },
    name::QName,
};

use super::syntax_error::{Findings, SyntaxError, fail, line_of};
use crate::quoted;

/// The first error of a text in XML.
pub fn check(text: &str) -> Findings {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    if text[start..].trim_ascii().is_empty() {
        return Findings::default();
    }
    let mut checker = Checker { text, start, open: Vec::new(), has_root: false, has_doctype: false };
    Findings { error: checker.document().err(), warnings: Vec::new() }
}

const NO_TAG: &str = "`<` begins no tag: write it as `&lt;`";
const NO_END_TAG: &str = "expected a name and `>` after `</`";

struct Checker<'t> {
    text: &'t str,
    start: usize,
    /// The elements that are open: their names, and the bytes of their tags.
    open: Vec<(&'t str, usize)>,
    has_root: bool,
    has_doctype: bool,
}

type Checked<T = ()> = Result<T, SyntaxError>;

fn tag(open: &str, name: &str) -> String {
    quoted(&format!("{open}{name}>"))
}

impl<'t> Checker<'t> {
    fn document(&mut self) -> Checked {
        let document = &self.text[self.start..];
        if document.starts_with('\u{feff}') {
            // The reader would take away a second mark, too, and what it reads would not be at `at`.
            return self.characters(self.start, "\u{feff}");
        }
        let mut reader = Reader::from_str(document);
        // A message names the line of the other tag.
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_unmatched_ends = true;
        loop {
            let at = self.text.len() - reader.get_ref().len();
            match reader.read_event() {
                Ok(Event::Start(tag)) => self.start_tag(at, &tag).map(|name| self.open.push((name, at))),
                Ok(Event::Empty(tag)) => self.start_tag(at, &tag).map(drop),
                Ok(Event::End(tag)) => self.end_tag(at, &tag),
                Ok(Event::Text(content)) => self.characters(at, &content),
                Ok(Event::GeneralRef(_)) | Err(Error::IllFormed(IllFormedError::UnclosedReference)) => {
                    self.inside_of_root(at).and_then(|()| self.reference(at))
                }
                Ok(Event::CData(_)) if self.open.is_empty() => fail(at, "character data outside of the root element"),
                Ok(Event::Comment(content)) => without(at + 4, content.find("--"), "`--` is not allowed in a comment"),
                Ok(Event::Decl(_)) if at != self.start => {
                    fail(at, "the XML declaration has to be the first in the file")
                }
                Ok(Event::DocType(_)) if !self.text[at..].starts_with("<!DOCTYPE") => fail(at, NO_TAG),
                Ok(Event::DocType(_)) if self.has_root || self.has_doctype => {
                    fail(at, "the document type has to come before the root element, once")
                }
                Ok(Event::DocType(_)) => {
                    self.has_doctype = true;
                    Ok(())
                }
                Ok(Event::Eof) => return self.end(),
                Err(Error::Syntax(part)) => self.unclosed(at, part),
                _ => Ok(()),
            }?;
        }
    }

    fn end(&self) -> Checked {
        let at = self.text.len();
        match self.open.last() {
            Some((name, opened_at)) => {
                let (close, open, line) = (tag("</", name), tag("<", name), line_of(self.text, *opened_at));
                fail(at, format!("expected {close}: the {open} of line {line} is not closed"))
            }
            None if !self.has_root => fail(at, "expected an element"),
            None => Ok(()),
        }
    }

    /// The error for the part at `at`, which has no end.
    fn unclosed(&mut self, at: usize, part: Part) -> Checked {
        let what = match part {
            Part::UnclosedComment => "comment",
            Part::UnclosedCData => "CDATA section",
            Part::UnclosedPI | Part::UnclosedXmlDecl => "processing instruction",
            Part::UnclosedDoctype => "document type",
            Part::InvalidBangMarkup => return fail(at, NO_TAG),
            _ if self.text[at..].starts_with("</") => return fail(at, NO_END_TAG),
            _ => return self.start_tag(at, &self.text[at + 1..]).and_then(|name| fail(at, not_closed(name))),
        };
        fail(at, format!("the {what} is not closed"))
    }

    fn end_tag(&mut self, at: usize, name: &str) -> Checked {
        if name.is_empty() || name_of(name) != name {
            return fail(at, NO_END_TAG);
        }
        let found = tag("</", name);
        match self.open.pop() {
            Some((open, _)) if open == name => Ok(()),
            Some((open, opened_at)) => {
                let (close, opened, line) = (tag("</", open), tag("<", open), line_of(self.text, opened_at));
                fail(at, format!("expected {close} for the {opened} of line {line}, found {found}"))
            }
            None => fail(at, format!("{found} closes nothing")),
        }
    }

    /// The name of the tag at `at`, whose `content` is between its angle brackets.
    fn start_tag(&mut self, at: usize, content: &str) -> Checked<&'t str> {
        let name = name_of(&self.text[at + 1..]);
        if name.is_empty() {
            return fail(at, NO_TAG);
        }
        if self.open.is_empty() && self.has_root {
            return fail(at, format!("a second root element: {}", tag("<", name)));
        }
        self.has_root = true;
        // Where the attribute before ends.
        let mut end = name.len();
        for attribute in Attributes::new(content, end) {
            let start = content.len() - content[end..].trim_start_matches([' ', '\t', '\n', '\r']).len();
            let rest = &content[start..];
            let quote = start + rest.find(['"', '\'']).unwrap_or_default();
            let (key, shown) = (name_of(rest), quoted(name_of(rest)));
            let (place, message) = match attribute {
                _ if rest.starts_with('<') => return fail(at, not_closed(name)),
                _ if key.is_empty() => (start, "expected an attribute, `>` or `/>`".to_owned()),
                _ if start == end => (start, "expected a space before the attribute".to_owned()),
                Ok(Attribute { key: QName(whole), value }) if whole == key => {
                    self.value(at + 1 + quote + 1, &value, &shown)?;
                    end = quote + 1 + value.len() + 1;
                    continue;
                }
                Err(AttrError::ExpectedValue(place) | AttrError::UnquotedValue(place)) => {
                    (place, format!("expected quotes around the value of attribute {shown}"))
                }
                Err(AttrError::ExpectedQuote(..)) => (quote, format!("the value of attribute {shown} is not closed")),
                Err(AttrError::Duplicated(..)) => (start, format!("a second attribute {shown}")),
                _ => (start, format!("attribute {shown} has no value")),
            };
            return fail(at + 1 + place, message);
        }
        Ok(name)
    }

    fn value(&self, at: usize, value: &str, shown: &str) -> Checked {
        if let Some(found) = value.find('<') {
            let message = format!("`<` in the value of attribute {shown}: close the quote, or write `&lt;`");
            return fail(at + found, message);
        }
        no_control(at, value)?;
        memchr::memchr_iter(b'&', value.as_bytes()).try_for_each(|found| self.reference(at + found))
    }

    fn characters(&self, at: usize, content: &str) -> Checked {
        let blank = content.len() - content.trim_ascii_start().len();
        if blank < content.len() {
            self.inside_of_root(at + blank)?;
        }
        no_control(at, content)?;
        without(at, content.find("]]>"), "`]]>` is not allowed in text: write it as `]]&gt;`")
    }

    fn inside_of_root(&self, at: usize) -> Checked {
        let place = if self.has_root { "after" } else { "before" };
        if self.open.is_empty() { fail(at, format!("text {place} the root element")) } else { Ok(()) }
    }

    fn reference(&self, at: usize) -> Checked {
        let rest = &self.text[at + 1..];
        let name = &rest[..rest.find(|letter| !is_name(letter) && letter != '#').unwrap_or(rest.len())];
        let is_known = match name.strip_prefix('#') {
            Some(number) => {
                let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |digits| (digits, 16));
                !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))
            }
            None => self.has_doctype || resolve_predefined_entity(name).is_some(),
        };
        if name.is_empty() || !rest[name.len()..].starts_with(';') {
            return fail(at, "`&` begins no reference: write it as `&amp;`");
        }
        if is_known { Ok(()) } else { fail(at, format!("entity {} is not defined", quoted(&format!("&{name};")))) }
    }
}

fn not_closed(name: &str) -> String {
    format!("the tag {} is not closed", quoted(&format!("<{name}")))
}

fn without(at: usize, found: Option<usize>, message: &str) -> Checked {
    found.map_or(Ok(()), |found| fail(at + found, message))
}

fn no_control(at: usize, content: &str) -> Checked {
    let found = content.bytes().enumerate().find(|(_, byte)| *byte < 0x20 && !b"\t\n\r".contains(byte));
    found.map_or(Ok(()), |(found, byte)| {
        fail(at + found, format!("control character U+{byte:04X} is not allowed in XML"))
    })
}

/// The name that `text` begins with; empty if with none.
fn name_of(text: &str) -> &str {
    if text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '.')) {
        return "";
    }
    &text[..text.find(|letter| !is_name(letter)).unwrap_or(text.len())]
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
            ("\u{feff}\u{feff}<%", 3, "text before the root element"),
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
