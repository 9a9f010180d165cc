//! Damage to characters and words: typography, Unicode, misremembered words; and text in other languages.

use unicode_normalization::UnicodeNormalization;

use super::{
    case::Case,
    change::{Change, NewLine, indent},
    damage::{request, seen, shows_indent},
    random::Random,
};

/// Words in which letters may be mistyped have at least so many of them.
const LONG_WORD: usize = 6;

/// Sentences of one language each.
const LANGUAGES: [[&str; 3]; 6] = [
    ["これは日本語の文章です。", "設定を変更してください。", "ファイルを読み込みます。"],
    ["这是一个用来测试的中文文件。", "请修改这里的设置。", "读取文件并返回结果。"],
    ["déjà vu à l'école", "une été très agréable, où ça", "größere Änderungen für später"],
    ["Это обычный русский текст.", "Прочитать файл и вернуть ответ.", "Здесь меняются настройки."],
    ["這是一個用來測試的中文檔案。", "請修改這裡的設定。", "讀取檔案並傳回結果。"],
    ["이것은 한국어 문장입니다.", "설정을 변경하십시오.", "파일을 읽고 결과를 반환합니다."],
];

/// The change in a file with comments in a language, also within the block.
pub(crate) fn in_language(change: &Change, language: usize) -> Change {
    let plain = change.map(|line| line.chars().filter(char::is_ascii).collect());
    plain.with_lines(7, |line| format!("{} {}", change.comment, LANGUAGES[language][line % 3]))
}

/// Straight quotes as a word processor has them.
pub(crate) fn curled(line: &str, doubles: bool, singles: bool) -> String {
    let mut opens = true;
    line.chars()
        .map(|character| match character {
            '"' if doubles => {
                opens = !opens;
                if opens { '”' } else { '“' }
            }
            '\'' if singles => '’',
            other => other,
        })
        .collect()
}

pub(crate) fn has(lines: &[String], what: &str) -> bool {
    lines.iter().any(|line| line.contains(what))
}

