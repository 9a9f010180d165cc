//! Both forms as models write them, and what is refused.

use proptest::prelude::{Strategy as _, prop, proptest};

use super::{FileAction, FinalNewline, HunkLine, MAX_HUNKS, MOST_FILES, Patch, PatchError};

fn parse(text: &str) -> Patch<'_> {
    Patch::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn error(text: &str) -> PatchError {
    Patch::parse(text).expect_err(text)
}

/// The changes of a patch, a line for each file.
fn actions(text: &str) -> Vec<String> {
    let parsed = parse(text);
    parsed
        .files
        .iter()
        .map(|file| match &file.action {
            FileAction::Add { path, lines, final_newline, .. } => {
                format!("A {} {lines:?} {final_newline}", path.text())
            }
            FileAction::Delete { path, hunks } => format!("D {} {}", path.text(), hunks.len()),
            FileAction::Update { path, to, hunks } => {
                let to = to.as_ref().map(|to| format!(" -> {}", to.text())).unwrap_or_default();
                let hunks: Vec<String> = hunks
                    .iter()
                    .map(|hunk| {
                        hunk.lines
                            .iter()
                            .map(|line| match line {
                                HunkLine::Kept(line) => format!(" {line}"),
                                HunkLine::Removed(line) => format!("-{line}"),
                                HunkLine::Added(line) => format!("+{line}"),
                            })
                            .collect::<Vec<_>>()
                            .join("|")
                    })
                    .collect();
                format!("M {}{to} {hunks:?}", path.text())
            }
            FileAction::Copy { path, to, hunks } => format!("C {} -> {} {}", path.text(), to.text(), hunks.len()),
        })
        .collect()
}

#[test]
fn marked_sections_are_read_in_order() {
    let text = "*** Begin Patch\n*** Add File: n/e w.txt\n+one\n+\n+two\n*** Update File: m\n*** Move to: k\n@@ class A\n@@ def f\n a\n-b\n+c\n\n d\n*** End of File\n*** Delete File: g\n*** End Patch\n";
    assert_eq!(actions(text), ["A n/e w.txt [\"one\", \"\", \"two\"] true", "M m -> k [\" a|-b|+c| | d\"]", "D g 0"]);
    let parsed = parse(text);
    let FileAction::Update { hunks, .. } = &parsed.files[1].action else { panic!() };
    assert_eq!((hunks[0].contexts.as_slice(), hunks[0].at_end), (["class A", "def f"].as_slice(), true));
    assert_eq!(parsed.notes, Vec::<String>::new());
}

#[test]
fn marked_form_takes_what_surrounds_it() {
    let plain = "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End Patch";
    for text in [
        format!("<<'EOF'\n{plain}\nEOF\n"),
        format!("apply_patch <<'EOF'\n{plain}\nEOF"),
        format!("bash -lc \"apply_patch <<EOF\n{plain}\nEOF\""),
        format!("```diff\n{plain}\n```\n"),
        plain.replace("*** Begin Patch", " *** Begin Patch  ").replace("*** End", "  *** End"),
        plain.replace("*** Update", "   *** Update"),
        plain.replace('\n', "\r\n") + "\r\n",
        plain.replace("@@\n", ""),
        plain.replace("@@\n", "\n@@\n"),
    ] {
        assert_eq!(actions(&text), ["M x [\"-a|+b\"]"], "{text}");
        assert_eq!(parse(&text).notes, Vec::<String>::new(), "{text}");
    }
    let text = format!("cd sub/dir && apply_patch <<'EOF'\n{plain}\nEOF\n");
    assert_eq!(actions(&text), ["M sub/dir/x [\"-a|+b\"]"]);
    assert_eq!(parse(&format!("Here it is:\n{plain}\n")).notes, ["1 line before `*** Begin Patch` not used"]);
    assert_eq!(actions(&format!("{plain}\n{}", plain.replace(": x", ": y"))), ["M x [\"-a|+b\"]", "M y [\"-a|+b\"]"]);
}

