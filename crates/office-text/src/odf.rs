//! `OpenDocument`: the kind of a document, its styles, and what texts and slides say. ODF 1.3 part 3.
//!
//! The whole text is in one part, `content.xml`; the styles that have names are in `styles.xml`.

use std::{collections::HashMap, mem};

use crate::{
    OfficeError,
    budget::Result,
    equation::equation,
    flow::{Flow, Table},
    package::{OfficeKind, Package},
    story::{Slide, slide_of, text_of},
    styles::{HIDDEN_MARK, Level, Levels, List, MAX_LABEL, MAX_LEVELS, Numbers, Style, Styles, by},
    xml::{Node, Tag, Xml},
};

pub(crate) const CONTENT_PART: &str = "content.xml";

/// Bytes of the description of an image, and of the name of an author.
const MAX_FIELD: usize = 64 << 10;

/// Marks of changes, and of text that is hidden, which are open at once.
const MAX_MARKS: usize = 100;

/// Spaces that one element may add.
pub(crate) const MAX_SPACES: usize = 1000;

/// The kind of an element that is on each page of a text, or on the left ones or the first.
fn header_kind(name: &str) -> Option<&'static str> {
    let is_of = |kind: &&str| name.strip_prefix(*kind).is_some_and(|pages| matches!(pages, "" | "-left" | "-first"));
    ["header", "footer"].into_iter().find(is_of)
}

/// Frames of a slide whose text is the same on each.
const LEFT_OUT: [&str; 4] = ["page-number", "date-time", "header", "page"];

/// Characters of the name of an image.
const MAX_NAME: usize = 300;

pub(crate) struct Odf {
    pub(crate) kind: OfficeKind,
    pub(crate) styles: Styles,
    /// Names of sheets or slides, and whether they are hidden; of a formula its text.
    pub(crate) items: Vec<(String, bool)>,
}

impl Odf {
    /// Reads what is known before the text; `None` for a file in another format.
    pub(crate) fn open(package: &Package<'_>) -> Result<Option<Self>> {
        let (mut is_odf, mut is_encrypted) = (false, false);
        package.tags("META-INF/manifest.xml", &mut |tag| {
            is_odf |= tag.text("media-type").starts_with("application/vnd.oasis.opendocument.");
            is_encrypted |= tag.name() == "encryption-data";
        })?;
        if is_encrypted {
            return Err(OfficeError::Password);
        }
        if !is_odf {
            return Ok(None);
        }
        let (mut styles, mut open) = (Styles::default(), (String::new(), String::new()));
        package.tags("styles.xml", &mut |tag| read_style(package, tag, &mut styles, &mut open))?;
        let (mut xml, mut is_body) = (package.required_xml(CONTENT_PART)?, false);
        while let Some(node) = xml.next()? {
            let Node::Start(tag) = node else { continue };
            let (kind, item, family) = match tag.name() {
                "text" if is_body => return Ok(Some(Self { kind: OfficeKind::Text, styles, items: Vec::new() })),
                "spreadsheet" if is_body => (OfficeKind::Workbook, "table", "table"),
                "presentation" if is_body => (OfficeKind::Presentation, "page", "drawing-page"),
                _ if is_body => break,
                "math" => {
                    let items = vec![(equation(&mut xml, package.budget)?, false)];
                    return Ok(Some(Self { kind: OfficeKind::Text, styles, items }));
                }
                name => {
                    is_body = name == "body";
                    package.budget.hold(tag.0.len())?;
                    read_style(package, &tag, &mut styles, &mut open);
                    continue;
                }
            };
            let (mut items, mut held) = (Vec::new(), Ok(()));
            find_item(&mut xml, item, |tag| {
                if held.is_ok() {
                    let style = styles.named.get(&format!("{family} {}", tag.text("style-name")));
                    items.push((tag.text("name"), style.and_then(|style| style.is_hidden).unwrap_or_default()));
                    held = package.budget.hold(tag.0.len());
                }
                false
            })?;
            held?;
            return Ok(Some(Self { kind, styles, items }));
        }
        Err(OfficeError::Format("an OpenDocument drawing, chart or formula", ".pdf"))
    }