fn is_typographic(character: char) -> bool {
    matches!(character, '\u{2010}'..='\u{2033}' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{2212}' | '\u{3000}')
}

/// Whether the file has none of the characters that the damages bring in, nor the new text those that a client or model
/// writes for plain ones: with these nobody could tell which are meant.
pub(crate) fn is_plain(change: &Change) -> bool {
    const WRITTEN: [char; 8] =
        ['\u{a0}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', '\u{2013}', '\u{2014}', '\u{2026}'];
    !change.lines.iter().any(|line| line.contains(is_typographic))
        && !change.new.iter().any(|line| line.text.contains(WRITTEN))
}

pub(crate) fn curly_request(change: &Change, random: &mut Random) -> Option<Case> {
    let (doubles, singles) = (has(&change.old, "\""), has(&change.old, "'"));
    seen(change, random, |line| curled(line, doubles, singles)).filter(|_| is_plain(change))
}

pub(crate) fn curly_file(change: &Change, random: &mut Random) -> Option<Case> {
    let curly = change.map(|line| curled(line, true, true));
    let (old, new) = request(&change.old, &change.new_lines(), random);
    (curly.old != change.old && is_plain(change)).then(|| Case::new(&curly, old, new))?
}

pub(crate) fn dashed(line: &str, dashes: bool, ellipses: bool) -> String {
    // A dash that begins a line is the mark of a list, whether the line is indented or not.
    let (indent, content) = line.split_at(indent(line).len());
    let content = if dashes { content.replace(" - ", " – ") } else { content.to_owned() };
    let content = if ellipses { content.replace("...", "…") } else { content };
    format!("{indent}{content}")
}

pub(crate) fn dashed_request(change: &Change, random: &mut Random) -> Option<Case> {
    let (dashes, ellipses) = (has(&change.old, " - "), has(&change.old, "..."));
    seen(change, random, |line| dashed(line, dashes, ellipses)).filter(|_| is_plain(change))
}

pub(crate) fn dashed_file(change: &Change, random: &mut Random) -> Option<Case> {
    let mut dashy = change.map(|line| dashed(line, true, true));
    // Lines that the file has in plain characters stay plain when they are reworded.
    for (line, plain) in dashy.new.iter_mut().zip(&change.new) {
        if line.from.is_some_and(|from| dashy.old[from] == change.old[from]) {
            line.text.clone_from(&plain.text);
        }
    }
    let (old, new) = request(&change.old, &change.new_lines(), random);
    (dashy.old != change.old && is_plain(change)).then(|| Case::new(&dashy, old, new))?
}

pub(crate) fn nbsp_request(change: &Change, random: &mut Random) -> Option<Case> {
    let indents_too = random.one_in(2);
    let is_shown = change.old.iter().any(|line| line.trim_start().contains(' '));
    let case = seen(change, random, |line| {
        let start = if indents_too { 0 } else { line.len() - line.trim_start().len() };
        format!("{}{}", &line[..start], line[start..].replace(' ', "\u{a0}"))
    });
    case.filter(|_| is_shown && is_plain(change))
}

/// The change in a file with a no-break space behind the first word of some lines.
pub(crate) fn nbsp_file(change: &Change, random: &mut Random) -> Option<Case> {
    let joined = |line: &str| {
        let start = line.len() - line.trim_start().len();
        format!("{}{}", &line[..start], line[start..].replacen(' ', "\u{a0}", 1))
    };
    let at = random.below(change.old.len());
    let mut file = change.clone();
    file.old[at] = joined(&change.old[at]);
    file.lines[change.start + at].clone_from(&file.old[at]);
    let mut other = file.clone();
    for (line, other) in file.new.iter_mut().zip(&mut other.new) {
        // Next to a word that changes it may stay or go, unless the line is rewritten.
        // The words at both sides of the space; tabs part words as well.
        let words = |text: &str| {
            let (before, after) = text.trim_start().split_once(' ')?;
            let word = |text: Option<&str>| text.unwrap_or_default().to_owned();
            Some((word(before.split_whitespace().last()), word(after.split_whitespace().next())))
        };
        let (Some(before), Some(after)) = (words(&change.old[at]), words(&line.text)) else { continue };
        let (first, second) = (before.0 == after.0, before.1 == after.1);
        if line.from == Some(at) && (first || second) {
            line.text = joined(&line.text);
            if first && second {
                other.text.clone_from(&line.text);
            }
        }
    }
    let (old, new) = request(&change.old, &change.new_lines(), random);
    let results = Case::new(&other, old.clone(), new.clone());
    (file.old != change.old && is_plain(change)).then(|| Some(Case::new(&file, old, new)?.or(results)))?
}

fn accented(change: &Change) -> Change {
    change.with_lines(5, |line| format!("{} café déjà vu, naïve façade n° {line}", change.comment))
}

pub(crate) fn decomposed_request(change: &Change, random: &mut Random) -> Option<Case> {
    let change = accented(change);
    let is_composed = change.lines.iter().all(|line| line.nfc().eq(line.chars()));
    seen(&change, random, |line| line.nfd().collect()).filter(|_| is_composed && is_plain(&change))
}

pub(crate) fn decomposed_file(change: &Change, random: &mut Random) -> Option<Case> {
    let change = accented(change);
    let is_composed = change.lines.iter().all(|line| line.nfc().eq(line.chars()));
    let file = change.map(|line| line.nfd().collect());
    let (old, new) = request(&change.old, &change.new_lines(), random);
    (is_composed && file.old != change.old && is_plain(&change)).then(|| Case::new(&file, old, new))?
}

/// The words of a line with their positions.
pub(crate) fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split(|one: char| !one.is_alphanumeric() && one != '_')
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}

