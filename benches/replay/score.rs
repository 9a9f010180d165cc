//! The table of what came of the edits, kind by kind.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

use super::{
    case::{Case, Duty, Outcome},
    kinds::Kind,
};

/// Counts by kind, in the order in which the kinds came.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<(&'static str, Duty, Counts)>);

#[derive(Debug, Default)]
struct Counts {
    right: usize,
    no_match: usize,
    ambiguous: usize,
    unfit: usize,
    wrong: usize,
    by: BTreeMap<String, usize>,
}

impl Table {
    pub(crate) fn add(&mut self, kind: &Kind, outcome: &Outcome) {
        if self.0.last().is_none_or(|(name, ..)| *name != kind.name) {
            self.0.push((kind.name, kind.duty, Counts::default()));
        }
        let Some((.., counts)) = self.0.last_mut() else { return };
        match outcome {
            Outcome::Right(strategy) => {
                counts.right += 1;
                if let Some(strategy) = strategy {
                    *counts.by.entry(strategy.to_string()).or_default() += 1;
                }
            }
            Outcome::NoMatch => counts.no_match += 1,
            Outcome::Ambiguous => counts.ambiguous += 1,
            Outcome::Unfit(_) => counts.unfit += 1,
            Outcome::Wrong(_) => counts.wrong += 1,
        }
    }

    /// Edits that came out as no careful person would have made them, or were refused without a fit reason.
    pub(crate) fn wrong(&self) -> usize {
        self.0.iter().map(|(.., counts)| counts.wrong + counts.unfit).sum()
    }

    /// Edits of all kinds.
    pub(crate) fn total(&self) -> usize {
        self.0.iter().map(|(.., counts)| counts.total()).sum()
    }

    /// Right edits in a hundred, of the kinds that should be applied.
    pub(crate) fn percent_right(&self) -> usize {
        let owed = || self.0.iter().filter(|(_, duty, _)| *duty == Duty::Apply).map(|(.., counts)| counts);
        owed().map(|counts| counts.right).sum::<usize>() * 100 / owed().map(Counts::total).sum::<usize>().max(1)
    }
}

impl Counts {
    fn total(&self) -> usize {
        self.right + self.no_match + self.ambiguous + self.unfit + self.wrong
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<44} {:>6} {:>8} {:>9} {:>6} {:>6}  found by",
            "kind", "right", "no match", "ambiguous", "unfit", "wrong"
        )?;
        for (duty, title) in [
            (Duty::Apply, "to be applied"),
            (Duty::ApplyOrRefuse, "to be applied right or refused"),
            (Duty::Refuse, "to be refused"),
        ] {
            writeln!(f, "{title}:")?;
            for (name, _, counts) in self.0.iter().filter(|(_, other, _)| *other == duty) {
                let by: Vec<String> = counts.by.iter().map(|(by, count)| format!("{by} {count}")).collect();
                let Counts { right, no_match, ambiguous, unfit, wrong, .. } = counts;
                writeln!(
                    f,
                    "  {name:<42} {right:>6} {no_match:>8} {ambiguous:>9} {unfit:>6} {wrong:>6}  {}",
                    by.join(", ")
                )?;
            }
        }
        write!(
            f,
            "{} edits, {} wrong; {} % right of those to be applied",
            self.total(),
            self.wrong(),
            self.percent_right()
        )
    }
}

/// What was asked and what came of it, to be read by a person.
pub(crate) fn explained(kind: &str, case: &Case, outcome: &Outcome) -> String {
    let mut asked = format!("{} {:?}\nold {:?}\nnew {:?}", kind, short(outcome), case.old, case.new);
    if !case.more.is_empty() || case.replace_all || case.expected.is_some() {
        let _ = write!(asked, "\nmore {:?} replace_all {} expected {:?}", case.more, case.replace_all, case.expected);
    }
    let diff = |to: &[u8]| {
        let (from, to) = (String::from_utf8_lossy(&case.file), String::from_utf8_lossy(to));
        text_edit::unified_diff("file", &from, &to, text_edit::DiffExtent::Brief(60))
            .text
            .replace('\r', "\\r")
            .replace('\t', "\\t")
    };
    let wanted = case.accepted.first().map_or_else(String::new, |wanted| format!("wanted:\n{}", diff(wanted)));
    match outcome {
        Outcome::Wrong(got) => format!("{asked}\n{wanted}\ngot:\n{}", diff(got)),
        _ => format!("{asked}\n{wanted}"),
    }
}

fn short(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Right(_) => "right",
        Outcome::NoMatch => "no match",
        Outcome::Ambiguous => "ambiguous",
        Outcome::Unfit(reason) => reason,
        Outcome::Wrong(_) => "wrong",
    }
}
