//! Word, Excel, `PowerPoint` and `OpenDocument` files: paragraphs, rows or slides as text, and the images within.

use std::{fmt::Write as _, iter, mem, ops::ControlFlow};

use confined_fs::{Revision, WorkspacePath, stop::StopReason};
use office_text::{
    MAX_MEMORY_BYTES, OfficeDocument, OfficeError, OfficeKind, OfficeSheet, Outline, Slide, WantedCells, column_number,
    with_document,
};
use source_outline::{Definition, not_shown};
use text_file::hidden::printable;

use super::{
    super::{
        CallContext, Kind, ToolError,
        answer::count,
        answer_budget::{AnswerBudget, Gauge},
        decode_memory::DecodeMemory,
        hidden_note::HiddenNote,
    },
    image::{ImageSource, show_image},
    open::{Format, Source},
    request::FileRequest,
    section::{ReadFacts, Section, continued_with, record_of},
    selection::{HEADERS_PART, Part, SheetPart},
    text::read_text,
};

/// Units of the budget kept back for the lines below the text.
const FOOTER_UNITS: usize = 480;

/// Characters of a line that is longer than an answer: each such piece counts as a line for `offset`.
const PIECE_CHARS: usize = 1000;

/// Headings and sheets that an error names.
const MAX_NAMED: usize = 10;

/// Rows of each sheet that are shown where no part is asked for, and sheets of which the footer says how they go on.
const OVERVIEW_ROWS: usize = 40;
const MAX_CONTINUED: usize = 5;

/// Units of the budget that a sheet has for its rows there at least.
const MIN_SHEET_UNITS: usize = 500;

/// Characters of the title of a slide that are in its heading.
const MAX_TITLE: usize = 200;

/// The part of a document that is wanted, from its start where none is.
pub(super) fn read_office(cx: &CallContext, request: &FileRequest, mut source: Source) -> Result<Section, ToolError> {
    let path = source.path().clone();
    let Some((skip, take)) = request.lines.without_numbers() else {
        let sentence = format!(
            "{path} is an Office document: its lines have no numbers, so start_line, end_line and a negative offset do \
             not apply"
        );
        return Err(ToolError::invalid(sentence)
            .hint("use part=\"paragraphs 20-60\", part=\"sheet NAME rows 1-200\" or part=\"slides 3-5\""));
    };
    let memory = DecodeMemory::reserve(cx, MAX_MEMORY_BYTES)?;
    let stopped = || cx.stop.stopped().is_some();
    // One of several files may have a share smaller than the footer.
    let budget = request.budget.reduced(FOOTER_UNITS.min(request.budget.limit / 2));
    let is_untrusted = cx.workspace.is_untrusted(source.file.real_path());
    let mut shown =
        Shown { path: path.to_string(), budget, gauge: budget.gauge(), skip, take, is_untrusted, ..Shown::default() };
    let read = with_document(&mut source.file, &stopped, |document| shown.read(document, request.part.as_ref()));
    let size = source.size();
    drop(memory);
    // At the time limit the text that was read until then is an answer. Nobody waits for that of a cancelled call.
    if cx.stop.stopped() == Some(StopReason::Cancelled) || !shown.is_any && matches!(read, Err(OfficeError::Stopped)) {
        cx.check()?;
    }
    match read {
        Ok(refused) => refused.map_or(Ok(()), Err)?,
        // Another ZIP archive.
        Err(OfficeError::NoDocument) => {
            return match &request.part {
                Some(part) => Err(part.unfit(&path, Format::Text)),
                None => read_text(cx, request, source),
            };
        }
        Err(error) if !shown.is_any => return Err(unreadable(&path, size, &error)),
        Err(error) => {
            shown.is_partial = true;
            let _ = writeln!(shown.note, "(reading stopped: the file is {error})");
        }
    }
    let revision = source.hash(cx)?;
    // The text may be half of one state and half of another, which no rev names.
    let is_changed = source.has_changed()?;
    let revision = revision.filter(|_| !is_changed);
    let record = revision.map(|revision| record_of(cx, source.file.real_path(), revision, None));
    let section = if let Some((number, bytes)) = shown.image.take() {
        let name = format!("image {number} of {path}");
        let Some(info) = image_view::image_info(&bytes) else {
            let kind = text_file::binary_kind(&bytes).unwrap_or_else(|| "text".to_owned());
            let sentence = format!("{name} is no PNG, JPEG, WebP or GIF, but {kind} of {} bytes", bytes.len());
            return Err(ToolError::new(Kind::Binary, sentence).hint("ask the user for a picture of it as PNG"));
        };
        let region = if let Some(Part::Image(_, region)) = &request.part { region.as_deref() } else { None };
        let image = ImageSource { path, name, bytes: &bytes, info, inside: Some(number), revision };
        let mut section = show_image(cx, request, image, region, None)?;
        section.facts.size = size;
        section
    } else {
        shown.section(path, revision, is_changed, size)
    };
    Ok(Section { record, ..section })
}

