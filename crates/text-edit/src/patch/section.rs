//! The part of a unified diff that is about one file.

use super::{
    FileAction, FilePatch, FinalNewline, HunkLine, PatchError, PatchHunk, PatchPath,
    header_name::{self, HeaderName},
};

/// What the headers of one file say, and its hunks.
#[derive(Default)]
pub(super) struct Section<'p> {
    pub(super) line: usize,
    pub(super) hunks: Vec<PatchHunk<'p>>,
    is_git: bool,
    /// The names behind `---` and `+++`.
    names: Option<(HeaderName, HeaderName)>,
    /// The names of the line `diff --git`, where both are the same path.
    git_name: Option<PatchPath>,
    renamed: (Option<PatchPath>, Option<PatchPath>),
    copied: (Option<PatchPath>, Option<PatchPath>),
    /// What the headers say of the file's mode.
    old_mode: Option<&'p str>,
    new_mode: Option<&'p str>,
    /// That of a line `index`, which only a file has that keeps its mode.
    index_mode: Option<&'p str>,
    has_index: bool,
    /// Whether it says that the file has another content afterwards, and one that is not empty.
    has_content: bool,
    is_new: bool,
    is_deleted: bool,
    is_binary: bool,
}

/// Git's names of an empty content, abbreviated, with SHA-1 and SHA-256.
const EMPTY: [&str; 2] = ["e69de29", "473a0f4"];
/// The mode of a program in git.
const EXECUTABLE: &str = "100755";

impl<'p> Section<'p> {
    pub(super) fn at(line: usize) -> Self {
        Self { line, ..Self::default() }
    }

    pub(super) fn of_git(line: usize, header: &str) -> Self {
        let names = header.strip_prefix("diff --git ").unwrap_or_default();
        Self { is_git: true, git_name: header_name::of_git_header(names), ..Self::at(line) }
    }

    /// Whether the lines `---` and `+++` that follow are its own.
    pub(super) fn wants_names(&self) -> bool {
        self.is_git && self.names.is_none() && self.hunks.is_empty()
    }

    pub(super) fn name(&mut self, old: &str, new: &str) {
        self.names = Some((HeaderName::parse(old), HeaderName::parse(new)));
    }

    /// Whether it has the line of the versions that git compared.
    pub(super) fn is_by_git(&self) -> bool {
        self.has_index
    }

    /// Whether it says nothing yet that could be applied.
    pub(super) fn is_empty(&self) -> bool {
        let is_more = self.is_new || self.is_deleted || self.is_binary || self.renamed.0.is_some();
        self.hunks.is_empty() && !is_more && self.copied.0.is_none() && self.old_mode.is_none()
    }

    /// Takes a line of git's extended header; whether it is one.
    pub(super) fn takes(&mut self, _number: usize, line: &'p str) -> bool {
        if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            self.is_binary = true;
            return true;
        }
        if !self.is_git || self.names.is_some() || !self.hunks.is_empty() {
            return self.is_binary;
        }
        let line = line.trim_end();
        let path = |text: &str| Some(header_name::renamed(text));
        if let Some(mode) = line.strip_prefix("old mode ") {
            self.old_mode = Some(mode);
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.new_mode = Some(mode);
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            (self.is_new, self.new_mode) = (true, Some(mode));
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            (self.is_deleted, self.old_mode) = (true, Some(mode));
        } else if let Some(index) = line.strip_prefix("index ") {
            let new = index.split_once("..").map(|(_, new)| new);
            let is_empty = new.is_some_and(|new| EMPTY.iter().any(|empty| new.starts_with(empty)));
            (self.has_index, self.has_content) = (new.is_some(), !is_empty);
            self.index_mode = index.split(' ').nth(1).filter(|mode| mode.len() == 6 && mode.starts_with('1'));
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.renamed.0 = path(name);
        } else if let Some(name) = line.strip_prefix("rename to ") {
            self.renamed.1 = path(name);
        } else if let Some(name) = line.strip_prefix("copy from ") {
            self.copied.0 = path(name);
        } else if let Some(name) = line.strip_prefix("copy to ") {
            self.copied.1 = path(name);
        } else {
            self.has_content |= line.starts_with("similarity index ") && !line.ends_with(" 100%");
            let known = ["similarity index ", "dissimilarity index "];
            return self.is_binary || known.iter().any(|known| line.starts_with(known));
        }
        true
    }

    pub(super) fn finish(self) -> Result<FilePatch<'p>, PatchError> {
        let line = self.line;
        Ok(FilePatch { line, action: self.action()? })
    }

    /// The file as the headers have it.
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
        if let Some(mode) =
            modes.iter().flatten().find(|mode| !mode.starts_with("100") || mode.len() != EXECUTABLE.len())
        {
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
        if let (None, Some(_)) | (Some(_), None) = self.renamed {
            return Err(self.error(" has only one of `rename from` and `rename to`").hint("write both"));
        }
        if let (None, Some(_)) | (Some(_), None) = self.copied {
            return Err(self.error(" has only one of `copy from` and `copy to`").hint("write both"));
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

    /// The path of a file that is not renamed.
    fn path(&self, is_new: bool, is_deleted: bool) -> Result<PatchPath, PatchError> {
        match &self.names {
            None => self.git_name.clone().ok_or_else(|| {
                self.error(" names no path that is the same before and after")
                    .hint("add the lines `--- a/PATH` and `+++ b/PATH`")
            }),
            Some((_, new)) if is_new && !new.is_none => Ok(new.alone()),
            Some((old, _)) if is_deleted && !old.is_none => Ok(old.alone()),
            Some((old, new)) if header_name::are_of_one_file(old, new) => Ok(header_name::both(old, new)),
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
        Ok(FileAction::Add { path, lines, final_newline, executable: self.new_mode == Some(EXECUTABLE) })
    }
}
