//! `move`: give files and directories other paths; never over something unless asked to.

use super::{CallContext, Group, Plan, Spec, Tool, ToolError, transfer};

pub(crate) struct Move;

impl Tool for Move {
    type Args = transfer::Args;
    type Output = transfer::Output;
    const SPEC: Spec = Spec {
        name: "move",
        title: "Move or rename",
        purpose: "moves and renames",
        description: "Move or rename a file, link or directory, or several. Nothing is replaced unless overwrite=true, and \
            then only a file. References to the old path elsewhere are not changed.",
        group: Group::Manage,
        aliases: &[transfer::MOVE_ALIASES],
        ..Spec::CHANGES
    };

    fn plan(cx: &CallContext, args: transfer::Args) -> Result<Plan, ToolError> {
        transfer::plan(cx, &args, transfer::Verb::Move)
    }
}
