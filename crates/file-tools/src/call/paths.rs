//! Paths that a call gives by their end only: `index.ts` or `@app/index.ts` for `src/app/index.ts`.
//!
//! Every tool asks here for a path that must exist. A path that is there is taken as it is. One that is not
//! there means the only file in the workspace whose path ends with these names, and the answer says so in its first line.
//! Several are an error that lists them, and so is one that may not be the only one. The path of a new file is not
//! searched for, unless it is mentioned with `@`.
//!
//! A path that is not there also means the one whose names look the same (`look_alike`), and, with backslashes, the one that
//! Windows writes so. To make something beside it is refused once.

use confined_fs::resolve::{PathSuffix, has_drive, windows_form};
use confined_fs::{LookAlikes, Revision, WorkspacePath, stop::StopReason};
use tree_search::Scope;
use tree_search::suffix_search::{NearestTop, SuffixHits, search_tail};

use super::{
    super::read::selection::path_before_selection,
    answer::count,
    context::{Blocking, CallContext, PathReference, echo},
    error::{Kind, ToolError},
    fence::fenced,
};

/// Names that are compared for the note that a file with the name of the new one exists elsewhere: it must not delay
/// the write.
const MAX_NAMES: usize = 2000;

/// The kinds of entries that a path may name where it is given by its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingKind {
    File,
    FileOrDirectory,
    DirectoryOrFile,
}

impl ExistingKind {
    fn of(self, hits: &SuffixHits) -> &NearestTop {
        let SuffixHits { files, directories, .. } = hits;
        match self {
            Self::FileOrDirectory if files.count == 0 => directories,
            Self::DirectoryOrFile if directories.count > 0 => directories,
            Self::File | Self::FileOrDirectory | Self::DirectoryOrFile => files,
        }
    }
}

impl CallContext {
    /// Resolves a caller's text to the path of something that exists. A path that is not there, and is not the end of some
    /// path either, is returned as it is: opening it makes the error.
    ///
    /// # Errors
    /// Where the text is no path, and where it is the end of several.
    pub fn existing(&self, text: &str, wanted: ExistingKind) -> Result<WorkspacePath, ToolError> {
        let path = self.resolve(text)?;
        // The search for an end may walk the disk; without it the path is not there, and the call is planned again.
        if self.blocking == Blocking::Never || !self.workspace.is_missing(&path) {
            return Ok(path);
        }
        let slashes = windows_form(text);
        let Some(tail) = self.workspace.tail_of(slashes.as_deref().unwrap_or(text)) else { return Ok(path) };
        let hits = match self.resolve_tail(text, &tail, wanted)? {
            Ok(found) => return Ok(found),
            Err(hits) => hits,
        };
        if let Some(file) = self.before_selection(text) {
            return Err(ToolError::new(Kind::NotFound, format!("no such file or directory: {}", echo(text)))
                .hint(format!("only read takes lines after a path: pass {file}")));
        }
        if hits.complete && hits.in_other_case.count == 0 {
            return Ok(path);
        }
        let error = ToolError::not_found_near(&self.workspace, &path, hits.in_other_case.paths);
        Err(if hits.complete { error } else { error.hint(UNFINISHED_SEARCH_HINT) })
    }

    fn before_selection(&self, text: &str) -> Option<WorkspacePath> {
        let file = path_before_selection(text)?;
        self.workspace.resolve(file).ok().filter(|file| !self.workspace.is_missing(file))
    }

    /// Where a search starts: at `path`, or at all roots without one or with an empty one.
    ///
    /// # Errors
    /// As [`Self::existing`], and where nothing is there.
    pub(crate) fn scope(&self, path: Option<&str>, wanted: ExistingKind) -> Result<Scope, ToolError> {
        let scope = match path.filter(|path| !path.trim().is_empty()) {
            Some(path) => Scope::at(&self.workspace, &self.existing(path, wanted)?),
            None => Scope::of_roots(&self.workspace),
        };
        scope.map_err(|error| ToolError::access(&self.workspace, error))
    }

