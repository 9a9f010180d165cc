//! Requests that were damaged in two ways: the repairs of the old text are those of the new one.

use crate::{
    Strategy::{Exact, LineNumbers},
    testing::{assert_edited, assert_missed, edited},
};

const FILE: &str = "fn f() {\n    log(\"a < b\");\n    go('x');\n}\n";
const OLD: &str = "    log(\"a < b\");\n    go('x');\n";
const NEW: &str = "    log(\"a < b\");\n    log(\"a < c\");\n    go('x');\n";

/// A change of a text on its way.
type Damage = fn(&str) -> String;

fn by_line(text: &str, edit: impl Fn(usize, &str) -> String) -> String {
    text.lines().enumerate().map(|(index, line)| edit(index, line) + "\n").collect()
}

const DAMAGES: [(&str, Damage); 8] = [
    ("curly quotes", |text| text.replace("(\"", "(“").replace("\")", "”)")),
    ("entities", |text| text.replace('<', "&lt;").replace('"', "&quot;")),
    ("quotes escaped", |text| text.replace('"', "\\\"").replace('“', "\\“").replace('”', "\\”")),
    ("white space", |text| by_line(text, |_, line| format!("{line}  "))),
    ("indentation", |text| by_line(text, |_, line| line.trim_start().to_owned())),
    ("gutter", |text| by_line(text, |index, line| format!("{}\t{line}", index + 2))),
    ("newlines escaped", |text| text.strip_suffix('\n').unwrap_or(text).replace('\n', "\\n").replace('\t', "\\t")),
    ("CR LF", |text| text.replace('\n', "\r\n")),
];

#[test]
fn new_text_gets_the_repairs_of_the_old_one_for_each_pair_of_damages() {
    let wanted = FILE.replace(OLD, NEW);
    let mut right = 0;
    for (at, (first_name, first)) in DAMAGES.iter().enumerate() {
        for (second_name, second) in &DAMAGES[at + 1..] {
            for (old, new) in [(OLD, NEW), (OLD.trim_end_matches('\n'), NEW.trim_end_matches('\n'))] {
                let damaged = |text: &str| second(&first(text));
                if let Ok((_, made)) = edited(FILE, &damaged(old), &damaged(new)) {
                    assert_eq!(made, wanted, "{first_name}, {second_name}");
                    right += 1;
                }
            }
        }
    }
    assert!(right >= 44, "only {right} of 56 are made");
}

#[test]
fn escapes_that_a_second_damage_hides_are_never_written() {
    let file = "a = load(\"one\")\nb = load(\"two\")\nc = receive(\"three\")\n";
    let old = file.replace('"', "\\\"");
    let new = format!("{old}d = load(\\\"four\\\")\n");
    let wanted = format!("{file}d = load(\"four\")\n");
    for damage in [|text: &str| text.replace("receive", "recieve"), |text: &str| text.replace(", ", ",")] {
        if let Ok((_, made)) = edited(file, &damage(&old), &damage(&new)) {
            assert_eq!(made, wanted);
        }
    }
    // Nor those of quotes that only new text has.
    let (file, old, new) = ("a = load(1)\nb = load(2)\n", "1\ta = load(1)\n", "1\ta = load(\\\"1\\\")\n");
    assert_missed(file, old, new);
    assert_missed(file, "a = load(1) \n", "a = load(\\\"1\\\") \n");
    assert_edited(file, "a = load(1)", "a = load(\\\"1\\\")", Exact, &file.replace('1', "\\\"1\\\""));
    // The file's own escapes are as good as any.
    let file = "x = \"a \\\"b\\\"\"\ny = 1\n";
    let (old, new) = ("1\tx = \"a \\\"b\\\"\"\n2\ty = 1\n", "1\tx = \"a \\\"c\\\"\"\n2\ty = 1\n");
    assert_edited(file, old, new, LineNumbers, &file.replace('b', "c"));
}