    /// The paragraphs of a text; of a formula it is one.
    pub(crate) fn paragraphs(&self, package: &Package<'_>, mut flow: Flow<'_>) -> Result<()> {
        if let Some((equation, _)) = self.items.first() {
            flow.push(equation);
            flow.end_paragraph(None, "");
            return Ok(());
        }
        Reader::new(self, package, flow).read(&mut package.required_xml(CONTENT_PART)?)
    }

    pub(crate) fn headers(&self, package: &Package<'_>) -> Result<Vec<(&'static str, String)>> {
        let mut found = Vec::new();
        let Some(mut xml) = package.xml("styles.xml")?.filter(|_| self.items.is_empty()) else { return Ok(found) };
        while let Some(node) = xml.next()? {
            let Node::Start(tag) = node else { continue };
            let Some(kind) = header_kind(tag.name()) else { continue };
            found.push((kind, text_of(package, |flow| Reader::new(self, package, flow).read(&mut xml))?));
        }
        Ok(found)
    }

    /// A slide, which counts from 0, and its notes.
    pub(crate) fn slide(&self, package: &Package<'_>, at: usize) -> Result<Slide> {
        let (xml, hidden) = (item(package, "page", at)?, self.items[at].1);
        slide_of(|flow| {
            let mut reader = Reader::new(self, package, flow);
            xml.map_or(Ok(()), |mut xml| reader.read(&mut xml))?;
            let cut = reader.flow.release();
            Ok(Slide { hidden, cut, ..reader.at.slide })
        })
    }
}

/// Goes to the first element of this name that is wanted, a sheet or a slide; false where there is none that has content.
pub(crate) fn find_item(xml: &mut Xml<'_>, name: &str, mut is_wanted: impl FnMut(&Tag<'_>) -> bool) -> Result<bool> {
    while let Some(node) = xml.next()? {
        if let Node::Start(tag) = node
            && tag.name() == name
        {
            let prefix = tag.full_name().to_owned();
            return Ok(is_wanted(&tag) || xml.skip_to(&prefix, |tag| tag.name() == name && is_wanted(tag))?);
        }
    }
    Ok(false)
}

/// The content of the sheet or the slide at this place, which counts from 0; `None` where it is empty.
pub(crate) fn item<'p>(package: &'p Package<'_>, name: &str, mut at: usize) -> Result<Option<Xml<'p>>> {
    let mut xml = package.required_xml(CONTENT_PART)?;
    let is_found = find_item(&mut xml, name, |_| {
        at = at.wrapping_sub(1);
        at == usize::MAX
    })?;
    Ok(is_found.then_some(xml))
}