    /// Resolves a caller's text to the path of something that may come later: what is there, the only file of that
    /// end, or else the path as it is.
    ///
    /// # Errors
    /// Where the text is no path, and where it is the end of several.
    pub(crate) fn awaited(&self, text: &str) -> Result<WorkspacePath, ToolError> {
        let path = self.resolve(text)?;
        let tail = self.workspace.tail_of(text).filter(|_| self.workspace.is_missing(&path));
        let Some(tail) = tail else { return Ok(path) };
        Ok(self.resolve_tail(text, &tail, ExistingKind::File)?.unwrap_or(path))
    }

    /// As [`Workspace::resolve`](confined_fs::Workspace::resolve); what is not there means what looks the same, which the
    /// answer says.
    ///
    /// # Errors
    /// Where the text is no path of this system, and where several look the same.
    pub(crate) fn resolve(&self, text: &str) -> Result<WorkspacePath, ToolError> {
        let (literal, meant) = self.meant(text)?;
        let Some(path) = meant else { return Ok(literal) };
        self.references.add(PathReference { given: Some(text.to_owned()), path: path.clone() });
        Ok(path)
    }

    /// The path of this text, and what it means instead where nothing is there.
    fn meant(&self, text: &str) -> Result<(WorkspacePath, Option<WorkspacePath>), ToolError> {
        let literal = self.workspace.resolve(text)?;
        if self.blocking == Blocking::Never || !self.workspace.is_missing(&literal) {
            return Ok((literal, None));
        }
        // One text means one file throughout a call, whatever has come to the workspace since.
        if let Some(known) = self.references.resolved(text) {
            return Ok((literal, Some(known)));
        }
        let slashes = windows_form(text).and_then(|text| self.workspace.resolve(&text).ok());
        if let Some(path) = slashes.as_ref().filter(|path| !self.workspace.is_missing(path)) {
            return Ok((literal, Some(path.clone())));
        }
        let found = match self.workspace.look_alikes(&literal) {
            LookAlikes::None => slashes.map_or(LookAlikes::None, |path| self.workspace.look_alikes(&path)),
            found => found,
        };
        match found {
            LookAlikes::One(path) => Ok((literal, Some(path))),
            LookAlikes::Several(paths) => {
                let list: Vec<String> = paths.iter().map(|path| format!("{path:#}")).collect();
                let message = format!("there is no {}, and {} look the same", echo(text), count(paths.len(), "name"));
                let error = ToolError::new(Kind::Ambiguous, message).hint("pass one of them with its escapes");
                Err(error.details(fenced(&self.workspace, &paths, list.join("\n"))))
            }
            LookAlikes::None if has_drive(text) => {
                let message = format!("this is a path of Windows, and there are no drives here: {}", echo(text));
                Err(ToolError::invalid(message).hint("pass the path below the root, with /; ls shows what is there"))
            }
            LookAlikes::None => Ok((literal, None)),
        }
    }

    /// The path of something that may be made. What looks the same is meant where `is_meant` says so; to make another
    /// one of that look is refused once, and so is a name with backslashes.
    ///
    /// # Errors
    /// As [`Self::resolve`], and the refusal.
    pub(crate) fn resolve_new(
        &self,
        text: &str,
        is_meant: impl Fn(&WorkspacePath) -> bool,
    ) -> Result<WorkspacePath, ToolError> {
        let (literal, meant) = self.meant(text)?;
        let is_refused = |why: &str| {
            let reason = Revision::of(why.as_bytes());
            self.session.ledger.refuse_once(&literal, Revision::of(b"new name"), reason, true)
        };
        let Some(path) = meant else {
            let has_backslash = literal.relative().as_os_str().as_encoded_bytes().contains(&b'\\');
            let slashes = windows_form(text).filter(|_| has_backslash && self.workspace.is_missing(&literal));
            return match slashes.filter(|_| is_refused("backslashes")) {
                Some(slashes) => Err(ToolError::invalid(format!("a backslash is part of a name here: {}", echo(text)))
                    .hint(format!("pass {}; the same call again makes that name", echo(&slashes)))),
                None => Ok(literal),
            };
        };
        // Its directory alone may look like the given one.
        let is_there = !self.workspace.is_missing(&path);
        let is_alike = is_there && path.file_name() != literal.file_name() && windows_form(text).is_none();
        if is_alike && !is_meant(&path) {
            if is_refused(&path.to_string()) {
                let message = format!("there is no {}, but {path:#} looks the same", echo(text));
                let hint = format!("pass {path:#} for that one, read first; the same call again makes another");
                return Err(ToolError::invalid(message).hint(hint));
            }
            let name = literal.file_name().unwrap_or_default();
            return Ok(path.parent().map_or(literal.clone(), |parent| parent.child(name.as_ref())));
        }
        self.references.add(PathReference { given: Some(text.to_owned()), path: path.clone() });
        Ok(path)
    }

