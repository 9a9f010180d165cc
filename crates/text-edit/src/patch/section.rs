//! The part of a unified diff that is about one file, and the names in its headers.

use std::fmt::Write as _;

use super::{FileAction, FilePatch, FinalNewline, HunkLine, PatchError, PatchHunk, PatchPath};

#[derive(Default)]
pub(super) struct Section<'p> {
    pub(super) line: usize,
    pub(super) hunks: Vec<PatchHunk<'p>>,
    is_git: bool,
    names: Option<(HeaderName, HeaderName)>,
    /// The names of the line `diff --git`, where both are the same path.
    git_name: Option<PatchPath>,
    renamed: (Option<PatchPath>, Option<PatchPath>),
    copied: (Option<PatchPath>, Option<PatchPath>),
    old_mode: Option<&'p str>,
    new_mode: Option<&'p str>,
    /// That of a line `index`, which only a file has that keeps its mode.
    index_mode: Option<&'p str>,
    /// Whether it has the line of the versions that git compared.
    pub(super) is_by_git: bool,
    /// Whether it says that the file has another content afterwards, and one that is not empty.
    has_content: bool,
    is_new: bool,
    is_deleted: bool,
    is_binary: bool,
}

/// Git's names of an empty content, abbreviated, with SHA-1 and SHA-256.
const EMPTY_BLOBS: [&str; 2] = ["e69de29", "473a0f4"];
/// The beginnings of git's extended headers (<https://git-scm.com/docs/diff-generate-patch>).
const GIT_HEADERS: &str = "old mode,new mode,new file mode,deleted file mode,rename from,rename to,copy from,copy to,\
    similarity index,dissimilarity index,index";
/// The mode of a program in git.
const EXECUTABLE_MODE: &str = "100755";

impl<'p> Section<'p> {
    pub(super) fn at(line: usize) -> Self {
        Self { line, ..Self::default() }
    }

    pub(super) fn of_git(line: usize, header: &str) -> Self {
        let names = header.strip_prefix("diff --git ").unwrap_or_default();
        Self { is_git: true, git_name: of_git_header(names), ..Self::at(line) }
    }

    pub(super) fn wants_names(&self) -> bool {
        self.is_git && self.names.is_none() && self.hunks.is_empty()
    }

    pub(super) fn name(&mut self, old: &str, new: &str) {
        self.names = Some((HeaderName::parse(old), HeaderName::parse(new)));
    }

    pub(super) fn is_empty(&self) -> bool {
        let is_more = self.is_new || self.is_deleted || self.is_binary || self.renamed.0.is_some();
        self.hunks.is_empty() && !is_more && self.copied.0.is_none() && self.old_mode.is_none()
    }

