//! Placeholders for code that a model left out: `// ... existing code ...`.
//!
//! Written to a file, one deletes the code that it replaces; Gemini CLI and Qwen Code refuse it in any new text
//! (<https://github.com/QwenLM/qwen-code/issues/2575>). Here it is refused where the old text is not exact.
//!
//! `...` alone is a statement of some languages, and any of these lines may be in a file as it is; so nothing that is
//! found exactly is refused for them.

use super::{interpretation::LineEdit, line_parts::content, search::Search};

/// The beginnings of comments, longest first, and the marks that may end one.
const COMMENT_STARTS: [&str; 10] = ["<!--", "{/*", "///", "/*", "//", "--", "#", "%", ";", "*"];
const COMMENT_ENDS: [&str; 3] = ["-->", "*/}", "*/"];

/// A comment instead of left-out code has one of these words.
const PLACEHOLDER_WORDS: &str =
    "existing rest unchanged remaining remains same omitted previous other elided code before above here";

const PLAIN_COMMENTS: &str = "existing code,rest unchanged,rest of the,rest of code,remains unchanged,remains the same,\
     code unchanged,unchanged code,same as before";

/// Line of `new`, counted from 1, that looks like a placeholder, where `old` and the file have no such line.
pub(super) fn brought_in(search: &Search<'_>, edit: &LineEdit<'_>) -> Option<usize> {
    let is_new_placeholder = |line: &str| {
        let content = content(line);
        comment(content).is_some_and(is_placeholder_comment) && !search.text.contains(content)
    };
    edit.new.iter().position(|line| is_new_placeholder(line)).map(|index| index + 1)
}

/// Line of `old`, counted from 1, that looks like a placeholder, where the file has no such line.
pub(super) fn line_of_old(search: &Search<'_>) -> Option<usize> {
    search
        .canonical_old
        .lines()
        .position(|line| is_placeholder(line) && !search.text.contains(content(line)))
        .map(|index| index + 1)
}

pub(super) fn is_placeholder(line: &str) -> bool {
    let content = content(line);
    is_dots(content) || comment(content).is_some_and(is_placeholder_comment)
}

fn comment(content: &str) -> Option<&str> {
    let start = COMMENT_STARTS.iter().find(|start| content.starts_with(**start))?;
    let text = content[start.len()..].trim();
    let end = COMMENT_ENDS.iter().find(|end| text.ends_with(**end)).map_or(0, |end| end.len());
    Some(text[..text.len() - end].trim_matches(|one: char| one.is_whitespace() || "/*#-".contains(one)))
}

fn is_dots(text: &str) -> bool {
    let bare = text.trim_matches(|one: char| "[](){}<> \t".contains(one));
    matches!(bare, "..." | "…" | "....")
}

fn is_placeholder_comment(comment: &str) -> bool {
    let lower = comment.to_lowercase();
    let has_dots = lower.contains("...") || lower.contains('…');
    let mut words = lower.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty());
    is_dots(comment)
        || has_dots && words.any(|word| PLACEHOLDER_WORDS.split(' ').any(|known| word == known))
        || PLAIN_COMMENTS.split(',').any(|phrase| lower.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::is_placeholder;
    use crate::{
        Strategy::{Exact, Indentation},
        testing::{assert_edited, assert_missed},
    };

    #[test]
    fn placeholders_are_recognised_and_code_is_not() {
        for line in [
            "...",
            "…",
            "[...]",
            "// ... existing code ...",
            "# ... rest of the function unchanged",
            "/* ... */",
            "# ...",
            "<!-- ... other items ... -->",
            "{/* existing code */}",
            "// rest of the code remains the same",
            "-- …",
        ] {
            assert!(is_placeholder(line), "{line}");
        }
        for line in
            ["print(...)", "f(...args)", "x[..., 0]", "// keeps the code here", "# see above", "a ... b", "// wait…"]
        {
            assert!(!is_placeholder(line), "{line}");
        }
    }

    #[test]
    fn old_text_that_leaves_code_out_is_refused_with_that_reason() {
        let file = "def f(a):\n    one(a)\n    two(a)\n    three(a)\n    return a\n";
        for line in ["    ...", "    # ... existing code ...", "    …"] {
            let old = format!("def f(a):\n{line}\n    return a\n");
            let diagnosis = assert_missed(file, &old, &old.replace("return a", "return b"));
            assert!(
                diagnosis.summary.contains("line 2 of old_string, `")
                    && diagnosis.summary.contains("leaves out lines 2-4"),
                "{diagnosis:?}"
            );
        }
    }

    #[test]
    fn new_text_that_leaves_code_out_is_refused_unless_the_old_text_is_exact() {
        let file = "    if a:\n        one(a)\n        two(a)\n";
        let new = "if b:\n    # ... existing code ...\n    three(a)\n";
        let diagnosis = assert_missed(file, "if a:\n    one(a)\n    two(a)\n", new);
        assert!(diagnosis.summary.contains("line 2 of new_string looks like a placeholder"), "{diagnosis:?}");
        assert_edited("x\n", "x", "# ... existing code ...", Exact, "# ... existing code ...\n");
    }

    #[test]
    fn dots_that_are_code_or_in_the_file_are_left_alone() {
        let file = "class A:\n    def f(self): ...\n    ...\n";
        assert_edited(file, "    ...\n", "    pass\n", Exact, "class A:\n    def f(self): ...\n    pass\n");
        assert_edited(
            "    def f(self):\n        pass\n",
            "def f(self):\n    pass\n",
            "def f(self):\n    ...\n",
            Indentation,
            "    def f(self):\n        ...\n",
        );
    }
}
