//! The tools a model calls: arguments → plan → (approval →) commit → answer.
//!
//! This file is the registry: a tool is one file and its line in [`TOOLS`]. A tool is synchronous, knows nothing of
//! JSON-RPC and reaches files only through [`CallContext::workspace`].

mod alias;
pub mod answer;
pub mod args;
pub mod context;
pub mod copy;
pub mod delete;
mod destination;
pub mod edit;
mod erased;
pub mod error;
pub mod glob;
pub mod grep;
pub mod ls;
pub mod mkdir;
pub mod move_path;
pub mod omissions;
mod paging;
mod plan;
pub mod read;
mod read_before_write;
pub mod restore;
pub mod schema;
mod shown_diff;
mod tool;
mod toolbox;
pub mod undo;
mod with_history;
pub mod write;

use std::sync::LazyLock;

pub use alias::{Alias, FlagValue};
pub use answer::{Answer, Content};
pub use context::{Blocking, CallContext, ReadBeforeWrite, Settings};
pub use erased::ErasedTool;
pub use error::{Kind, ToolError};
pub use plan::{Change, Fingerprint, Plan, Preview};
pub use tool::{Group, Spec, Tool};
pub use toolbox::{Selection, Toolbox};

/// All tools, ordered by name: a new tool is one line here.
static TOOLS: LazyLock<Vec<ErasedTool>> = LazyLock::new(|| {
    vec![
        ErasedTool::of::<copy::Copy>(),
        ErasedTool::of::<delete::Delete>(),
        ErasedTool::of::<edit::Edit>(),
        ErasedTool::of::<glob::Glob>(),
        ErasedTool::of::<grep::Grep>(),
        ErasedTool::of::<ls::Ls>(),
        ErasedTool::of::<mkdir::Mkdir>(),
        ErasedTool::of::<move_path::Move>(),
        ErasedTool::of::<read::Read>(),
        ErasedTool::of::<undo::Undo>(),
        ErasedTool::of::<write::Write>(),
    ]
});
