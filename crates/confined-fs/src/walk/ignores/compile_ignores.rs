//! The lines of an ignore file compiled, within a bound of memory.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Longest ignore file that is read, in bytes; what follows does not count, which is said.
pub(super) const LONGEST: u64 = 1024 * 1024;
/// Bytes that the compiled rules of one file take at most.
const FILE_MEMORY: usize = 32 << 20;
/// About what one rule takes (measured with globset 0.4: a name is a key of a hash table; what holds
/// wildcards is compiled to a regex, with caches for each thread).
const NAME_MEMORY: usize = 1 << 10;
const WILDCARD_MEMORY: usize = 10 << 10;
const WILDCARD_BYTE_MEMORY: usize = 1 << 8;

/// The rules of an ignore file.
pub(super) struct Compiled {
    pub(super) rules: Gitignore,
    /// About the bytes that they take.
    pub(super) memory: usize,
    /// The first line that does not count, from 1.
    pub(super) ends_before: Option<usize>,
}

/// The rules in the content of an ignore file (of at most one byte more than [`LONGEST`]), as many as fit into
/// `memory` bytes. A line that is no pattern says nothing.
pub(super) fn compile(mut bytes: Vec<u8>, relative: &Path, memory: usize) -> Compiled {
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
    compiled
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
    // Braces are no part of git's syntax, but globset compiles them all the same.
    if plain.contains(['*', '?', '[', '{', '\\']) {
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
    fn wildcard_rules_cost_the_memory_of_a_regex() {
        assert_eq!(memory_of("plain"), NAME_MEMORY + 5 * 4);
        for rule in ["a*b", "a?b", "[ab]", "{a,b}", "\\a", "!{a,b}"] {
            assert!(memory_of(rule) > WILDCARD_MEMORY, "{rule}");
        }
    }
}