/// The error for a file of which nothing can be shown.
fn unreadable(path: &WorkspacePath, size: u64, error: &OfficeError) -> ToolError {
    let (kind, hint) = match error {
        OfficeError::Password => {
            (Kind::Binary, "ask the user for a copy without a password, or for its text".to_owned())
        }
        OfficeError::Format(_, better) => (Kind::Binary, format!("ask the user to save it as {better}")),
        OfficeError::TooLarge(_) | OfficeError::Stopped => {
            (Kind::TooLarge, "name a smaller part, or ask the user for its text".to_owned())
        }
        _ => (Kind::Binary, "create it again, or ask the user for another copy".to_owned()),
    };
    let sentence = format!("{path} is an Office document of {size} bytes that cannot be read: it is {error}");
    ToolError::new(kind, sentence).hint(hint)
}

fn past_end(noun: &str, number: usize, what: &str, total: usize) -> ToolError {
    let sentence = format!("{noun} {number} is past the end: {what} has {}", count(total, noun));
    ToolError::invalid(sentence).hint(format!("use part=\"{noun}s 1-{total}\""))
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = Some(line);
        iter::from_fn(move || {
            let (piece, after) = {
                let line = rest?;
                line.split_at(line.char_indices().nth(PIECE_CHARS).map_or(line.len(), |(at, _)| at))
            };
            rest = (!after.is_empty()).then_some(after);
            Some(piece)
        })
    })
}

/// What is shown of a document: its text so far (paragraphs, rows or slides), as much as the budget takes, or an image.
#[derive(Default)]
struct Shown {
    path: String,
    text: String,
    budget: AnswerBudget,
    gauge: Gauge,
    /// Lines to skip at the start, and to show at most.
    skip: usize,
    take: Option<usize>,
    is_untrusted: bool,
    is_any: bool,
    lines: usize,
    /// Where the text continues: the number of a paragraph, row or slide, and lines of it to skip.
    next: Option<(usize, usize)>,
    next_part: Option<String>,
    /// Where other sheets than that of `next_part` go on, and how many more do.
    other_parts: Vec<String>,
    more_parts: usize,
    is_cut: bool,
    /// The kind of parts that are counted, as `paragraph`, and how many the document has.
    noun: &'static str,
    total: usize,
    is_partial: bool,
    /// Whether a value that is shown is that of a formula.
    has_formulas: bool,
    headings: Vec<Definition>,
    hidden: HiddenNote,
    note: String,
    /// The number of the image that was asked for, and its bytes.
    image: Option<(usize, Vec<u8>)>,
}

/// An error of the call, where the document can be read.
type Answered = Result<Option<ToolError>, OfficeError>;

