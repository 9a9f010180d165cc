//! STUB
#![allow(
    missing_docs,
    unused_variables,
    clippy::todo,
    clippy::all,
    clippy::pedantic,
    clippy::allow_attributes_without_reason
)]
use super::*;
#[derive(serde::Deserialize, JsonSchema)]
pub struct Args {
    path: String,
}
#[derive(Serialize, JsonSchema)]
pub struct Output {
    path: String,
}
pub struct Glob;
impl Tool for Glob {
    type Args = Args;
    type Output = Output;
    const SPEC: Spec = Spec {
        name: "glob",
        title: "Glob",
        description: "stub",
        group: Group::Core,
        aliases: &[],
        read_only: true,
        destructive: false,
        idempotent: true,
        heavy: false,
    };
    fn plan(cx: &CallContext, args: Args) -> Result<Plan, ToolError> {
        todo!()
    }
}
