//! The tools a model calls: arguments → plan → (approval →) commit → answer.
//!
//! This file is the registry: a tool is one file and its line in `TOOLS`. A tool is synchronous, knows nothing of
//! JSON-RPC and reaches files only through [`CallContext::workspace`].

mod alias;
pub(crate) mod answer;
pub(crate) mod answer_budget;
mod apply_patch;
pub(crate) mod args;
pub(crate) mod checkpoint;
pub(crate) mod context;
mod copy;
mod decode_memory;
mod delete;
mod destination;
pub(crate) mod earlier_state;
mod edit;
mod encoding_argument;
mod erased;
mod error;
mod existing_path;
pub(crate) mod fence;
mod fenced_list;
mod fitted;
mod glob;
mod grep;
mod hidden_note;
mod introduced_problems;
mod longest_wait;
mod ls;
mod match_words;
mod mkdir;
mod move_path;
mod omissions;
mod paging;
mod plan;
mod present;
mod read;
mod read_before_write;
mod reference_note;
mod references;
mod resources;
pub(crate) mod restore;
mod schema;
mod shown_diff;
pub(crate) mod staged;
#[cfg(all(test, unix))]
mod tests;
mod tool;
mod toolbox;
mod undo;
mod wait;
mod with_history;
mod write;

use std::sync::LazyLock;

pub use alias::{Alias, FlagValue};
pub use answer::{Answer, Content, FileLink};
pub use answer_budget::{AnswerBudget, TextUnit};
pub use context::{Blocking, CallContext, ProgressSink, ProgressUpdate, ReadBeforeWrite, Settings};
pub use erased::ErasedTool;
pub use error::{Kind, ToolError};
pub use existing_path::ExistingKind;
pub use longest_wait::{LongestWait, WaitBound};
pub use plan::{Change, EndReason, Fingerprint, Look, Plan, Preview, Wait};
pub use references::References;
pub use resources::{COMPLETE, LIST_RESOURCES, READ_RESOURCE};
pub use tool::{Group, Spec, Tool};
pub use toolbox::{Selection, Toolbox};

/// All tools, ordered by name: a new tool is one line here.
static TOOLS: LazyLock<Vec<ErasedTool>> = LazyLock::new(|| {
    vec![
        ErasedTool::of::<apply_patch::ApplyPatch>(),
        ErasedTool::of::<copy::Copy>(),
        ErasedTool::of::<delete::Delete>(),
        ErasedTool::of::<edit::Edit>(),
        ErasedTool::of::<glob::Glob>(),
        ErasedTool::of::<grep::Grep>(),
        ErasedTool::of::<ls::Ls>(),
        ErasedTool::of::<mkdir::Mkdir>(),
        ErasedTool::of::<move_path::Move>(),
        ErasedTool::of::<present::Present>(),
        ErasedTool::of::<read::Read>(),
        ErasedTool::of::<undo::Undo>(),
        ErasedTool::of::<wait::WaitFor>(),
        ErasedTool::of::<write::Write>(),
    ]
});

/// The work behind requests of the protocol, which run as calls of tools do and are no tools: a model cannot call them.
static OPERATIONS: LazyLock<Vec<ErasedTool>> = LazyLock::new(|| {
    vec![
        ErasedTool::of::<resources::CompletePath>(),
        ErasedTool::of::<resources::ListResources>(),
        ErasedTool::of::<resources::ReadResource>(),
    ]
});
