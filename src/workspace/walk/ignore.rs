//! Ignore rules as ripgrep and git have them, read through directory handles.
//!
//! `.ignore` of any level goes before `.gitignore`, that before `.git/info/exclude`, then the
//! configured patterns, and the default list (`junk`) last; the deepest file that says something
//! wins, and in it the last line. A nested repository does not inherit git's rules from above.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::workspace::handle::FileKind;
use crate::workspace::limits::Limit;
use crate::workspace::path::WorkspacePath;
use crate::workspace::sys::{self, Dir, Failure, Use};

use super::gaps::{Gaps, RuleGap};

/// Longest ignore file that is read, in bytes; what follows does not count, which is said.
const LONGEST: u64 = 1024 * 1024;
/// Bytes that the compiled rules of one file take at most, and those of all files of a branch.
const FILE_MEMORY: usize = 32 << 20;
const BRANCH_MEMORY: usize = 64 << 20;
/// About what one rule takes (measured with globset 0.4: a name is a key of a hash table; what holds
/// wildcards is compiled to a regex, with caches for each thread).
const NAME_MEMORY: usize = 1 << 10;
const WILDCARD_MEMORY: usize = 10 << 10;
const WILDCARD_BYTE_MEMORY: usize = 1 << 8;

/// What the configuration says about ignored files.
#[derive(Clone, Debug, Default)]
pub struct IgnoreRules {
    /// More patterns, in gitignore syntax, anchored at each root.
    pub extra: Vec<String>,
    /// Without the default list.
    pub no_default: bool,
}

impl IgnoreRules {
    /// Problems, one sentence each.
    pub fn validate(&self) -> Vec<String> {
        let mut builder = GitignoreBuilder::new("");
        self.extra
            .iter()
            .filter_map(|line| {
                let problem = builder.add_line(None, line).err()?;
                Some(format!("ignore pattern {line:?} is not a pattern: {problem}"))
            })
            .collect()
    }
}

/// The configured rules, compiled.
#[derive(Debug)]
pub(in crate::workspace) struct Ignores {
    extra: Gitignore,
    no_default: bool,
}

impl Ignores {
    /// Patterns that are none are left out (see [`IgnoreRules::validate`]).
    pub(in crate::workspace) fn new(rules: &IgnoreRules) -> Self {
        let mut builder = GitignoreBuilder::new("");
        for line in &rules.extra {
            let _ = builder.add_line(None, line);
        }
        let extra = builder.build().unwrap_or_else(|_| Gitignore::empty());
        Self { extra, no_default: rules.no_default }
    }
}

/// What rules say about a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// Leave it out.
    Ignored,
    /// Expressly not.
    Kept,
    /// Nothing.
    Silent,
}

/// The ignore files of one directory that has any, and the next such directory above.
#[derive(Debug)]
pub(super) struct Level {
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// A repository starts here.
    repository: bool,
    /// About the bytes that the rules of this level and of those above take.
    memory: usize,
    above: Option<Arc<Level>>,
}

/// The rules of one walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'w> {
    pub(super) ignores: &'w Ignores,
    /// False when ignored entries are visited like all others, so nothing has to be read.
    pub(super) needed: bool,
}

impl Rules<'_> {
    /// Whether the default list counts.
    pub(super) fn defaults(&self) -> bool {
        !self.ignores.no_default
    }

    /// What the user's files and the configured patterns say about a path below the root.
    pub(super) fn verdict(&self, level: Option<&Level>, path: &Path, directory: bool) -> Answer {
        let (mut by_ignore, mut by_git, mut by_exclude) = (Answer::Silent, Answer::Silent, Answer::Silent);
        let mut in_repository = true;
        let mut next = level;
        while let Some(here) = next {
            ask(&mut by_ignore, &here.ignore, path, directory);
            if in_repository {
                ask(&mut by_git, &here.git, path, directory);
                ask(&mut by_exclude, &here.exclude, path, directory);
            }
            in_repository &= !here.repository;
            next = here.above.as_deref();
        }
        let mut by_extra = Answer::Silent;
        ask(&mut by_extra, &self.ignores.extra, path, directory);
        let order = [by_ignore, by_git, by_exclude, by_extra];
        order.into_iter().find(|answer| *answer != Answer::Silent).unwrap_or(Answer::Silent)
    }

    /// The rules of the directories from the root down to the one above `start`.
    ///
    /// # Errors
    /// As [`Self::level`].
    pub(super) fn above(&self, start: &WorkspacePath, gaps: &mut Gaps) -> io::Result<Option<Arc<Level>>> {
        if !self.needed {
            return Ok(None);
        }
        let mut ancestors: Vec<_> = start.relative().ancestors().skip(1).collect();
        ancestors.reverse();
        ancestors.into_iter().try_fold(None, |above, relative| {
            // Asked for by name: a directory above may hold any number of others, and `ls` starts a
            // walk in each directory that it shows.
            match start.root().dir().dir_beneath(relative, Use::Pass) {
                Ok(dir) => {
                    let has = |name: &str| dir.child_stat(name.as_ref()).is_ok();
                    self.level(above, &dir, has, &WorkspacePath::new(start.root(), relative), gaps)
                }
                Err(Failure::Io(error)) if is_open_files(&error) => Err(error),
                Err(_) => Ok(above),
            }
        })
    }

    /// The rules in a directory, given those above it; `has` tells whether it holds a name. What does not count of
    /// them is noted in `gaps`.
    ///
    /// # Errors
    /// When too many files are open for them to be read: without them everything would be shown.
    pub(super) fn level(
        &self,
        above: Option<Arc<Level>>,
        dir: &Dir,
        has: impl Fn(&str) -> bool,
        path: &WorkspacePath,
        gaps: &mut Gaps,
    ) -> io::Result<Option<Arc<Level>>> {
        if !self.needed {
            return Ok(None);
        }
        let (ignore, git, repository) = (has(".ignore"), has(".gitignore"), has(".git"));
        if !(ignore || git || repository) {
            return Ok(above);
        }
        let mut memory = above.as_ref().map_or(0, |above| above.memory);
        let mut load = |dir: Option<&Dir>, name: &str, shown: &str| -> io::Result<Gitignore> {
            let Some(dir) = dir else { return Ok(Gitignore::empty()) };
            let Some(compiled) = compile(dir, name, path.relative(), BRANCH_MEMORY.saturating_sub(memory))? else {
                return Ok(Gitignore::empty());
            };
            memory += compiled.memory;
            if let Some(from_line) = compiled.ends_before {
                gaps.rule(RuleGap { file: path.child(shown.as_ref()), from_line });
            }
            Ok(compiled.rules)
        };
        let exclude = match repository.then(|| info(dir)).transpose()?.flatten() {
            Some(info) => load(Some(&info), "exclude", ".git/info/exclude")?,
            None => Gitignore::empty(),
        };
        let ignore = load(ignore.then_some(dir), ".ignore", ".ignore")?;
        let git = load(git.then_some(dir), ".gitignore", ".gitignore")?;
        Ok(Some(Arc::new(Level { ignore, git, exclude, repository, memory, above })))
    }
}

