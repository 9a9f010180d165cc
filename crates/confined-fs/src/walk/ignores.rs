//! Ignore rules as git reads them (`git_pattern`), read through directory handles, the configured patterns, and the default
//! ignores; and the names that the walk reads and the watcher has to notice.
//!
//! `.ignore` of any directory goes before `.gitignore`, that before `.git/info/exclude`, then the configured
//! patterns, and the default ignores last; the deepest file that says something wins, and in it the last line. A
//! nested repository does not inherit git's rules from above. The user's own `core.excludesFile` is not read: it is
//! outside of every root.
//!
//! Rules are read by policy as any other content: a link counts, as it does for ripgrep, when what it leads to is
//! in a root and no secret, so that a repository cannot make the server read a file outside. git itself follows no
//! link of that name in the work tree since 2.32 (gitignore(5), NOTES).
//!
//! The default ignores are names that are never source, some only next to a project file or with a marker inside. To add a
//! name, add it to one of the tables; the tests try every row.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::{ffi::OsStr, fs::File, sync::Arc};

use beneath::{Dir, Failure, FileKind, Listed, OpenFor};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{CutIgnoreFile, LimitsHit, git_pattern::translated};
use crate::disk_rules::worktree::{GIT_ENTRY, exclude_of, gitdir_of};
use crate::roots::{Roots, links};
use crate::{limits::Limit, path::WorkspacePath, policy::compiled_lines, revision::Revision, root::Root};

/// Ignore rules as ripgrep and fd have them, in or outside of a repository.
pub(super) const IGNORE_FILE: &str = ".ignore";
/// git's rules (gitignore(5)), which count outside of a repository as well.
pub(super) const GITIGNORE_FILE: &str = ".gitignore";
/// The exclude file of a repository, below the directory that the repository is in.
pub(super) const EXCLUDE_FILE: &str = ".git/info/exclude";

/// The file that marks a directory as a cache, by the [Cache Directory Tagging Specification](https://bford.info/cachedir/).
pub(super) const CACHE_TAG: &str = "CACHEDIR.TAG";
/// The file that a virtual environment of Python holds ([PEP 405](https://peps.python.org/pep-0405/)).
pub(super) const ENVIRONMENT_MARKER: &str = "pyvenv.cfg";

#[derive(Clone, Debug, Default)]
pub struct IgnoreRules {
    pub extra: Vec<String>,
    pub no_default: bool,
}

impl IgnoreRules {
    pub fn validate(&self) -> Vec<String> {
        let problem = |line| {
            let mut builder = GitignoreBuilder::new("");
            let problem = builder.add_line(None, line).and_then(|builder| builder.build()).err()?;
            Some(format!("ignore pattern {line:?} is not a pattern: {problem}"))
        };
        self.extra.iter().filter_map(|line| problem(line)).collect()
    }
}

#[derive(Debug)]
pub(crate) struct Ignores {
    pub(super) extra: Vec<Gitignore>,
    pub(super) no_default: bool,
    above: Vec<RulesAbove>,
    digests: Vec<Revision>,
}

/// The rules for a root from outside of it, as they were at the start (`ignores_above`).
#[derive(Debug, Default)]
pub(crate) struct RulesAbove {
    pub(super) rules: Option<Arc<DirectoryIgnores>>,
    pub(super) from_top: PathBuf,
    /// `info/exclude` for the root itself, where that is a checkout of a repository elsewhere.
    pub(super) exclude: Option<Vec<u8>>,
    /// The files, by paths of the host, with what was read.
    pub(super) files: Vec<(PathBuf, Vec<u8>)>,
    /// They ignore the root itself, so they do not count.
    pub(super) ignores_root: bool,
}