    /// As `resolve_new`, of a file: a slash after the name means a directory.
    ///
    /// # Errors
    /// As there, where the text is no path of a file, and where it mentions several.
    pub fn resolve_new_file(
        &self,
        text: &str,
        is_meant: impl Fn(&WorkspacePath) -> bool,
    ) -> Result<WorkspacePath, ToolError> {
        let path = self.resolve_new(text, is_meant)?;
        if text.trim_end().ends_with('/') && !path.is_root() {
            return Err(ToolError::invalid(format!("`path` ends with a slash, so it names a directory: {path}/"))
                .hint("give the name of a file; the directories above it are made"));
        }
        if !self.workspace.is_missing(&path) {
            return Ok(path);
        }
        let Some(tail) = self.workspace.tail_of(text) else { return Ok(path) };
        if tail.is_mention {
            return match self.resolve_tail(text, &tail, ExistingKind::File)? {
                Ok(found) => Ok(found),
                Err(_) => match path_before_selection(text) {
                    Some(file) => Err(ToolError::invalid(format!("{} names lines of a file", echo(text)))
                        .hint(format!("a file is written whole: pass {}, or change the lines with edit", echo(file)))),
                    None => Ok(path),
                },
            };
        }
        if tail.is_bare() {
            let hits = search_tail(&self.workspace, &self.path_index, &tail, MAX_NAMES, &self.stop);
            if let Some(other) = hits.files.only() {
                self.references.add(PathReference { given: None, path: other.clone() });
            }
        }
        Ok(path)
    }

    /// The only entry whose path ends with `tail`, or what was found where nothing ends so.
    fn resolve_tail(&self, text: &str, tail: &PathSuffix, wanted: ExistingKind) -> Result<SuffixHit, ToolError> {
        // One text means one file throughout a call, whatever has come to the workspace since.
        if let Some(known) = self.references.resolved(text) {
            return Ok(Ok(known));
        }
        let hits = search_tail(&self.workspace, &self.path_index, tail, usize::MAX, &self.stop);
        if self.stop.stopped() == Some(StopReason::Cancelled) {
            return Err(ToolError::cancelled());
        }
        let found = wanted.of(&hits);
        if found.count == 0 {
            return Ok(Err(hits));
        }
        match found.only().filter(|_| hits.complete) {
            Some(only) => {
                self.references.add(PathReference { given: Some(text.to_owned()), path: only.clone() });
                Ok(Ok(only.clone()))
            }
            None => Err(self.ambiguous(text, found, hits.complete)),
        }
    }

    fn ambiguous(&self, text: &str, found: &NearestTop, complete: bool) -> ToolError {
        let given = echo(text);
        let end = if found.count == 1 { "ends" } else { "end" };
        let paths = count(found.count, "path");
        let at_least = if complete { "" } else { "at least " };
        let message = format!("{given} does not exist, and {at_least}{paths} in the workspace {end} with it");
        let mut list: Vec<String> = found.paths.iter().map(ToString::to_string).collect();
        if found.count > list.len() {
            list.push(format!("and {} more", found.count - list.len()));
        }
        let is_untrusted = found.paths.iter().any(|path| self.workspace.is_untrusted(path));
        let error = ToolError::new(Kind::Ambiguous, message);
        let such = found.paths.first().filter(|_| !is_untrusted).map(|first| format!(", such as {first}"));
        let such = such.unwrap_or_default();
        let error = error.hint(format!("pass the whole path of the one that you mean{such}"));
        let error = if complete { error } else { error.hint(UNFINISHED_SEARCH_HINT) };
        error.details(fenced(&self.workspace, &found.paths, list.join("\n")))
    }
}

/// The hint where a search for a name did not look at all names in time.
const UNFINISHED_SEARCH_HINT: &str =
    "the time was too short to look at all names, so there may be others; glob finds names below a path";

type SuffixHit = Result<WorkspacePath, SuffixHits>;
