//! Damage to layout: line endings, white space, indentation, gutters, escapes.
//!
//! A damage that the old text does not show is none that anybody could repair; such a request is left out.

use super::{
    case::Case,
    change::{Change, NewLine, indent},
    random::Random,
};

/// Lines as one text, sometimes without a newline at the end. Deleted lines go with theirs.
pub(crate) fn request(old: &[String], new: &[String], random: &mut Random) -> (String, String) {
    if new.is_empty() {
        return (old.join("\n") + "\n", String::new());
    }
    let end = if random.one_in(2) { "\n" } else { "" };
    (old.join("\n") + end, new.join("\n") + end)
}

/// The case where both texts show each line `edit`ed; `None` where the old one does not.
pub(crate) fn seen(change: &Change, random: &mut Random, edit: impl Fn(&str) -> String) -> Option<Case> {
    let view = |lines: &[String]| -> Vec<String> { lines.iter().map(|line| edit(line)).collect() };
    let (old, new) = (view(&change.old), view(&change.new_lines()));
    if old == change.old {
        return None;
    }
    let (old, new) = request(&old, &new, random);
    Case::new(change, old, new)
}

pub(crate) fn nothing(change: &Change, random: &mut Random) -> Option<Case> {
    let (old, new) = request(&change.old, &change.new_lines(), random);
    Case::new(change, old, new)
}

/// One word of one line becomes another.
pub(crate) fn fragment(change: &Change, random: &mut Random) -> Option<Case> {
    let line = random.pick(&change.old).clone();
    let letters: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
    let from = *letters.get(random.below(letters.len()))?;
    let to = *letters.iter().filter(|at| **at > from).nth(random.below(20))?;
    let (old, place) = (&line[from..to], change.old.iter().position(|other| *other == line)?);
    let whole = change.lines.join("\n");
    if old.trim().is_empty() || old.starts_with(' ') || whole.matches(old).count() != 1 {
        return None;
    }
    let new = NewLine { from: Some(place), text: format!("{}other{}", &line[..from], &line[to..]) };
    let kept = |(index, text): (usize, &String)| NewLine { from: Some(index), text: text.clone() };
    let mut lines: Vec<NewLine> = change.old.iter().enumerate().map(kept).collect();
    lines[place] = new;
    let case = Case::new(&Change { new: lines, ..change.clone() }, old.to_owned(), "other".to_owned())?;
    // A part of a line is meant to the letter, also where it ends in the white space at the line's end.
    let literal = String::from_utf8_lossy(&case.file).replacen(old, "other", 1).into_bytes();
    Some(Case { accepted: [literal].into(), ..case })
}

pub(crate) fn bare_first_line(change: &Change, random: &mut Random) -> Option<Case> {
    let (mut old, mut new) = (change.old.clone(), change.new_lines());
    let before = indent(&old[0]).to_owned();
    if before.is_empty() || new.first().is_none_or(|line| indent(line) != before) {
        return None;
    }
    for line in [&mut old[0], &mut new[0]] {
        line.replace_range(..before.len(), "");
    }
    // A line alone would be found in the middle of others as well.
    if change.lines.join("\n").matches(&old.join("\n")).count() != 1 {
        return None;
    }
    let (old, new) = request(&old, &new, random);
    Case::new(change, old, new)
}

pub(crate) fn crlf_request(change: &Change, random: &mut Random) -> Option<Case> {
    let Case { old, new, .. } = nothing(change, random)?;
    old.contains('\n').then(|| Case::new(change, old.replace('\n', "\r\n"), new.replace('\n', "\r\n")))?
}

pub(crate) fn mixed_endings(change: &Change, random: &mut Random) -> Option<Case> {
    let by_line = random.one_in(2);
    let turn = random.below(change.lines.len());
    let endings: Vec<&str> = (0..change.lines.len())
        .map(|line| {
            if by_line {
                *random.pick(&["\n", "\r\n"])
            } else if line < turn {
                "\n"
            } else {
                "\r\n"
            }
        })
        .collect();
    let (old, new) = request(&change.old, &change.new_lines(), random);
    Case::with_endings(change, &endings, old, new)
}

pub(crate) fn no_final_newline(change: &Change, random: &mut Random) -> Option<Case> {
    // The block becomes the end of the file.
    let lines = change.lines[..change.start + change.old.len()].to_vec();
    let is_deleted = change.new.len() < 2 || change.old.last()?.trim().is_empty();
    let mut endings = vec!["\n"; lines.len()];
    *endings.last_mut()? = "";
    let end = if random.one_in(2) { "\n" } else { "" };
    let (old, new) = (change.old.join("\n") + end, change.new_lines().join("\n") + end);
    if is_deleted { None } else { Case::with_endings(&Change { lines, ..change.clone() }, &endings, old, new) }
}

