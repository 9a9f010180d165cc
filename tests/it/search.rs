//! glob and grep, with and without an index.

mod definitions;
mod documents;
mod glob;
mod grep;
#[cfg(unix)]
mod ignore_trees;
#[cfg(unix)]
mod index;
#[cfg(target_os = "linux")]
mod index_command;
#[cfg(unix)]
mod links;
pub(crate) mod oracle;
#[cfg(unix)]
mod successive_processes;
mod uses;
mod worktrees;