/// Reads a style, a list or what they have; `open` is the style and the list that have begun. Styles of several families
/// may have the same name.
fn read_style(package: &Package<'_>, tag: &Tag<'_>, styles: &mut Styles, open: &mut (String, String)) {
    let levels = styles.lists.get_mut(&open.1).map(|list| &mut list.1);
    let level = levels.and_then(|levels| levels.get_mut(tag.number::<usize>("level")?.wrapping_sub(1)));
    match (tag.name(), level) {
        ("style", _) => {
            let family = tag.text("family");
            open.0 = format!("{family} {}", tag.id("name"));
            let based_on = format!("{family} {}", tag.id("parent-style-name"));
            let outline = (open.0 == "paragraph Title").then_some(0);
            styles.named.insert(open.0.clone(), Style { based_on, outline, ..Style::default() });
        }
        // The numbers of headings are those of a list without a name.
        (name @ ("list-style" | "outline-style"), _) => {
            let (id, format) = if name == "list-style" { (tag.id("name"), "bullet") } else { (String::new(), "none") };
            open.1.clone_from(&id);
            let levels: Levels = std::array::from_fn(|_| Level { format: format.to_owned(), ..Level::default() });
            // A list costs more than its tags say. The next read fails where this does.
            let _ = package.budget.hold(mem::size_of::<Levels>() + MAX_LEVELS * format.len());
            styles.lists.insert(id.clone(), (id, levels));
        }
        ("list-level-style-number" | "outline-level-style", Some(level)) => {
            let format = match tag.text("num-format").as_str() {
                "" => "none",
                "a" => "lowerLetter",
                "A" => "upperLetter",
                "i" => "lowerRoman",
                "I" => "upperRoman",
                format if format.starts_with("01") => "decimalZero",
                _ => "decimal",
            };
            let last = tag.number::<usize>("level").unwrap_or(1);
            let first = last.saturating_sub(tag.number("display-levels").unwrap_or(1)) + 1;
            let numbers: Vec<String> = (first..=last).map(|level| format!("%{level}")).collect();
            let text = tag.text("num-prefix") + &numbers.join(".") + &tag.text("num-suffix");
            let text = (format != "none").then(|| text.chars().take(MAX_LABEL).collect());
            *level = Level { start: tag.number("start-value"), format: format.to_owned(), text, ..Level::default() };
        }
        (name, _) if name.ends_with("-properties") => {
            let shown = tag.text("display") + &tag.text("visibility");
            if let Some(style) = styles.named.get_mut(&open.0).filter(|_| !shown.is_empty()) {
                style.is_hidden = Some(matches!(shown.as_str(), "none" | "false" | "hidden"));
            }
            // `super 58%`, or by how many per cent it is raised: 20.384.
            let position = tag.text("text-position");
            if let (Some(place), Some(style)) =
                (position.split(' ').next().filter(|place| !place.is_empty()), styles.named.get_mut(&open.0))
            {
                let by = place.trim_end_matches('%').parse::<f64>().unwrap_or_default();
                style.script = Some(match place {
                    "super" => '^',
                    "sub" => '_',
                    _ if by > 0.0 => '^',
                    _ if by < 0.0 => '_',
                    _ => ' ',
                });
            }
        }
        _ => {}
    }
}

/// White space as single spaces, and none after another one: 6.1.2. `is_white` says so of what is before the text.
pub(crate) fn collapsed(text: &str, is_white: &mut bool) -> String {
    let shown = |sign: char| {
        let is_blank = matches!(sign, ' ' | '\t' | '\n' | '\r');
        let is_second = mem::replace(is_white, is_blank) && is_blank;
        (!is_second).then_some(if is_blank { ' ' } else { sign })
    };
    text.chars().filter_map(shown).collect()
}

#[derive(Default)]
struct Open {
    heading: Option<u8>,
    prefix: String,
    is_white: bool,
    /// Whether it is in a shape or a box within another one, which it follows.
    is_within: bool,
}

/// A frame or a shape: what it shows, and what its author says of it.
#[derive(Default)]
struct Frame {
    image: Option<String>,
    is_object: bool,
    equation: Option<String>,
    has_table: bool,
    is_title: bool,
    alt: String,
}

#[derive(Default)]
struct Position<'d> {
    /// `None` is where a cell, a note or another text within a paragraph begins.
    paragraphs: Vec<Option<Open>>,
    lists: Vec<Option<(&'d String, &'d List)>>,
    is_item: bool,
    numbers: Numbers,
    frame: Frame,
    /// Enclosing frames, outermost first.
    frames: Vec<Frame>,
    cells: Vec<usize>,
    hidden: Vec<bool>,
    scripts: Vec<Option<char>>,
    /// The text of an element that is not shown as it is, and the author that it named.
    field: Option<String>,
    author: String,
    note: String,
    /// The identifier and the kind of the change that is read; marks and texts of those that were.
    change: (String, &'static str),
    changes: HashMap<String, (String, String)>,
    slide: Slide,
}

struct Reader<'d, 't> {
    odf: &'d Odf,
    package: &'d Package<'d>,
    flow: Flow<'t>,
    at: Position<'d>,
}

impl<'d, 't> Reader<'d, 't> {
    fn new(odf: &'d Odf, package: &'d Package<'d>, flow: Flow<'t>) -> Self {
        Self { odf, package, flow, at: Position::default() }
    }

