//! Reads the handler of a hook, by its type.

use super::{flag, text};
use crate::definition::{Background, CommandHandler, HookHandler, HttpHandler, McpToolHandler, ModelHandler};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use windlass_types::near::nearest;

const KINDS: &[&str] = &["command", "http", "mcp_tool", "prompt", "agent"];

const COMMAND: &[&str] = &["command", "args", "shell", "async", "asyncRewake"];
const HTTP: &[&str] = &["url", "headers", "allowedEnvVars"];
const MCP_TOOL: &[&str] = &["server", "tool", "input"];
const PROMPT: &[&str] = &["prompt", "model", "continueOnBlock"];
const AGENT: &[&str] = &["prompt", "model"];

/// Returns the handler of a hook and the keys of its kind.
pub(super) fn read_handler(keys: &Map<String, Value>) -> Result<(HookHandler, &'static [&'static str]), String> {
    let kind = text(keys, "type")?.ok_or("`type` is missing")?;
    Ok(match kind.as_str() {
        "command" => (HookHandler::Command(command(keys)?), COMMAND),
        "http" => (HookHandler::Http(http(keys)?), HTTP),
        "mcp_tool" => (HookHandler::McpTool(mcp_tool(keys)?), MCP_TOOL),
        "prompt" => (HookHandler::Prompt(model(keys, PROMPT)?), PROMPT),
        "agent" => (HookHandler::Agent(model(keys, AGENT)?), AGENT),
        other => {
            let near = nearest(other, KINDS.iter().copied());
            let meant = near.first().map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
            return Err(format!("there is no type {other:?}{meant}"));
        }
    })
}

fn command(keys: &Map<String, Value>) -> Result<CommandHandler, String> {
    match text(keys, "shell")?.as_deref() {
        None | Some("bash") => {}
        Some(other) => return Err(format!("the shell {other:?} is not supported: it must be \"bash\"")),
    }
    let background = match (flag(keys, "asyncRewake")?, flag(keys, "async")?) {
        (true, _) => Background::Rewake,
        (false, true) => Background::Async,
        (false, false) => Background::No,
    };
    let args = match keys.get("args") {
        None | Some(Value::Null) => None,
        Some(value) => Some(texts(value).ok_or("`args` must be a list of texts")?),
    };
    let command = required(keys, "command", COMMAND)?;
    if command.contains('\0') || args.iter().flatten().any(|arg| arg.contains('\0')) {
        return Err("a command has a NUL character, which no program can be given".to_owned());
    }
    Ok(CommandHandler { command, args, background })
}

fn http(keys: &Map<String, Value>) -> Result<HttpHandler, String> {
    let mut headers = BTreeMap::new();
    match keys.get("headers") {
        None | Some(Value::Null) => {}
        Some(Value::Object(said)) => {
            for (name, value) in said {
                let value = value.as_str().ok_or_else(|| format!("the header `{name}` must be a text"))?;
                headers.insert(name.clone(), value.to_owned());
            }
        }
        Some(_) => return Err("`headers` must be an object of texts".to_owned()),
    }
    let allowed_env_vars = match keys.get("allowedEnvVars") {
        None | Some(Value::Null) => Vec::new(),
        Some(value) => texts(value).ok_or("`allowedEnvVars` must be a list of texts")?,
    };
    Ok(HttpHandler { url: required(keys, "url", HTTP)?, headers, allowed_env_vars })
}

fn mcp_tool(keys: &Map<String, Value>) -> Result<McpToolHandler, String> {
    let input = match keys.get("input") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(input)) => input.clone(),
        Some(_) => return Err("`input` must be an object".to_owned()),
    };
    Ok(McpToolHandler { server: required(keys, "server", MCP_TOOL)?, tool: required(keys, "tool", MCP_TOOL)?, input })
}

fn model(keys: &Map<String, Value>, known: &[&str]) -> Result<ModelHandler, String> {
    Ok(ModelHandler {
        prompt: required(keys, "prompt", known)?,
        model: text(keys, "model")?.filter(|model| !model.trim().is_empty()),
        continue_on_block: flag(keys, "continueOnBlock")?,
    })
}

/// Returns a required, non-empty text. A misspelled key is named in the error.
fn required(keys: &Map<String, Value>, key: &str, known: &[&str]) -> Result<String, String> {
    match text(keys, key)? {
        Some(text) if text.trim().is_empty() => Err(format!("`{key}` is empty")),
        Some(text) => Ok(text),
        None => {
            let odd = keys.keys().map(String::as_str).filter(|name| !known.contains(name));
            let near = nearest(key, odd).first().map(|near| format!(": did you mean it by `{near}`?"));
            Err(format!("`{key}` is missing{}", near.unwrap_or_default()))
        }
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}
