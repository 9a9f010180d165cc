//! A tree that makes answers large in every way: many names, long names, long lines, and what is worth a note.

use crate::harness::Harness;

/// Lines of the largest file.
pub(super) const LINES: usize = 700;

/// Fills the first root of `h`.
pub(super) fn fill(h: &Harness) {
    h.write(".gitignore", "ignored/\n");
    h.write("ignored/e.txt", "needle\n".repeat(50));
    h.write(".env", "TOKEN=needle\n");
    h.write("secret/id_rsa", "needle\n");
    h.write("binary.bin", b"needle\0needle\n");
    for number in 0..500 {
        h.write(&format!("many/file_{number:04}.txt"), format!("needle {number}\n"));
    }
    for number in 0..150 {
        h.write(&format!("wide/d{number:03}/e/f/g.rs"), "fn needle() {}\n");
    }
    let long = "long_name_".repeat(20);
    for number in 0..60 {
        h.write(&format!("names/{long}{number}"), "needle in a long name\n");
        h.write(&format!("names/漢字のとても長い名前{}_{number}.md", "名".repeat(60)), "needle 漢字\n");
    }
    // A path of some 3,000 bytes, near the longest that can be opened.
    let deep = vec![long.as_str(); 14].join("/");
    h.write(&format!("deep/{deep}/end.txt"), "needle at the end\n");
    #[cfg(unix)]
    for number in 0..20 {
        h.write(&format!("odd/tab\tline\nbreak\u{1b}[31m \"quoted\" \\{number}"), "needle\n");
    }
    write_texts(h);
}

/// Writes the files of it that are long, or in another encoding.
pub(super) fn write_texts(h: &Harness) {
    let numbered = |line: &dyn Fn(usize) -> String| {
        (1..=LINES)
            .map(|number| {
                line(number)
                    + "
"
            })
            .collect::<String>()
    };
    let few = |line: &dyn Fn(usize) -> String| {
        (1..=100)
            .map(|number| {
                line(number)
                    + "
"
            })
            .collect::<String>()
    };
    h.write("text/plain.rs", numbered(&|number| format!("    let value_{number} = call(\"needle\", {number});")));
    h.write("text/paths.md", numbered(&|number| format!("- many/file_{:04}.txt and text/plain.rs", number % 500)));
    h.write("text/long.txt", few(&|number| format!("{number} needle {}", "long line ".repeat(number * 3))));
    h.write("text/cjk.txt", few(&|number| format!("{number} {}needle", "漢字かな交じり文。".repeat(number * 3 % 290))));
    h.write(
        "text/quotes.json",
        few(&|number| format!("{{\"{number}\":\"\\\"needle\\\"\\t{}\"}}", "\\\"".repeat(number * 7 % 900))),
    );
    h.write("text/control.txt", few(&|number| format!("{number} needle {}", "\u{1}\u{7}".repeat(number * 10 % 1000))));
    h.write("text/hidden.txt", numbered(&|number| format!("{number} needle\u{202e}\u{200b} \u{feff}x")));
    h.write("text/crlf.txt", numbered(&|number| format!("{number} needle\r")));
    h.write("text/base64.txt", few(&|number| format!("{number} needle {}", "Qm9vdA9xZ+/k".repeat(30))));
    h.write("text/one_line.js", format!("var needle={};", "f(1,2);".repeat(3_000)));
    let calls = |name: &str, lines: usize| format!("fn {name}() {{\n{}}}\n\n", "    call(\"needle\");\n".repeat(lines));
    let small: String = (0..40).map(|number| calls(&format!("small_{number}"), 2)).collect();
    h.write("text/code.rs", calls("main", 10) + &calls("large", 2_000) + &small + &calls("main", 700));
    h.write("text/blank.txt", "\n".repeat(3_000));
    let latin: Vec<u8> = (0..LINES).flat_map(|_| *b"caf\xe9 needle \xe0 la carte\n").collect();
    h.write("text/latin1.txt", latin);
    let utf16 = format!("\u{feff}{}", "needle ünïcode\n".repeat(800));
    let utf16: Vec<u8> = utf16.encode_utf16().flat_map(u16::to_le_bytes).collect();
    h.write("text/utf16.txt", utf16);
}

/// Files that are read and searched.
pub(super) const FILES: &[&str] = &[
    "text/plain.rs",
    "text/paths.md",
    "text/long.txt",
    "text/cjk.txt",
    "text/quotes.json",
    "text/control.txt",
    "text/hidden.txt",
    "text/crlf.txt",
    "text/base64.txt",
    "text/one_line.js",
    "text/code.rs",
    "text/blank.txt",
    "text/latin1.txt",
    "text/utf16.txt",
    "many/file_0007.txt",
];
