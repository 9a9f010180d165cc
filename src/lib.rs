//! Rootbound: file tools for AI agents over MCP, each call confined to configured roots.
//!
//! # Bird's-eye view
//!
//! A client starts `rootbound` and speaks JSON-RPC over its stdin and stdout. [`server`] decodes a
//! request and hands it to one of the [`tools`], which plans an answer with the services below it
//! ([`search`], [`session`], [`audit`], [`lsp`]) over the sandbox ([`workspace`]) and the crates of pure values. A tool that changes a file returns a plan; the dispatcher obtains an approval and only
//! then commits it. [`session::ChangeFeed`] reports what was committed to subscriptions, `--events` and language servers.
//!
//! # Layers (a module uses only modules of lower layers)
//!
//! | layer | modules | may use |
//! |---|---|---|
//! | 7 | `main` | everything |
//! | 6 | [`cli`], `fuzzing` (for tests alone) | |
//! | 5 | [`config`] | clap, toml |
//! | 4 | [`server`] | rmcp, tokio |
//! | 3 | [`tools`] | |
//! | 2 | [`search`], [`session`], [`audit`], [`lsp`] | |
//! | 1 | [`workspace`] | `std::fs`, rustix, landlock, seccompiler, cap-primitives |
//! | 0 | [`stop`] | the clock |
//! | 0 | [`log`] | stderr |
//!
//! Below them are crates of their own in `crates/`, which open no file: [`text_file`] (encodings, line endings, names),
//! [`text_edit`] (where a text is in another; patches), [`source_outline`] (definitions, syntax errors of a change),
//! [`structured_text`] (JSON, TOML, YAML; masks, notebooks), [`pdf_text`] and [`image_view`]. Cargo holds their borders.
//!
//! # Invariants, held by types, lints (`.clippy.toml`) and `tests/it/tidy.rs`
//!
//! 1. A module uses only modules of lower layers, and no two files use each other, directly or by a chain.
//! 2. `rmcp` appears only under `server/` (and in `main.rs` for the transport).
//! 3. Files are touched only under `workspace/`; `ignore` serves as a matcher alone.
//! 4. `tokio` appears only in `main` and `server/`; everything below is synchronous.
//! 5. A host path never reaches text for the model: [`workspace::WorkspacePath`] prints the public
//!    form and is the only way to show one.
//! 6. stdout is the wire: nothing prints, logs go to stderr.
//! 7. No `unsafe`. A panic costs one call, not the server.

pub mod audit;
pub mod cli;
pub mod config;
#[cfg(all(any(test, fuzzing), unix))]
pub mod fuzzing;
pub mod log;
pub mod lsp;
pub mod search;
pub mod server;
pub mod session;
pub mod stop;
pub mod tools;
pub mod workspace;