impl Ignores {
    /// Lines that are not patterns are left out (see [`IgnoreRules::validate`]).
    pub(crate) fn new(rules: &IgnoreRules, above: Vec<RulesAbove>) -> Self {
        let extra = compiled_lines(&rules.extra, &[]);
        // The version names the code that reads the tables and the files of rules, which may mean something else in another
        // one; the number, how that has changed since.
        let built_in = (VERSION_CONTROL, IGNORED_NAMES, IGNORED_ENDINGS, NEXT_TO, ENVIRONMENT_NAMES);
        let text = format!("{} 1 {rules:?} {built_in:?}", env!("CARGO_PKG_VERSION"));
        let digests = above.iter().map(|above| Revision::of(format!("{text} {:?}", above.files).as_bytes())).collect();
        Self { extra, no_default: rules.no_default, above, digests }
    }

    /// Another one for other rules that do not come from files in the root, built-in ones included: what was stored under
    /// others is not used.
    pub(super) fn digest(&self, root: &Root) -> Revision {
        self.digests[root.index]
    }

    pub(super) fn above(&self, root: &Root) -> &RulesAbove {
        &self.above[root.index]
    }

    /// The rules from outside of a root as text for a person; `None` where there are none.
    pub(crate) fn above_as_text(&self, root: &Root) -> Option<String> {
        let above = self.above(root);
        let files: Vec<String> = above.files.iter().map(|(file, _)| file.display().to_string()).collect();
        let verdict = if above.ignores_root { "left out, as they ignore all of it" } else { "ignore rules from above" };
        (!files.is_empty()).then(|| format!("{verdict}: {}", files.join(", ")))
    }
}

/// Whether a change of this name changes what is ignored in its directory and below.
pub(crate) fn holds_rules(name: &OsStr) -> bool {
    [IGNORE_FILE, GITIGNORE_FILE, GIT_ENTRY].iter().any(|known| name == *known)
}

/// Names that make the directory that they are in an ignored one.
const MARKER_NAMES: [&str; 2] = [CACHE_TAG, ENVIRONMENT_MARKER];

pub(crate) fn is_marker(name: &OsStr) -> bool {
    MARKER_NAMES.iter().any(|known| name == *known)
}

pub(crate) fn holds_marker(dir: &Dir) -> bool {
    MARKER_NAMES.iter().any(|marker| dir.child_stat(marker.as_ref()).is_ok())
}

/// Bytes that the compiled rules of all files from the root down to one directory take at most.
pub(super) const STACK_MEMORY: usize = 64 << 20;

/// The ignore files of one directory that has any, and the next such directory above.
#[derive(Debug)]
pub(crate) struct DirectoryIgnores {
    pub(super) ignore: Gitignore,
    pub(super) git: Gitignore,
    pub(super) exclude: Gitignore,
    pub(super) repository: bool,
    /// It is above the root: its rules are about paths from the top of the repository.
    pub(super) outside: bool,
    /// About the bytes that these rules and those above take.
    pub(super) memory: usize,
    pub(super) above: Option<Arc<DirectoryIgnores>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'w> {
    pub(crate) ignores: &'w Ignores,
    pub(crate) roots: &'w Roots,
    pub(crate) above: &'w RulesAbove,
    /// False when ignored entries are visited like all others, so nothing has to be read.
    pub(crate) needed: bool,
}