/// A letter of a long word left out, doubled or changed places with its neighbour.
pub(crate) fn misspelled(line: &str, random: &mut Random) -> Option<String> {
    let long: Vec<(usize, &str)> = words(line)
        .filter(|(_, word)| word.len() >= LONG_WORD && word.chars().all(|one| one.is_ascii_alphabetic()))
        .collect();
    if long.is_empty() {
        return None;
    }
    let (at, word) = *random.pick(&long);
    let place = 1 + random.below(word.len() - 2);
    let (head, letter, tail) = (&word[..place], &word[place..=place], &word[place + 1..]);
    let other = match random.below(3) {
        0 => format!("{head}{tail}"),
        1 => format!("{head}{letter}{letter}{tail}"),
        _ => format!("{head}{}{letter}{}", &tail[..1], &tail[1..]),
    };
    (other != word).then(|| format!("{}{other}{}", &line[..at], &line[at + word.len()..]))
}

/// The change with typos in `count` lines that it leaves alone, none of them the first or last.
pub(crate) fn typo(change: &Change, random: &mut Random, count: usize, in_comment: bool) -> Option<Case> {
    let kept = |index: usize| {
        let mut lines = change.new.iter().filter(|line| line.from == Some(index));
        lines.next().is_some_and(|line| line.text == change.old[index])
    };
    let reads_as_comment = |index: usize| change.old[index].trim_start().starts_with(change.comment);
    let mut places: Vec<usize> =
        (1..change.old.len() - 1).filter(|index| kept(*index) && reads_as_comment(*index) == in_comment).collect();
    let (mut old, mut new) = (change.old.clone(), change.new.clone());
    for _ in 0..count {
        let place = if places.is_empty() { None } else { Some(places.remove(random.below(places.len()))) }?;
        let text = misspelled(&change.old[place], random)?;
        for line in new.iter_mut().filter(|line: &&mut NewLine| line.from == Some(place)) {
            line.text.clone_from(&text);
        }
        old[place] = text;
    }
    let new: Vec<String> = new.into_iter().map(|line| line.text).collect();
    let (old, new) = request(&old, &new, random);
    Case::new(change, old, new)
}

pub(crate) fn typo_on_changed(change: &Change, random: &mut Random) -> Option<Case> {
    let changed = |line: &&NewLine| line.from.is_some_and(|from| line.text != change.old[from]);
    let place = change.new.iter().find(changed)?.from?;
    let mut old = change.old.clone();
    old[place] = misspelled(&old[place], random)?;
    let (old, new) = request(&old, &change.new_lines(), random);
    Case::new(change, old, new)
}

pub(crate) fn typo_in_first(change: &Change, random: &mut Random) -> Option<Case> {
    let (mut old, mut new) = (change.old.clone(), change.new_lines());
    let is_kept = new.first() == old.first();
    old[0] = misspelled(&old[0], random)?;
    if is_kept {
        new[0].clone_from(&old[0]);
    }
    let (old, new) = request(&old, &new, random);
    is_kept.then(|| Case::new(change, old, new))?
}

pub(crate) fn entities(change: &Change, random: &mut Random) -> Option<Case> {
    seen(change, random, |line| {
        line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    })
}

pub(crate) fn casing(change: &Change, random: &mut Random) -> Option<Case> {
    let all: Vec<(usize, &str)> = change.old.iter().flat_map(|line| words(line)).collect();
    let (_, word) = *random.pick(&all);
    let other = if random.one_in(2) { word.to_uppercase() } else { word.to_lowercase() };
    seen(change, random, |line| line.replace(word, &other))
        .filter(|case| !String::from_utf8_lossy(&case.file).contains(&case.old))
}

pub(crate) fn curly_and_indent_lost(change: &Change, random: &mut Random) -> Option<Case> {
    let (doubles, singles) = (has(&change.old, "\""), has(&change.old, "'"));
    let unit = &change.unit;
    let is_deep = shows_indent(change)
        && change.old.iter().chain(&change.new_lines()).all(|line| line.starts_with(unit.as_str()));
    let lost = |line: &str| line.strip_prefix(unit.as_str()).unwrap_or(line).to_owned();
    seen(change, random, |line| curled(&lost(line), doubles, singles))
        .filter(|_| is_deep && (doubles || singles) && is_plain(change))
}

pub(crate) fn other_quotes(change: &Change, random: &mut Random) -> Option<Case> {
    seen(change, random, |line| line.replace('"', "'"))
}
