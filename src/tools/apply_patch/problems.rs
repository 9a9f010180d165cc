//! All that is wrong with a patch, as one error.

use super::super::{Kind, ToolError, answer::count};

/// Problems that are described; the rest are counted.
const DESCRIBED: usize = 20;
/// Lines of each where there are several.
const LINES: usize = 30;

#[derive(Default)]
pub(super) struct Problems {
    described: Vec<ToolError>,
    all: usize,
}

impl Problems {
    /// Adds one.
    ///
    /// # Errors
    /// At once, where the whole call has to end.
    pub(super) fn add(&mut self, error: ToolError) -> Result<(), ToolError> {
        if matches!(error.kind(), Kind::Cancelled | Kind::TimedOut) {
            return Err(error);
        }
        self.all += 1;
        if self.described.len() < DESCRIBED {
            self.described.push(error);
        }
        Ok(())
    }

    /// As [`Self::add`], for one that takes long to explain: only those that are described are.
    pub(super) fn add_explained(&mut self, explain: impl FnOnce() -> ToolError) -> Result<(), ToolError> {
        if self.described.len() < DESCRIBED {
            return self.add(explain());
        }
        self.all += 1;
        Ok(())
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.all
    }

    /// Nothing, where there is none.
    pub(super) fn finish(mut self) -> Result<(), ToolError> {
        if self.all < 2 {
            return self.described.pop().map_or(Ok(()), |error| Err(error.hint("nothing of the patch was applied")));
        }
        let first = &self.described[0];
        let error = ToolError::new(
            first.kind(),
            format!("nothing of the patch was applied: {}; the first: {}", count(self.all, "problem"), first.message()),
        )
        .hint("correct all of them, as listed below, and send the whole patch again");
        let mut list: Vec<String> = self
            .described
            .iter()
            .enumerate()
            .map(|(index, one)| format!("problem {}: {}", index + 1, shortened(&one.text())))
            .collect();
        if self.all > list.len() {
            list.push(format!("and {} more", count(self.all - list.len(), "problem")));
        }
        Err(error.details(list.join("\n\n")))
    }
}

fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= LINES {
        return text.to_owned();
    }
    // The last line may end a fence.
    let last = super::super::fence::end_of_fence(text).map(|end| format!("\n{end}")).unwrap_or_default();
    format!("{}\n… {} more lines{last}", lines[..LINES].join("\n"), lines.len() - LINES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_that_are_only_counted_are_not_explained() {
        let (mut problems, mut explained) = (Problems::default(), 0);
        for number in 0..1000 {
            let explain = || {
                explained += 1;
                ToolError::invalid(format!("hunk {number}"))
            };
            problems.add_explained(explain).unwrap();
        }
        assert_eq!((explained, problems.count()), (DESCRIBED, 1000));
        let error = problems.finish().unwrap_err().text();
        assert!(error.contains("1000 problems") && error.contains("and 980 problems more"), "{error}");
    }
}