impl Rules<'_> {
    pub(crate) fn defaults(&self) -> bool {
        !self.ignores.no_default
    }

    /// Asks the user's files and the configured patterns about a path below the root.
    pub(crate) fn matched(&self, innermost: Option<&DirectoryIgnores>, path: &Path, directory: bool) -> Match<()> {
        let (mut by_ignore, mut by_git, mut by_exclude) = (Match::None, Match::None, Match::None);
        let (mut in_repository, mut next, mut from_top) = (true, innermost, None);
        while let Some(here) = next {
            let path = if here.outside {
                from_top.get_or_insert_with(|| self.above.from_top.join(path)).as_path()
            } else {
                path
            };
            match_first(&mut by_ignore, &here.ignore, path, directory);
            if in_repository {
                match_first(&mut by_git, &here.git, path, directory);
                match_first(&mut by_exclude, &here.exclude, path, directory);
            }
            in_repository &= !here.repository;
            next = here.above.as_deref();
        }
        let mut decided = by_ignore.or(by_git).or(by_exclude);
        self.ignores.extra.iter().rev().for_each(|part| match_first(&mut decided, part, path, directory));
        decided
    }

    /// The rules of the directories from the root down to the one above `start`.
    ///
    /// # Errors
    /// As [`Self::in_directory`].
    pub(crate) fn above(
        &self,
        start: &WorkspacePath,
        limits_hit: &mut LimitsHit,
    ) -> io::Result<Option<Arc<DirectoryIgnores>>> {
        if !self.needed {
            return Ok(None);
        }
        let mut ancestors: Vec<_> = start.relative().ancestors().skip(1).collect();
        ancestors.reverse();
        ancestors.into_iter().try_fold(self.above.rules.clone(), |above, relative| {
            // Asked for by name: a directory above may hold any number of others, and `ls` starts a
            // walk in each directory that it shows.
            match start.root().dir.dir_beneath(relative, OpenFor::Traverse) {
                Ok(dir) => {
                    let here = LocatedDir { root: start.root(), relative, dir: &dir };
                    let has = |name: &str| dir.child_stat(name.as_ref()).is_ok();
                    // A caller that keeps the effect of rules had these reported when it looked at that directory.
                    self.in_directory(above, here, has, &mut |_, _| {}, limits_hit)
                }
                Err(Failure::Io(error)) if Limit::of_open_files(&error).is_some() => Err(error),
                Err(_) => Ok(above),
            }
        })
    }

    /// The rules in a directory, given those above it; `has` says whether it holds a name. What does not count of
    /// them is noted in `limits_hit`.
    ///
    /// # Errors
    /// When too many files are open for them to be read: without them everything would be shown.
    pub(crate) fn in_directory(
        &self,
        above: Option<Arc<DirectoryIgnores>>,
        here: LocatedDir<'_>,
        has: impl Fn(&str) -> bool,
        on_source: OnSource<'_>,
        limits_hit: &mut LimitsHit,
    ) -> io::Result<Option<Arc<DirectoryIgnores>>> {
        if !self.needed {
            return Ok(None);
        }
        let (ignore, git, repository) = (has(IGNORE_FILE), has(GITIGNORE_FILE), has(GIT_ENTRY));
        if !(ignore || git || repository) {
            return Ok(above);
        }
        let mut memory = above.as_ref().map_or(0, |above| above.memory);
        let mut load = |present: bool, name: &'static str| -> io::Result<Gitignore> {
            if !present {
                return Ok(Gitignore::empty());
            }
            let bytes = here.read(name, self.roots, on_source)?;
            on_source(name, RuleSource::Content(bytes.as_deref()));
            let elsewhere =
                self.above.exclude.as_ref().filter(|_| name == EXCLUDE_FILE && here.relative == Path::new(""));
            let Some(bytes) = elsewhere.cloned().or(bytes) else { return Ok(Gitignore::empty()) };
            let compiled = compile(bytes, here.relative, STACK_MEMORY.saturating_sub(memory));
            memory += compiled.memory;
            if let Some(from_line) = compiled.ends_before {
                let file = WorkspacePath::new(here.root, &here.relative.join(name));
                limits_hit.ignore_file(CutIgnoreFile { file, from_line });
            }
            Ok(compiled.rules)
        };
        let exclude = load(repository, EXCLUDE_FILE)?;
        let ignore = load(ignore, IGNORE_FILE)?;
        let git = load(git, GITIGNORE_FILE)?;
        let outside = false;
        Ok(Some(Arc::new(DirectoryIgnores { ignore, git, exclude, repository, outside, memory, above })))
    }
}

/// Asks the matcher, unless a deeper one has decided.
fn match_first(decided: &mut Match<()>, matcher: &Gitignore, path: &Path, directory: bool) {
    if decided.is_none() && !matcher.is_empty() {
        *decided = matcher.matched(path, directory).map(|_| ());
    }
}

