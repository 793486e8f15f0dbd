//! Headers that a command of the user prints.

use crate::confine::spec;
use crate::greeting::GreetingFailure;
use crate::process::ServerProcess;
use crate::program::find;
use crate::{McpOptions, McpServerConfig};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use windlass_tool::ProcessCommand;

/// Maximum duration of the command.
const LIMIT: Duration = Duration::from_secs(10);
/// Maximum length of the printed text, in bytes.
const MAX_OUTPUT_BYTES: u64 = 64 * 1024;

#[cfg(not(windows))]
const SHELL: (&str, &str) = ("sh", "-c");
#[cfg(windows)]
const SHELL: (&str, &str) = ("cmd", "/C");

/// Returns the headers of a server: the configured ones, overridden by those that its command prints.
///
/// The output of the command holds secrets: no error repeats it.
pub(crate) async fn headers_of(
    name: &str,
    config: &McpServerConfig,
    (url, configured): (&str, &BTreeMap<String, String>),
    options: &McpOptions,
) -> Result<BTreeMap<String, String>, GreetingFailure> {
    let Some(helper) = &config.headers_helper else { return Ok(configured.clone()) };
    let printed = match timeout(LIMIT, print(helper, name, (url, config), options)).await {
        Ok(printed) => printed.map_err(|problem| failed(&problem))?,
        Err(_) => return Err(failed(&format!("it took longer than {} s", LIMIT.as_secs()))),
    };
    let headers: BTreeMap<String, String> =
        serde_json::from_slice(&printed).map_err(|_| failed("it did not print a JSON object of texts"))?;
    let is_replaced = |name: &str| headers.keys().any(|printed| printed.eq_ignore_ascii_case(name));
    let kept = configured.iter().filter(|(name, _)| !is_replaced(name));
    Ok(kept.map(|(name, value)| (name.clone(), value.clone())).chain(headers.clone()).collect())
}

fn failed(problem: &str) -> GreetingFailure {
    GreetingFailure::Unreached(format!("its `headersHelper` failed: {problem}"))
}

/// Runs the command and returns its output. Dropping the future ends the command.
async fn print(
    helper: &str,
    name: &str,
    (url, config): (&str, &McpServerConfig),
    options: &McpOptions,
) -> Result<Vec<u8>, String> {
    let about = [("CLAUDE_CODE_MCP_SERVER_NAME", name), ("CLAUDE_CODE_MCP_SERVER_URL", url)];
    let about = about.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let (cwd, env) = config.surroundings(options, about);
    let (shell, flag) = SHELL;
    let program = find(shell, &env, &cwd)?;
    let mut command = ProcessCommand::new(program, cwd);
    (command.args, command.env) = ([flag, helper].map(OsString::from).into(), env);
    command.background = true;
    let spec = spec(name, command, config.confinement.as_deref(), options).await?;
    let (process, stdin, stdout) = ServerProcess::start(spec).map_err(|error| error.to_string())?;
    drop(stdin);
    let mut printed = Vec::new();
    let read = stdout.take(MAX_OUTPUT_BYTES + 1).read_to_end(&mut printed).await;
    process.stop();
    process.ended().await;
    match read {
        Ok(_) if printed.len() as u64 > MAX_OUTPUT_BYTES => {
            Err(format!("it printed more than {MAX_OUTPUT_BYTES} bytes"))
        }
        Ok(_) => Ok(printed),
        Err(error) => Err(error.to_string()),
    }
}
