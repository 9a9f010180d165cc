//! Why a step refused a place that it found.

/// Why a place that matched is none. Offsets are byte offsets into the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The line that starts here was given without its indentation, and further new lines may lack theirs.
    BareLine(usize),
    /// White space that begins here would be left as a separate line.
    TrailingSpace(usize),
    /// The change is made already, in the lines that start here.
    AlreadyApplied(usize),
    /// New lines would have several possible indentations in the block that starts here, or none.
    Indentation(usize),
    /// This line of the new text (counted from 1) is a placeholder for code, and the old text is not exact.
    Placeholder(usize),
    /// Whole words are wanted, and the text is within longer ones alone, the first of them here.
    WithinWord(usize),
    /// The file has too many lines to be searched for anything but the exact text.
    TooManyLines,
    /// A reason that says nothing beyond what differs.
    Unclear,
}

impl Refusal {
    /// Whether no other step may look for another place.
    pub(super) const fn is_final(self) -> bool {
        !matches!(self, Self::TrailingSpace(_) | Self::Unclear)
    }

    /// How much it explains: of several the highest is said.
    const fn rank(self) -> usize {
        match self {
            Self::Unclear => 0,
            Self::Indentation(_) => 1,
            Self::TrailingSpace(_) => 2,
            Self::Placeholder(_) => 3,
            Self::AlreadyApplied(_) => 4,
            Self::BareLine(_) => 5,
            Self::WithinWord(_) => 6,
            Self::TooManyLines => 7,
        }
    }

    /// The one of `refusals` that explains the most.
    pub(super) fn chief(refusals: &[Self]) -> Option<Self> {
        refusals.iter().copied().max_by_key(|refusal| refusal.rank()).filter(|refusal| *refusal != Self::Unclear)
    }
}
