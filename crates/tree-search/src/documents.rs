//! The text of documents, their search, and the texts that are kept between calls.

mod kept;
mod text;

pub use kept::DocumentTexts;
pub(crate) use kept::TextMemory;
pub use text::{DocumentText, MetDocument};

pub use crate::content_search::{DocumentSearch, HitLimits};