/// The change in a file with white space at some line ends that the request knows nothing of.
pub(crate) fn trailing_lost(change: &Change, random: &mut Random) -> Option<Case> {
    let dirty = with_trails(change, random)?;
    let clean = change.map(|line| line.trim_end_matches([' ', '\t']).to_owned());
    let (old, new) = request(&clean.old, &clean.new_lines(), random);
    let is_shown = !dirty.lines.join("\n").contains(&clean.old.join("\n"));
    is_shown.then(|| Case::new(&dirty, old, new))?
}

/// The change in a file with white space at some line ends.
pub(crate) fn with_trails(change: &Change, random: &mut Random) -> Option<Change> {
    let trails: Vec<&str> = (0..change.old.len()).map(|_| *random.pick(&["", " ", "  ", "\t", ""])).collect();
    let clean = change.map(|line| line.trim_end_matches([' ', '\t']).to_owned());
    let mut dirty = clean.clone();
    for (index, trailing) in trails.iter().enumerate() {
        dirty.old[index].push_str(trailing);
        dirty.lines[change.start + index].push_str(trailing);
    }
    for line in &mut dirty.new {
        if let Some(from) = line.from.filter(|from| line.text == clean.old[*from]) {
            line.text.clone_from(&dirty.old[from]);
        }
    }
    // A line that comes to read like another old one may have the end of either.
    let is_unclear = clean
        .new
        .iter()
        .any(|line| line.from.is_some_and(|from| line.text != clean.old[from] && clean.old.contains(&line.text)));
    (!is_unclear && dirty.old != clean.old && dirty.is_single()).then_some(dirty)
}

pub(crate) fn trailing_added(change: &Change, random: &mut Random) -> Option<Case> {
    let trailing = *random.pick(&[" ", "  ", "\t"]);
    let blank_too = random.one_in(2);
    seen(change, random, |line| if line.is_empty() && !blank_too { String::new() } else { format!("{line}{trailing}") })
}

/// What all lines that are not blank begin with.
pub(crate) fn common_indent(lines: impl Iterator<Item = String>) -> String {
    lines
        .filter(|line| !line.trim().is_empty())
        .map(|line| indent(&line).to_owned())
        .reduce(|a, b| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect())
        .unwrap_or_default()
}

pub(crate) fn without(line: &str, lost: &str) -> String {
    line.strip_prefix(lost).unwrap_or_else(|| line.trim_start_matches([' ', '\t'])).to_owned()
}

/// Whether the old lines show how far the others are from where they belong. A single one for which further lines are
/// to be put in may as well be one that was only copied from its first character on.
pub(crate) fn shows_indent(change: &Change) -> bool {
    let filled = |lines: &[String]| lines.iter().filter(|line| !line.trim().is_empty()).count();
    filled(&change.old) > 1 || filled(&change.new_lines()) < 2
}

pub(crate) fn indent_lost(change: &Change, random: &mut Random) -> Option<Case> {
    let lost = common_indent(change.old.iter().cloned().chain(change.new_lines()));
    // A last line of nothing but white space would be gone with it, and the request speak of another place.
    let keeps_last = change.old.last().is_some_and(|line| line.is_empty() || !line.trim().is_empty());
    seen(change, random, |line| without(line, &lost)).filter(|_| !lost.is_empty() && keeps_last && shows_indent(change))
}

pub(crate) fn indent_less(change: &Change, random: &mut Random) -> Option<Case> {
    let common = common_indent(change.old.iter().cloned().chain(change.new_lines()));
    if common.len() <= change.unit.len() || !common.starts_with(&change.unit) {
        return None;
    }
    seen(change, random, |line| without(line, &change.unit)).filter(|_| shows_indent(change))
}

pub(crate) fn indent_more(change: &Change, random: &mut Random) -> Option<Case> {
    let more = change.unit.repeat(1 + random.below(2));
    seen(change, random, |line| if line.trim().is_empty() { line.to_owned() } else { format!("{more}{line}") })
}

/// Indentation by spaces turned into tabs for each `width` of them.
pub(crate) fn tabbed(line: &str, width: usize) -> String {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    format!("{}{}{}", "\t".repeat(spaces / width), " ".repeat(spaces % width), &line[spaces..])
}

