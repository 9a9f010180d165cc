//! The replay of real changes: each hunk is asked for as it is and with about ten damages, and where the edit is
//! refused, a scripted model copies what the error shows and tries once more.

use std::{collections::BTreeMap, fmt, path::Path, process::ExitCode};

use super::{
    blemish::{self, Blemish, NOTHING},
    case::{Case, Duty, Outcome},
    copier,
    hunks::{self, Hunk},
    random::Random,
    score,
    tool::Tool,
};

/// Damages of each hunk, besides none.
const DAMAGES: usize = 10;

/// Requests of one damage printed at most.
const SHOWN: usize = 40;

/// Hunks that one session of the server is asked for.
const SESSION: usize = 500;

/// What must be right in a hundred of the damaged requests that say enough.
const LEAST_RIGHT: f64 = 85.0;

/// What must be repaired by one copy in a hundred of the refused.
const LEAST_REPAIRED: f64 = 97.0;

/// Replays at most `most` hunks of the pairs of trees in `dir`.
pub(crate) fn replay(dir: &Path, most: usize, shown: Option<&str>, mut random: Random) -> ExitCode {
    let mut tool = match Tool::start() {
        Ok(tool) => tool,
        Err(error) => {
            println!("the server does not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let all = blemish::all();
    let mut table = Table::default();
    let mut pairs = hunks::pairs(dir);
    let mut left = SHOWN;
    // Every package has its share, wherever the count ends.
    for last in (1..pairs.len()).rev() {
        pairs.swap(last, random.below(last + 1));
    }
    for (before, after) in &pairs {
        if table.hunks >= most {
            break;
        }
        for hunk in hunks::of(before, after, &mut random).into_iter().take(most - table.hunks) {
            table.hunks += 1;
            // A session may write only so many bytes.
            if table.hunks.is_multiple_of(SESSION)
                && let Ok(other) = Tool::start()
            {
                tool = other;
            }
            *table.kinds.entry(kind(before)).or_default() += 1;
            for blemish in chosen(&all, &mut random) {
                let Some(case) = blemish.of(&hunk, &mut random) else { continue };
                let answer = Came::of(&case, &hunk, &mut tool);
                if left > 0 && shown.is_some_and(|shown| answer.is_telling(blemish, shown)) {
                    left -= 1;
                    println!("{}\n", answer.explained(&before.to_string_lossy(), blemish, &case));
                }
                table.add(blemish, &answer);
            }
        }
    }
    println!("{table}");
    if table.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// None, and about ten damages, in an order that gives each its turn.
fn chosen<'a>(all: &'a [Blemish], random: &mut Random) -> Vec<&'a Blemish> {
    let mut others: Vec<&Blemish> = all.iter().filter(|blemish| blemish.name != NOTHING).collect();
    for last in (1..others.len()).rev() {
        others.swap(last, random.below(last + 1));
    }
    // A third of the damages shows in a hunk.
    let wanted = others.into_iter().take(DAMAGES * 3);
    all.iter().filter(|blemish| blemish.name == NOTHING).chain(wanted).collect()
}

/// What the languages are counted by.
fn kind(path: &Path) -> String {
    let extension = path.extension().map(|extension| extension.to_string_lossy().into_owned());
    extension.unwrap_or_else(|| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

/// What came of a request, and of the next one where it was refused.
struct Came {
    outcome: Outcome,
    /// What was refused: the error, the second request, and what came of that.
    refused: Option<(String, Option<Case>, bool)>,
    intended: Vec<u8>,
}

impl Came {
    fn of(case: &Case, hunk: &Hunk, tool: &mut Tool) -> Self {
        let intended = blemish::intended(case, hunk);
        let is_intended = |bytes: &[u8]| bytes == intended;
        let outcome = match case.run() {
            Outcome::Wrong(bytes) if is_intended(&bytes) => Outcome::Right(None),
            outcome => outcome,
        };
        let refused = matches!(outcome, Outcome::NoMatch | Outcome::Ambiguous | Outcome::Unfit(_)).then(|| {
            let error = tool.refused(case).unwrap_or_else(|problem| problem);
            let again = copier::again(case, &intended, &error);
            let is_repaired = again.as_ref().is_some_and(|again| {
                let outcome = tool.once_more(again);
                matches!(&outcome, Outcome::Right(_)) || matches!(&outcome, Outcome::Wrong(bytes) if is_intended(bytes))
            });
            (error, again, is_repaired)
        });
        Self { outcome, refused, intended }
    }

    fn is_repaired(&self) -> bool {
        self.refused.as_ref().is_some_and(|(_, _, is_repaired)| *is_repaired)
    }

    /// Whether a person who asked for `shown` wants to see it: `wrong`, `unrepaired`, a damage, or both.
    fn is_telling(&self, blemish: &Blemish, shown: &str) -> bool {
        let is_unrepaired = self.refused.is_some() && !self.is_repaired();
        let is_wrong = matches!(self.outcome, Outcome::Wrong(_));
        match shown.split_once(' ').unwrap_or((shown, blemish.name)) {
            ("wrong", name) => is_wrong && name == blemish.name,
            ("unrepaired", name) => is_unrepaired && name == blemish.name,
            _ => shown == blemish.name && !matches!(self.outcome, Outcome::Right(_)),
        }
    }

    fn explained(&self, path: &str, blemish: &Blemish, case: &Case) -> String {
        let meant = Case { accepted: [self.intended.clone()].into(), ..case.clone() };
        let explained = score::explained(blemish.name, &meant, &self.outcome);
        match &self.refused {
            Some((error, again, _)) => {
                let again = again.as_ref().map(|again| (&again.old, &again.new));
                format!("{path}\n{explained}\nerror: {error}\nagain: {again:?}")
            }
            None => format!("{path}\n{explained}"),
        }
    }
}

#[derive(Default)]
struct Table {
    hunks: usize,
    kinds: BTreeMap<String, usize>,
    rows: BTreeMap<&'static str, (Option<Duty>, Counts)>,
    /// In the order in which they first came.
    order: Vec<&'static str>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    right: usize,
    no_match: usize,
    ambiguous: usize,
    wrong: usize,
    repaired: usize,
}

impl Counts {
    fn refused(&self) -> usize {
        self.no_match + self.ambiguous
    }

    fn total(&self) -> usize {
        self.right + self.refused() + self.wrong
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            right: self.right + other.right,
            no_match: self.no_match + other.no_match,
            ambiguous: self.ambiguous + other.ambiguous,
            wrong: self.wrong + other.wrong,
            repaired: self.repaired + other.repaired,
        }
    }
}

impl Table {
    fn add(&mut self, blemish: &Blemish, came: &Came) {
        let (_, counts) = self.rows.entry(blemish.name).or_insert_with(|| {
            self.order.push(blemish.name);
            (Some(blemish.duty), Counts::default())
        });
        match came.outcome {
            Outcome::Right(_) => counts.right += 1,
            Outcome::Ambiguous => counts.ambiguous += 1,
            Outcome::NoMatch | Outcome::Unfit(_) => counts.no_match += 1,
            Outcome::Wrong(_) => counts.wrong += 1,
        }
        counts.repaired += usize::from(came.is_repaired());
    }

    fn sum(&self, wanted: impl Fn(&str, Duty) -> bool) -> Counts {
        let rows = self.rows.iter().filter(|(name, (duty, _))| duty.is_some_and(|duty| wanted(name, duty)));
        rows.fold(Counts::default(), |sum, (_, (_, counts))| sum.plus(counts))
    }

    fn undamaged(&self) -> Counts {
        self.sum(|name, _| name == NOTHING)
    }

    fn repairable(&self) -> Counts {
        self.sum(|name, duty| name != NOTHING && duty == Duty::Apply)
    }

    fn damaged(&self) -> Counts {
        self.sum(|name, _| name != NOTHING)
    }

    fn is_good(&self) -> bool {
        let (undamaged, damaged) = (self.undamaged(), self.damaged());
        undamaged.total() > 0
            && undamaged.right == undamaged.total()
            && damaged.wrong == 0
            && share(self.repairable().right, self.repairable().total()) >= LEAST_RIGHT
            && share(damaged.repaired, damaged.refused()) >= LEAST_REPAIRED
    }
}

/// In a hundred.
fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 100.0 } else { number(part) * 100.0 / number(whole) }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds: Vec<(&String, &usize)> = self.kinds.iter().collect();
        kinds.sort_by_key(|(_, count)| usize::MAX - **count);
        let kinds: Vec<String> = kinds.iter().take(24).map(|(kind, count)| format!("{kind} {count}")).collect();
        writeln!(f, "{} hunks: {}", self.hunks, kinds.join(", "))?;
        let header = ["right", "no match", "ambiguous", "wrong", "repaired", "right %", "repaired %"];
        writeln!(
            f,
            "{:<46} {:>7} {:>8} {:>9} {:>6} {:>8} {:>8} {:>10}",
            "damage", header[0], header[1], header[2], header[3], header[4], header[5], header[6]
        )?;
        let row = |f: &mut fmt::Formatter<'_>, name: &str, counts: &Counts| {
            let Counts { right, no_match, ambiguous, wrong, repaired } = counts;
            writeln!(
                f,
                "{name:<46} {right:>7} {no_match:>8} {ambiguous:>9} {wrong:>6} {repaired:>8} {:>8.1} {:>10.1}",
                share(*right, counts.total()),
                share(*repaired, counts.refused())
            )
        };
        for (duty, title) in [(Duty::Apply, "to be applied"), (Duty::ApplyOrRefuse, "to be applied right or refused")] {
            writeln!(f, "{title}:")?;
            let mut names: Vec<&&str> = self.rows.keys().filter(|name| self.rows[**name].0 == Some(duty)).collect();
            names.sort_by_key(|name| self.order.iter().position(|other| other == *name));
            for name in names {
                row(f, &format!("  {name}"), &self.rows[*name].1)?;
            }
        }
        row(f, "undamaged", &self.undamaged())?;
        row(f, "damaged, to be applied", &self.repairable())?;
        row(f, "damaged, all", &self.damaged())?;
        let verdict = if self.is_good() { "passed" } else { "FAILED" };
        write!(
            f,
            "{verdict}: wanted are 0 wrong, undamaged 100 % right, damaged {LEAST_RIGHT} % right of those to be applied, \
             {LEAST_REPAIRED} % of the refused repaired by one copy"
        )
    }
}
