//! A bare rmcp server: its one tool answers with as many lines as it is asked for, made in memory.
//!
//! What `goals.py` compares a read of a file with; build it with `cargo build --release --example echo`.

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig},
    service::RequestContext,
    transport::io::stdio_pipes,
};

const LINE: &str = "1\ta line of some sixty characters, as source code often has\n";

struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let lines = request.arguments.as_ref().and_then(|arguments| arguments.get("lines")?.as_u64()).unwrap_or(1);
        let lines = usize::try_from(lines).unwrap_or(1);
        Ok(CallToolResult::success(vec![ContentBlock::text(LINE.repeat(lines))]).into())
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let service = Echo.serve(stdio_pipes()).await.expect("a client");
        service.waiting().await.expect("an end");
    });
}
