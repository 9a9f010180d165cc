//! The names that a pattern without a match most likely means.
//!
//! Compares the literal parts of the pattern with the names in the tree: its last name with those of files (`indxe.ts`,
//! `*Controler*.ts` in another case, `*.yml` for `.yaml`), and a directory in it that is nowhere with those that are
//! (`scr/**/*.ts`). Looks at a bounded number of names, for a moment.

use std::{cell::LazyCell, cmp::Ordering, ops::ControlFlow, path::Path, time::Duration};

use confined_fs::{FileKind, WorkspacePath, walk::WalkOptions};
use text_file::nearest_name::{GivenName, ONE_OF_MANY};
use tree_search::{NameGlob, Scope, SearchEntry};

use crate::{
    CallContext,
    glob::request::{GlobHits, GlobRequest, MAX_SEEN_NAMES, SeenNames},
};

const MAX_OFFERED: usize = 3;
/// Bytes of the longest path that is offered.
const MAX_PATH_BYTES: usize = 300;
const MAX_TIME: Duration = Duration::from_millis(300);
/// Names between two looks at the clock.
const CHECK_EVERY: usize = 64;
const BY_EXTENSION: f64 = 0.5;
/// Most readings of one name with braces.
const MAX_ALTERNATIVES: usize = 8;

struct PatternNames {
    any_case: Option<NameGlob>,
    names: Vec<GivenName>,
    /// The longest literal part of each name that has wildcards.
    parts: Vec<GivenName>,
    extensions: Vec<GivenName>,
    directories: Vec<(String, GivenName)>,
}

impl PatternNames {
    fn of(pattern: &str) -> Self {
        let (above, last) = pattern.rsplit_once('/').unwrap_or(("", pattern));
        let (mut names, mut parts, mut extensions) = (Vec::new(), Vec::new(), Vec::new());
        for name in alternatives(last) {
            let literal: String = name.chars().filter(|letter| !is_special(*letter)).collect();
            if literal.is_empty() {
                continue;
            }
            if literal == name {
                names.extend(GivenName::new(&literal));
            } else if let Some(extension) = literal.strip_prefix('.') {
                extensions.extend(GivenName::new(extension));
            } else {
                let longest = name.split(is_special).max_by_key(|part| part.len()).unwrap_or_default();
                parts.extend(GivenName::new(longest).filter(|_| longest.chars().count() >= 3));
            }
        }
        let directories = above
            .split('/')
            .filter(|name| !name.is_empty() && !name.contains(is_special))
            .filter_map(|name| Some((name.to_owned(), GivenName::new(name)?)))
            .take(MAX_ALTERNATIVES)
            .collect();
        Self { any_case: NameGlob::compile(pattern, false).ok(), names, parts, extensions, directories }
    }

    fn is_nothing(&self) -> bool {
        self.names.is_empty() && self.parts.is_empty() && self.extensions.is_empty() && self.directories.is_empty()
    }

    /// How near a file is, from 0 to 1.
    fn file(&self, name: &str, relative: &Path) -> Option<f64> {
        if self.any_case.as_ref().is_some_and(|glob| glob.matches(relative)) {
            return Some(1.0);
        }
        let whole = self.names.iter().filter_map(|given| given.similarity(name, ONE_OF_MANY));
        let part = self.parts.iter().filter(|given| given.is_within(name)).map(|_| ONE_OF_MANY);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        // What one slip parts, no matter how short.
        let near_extension = |given: &GivenName| given.similarity(extension?, 1.0);
        let extensions = self.extensions.iter().filter_map(near_extension).map(|similarity| similarity * BY_EXTENSION);
        whole.chain(part).chain(extensions).max_by(f64::total_cmp)
    }
}

