//! Properties of the whole ladder: a damaged request makes the change that was meant, or none.

use proptest::prelude::{Strategy as Generator, any, prop, prop_assert_eq, proptest};

use crate::testing;

/// A line of a file: its level of indentation, and what it says.
type Row = (usize, String);

/// A file of lines that differ, with blank lines and braces between them.
fn file() -> impl Generator<Value = Vec<Row>> {
    let row = (0_usize..3, 0_usize..8, any::<u8>());
    proptest::collection::vec(row, 5..24).prop_map(|rows| {
        let mut level = 0;
        let mut lines = Vec::new();
        for (number, (step, kind, value)) in rows.into_iter().enumerate() {
            level = (level + step).saturating_sub(1).min(3);
            let says = match kind {
                0 => String::new(),
                1 => "}".to_owned(),
                2 => format!("if ready < {number} && value_{number} > 1 {{"),
                3 => format!("print(\"it's {value} of\", 'all-{number}')"),
                4 => format!("// keeps the remaining_{number} things - as they are"),
                _ => format!("let value_{number} = compute_{number}(items, {value});"),
            };
            lines.push((if says.is_empty() { 0 } else { level }, says));
        }
        lines
    })
}

/// One change of the lines of a block: of which line, and how.
fn changed(block: &[Row], at: usize, how: usize) -> Vec<Row> {
    let mut new = block.to_vec();
    let level = block[at].0;
    match how {
        0 => new[at].1 = format!("changed({at}, \"now\");"),
        1 => new.insert(at, (level, "inserted('before');".to_owned())),
        2 => new.insert(at + 1, (level, "inserted(\"behind\", 1 < 2);".to_owned())),
        3 => new.insert(at + 1, (level + 1, "deeper(1);".to_owned())),
        _ => {
            new.remove(at);
        }
    }
    new
}

fn written(rows: &[Row], unit: &str) -> Vec<String> {
    rows.iter().map(|(level, says)| format!("{}{says}", unit.repeat(*level))).collect()
}

/// A damage of both texts; `kept` is a line of the first that is the same in the second, with its place there.
fn damage(how: usize, old: &mut Vec<String>, new: &mut Vec<String>, kept: Option<(usize, usize)>) {
    let lines: Vec<String> = old.iter().chain(new.iter()).cloned().collect();
    let mut each = |edit: &dyn Fn(&str) -> String| {
        for line in old.iter_mut().chain(new.iter_mut()) {
            *line = edit(line);
        }
    };
    match how {
        0 => {
            let white = |line: &String| line.len() - line.trim_start_matches([' ', '\t']).len();
            let common = lines.iter().filter(|line| !line.is_empty()).map(white).min().unwrap_or(0);
            each(&|line| line.get(common..).unwrap_or_default().to_owned());
        }
        1 => each(&|line| if line.is_empty() { String::new() } else { format!("    {line}") }),
        2 if lines.iter().all(|line| line.is_empty() || line.starts_with("    ")) => {
            each(&|line| line.strip_prefix("    ").unwrap_or(line).to_owned());
        }
        3 => each(&|line| if line.is_empty() { String::new() } else { format!("{line}  ") }),
        4 => each(&|line| line.replace('"', "”").replace('\'', "’")),
        5 => each(&|line| line.replace(" - ", " – ").replace(", ", ",\u{a0}")),
        6 => each(&|line| line.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")),
        7 => each(&|line| line.replace('\t', "    ")),
        8 => each(&|line| line.replace("    ", "\t")),
        9 => {
            let Some((at, to)) = kept else { return };
            let slipped = old[at].replacen("comp", "cmop", 1).replacen("remain", "remian", 1);
            (old[at], new[to]) = (slipped.clone(), slipped);
        }
        10 => {
            let Some((at, _)) = kept else { return };
            old[at] = old[at].replacen("value_", "vlaue_", 1).replacen("print", "prnit", 1);
        }
        11 => {
            // Among blank lines, one more may be what the file has.
            let is_between = |at: usize| at > 0 && !old[at - 1].trim().is_empty() && !old[at].trim().is_empty();
            let Some((at, to)) = kept.filter(|(at, to)| is_between(*at) && *to > 0 && old[at - 1] == new[to - 1])
            else {
                return;
            };
            old.insert(at, String::new());
            new.insert(to, String::new());
        }
        12 => {
            for lines in [old, new] {
                let numbered = |(index, line): (usize, &String)| format!("{:>6}\t{line}", index + 7);
                *lines = lines.iter().enumerate().map(numbered).collect();
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn a_damaged_request_makes_the_change_that_was_meant_or_none(
        rows in file(), from in any::<prop::sample::Index>(), count in 1_usize..9, at in any::<prop::sample::Index>(),
        kept in any::<prop::sample::Index>(), change in 0_usize..5, damages in (0_usize..14, 0_usize..14),
        tabs in any::<bool>(), crlf in any::<bool>(),
    ) {
        let unit = if tabs { "\t" } else { "    " };
        let from = from.index(rows.len());
        let block = &rows[from..rows.len().min(from + count)];
        let at = at.index(block.len());
        let new_rows = changed(block, at, change);
        let lines = written(&rows, unit);
        let (mut old, mut new) = (written(block, unit), written(&new_rows, unit));
        let mut expected = lines.clone();
        expected.splice(from..from + block.len(), new.clone());
        // Only what says enough, once, can be meant for certain.
        let says = |rows: &[Row]| rows.iter().map(|(_, says)| says.as_str()).filter(|says| !says.is_empty()).collect::<String>();
        if says(block).len() < 8 || says(&rows).matches(&says(block)).count() > 1 || new.is_empty() {
            return Ok(());
        }
        // A single line without its indentation may be one that was copied from its first character on.
        let filled = |lines: &[String]| lines.iter().filter(|line| !line.is_empty()).count();
        let loses_indent = [damages.0, damages.1].iter().any(|how| matches!(how, 0 | 2));
        let shows_unit = lines.iter().any(|line| line.starts_with(unit));
        let changes_unit = [damages.0, damages.1].iter().any(|how| matches!(how, 7 | 8));
        if loses_indent && filled(&old) == 1 && filled(&new) > 1 || changes_unit && !shows_unit {
            return Ok(());
        }
        let shift = new.len().cast_signed() - old.len().cast_signed();
        let kept = Some(kept.index(block.len())).filter(|kept| *kept != at);
        let kept = kept.map(|kept| (kept, if kept < at { kept } else { kept.saturating_add_signed(shift) }));
        for how in [damages.0, if damages.0 < 11 { damages.1 } else { 13 }] {
            let before = (old.clone(), new.clone());
            damage(how, &mut old, &mut new, kept);
            // A damage that the old text does not show is none that anybody could repair.
            if old == before.0 && new != before.1 {
                return Ok(());
            }
        }
        let ending = if crlf { "\r\n" } else { "\n" };
        let text = |lines: &[String], ending: &str| lines.iter().flat_map(|line| [line.as_str(), ending]).collect::<String>();
        let (old, new) = (text(&old, "\n"), text(&new, "\n"));
        let file = text(&lines, ending);
        // What the file has as it is given is meant so.
        if old == new || text(&lines, "\n").contains(&old) && damages != (13, 13) {
            return Ok(());
        }
        if let Ok((by, made)) = testing::edited(&file, &old, &new) {
            prop_assert_eq!(made, text(&expected, ending), "{}\nold {:?}\nnew {:?}", by, old, new);
        }
    }
}
