//! A shorter list of operations that fails as well.

/// Leaves out ever smaller parts as long as it still fails, and returns what is left with its failure.
pub(super) fn least<T: Clone>(
    mut operations: Vec<T>,
    mut failure: String,
    fails: impl Fn(&[T]) -> Option<String>,
) -> (Vec<T>, String) {
    let mut part = operations.len().div_ceil(2);
    while part > 0 {
        let mut at = 0;
        while at < operations.len() {
            let end = (at + part).min(operations.len());
            let shorter: Vec<T> = [&operations[..at], &operations[end..]].concat();
            match fails(&shorter) {
                Some(still) => (operations, failure) = (shorter, still),
                None => at = end,
            }
        }
        part /= 2;
    }
    (operations, failure)
}
