//! `copy`: make copies of files and directories at other paths.

use super::{CallContext, Group, Plan, Spec, Tool, ToolError, transfer};

pub(crate) struct Copy;

impl Tool for Copy {
    type Args = transfer::Args;
    type Output = transfer::Output;
    const SPEC: Spec = Spec {
        name: "copy",
        title: "Copy files or directories",
        purpose: "copies",
        description: "Copy a file, or a directory with everything in it, or several. Nothing is replaced unless \
            overwrite=true, and then only a file.",
        group: Group::Manage,
        aliases: &[transfer::MOVE_ALIASES],
        heavy: true,
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: transfer::Args) -> Result<Plan, ToolError> {
        transfer::plan(cx, &args, transfer::Verb::Copy)
    }
}