#[test]
fn markers_behind_a_prefix_are_content() {
    let text = "*** Begin Patch\n*** Update File: x\n@@\n *** Begin Patch\n *** End Patch\n-*** Update File: y\n+*** Add File: z\n*** End Patch\n";
    assert_eq!(actions(text), ["M x [\" *** Begin Patch| *** End Patch|-*** Update File: y|+*** Add File: z\"]"]);
}

#[test]
fn damaged_marked_patches_are_refused_with_the_line() {
    let wrap = |body: &str| format!("*** Begin Patch\n{body}*** End Patch\n");
    for (text, expected) in [
        (wrap(""), "the patch holds no file"),
        (wrap("*** Update File: x\n"), "line 2 of the patch: the section of x has no hunk"),
        (wrap("*** Frob File: x\n"), "line 2 of the patch: `*** Frob File: x` is not the header of a section"),
        (wrap("*** Update File:\n@@\n-a\n"), "line 2 of the patch: `*** Update File:` names no file"),
        (wrap("*** Update File: x\n@@ f\n"), "line 3 of the patch: the hunk has no lines (hunk 1 of x)"),
        (wrap("*** Add File: x\n+a\nplain\n"), "line 4 of the patch: a line of an added file"),
        (wrap("∗∗∗ Update File: x\n@@\n-a\n"), "is not the header of a section"),
        (
            "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n".to_owned(),
            "has no line `*** End Patch`, so it may have been cut",
        ),
        ("*** Update File: x\n@@\n-a\n+b\n*** End Patch".to_owned(), "has no line `*** Begin Patch`"),
        ("*** Begin Patch\\n*** Update File: x\\n".to_owned(), "line ends are spelled \\n"),
        ("  \n".to_owned(), "the patch is empty"),
        ("fix the bug".to_owned(), "not a patch in a known form"),
        ("@@ -1 +1 @@\n-a\n+b\n".to_owned(), "names no file"),
    ] {
        let error = error(&text);
        assert!(error.to_string().contains(expected), "{error}: {text}");
        assert!(!error.hint.is_empty());
    }
}