    /// Takes a line of git's extended header; whether it is one.
    pub(super) fn takes(&mut self, line: &'p str) -> bool {
        if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            self.is_binary = true;
            return true;
        }
        if !self.wants_names() {
            return self.is_binary;
        }
        let line = line.trim_end();
        let value_of = |header| line.strip_prefix(header)?.strip_prefix(' ');
        let named = GIT_HEADERS.split(',').find_map(|header| Some((header, value_of(header)?)));
        let Some((header, value)) = named else { return self.is_binary };
        match header {
            "old mode" => self.old_mode = Some(value),
            "new mode" => self.new_mode = Some(value),
            "new file mode" => (self.is_new, self.new_mode) = (true, Some(value)),
            "deleted file mode" => (self.is_deleted, self.old_mode) = (true, Some(value)),
            "rename from" => self.renamed.0 = Some(renamed(value)),
            "rename to" => self.renamed.1 = Some(renamed(value)),
            "copy from" => self.copied.0 = Some(renamed(value)),
            "copy to" => self.copied.1 = Some(renamed(value)),
            "similarity index" => self.has_content |= !line.ends_with(" 100%"),
            "index" => {
                let new = value.split_once("..").map(|(_, new)| new);
                let is_empty = new.is_some_and(|new| EMPTY_BLOBS.iter().any(|empty| new.starts_with(empty)));
                (self.is_by_git, self.has_content) = (new.is_some(), !is_empty);
                // Git's mode of a file or link has six digits and begins with 1.
                self.index_mode = value.split(' ').nth(1).filter(|mode| mode.len() == 6 && mode.starts_with('1'));
            }
            _ => {}
        }
        true
    }

    pub(super) fn finish(self) -> Result<FilePatch<'p>, PatchError> {
        let line = self.line;
        Ok(FilePatch { line, action: self.action()? })
    }

    pub(super) fn shown_name(&self) -> String {
        let new = self.names.as_ref().map(|(old, new)| if new.is_none { old.alone() } else { new.alone() });
        let path = new.as_ref().or(self.git_name.as_ref());
        path.map_or("a file", PatchPath::text).to_owned()
    }

    fn error(&self, what: &str) -> PatchError {
        PatchError::at(self.line, format!("the section of {}{what}", self.shown_name()))
    }

    fn action(mut self) -> Result<FileAction<'p>, PatchError> {
        let (old_none, new_none) = self.names.as_ref().map_or((false, false), |(old, new)| (old.is_none, new.is_none));
        if self.is_binary {
            return Err(self.error(" is a binary patch").hint("only text can be patched; write the file another way"));
        }
        let modes = [self.old_mode, self.new_mode, self.index_mode];
        let is_other = |mode: &&&str| !mode.starts_with("100") || mode.len() != EXECUTABLE_MODE.len();
        if let Some(mode) = modes.iter().flatten().find(is_other) {
            let kind = if mode.starts_with("120") { "a symbolic link" } else { "no regular file" };
            return Err(self
                .error(&format!(" is about {kind} (mode {mode})"))
                .hint("only regular files can be patched"));
        }
        let is_new = self.is_new || old_none;
        let is_deleted = self.is_deleted || new_none;
        if is_new && is_deleted {
            return Err(self.error(" neither has a file before nor after it").hint("name the file in `---` or `+++`"));
        }
        if !is_new && !is_deleted && self.old_mode != self.new_mode {
            let message = " changes the mode of the file, which cannot be done here";
            return Err(self.error(message).hint("leave `old mode` and `new mode` out; ask the user to run chmod"));
        }
        for (verb, (from, to)) in [("rename", &self.renamed), ("copy", &self.copied)] {
            if from.is_some() != to.is_some() {
                return Err(self.error(&format!(" has only one of `{verb} from` and `{verb} to`")).hint("write both"));
            }
        }
        if (self.renamed.0.is_some() || self.copied.0.is_some()) && (is_new || is_deleted) {
            return Err(self.error(" both renames the file and makes or deletes it").hint("write one of them"));
        }
        let hunks = std::mem::take(&mut self.hunks);
        let makes_file = is_new || self.renamed.0.is_some() || self.copied.0.is_some();
        let is_whole = is_deleted || makes_file && self.names.is_none() && !self.has_content;
        if hunks.is_empty() && !is_whole {
            return Err(self.error(" has no hunk").hint("write the lines that change after `@@ -1,3 +1,4 @@`"));
        }
        if let (Some(path), Some(to)) = (self.renamed.0.take(), self.renamed.1.take()) {
            return Ok(FileAction::Update { path, to: Some(to), hunks });
        }
        if let (Some(path), Some(to)) = (self.copied.0.take(), self.copied.1.take()) {
            return Ok(FileAction::Copy { path, to, hunks });
        }
        let path = self.path(is_new, is_deleted)?;
        if is_new {
            return self.added(path, &hunks);
        }
        if is_deleted {
            return Ok(FileAction::Delete { path, hunks });
        }
        Ok(FileAction::Update { path, to: None, hunks })
    }

    fn path(&self, is_new: bool, is_deleted: bool) -> Result<PatchPath, PatchError> {
        match &self.names {
            None => self.git_name.clone().ok_or_else(|| {
                self.error(" names no path that is the same before and after")
                    .hint("add the lines `--- a/PATH` and `+++ b/PATH`")
            }),
            Some((_, new)) if is_new && !new.is_none => Ok(new.alone()),
            Some((old, _)) if is_deleted && !old.is_none => Ok(old.alone()),
            Some((old, new)) if are_of_one_file(old, new) => Ok(both(old, new)),
            Some((old, new)) => Err(PatchError::at(
                self.line,
                format!("the names before and after differ: {} and {}", old.text, new.text),
            )
            .hint("name the file that changes in both lines; to rename it, add `rename from` and `rename to`")),
        }
    }

    fn added(&self, path: PatchPath, hunks: &[PatchHunk<'p>]) -> Result<FileAction<'p>, PatchError> {
        let mut lines = Vec::new();
        let numbered =
            hunks.iter().zip(1..).flat_map(|(hunk, number)| hunk.lines.iter().map(move |line| (line, number)));
        for (line, number) in numbered {
            match line {
                HunkLine::Added(line) | HunkLine::Kept(line @ "") => lines.push(*line),
                HunkLine::Kept(_) | HunkLine::Removed(_) => {
                    return Err(self
                        .error(" makes a file and also has lines of it before")
                        .in_hunk(number, path.text())
                        .hint(
                            "put `+` in front of every line of a new file; to change one that exists, name it in `---`",
                        ));
                }
            }
        }
        let final_newline = hunks.iter().all(|hunk| hunk.final_newline != FinalNewline::Removed);
        Ok(FileAction::Add { path, lines, final_newline, executable: self.new_mode == Some(EXECUTABLE_MODE) })
    }
}

#[derive(Clone, Debug)]
struct HeaderName {
    text: String,
    /// `/dev/null`: there is no such file.
    is_none: bool,
}

/// Pairs of prefixes that git puts in front of the names before and after: by default, and with
/// `diff.mnemonicPrefix` (<https://git-scm.com/docs/git-config#Documentation/git-config.txt-diffmnemonicPrefix>).
const GIT_PREFIXES: &[(&str, &str)] = &[("a/", "b/"), ("i/", "w/"), ("c/", "w/"), ("c/", "i/"), ("o/", "w/")];

impl HeaderName {
    /// Reads the rest of a line `---` or `+++`: the name, quoted or not, and perhaps a time.
    fn parse(text: &str) -> Self {
        let text = text.trim_end_matches('\r');
        let name = unquoted(text).map_or_else(|| without_time(text).trim().to_owned(), |(name, _)| name);
        let is_none = matches!(name.as_str(), "/dev/null" | "dev/null" | "a/dev/null" | "b/dev/null" | "NUL");
        Self { text: name, is_none }
    }

    /// The path where the other name is `/dev/null`.
    fn alone(&self) -> PatchPath {
        with_prefix(&self.text, self.prefix())
    }

    /// The prefix of git that it begins with.
    fn prefix(&self) -> &'static str {
        let mut all = GIT_PREFIXES.iter().flat_map(|(old, new)| [*old, *new]);
        all.find(|prefix| self.text.starts_with(*prefix)).unwrap_or_default()
    }
}

