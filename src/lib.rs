//! Rootbound: file tools for AI agents over MCP, each call confined to configured roots.
//!
//! # Bird's-eye view
//!
//! A client starts `rootbound` and speaks JSON-RPC over its stdin and stdout. [`server`] decodes a
//! request and hands it to one of the tools of [`file_tools`], which plans an answer with the crates below.
//! A tool that changes a file returns a plan; the dispatcher obtains an approval and only then commits it.
//! [`file_tools::session::ChangeFeed`] reports what was committed to `--events` and language servers.
//!
//! # Crates in `crates/` (Cargo holds their borders)
//!
//! Folder `text-edit`, package `rootbound-text-edit` and library `text_edit` are the same crate; likewise the others. Each
//! has a README for those who have it alone: an example, limits, systems, and why not the known crate.
//!
//! | crate | what it is |
//! |---|---|
//! | [`file_tools`] | the tools a model calls, the session and the audit; no protocol and no runtime |
//! | [`change_set`] | changes of files: locks, all or none, recovery, the state folder |
//! | [`confined_fs`] | the sandbox: roots, paths, policy, opening, walks |
//! | [`self_sandbox`] | the kernel's walls around this process and around programs that it starts |
//! | `beneath` | below it: directory handles, the only crate that opens and changes files |
//! | [`tree_search`] | ordered, parallel search with an index |
//! | [`lsp_check`] | what language servers report of a change |
//! | [`text_edit`] | where a text is in another, what takes its place; patches |
//! | `source-outline` | definitions of a source, syntax errors of a change |
//! | `structured-text` | JSON, TOML, YAML: checks, names of keys, notebooks |
//! | `pdf-text`, `office-text`, `image-view` | bounded readers |
//! | [`text_file`] | encodings, line endings, names |
//!
//! # Layers of this crate (a module uses only modules of lower layers)
//!
//! | layer | modules | may use |
//! |---|---|---|
//! | 4 | `main` | everything |
//! | 3 | [`cli`] | |
//! | 2 | [`config`] | clap, toml |
//! | 1 | [`server`] | rmcp, tokio |
//! | 0 | [`log`] | stderr |
//!
//! # Invariants, held by types, lints (`.clippy.toml`) and `tests/it/tidy.rs`
//!
//! 1. A module uses only modules of lower layers, and no two files use definitions of each other, directly or by a chain
//!    (a re-export counts as a use of the file that defines the name).
//! 2. `rmcp` appears only under `server/` (and in `main.rs` for the transport).
//! 3. Files are touched only in `beneath`, `confined_fs`, `change_set` and `self_sandbox`, but for the configuration file and test code
//!    (`CONFINED` in `tests/it/tidy.rs`); `ignore` serves as a matcher alone.
//! 4. `tokio` appears only in `main` and `server/`; everything below is synchronous.
//! 5. A host path never reaches text for the model: [`confined_fs::WorkspacePath`] prints the public
//!    form and is the only way to show one.
//! 6. stdout is the wire: nothing prints, logs go to stderr.
//! 7. No `unsafe`. A panic costs one call, not the server.

#![expect(missing_docs, reason = "names and types that say it; units, bounds and errors are documented")]

pub mod cli;
pub mod config;
pub mod log;
pub mod server;
