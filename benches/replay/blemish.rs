//! Damages of requests for real changes, one and two at once.
//!
//! A request here is two lists of lines, so that damages can be put on top of one another. Each shows in the old
//! text; one that does not is none that anybody could repair, and is left out.

use super::{
    case::{Case, Duty},
    change::{Change, NewLine, indent},
    damage,
    hunks::Hunk,
    pairs::Damage,
    random::Random,
    spelling, traps,
};

pub(crate) use super::hunks::View;

/// A damage of lines one by one.
type ByLine = fn(&Change, &mut Random) -> Option<EditLine>;

/// What a damage makes of a line.
type EditLine = Box<dyn Fn(&str) -> String>;

/// A damage of the request as a whole.
type Whole = fn(&Change, &mut Random) -> Option<View>;

type Make = Box<dyn Fn(&Hunk, &mut Random) -> Option<Case>>;

/// A damage, or two at once.
pub(crate) struct Blemish {
    pub(crate) name: &'static str,
    pub(crate) duty: Duty,
    /// Whether the request is literal, and only the file is not as it was.
    is_of_file: bool,
    make: Make,
}

impl Blemish {
    /// The damaged request; `None` where the damage does not show in the hunk.
    pub(crate) fn of(&self, hunk: &Hunk, random: &mut Random) -> Option<Case> {
        let case = (self.make)(hunk, random)?;
        // In a file that was damaged as well nobody can tell white space at the end of new lines from the damage.
        let is_plain = case.file == text(&hunk.change.lines).as_bytes();
        if !is_plain && hunk.change.new.iter().any(|line| line.text.ends_with([' ', '\t'])) {
            return None;
        }
        if loses_white_space(&hunk.change, &case) || says_less(&hunk.change, &case) {
            return None;
        }
        // What the file has as it is given is meant so.
        let file = String::from_utf8_lossy(&case.file).replace("\r\n", "\n");
        let is_literal = file.contains(&case.old);
        (self.name == NOTHING || self.is_of_file || self.duty != Duty::Apply || !is_literal).then_some(case)
    }
}

/// White space at the end of a new line that the request lacks nobody can know of.
fn loses_white_space(change: &Change, case: &Case) -> bool {
    let is_there = |line: &NewLine| match line.text.trim_start() {
        "" => case.new.lines().any(|new| new == line.text),
        content => case.new.lines().any(|new| new.ends_with(content)),
    };
    brought_in(change).any(|line| line.text.ends_with([' ', '\t']) && !is_there(line))
}

/// Whether a request with two damages is one for another change, or for one that nobody could know.
pub(crate) fn says_too_little(change: &Change, case: &Case) -> bool {
    let ends_in_space = |line: &NewLine| line.text.ends_with([' ', '\t']);
    loses_white_space(change, case)
        || says_less(change, case)
        || !tells_spaces(change)
        || case.file != text(&change.lines).as_bytes() && change.new.iter().any(ends_in_space)
}

/// The new lines that are no old ones as they were.
fn brought_in(change: &Change) -> impl Iterator<Item = &NewLine> {
    change.new.iter().filter(|line| line.from.is_none_or(|from| change.old.get(from) != Some(&line.text)))
}

/// The old lines that do not stay.
fn removed(change: &Change) -> impl Iterator<Item = &String> {
    let stays = |at: usize, old: &String| change.new.iter().any(|line| line.from == Some(at) && line.text == *old);
    change.old.iter().enumerate().filter(move |(at, old)| !stays(*at, old)).map(|(_, old)| old)
}

/// Whether lines can be distinguished without their white space. Of two lines that differ in nothing else nobody
/// knows which one goes, nor of a line that goes here and comes there whether it is the one that has the file's white
/// space: one that is moved, or a blank one among those that are replaced.
fn tells_spaces(change: &Change) -> bool {
    let (old, new) = plain(change);
    let count = |lines: &[String], wanted: &String| lines.iter().filter(|line| *line == wanted).count();
    let is_moved = |old: &String| brought_in(change).any(|new| new.text.split_whitespace().eq(old.split_whitespace()));
    old.iter().all(|line| count(&new, line) == 0 || count(&new, line) == count(&old, line))
        && !removed(change).any(is_moved)
}

