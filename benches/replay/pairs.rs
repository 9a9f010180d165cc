//! Requests for real changes with two damages, in each combination of those that there are one by one.
//!
//! A careful person makes such an edit right or asks once more: what counts is that none comes out wrong. The engine
//! alone makes them, so that twenty thousand take minutes.

use std::{collections::BTreeMap, path::Path, process::ExitCode};

use super::{
    blemish::{self, View},
    case::{Case, Outcome},
    change::Change,
    hunks,
    random::Random,
    score,
};

/// Pairs of damages that are tried for each hunk.
const TRIED: usize = 12;

/// Requests printed at most.
const SHOWN: usize = 200;

/// What is damaged, in the order in which two damages come about.
#[derive(Clone, Copy)]
pub(crate) enum Damage {
    /// The file, of which the request shows another version.
    File(fn(&Change, &mut Random) -> Option<Change>),
    /// The request.
    Request(fn(&Change, View, &mut Random) -> Option<View>),
    /// The file's line endings.
    CrLfFile,
    /// The line endings of the request.
    CrLfRequest,
}

/// Right, refused and wrong.
type Counts = [usize; 3];

/// Makes at least `most` edits with the pairs of trees in `dir`.
pub(crate) fn replay(dir: &Path, most: usize, shown: Option<&str>, mut random: Random) -> ExitCode {
    let all = blemish::damages();
    let mut rows: BTreeMap<&str, Counts> = BTreeMap::new();
    let (mut sum, mut left, mut hunks) = ([0; 3], SHOWN, 0_usize);
    let mut pairs = hunks::pairs(dir);
    for last in (1..pairs.len()).rev() {
        pairs.swap(last, random.below(last + 1));
    }
    for (before, after) in &pairs {
        if sum.iter().sum::<usize>() >= most {
            break;
        }
        for hunk in hunks::of(before, after, &mut random) {
            hunks += 1;
            for _ in 0..TRIED {
                let first = random.below(all.len() - 1);
                let second = first + 1 + random.below(all.len() - first - 1);
                let (one, other) = (&all[first], &all[second]);
                let Some(case) = case(&hunk.change, [one.1, other.1], &mut random) else { continue };
                if blemish::says_too_little(&hunk.change, &case) {
                    continue;
                }
                let intended = blemish::intended(&case, &hunk);
                let outcome = match case.run() {
                    Outcome::Wrong(bytes) if bytes == intended => Outcome::Right(None),
                    outcome => outcome,
                };
                let column = match outcome {
                    Outcome::Right(_) => 0,
                    Outcome::Wrong(_) => 2,
                    _ => 1,
                };
                sum[column] += 1;
                for name in [one.0, other.0] {
                    rows.entry(name).or_default()[column] += 1;
                }
                let name = format!("{}, {}", one.0, other.0);
                if left > 0 && (column == 2 || shown.is_some_and(|shown| column == 1 && name.contains(shown))) {
                    left -= 1;
                    let meant = Case { accepted: [intended].into(), ..case };
                    println!("{}\n{}\n", before.display(), score::explained(&name, &meant, &outcome));
                }
            }
        }
    }
    println!("{:<46} {:>7} {:>8} {:>6}", "damage, with each other one", "right", "refused", "wrong");
    for (name, [right, refused, wrong]) in &rows {
        println!("{name:<46} {right:>7} {refused:>8} {wrong:>6}");
    }
    let [right, refused, wrong] = sum;
    println!("{} edits in {hunks} hunks: {right} right, {refused} refused, {wrong} wrong", right + refused + wrong);
    if wrong == 0 && right > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The request with both damages; `None` where one of them does not show.
fn case(change: &Change, damages: [Damage; 2], random: &mut Random) -> Option<Case> {
    let mut file = change.clone();
    let mut view = (change.old.clone(), change.new_lines());
    for damage in damages {
        match damage {
            Damage::File(of) => file = of(&file, random)?,
            Damage::Request(of) => view = of(change, view, random)?,
            Damage::CrLfFile | Damage::CrLfRequest => {}
        }
    }
    let case = blemish::case(&file, &view, random)?;
    let has = |wanted: fn(&Damage) -> bool| damages.iter().any(wanted);
    if has(|one| matches!(one, Damage::CrLfRequest)) {
        let in_crlf = |text: &str| text.replace('\n', "\r\n");
        return case.old.contains('\n').then(|| Case { old: in_crlf(&case.old), new: in_crlf(&case.new), ..case });
    }
    // What the file has as it is given is meant so.
    if String::from_utf8_lossy(&case.file).contains(&case.old) {
        return None;
    }
    Some(if has(|one| matches!(one, Damage::CrLfFile)) { case.in_crlf() } else { case })
}