impl Shown {
    fn read(&mut self, document: &OfficeDocument<'_>, part: Option<&Part>) -> Answered {
        const ALL_ROWS: (usize, usize) = (1, usize::MAX);
        let (what, instead) = match (document.kind(), part) {
            (_, Some(Part::Image(number, _))) => return self.read_image(document, *number),
            (OfficeKind::Text, None) => {
                let read = self.read_paragraphs(document, ALL_ROWS);
                // Damage in them is no reason to show nothing of the text.
                let headers = document.headers().unwrap_or_default();
                let named = ["header", "footer"].map(|kind| {
                    let all = headers.iter().filter(|(one, _)| *one == kind).count();
                    (all > 0).then(|| count(all, kind))
                });
                let named: Vec<String> = named.into_iter().flatten().collect();
                if !named.is_empty() {
                    let _ = writeln!(self.note, "(not shown: {}; part=\"headers\")", named.join(" and "));
                }
                return read;
            }
            (OfficeKind::Text, Some(Part::Heading(name))) if name.eq_ignore_ascii_case(HEADERS_PART) => {
                return self.read_headers(document);
            }
            (OfficeKind::Text, Some(Part::Paragraphs(range))) => return self.read_paragraphs(document, *range),
            (OfficeKind::Text, Some(Part::Section(heading) | Part::Heading(heading))) => {
                return match self.section_named(&document.outline()?, heading) {
                    Ok(range) => self.read_paragraphs(document, range),
                    Err(error) => Ok(Some(error)),
                };
            }
            (OfficeKind::Workbook, None) => return self.read_workbook(document, None),
            (OfficeKind::Workbook, Some(Part::Sheet(part))) => return self.read_workbook(document, Some(part)),
            (OfficeKind::Workbook, Some(Part::Heading(name) | Part::Section(name))) => {
                return self.read_workbook(document, Some(&SheetPart::parse(name)));
            }
            (OfficeKind::Presentation, None) => return self.read_slides(document, ALL_ROWS),
            (OfficeKind::Presentation, Some(Part::Slides(range))) => return self.read_slides(document, *range),
            (OfficeKind::Text, _) => ("a text document", "part=\"paragraphs 1-50\" or part=\"section HEADING\""),
            (OfficeKind::Workbook, _) => ("a workbook", "part=\"sheet NAME rows 1-200\""),
            (OfficeKind::Presentation, _) => ("a presentation", "part=\"slides 1-5\""),
        };
        let instead = format!("{instead}, or no part to read from the start");
        Ok(part.map(|part| part.unfit_in(&self.path, what, &instead)))
    }

    /// Adds a paragraph, a row or a slide below its heading; false once the text is full. `unit` and `number` name it in
    /// notes.
    fn push(&mut self, unit: &str, number: usize, heading: &str, text: &str) -> bool {
        if self.next.is_some() {
            return false;
        }
        let count = pieces(text).count();
        if self.skip >= count.max(1) {
            self.skip -= count;
            return true;
        }
        let (start, gauge) = (self.text.len(), self.gauge);
        let room = self.take.map_or(usize::MAX, |take| take - self.lines);
        self.text.push_str(heading);
        let body = self.text.len();
        let mut shown = if self.skip == 0 && count <= room { count } else { 0 };
        if shown == count {
            self.text.push_str(text);
            self.text.push('\n');
        }
        let fits = shown == count && self.gauge.fits(&self.text);
        if !fits && (self.is_any || room == 0) {
            self.text.truncate(start);
            self.next = Some((number, 0));
            return false;
        }
        if !fits {
            // A part of it is shown where nothing else would be.
            self.text.truncate(body);
            self.gauge = gauge;
            let wanted = pieces(text).skip(self.skip).take(room).enumerate();
            let add = |(at, piece): &(usize, &str)| self.gauge.push(&mut self.text, &format!("{piece}\n"), *at == 0);
            shown = wanted.take_while(add).count();
            let end = mem::take(&mut self.skip) + shown;
            self.next = (end < count).then_some((number, end));
        }
        for line in self.text[body..].lines() {
            self.hidden.look_at_part(format_args!("{unit} {number}"), line);
        }
        self.lines += shown;
        self.is_any = true;
        self.next.is_none()
    }

    /// Notes where the text of a range goes on, of which the last is `last`.
    fn end_range(&mut self, last: usize, until: usize) {
        self.is_cut = self.next.is_some();
        let until = if until < self.total { until.to_string() } else { String::new() };
        self.next_part = match self.next {
            Some((number, _)) => Some(format!("{}s {number}-{until}", self.noun)),
            None => (last < self.total).then(|| format!("{}s {}-", self.noun, last + 1)),
        };
    }

