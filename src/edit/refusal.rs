//! Why a step refused a place that it found, and how the diagnosis says so.

use super::{Diagnosis, Next, Search, excerpt};

/// Lines of a change that is there which are shown.
const SHOWN_LINES: usize = 12;

/// Why a place that matched is none. Offsets are byte offsets into the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The line that starts here was given without its indentation, and further new lines may lack theirs.
    BareLine(usize),
    /// White space that begins here would be left as a line of its own.
    TrailingSpace(usize),
    /// The change is made already, in the lines that start here.
    AlreadyApplied(usize),
    /// New lines would have several possible indentations in the block that starts here, or none.
    Indentation(usize),
    /// The new text leaves code out, in this line of it (counted from 1), and the old text is not exact.
    Elided(usize),
    /// A reason that says nothing beyond what differs.
    Unclear,
}

impl Refusal {
    /// Whether no other step may look for another place.
    pub(super) const fn is_final(self) -> bool {
        matches!(self, Self::BareLine(_) | Self::AlreadyApplied(_) | Self::Indentation(_) | Self::Elided(_))
    }

    /// How much it explains: of several the highest is said.
    const fn rank(self) -> usize {
        match self {
            Self::Unclear => 0,
            Self::Indentation(_) => 1,
            Self::TrailingSpace(_) => 2,
            Self::Elided(_) => 3,
            Self::AlreadyApplied(_) => 4,
            Self::BareLine(_) => 5,
        }
    }

    /// The one of `refusals` that explains the most.
    pub(super) fn chief(refusals: &[Self]) -> Option<Self> {
        refusals.iter().copied().max_by_key(|refusal| refusal.rank()).filter(|refusal| *refusal != Self::Unclear)
    }

    /// The diagnosis with this reason in the place of its summary.
    pub(super) fn explain(self, search: &Search<'_>, diagnosis: &mut Diagnosis) {
        let line = |offset: usize| search.text[..offset].matches('\n').count() + 1;
        diagnosis.already_applied = matches!(self, Self::AlreadyApplied(_));
        if let Self::AlreadyApplied(start) = self {
            // Not the nearest block: that is the twin which is not meant.
            diagnosis.details = there(search, start);
            diagnosis.next = Next::Look;
        }
        diagnosis.summary = match self {
            Self::BareLine(start) => {
                let line = line(start);
                format!(
                    "old_string is line {line} without its indentation, and new_string has further lines with less \
                     indentation than that line; repeat both with the full indentation of line {line}"
                )
            }
            Self::TrailingSpace(end) => {
                let line = line(end);
                format!(
                    "old_string ends before the white space that ends line {line}, and new_string ends with a line \
                     ending, which would leave that white space as a line of its own; repeat line {line} to its end, or \
                     end new_string without a line ending"
                )
            }
            Self::AlreadyApplied(start) => format!(
                "old_string was not found exactly; new_string is already there, at line {}; if another place is meant, \
                 copy old_string from it exactly, with its indentation",
                line(start)
            ),
            Self::Indentation(start) => format!(
                "old_string matches from line {} on but for its indentation, and the indentation of new_string cannot be \
                 derived from it: several are possible, or none; repeat both with the indentation of the file",
                line(start)
            ),
            Self::Elided(line) => format!(
                "old_string was not found exactly, and line {line} of new_string seems to stand for code that was left \
                 out; write that code out in both, or replace a smaller part"
            ),
            Self::Unclear => return,
        };
    }
}

/// The lines from `start` on where the new text is, with their numbers.
fn there(search: &Search<'_>, start: usize) -> String {
    let first = search.lines().partition_point(|line| line.start < start);
    let count = search.canonical_new().lines().count().min(SHOWN_LINES);
    let end = (first + count).min(search.lines().len());
    excerpt::show(search, &(first..end), &[], &[])
}
