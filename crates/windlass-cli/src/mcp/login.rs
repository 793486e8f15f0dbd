//! `windlass mcp login` and `windlass mcp logout`.

use super::command::{LoginArgs, LogoutArgs, ServerArgs};
use super::configured::Configured;
use super::shown::{find, inspected};
use crate::terminal::clean_line;
use anyhow::Context;
use async_trait::async_trait;
use std::ffi::OsStr;
use std::io::{IsTerminal, Write, stderr, stdin, stdout};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use windlass::mcp::auth::{Browser, LoginPage};
use windlass::mcp::{McpServerConfig, McpServers};
use windlass::project::LoadedProject;

/// Time limit for the server to answer before the login begins.
const PATIENCE: Duration = Duration::from_secs(31);

/// Logs in to a server, and returns the exit code.
pub(super) async fn login(args: &LoginArgs) -> anyhow::Result<i32> {
    let servers = connected(&args.server).await?;
    let browser = Terminal { opens: !args.no_browser };
    let name = args.server.name.as_str();
    let outcome = servers.authenticate(name, &browser).await;
    servers.close().await;
    outcome?;
    writeln!(stdout(), "{}", clean_line(&format!("logged in to {name}")))?;
    Ok(0)
}

/// Forgets the login to a server, and returns the exit code.
pub(super) async fn logout(args: &LogoutArgs) -> anyhow::Result<i32> {
    let servers = connected(&args.server).await?;
    let name = args.server.name.as_str();
    let outcome = servers.forget_login(name).await;
    servers.close().await;
    let result = if outcome? { "logged out of" } else { "there was no login to" };
    writeln!(stdout(), "{}", clean_line(&format!("{result} {name}")))?;
    Ok(0)
}

/// Returns a set with only this server, after its first answer, which determines the requested scopes.
async fn connected(args: &ServerArgs) -> anyhow::Result<McpServers> {
    let project = inspected(&args.settings)?;
    let config = configured(args, &project)?;
    let servers = McpServers::new(project.server_options().with_client("windlass", env!("CARGO_PKG_VERSION")));
    servers.add(&args.name, config)?;
    servers.settled(PATIENCE).await;
    Ok(servers)
}

/// Returns the configuration of the server: from `--mcp-config`, or from files.
fn configured(args: &ServerArgs, project: &LoadedProject) -> anyhow::Result<McpServerConfig> {
    let mut given = Configured::read(args.mcp_config.iter().map(String::as_str))?;
    if let Some((_, problem)) = given.problems.iter().find(|(name, _)| *name == args.name) {
        anyhow::bail!("{problem}");
    }
    if let Some(config) = given.servers.remove(&args.name) {
        return Ok(config);
    }
    let found = find(project, &args.name)?;
    if let Some(reason) = found.left_out {
        anyhow::bail!("the MCP server {:?} is not reached: {reason}", found.name);
    }
    let definition = found.definition.context("the server is not there any more")?;
    Ok(project.servers().config(&definition)?)
}

/// Prints the address of a page, opens it in the browser of the system, and takes an address that is typed in.
#[derive(Debug)]
struct Terminal {
    opens: bool,
}

#[async_trait]
impl Browser for Terminal {
    async fn open(&self, page: &LoginPage) -> Result<Option<String>, String> {
        let host = clean_line(&page.host);
        // The address holds no secret that outlives the login, and must not be changed.
        let text = format!("Log in at {host}:\n\n  {}\n\n", page.address);
        stderr().write_all(text.as_bytes()).map_err(|error| format!("the address cannot be shown: {error}"))?;
        if self.opens {
            open_in_browser(&page.address);
        }
        if !stdin().is_terminal() {
            return Ok(None);
        }
        let hint = "If the browser is on another machine, paste the address to which it returned, and press Enter.\n";
        // The login does not depend on the hint.
        let _ = stderr().write_all(hint.as_bytes());
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if !line.trim().is_empty() {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }
}

/// Begins to open an address, if there is a browser. The user sees the result.
pub(crate) fn open_in_browser(address: &str) {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let (program, before): (_, &[&str]) = match set("BROWSER") {
        Some(program) => (program, &[]),
        None if cfg!(target_os = "macos") => ("open".into(), &[]),
        None if cfg!(windows) => ("rundll32".into(), &["url.dll,FileProtocolHandler"]),
        None if set("DISPLAY").or_else(|| set("WAYLAND_DISPLAY")).is_some() => ("xdg-open".into(), &[]),
        None => return,
    };
    let _ = opener(&program, before, address).spawn();
}

fn opener(program: &OsStr, before: &[&str], address: &str) -> std::process::Command {
    let mut command = std::process::Command::new(program);
    command.args(before).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
