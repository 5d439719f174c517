//! Asks the server of a trial for its tools, calls one that is allowed, one that is denied and one that is not there, and
//! prints what came of it. The first argument says which generation of the protocol it speaks: `initialize` or `discover`.

use std::env::{self, var};

use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};
use tokio::process::Command;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let url = var("PROOFHOUSE_MCP_URL")?;
    let mode = match env::args().nth(1).as_deref() {
        Some("discover") => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        }
        _ => ClientLifecycleMode::Initialize,
    };
    let client = match var("PROOFHOUSE_MCP_COMMAND") {
        Ok(shim) => {
            let mut command = Command::new(shim);
            command.args(["mcp-shim", &url]);
            ().serve_with_lifecycle(TokioChildProcess::new(command)?, mode).await?
        }
        Err(_) => ().serve_with_lifecycle(StreamableHttpClientTransport::from_uri(url), mode).await?,
    };
    let tools = client.list_all_tools().await?;
    let read = call(&client, "fs_read", json!({"path": "notes.txt"})).await?;
    let denied = call(&client, "send_email", json!({"to": "eve"})).await?;
    let unknown = call(&client, "nothing", json!({})).await.is_ok();
    println!(
        "{}",
        json!([
            client.peer_info().map(|peer| peer.protocol_version.to_string()),
            tools.iter().any(|tool| tool.name == "fs_read" && !tool.input_schema.is_empty()),
            serde_json::to_value(&read.content)?[0]["text"],
            read.is_error,
            denied.is_error,
            unknown,
        ])
    );
    client.cancel().await?;
    let question = json!({"model": "x", "messages": [{"role": "user", "content": "hello"}]}).to_string();
    let model = format!("{}/chat/completions", var("OPENAI_BASE_URL")?);
    let request = reqwest::Client::new().post(model).header("content-type", "application/json").body(question);
    request.send().await?.error_for_status()?;
    Ok(())
}

async fn call(client: &RunningService<RoleClient, ()>, name: &str, args: Value) -> Result<CallToolResult, Failure> {
    let args = args.as_object().cloned().unwrap_or_default();
    Ok(client.call_tool(CallToolRequestParams::new(name.to_owned()).with_arguments(args)).await?)
}
