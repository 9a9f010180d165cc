//! Files that are more than text.

mod images;
mod notebooks;
mod office;
pub(crate) mod pdf;