    fn read_paragraphs(&mut self, document: &OfficeDocument<'_>, (first, last): (usize, usize)) -> Answered {
        self.noun = "paragraph";
        let read = document.paragraphs(1, &mut |paragraph| {
            let number = paragraph.number;
            self.total = number;
            // Each line has a tab, so that what is in front of the first one is never text.
            let numbered = || format!("{number}\t{}", paragraph.text.replace('\n', "\n\t"));
            if (first..=last).contains(&number) && self.push("paragraph", number, "", &numbered()) && paragraph.cut {
                let _ = writeln!(self.note, "(paragraph {number} is too long to be read whole: text is missing)");
            }
            if let Some(level) = paragraph.heading.filter(|_| self.next.is_some_and(|(next, _)| next <= number)) {
                self.headings.extend((self.headings.len() < 1000).then(|| heading(level, number, paragraph.text)));
            }
            ControlFlow::Continue(())
        });
        self.end_range(last, last);
        read?;
        let is_past = first > self.total.max(1);
        Ok(is_past.then(|| past_end("paragraph", first, &self.path, self.total)))
    }

    fn read_headers(&mut self, document: &OfficeDocument<'_>) -> Answered {
        let headers = document.headers()?;
        let parts = headers.iter().map(|(kind, text)| format!("--- {kind} ---\n{text}"));
        let text = parts.collect::<Vec<_>>().join("\n");
        (self.noun, self.total) = ("line", pieces(&text).count());
        if !headers.is_empty() {
            self.push("headers, part", 1, "", &text);
        }
        self.is_cut = self.next.is_some();
        self.next_part = self.next.map(|_| HEADERS_PART.to_owned());
        Ok(None)
    }

    fn section_named(&self, all: &Outline, name: &str) -> Result<(usize, usize), ToolError> {
        let found = all.sections(name);
        let error = |sentence: String, hint: String| Err(ToolError::invalid(sentence).hint(hint));
        match found.as_slice() {
            [one] => Ok((one.start, one.end - 1)),
            [] => {
                let names = all.headings.iter().map(|heading| heading.text.as_str());
                let hint = self.named(names, "a heading", "part=\"paragraphs 1-50\"");
                error(format!("no heading of {} is called {name:?}", self.path), hint)
            }
            several => {
                let parts =
                    several.iter().take(MAX_NAMED).map(|one| format!("paragraphs {}-{}", one.start, one.end - 1));
                let hint = format!("name one by its paragraphs: {}", parts.collect::<Vec<_>>().join(", "));
                error(format!("{} of {} are called {name:?}", count(several.len(), "heading"), self.path), hint)
            }
        }
    }

