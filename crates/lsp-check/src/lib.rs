//! Language servers: what a compiler says of a change, in the answer to the change.
//!
//! A server is started when a file that it is for is first read or changed, by the [broker](self_sandbox::Broker),
//! one for each project directory below a root. It is kept informed of what changes, and the problems that a change
//! introduced are waited for, at most as long as the configuration says. Whatever a server does or does not do, the change
//! has been made, and its call goes on. Where it was not checked, the answer says so, and the next change of the file is
//! compared with the text before both.
//!
//! ```
//! // Without a broker no server can be started, and no check of a change waits for one.
//! let servers = lsp_check::LanguageServers::new(Vec::new(), None);
//! # drop(servers);
//! ```
//!
//! # Map
//! | question | file |
//! |---|---|
//! | Which server for which file, and since when has it failed? | `servers` |
//! | How is one change checked? | `check` |
//! | Has it answered for this change? | `state` |
//! | What is wrong with it, by its own words? | `trouble` |
//! | What may a server send? | `frame`, `message`, `diagnostics` |
//! | What do its texts show of the host? | `scrub` |
//!
//! Limits: one server for each extension. A server is a program that the person configured: it reads its whole root,
//! secrets included, and is confined apart from this process.
//!
//! A part of Rootbound, published with it: its interface changes without notice.

mod backoff;
mod check;
mod checked;
mod defaults;
mod diagnostics;
mod documents;
mod frame;
mod instance;
mod message;
mod options;
mod report;
mod requests;
mod scrub;
mod servers;
mod state;
mod trouble;
mod uri;

pub use check::DiskChange;
pub use checked::{Checked, FileChange};
pub use options::LanguageServer;
pub use servers::LanguageServers;
