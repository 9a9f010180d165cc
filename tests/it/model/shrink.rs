//! A shorter list of operations that fails as well.

use super::{operation::Operation, player::play};

/// Leaves out ever smaller parts as long as it still fails, and returns what is left with its failure.
pub(super) fn least(mut operations: Vec<Operation>, mut failure: String) -> (Vec<Operation>, String) {
    let mut part = operations.len().div_ceil(2);
    while part > 0 {
        let mut at = 0;
        while at < operations.len() {
            let end = (at + part).min(operations.len());
            let shorter: Vec<Operation> = [&operations[..at], &operations[end..]].concat();
            match play(&shorter) {
                Err(still) => (operations, failure) = (shorter, still),
                Ok(_) => at = end,
            }
        }
        part /= 2;
    }
    (operations, failure)
}
