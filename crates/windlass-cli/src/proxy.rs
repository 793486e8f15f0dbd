//! `windlass proxy`: a credential proxy that keeps the key in this process.

#[cfg(unix)]
mod child;

use crate::provider::own_variable;
use crate::terminal::clean;
use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::ffi::OsString;
use std::io::{Write, stderr, stdout};
use tokio::io::AsyncReadExt;
use windlass::provider::{CredentialProxy, ProxyNotice, ProxyOptions};

/// The options of `windlass proxy`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ProxyArgs {
    /// Output format of address and nonce: lines for a shell, or one JSON object
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", conflicts_with = "command")]
    format: ProxyFormat,
    /// End when standard input ends, that is when the program that started the proxy is gone
    #[arg(long, conflicts_with = "command")]
    until_stdin_ends: bool,
    /// With a command: also report refused requests and failures of the API
    #[arg(long)]
    verbose: bool,
    /// Become the command, and end with the process of this id
    #[arg(long, value_name = "PID", requires = "command", hide = true)]
    launched_by: Option<u32>,
    /// The command to run. Its environment has the nonce and no copy of the key
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const AFTER_HELP: &str = "\
Environment:
  ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN  The key; a token for a gateway
  ANTHROPIC_BASE_URL                       Another address of the API
  ANTHROPIC_CUSTOM_HEADERS                 Further headers, `Name: value` on each line

Exit codes: that of the command; 127 and 126 if it is not found or cannot start; 1 if the proxy cannot start.

Examples:
  windlass proxy -- windlass -p 'Fix the failing test'
  windlass proxy -- python agent.py
  eval \"$(windlass proxy &)\"; python agent.py; kill $WINDLASS_PROXY_PID";

/// Output format of address and nonce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum ProxyFormat {
    /// Lines for a POSIX shell.
    #[default]
    Env,
    /// One object on one line.
    Json,
}

/// Carries out `windlass proxy` and returns the exit code.
pub(crate) fn proxy(args: ProxyArgs) -> anyhow::Result<i32> {
    if let Some(parent) = args.launched_by {
        return launch(parent, &args.command);
    }
    let options = ProxyOptions::lookup(own_variable).map_err(|error| {
        anyhow::anyhow!("{error}, or run `windlass login`; the proxy keeps the key and gives out a nonce")
    })?;
    let options = if args.command.is_empty() || args.verbose { options.on_notice(report) } else { options };
    crate::block_on(async move {
        let proxy = CredentialProxy::bind(options).await.context("the proxy cannot start")?;
        if args.command.is_empty() { stay(proxy, &args).await } else { run(proxy, &args.command).await }
    })
}

fn report(notice: &ProxyNotice) {
    // Standard error may be closed.
    let _ = writeln!(stderr(), "windlass proxy: {}", clean(&notice.to_string()));
}

/// Prints the address of the proxy, and serves until the signal to end.
async fn stay(proxy: CredentialProxy, args: &ProxyArgs) -> anyhow::Result<i32> {
    let text = match args.format {
        ProxyFormat::Env => for_shell(&proxy),
        ProxyFormat::Json => for_program(&proxy),
    };
    // Before the address is printed, so that a reader of it can end the proxy.
    let ended = ended()?;
    let mut out = stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    if args.format == ProxyFormat::Env {
        release_stdout();
    }
    let code = tokio::select! {
        code = ended => code,
        () = end_of_stdin(), if args.until_stdin_ends => 0,
    };
    proxy.shutdown().await;
    Ok(code)
}

fn for_shell(proxy: &CredentialProxy) -> String {
    let mut text = format!("unset {}\n", proxy.removed_from_environment().join(" "));
    for (name, value) in proxy.environment() {
        // Neither contains a quote.
        text.push_str(&format!("export {name}='{value}'\n"));
    }
    text.push_str(&format!("export WINDLASS_PROXY_PID={}\n", std::process::id()));
    text
}

fn for_program(proxy: &CredentialProxy) -> String {
    let env: serde_json::Map<String, serde_json::Value> =
        proxy.environment().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let text = json!({
        "url": proxy.url(),
        "nonce": proxy.nonce(),
        "pid": std::process::id(),
        "env": env,
        "unset": proxy.removed_from_environment(),
    });
    format!("{text}\n")
}

async fn end_of_stdin() {
    let mut input = tokio::io::stdin();
    let mut ignored = [0; 1024];
    while let Ok(1..) = input.read(&mut ignored).await {}
}

#[cfg(unix)]
use child::{ended, launch, release_stdout, run};

#[cfg(not(unix))]
fn ended() -> anyhow::Result<impl Future<Output = i32>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
        130
    })
}

#[cfg(not(unix))]
async fn run(proxy: CredentialProxy, command: &[OsString]) -> anyhow::Result<i32> {
    let Some((program, arguments)) = command.split_first() else { return Ok(0) };
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(proxy.child_environment(std::env::vars_os()))
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("{} cannot be started", program.display()))?;
    Ok(child.wait().await?.code().unwrap_or(1))
}

#[cfg(not(unix))]
fn launch(_: u32, _: &[OsString]) -> anyhow::Result<i32> {
    anyhow::bail!("--launched-by is for Unix")
}

#[cfg(not(unix))]
fn release_stdout() {}