pub(crate) fn untabbed(line: &str, width: usize) -> String {
    let tabs = line.len() - line.trim_start_matches('\t').len();
    format!("{}{}", " ".repeat(tabs * width), &line[tabs..])
}

/// Whether no line begins with as many spaces as a tab is turned into, such as YAML in a string of Go: nobody could tell
/// those from a tab.
pub(crate) fn tells_tabs(change: &Change, width: usize) -> bool {
    let spaces = |line: &String| line.len() - line.trim_start_matches(' ').len();
    change.old.iter().chain(&change.new_lines()).all(|line| spaces(line) < width)
}

fn in_tabs(change: &Change) -> Change {
    if change.unit == "\t" {
        return change.clone();
    }
    Change { unit: "\t".to_owned(), ..change.map(|line| tabbed(line, change.unit.len())) }
}

pub(crate) fn spaces_for_tabs(change: &Change, random: &mut Random) -> Option<Case> {
    let change = in_tabs(change);
    let width = *random.pick(&[4, 4, 8, 2]);
    // Where spaces go on from tabs, levels are no tabs.
    let is_even = change.old.iter().chain(&change.new_lines()).all(|line| !indent(line).contains("\t "));
    (is_even && tells_tabs(&change, width)).then(|| seen(&change, random, |line| untabbed(line, width)))?
}

pub(crate) fn tabs_for_spaces(change: &Change, random: &mut Random) -> Option<Case> {
    let width = change.unit.len();
    let has_tabs = |lines: &[String]| lines.iter().any(|line| line.starts_with('\t'));
    if change.unit == "\t" || has_tabs(&change.lines) || has_tabs(&change.new_lines()) {
        return None;
    }
    seen(change, random, |line| tabbed(line, width))
}

pub(crate) fn gutter(change: &Change, random: &mut Random, width: usize, delimiter: &str) -> Option<Case> {
    let numbered = |lines: &[String]| -> Vec<String> {
        let number = |(index, line): (usize, &String)| format!("{:>width$}{delimiter}{line}", change.start + index + 1);
        lines.iter().enumerate().map(number).collect()
    };
    let (old, new) = request(&numbered(&change.old), &numbered(&change.new_lines()), random);
    // Behind `12: ` alone it may be YAML; a single line proves nothing there.
    let is_sure = change.old.len() > 1 || matches!(delimiter, "\t" | "→");
    is_sure.then(|| Case::new(change, old, new))?
}

pub(crate) fn gutter_in_old(change: &Change, random: &mut Random) -> Option<Case> {
    let Case { old, .. } = gutter(change, random, 6, "\t")?;
    let end = if old.ends_with('\n') && !change.new.is_empty() { "\n" } else { "" };
    Case::new(change, old, change.new_lines().join("\n") + end)
}

pub(crate) fn newlines_escaped(change: &Change, _: &mut Random) -> Option<Case> {
    let escaped = |lines: &[String]| lines.join("\\n").replace('\t', "\\t");
    let (old, new) = (escaped(&change.old), escaped(&change.new_lines()));
    (!change.new.is_empty()).then(|| Case::new(change, old, new))?
}

pub(crate) fn quotes_escaped(change: &Change, random: &mut Random) -> Option<Case> {
    seen(change, random, |line| line.replace('"', "\\\""))
}

pub(crate) fn json_escaped(change: &Change, random: &mut Random) -> Option<Case> {
    let escaped = |text: &str| -> Option<String> {
        let quoted = serde_json::to_string(text).ok()?;
        Some(quoted[1..quoted.len() - 1].to_owned())
    };
    let (old, new) = request(&change.old, &change.new_lines(), random);
    if new.is_empty() { None } else { Case::new(change, escaped(&old)?, escaped(&new)?) }
}

pub(crate) fn invalid_elsewhere(change: &Change, random: &mut Random) -> Option<Case> {
    const MARK: &str = "invalid bytes go here";
    let case = nothing(change, random)?;
    let noise = *random.pick(&[&b"\xff\xfe"[..], b"\xc3", b"caf\xe9 \xa0", b"\xed\xa0\x80"]);
    Some(case.map(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let whole =
            format!("{} {MARK}\n{text}{} {MARK} déjà vu, naïve, à côté, œuvre\n", change.comment, change.comment);
        let mut parts = whole.split(MARK).map(str::as_bytes);
        let first = parts.next().unwrap_or_default().to_vec();
        parts.fold(first, |all, part| [&all, noise, part].concat())
    }))
}

