//! Any source has an outline: no panic, and lines that the source has.

use proptest::prelude::*;

use super::{CommentScanner, OutlineBuilder, definitions};

/// A name for each language.
const NAMES: &[&str] = &[
    "a.c",
    "a.rs",
    "a.go",
    "a.java",
    "a.cs",
    "a.dart",
    "a.ts",
    "a.py",
    "a.rb",
    "a.lua",
    "a.ex",
    "a.jl",
    "a.sh",
    "a.pl",
    "a.php",
    "a.kt",
    "a.swift",
    "a.scala",
    "a.zig",
    "a.proto",
    "a.graphql",
    "a.tf",
    "a.r",
    "a.cmake",
    "a.ps1",
    "a.el",
    "a.hs",
    "a.ml",
    "a.erl",
    "a.nim",
    "a.mk",
    "a.md",
    "a.rst",
    "a.toml",
    "a.sql",
    "a.s",
    "a.tex",
    "a",
];

/// Pieces of sources that open, close and define.
const PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "::",
    "=",
    "=>",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    " ",
    "    ",
    "\"",
    "'",
    "`",
    "\"\"\"",
    "'''",
    "/*",
    "*/",
    "//",
    "#",
    "--",
    "--[[",
    "]]",
    "r#\"",
    "\"#",
    "R\"x(",
    ")x\"",
    "${",
    "\\",
    "\\\n",
    "<<EOF\n",
    "EOF\n",
    "=begin\n",
    "#if 0\n",
    "#ifdef A\n",
    "#else\n",
    "#endif\n",
    "#define X",
    "fn a",
    "def a",
    "class A",
    "struct A",
    "function a",
    "impl A",
    "type (",
    "end",
    "\nend\n",
    "enum",
    "typedef",
    "operator",
    "template <",
    "@",
    "# A\n",
    "===\n",
    "```\n",
    "---\n",
    "$$",
    "CREATE TABLE a",
    "let a",
    "module A",
    "é",
    "\u{2028}",
    "endef\n",
    "define a\n",
    "a :: b\n",
    "new A() {",
    "a",
];

fn source() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES);
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_source_has_an_outline_of_its_lines(text in source()) {
        let total = text.split('\n').count();
        for name in NAMES {
            let found = definitions(name, &text);
            for one in &found {
                prop_assert!(1 <= one.start && one.start <= one.line, "{name}: {one:?}");
                prop_assert!(one.line <= one.end && one.end <= total, "{name}: {one:?} of {total}");
            }
            let mut pieces = OutlineBuilder::new(name);
            text.split_inclusive(' ').for_each(|piece| pieces.push(piece));
            prop_assert_eq!(pieces.finish(), found, "{}", name);
        }
    }

    #[test]
    fn comments_of_any_source_are_ascending_parts_of_its_lines(text in source()) {
        for name in NAMES.iter().chain(&["a.html", "a.sql", "a.ini", "a.css"]) {
            let mut scanner = CommentScanner::new(name);
            for line in text.split('\n') {
                let mut end = 0;
                for comment in scanner.line(line) {
                    prop_assert!(end <= comment.start && comment.start <= comment.end, "{name}: {comment:?}");
                    prop_assert!(line.get(comment.clone()).is_some(), "{name}: {comment:?} of {line:?}");
                    end = comment.end;
                }
            }
        }
    }

    #[test]
    fn any_text_has_an_outline(text in "\\PC{0,200}") {
        for name in NAMES {
            definitions(name, &text);
        }
    }
}
