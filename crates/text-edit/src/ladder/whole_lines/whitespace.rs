//! White space at line ends: what a changed line ends with, for all that look through it.

use crate::{Hunk, Site, line_parts::parts, similarity};

/// Similarity from which two lines are versions of one line rather than two different ones.
const REWORDED: f64 = 0.5;

/// The new lines of a hunk with the ends they should have.
pub(super) fn lines(hunk: &Hunk<'_>, pasted: Option<&str>) -> Vec<String> {
    let line = |(index, new): (usize, &&str)| {
        let (indent, content, _) = parts(new);
        format!("{indent}{content}{}", trailing(hunk, index, pasted))
    };
    hunk.new.iter().enumerate().map(line).collect()
}

/// White space at the end of the `index`th new line of a hunk: the file's, where the request leaves the end of
/// a line alone that it otherwise rewords, or only repeats white space that the file lacks; else what the request
/// says, without `pasted`.
pub(super) fn trailing<'h>(hunk: &Hunk<'h>, index: usize, pasted: Option<&str>) -> &'h str {
    let (_, content, wanted) = parts(hunk.new[index]);
    if hunk.old.len() == hunk.new.len() {
        let (_, old_content, old) = parts(hunk.old[index]);
        let (_, _, file) = parts(hunk.file[index]);
        if wanted == old && (file.is_empty() || similarity::of_starts(old_content, content) >= REWORDED) {
            return file;
        }
    }
    pasted.and_then(|pasted| wanted.strip_suffix(pasted)).unwrap_or(wanted)
}

/// White space that every line of `old` has at its end beyond what the file has there, or instead of it: an artefact of how the text
/// was copied, which new lines should not bring in.
pub(super) fn pasted<'s>(site: Site<'s, '_>) -> Option<&'s str> {
    let file = site.file_lines();
    let pairs = site.edit.old.iter().zip(&file).map(|(old, file)| (parts(old), parts(file)));
    let pairs: Vec<_> = pairs.filter(|(old, _)| !old.1.is_empty()).map(|(old, file)| (old.2, file.2)).collect();
    let same = |end: &dyn Fn(&(&'s str, &str)) -> Option<&'s str>| {
        let first = end(pairs.first()?)?;
        (!first.is_empty() && pairs.iter().all(|pair| end(pair) == Some(first))).then_some(first)
    };
    // Or in place of the file's own, where some lines have that.
    let is_alike = pairs.iter().all(|(old, file)| old == file);
    same(&|(old, file)| old.strip_prefix(*file)).or_else(|| same(&|(old, _)| Some(old)).filter(|_| !is_alike))
}

#[cfg(test)]
mod tests {
    use crate::{
        Next,
        Strategy::TrailingWhitespace,
        testing::{assert_ambiguous, assert_edited, assert_missed},
    };

    #[test]
    fn white_space_at_line_ends_is_ignored_on_either_side() {
        assert_edited("a  \nb\nc\n", "a\nb\n", "a\nx\n", TrailingWhitespace, "a  \nx\nc\n");
        assert_edited("a\nb\nc\n", "a \nb\t\n", "a \nx\t\n", TrailingWhitespace, "a\nx\nc\n");
        assert_edited("{\n    \n}\n", "{\n\n}", "{\n\n  x\n}", TrailingWhitespace, "{\n    \n  x\n}\n");
    }

    #[test]
    fn a_line_that_is_only_reworded_keeps_its_end() {
        assert_edited("one two  \nend\n", "one two\nend\n", "one too\nend\n", TrailingWhitespace, "one too  \nend\n");
    }

    #[test]
    fn an_end_that_the_request_changes_is_written_as_asked() {
        assert_edited("a \nb\t\n", "a\nb\n", "a\nb  \n", TrailingWhitespace, "a \nb  \n");
    }

    #[test]
    fn ends_that_every_copied_line_has_are_not_brought_in() {
        assert_edited("a\nb\n", "a  \nb  \n", "a  \nn  \nm\nb  \n", TrailingWhitespace, "a\nn\nm\nb\n");
    }

    #[test]
    fn a_fragment_of_a_line_is_never_widened_to_the_line() {
        assert_missed("foo(a) \nbar(b)\n", "o(a)\nbar(b)", "x");
        assert_missed("foo(a) \nbar(b, c)\n", "foo(a)\nbar(b", "x");
    }

    #[test]
    fn a_first_line_without_its_indentation_leaves_it_in_place() {
        assert_edited(
            "    if a: \n        b\n",
            "if a:\n        b\n",
            "if c:\n        b\n",
            TrailingWhitespace,
            "    if c: \n        b\n",
        );
        assert_missed("    a \n    b\n", "a\n", "");
    }

    #[test]
    fn whole_lines_are_deleted_with_their_endings() {
        assert_edited("a\nb \nc\n", "b\nc\n", "", TrailingWhitespace, "a\n");
        assert_edited("a\nb \nc", "b\nc\n", "", TrailingWhitespace, "a\n");
        assert_edited("a\nb \nc\n", "a\nb\n", "a\n", TrailingWhitespace, "a\nc\n");
    }

    #[test]
    fn a_missing_final_newline_stays_missing() {
        assert_edited("a \nb", "a\nb\n", "a\nc\n", TrailingWhitespace, "a \nc");
        assert_edited("b", "b\n", "c\n", TrailingWhitespace, "c");
    }

    #[test]
    fn a_final_newline_in_only_one_of_the_texts_is_refused() {
        assert_missed("a \nb\nc\n", "a\nb\n", "a\nx");
        assert_missed("a \nb\nc\n", "a\nb", "a\nx\n");
    }

    #[test]
    fn mixed_endings_survive() {
        assert_edited("a \r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nn\nc\n", TrailingWhitespace, "a \r\nB\nn\nc\r\n");
        assert_edited("a \r\nb\r\n", "a\nb\n", "n\na\nb\nm\n", TrailingWhitespace, "n\r\na \r\nb\r\nm\r\n");
    }

    #[test]
    fn several_places_are_ambiguous_and_blank_text_is_not_found() {
        assert_eq!(assert_ambiguous("a \nb\na\t\nb\n", "a\nb\n", "x\n"), [1, 3]);
        assert_eq!(assert_ambiguous("x \nx \nx \n", "x\nx\n", "y\n"), [1, 2]);
        assert_missed("a\n \n \n", "\n\n  \n", "x");
    }

    #[test]
    fn a_change_already_made_is_not_made_twice() {
        assert!(assert_missed("one \ntwo\nthree\n", "one\ntwo\n", "one \ntwo\nthree\n").next == Next::Look);
        assert!(assert_missed("one  \ntwo  \nthree  \n", "one\ntwo\n", "one\ntwo\nthree\n").next == Next::Look);
    }
}
