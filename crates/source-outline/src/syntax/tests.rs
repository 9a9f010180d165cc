//! Which errors a change introduces, in each format.

use proptest::prelude::*;

use super::*;

/// Line and message of each new problem.
fn found(path: &str, old: &str, new: &str) -> Vec<(usize, String)> {
    new_problems(path, Some(old), new).into_iter().map(|problem| (problem.line, problem.message)).collect()
}

#[test]
fn error_before_the_one_that_was_there_is_new() {
    let old = "{\n\"a\": 1,\n\"b\": 2\n\"c\": 3\n}\n";
    assert_eq!(found("a.json", old, &old.replace("1,", "1")), [(3, "expected `,` or `}`".to_owned())]);
    // The same, moved by a line.
    assert_eq!(found("a.json", old, &old.replace("1,", "1,\n\"x\": 0,")), []);
    // What shows when the first is corrected was there.
    let two = old.to_owned() + "}";
    assert_eq!(found("a.json", &two, &two.replace("2\n", "2,\n")), []);
    // Mended, and broken in another way.
    let other = old.replace("\"b\": 2\n\"c\"", "\"b\": 2,\n'c'");
    assert_eq!(found("a.json", old, &other), [(4, "expected double quotes around a string".to_owned())]);
}

#[test]
fn only_duplicates_that_the_change_made_are_named() {
    let old = "a: 1\na: 2\nb: 3\n";
    assert_eq!(found("a.yml", old, "x: 0\na: 1\na: 2\nb: 3\n"), []);
    assert_eq!(found("a.yml", old, "a: 1\na: 2\nb: 3\nb: 4\n"), [(4, "duplicate key `b`".to_owned())]);
}

#[test]
fn plain_json_that_had_comments_may_have_them() {
    assert_eq!(found("a.json", "// x\n{}", "// x\n{\"a\": 1,}"), []);
    assert_eq!(found("a.json", "{}", "// x\n{}"), [(1, "comments are not allowed in JSON".to_owned())]);
    assert_eq!(found("tsconfig.app.json", "{}", "// x\n{}"), []);
}

#[test]
fn files_whose_programs_take_more_are_no_problems() {
    for name in
        [".cspell.json", "cspell.json", ".mocharc.json", "a/knip.json", "common/config/rush/x.json", "a.code-workspace"]
    {
        assert_eq!(found(name, "{}", "// x\n{\"a\": 1,}"), [], "{name}");
    }
    assert_eq!(found(".dprint.json", "{}", "// x\n{\"a\": 1,}"), []);
    assert_eq!(found(".babelrc.json", "{}", "{a: 1}"), []);
    assert_eq!(found("a.yaml", "", "a:\t1\n"), []);
    for name in [".cirrus.yml", "recipe/meta.yaml"] {
        assert_eq!(found(name, "task:\n  a: 1\n", "task:\n  a: 1\n\ntask:\n  b: 1\n"), [], "{name}");
        assert_eq!(found(name, "", "a: [1\n").len(), 1, "{name}");
    }
    assert_eq!(found("azure-pipelines.yml", "", "${{ if a }}:\n  x: 1\n${{ if a }}:\n  y: 1\n"), []);
    assert_eq!(found("a.json", "{}", "{\"_comment\": 1, \"_comment\": 2}"), []);
}

#[test]
fn recipes_that_the_change_indents_with_blanks_are_named() {
    let old = "a:\n    old one\nb:\n\trm b\n";
    let message = "a recipe line begins with a tab, not with blanks".to_owned();
    assert_eq!(found("Makefile", old, &old.replace('\t', "        ")), [(4, message.clone())]);
    assert_eq!(found("src/rules.mk", old, old), []);
    assert_eq!(new_problems("GNUmakefile", None, old)[0].severity, Severity::Error);
}

#[test]
fn templates_and_large_files_are_passed_over() {
    assert_eq!(found("a.yaml", "", "{{- if .Values.x }}\na: 1\n{{- end }}\n"), []);
    assert_eq!(found("a.json", "", &"[".repeat(MOST_BYTES + 1)), []);
    assert_eq!(found("a.html", "", "<p>"), []);
}

proptest! {
    #[test]
    fn no_text_makes_a_check_panic_and_each_problem_is_in_the_text(
        old in ".{0,200}|[\\[\\]{}<>:,&*!'\"a \n-]{0,200}",
        // Few characters of few kinds come to odd states sooner than many: a whole value and then control characters.
        new in "(?s).{0,200}|[\\[\\]{}<>:,&*!'\"a \n=#|%?-]{0,300}|[\\[\\]{}<>:,'\"\\\\/*1a \n=\u{0}-\u{7f}\u{feff}\u{2028}]{0,12}",
    ) {
        for path in ["a.json", "a.json5", "a.jsonl", "a.toml", "a.yml", "a.xml", "a.rs", "a.c", "a.py", "a.js", "a.go", "a.mk"] {
            for problem in new_problems(path, Some(&old), &new) {
                let lines: Vec<&str> = new.split('\n').collect();
                prop_assert!(problem.line <= lines.len(), "{path}: {problem:?}");
                prop_assert!(problem.column <= lines[problem.line - 1].chars().count() + 1, "{path}: {problem:?}");
            }
            prop_assert!(new_problems(path, Some(&new), &new).is_empty(), "{path}: {new:?}");
        }
    }
}