/// The path of a file with two names, which are the same but for git's prefixes; else the second one counts, as a
/// file can be compared with a copy of it.
fn both(old: &HeaderName, new: &HeaderName) -> PatchPath {
    let is_pair = |(first, second): &&(&str, &str)| {
        let (old, new) = (&old.text, &new.text);
        old.starts_with(first) && new.starts_with(second) || old.starts_with(second) && new.starts_with(first)
    };
    match GIT_PREFIXES.iter().find(is_pair) {
        Some((first, _)) => with_prefix(&new.text, &new.text[..first.len()]),
        // Of a diff without prefixes, in a directory `a`; or somebody wrote `a/` twice.
        None if new.text.starts_with("a/") || new.text.starts_with("b/") => {
            PatchPath { choices: vec![new.text.clone(), new.text[2..].to_owned()] }
        }
        None => PatchPath::plain(&new.text),
    }
}

/// Whether both names are those of one file: the same but for prefixes, or the first one is that of a copy (`x.orig`).
fn are_of_one_file(old: &HeaderName, new: &HeaderName) -> bool {
    let [old_plain, new_plain] = [old, new].map(|name| &name.text[name.prefix().len()..]);
    let is_copy = |longer: &str, shorter: &str| {
        let rest = longer.strip_prefix(shorter);
        rest.is_some_and(|rest| rest.is_empty() || rest == "~" || rest.starts_with('.'))
    };
    old.text == new.text || is_copy(old_plain, new_plain) || is_copy(&old.text, &new.text)
}

