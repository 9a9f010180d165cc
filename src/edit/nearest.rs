//! What to say when nothing matched.

use super::{Diagnosis, Search};

/// Explains why `old` was not found.
pub(super) fn diagnose(search: &Search<'_>) -> Diagnosis {
    let already_applied = !search.new.is_empty() && search.text.contains(search.new);
    Diagnosis { summary: "old_string was not found".to_owned(), details: String::new(), already_applied }
}