    /// A hint with the names that there are, which are not those of an untrusted file: they are its author's words.
    fn named<'n>(&self, names: impl ExactSizeIterator<Item = &'n str>, one: &str, otherwise: &str) -> String {
        let more = if names.len() > MAX_NAMED { ", …" } else { "" };
        let names: Vec<String> = names.take(MAX_NAMED).map(|name| printable(name).into_owned()).collect();
        if self.is_untrusted || names.is_empty() {
            return format!("use {otherwise}");
        }
        format!("name {one} as it is: {}{more}", names.join(", "))
    }

    fn read_slides(&mut self, document: &OfficeDocument<'_>, (first, last): (usize, usize)) -> Answered {
        (self.noun, self.total) = ("slide", document.slide_count());
        if first > self.total.max(1) {
            return Ok(Some(past_end("slide", first, &self.path, self.total)));
        }
        for number in first..=last.min(self.total) {
            let slide = match document.slide(number) {
                // The others may be read.
                Err(error @ (OfficeError::Damaged(_) | OfficeError::Missing(_))) => {
                    Slide { text: format!("(cannot be read: it is {error})"), ..Slide::default() }
                }
                Err(error) => {
                    self.next = self.next.or(Some((number, 0)));
                    self.end_range(last, last);
                    return Err(error);
                }
                Ok(slide) => slide,
            };
            let (mut title, mut text) = (slide.title.unwrap_or_default(), slide.text);
            if title.chars().count() > MAX_TITLE {
                text = mem::take(&mut title) + "\n" + &text;
            }
            let title = if title.is_empty() { title } else { format!(": {}", printable(&title)) };
            let hidden = if slide.hidden { " (hidden)" } else { "" };
            let heading = format!("--- slide {number} of {}{title}{hidden} ---\n", self.total);
            text = slide_text(text, &slide.notes);
            if text.is_empty() {
                text.push_str("(no text on this slide)");
            }
            if !self.push("slide", number, &heading, &text) {
                break;
            }
            if slide.cut {
                let _ = writeln!(self.note, "(slide {number} is too large to be read whole: text is missing)");
            }
        }
        self.end_range(last, last);
        Ok(None)
    }

    fn read_image(&mut self, document: &OfficeDocument<'_>, number: usize) -> Answered {
        let total = document.images().len();
        if number > total {
            let sentence = format!("image {number} is past the end: {} has {}", self.path, count(total, "image"));
            return Ok(Some(ToolError::invalid(sentence).hint("the text names its images by their numbers")));
        }
        self.image = Some((number, document.image(number)?));
        Ok(None)
    }

    fn read_workbook(&mut self, document: &OfficeDocument<'_>, part: Option<&SheetPart>) -> Answered {
        let sheets = document.sheets()?;
        (self.noun, self.total) = ("sheet", sheets.len());
        let start = part.map_or(Some(0), |part| find_sheet(&sheets, &part.name));
        let Some(start) = start else {
            let names = sheets.iter().map(|sheet| sheet.name.as_str());
            let hint = self.named(names, "a sheet", "a number as the name, as in part=\"sheet 1 rows 1-200\"");
            let name = part.map(|part| part.name.as_str()).unwrap_or_default();
            let sentence = format!("no sheet of {} is called {name:?}", self.path);
            return Ok(Some(ToolError::invalid(sentence).hint(hint)));
        };
        if part.is_none() && sheets.len() > 1 {
            self.list_sheets(&sheets);
        }
        let wanted = part.cloned().unwrap_or_default();
        let (first, last) = wanted.rows.unwrap_or((1, usize::MAX));
        // An offset or a limit counts the lines of all rows.
        let is_overview = part.is_none() && self.skip == 0 && self.take.is_none();
        let (mut parts, mut next_in_first, mut answered) = (Vec::new(), None, Ok(None));
        for (at, sheet) in sheets.iter().enumerate().skip(start) {
            if let Some((rows, _)) = sheet.size.filter(|(rows, _)| first > (*rows).max(1) as usize)
                // Some writers say a smaller size than the sheet has.
                && document.rows(at + 1, &WantedCells { rows: (row_number(first), u32::MAX), ..ANY_CELL })?.rows.is_empty()
            {
                let name = format!("sheet {} of {}", self.sheet_name(&sheets, at), self.path);
                let sentence = format!("row {first} is past the end: {name} has {}", count(rows as usize, "row"));
                return Ok(Some(ToolError::invalid(sentence).hint("name rows that it has")));
            }
            let left = self.budget.less(&self.text);
            let is_full = next_in_first.is_some() && (!is_overview || left.limit < MIN_SHEET_UNITS);
            if !is_full {
                let share = (left.limit / (sheets.len() - at)).clamp(MIN_SHEET_UNITS.min(left.limit), left.limit);
                let room = AnswerBudget { limit: if is_overview { share } else { left.limit }, ..left };
                self.gauge = self.budget.reduced(left.limit - room.limit).gauge();
                let had_formulas = self.has_formulas;
                let read = self.read_sheet(document, at, sheet, &wanted, (room, is_overview));
                if self.has_formulas && !had_formulas {
                    let name = self.sheet_name(&sheets, at);
                    let _ = writeln!(
                        self.note,
                        "(some values are computed; their formulas: part=\"sheet {name} formulas\")"
                    );
                }
                if let Err(error) = read {
                    (self.next, answered) = (Some((first, 0)), Err(error));
                }
            }
            let next = self.next.take().or(is_full.then_some((first, 0)));
            next_in_first = next_in_first.or(next);
            if let Some((row, _)) = next {
                if parts.len() < MAX_CONTINUED {
                    let rest =
                        SheetPart { name: self.sheet_name(&sheets, at), rows: Some((row, last)), ..wanted.clone() };
                    parts.push(Part::Sheet(rest).to_string());
                } else {
                    self.more_parts += 1;
                }
            }
            if part.is_some() || answered.is_err() {
                break;
            }
        }
        let mut parts = parts.into_iter();
        (self.next, self.next_part) = (next_in_first, parts.next());
        (self.is_cut, self.other_parts) = (self.next.is_some(), parts.collect());
        answered
    }

    /// The sheets and their sizes, where there are several, in a quarter of the budget.
    fn list_sheets(&mut self, sheets: &[OfficeSheet]) {
        let (mut gauge, all) = (self.budget.share(4).gauge(), sheets.len());
        for (at, sheet) in sheets.iter().enumerate() {
            let line = format!("sheet {} of {all}: {}\n", at + 1, described(sheet));
            if !gauge.push(&mut self.text, &line, false) {
                let _ = writeln!(self.text, "({} more; a number names one, as in part=\"sheet {}\")", all - at, at + 1);
                break;
            }
        }
    }

    fn sheet_name(&self, sheets: &[OfficeSheet], at: usize) -> String {
        sheet_name(sheets, at, self.is_untrusted)
    }

    fn read_sheet(
        &mut self,
        document: &OfficeDocument<'_>,
        at: usize,
        sheet: &OfficeSheet,
        wanted: &SheetPart,
        (room, is_overview): (AnswerBudget, bool),
    ) -> Result<(), OfficeError> {
        let column = |letters: &str| column_number(letters).unwrap_or(u32::MAX);
        let (first, last) = wanted.rows.unwrap_or((1, usize::MAX));
        let columns = wanted.columns.as_ref().map_or((1, u32::MAX), |(first, last)| (column(first), column(last)));
        let rows = (row_number(first), row_number(last));
        let cells = WantedCells { rows, columns, formulas: wanted.formulas, max_bytes: self.budget.most_bytes() };
        let found = document.rows(at + 1, &cells)?;
        let mut heading = format!("--- sheet {} ---\n", described(sheet));
        if found.rows.is_empty() {
            self.push("row", first, &heading, "(no cells with content)");
            return Ok(());
        }
        heading.push_str(&header_within(&found.header, room.share(4)));
        let most = if is_overview { OVERVIEW_ROWS } else { usize::MAX };
        for (row, line) in found.rows.iter().take(most) {
            if !self.push("row", *row as usize, &heading, line) {
                return Ok(());
            }
            if self.is_any {
                heading.clear();
            }
        }
        self.has_formulas |= found.has_formulas && !wanted.formulas;
        if found.cut {
            self.note.push_str("(a row has more than 1 MiB: its last cells are left out; name columns)\n");
        }
        let next = found.rows.get(most).map(|(row, _)| *row).or(found.next);
        self.next = next.map(|row| (row as usize, 0));
        Ok(())
    }

    fn section(self, path: WorkspacePath, revision: Option<Revision>, is_changed: bool, size: u64) -> Section {
        let Self { text, lines, next, next_part, total, noun, .. } = self;
        let mut closing = String::new();
        if !self.is_any {
            let why = if total == 0 { "it holds no text" } else { "offset is past the end" };
            let _ = writeln!(closing, "({why})");
        }
        closing.push_str(&self.note);
        closing.extend(self.hidden.text().map(|note| note + "\n"));
        if is_changed {
            closing.push_str("(the file changed while it was read; read it again)\n");
        }
        let rev = revision.map(|revision| format!(", rev {}", revision.short())).unwrap_or_default();
        let at_least = if self.is_partial { "at least " } else { "" };
        let numbers = if self.is_any && noun == "paragraph" { ", numbered for part=\"paragraphs N-M\"" } else { "" };
        let _ = write!(closing, "({at_least}{}{numbers}{rev}", count(total, noun));
        let next_offset = next.map(|(_, offset)| offset).filter(|offset| *offset > 0);
        closing.extend(next_part.as_ref().filter(|_| self.is_cut).map(|part| continued_with(part, next_offset)));
        closing.extend(self.other_parts.iter().map(|part| format!(", part=\"{part}\"")));
        if self.more_parts > 0 {
            let _ = write!(closing, " and likewise {}", count(self.more_parts, "more sheet"));
        }
        closing.push(')');
        if let Some((next, _)) = next.filter(|_| !self.is_untrusted) {
            closing.extend(not_shown(&self.headings, &[next..=total]).map(|outline| format!("\n{outline}")));
        }
        let counted = |one| Some(total).filter(|_| noun == one);
        let facts = ReadFacts {
            returned_lines: Some(lines),
            has_more: Some(next_part.is_some()),
            next_offset,
            revision: revision.map(|revision| revision.to_string()),
            size,
            paragraphs: counted("paragraph"),
            sheets: counted("sheet"),
            slides: counted("slide"),
            next_part,
            ..ReadFacts::default()
        };
        Section { closing, ..Section::of(path, text, facts) }
    }
}

