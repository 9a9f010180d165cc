//! The error of a layer that holds as much as it may.

use std::error::Error;
use std::fmt;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerFull {
    /// Bytes that it may hold.
    pub bytes: u64,
}

impl fmt::Display for LayerFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the layer of staged changes is full ({} bytes)", self.bytes)
    }
}

impl Error for LayerFull {}