    /// Reads to the end of the part or the slide, or until what takes the paragraphs wants no more.
    fn read(&mut self, xml: &mut Xml<'_>) -> Result<()> {
        let is_slide = self.odf.kind == OfficeKind::Presentation;
        while !self.flow.is_done {
            match xml.next()? {
                Some(Node::Start(tag)) => match tag.name() {
                    // Numbers as text, how Japanese is pronounced, programs, and fields of forms.
                    "note-citation" | "number" | "ruby-text" | "script" | "forms" | "binary-data" => xml.skip()?,
                    "object" => {
                        self.at.frame.is_object = true;
                        self.at.frame.equation = self.package.formula(&tag.text("href"))?;
                    }
                    "math" => self.at.frame.equation = Some(equation(xml, self.package.budget)?),
                    // Of a slide.
                    "annotation" if !self.is_in_paragraph() => xml.skip()?,
                    "frame" | "custom-shape" if is_slide && LEFT_OUT.contains(&tag.text("class").as_str()) => {
                        xml.skip()?;
                    }
                    _ => self.start(&tag),
                },
                Some(Node::End(tag)) => match tag.local_name().into_inner() {
                    "page" => break,
                    name if self.odf.kind == OfficeKind::Text && header_kind(name).is_some() => break,
                    name => self.end(name)?,
                },
                Some(Node::Text(text)) => match (&mut self.at.field, self.at.paragraphs.last_mut()) {
                    (Some(field), _) if field.len() + text.len() <= MAX_FIELD => field.push_str(&text),
                    (None, Some(Some(open))) => self.flow.push_text(&collapsed(&text, &mut open.is_white)),
                    _ => {}
                },
                None => break,
            }
        }
        Ok(())
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag.name() {
            name @ ("p" | "h") => self.start_paragraph(tag, name == "h"),
            "span" => {
                self.hide(self.is_hidden("text", tag));
                let outer = self.at.scripts.last().copied().flatten();
                let script = self.odf.styles.script(format!("text {}", tag.text("style-name")), outer);
                self.at.scripts.push(script);
                self.flow.set_script(script);
            }
            "section" => self.hide(tag.text("display") == "none"),
            "s" => {
                let spaces = " ".repeat(tag.number("c").unwrap_or(1).min(MAX_SPACES));
                // Work as well. The next read fails where this does.
                let _ = self.package.budget.inflate(spaces.len());
                self.push(&spaces);
            }
            "tab" => self.push("\t"),
            "line-break" => self.push("\n"),
            "list" => self.start_list(tag),
            "list-header" => self.at.is_item = false,
            "list-item" => {
                self.at.is_item = true;
                if let (Some(start), Some(Some((id, _)))) = (tag.number::<u32>("start-value"), self.at.lists.last()) {
                    let level = self.at.lists.len().min(MAX_LEVELS) - 1;
                    self.at.numbers.last.entry((*id).clone()).or_default()[level] = start.checked_sub(1);
                }
            }
            "note" => {
                self.at.note = self.flow.reference(&tag.text("note-class"));
                self.push("");
            }
            "note-body" | "annotation" => self.begin(' '),
            "changed-region" => {
                self.at.change.0 = tag.text("id");
                self.begin('\n');
            }
            "insertion" => self.at.change.1 = "inserted",
            "deletion" => self.at.change.1 = "deleted",
            "format-change" => self.at.change.1 = "",
            "change" | "change-start" | "change-end" => self.change(tag),
            "table" => {
                self.flow.tables.push(Table::default());
                self.at.frame.has_table = true;
            }
            "table-cell" | "covered-table-cell" => {
                self.at.cells.push(tag.number("number-columns-repeated").unwrap_or(1));
                self.begin('\n');
            }
            "frame" | "custom-shape" => {
                let is_slide = self.odf.kind == OfficeKind::Presentation;
                let is_title = is_slide && tag.text("class") == "title" && self.at.slide.title.is_none();
                self.at.frames.push(mem::replace(&mut self.at.frame, Frame { is_title, ..Frame::default() }));
                if is_title {
                    self.begin(' ');
                }
            }
            "image" => {
                self.at.frame.image = Some(tag.text("href").trim_start_matches("./").chars().take(MAX_NAME).collect());
            }
            // Fields of a text have the same local names.
            _ if ["svg:title", "svg:desc", "dc:creator"].contains(&tag.full_name()) => {
                self.at.field = Some(String::new());
            }
            "notes" => self.begin('\n'),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) -> Result<()> {
        match name {
            "p" | "h" => {
                let open = self.at.paragraphs.pop().flatten().unwrap_or_default();
                self.flow.end_paragraph(open.heading, &open.prefix);
                if open.is_within {
                    let text = self.flow.end_capture();
                    self.flow.push_after(text);
                }
                self.show();
            }
            "span" => {
                self.at.scripts.pop();
                self.flow.set_script(self.at.scripts.last().copied().flatten());
                self.show();
            }
            "section" => self.show(),
            "list" => drop(self.at.lists.pop()),
            "note-body" => {
                let text = self.end_text();
                let label = mem::take(&mut self.at.note);
                self.flow.push_after(format!("{label}: {}", text.trim_start()));
            }
            "annotation" => {
                let text = self.end_text();
                let author = by("comment", &mem::take(&mut self.at.author));
                self.push(&format!("[{author}: {}]", text.trim_start()));
            }
            "changed-region" => {
                let text = self.end_text();
                self.flow.release();
                let (id, kind) = mem::take(&mut self.at.change);
                let mark = if kind.is_empty() { String::new() } else { by(kind, &mem::take(&mut self.at.author)) };
                self.package.budget.hold(id.len() + mark.len() + text.len())?;
                self.at.changes.insert(id, (mark, text));
            }
            // Lists in what was deleted do not count.
            "tracked-changes" => self.at.numbers = Numbers::default(),
            "table" => drop(self.flow.tables.pop()),
            "table-row" => self.flow.end_row(),
            "table-cell" | "covered-table-cell" => {
                self.at.paragraphs.pop();
                let repeated = self.flow.end_cell(self.at.cells.pop().unwrap_or(1), true);
                self.package.budget.inflate(repeated)?;
            }
            "frame" | "custom-shape" => self.end_frame(),
            "notes" => self.at.slide.notes = self.end_text(),
            name => match (name, self.at.field.take()) {
                ("creator", Some(author)) => self.at.author = author,
                (_, Some(text)) if self.at.frame.alt.len() <= MAX_FIELD => self.at.frame.alt.extend([" ", &text]),
                _ => {}
            },
        }
        Ok(())
    }

    fn is_in_paragraph(&self) -> bool {
        matches!(self.at.paragraphs.last(), Some(Some(_)))
    }

    fn begin(&mut self, between: char) {
        self.at.paragraphs.push(None);
        self.flow.begin_capture(between);
    }

    fn end_text(&mut self) -> String {
        self.at.paragraphs.pop();
        self.flow.end_capture()
    }

    /// Adds text as it is; outside of a paragraph it is one.
    fn push(&mut self, text: &str) {
        self.flow.push(text);
        self.pushed();
    }

    fn pushed(&mut self) {
        match self.at.paragraphs.last_mut() {
            Some(Some(open)) => open.is_white = false,
            _ => self.flow.end_paragraph(None, ""),
        }
    }

    fn is_hidden(&self, family: &str, tag: &Tag<'_>) -> bool {
        let style = Style { based_on: format!("{family} {}", tag.text("style-name")), ..Style::default() };
        self.odf.styles.inherited(&style, |style| style.is_hidden).unwrap_or_default()
    }

    /// Notes what begins, which may be hidden.
    fn hide(&mut self, is_hidden: bool) {
        let is_first = self.flow.marks.last().is_none_or(|mark| mark != HIDDEN_MARK);
        let is_mark = is_hidden && is_first && self.flow.marks.len() < MAX_MARKS;
        self.flow.marks.extend(is_mark.then(|| HIDDEN_MARK.to_owned()));
        self.at.hidden.push(is_mark);
    }

    fn show(&mut self) {
        if self.at.hidden.pop().unwrap_or_default() {
            self.end_mark(HIDDEN_MARK);
        }
    }

    fn end_mark(&mut self, mark: &str) {
        let marks = &mut self.flow.marks;
        marks.iter().rposition(|open| open == mark).map(|at| marks.remove(at));
    }

    fn start_paragraph(&mut self, tag: &Tag<'_>, is_heading: bool) {
        let styles = &self.odf.styles;
        let style = Style { based_on: format!("paragraph {}", tag.text("style-name")), ..Style::default() };
        let of_style = styles.inherited(&style, |style| style.outline).map(|level| level + 1);
        let heading = if is_heading { Some(tag.number::<u8>("outline-level").unwrap_or(1).max(1)) } else { of_style };
        let is_item = mem::take(&mut self.at.is_item);
        let depth = self.at.lists.len().saturating_sub(1);
        let prefix = match (self.at.lists.last(), heading) {
            (Some(Some((id, list))), _) if is_item => self.at.numbers.prefix(id, list, depth, heading.is_some()),
            (Some(None), _) if is_item => "  ".repeat(depth.min(MAX_LEVELS)) + "- ",
            (None, Some(level)) if is_heading && tag.text("is-list-header") != "true" => {
                let outline = styles.lists.get_key_value("");
                outline
                    .map(|(id, list)| self.at.numbers.prefix(id, list, usize::from(level) - 1, true))
                    .unwrap_or_default()
            }
            _ => String::new(),
        };
        let is_within = self.is_in_paragraph();
        if is_within {
            self.flow.begin_capture('\n');
        }
        self.at.paragraphs.push(Some(Open { heading, prefix, is_white: true, is_within }));
        self.hide(self.is_hidden("paragraph", tag));
    }

    /// A list that does not go on with the numbers of the one before begins with the first.
    fn start_list(&mut self, tag: &Tag<'_>) {
        let own = self.odf.styles.lists.get_key_value(&tag.text("style-name"));
        let around = self.at.lists.last().copied().flatten();
        let list = own.filter(|(id, _)| !id.is_empty()).or(around);
        let goes_on = tag.text("continue-numbering") == "true" || !tag.text("continue-list").is_empty();
        let is_other = list.map(|(id, _)| id) != around.map(|(id, _)| id);
        if let Some(numbers) =
            list.filter(|_| !goes_on && is_other).and_then(|(id, _)| self.at.numbers.last.get_mut(id))
        {
            numbers[self.at.lists.len().min(MAX_LEVELS)..].fill(None);
        }
        self.at.lists.push(list);
    }

    /// A change that was read before: a deletion at its place, an insertion from its start to its end.
    fn change(&mut self, tag: &Tag<'_>) {
        let Some((mark, text)) = self.at.changes.get(&tag.text("change-id")).filter(|(mark, _)| !mark.is_empty())
        else {
            return;
        };
        let (mark, is_open) = (mark.clone(), self.flow.marks.len() < MAX_MARKS);
        match tag.name() {
            "change-start" => self.flow.marks.extend(is_open.then_some(mark)),
            "change-end" => self.end_mark(&mark),
            _ => {
                // A long text that is at a million places is work. The next read fails where this does.
                let _ = self.package.budget.inflate(text.len());
                let text = text.clone();
                self.flow.marks.push(mark);
                self.push(&text);
                self.flow.marks.pop();
            }
        }
    }

    fn end_frame(&mut self) {
        let frame = mem::replace(&mut self.at.frame, self.at.frames.pop().unwrap_or_default());
        if frame.is_title {
            self.at.slide.title = Some(self.end_text().split_whitespace().collect::<Vec<_>>().join(" "));
        } else if let Some(equation) = frame.equation {
            self.flow.push_equation(&equation);
            self.pushed();
        } else if frame.is_object {
            self.push(&format!("[chart, diagram or formula:{}]", frame.alt));
        } else if let Some(image) = frame.image.filter(|_| !frame.has_table) {
            let label = self.package.image_label(&image, &frame.alt);
            self.push(&label);
        }
    }
}