/// How a part names a sheet: by its name, where that is plain, else by its number. The name of a sheet in an untrusted file
/// is its author's words.
pub(super) fn sheet_name(sheets: &[OfficeSheet], at: usize, is_untrusted: bool) -> String {
    let name = sheets[at].name.as_str();
    let part = SheetPart { name: name.to_owned(), rows: Some((1, 2)), ..SheetPart::default() };
    let is_plain = !name.contains('"') && printable(name) == name && name.len() <= 100;
    let is_parsed =
        || Part::parse(&Part::Sheet(part.clone()).to_string()).is_ok_and(|found| found == Part::Sheet(part));
    let is_good = !is_untrusted && is_plain && find_sheet(sheets, name) == Some(at) && is_parsed();
    if is_good { name.to_owned() } else { (at + 1).to_string() }
}

/// The text of a slide with its notes after it.
pub(super) fn slide_text(mut text: String, notes: &str) -> String {
    if !notes.is_empty() {
        let end = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{end}notes:\n{notes}");
    }
    text
}

const ANY_CELL: WantedCells =
    WantedCells { rows: (1, u32::MAX), columns: (1, u32::MAX), formulas: false, max_bytes: 0 };

fn row_number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

fn heading(level: u8, paragraph: usize, text: &str) -> Definition {
    const HEADING_SIGNS: &str = "######";
    let kind = &HEADING_SIGNS[..usize::from(level).clamp(1, HEADING_SIGNS.len())];
    let name = text.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned();
    let (start, line, end) = (paragraph, paragraph, paragraph);
    Definition { start, line, end, kind, name, level: kind.len(), prototype: false }
}

