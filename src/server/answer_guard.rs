//! The last guard of an answer's size: what is still over the budget is shortened here, and says so.
//!
//! The tools keep to the budget themselves, and say better how to go on. This is for what they do not foresee: a path
//! of thousands of characters in a header, a hint or a note.

use serde_json::Value;

use crate::tools::{AnswerBudget, fence::end_of_fence};

/// Characters that are left of a long line, or of a text in the data: the largest number with which all fits.
const WIDTHS: [usize; 5] = [800, 400, 200, 100, 50];
/// Characters of a line where the last lines have to be left out.
const LINE: usize = 200;

/// `text` within `budget`: with its long lines cut in the middle, or else without its last lines.
pub(super) fn text_within(text: String, budget: AnswerBudget) -> String {
    if budget.fits(&text) {
        return text;
    }
    let shortened = |width| text.lines().map(|line| ends_of(line, width)).collect::<Vec<_>>();
    let with_note = |width| shortened(width).join("\n") + "\n(long lines are cut in the middle)";
    let fits = WIDTHS.into_iter().map(with_note).find(|text| budget.fits(text));
    fits.unwrap_or_else(|| first_lines(&shortened(LINE), end_of_fence(&text), budget))
}

/// As many of the lines as fit, and how many they are.
fn first_lines(lines: &[String], end_of_fence: Option<&str>, budget: AnswerBudget) -> String {
    let end_of_fence = end_of_fence.map(|end| format!("{end}\n")).unwrap_or_default();
    let note =
        |shown: usize| format!("{end_of_fence}(cut after {shown} of {} lines; ask for a smaller part)", lines.len());
    let mut gauge = budget.less(&note(lines.len())).gauge();
    let (mut text, mut shown) = (String::new(), 0);
    for line in lines {
        let end = text.len();
        text.push_str(line);
        text.push('\n');
        if !gauge.fits(&text) {
            text.truncate(end);
            break;
        }
        shown += 1;
    }
    text + &note(shown)
}

/// `data` within `budget`: with its long texts cut in the middle, or else its lists cut, too.
pub(super) fn data_within(data: Value, budget: AnswerBudget) -> Value {
    let budget = budget.of_json();
    let fits = |data: &Value| budget.fits(&data.to_string());
    if fits(&data) {
        return data;
    }
    let cut = |width, items| {
        let mut data = cut_data(&data, width, items);
        if let Value::Object(data) = &mut data {
            data.insert("cut_to_fit".to_owned(), Value::Bool(true));
        }
        data
    };
    let texts = WIDTHS.iter().map(|width| (*width, usize::MAX));
    let lists = (0..12).rev().map(|power| (WIDTHS[WIDTHS.len() - 1], 1 << power));
    let mut shorter = texts.chain(lists).map(|(width, items)| cut(width, items));
    shorter.find(fits).unwrap_or_else(|| cut(8, 0))
}

fn cut_data(data: &Value, width: usize, items: usize) -> Value {
    match data {
        Value::String(text) => Value::String(ends_of(text, width)),
        Value::Array(list) => list.iter().take(items).map(|item| cut_data(item, width, items)).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), cut_data(value, width, items))).collect(),
        other => other.clone(),
    }
}

/// The two ends of a line that has more than `width` characters.
fn ends_of(line: &str, width: usize) -> String {
    // Bytes first: most lines need not be counted.
    if line.len() <= width || line.chars().nth(width).is_none() {
        return line.to_owned();
    }
    let half = width / 2;
    let head = line.char_indices().nth(half).map_or(line.len(), |(at, _)| at);
    let tail = line.char_indices().rev().nth(half - 1).map_or(0, |(at, _)| at);
    format!("{}…{}", &line[..head], &line[tail..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_over_the_budget_has_its_long_lines_cut_and_then_its_last_lines() {
        let of = |text: &str, limit| {
            let shown = text_within(text.to_owned(), AnswerBudget::bytes(limit));
            assert!(shown.len() <= limit, "{} bytes, not {limit}", shown.len());
            shown
        };
        let text = "a line of 20 bytes.\n".repeat(50);
        assert_eq!(of(&text, 1000), text);
        assert!(of(&text, 200).ends_with("bytes.\n(cut after 7 of 50 lines; ask for a smaller part)"));
        let path = format!("no such file: {}x.rs\n\nhint: use ls", "é".repeat(4000));
        let shown = of(&path, 2000);
        assert!(shown.starts_with("no such file: éé") && shown.contains("é…é"), "{shown}");
        assert!(shown.ends_with("x.rs\n\nhint: use ls\n(long lines are cut in the middle)"), "{shown}");
    }

    #[test]
    fn data_over_the_budget_has_its_texts_cut_and_then_its_lists() {
        let data = json!({ "paths": vec!["d/".repeat(500); 300], "found": 300 });
        for limit in [200_000, 5_000, 500] {
            let shown = data_within(data.clone(), AnswerBudget::bytes(limit));
            assert!(shown.to_string().len() <= limit, "{shown}");
            assert_eq!(shown["found"], 300);
            assert!(shown.get("cut_to_fit").is_some(), "{shown}");
        }
        assert_eq!(data_within(data.clone(), AnswerBudget::bytes(1 << 20)), data);
    }
}
