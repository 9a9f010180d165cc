//! Every way in which a request may have been meant: what a client or a model put around the text or made of its
//! characters is taken off, one kind of damage in each file.

pub(super) mod entities;
pub(super) mod escapes;
pub(super) mod gutter;

use super::{Reading, Strategy};

/// Readings of which no further ones are made: four kinds of damage on top of one another are rare.
const MAX_READINGS: usize = 64;

/// Every way in which a request may have been meant: each damage taken off, and those that are below it.
pub(super) fn all(given: Reading) -> Vec<Reading> {
    let mut all = vec![given];
    let mut at = 0;
    while at < all.len() && all.len() < MAX_READINGS {
        let reading = &all[at];
        let mut found = Vec::new();
        if !reading.by.has(Strategy::LineNumbers) {
            found.extend(gutter::readings(reading));
        }
        if !reading.by.has(Strategy::Entities) {
            found.extend(entities::reading(reading));
        }
        if !reading.by.has(Strategy::Escapes) {
            found.extend(escapes::readings(reading));
        }
        for one in found {
            if all.iter().all(|known| (&known.old, &known.new) != (&one.old, &one.new)) {
                all.push(one);
            }
        }
        at += 1;
    }
    all
}
