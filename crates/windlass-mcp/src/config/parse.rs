//! Parser of `{"mcpServers":{…}}`.

use super::{McpServerConfig, McpToolPolicy, McpTransport};
use crate::SamplingLimits;
use crate::expand::expand;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use windlass_mcp_auth::OAuthConfig;
use windlass_types::JsonText;

/// Minimum timeout; shorter ones are ignored.
const MIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpConfigError {
    /// The text as a whole cannot be read.
    #[error("the MCP configuration cannot be read: {0}")]
    Unreadable(String),
    /// One server cannot be used.
    #[error("the MCP server {name:?} cannot be used: {problem}")]
    Server {
        /// Name of the server.
        name: String,
        /// Problem with its entry.
        problem: String,
    },
}

/// Reads servers from `{"mcpServers":{"name":{…}}}`, or from the inner object alone, sorted by name. Entries are
/// `{"type"?:"stdio","command","args"?,"env"?,"timeout"?}`,
/// `{"type":"http","url","headers"?,"headersHelper"?,"oauth"?,"timeout"?}` (see [`OAuthConfig::from_json`]), the same
/// with `"type":"sse"` and, for servers inside the host, `{"type":"sdk"}`. Times are in milliseconds; times below a
/// second are ignored. Unknown fields are ignored. `"tools":[{"name","permission_policy"}]` gives tools a policy:
/// `always_ask` or `always_deny`; `always_allow` has no effect. `"alwaysLoad":true` keeps the definitions of the
/// server's tools in requests, however many there are. `"parallelTools":["read"]`, or `true` for all, lets calls of
/// these tools run concurrently with reading calls. `"lazy":true` starts the server at its first call.
/// `"sampling":true`, or `{"maxTokens"?,"maxRequests"?}`, permits sampling by the session's models. `${VAR}` and
/// `${VAR:-default}` in texts are replaced by the value that `lookup` returns.
///
/// An entry that cannot be used does not affect the others.
///
/// # Errors
/// Fails if the text is not such an object.
#[expect(clippy::type_complexity, reason = "a list of names, each with its outcome")]
pub fn parse_config(
    text: &str,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Vec<(String, Result<McpServerConfig, McpConfigError>)>, McpConfigError> {
    #[derive(Deserialize)]
    struct ConfigFile {
        #[serde(rename = "mcpServers")]
        servers: BTreeMap<String, JsonText>,
    }
    let unreadable = |error: &dyn std::fmt::Display| McpConfigError::Unreadable(error.to_string());
    let json = JsonText::parse_strict(text).map_err(|error| unreadable(&error))?;
    let fields: BTreeMap<String, JsonText> = json.to().map_err(|error| unreadable(&error))?;
    let servers = if fields.contains_key("mcpServers") {
        json.to::<ConfigFile>().map_err(|error| unreadable(&error))?.servers
    } else {
        fields
    };
    let parsed = servers.into_iter().map(|(name, entry)| {
        let config =
            parse_server(&entry, &lookup).map_err(|problem| McpConfigError::Server { name: name.clone(), problem });
        (name, config)
    });
    Ok(parsed.collect())
}

#[derive(Deserialize)]
struct ServerEntry {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(default)]
    env: Option<BTreeMap<String, String>>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    headers: Option<BTreeMap<String, String>>,
    #[serde(default, rename = "headersHelper")]
    headers_helper: Option<String>,
    #[serde(default)]
    oauth: Option<serde_json::Value>,
    #[serde(flatten)]
    settings: CommonSettings,
}

/// Settings common to all kinds of servers.
#[derive(Default, Deserialize)]
pub(super) struct CommonSettings {
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    tools: serde_json::Value,
    #[serde(default, rename = "alwaysLoad")]
    always_load: serde_json::Value,
    #[serde(default, rename = "parallelTools")]
    parallel: serde_json::Value,
    #[serde(default)]
    lazy: serde_json::Value,
    #[serde(default)]
    sampling: serde_json::Value,
}

impl McpServerConfig {
    pub(super) fn apply(&mut self, settings: &CommonSettings) {
        // A number that is no duration is ignored, like one that is too small.
        let timeout = settings.timeout.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
        self.timeout = timeout.filter(|timeout| *timeout >= MIN_TIMEOUT).or(self.timeout);
        self.always_load = settings.always_load.as_bool().unwrap_or(self.always_load);
        self.lazy = settings.lazy.as_bool().unwrap_or(self.lazy);
        if !settings.sampling.is_null() {
            self.sampling = SamplingLimits::read(&settings.sampling);
        }
        let parallel = settings.parallel.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        self.parallel.extend(parallel.map(str::to_owned));
        if settings.parallel.as_bool() == Some(true) {
            self.parallel.insert("*".to_owned());
        }
        for tool in settings.tools.as_array().into_iter().flatten() {
            let Some(name) = tool.get("name").and_then(serde_json::Value::as_str) else { continue };
            let policy = match tool.get("permission_policy").and_then(serde_json::Value::as_str) {
                Some("always_allow") => continue,
                Some("always_deny") => McpToolPolicy::Deny,
                _ if tool.get("permission_policy").is_none() => continue,
                _ => McpToolPolicy::Ask,
            };
            self.policies.insert(name.to_owned(), policy);
        }
    }
}

fn parse_server(entry: &JsonText, lookup: &dyn Fn(&str) -> Option<String>) -> Result<McpServerConfig, String> {
    let entry: ServerEntry = entry.to().map_err(|error| error.to_string())?;
    let text = |text: String| expand(&text, lookup).map_err(|name| format!("the variable {name} is not set"));
    let texts = |texts: BTreeMap<String, String>| {
        texts.into_iter().map(|(name, value)| Ok((name, text(value)?))).collect::<Result<BTreeMap<_, _>, String>>()
    };
    let kind = entry.kind.as_deref().unwrap_or(if entry.url.is_some() { "http" } else { "stdio" });
    let url = || entry.url.clone().ok_or_else(|| "it has no `url`".to_owned()).and_then(text);
    let transport = match kind {
        "stdio" => McpTransport::Stdio {
            command: text(entry.command.filter(|command| !command.is_empty()).ok_or("it has no `command`")?)?,
            args: entry.args.unwrap_or_default().into_iter().map(text).collect::<Result<_, _>>()?,
            env: texts(entry.env.unwrap_or_default())?,
        },
        "http" | "streamable-http" | "streamableHttp" => {
            McpTransport::Http { url: url()?, headers: texts(entry.headers.unwrap_or_default())? }
        }
        "sse" => McpTransport::Sse { url: url()?, headers: texts(entry.headers.unwrap_or_default())? },
        "sdk" => McpTransport::InProcess(None),
        other => return Err(format!("its type {other:?} is not supported")),
    };
    let mut config = McpServerConfig::new(transport);
    if config.is_in_process() {
        config.source = "sdk".to_owned();
    }
    config.headers_helper = entry.headers_helper.filter(|command| !command.trim().is_empty());
    config.apply(&entry.settings);
    if let Some(oauth) = entry.oauth.filter(|oauth| !oauth.is_null()) {
        let text = |text: &str| expand(text, lookup).map_err(|name| format!("the variable {name} is not set"));
        config.oauth = OAuthConfig::from_json(&oauth, &text)?;
    }
    Ok(config)
}

#[cfg(test)]
mod tests;