/// Whether a damage of each line made lines alike that the change tells apart: then the request is for another change.
fn says_less(change: &Change, case: &Case) -> bool {
    let shared = |old: &[&str], new: &[&str]| {
        let mut left = new.to_vec();
        let mut takes =
            |line: &str| left.iter().position(|other| *other == line).map(|at| left.swap_remove(at)).is_some();
        old.iter().filter(|line| takes(line)).count()
    };
    let (old, new): (Vec<&str>, Vec<&str>) = (case.old.lines().collect(), case.new.lines().collect());
    let meant = change.new_lines();
    let meant: Vec<&str> = meant.iter().map(String::as_str).collect();
    let given: Vec<&str> = change.old.iter().map(String::as_str).collect();
    (old.len(), new.len()) == (given.len(), meant.len()) && shared(&old, &new) > shared(&given, &meant)
}

/// The file of the case after the hunk alone, to the byte.
pub(crate) fn intended(case: &Case, hunk: &Hunk) -> Vec<u8> {
    let change = &hunk.change;
    let result: Vec<String> = change.result().into_iter().map(|line| line.text).collect();
    if case.file == text(&change.lines).as_bytes() {
        return text(&result).into_bytes();
    }
    // The file was damaged as well; the case knows.
    case.accepted.first().cloned().unwrap_or_default()
}

/// The damage that is none.
pub(crate) const NOTHING: &str = "nothing";

