//! Following each continuation to its end.