/// The sheet of this name, in either case of letters, with or without quotes, or else of this number.
fn find_sheet(sheets: &[OfficeSheet], name: &str) -> Option<usize> {
    let lower = name.trim_matches(['"', '\'']).to_lowercase();
    let position = |is_it: &dyn Fn(&str) -> bool| sheets.iter().position(|sheet| is_it(&sheet.name));
    position(&|one| one == name)
        .or_else(|| position(&|one| one.to_lowercase() == lower))
        .or_else(|| name.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < sheets.len()))
}

/// `Plan: 1200 rows, 6 columns`.
fn described(sheet: &OfficeSheet) -> String {
    let size = sheet.size.map(|(rows, columns)| (count(rows as usize, "row"), count(columns as usize, "column")));
    let size = size.map(|(rows, columns)| format!(": {rows}, {columns}")).unwrap_or_default();
    format!("{}{size}{}", printable(&sheet.name), if sheet.hidden { " (hidden)" } else { "" })
}

/// The letters of columns, as many as the budget takes.
fn header_within(header: &str, budget: AnswerBudget) -> String {
    if budget.fits(header) {
        return format!("{header}\n");
    }
    let end = header[..budget.limit.min(header.len())].rfind('\t').unwrap_or(0);
    format!("{}\t…\n", &header[..end])
}