/// The source of rules, for a caller that caches what they ignore.
#[derive(Debug)]
pub(crate) enum RuleSource<'f> {
    /// A file of that name, which is open and has not been read yet.
    File(&'f File),
    /// A link, or a name behind one, with a hash of what was read ([`linked_content`]).
    Link(u64),
    /// The content, after all else; `None` where it cannot be read.
    Content(Option<&'f [u8]>),
}

/// Called for each file that rules are read from, with its path below the directory that is looked at.
pub(super) type OnSource<'r> = &'r mut dyn FnMut(&'static str, RuleSource<'_>);

/// A directory that may have ignore files: its path below its root, and its handle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocatedDir<'h> {
    pub(crate) root: &'h Arc<Root>,
    pub(crate) relative: &'h Path,
    pub(crate) dir: &'h Dir,
}

impl LocatedDir<'_> {
    /// The content of an ignore file in it; `None` where it cannot be read.
    ///
    /// # Errors
    /// When too many files are open.
    pub(crate) fn read(
        &self,
        name: &'static str,
        roots: &Roots,
        on_source: OnSource<'_>,
    ) -> io::Result<Option<Vec<u8>>> {
        match self.open(name) {
            Ok(file) => {
                on_source(name, RuleSource::File(&file));
                Ok(content(&file).ok())
            }
            Err(error) if Limit::of_open_files(&error).is_some() => Err(error),
            Err(error) if is_link(&error) => {
                let bytes = read_linked(roots, self.root, &self.relative.join(name))?.unwrap_or_default();
                on_source(name, RuleSource::Link(hash(&bytes)));
                Ok(Some(bytes))
            }
            Err(_) => Ok(None),
        }
    }

    /// Opens a file of rules in it, links refused.
    pub(super) fn open(&self, name: &str) -> io::Result<File> {
        if name != EXCLUDE_FILE {
            return self.dir.child_file(name.as_ref());
        }
        let git = self.dir.child_dir(GIT_ENTRY.as_ref(), OpenFor::Traverse)?;
        git.child_dir("info".as_ref(), OpenFor::Traverse)?.child_file("exclude".as_ref())
    }
}

/// A hash of the rules that a link leads to, as they are now; that of no rules where it leads to none.
pub(crate) fn linked_content(roots: &Roots, link: &WorkspacePath) -> u64 {
    let bytes = read_linked(roots, link.root(), link.relative());
    hash(&bytes.ok().flatten().unwrap_or_default())
}

/// Reads the target of a link to a file of rules, or what a `.git` file leads to: only inside the roots, and nothing that
/// policy hides or denies. `None` where that is nothing.
///
/// # Errors
/// When too many files are open for the link to be followed.
fn read_linked(roots: &Roots, root: &Arc<Root>, relative: &Path) -> io::Result<Option<Vec<u8>>> {
    let nothing_or = |error: Option<io::Error>| match error {
        Some(error) if Limit::of_open_files(&error).is_some() => Err(error),
        _ => Ok(None),
    };
    // Linked worktrees and submodules have a file of that name (gitrepository-layout(5)).
    if let Some(checkout) = relative.ancestors().nth(3).filter(|_| relative.ends_with(EXCLUDE_FILE))
        && let Some((_, gitdir)) =
            root.dir.dir_beneath(checkout, OpenFor::Traverse).ok().and_then(|dir| gitdir_of(&dir))
    {
        return Ok(exclude_of(&root.canonical.join(checkout), &gitdir, &|path| {
            let path = roots.containing(path, false).filter(|path| !path.hidden() && !path.secret())?;
            content(&path.root().dir.file_beneath(path.relative()).ok()?).ok()
        }));
    }
    let way = match links::follow(roots, &WorkspacePath::new(root, relative)) {
        Ok(way) => way,
        Err(error) => return nothing_or(error.source),
    };
    if way.hidden() || way.secret() {
        return Ok(None);
    }
    match way.real.root().dir.file_beneath(way.real.relative()) {
        Ok(file) => Ok(content(&file).ok()),
        Err(Failure::Io(error)) => nothing_or(Some(error)),
        Err(Failure::Link) => Ok(None),
    }
}