/// The `info` directory of a repository that begins in `dir`.
fn info(dir: &Dir) -> io::Result<Option<Dir>> {
    let inner = dir.child_dir(".git".as_ref(), Use::Pass).and_then(|git| git.child_dir("info".as_ref(), Use::Pass));
    match inner {
        Ok(info) => Ok(Some(info)),
        Err(error) if is_open_files(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Whether too many files were open.
pub(super) fn is_open_files(error: &io::Error) -> bool {
    Limit::of(error).is_some_and(Limit::is_open_files)
}

/// Lets the matcher answer if nobody deeper has.
fn ask(answer: &mut Answer, matcher: &Gitignore, path: &Path, directory: bool) {
    if *answer == Answer::Silent && !matcher.is_empty() {
        *answer = match matcher.matched(path, directory) {
            Match::None => Answer::Silent,
            Match::Ignore(_) => Answer::Ignored,
            Match::Whitelist(_) => Answer::Kept,
        };
    }
}

/// The rules of an ignore file.
struct Compiled {
    rules: Gitignore,
    /// About the bytes that they take.
    memory: usize,
    /// The first line that does not count, from 1.
    ends_before: Option<usize>,
}

/// The rules of an ignore file, as many as fit into `memory` bytes; none where it cannot be read. A line that is no
/// pattern says nothing.
fn compile(dir: &Dir, name: &str, relative: &Path, memory: usize) -> io::Result<Option<Compiled>> {
    let mut bytes = Vec::new();
    let read = dir.child_file(name.as_ref()).and_then(|file| {
        if sys::file_stat(&file)?.kind == FileKind::File {
            file.take(LONGEST + 1).read_to_end(&mut bytes)?;
        }
        Ok(())
    });
    match read {
        Err(error) if is_open_files(&error) => return Err(error),
        Err(_) => return Ok(None),
        Ok(()) => {}
    }
    let longest = usize::try_from(LONGEST).unwrap_or(usize::MAX);
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
    Ok(Some(compiled))
}

fn compile_lines(text: &str, relative: &Path, most: usize) -> Compiled {
    let (mut memory, mut ends_before) = (0, None);
    let mut builder = GitignoreBuilder::new(relative);
    for (at, line) in text.lines().enumerate() {
        let cost = memory_of(line);
        if memory + cost > most {
            ends_before = Some(at + 1);
            break;
        }
        memory += cost;
        let _ = builder.add_line(None, line);
    }
    match builder.build() {
        Ok(rules) => Compiled { rules, memory, ends_before },
        // More than globset compiles at once.
        Err(_) if memory > WILDCARD_MEMORY => compile_lines(text, relative, memory / 2),
        Err(_) => Compiled { rules: Gitignore::empty(), memory: 0, ends_before: Some(1) },
    }
}

/// About the bytes that the rule in a line takes.
fn memory_of(line: &str) -> usize {
    let rule = line.trim_end();
    if rule.is_empty() || rule.starts_with('#') {
        return 0;
    }
    // Those that globset looks up: names, and endings of names.
    let plain = rule.trim_start_matches('!').trim_start_matches("**/").trim_start_matches("*.");
    if plain.contains(['*', '?', '[', '\\']) {
        WILDCARD_MEMORY + rule.len() * WILDCARD_BYTE_MEMORY
    } else {
        NAME_MEMORY + rule.len() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignores(compiled: &Compiled, name: &str) -> bool {
        compiled.rules.matched(Path::new(name), false).is_ignore()
    }

    #[test]
    fn twenty_thousand_names_count_and_wildcards_up_to_a_line_that_is_named() {
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
}
