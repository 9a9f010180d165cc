//! Recipe lines of a makefile that begin with blanks in place of the tab that make wants ("missing separator").
//!
//! Only a line directly after a rule or its recipe counts, and none that make may take for something else: an assignment,
//! a directive, another rule, a call that expands to one of them.

use structured_text::{Findings, SyntaxError};

const MAX_REPORTED: usize = 100;

/// First words of lines that are no recipe, however they are indented.
const DIRECTIVE_WORDS: &str = "ifeq ifneq ifdef ifndef else endif define endef include -include sinclude override export unexport \
     undefine vpath private load -load .if .ifdef .ifndef .elif .else .endif .for .endfor .include .undef .error .warning !include !if !else !endif";

/// Functions that are called for what they do, or give lines of a makefile.
const CALLED_FUNCTIONS: &str = "eval call info warning error foreach if and or shell";

/// Finds such lines; none in a text that names another sign than the tab.
pub(super) fn check(text: &str) -> Findings {
    let mut findings = Findings::default();
    if text.contains(".RECIPEPREFIX") {
        return findings;
    }
    let (mut start, mut is_recipe, mut goes_on, mut defines) = (0, false, false, 0_usize);
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let content = line.trim_end_matches(['\n', '\r']);
        let (was_open, words) = (goes_on, content.trim());
        goes_on = content.ends_with('\\');
        let first = words.split([' ', '\t', '(']).next().unwrap_or_default();
        if was_open || words.is_empty() || words.starts_with('#') {
            continue;
        }
        match first {
            "define" => defines += 1,
            "endef" => defines = defines.saturating_sub(1),
            _ => {}
        }
        if defines > 0 || content.starts_with('\t') || DIRECTIVE_WORDS.split(' ').any(|directive| directive == first) {
            continue;
        }
        let line = Line::of(words);
        if is_recipe && content.starts_with(' ') && line == Line::Command {
            findings.warnings.push(SyntaxError::new(at, "a recipe line begins with a tab, not with blanks".to_owned()));
            if findings.warnings.len() == MAX_REPORTED {
                break;
            }
            continue;
        }
        is_recipe = line == Line::Rule;
    }
    findings
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Rule,
    Assignment,
    Call,
    Command,
}

impl Line {
    fn of(words: &str) -> Self {
        let is_call = |words: &str| {
            let name = words.split([' ', ',', ')', '}']).next().unwrap_or_default();
            CALLED_FUNCTIONS.split(' ').any(|call| call == name)
        };
        if words.strip_prefix("$(").or_else(|| words.strip_prefix("${")).is_some_and(is_call) {
            return Self::Call;
        }
        let mut depth = 0_usize;
        for (at, sign) in words.char_indices() {
            match sign {
                '(' | '{' => depth += 1,
                ')' | '}' => depth = depth.saturating_sub(1),
                // The name of a variable is one word.
                '=' if depth == 0 => {
                    let name = words[..at].trim_end_matches([':', '?', '+', '!']).trim();
                    return if name.contains([' ', '\'', '"', '-']) { Self::Command } else { Self::Assignment };
                }
                // The second of several says what the first did, and a line of nothing else would take its length squared.
                ':' if words[..at].ends_with(':') => {}
                ':' if depth == 0 && !words[at..].trim_start_matches(':').starts_with('=') => return Self::Rule,
                // No target has one of them.
                '"' | '\'' | '@' | '|' | '>' | '<' | ';' | '&' if depth == 0 => return Self::Command,
                _ => {}
            }
        }
        Self::Command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(text).warnings.iter().map(|one| text[..one.at].matches('\n').count() + 1).collect()
    }

    #[test]
    fn recipes_with_blanks_are_found() {
        for (text, found) in [
            ("all:\n    echo hi\n", &[2][..]),
            ("all: a b\n\tcc -c a\n        cc -c b\n", &[3]),
            ("a: b\r\n  @echo \"x: y\"\r\n  $(CC) -o $@ $<\r\n", &[2, 3]),
            ("a:\n\n# comment\n  rm -f a\nb:\n  rm -f b\n", &[4, 6]),
            ("%.o: %.c\n \t$(CC) -c $<\n", &[2]),
            ("a:\nifdef X\n  rm a\nendif\n", &[3]),
            ("a: | b\n  FLAGS=1 make --x=y \\\n  more\n", &[]),
            ("a:\n  cp --x=y $@ \\\n    more\n  -rm a\n", &[2, 4]),
            ("a:: b ; echo\n    true\n", &[2]),
        ] {
            assert_eq!(lines(text), found, "{text:?}");
        }
    }

    #[test]
    fn other_lines_with_blanks_are_none() {
        for text in [
            "",
            "X = 1\n  Y = 2\n  Z := a:b\n",
            "SRC = a \\\n    b \\\n    c\n",
            "a: b\n\techo \\\n    more\n",
            "ifeq ($(X),1)\n  include x.mk\n  X ?= 2\nelse\n  -include y\nendif\n",
            "a: b\n  ifdef X\n\techo\n  endif\n",
            "a:\n  $(eval $(call b,c))\n  $(info hi)\n",
            "define x\n  a: b\n    echo\nendef\n",
            ".RECIPEPREFIX = >\na:\n> echo\n  echo\n",
            "a: b\n  c: d\n",
            "X := $(shell \\\n  echo)\n  Y = 1\n",
            "export X\n  plain words\n",
        ] {
            assert!(lines(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn long_texts_end_soon() {
        check(&"a:\n  b\n".repeat(100_000));
        for sign in ["(", ":"] {
            check(&format!("a:\n  {}=", sign.repeat(1 << 20)));
        }
    }
}
