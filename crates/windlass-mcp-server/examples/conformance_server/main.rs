//! Server with all features that the official conformance package of MCP tests (`tests/mcp/run`): tools behind the gate
//! of a session, tools that use their client, resources and prompts, over streamable HTTP.
//!
//! Prints the address of its endpoint. The bearer token is read from the variable `WINDLASS_MCP_TOKEN`.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a program takes its environment from the system")]

mod library;
mod plain;
mod questions;
mod services;
mod tasks;

use tokio::net::TcpListener;
use windlass_mcp_server::{BearerToken, HttpOptions, McpServer};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut server = McpServer::new("conformance", "1.0");
    let changes = server.changes();
    let server = server
        .service(plain::behind_the_gate().await?)
        .service(services::Talkative { changes })
        .service(questions::Asking)
        .service(tasks::Slow)
        .library(library::Fixtures);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut options = HttpOptions::new(BearerToken::new(std::env::var("WINDLASS_MCP_TOKEN")?)?);
    options = options.origin("http://localhost:*").origin("http://127.0.0.1:*");
    // The package ends none of its sessions.
    options.max_sessions = 1000;
    println!("http://{}{}", listener.local_addr()?, options.path);
    server.serve_http(listener, options).await?;
    Ok(())
}