fn is_special(letter: char) -> bool {
    matches!(letter, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\')
}

/// `a.ts` and `a.tsx` of `a.{ts,tsx}`, as far as there is one pair of braces.
fn alternatives(name: &str) -> Vec<String> {
    let braces = name.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match braces {
        Some((before, (inside, after))) => {
            inside.split(',').take(MAX_ALTERNATIVES).map(|one| format!("{before}{one}{after}")).collect()
        }
        None => vec![name.to_owned()],
    }
}

/// A path that may be meant: the most similar first, then the least deep.
struct NearPath {
    similarity: f64,
    path: WorkspacePath,
}

fn add(list: &mut Vec<NearPath>, similarity: f64, path: &WorkspacePath) {
    let rank = |near: &NearPath| (near.path.relative().iter().count(), near.path.clone());
    let near = NearPath { similarity, path: path.clone() };
    let is_before = |other: &NearPath| {
        let by_similarity = similarity.total_cmp(&other.similarity);
        by_similarity.then_with(|| rank(other).cmp(&rank(&near))) == Ordering::Less
    };
    let at = list.partition_point(is_before);
    // The names are in a note, which the budget of the list does not cut.
    if at < MAX_OFFERED && path.to_string().len() <= MAX_PATH_BYTES {
        list.insert(at, near);
        list.truncate(MAX_OFFERED);
    }
}

impl GlobRequest {
    /// Up to three paths with names near those in the pattern, below the start of the search or else anywhere in the
    /// workspace; directories with a slash after them.
    pub(super) fn nearest(&self, cx: &CallContext, found: &GlobHits) -> Vec<(WorkspacePath, bool)> {
        let wanted = PatternNames::of(&self.pattern);
        if wanted.is_nothing() {
            return Vec::new();
        }
        let near =
            self.nearest_among(cx, &wanted, &found.seen).unwrap_or_else(|| self.nearest_in(cx, &wanted, &self.scope));
        if !near.is_empty() {
            return near;
        }
        match Scope::of_roots(&cx.workspace) {
            Ok(scope) if scope.starts() != self.scope.starts() => self.nearest_in(cx, &wanted, &scope),
            _ => Vec::new(),
        }
    }

    /// As [`Self::nearest_in`] where the search was; `None` where its names are not kept.
    fn nearest_among(
        &self,
        cx: &CallContext,
        wanted: &PatternNames,
        seen: &SeenNames,
    ) -> Option<Vec<(WorkspacePath, bool)>> {
        let stop = cx.stop.with_earlier_deadline(MAX_TIME);
        let mut found = Found::new(wanted);
        for (visited, (start, kind, relative)) in seen.all()?.enumerate() {
            if visited % CHECK_EVERY == 0 && stop.stopped().is_some() {
                break;
            }
            let start = &self.scope.starts()[start];
            found.compare(wanted, kind, relative, || start.child(relative));
        }
        Some(found.into_paths())
    }

    fn nearest_in(&self, cx: &CallContext, wanted: &PatternNames, scope: &Scope) -> Vec<(WorkspacePath, bool)> {
        let stop = cx.stop.with_earlier_deadline(MAX_TIME);
        let mut found = Found::new(wanted);
        let mut visited = 0;
        let options = WalkOptions { ignored: self.ignored(), max_depth: None, directories: true, symlinks: false };
        for start in scope.starts() {
            let mut visit = |entry: SearchEntry<'_>| {
                visited += 1;
                if visited > MAX_SEEN_NAMES || (visited % CHECK_EVERY == 0 && stop.stopped().is_some()) {
                    return ControlFlow::Break(());
                }
                if !scope.belongs_to_other_start(&cx.workspace, &entry) {
                    found.compare(wanted, entry.kind(), entry.relative_to(start), || entry.path().clone());
                }
                ControlFlow::Continue(())
            };
            let walked = cx.path_index.walk(&cx.workspace, start, &options, &mut visit);
            if walked.is_ok_and(|(report, _)| report.stopped) {
                break;
            }
        }
        found.into_paths()
    }
}

struct Found {
    files: Vec<NearPath>,
    /// For each directory in the pattern; `None` where it is there.
    directories: Vec<Option<Vec<NearPath>>>,
}

impl Found {
    fn new(wanted: &PatternNames) -> Self {
        Self { files: Vec::new(), directories: wanted.directories.iter().map(|_| Some(Vec::new())).collect() }
    }

    /// Looks at the name of a path below a start; the whole one is made where it is near.
    fn compare(
        &mut self,
        wanted: &PatternNames,
        kind: FileKind,
        relative: &Path,
        path: impl FnOnce() -> WorkspacePath,
    ) {
        let Some(name) = relative.file_name().and_then(|name| name.to_str()) else { return };
        match kind {
            FileKind::File => {
                if let Some(similarity) = wanted.file(name, relative) {
                    add(&mut self.files, similarity, &path());
                }
            }
            FileKind::Directory => {
                let path = LazyCell::new(path);
                for ((given, wanted), near) in wanted.directories.iter().zip(&mut self.directories) {
                    if given == name {
                        *near = None;
                    } else if let Some(list) = near
                        && let Some(similarity) = wanted.similarity(name, ONE_OF_MANY)
                    {
                        add(list, similarity, &path);
                    }
                }
            }
            FileKind::Symlink | FileKind::Other => {}
        }
    }

    fn into_paths(self) -> Vec<(WorkspacePath, bool)> {
        let directories: Vec<NearPath> = self.directories.into_iter().flatten().flatten().collect();
        // Files of one extension are many: the slip is more likely in the directory.
        let least = if directories.is_empty() { 0.0 } else { BY_EXTENSION };
        let files = self.files.into_iter().filter(|near| near.similarity > least).map(|near| (near.path, false));
        files.chain(directories.into_iter().map(|near| (near.path, true))).take(MAX_OFFERED).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearness(pattern: &str, path: &str) -> Option<f64> {
        let path = Path::new(path);
        PatternNames::of(pattern).file(path.file_name().unwrap().to_str().unwrap(), path)
    }

    #[test]
    fn literal_parts_of_a_pattern_are_compared() {
        for (pattern, near, far) in [
            ("indxe.ts", "src/index.ts", "src/main.ts"),
            ("src/**/indexer.{ts,tsx}", "lib/indexer.tsx", "lib/other.tsx"),
            ("readme*", "docs/README.md", "docs/read.md"),
            ("*userservice*.ts", "src/user_service.rs", "src/user.rs"),
            ("**/*.yml", "ci.yaml", "ci.toml"),
            ("app/index.ts", "src/index.ts", "src/indices.ts"),
        ] {
            assert!(nearness(pattern, near).is_some(), "{pattern} {near}");
            assert_eq!(nearness(pattern, far), None, "{pattern} {far}");
        }
        for pattern in ["*", "**/*", "?", "{}", "", "/", "**/", "*{,}*"] {
            assert!(PatternNames::of(pattern).is_nothing(), "{pattern}");
        }
    }

    #[test]
    fn most_similar_and_least_deep_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = change_set::Workspace::of_directory(folder.path(), confined_fs::Access::ReadOnly);
        let mut list = Vec::new();
        for (similarity, path) in [(0.8, "a/b/c"), (1.0, "x/y/z"), (0.8, "a/d"), (0.8, "a/c"), (0.7, "e")] {
            add(&mut list, similarity, &workspace.resolve(path).unwrap());
        }
        let shown: Vec<String> = list.iter().map(|near| near.path.to_string()).collect();
        assert_eq!(shown, ["x/y/z", "a/c", "a/d"]);
    }
}
