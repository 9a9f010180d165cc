//! What is around a patch: fences, sentences, a shell's `apply_patch <<'EOF'`.

use super::PatchError;

pub(super) const BEGIN_PATCH: &str = "*** Begin Patch";
pub(super) const END_PATCH: &str = "*** End Patch";

/// The lines of a patch, with what is around it. Line numbers of errors are counted in these.
pub(super) enum Form<'p> {
    Marked(MarkedLines<'p>),
    Unified(Vec<&'p str>, TextEnd),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextEnd {
    Marked,
    AfterLine,
    /// Its last line is not ended: it was cut within it, or a client took off the white space at its end.
    WithinLine,
}

pub(super) struct MarkedLines<'p> {
    pub(super) all: Vec<&'p str>,
    pub(super) begin: usize,
    /// The index of the last line that is `*** End Patch`, with white space around it.
    pub(super) end: usize,
    pub(super) directory: Option<String>,
}

impl<'p> Form<'p> {
    pub(super) fn of(text: &'p str) -> Result<Self, PatchError> {
        let mut all: Vec<&str> = text.strip_prefix('\u{feff}').unwrap_or(text).split('\n').collect();
        let mut end = TextEnd::WithinLine;
        if all.last() == Some(&"") {
            end = TextEnd::AfterLine;
            all.pop();
        }
        // A patch that came with CR LF at every line; where only some lines have it, it belongs to the file.
        if all.len() > 1 && all.iter().rev().skip(1).all(|line| line.ends_with('\r')) {
            for line in &mut all {
                *line = line.strip_suffix('\r').unwrap_or(line);
            }
        }
        without_indent(&mut all);
        let Some(begin) = all.iter().position(|line| line.trim() == BEGIN_PATCH) else {
            let is_unified = (0..all.len()).any(|at| begins_unified(&all[at..]));
            return if is_unified { Ok(Self::Unified(all, end)) } else { Err(no_patch(text, &all)) };
        };
        let first = all[begin + 1..].iter().find(|line| !line.trim().is_empty());
        if first.is_some_and(|line| line.starts_with("--- ") || line.starts_with("diff --git ")) {
            // A unified diff between the markers of the other form.
            let end = if all.iter().any(|line| line.trim() == END_PATCH) { TextEnd::Marked } else { end };
            all[..=begin].fill("");
            all.iter_mut().filter(|line| line.trim() == END_PATCH).for_each(|line| *line = "");
            return Ok(Self::Unified(all, end));
        }
        let Some(end) = all.iter().rposition(|line| line.trim() == END_PATCH).filter(|end| *end > begin) else {
            return Err(PatchError::whole(format!("the patch has no line `{END_PATCH}`, so it may have been cut"))
                .hint("send the whole patch again; in several calls if it is long"));
        };
        let directory = all[..begin].iter().find_map(|line| changed_directory(line));
        Ok(Self::Marked(MarkedLines { all, begin, end, directory }))
    }
}

/// Whether a line around a patch belongs to no sentence: blank, a fence, the lines of a heredoc.
pub(super) fn is_wrapping(line: &str) -> bool {
    let line = line.trim().trim_end_matches(['"', '\'', ')', ']']);
    let is_word = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    line.is_empty() || line.starts_with("```") || line.starts_with("~~~") || line.contains("<<") || is_word
}

fn begins_unified(lines: &[&str]) -> bool {
    is_names(lines) || lines[0].starts_with("diff --git ")
}

pub(super) fn is_names(lines: &[&str]) -> bool {
    lines[0].starts_with("--- ") && lines.get(1).is_some_and(|next| next.starts_with("+++ "))
}

/// Where a patch begins that has white space in front of its first line, and that white space.
fn indented_start<'p>(lines: &[&'p str]) -> Option<(usize, &'p str)> {
    let bare = |line: &&'p str| line.trim_start_matches([' ', '\t']);
    let at = (0..lines.len()).find(|at| {
        let pair: Vec<&str> = lines[*at..].iter().take(2).map(bare).collect();
        begins_unified(&pair) || pair[0].trim_end() == BEGIN_PATCH
    })?;
    let indent = &lines[at][..lines[at].len() - bare(&lines[at]).len()];
    Some((at, indent)).filter(|(_, indent)| !indent.is_empty())
}

/// Takes off the indentation of a patch that has it in front of each line. What is around it need not have it.
fn without_indent(lines: &mut [&str]) {
    let Some((start, indent)) = indented_start(lines) else { return };
    let is_blank = |line: &&str| line.trim().is_empty();
    let length = lines[start..].iter().take_while(|line| line.starts_with(indent) || is_blank(line)).count();
    if lines[start + length..].iter().all(|line| is_wrapping(line)) {
        for line in &mut lines[start..start + length] {
            *line = line.strip_prefix(indent).unwrap_or_default();
        }
    }
}

fn no_patch(text: &str, lines: &[&str]) -> PatchError {
    let has = |marker: &str| lines.iter().any(|line| line.trim_start().starts_with(marker));
    if text.trim().is_empty() {
        return PatchError::whole("the patch is empty").hint(PATCH_FORMS);
    }
    if lines.len() <= 2 && (text.contains("Begin Patch\\n") || text.contains("\\n+++ ")) {
        return PatchError::whole("the patch is a single line in which line ends are spelled \\n")
            .hint("send it with real line ends: it was escaped once too often");
    }
    if let Some((at, _)) = indented_start(lines) {
        return PatchError::at(at + 1, "the patch is indented, and not all of its lines are")
            .hint("send it without the white space in front of its lines: `--- `, `+++ ` and `@@` begin theirs");
    }
    if has("*** Update File:") || has("*** Add File:") || has("*** Delete File:") {
        return PatchError::whole(format!("the patch has no line `{BEGIN_PATCH}`"))
            .hint("put `*** Begin Patch` before it and `*** End Patch` after it");
    }
    if has("@@") {
        return PatchError::whole("the patch names no file").hint("put `--- a/PATH` and `+++ b/PATH` before its hunks");
    }
    PatchError::whole("the text is not a patch in a known form").hint(PATCH_FORMS)
}

const PATCH_FORMS: &str = "send a unified diff (`--- a/PATH`, `+++ b/PATH`, `@@ -1,3 +1,4 @@`), or `*** Begin Patch`, `*** Update File: PATH`, \
                     `@@`, lines with ` `, `-` or `+` in front, `*** End Patch`";

fn changed_directory(line: &str) -> Option<String> {
    let at = line.find("cd ").filter(|at| line[..*at].ends_with([' ', '"', '\'', '(']) || *at == 0)?;
    let (directory, command) = line[at + 3..].split_once("&&")?;
    let directory = directory.trim();
    let is_patch = command.trim_start().starts_with("apply_patch") || command.trim_start().starts_with("applypatch");
    let unquoted = ['"', '\''].iter().find_map(|quote| directory.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(unquoted.unwrap_or(directory).to_owned()).filter(|directory| is_patch && !directory.is_empty())
}