pub(crate) fn blank_lines_around(change: &Change, random: &mut Random) -> Option<Case> {
    let (before, after) = *random.pick(&[("\n", ""), ("", "\n\n"), ("\n", "\n"), ("\n\n", "\n")]);
    let around = |lines: Vec<String>| format!("{before}{}\n{after}", lines.join("\n"));
    let (old, new) = (around(change.old.clone()), around(change.new_lines()));
    (!change.new.is_empty() && !change.lines.join("\n").contains(old.trim_end_matches('\n')))
        .then(|| Case::new(change, old, new))?
}

pub(crate) fn newline_in_old_only(change: &Change, _: &mut Random) -> Option<Case> {
    let trailing = change.map(|line| format!("{line} "));
    let ends_blank = |lines: &[String]| lines.last().is_none_or(|line| line.trim().is_empty());
    let is_shown = !ends_blank(&change.old) && !ends_blank(&change.new_lines());
    is_shown.then(|| Case::new(change, trailing.old.join("\n") + "\n", change.new_lines().join("\n")))?
}

pub(crate) fn half_indent(change: &Change, random: &mut Random) -> Option<Case> {
    let halved = |line: &str| {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        line[spaces / 2..].to_owned()
    };
    let is_even = change.old.iter().chain(&change.new_lines()).all(|line| indent(line).len().is_multiple_of(4));
    seen(change, random, halved).filter(|_| is_even)
}

pub(crate) fn indent_lost_below(change: &Change, random: &mut Random) -> Option<Case> {
    let lost = common_indent(change.old.iter().cloned().chain(change.new_lines()));
    let view = |lines: &[String]| -> Vec<String> {
        let each = |(index, line): (usize, &String)| if index == 0 { line.clone() } else { without(line, &lost) };
        lines.iter().enumerate().map(each).collect()
    };
    let (old, new) = request(&view(&change.old), &view(&change.new_lines()), random);
    let is_shown = !change.old[0].trim().is_empty() && view(&change.old) != change.old;
    (!lost.is_empty() && is_shown).then(|| Case::new(change, old, new))?
}

pub(crate) fn indent_lost_with_gutter(change: &Change, random: &mut Random) -> Option<Case> {
    let lost = common_indent(change.old.iter().cloned().chain(change.new_lines()));
    let numbered = |lines: &[String]| -> Vec<String> {
        let number =
            |(index, line): (usize, &String)| format!("{}\t{}", change.start + index + 1, without(line, &lost));
        lines.iter().enumerate().map(number).collect()
    };
    // A line of nothing but white space becomes an empty one: a change of just that is in the request no more.
    let is_clear = |line: &String| line.is_empty() || !line.trim().is_empty();
    let is_shown = !lost.is_empty() && change.old.iter().chain(&change.new_lines()).all(is_clear);
    let (old, new) = request(&numbered(&change.old), &numbered(&change.new_lines()), random);
    is_shown.then(|| Case::new(change, old, new))?
}

pub(crate) fn spaces_collapsed(change: &Change, random: &mut Random) -> Option<Case> {
    seen(change, random, |line| {
        let before = indent(line);
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        if line.trim().is_empty() { line.to_owned() } else { format!("{before}{}", words.join(" ").trim_start()) }
    })
}

pub(crate) fn blank_lines_lost(change: &Change, random: &mut Random) -> Option<Case> {
    let filled =
        |lines: &[String]| -> Vec<String> { lines.iter().filter(|line| !line.trim().is_empty()).cloned().collect() };
    let (old, new) = (filled(&change.old), filled(&change.new_lines()));
    let is_shown = old.len() < change.old.len() && !change.lines.join("\n").contains(&old.join("\n"));
    let (old, new) = request(&old, &new, random);
    is_shown.then(|| Case::new(change, old, new))?
}

pub(crate) fn lines_joined(change: &Change, random: &mut Random) -> Option<Case> {
    let at = 1 + random.below(change.old.len() - 1);
    let joined = |lines: &[String]| -> Vec<String> {
        let mut lines = lines.to_vec();
        if at < lines.len() {
            let line = lines.remove(at);
            lines[at - 1] = format!("{} {}", lines[at - 1], line.trim_start());
        }
        lines
    };
    let (old, new) = (joined(&change.old), joined(&change.new_lines()));
    let is_filled = change.old[at - 1..=at].iter().all(|line| !line.trim().is_empty());
    let is_shown = is_filled && !change.lines.join("\n").contains(&old.join("\n"));
    let (old, new) = request(&old, &new, random);
    is_shown.then(|| Case::new(change, old, new))?
}