pub(super) fn content(file: &File) -> io::Result<Vec<u8>> {
    Ok(beneath::read_regular(file, MAX_RULE_BYTES + 1)?.unwrap_or_default())
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Whether an open with links refused may have failed because of one: with `O_DIRECTORY` that is `ENOTDIR`.
fn is_link(error: &io::Error) -> bool {
    beneath::is_link_error(error) || error.kind() == io::ErrorKind::NotADirectory
}

/// Longest ignore file that is read, in bytes; what follows does not count, which is reported.
pub(super) const MAX_RULE_BYTES: u64 = 1024 * 1024;
/// Bytes that the compiled rules of one file take at most.
const FILE_MEMORY: usize = 32 << 20;
/// About what one rule takes (measured with globset 0.4: a name is a key of a hash table; what holds
/// wildcards is compiled to a regex, with caches for each thread).
const NAME_MEMORY: usize = 1 << 10;
const WILDCARD_MEMORY: usize = 10 << 10;
const WILDCARD_BYTE_MEMORY: usize = 1 << 8;

pub(super) struct Compiled {
    pub(super) rules: Gitignore,
    /// About the bytes that they take.
    pub(super) memory: usize,
    /// The first line that does not count, from 1.
    pub(super) ends_before: Option<usize>,
}

/// The rules in the content of an ignore file (of at most one byte more than [`MAX_RULE_BYTES`]), as many as fit into
/// `memory` bytes. A line that is no pattern says nothing.
pub(super) fn compile(mut bytes: Vec<u8>, relative: &Path, memory: usize) -> Compiled {
    let longest = usize::try_from(MAX_RULE_BYTES).unwrap_or(usize::MAX);
    let cut = bytes.len() > longest;
    if cut {
        // The line that is cut is another one than was meant.
        let end = bytes[..longest].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(end);
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut compiled = compile_lines(text, relative, memory.min(FILE_MEMORY));
    if cut && compiled.ends_before.is_none() {
        compiled.ends_before = Some(text.lines().count() + 1);
    }
    compiled
}

fn compile_lines(text: &str, relative: &Path, most: usize) -> Compiled {
    let (mut memory, mut ends_before) = (0, None);
    let mut builder = GitignoreBuilder::new(relative);
    for (at, line) in text.split('\n').enumerate() {
        let rules = translated(line.strip_suffix('\r').unwrap_or(line));
        let cost: usize = rules.iter().map(|rule| memory_of(rule)).sum();
        if memory + cost > most {
            ends_before = Some(at + 1);
            break;
        }
        memory += cost;
        for rule in rules {
            // What is no pattern all the same counts for nothing, and the others do.
            let _ = builder.add_line(None, &rule);
        }
    }
    match builder.build() {
        Ok(rules) => Compiled { rules, memory, ends_before },
        // More than globset compiles at once.
        Err(_) if memory > WILDCARD_MEMORY => compile_lines(text, relative, memory / 2),
        Err(_) => Compiled { rules: Gitignore::empty(), memory: 0, ends_before: Some(1) },
    }
}

/// About the bytes that a rule takes.
fn memory_of(rule: &str) -> usize {
    // Those that globset looks up: names, and endings of names.
    let plain = rule.trim_start_matches(['!', '/']).trim_start_matches("**/").trim_start_matches("*.");
    if plain.contains(['*', '?', '[', '{', '\\']) {
        WILDCARD_MEMORY + rule.len() * WILDCARD_BYTE_MEMORY
    } else {
        NAME_MEMORY + rule.len() * 4
    }
}

/// Directories of version control, never entered from above.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".svn", ".bzr", ".jj"];

/// Names that are ignored anywhere: of JavaScript, of Python, and others.
const IGNORED_NAMES: &[&[&str]] = &[
    &["node_modules", ".next", ".nuxt", ".turbo"],
    &["__pycache__", ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache"],
    &[".gradle", ".cache", ".DS_Store"],
];

/// Endings of names that are ignored anywhere: the swap files of vim.
const IGNORED_ENDINGS: &[&str] = &[".swp"];

/// Output directories, each with the project files next to which it is one.
const NEXT_TO: &[(&str, &[&str])] = &[
    ("target", &["Cargo.toml", "pom.xml", "build.sbt", "project.clj"]),
    ("build", &["package.json", "pyproject.toml", "setup.py", "CMakeLists.txt"]),
    ("build", &["build.gradle", "build.gradle.kts", "meson.build", "pubspec.yaml"]),
    ("dist", &["package.json", "pyproject.toml", "setup.py"]),
    ("out", &["package.json", "CMakeLists.txt", "build.gradle", "build.gradle.kts", "foundry.toml"]),
];

/// Directories that are virtual environments when [`ENVIRONMENT_MARKER`] is in them.
const ENVIRONMENT_NAMES: &[&str] = &["venv", "env"];

pub(crate) fn is_version_control(name: &OsStr) -> bool {
    VERSION_CONTROL.iter().any(|known| name == *known)
}

/// Whether an entry is ignored because of its name; `siblings` is the sorted listing that it is in. Asked for every
/// name of a tree: comparing with every row takes some 3 ns, as a filter by the first byte did.
pub(crate) fn is_ignored_by_name(listed: &Listed, siblings: &[Listed]) -> bool {
    let name = listed.name.as_os_str();
    let ends = |ending: &&str| name.as_encoded_bytes().ends_with(ending.as_bytes());
    if IGNORED_NAMES.iter().any(|names| names.iter().any(|known| name == *known))
        || is_version_control(name)
        || IGNORED_ENDINGS.iter().any(ends)
    {
        return true;
    }
    listed.kind == FileKind::Directory
        && NEXT_TO.iter().any(|(known, projects)| name == *known && projects.iter().any(|file| has(siblings, file)))
}

pub(crate) fn is_project_file(name: &OsStr) -> bool {
    NEXT_TO.iter().any(|(_, projects)| projects.iter().any(|file| name == *file))
}

/// Whether a directory is ignored because of a marker in it; `holds` says whether it holds a name.
pub(crate) fn is_ignored_by_marker(name: &OsStr, holds: impl Fn(&str) -> bool) -> bool {
    holds(CACHE_TAG) || (ENVIRONMENT_NAMES.iter().any(|known| name == *known) && holds(ENVIRONMENT_MARKER))
}

/// The names of a directory in byte order: getdents(2) gives them in none that means anything.
pub(super) fn sorted(dir: &Dir) -> io::Result<Vec<Listed>> {
    let mut names = dir.list()?;
    names.sort_unstable_by(|one, two| one.name.as_encoded_bytes().cmp(two.name.as_encoded_bytes()));
    Ok(names)
}

/// Where this name is in a sorted listing.
pub(super) fn position(names: &[Listed], name: &[u8]) -> Option<usize> {
    names.binary_search_by(|listed| listed.name.as_encoded_bytes().cmp(name)).ok()
}

/// Whether a sorted listing has this name, of a regular file.
pub(super) fn is_file(names: &[Listed], name: &str) -> bool {
    position(names, name.as_bytes()).is_some_and(|at| names[at].kind == FileKind::File)
}

/// Whether a sorted listing has this name.
pub(super) fn has(names: &[Listed], name: &str) -> bool {
    position(names, name.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignores(compiled: &Compiled, name: &str) -> bool {
        compiled.rules.matched(Path::new(name), false).is_ignore()
    }

    #[test]
    fn names_all_count_and_wildcards_up_to_a_reported_line() {
        let lines = |line: &dyn Fn(usize) -> String| (0..20_000).map(line).collect::<Vec<_>>().join("\n");
        let names = lines(&|n| if n % 2 == 0 { format!("generated_{n}.txt") } else { format!("*.x{n}") });
        let compiled = compile_lines(&names, Path::new(""), FILE_MEMORY);
        assert_eq!(compiled.ends_before, None);
        assert!(ignores(&compiled, "src/generated_0.txt") && ignores(&compiled, "a.x19999"));

        let wildcards = lines(&|n| format!("gen_*_{n}_*.tmp"));
        let compiled = compile_lines(&wildcards, Path::new(""), FILE_MEMORY);
        let end = compiled.ends_before.expect("they do not fit");
        assert!((1_000..10_000).contains(&end) && compiled.memory <= FILE_MEMORY, "{end}");
        assert!(ignores(&compiled, &format!("gen_a_{}_b.tmp", end - 2)));
        assert!(!ignores(&compiled, &format!("gen_a_{}_b.tmp", end - 1)));
    }

    #[test]
    fn a_configured_pattern_that_cannot_be_compiled_is_reported_and_leaves_the_others_in_force() {
        let deep = format!("{}a,b{}", "{".repeat(300), "}".repeat(300));
        let extra = ["*.gen", "*.tmp", &deep, "!keep.gen"].map(str::to_owned).to_vec();
        let rules = IgnoreRules { extra, no_default: false };
        assert_eq!(rules.validate().len(), 1);
        let ignores = Ignores::new(&rules, Vec::new());
        let (roots, _) = Roots::open(&[], &crate::policy::PolicyRules::default(), false).unwrap();
        let rules = Rules { ignores: &ignores, roots: &roots, above: &RulesAbove::default(), needed: true };
        let is_ignored = |name: &str| rules.matched(None, Path::new(name), false).is_ignore();
        assert!(is_ignored("x/a.gen") && is_ignored("a.tmp") && !is_ignored("keep.gen") && !is_ignored("any"));
    }

    #[test]
    fn wildcard_rules_cost_the_memory_of_a_regex() {
        assert_eq!(memory_of("plain"), NAME_MEMORY + 5 * 4);
        for rule in ["a*b", "a?b", "[ab]", "{a,b}", "\\a", "!{a,b}"] {
            assert!(memory_of(rule) > WILDCARD_MEMORY, "{rule}");
        }
    }
}

#[cfg(test)]
mod default_ignores_tests {
    use super::*;
    use crate::walk::ignores::is_marker;

    fn listed(name: &str, kind: FileKind) -> Listed {
        Listed { name: name.into(), kind }
    }

    fn is_ignored(name: &str, kind: FileKind, siblings: &[&str]) -> bool {
        let siblings: Vec<Listed> = siblings.iter().map(|name| listed(name, FileKind::File)).collect();
        is_ignored_by_name(&listed(name, kind), &siblings)
    }

    #[test]
    fn every_row_of_the_tables_counts() {
        for name in IGNORED_NAMES.iter().copied().flatten().chain(VERSION_CONTROL) {
            assert!(is_ignored(name, FileKind::Directory, &[]), "{name}");
            assert!(is_ignored(name, FileKind::File, &[]), "{name}");
            assert!(!is_ignored(&format!("{name}x"), FileKind::Directory, &[]), "{name}x");
        }
        for ending in IGNORED_ENDINGS {
            assert!(is_ignored(&format!(".file{ending}"), FileKind::File, &[]), "{ending}");
        }
        for (name, projects) in NEXT_TO {
            assert!(!is_ignored(name, FileKind::Directory, &["other"]), "{name}");
            for project in *projects {
                assert!(is_ignored(name, FileKind::Directory, &[project]), "{name} next to {project}");
                assert!(!is_ignored(name, FileKind::File, &[project]), "a file {name} next to {project}");
            }
        }
        for name in ["src", "targets", "environment", "main.rs"] {
            assert!(!is_ignored(name, FileKind::Directory, &["Cargo.toml"]), "{name}");
        }
    }

    #[test]
    fn every_marker_counts_and_the_watcher_knows_it() {
        for marker in [CACHE_TAG, ENVIRONMENT_MARKER] {
            assert!(is_marker(OsStr::new(marker)), "{marker}");
        }
        assert!(is_ignored_by_marker(OsStr::new("any"), |name| name == CACHE_TAG));
        for name in ENVIRONMENT_NAMES {
            assert!(is_ignored_by_marker(OsStr::new(name), |name| name == ENVIRONMENT_MARKER), "{name}");
        }
        assert!(!is_ignored_by_marker(OsStr::new("src"), |name| name == ENVIRONMENT_MARKER));
        assert!(!is_ignored_by_marker(OsStr::new("venv"), |_| false));
    }
}