/// The path after `rename from` and its likes, which git writes without a prefix.
fn renamed(text: &str) -> PatchPath {
    let name = unquoted(text).map_or_else(|| text.trim().to_owned(), |(name, _)| name);
    let stripped = ["a/", "b/"].iter().find_map(|prefix| name.strip_prefix(prefix)).map(str::to_owned);
    PatchPath { choices: std::iter::once(name).chain(stripped).collect() }
}

/// The path of `diff --git a/x b/x`, where both names are the same.
fn of_git_header(text: &str) -> Option<PatchPath> {
    if let Some((old, rest)) = unquoted(text) {
        let new = unquoted(rest.trim_start()).map_or_else(|| rest.trim().to_owned(), |(name, _)| name);
        return same(&old, &new);
    }
    let text = text.trim_end();
    // Names may hold spaces: the two are the halves of the line.
    let middle = text.len() / 2;
    let halves = text.split_at_checked(middle).filter(|(_, new)| new.starts_with(' '));
    let (old, new) = halves.map(|(old, new)| (old, &new[1..])).or_else(|| text.split_once(' '))?;
    same(old, new)
}

fn same(old: &str, new: &str) -> Option<PatchPath> {
    let (old_name, new_name) = (HeaderName::parse(old), HeaderName::parse(new));
    let path = both(&old_name, &new_name);
    let is_same = both(&new_name, &old_name).choices[0] == path.choices[0];
    is_same.then_some(path)
}

fn with_prefix(name: &str, prefix: &str) -> PatchPath {
    let stripped = &name[prefix.len()..];
    if prefix.is_empty() || stripped.is_empty() {
        return PatchPath::plain(name);
    }
    let mut choices = vec![stripped.to_owned(), name.to_owned()];
    if !stripped.starts_with('/') {
        // A model that puts the prefix in front of an absolute path drops its slash.
        choices.push(format!("/{stripped}"));
    }
    PatchPath { choices }
}

/// The name without the time that diff writes after it, after a tab or (as some programs do) a space.
fn without_time(text: &str) -> &str {
    if let Some((name, _)) = text.split_once('\t') {
        return name;
    }
    let is_date = |at: usize| {
        let shape = text.as_bytes().get(at..at + 17)?;
        let fits = shape.iter().zip(b" 0000-00-00 00:00").all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        });
        fits.then_some(at)
    };
    let end = text.match_indices(' ').find_map(|(at, _)| is_date(at));
    end.map_or(text, |end| &text[..end])
}

/// A name in quotation marks with the escapes of C, as git writes unusual names, and what follows it. Bytes that are
/// no UTF-8 are spelled `\xNN`, as paths are printed here.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let body = text.strip_prefix('"')?;
    let mut bytes: Vec<u8> = Vec::new();
    let mut rest = body.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'"' => return Some((printed(&bytes), &body[at + 1..])),
            b'\\' => {
                let (_, escape) = rest.next()?;
                // The characters from U+0007 to U+000D, in their order.
                let control = (7..).zip(b"abtnvfr").find_map(|(code, letter)| (*letter == escape).then_some(code));
                bytes.push(match escape {
                    // Three octal digits, of which the largest byte is `\377`.
                    b'0'..=b'3' => {
                        rest.nth(1)?;
                        u8::from_str_radix(body.get(at + 1..at + 4)?, 8).ok()?
                    }
                    other => control.unwrap_or(other),
                });
            }
            other => bytes.push(other),
        }
    }
    None
}

fn printed(bytes: &[u8]) -> String {
    bytes.utf8_chunks().fold(String::new(), |mut text, chunk| {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
        text
    })
}