fn text(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn plain(change: &Change) -> View {
    (change.old.clone(), change.new_lines())
}

/// The request of a view, for the change as it is meant.
pub(crate) fn case(change: &Change, (old, new): &View, random: &mut Random) -> Option<Case> {
    let (old, new) = damage::request(old, new, random);
    Case::new(change, old, new)
}

/// Damages that leave enough to know what is meant, then those that may be refused.
pub(crate) fn all() -> Vec<Blemish> {
    let mut all = repairable();
    all.extend(pairs());
    all.extend(doubtful());
    all
}

fn simple(name: &'static str, duty: Duty, make: fn(&Change, &mut Random) -> Option<Case>) -> Blemish {
    Blemish { name, duty, is_of_file: false, make: Box::new(move |hunk, random| make(&hunk.change, random)) }
}

fn repairable() -> Vec<Blemish> {
    let apply = |name, make| simple(name, Duty::Apply, make);
    vec![
        apply(NOTHING, damage::nothing),
        Blemish {
            is_of_file: true,
            ..apply("CR LF file", |change, random| Some(damage::nothing(change, random)?.in_crlf()))
        },
        apply("CR LF request", damage::crlf_request),
        apply("white space at line ends lost", |change, random| {
            tells_spaces(change).then(|| damage::trailing_lost(change, random))?
        }),
        apply("white space at line ends added", damage::trailing_added),
        apply("indentation lost", damage::indent_lost),
        apply("indentation less by a level", damage::indent_less),
        apply("indentation more by a level", damage::indent_more),
        apply("spaces for tabs", damage::spaces_for_tabs),
        apply("tabs for spaces", damage::tabs_for_spaces),
        apply("curly quotes", spelling::curly_request),
        apply("dashes and ellipses", spelling::dashed_request),
        apply("no-break spaces", spelling::nbsp_request),
        apply("gutter of read", |change, random| damage::gutter(change, random, 0, "\t")),
        apply("gutter of cat -n", |change, random| damage::gutter(change, random, 6, "\t")),
        apply("gutter 12: text", |change, random| damage::gutter(change, random, 0, ": ")),
        apply("gutter in old_string only", damage::gutter_in_old),
        apply(r"\n spelled out", |change, random| {
            let clear = change.old.len() > 1 && !change.new_lines().iter().chain(&change.old).any(|l| l.contains('\\'));
            clear.then(|| damage::newlines_escaped(change, random))?
        }),
        apply("quotes escaped", |change, random| {
            let clear = !change.new_lines().iter().chain(&change.old).any(|line| line.contains('\\'));
            clear.then(|| damage::quotes_escaped(change, random))?
        }),
        apply("HTML entities", |change, random| {
            case(change, &mapped(change, plain(change), entities, random)?, random)
        }),
        apply("a blank line missing", |change, random| case(change, &blank_missing(change, random)?, random)),
        apply("a blank line extra", |change, random| case(change, &blank_extra(change, random)?, random)),
        apply("a typo on a kept line", |change, random| case(change, &typo(change, random)?, random)),
        apply("a typo on a kept line, in old_string only", |change, random| {
            case(change, &(typo(change, random)?.0, change.new_lines()), random)
        }),
    ]
}

/// Two damages at once.
fn pairs() -> Vec<Blemish> {
    let both = |name, whole: Whole, line: ByLine| {
        let make = move |hunk: &Hunk, random: &mut Random| {
            let change = &hunk.change;
            let view = whole(change, random)?;
            case(change, &mapped(change, view, line, random)?, random)
        };
        Blemish { name, duty: Duty::Apply, is_of_file: false, make: Box::new(make) }
    };
    let crlf = |name, make: fn(&Change, &mut Random) -> Option<Case>| Blemish {
        name,
        duty: Duty::Apply,
        is_of_file: false,
        make: Box::new(move |hunk, random| Some(make(&hunk.change, random)?.in_crlf())),
    };
    vec![
        both("indentation lost, curly quotes", |c, r| mapped(c, plain(c), dedent, r), curly),
        both("indentation lost, HTML entities", |c, r| mapped(c, plain(c), dedent, r), entities),
        both("indentation lost, white space added", |c, r| mapped(c, plain(c), dedent, r), trailing),
        both("indentation lost, a typo", typo, dedent),
        both("indentation lost, a blank line missing", blank_missing, dedent),
        both("tabs for spaces or the reverse, curly quotes", |c, r| mapped(c, plain(c), curly, r), retabbed),
        both("tabs for spaces or the reverse, a typo", typo, retabbed),
        both("curly quotes, a typo", typo, curly),
        both("curly quotes, white space added", |c, r| mapped(c, plain(c), curly, r), trailing),
        both("white space added, a typo", typo, trailing),
        both("white space added, a blank line extra", blank_extra, trailing),
        simple("indentation lost, gutter", Duty::Apply, damage::indent_lost_with_gutter),
        crlf("CR LF file, indentation lost", damage::indent_lost),
        crlf("CR LF file, a typo", |change, random| case(change, &typo(change, random)?, random)),
    ]
}

/// Each damage that can be put on another one, by name, in the order in which two of them come about.
pub(crate) fn damages() -> Vec<(&'static str, Damage)> {
    let request = |name, of| (name, Damage::Request(of));
    vec![
        (
            "curly quotes in the file",
            Damage::File(|change, _| {
                // Of quotes that are only in new lines nobody can know.
                let known = |quote: char| {
                    change.old.iter().any(|line| line.contains(quote))
                        || !brought_in(change).any(|l| l.text.contains(quote))
                };
                let is_shown = change.old.iter().any(|line| line.contains(['"', '\'']));
                (is_shown && known('"') && known('\'') && spelling::is_plain(change))
                    .then(|| change.map(|line| spelling::curled(line, true, true)))
            }),
        ),
        (
            "no-break spaces in the file",
            Damage::File(|change, random| {
                // On a line that stays: next to words that change they may stay or go.
                let places = kept(change, 0);
                let (at, new_at) = if places.is_empty() { None } else { Some(*random.pick(&places)) }?;
                let mut file = change.clone();
                let line = &change.old[at];
                file.old[at] = format!("{}{}", indent(line), line[indent(line).len()..].replacen(' ', "\u{a0}", 1));
                file.lines[change.start + at].clone_from(&file.old[at]);
                file.new[new_at].text.clone_from(&file.old[at]);
                (file.old != change.old && spelling::is_plain(change)).then_some(file)
            }),
        ),
        ("white space at line ends lost", Damage::File(damage::with_trails)),
        request("a typo on a kept line", |c, view, r| over(c, &view, typo, r)),
        request("a typo, in old_string only", |c, view, r| Some((over(c, &view, typo, r)?.0, view.1))),
        request("a blank line missing", |c, view, r| over(c, &view, blank_missing, r)),
        request("a blank line extra", |c, view, r| over(c, &view, blank_extra, r)),
        request("a word in another casing", |c, view, r| mapped(c, view, other_case, r)),
        request("curly quotes", |c, view, r| mapped(c, view, curly, r)),
        request("dashes and ellipses", |c, view, r| mapped(c, view, dashes, r)),
        request("no-break spaces", |c, view, r| mapped(c, view, no_break, r)),
        request("quotes escaped", |c, view, r| mapped(c, view, escaped_quotes, r)),
        request("all quotes escaped", |c, view, r| mapped(c, view, escaped_all_quotes, r)),
        request("HTML entities", |c, view, r| mapped(c, view, entities, r)),
        request("quotes escaped after the others", |c, view, r| mapped(c, view, escaped_quotes, r)),
        request("indentation lost", |c, view, r| mapped(c, view, dedent, r)),
        request("indentation more by a level", |c, view, r| mapped(c, view, indented, r)),
        request("tabs for spaces or the reverse", |c, view, r| mapped(c, view, retabbed, r)),
        request("white space at line ends added", |c, view, r| mapped(c, view, trailing, r)),
        request("gutter of read", |c, view, r| gutter(c, view, "\t", r)),
        request("gutter of cat -n", |c, view, r| {
            let (old, new) = gutter(c, view, "\t", r)?;
            let padded = |lines: Vec<String>| lines.iter().map(|line| format!("   {line}")).collect();
            Some((padded(old), padded(new)))
        }),
        request("gutter 12→text", |c, view, r| gutter(c, view, "→", r)),
        request("gutter 12: text", |c, view, r| gutter(c, view, ": ", r)),
        request("gutter in old_string only", |c, view, r| Some((gutter(c, view.clone(), "\t", r)?.0, view.1))),
        request("entities over all", |c, view, r| mapped(c, view, entities, r)),
        // A backslash that the text has itself would not tell from those.
        request(r"\n spelled out", |c, view, _| {
            let clear = !c.new_lines().iter().chain(&c.old).any(|line| line.contains('\\'));
            clear.then(|| joined(view, |line| line.replace('\t', "\\t")))?
        }),
        request("escaped as JSON once too often", |_, view, _| {
            joined(view, |line| {
                let quoted = serde_json::to_string(line).unwrap_or_default();
                quoted[1..quoted.len() - 1].to_owned()
            })
        }),
        ("CR LF request", Damage::CrLfRequest),
        ("CR LF file", Damage::CrLfFile),
    ]
}

/// A damage of the request as a whole, which must be as it was.
fn over(change: &Change, view: &View, whole: Whole, random: &mut Random) -> Option<View> {
    if *view == plain(change) { whole(change, random) } else { None }
}

fn gutter(change: &Change, (old, new): View, delimiter: &str, _: &mut Random) -> Option<View> {
    let numbered = |lines: &[String]| -> Vec<String> {
        let number = |(index, line): (usize, &String)| format!("{}{delimiter}{line}", change.start + index + 1);
        lines.iter().enumerate().map(number).collect()
    };
    // Behind `12: ` a single line may be YAML.
    (old.len() > 1 || delimiter != ": ").then(|| (numbered(&old), numbered(&new)))
}

/// Both texts as one line each.
fn joined((old, new): View, edit: impl Fn(&str) -> String) -> Option<View> {
    let one = |lines: &[String]| lines.iter().map(|line| edit(line)).collect::<Vec<_>>().join("\\n");
    (old.len() > 1 && !new.is_empty()).then(|| (vec![one(&old)], vec![one(&new)]))
}

fn other_case(change: &Change, random: &mut Random) -> Option<EditLine> {
    let words: Vec<String> =
        change.old.iter().flat_map(|line| spelling::words(line)).map(|(_, word)| word.to_owned()).collect();
    let word = if words.is_empty() { None } else { Some(random.pick(&words).clone()) }?;
    let other = if random.one_in(2) { word.to_uppercase() } else { word.to_lowercase() };
    Some(Box::new(move |line| line.replace(&word, &other)))
}

fn dashes(change: &Change, _: &mut Random) -> Option<EditLine> {
    let (dashes, ellipses) = (spelling::has(&change.old, " - "), spelling::has(&change.old, "..."));
    spelling::is_plain(change).then(|| -> EditLine { Box::new(move |line| spelling::dashed(line, dashes, ellipses)) })
}

fn no_break(change: &Change, _: &mut Random) -> Option<EditLine> {
    let is_shown = change.old.iter().any(|line| line.trim_start().contains(' '));
    (is_shown && spelling::is_plain(change)).then(|| -> EditLine {
        Box::new(|line| format!("{}{}", indent(line), line[indent(line).len()..].replace(' ', "\u{a0}")))
    })
}

fn escaped_quotes(change: &Change, _: &mut Random) -> Option<EditLine> {
    let is_clear = !change.new_lines().iter().chain(&change.old).any(|line| line.contains('\\'));
    is_clear.then(|| -> EditLine { Box::new(|line| line.replace('"', "\\\"")) })
}

fn escaped_all_quotes(change: &Change, _: &mut Random) -> Option<EditLine> {
    let is_clear = !change.new_lines().iter().chain(&change.old).any(|line| line.contains('\\'));
    is_clear.then(|| -> EditLine { Box::new(|line| line.replace('"', "\\\"").replace('\'', "\\'")) })
}

fn indented(change: &Change, random: &mut Random) -> Option<EditLine> {
    let more = change.unit.repeat(1 + random.below(2));
    (!more.is_empty()).then(|| -> EditLine {
        Box::new(move |line| if line.trim().is_empty() { line.to_owned() } else { format!("{more}{line}") })
    })
}

/// What may be refused, as nobody can be sure what is meant; made, it must be right.
fn doubtful() -> Vec<Blemish> {
    let doubtful = |name, make| simple(name, Duty::ApplyOrRefuse, make);
    vec![
        doubtful("a typo on a line that changes", spelling::typo_on_changed),
        doubtful("a word in another casing", |change, random| {
            let filled = change.old.iter().any(|line| spelling::words(line).next().is_some());
            filled.then(|| spelling::casing(change, random))?
        }),
        doubtful("context lost", context_lost),
        doubtful("first and last line lost", ends_lost),
        doubtful("middle elided by ...", |change, random| {
            let line = *random.pick(&["...", "…", "[...]"]);
            case(change, &elided(change, line, random)?, random)
        }),
        doubtful("a placeholder comment", |change, random| {
            let line = format!("{} ... existing code ...", change.comment);
            case(change, &elided(change, &line, random)?, random)
        }),
        doubtful("a line missing in the middle", |change, random| {
            if change.old.len() > 3 { traps::line_missing(change, random) } else { None }
        }),
        doubtful("a line too much in the middle", |change, random| {
            if change.old.len() > 1 { traps::line_extra(change, random) } else { None }
        }),
        doubtful(
            "lines joined",
            |change, random| {
                if change.old.len() > 1 { damage::lines_joined(change, random) } else { None }
            },
        ),
        doubtful("spaces within lines collapsed", |change, random| {
            // In new text they are lost for good.
            let is_plain = |line: &NewLine| line.text.trim_end() == line.text && !line.text.trim().contains("  ");
            let is_clear = tells_spaces(change) && brought_in(change).all(is_plain);
            is_clear.then(|| damage::spaces_collapsed(change, random))?
        }),
        Blemish {
            name: "context of another version",
            duty: Duty::ApplyOrRefuse,
            is_of_file: false,
            make: Box::new(|hunk, random| {
                let (change, view) = hunk.stale.as_ref()?;
                let case = case(change, view, random)?;
                (!String::from_utf8_lossy(&case.file).contains(&case.old)).then_some(case)
            }),
        },
    ]
}

/// The view with a damage of lines put on it; `None` where that does not show.
fn mapped(change: &Change, (old, new): View, line: ByLine, random: &mut Random) -> Option<View> {
    let edit = line(change, random)?;
    let each = |lines: &[String]| -> Vec<String> { lines.iter().map(|line| edit(line)).collect() };
    let damaged = (each(&old), each(&new));
    (damaged.0 != old).then_some(damaged)
}

fn entities(change: &Change, _: &mut Random) -> Option<EditLine> {
    let is_clear = !change.old.iter().chain(&change.new_lines()).any(|line| line.contains('&'));
    is_clear.then(|| -> EditLine {
        Box::new(|line| line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"))
    })
}

fn dedent(change: &Change, _: &mut Random) -> Option<EditLine> {
    let lost = damage::common_indent(change.old.iter().cloned().chain(change.new_lines()));
    (!lost.is_empty() && damage::shows_indent(change))
        .then(|| -> EditLine { Box::new(move |line| damage::without(line, &lost)) })
}

fn retabbed(change: &Change, _: &mut Random) -> Option<EditLine> {
    let is_even = !change.lines.iter().any(|line| indent(line).contains(" \t") || indent(line).contains("\t "));
    let (width, is_tabbed) = (change.unit.len(), change.unit == "\t");
    let is_pure = is_tabbed || !change.lines.iter().chain(&change.new_lines()).any(|line| line.starts_with('\t'));
    let is_clear = !is_tabbed || damage::tells_tabs(change, 4);
    (is_even && is_pure && is_clear).then(|| -> EditLine {
        if is_tabbed {
            Box::new(|line| damage::untabbed(line, 4))
        } else {
            Box::new(move |line| damage::tabbed(line, width))
        }
    })
}

fn curly(change: &Change, _: &mut Random) -> Option<EditLine> {
    let (doubles, singles) = (spelling::has(&change.old, "\""), spelling::has(&change.old, "'"));
    ((doubles || singles) && spelling::is_plain(change))
        .then(|| -> EditLine { Box::new(move |line| spelling::curled(line, doubles, singles)) })
}

fn trailing(change: &Change, random: &mut Random) -> Option<EditLine> {
    let trailing = *random.pick(&[" ", "  ", "\t"]);
    let is_shown = change.old.iter().any(|line| !line.is_empty());
    is_shown.then(|| -> EditLine {
        Box::new(move |line| if line.is_empty() { String::new() } else { format!("{line}{trailing}") })
    })
}

/// Lines that both texts begin with, and that both end with.
fn context(change: &Change) -> (usize, usize) {
    let new = change.new_lines();
    let most = change.old.len().min(new.len());
    let before = change.old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let pairs = change.old.iter().rev().zip(new.iter().rev());
    (before, pairs.take_while(|(old, new)| old == new).count().min(most - before))
}

/// Places in the context, counted in the old lines, with the place in the new ones; `inner` ones have context on both
/// sides.
fn kept(change: &Change, inner: usize) -> Vec<(usize, usize)> {
    let (before, after) = context(change);
    let (old, new) = (change.old.len(), change.new.len());
    let head = (inner..before.saturating_sub(inner)).map(|at| (at, at));
    let tail = (old - after + inner..old.saturating_sub(inner)).map(|at| (at, at + new - old));
    head.chain(tail).collect()
}

/// A blank line of the context is in neither text.
fn blank_missing(change: &Change, random: &mut Random) -> Option<View> {
    let blank = |(at, _): &(usize, usize)| change.old[*at].trim().is_empty() && change.old.len() > 2;
    let places: Vec<(usize, usize)> = kept(change, 1).into_iter().filter(blank).collect();
    let (old_at, new_at) = if places.is_empty() { None } else { Some(*random.pick(&places)) }?;
    let (mut old, mut new) = plain(change);
    old.remove(old_at);
    new.remove(new_at);
    Some((old, new))
}

/// Both texts have a blank line in the context that the file does not have.
fn blank_extra(change: &Change, random: &mut Random) -> Option<View> {
    let filled = |at: usize| !change.old[at].trim().is_empty();
    let (before, after) = context(change);
    let inside = |at: usize| at < before || at > change.old.len() - after;
    let places: Vec<(usize, usize)> = kept(change, 0)
        .into_iter()
        .filter(|(at, _)| *at > 0 && inside(*at) && filled(*at) && filled(*at - 1))
        .collect();
    let (old_at, new_at) = if places.is_empty() { None } else { Some(*random.pick(&places)) }?;
    let (mut old, mut new) = plain(change);
    old.insert(old_at, String::new());
    new.insert(new_at, String::new());
    Some((old, new))
}

/// A typo on one line of the context, in both texts.
fn typo(change: &Change, random: &mut Random) -> Option<View> {
    let mut places = kept(change, 0);
    let (mut old, mut new) = plain(change);
    while !places.is_empty() {
        let (old_at, new_at) = places.swap_remove(random.below(places.len()));
        if let Some(misspelled) = spelling::misspelled(&change.old[old_at], random) {
            old[old_at].clone_from(&misspelled);
            new[new_at] = misspelled;
            return Some((old, new));
        }
    }
    None
}

/// Only the lines that change, which may be found elsewhere as well; one more line where none would be left.
fn context_lost(change: &Change, random: &mut Random) -> Option<Case> {
    let (before, after) = context(change);
    let (mut old, mut new) = plain(change);
    let before = if before + after == old.len() { before.saturating_sub(1) } else { before };
    let (old_end, new_end) = (old.len() - after, new.len() - after);
    // A blank line or a brace alone is no description of a place.
    let says_something = |lines: &[String]| lines.iter().any(|line| spelling::words(line).next().is_some());
    if before >= old_end || before + after == 0 || !says_something(&old[before..old_end]) {
        return None;
    }
    old = old[before..old_end].to_vec();
    new = new[before..new_end].to_vec();
    case(change, &(old, new), random)
}

/// The first and the last line are in neither text.
fn ends_lost(change: &Change, random: &mut Random) -> Option<Case> {
    let (before, after) = context(change);
    let (old, new) = plain(change);
    // As above: what is left must describe a place.
    let says_something = |lines: &[String]| lines.iter().any(|line| spelling::words(line).next().is_some());
    if before == 0 || after == 0 || old.len() < 3 || !says_something(&old[1..old.len() - 1]) {
        return None;
    }
    case(change, &(old[1..old.len() - 1].to_vec(), new[1..new.len() - 1].to_vec()), random)
}

/// One line in the place of at least two of the context, in both texts.
fn elided(change: &Change, line: &str, random: &mut Random) -> Option<View> {
    const FEWEST: usize = 2;
    let places = kept(change, 1);
    let follows = |run: &&[(usize, usize)]| run.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0);
    let runs: Vec<&[(usize, usize)]> =
        (FEWEST..=places.len()).flat_map(|count| places.windows(count)).filter(follows).collect();
    let run = if runs.is_empty() { None } else { Some(*random.pick(&runs)) }?;
    let (first, last) = (run.first()?, run.last()?);
    let (mut old, mut new) = plain(change);
    let line = format!("{}{line}", indent(&old[first.0]));
    old.splice(first.0..=last.0, [line.clone()]);
    new.splice(first.1..=last.1, [line]);
    Some((old, new))
}
