//! What is around a patch: fences, sentences, a shell's `apply_patch <<'EOF'`.

use super::PatchError;

pub(super) const BEGIN: &str = "*** Begin Patch";
pub(super) const END: &str = "*** End Patch";

/// The lines of a patch, with what is around it. Line numbers of errors are counted in these.
pub(super) enum Form<'p> {
    Marked(MarkedLines<'p>),
    Unified(Vec<&'p str>),
}

/// The lines of the `*** Begin Patch` form.
pub(super) struct MarkedLines<'p> {
    pub(super) all: Vec<&'p str>,
    /// The index of the first `*** Begin Patch`.
    pub(super) begin: usize,
    /// The index of the last line that is `*** End Patch`, with white space around it.
    pub(super) end: usize,
    /// The directory that a shell command in front of the patch changes to.
    pub(super) directory: Option<String>,
}

impl<'p> Form<'p> {
    pub(super) fn of(text: &'p str) -> Result<Self, PatchError> {
        let mut all: Vec<&str> = text.split('\n').collect();
        if all.last() == Some(&"") {
            all.pop();
        }
        // A patch that came with CR LF at every line; where only some lines have it, it belongs to the file.
        if all.len() > 1 && all.iter().rev().skip(1).all(|line| line.ends_with('\r')) {
            for line in &mut all {
                *line = line.strip_suffix('\r').unwrap_or(line);
            }
        }
        let Some(begin) = all.iter().position(|line| line.trim() == BEGIN) else {
            if is_unified(&all) {
                return Ok(Self::Unified(all));
            }
            return Err(no_patch(text, &all));
        };
        let first = all[begin + 1..].iter().find(|line| !line.trim().is_empty());
        if first.is_some_and(|line| line.starts_with("--- ") || line.starts_with("diff --git ")) {
            // A unified diff between the markers of the other form.
            let inside = all
                .iter()
                .enumerate()
                .map(|(index, line)| if index <= begin || line.trim() == END { "" } else { line });
            return Ok(Self::Unified(inside.collect()));
        }
        let Some(end) = all.iter().rposition(|line| line.trim() == END).filter(|end| *end > begin) else {
            return Err(PatchError::whole(format!("the patch has no line `{END}`, so it may have been cut"))
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

fn is_unified(lines: &[&str]) -> bool {
    let is_header = |pair: &[&str]| pair[0].starts_with("--- ") && pair[1].starts_with("+++ ");
    lines.windows(2).any(is_header) || lines.iter().any(|line| line.starts_with("diff --git "))
}

fn no_patch(text: &str, lines: &[&str]) -> PatchError {
    let has = |marker: &str| lines.iter().any(|line| line.trim_start().starts_with(marker));
    if text.trim().is_empty() {
        return PatchError::whole("the patch is empty").hint(FORMS);
    }
    if lines.len() <= 2 && (text.contains("Begin Patch\\n") || text.contains("\\n+++ ")) {
        return PatchError::whole("the patch is a single line in which line ends are spelled \\n")
            .hint("send it with real line ends: it was escaped once too often");
    }
    if has("*** Update File:") || has("*** Add File:") || has("*** Delete File:") {
        return PatchError::whole(format!("the patch has no line `{BEGIN}`"))
            .hint("put `*** Begin Patch` before it and `*** End Patch` after it");
    }
    if has("@@") {
        return PatchError::whole("the patch names no file").hint("put `--- a/PATH` and `+++ b/PATH` before its hunks");
    }
    PatchError::whole("the text is not a patch in a known form").hint(FORMS)
}

const FORMS: &str = "send a unified diff (`--- a/PATH`, `+++ b/PATH`, `@@ -1,3 +1,4 @@`), or `*** Begin Patch`, `*** Update File: PATH`, \
                     `@@`, lines with ` `, `-` or `+` in front, `*** End Patch`";

/// The directory of `cd DIR && apply_patch <<'EOF'`.
fn changed_directory(line: &str) -> Option<String> {
    let at = line.find("cd ").filter(|at| line[..*at].ends_with([' ', '"', '\'', '(']) || *at == 0)?;
    let (directory, command) = line[at + 3..].split_once("&&")?;
    let directory = directory.trim();
    let is_patch = command.trim_start().starts_with("apply_patch") || command.trim_start().starts_with("applypatch");
    let unquoted = ['"', '\''].iter().find_map(|quote| directory.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(unquoted.unwrap_or(directory).to_owned()).filter(|directory| is_patch && !directory.is_empty())
}