#[test]
fn unified_names_are_read_in_every_spelling() {
    let path = |headers: &str| {
        let text = format!("{headers}\n@@ -1 +1 @@\n-a\n+b\n");
        match &parse(&text).files[0].action {
            FileAction::Update { path, .. } => path.choices.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(path("--- a/x y\n+++ b/x y"), ["x y", "b/x y", "/x y"]);
    assert_eq!(path("--- x\t2024-01-02 03:04:05.000000000 +0000\n+++ x\t2024-01-02 03:04:06"), ["x"]);
    assert_eq!(path("--- x 2024-01-02 03:04:05\n+++ x 2024-01-02 03:04:06 +0000"), ["x"]);
    assert_eq!(path("--- a/x\n+++ a/x"), ["a/x", "x"]);
    assert_eq!(path("--- x.orig\n+++ x"), ["x"]);
    assert_eq!(path("--- i/x\n+++ w/x"), ["x", "w/x", "/x"]);
    assert_eq!(path("--- \"a/\\303\\251\\t\\\"\"\n+++ \"b/\\303\\251\\t\\\"\""), ["é\t\"", "b/é\t\"", "/é\t\""]);
    assert_eq!(path("--- \"a/\\377\"\n+++ \"b/\\377\"")[0], "\\xff");
    assert_eq!(path("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x"), ["x", "b/x", "/x"]);
}

#[test]
fn git_headers_make_delete_rename_and_copy() {
    assert_eq!(
        actions(
            "diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
        ),
        ["A n [\"a\", \"b\"] false"]
    );
    assert_eq!(actions("diff --git a/n m b/n m\nnew file mode 100644\nindex 0000000..e69de29\n"), ["A n m [] true"]);
    assert_eq!(actions("--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"), ["D n 1"]);
    assert_eq!(actions("diff --git a/n b/n\ndeleted file mode 100644\n"), ["D n 0"]);
    assert_eq!(
        actions(
            "diff --git a/n b/m\nsimilarity index 90%\nrename from n\nrename to m\n--- a/n\n+++ b/m\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/c b/d\nsimilarity index 100%\ncopy from c\ncopy to d\n"
        ),
        ["M n -> m [\"-a|+b\"]", "C c -> d 0"]
    );
}

#[test]
fn unified_hunks_are_taken_by_their_lines() {
    let one = |hunk: &str| actions(&format!("--- a/x\n+++ b/x\n{hunk}"));
    let text = "@@ -1,9 +1,2 @@\n a\n-b\n+c\n";
    assert_eq!(one(text), ["M x [\" a|-b|+c\"]"]);
    assert_eq!(parse(&format!("--- x\n+++ x\n{text}")).notes.len(), 1);
    assert_eq!(one("@@ ... @@ fn f\n a\n-b\n"), ["M x [\" a|-b\"]"]);
    // An empty line in the middle is a context line that lost its space; after the last line it is none.
    assert_eq!(one("@@ -1,3 +1,2 @@\n a\n\n-b\n\n\n"), ["M x [\" a| |-b\"]"]);
    // What looks like the names of a file, but is counted as lines.
    assert_eq!(one("@@ -1,2 +1,2 @@\n a\n--- b\n+++ c\n"), ["M x [\" a|--- b|+++ c\"]"]);
    assert_eq!(
        one("@@ -1,2 +1,2 @@\n a\n-b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"),
        ["M x [\" a|-b\"]", "M y [\"-a|+b\"]"]
    );
    // An e-mailed patch ends in a signature.
    assert_eq!(one("@@ -1 +1 @@\n-b\n+c\n-- \n2.39.2\n\n"), ["M x [\"-b|+c\"]"]);
    assert_eq!(actions("Fix:\n\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n```\nDone.\n"), ["M x [\"-b|+c\"]"]);
    assert_eq!(actions("*** Begin Patch\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n*** End Patch\n"), ["M x [\"-b|+c\"]"]);
    let patch = "--- x\r\n+++ x\r\n@@ -1 +1 @@\r\n-b\r\n+c\r\n";
    assert_eq!(actions(patch), ["M x [\"-b|+c\"]"]);
}

/// Two hunks as git has them, the second of which has `tail` after its first line.
fn two_hunks(tail: &str) -> String {
    format!(
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9,4 +9,5 @@\n one\n{tail}"
    )
}

#[test]
fn a_patch_that_ends_within_its_last_hunk_is_refused() {
    for (tail, missing) in [
        ("", "4 more lines of it are missing (3 of those before, 4 of those after) (hunk 2 of x)"),
        ("-two", "4 more lines of it are missing (2 of those before, 4 of those after)"),
        ("-two\n", "4 more lines"),
        ("-two\n+2\n+3\n+4 and mo", "2 more lines of it are missing (2 of those before, 1 of those after)"),
        ("-two\n+2\n+3\n three\n", "1 more lines of it are missing (1 of those before, 1 of those after)"),
    ] {
        let error = error(&two_hunks(tail));
        assert!(error.to_string().contains(missing), "{error}: {tail}");
        assert_eq!(error.line, Some(9), "{tail}");
    }
    // Of a file that is made, by its one side.
    let head = "diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,9 @@\n+a\n+b";
    assert!(error(head).to_string().contains("7 more lines"), "{head}");
    assert!(error(&format!("{head}\n")).to_string().contains("7 more lines"), "{head}");
    // A client that takes off what ends the text may have taken empty lines along: the file shows it.
    let tail = "-two\n+2\n+3\n three";
    let text = two_hunks(tail);
    let FileAction::Update { hunks, .. } = &parse(&text).files[0].action else { panic!() };
    assert_eq!((hunks[1].assumed, hunks[1].lines.last()), (1, Some(&HunkLine::Kept(""))));
}

#[test]
fn counts_that_are_wrong_otherwise_are_tolerated() {
    let whole = two_hunks("-two\n+2\n+3\n three\n four\n");
    let count = |text: &str| match &parse(text).files[0].action {
        FileAction::Update { hunks, .. } => hunks.len(),
        other => panic!("{other:?}"),
    };
    let shorter = whole.replace(" four\n", "");
    for text in [
        whole.clone(),
        whole.trim_end().to_owned(),
        whole.replace("-9,4 +9,5", "-9,4 +9,8"),
        whole.replace("-9,4 +9,5", "-9,2 +9,2"),
        // Where another hunk is miscounted, it is the counting.
        shorter.replace("-1,2 +1,2", "-1,3 +1,3"),
        // Something follows: this is not where the text was cut.
        format!("```diff\n{shorter}```\n"),
        format!("*** Begin Patch\n{}*** End Patch\n", shorter.replace("diff --git a/x b/x\nindex 1..2 100644\n", "")),
        format!("{shorter}-- \n2.39.2\n"),
    ] {
        assert_eq!(count(&text), 2, "{text}");
    }
}

#[test]
fn a_patch_that_is_indented_as_a_whole_is_read() {
    let unified = "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n a\n\n-  b\n+  c\n d\n";
    let marked = "*** Begin Patch\n*** Update File: x\n@@\n a\n\n-  b\n+  c\n d\n*** End Patch\n";
    for (text, indent) in [(unified, "  "), (unified, "\t"), (unified, " "), (marked, "    "), (marked, " ")] {
        let indented: String = text
            .lines()
            .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{indent}{line}\n") })
            .collect();
        let expected = ["M x [\" a| |-  b|+  c| d\"]"];
        assert_eq!(actions(&indented), expected, "{indented}");
        assert_eq!(actions(&format!("Here:\n```diff\n{indented}```\n")), expected, "{indented}");
    }
    let error = error("  --- a/x\n  +++ b/x\n  @@ -1 +1 @@\n-a\n+b\n");
    assert!(error.to_string().contains("line 1 of the patch: the patch is indented"), "{error}");
}

#[test]
fn a_byte_order_mark_in_front_of_the_patch_is_passed() {
    for text in
        ["--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n*** End Patch\n"]
    {
        assert_eq!(actions(&format!("\u{feff}{text}")), ["M x [\"-a|+b\"]"]);
    }
}

#[test]
fn final_newlines_are_read_from_their_marks() {
    let of = |hunk: &str| {
        let text = format!("--- x\n+++ x\n@@ -1 +1 @@\n{hunk}");
        let parsed = parse(&text);
        let FileAction::Update { hunks, .. } = &parsed.files[0].action else { panic!() };
        (hunks[0].final_newline, hunks[0].at_end)
    };
    let mark = "\\ No newline at end of file\n";
    assert_eq!(of(&format!("-a\n{mark}+a\n")), (FinalNewline::Added, true));
    assert_eq!(of(&format!("-a\n+a\n{mark}")), (FinalNewline::Removed, true));
    assert_eq!(of(&format!("-a\n{mark}+b\n{mark}")), (FinalNewline::AsInFile, true));
    assert_eq!(of("-a\n+b\n"), (FinalNewline::AsInFile, false));
}

#[test]
fn lines_that_stay_may_come_without_their_blank() {
    let sent = |body: &str| {
        let text = format!("--- a/x\n+++ b/x\n{body}");
        let patch = Patch::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let FileAction::Update { hunks, .. } = &patch.files[0].action else { panic!("{patch:?}") };
        (patch.files.len(), hunks.iter().map(|hunk| hunk.sent.len()).collect::<Vec<_>>())
    };
    assert_eq!(sent("@@ -1,2 +1,2 @@\na\n-b\n+c\n"), (1, vec![3]));
    // A fence of Markdown, also without counts; one around the patch is none of its lines.
    assert_eq!(sent("@@ -1,4 +1,4 @@\n```sh\n-a\n+b\n\n```\n"), (1, vec![4]));
    assert_eq!(sent("@@\na\n```sh\n-a\n+b\n```\n\nThat is:\n- an item\n"), (1, vec![4]));
    // An empty last line belongs to the hunk: what follows is another file.
    assert_eq!(sent("@@ -1,3 +1,3 @@\n-a\n+b\nc\n\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"), (2, vec![4]));
    assert_eq!(sent("@@ -1,2 +1,2 @@\n-a\n+b\n\nThat is all.\n"), (1, vec![3]));
    assert_eq!(sent("@@\n-a\n+b\n\nThat is all.\n"), (1, vec![2]));
    // Nothing of a hunk is lost: these can be items of a list that change.
    assert_eq!(sent("@@\n-a\n+b\n\nplain\n- one\n+ two\n"), (1, vec![6]));
}

#[test]
fn unified_patches_that_cannot_be_meant_are_refused() {
    for (text, expected) in [
        ("diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\nabc\n", "is a binary patch"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "is a binary patch"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "changes the mode"),
        ("diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n", "a symbolic link"),
        (
            "diff --git a/x b/x\nindex 12..34 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-y\n+z\n",
            "a symbolic link (mode 120000)",
        ),
        (
            "diff --git a/x b/x\nindex 12..34 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-y\n+z\n",
            "no regular file (mode 160000)",
        ),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "neither has a file before nor after"),
        ("--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "makes a file and also has lines of it before"),
        ("diff --git a/x b/y\nrename from x\n", "only one of `rename from`"),
        ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "the names before and after differ: a/x and b/y"),
        ("--- a/x\n+++ b/x\n", "has no hunk"),
        ("--- a/x\n+++ b/x\n-a\n+b\n", "is no line of a diff's header"),
        ("--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n", "combined diff"),
        ("diff --git a/x b/y\nindex 1..2\n@@ -1 +1 @@\n-a\n+b\n", "names no path that is the same"),
    ] {
        let error = error(text);
        assert!(error.to_string().contains(expected), "{error}: {text}");
        assert!(!error.hint.is_empty());
    }
}

#[test]
fn too_many_files_and_hunks_are_refused() {
    let files = "*** Delete File: x\n".repeat(MOST_FILES + 1);
    assert!(error(&format!("*** Begin Patch\n{files}*** End Patch")).is_too_large);
    let files = "--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n".repeat(MOST_FILES + 1);
    assert!(error(&files).is_too_large);
    let hunks = "@@\n-a\n".repeat(MAX_HUNKS + 1);
    assert!(error(&format!("*** Begin Patch\n*** Update File: x\n{hunks}*** End Patch")).is_too_large);
    assert!(error(&format!("--- x\n+++ x\n{hunks}")).is_too_large);
}

/// Pieces of both forms, so that most combinations get past the first check.
const PIECES: &[&str] = &[
    "*** Begin Patch\n",
    "*** End Patch\n",
    "*** Add File: x\n",
    "*** Update File: a/y\n",
    "*** Delete File: z\n",
    "*** Move to: w\n",
    "*** End of File\n",
    "@@\n",
    "@@ f\n",
    "@@ -1,2 +1,3 @@ g\n",
    "@@ -0,0 +1 @@\n",
    "@@ ... @@\n",
    "--- a/x\n",
    "+++ b/x\n",
    "--- /dev/null\n",
    "+++ /dev/null\n",
    "diff --git a/x b/x\n",
    "diff --git \"a/\\303\" b/é\n",
    "new file mode 100644\n",
    "deleted file mode 100644\n",
    "rename from x\n",
    "rename to y\n",
    "copy from x\n",
    "GIT binary patch\n",
    " a\n",
    "-b\n",
    "+c\n",
    "\n",
    " \n",
    "\\ No newline at end of file\n",
    "-- \n",
    "2.39\n",
    "```\n",
    "text\n",
    "\r\n",
    "é",
    "@",
    "\"",
];

proptest! {
    #[test]
    fn any_patch_is_answered(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let _ = Patch::parse(&pieces.concat());
    }

    #[test]
    fn any_damaged_patch_is_answered(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 4..20), at in 0_usize..400, with in ".{0,3}",
    ) {
        let text = format!("*** Begin Patch\n{}*** End Patch\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", pieces.concat());
        let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let _ = Patch::parse(&format!("{}{with}{}", &text[..at], &text[at..]));
        let _ = Patch::parse(&text[at..]);
    }

    #[test]
    fn any_text_is_answered(text in prop::string::string_regex("[-+@* \\\\a\"/\n\r]{0,60}").unwrap().prop_map(|text| format!("--- a\n+++ b\n{text}"))) {
        let _ = Patch::parse(&text);
    }
}
