//! The commands of the program.

#[cfg(unix)]
mod completions;
mod config;
mod doctor;
mod guide;
mod setup;
