//! Texts in sections: a heading's extent goes to the next heading of its level or above it.

use crate::definition::{Definition, MAX_DEFINITIONS, Outline};
use crate::lexer::Lexeme;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SectionFormat {
    #[default]
    Markdown,
    ReStructuredText,
    /// TOML, INI and the like: `[section]`.
    Brackets,
    Sql,
    Assembly,
    Latex,
}

struct Heading {
    kind: &'static str,
    name: String,
    level: usize,
    lines_above: usize,
}

#[derive(Debug, Default)]
pub(super) struct SectionOutline {
    format: SectionFormat,
    definitions: Vec<Definition>,
    open: Vec<(usize, usize)>,
    line: usize,
    last: usize,
    before_last: usize,
    /// The line above, where it can be a heading, and whether it is the first of its paragraph.
    above: String,
    is_paragraph: bool,
    /// The fence of a code block: its character and length.
    fence: Option<(u8, usize)>,
    signs: Vec<u8>,
    in_matter: bool,
}

impl Outline for SectionOutline {
    fn line(&mut self, line: &str, _: &mut Vec<Lexeme>) {
        self.line += 1;
        let heading = match self.format {
            SectionFormat::Markdown => self.markdown(line),
            SectionFormat::ReStructuredText => self.underlined(line),
            SectionFormat::Brackets => brackets(line),
            SectionFormat::Sql => sql(line),
            SectionFormat::Assembly => assembly(line),
            SectionFormat::Latex => latex(line),
        };
        if let Some(heading) = heading {
            self.open(heading);
        }
        if !line.trim().is_empty() {
            self.before_last = std::mem::replace(&mut self.last, self.line);
        }
        if self.format == SectionFormat::Sql && line.trim_end().ends_with(';') {
            // A table or view ends with its statement; a function extends to the next definition.
            let ends = |kind: &str| !matches!(kind, "function" | "procedure" | "trigger" | "package");
            if self.open.last().is_some_and(|(at, _)| ends(self.definitions[*at].kind)) {
                self.close(0, self.line);
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Vec<Definition> {
        self.close(0, self.last);
        self.definitions
    }
}

impl SectionOutline {
    pub(super) fn new(format: SectionFormat) -> Self {
        Self { format, ..Self::default() }
    }

    fn open(&mut self, heading: Heading) {
        let start = self.line - heading.lines_above;
        // Blank lines before a heading belong to no section.
        let end = if heading.lines_above == 0 { self.last } else { self.before_last };
        self.close(heading.level, end);
        if self.definitions.len() >= MAX_DEFINITIONS || heading.name.is_empty() {
            return;
        }
        let level = self.open.len();
        self.open.push((self.definitions.len(), heading.level));
        let Heading { kind, name, .. } = heading;
        self.definitions.push(Definition { start, line: start, end: self.line, kind, name, level, prototype: false });
    }

    fn close(&mut self, level: usize, end: usize) {
        while let Some((at, _)) = self.open.pop_if(|(_, own)| *own >= level) {
            let definition = &mut self.definitions[at];
            definition.end = end.max(definition.line);
        }
    }

    /// `# Heading`, and a line above `===` or `---`; neither in a fenced block nor in the front matter.
    fn markdown(&mut self, line: &str) -> Option<Heading> {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if self.in_matter {
            self.in_matter = !matches!(line.trim_end(), "---" | "...");
            return None;
        }
        if self.line == 1 && line.trim_end() == "---" {
            self.in_matter = true;
            return None;
        }
        if self.in_fence(content, indent) {
            self.above.clear();
            self.is_paragraph = false;
            return None;
        }
        // Four columns of indentation make a block of code in CommonMark.
        let is_code = indent > 3;
        let heading = if is_code { None } else { atx(content).or_else(|| self.setext(content)) };
        let is_text = !content.is_empty() && heading.is_none() && !content.starts_with(['>', '|', '<']);
        self.above.clear();
        if is_text && !is_code && !self.is_paragraph {
            self.above.push_str(content.trim_end());
        }
        self.is_paragraph = is_text;
        heading
    }

    fn in_fence(&mut self, content: &str, indent: usize) -> bool {
        let first = content.bytes().next().unwrap_or_default();
        let length = content.bytes().take_while(|byte| *byte == first).count();
        match self.fence {
            Some((sign, opened)) => {
                if first == sign && length >= opened && content[length..].trim().is_empty() && indent <= 3 {
                    self.fence = None;
                }
                true
            }
            // A fence within a list is indented.
            // With more backticks in its line, ``` is code within text (CommonMark).
            None if matches!(first, b'`' | b'~')
                && length >= 3
                && !(first == b'`' && content[length..].contains('`')) =>
            {
                self.fence = Some((first, length));
                true
            }
            None => false,
        }
    }

    fn setext(&self, content: &str) -> Option<Heading> {
        let underline = content.trim_end();
        let is_of = |sign: u8| !underline.is_empty() && underline.bytes().all(|byte| byte == sign);
        let (kind, level) = match () {
            () if is_of(b'=') => ("#", 1),
            () if is_of(b'-') => ("##", 2),
            () => return None,
        };
        // Below an item of a list it is a rule.
        let is_heading = !self.above.is_empty() && !self.above.starts_with(['-', '*', '+']);
        is_heading.then(|| Heading { kind, name: self.above.clone(), level, lines_above: 1 })
    }

    fn underlined(&mut self, line: &str) -> Option<Heading> {
        let content = line.trim_end();
        let first = content.bytes().next().unwrap_or_default();
        let is_underline = first.is_ascii_punctuation()
            && content.len() >= 3
            && content.bytes().all(|byte| byte == first)
            && content.len() >= self.above.chars().count();
        let above = std::mem::take(&mut self.above);
        if !is_underline {
            if !content.starts_with([' ', '\t']) {
                self.above.push_str(content);
            }
            return None;
        }
        let is_text = above.contains(char::is_alphanumeric);
        if !is_text {
            return None;
        }
        let level = self.signs.iter().position(|sign| *sign == first).unwrap_or(self.signs.len());
        if level == self.signs.len() {
            self.signs.push(first);
        }
        let kind = HEADING_KINDS[level.min(HEADING_KINDS.len() - 1)];
        Some(Heading { kind, name: above.trim().to_owned(), level: level + 1, lines_above: 1 })
    }
}

const HEADING_KINDS: [&str; 6] = ["#", "##", "###", "####", "#####", "######"];

fn atx(content: &str) -> Option<Heading> {
    let level = content.bytes().take_while(|byte| *byte == b'#').count();
    let kind = HEADING_KINDS.get(level.checked_sub(1)?)?;
    let rest = &content[level..];
    if !rest.starts_with([' ', '\t']) {
        return None;
    }
    let name = rest.trim();
    // Signs at the end close the heading.
    let open = name.trim_end_matches('#');
    let name = if open.is_empty() || open.ends_with(' ') { open.trim_end() } else { name };
    Some(Heading { kind, name: name.to_owned(), level, lines_above: 0 })
}

fn brackets(line: &str) -> Option<Heading> {
    let content = line.trim_end();
    let inner = content.strip_prefix('[')?;
    let (kind, inner) = inner.strip_prefix('[').map_or(("[]", inner), |inner| ("[[]]", inner));
    let name = inner.split(']').next()?.trim();
    let rest = inner.get(name.len()..)?.trim_start_matches(']').trim();
    let is_heading = !name.is_empty() && inner.contains(']') && (rest.is_empty() || rest.starts_with(['#', ';']));
    is_heading.then(|| Heading { kind, name: name.to_owned(), level: 1, lines_above: 0 })
}

/// `CREATE OR REPLACE FUNCTION name(…`
fn sql(line: &str) -> Option<Heading> {
    const SECTION_KINDS: &str =
        "table view function procedure trigger index type schema sequence package database domain extension";
    let mut words = line.split_whitespace();
    if !words.next()?.eq_ignore_ascii_case("create") {
        return None;
    }
    let is_kind = |word: &str| SECTION_KINDS.split(' ').find(|kind| kind.eq_ignore_ascii_case(word));
    // After words such as OR REPLACE, UNIQUE or TEMPORARY.
    let kind = words.by_ref().take(6).find_map(is_kind)?;
    let name = words.find(|word| {
        !["if", "not", "exists", "body", "concurrently"].iter().any(|skip| skip.eq_ignore_ascii_case(word))
    })?;
    let name = name.split(['(', ';']).next()?.replace(['"', '`', '[', ']'], "");
    Some(Heading { kind, name, level: 1, lines_above: 0 })
}

/// `name:` in the first column, `SYM_FUNC_START(name)`, `ENTRY(name)`.
fn assembly(line: &str) -> Option<Heading> {
    if let Some((word, rest)) = line.split_once('(')
        && (matches!(word, "ENTRY" | "GLOBAL" | "FUNC" | "WEAK") || word.contains("_START"))
        && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
    {
        let name = rest.split([')', ',']).next()?.trim();
        return Some(Heading { kind: "label", name: name.to_owned(), level: 1, lines_above: 0 });
    }
    let end = line.find(|letter: char| !letter.is_alphanumeric() && !"_$@?".contains(letter))?;
    // Numbers and `.L` names are local.
    let is_label = end > 0 && line[end..].starts_with(':') && !line.starts_with(|letter: char| letter.is_ascii_digit());
    is_label.then(|| Heading { kind: "label", name: line[..end].to_owned(), level: 1, lines_above: 0 })
}

fn latex(line: &str) -> Option<Heading> {
    const SECTION_COMMANDS: &[(&str, usize)] =
        &[("part", 1), ("chapter", 2), ("section", 3), ("subsection", 4), ("subsubsection", 5), ("paragraph", 6)];
    let (command, rest) = line.trim_start().strip_prefix('\\')?.split_once('{')?;
    let command = command.trim_end_matches('*').split('[').next()?;
    let (kind, level) = SECTION_COMMANDS.iter().find(|(name, _)| *name == command)?;
    Some(Heading { kind, name: rest.split('}').next()?.to_owned(), level: *level, lines_above: 0 })
}
