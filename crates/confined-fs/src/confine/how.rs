//! How much of the sandbox is wanted.

/// Whether to install the sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confine {
    /// As much of it as this system has.
    #[default]
    Auto,
    /// All of it, or an error.
    Required,
    /// None of it.
    Off,
}
