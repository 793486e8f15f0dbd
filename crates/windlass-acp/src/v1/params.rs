//! Parameters of requests.

use crate::error::AcpError;
use crate::mcp_server::{AcpMcpServer, AcpMcpTransport};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Reads the parameters of a request.
pub(crate) fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, AcpError> {
    serde_json::from_value(params)
        .map_err(|error| AcpError::invalid_params(format!("the parameters of {method} are unusable: {error}")))
}

/// Parameters of `session/new`, `session/load` and `session/resume`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionParams {
    pub(crate) session_id: Option<String>,
    pub(crate) cwd: PathBuf,
    #[serde(default)]
    pub(crate) additional_directories: Vec<PathBuf>,
    #[serde(default)]
    mcp_servers: Vec<McpServerParams>,
}

#[derive(Debug, Deserialize)]
struct McpServerParams {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    name: String,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Vec<Named>,
    url: Option<String>,
    #[serde(default)]
    headers: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    value: String,
}

impl std::fmt::Debug for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// Parameters that name a session.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionId {
    pub(crate) session_id: String,
}

/// Parameters of `session/prompt`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptParams {
    pub(crate) prompt: Vec<Value>,
}

/// Parameters of `session/set_mode`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModeParams {
    pub(crate) mode_id: String,
}

/// Parameters of `session/set_config_option`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OptionParams {
    pub(crate) config_id: String,
    pub(crate) value: Value,
}

/// Parameters of `session/list`.
#[derive(Debug, Deserialize)]
pub(crate) struct ListParams {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) cursor: Option<String>,
}

/// Parameters of `authenticate`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthParams {
    pub(crate) method_id: String,
}

impl SessionParams {
    /// Checks that all directories are absolute.
    pub(crate) fn check(&self) -> Result<(), AcpError> {
        absolute("cwd", &self.cwd)?;
        self.additional_directories.iter().try_for_each(|directory| absolute("additionalDirectories", directory))
    }

    /// The MCP servers, each with a name of its own.
    pub(crate) fn servers(&self) -> Result<Vec<AcpMcpServer>, AcpError> {
        let mut servers: Vec<AcpMcpServer> = Vec::new();
        for given in &self.mcp_servers {
            if servers.iter().any(|known| known.name == given.name) {
                return Err(AcpError::invalid_params(format!("two MCP servers are named {:?}", given.name)));
            }
            servers.push(given.server()?);
        }
        Ok(servers)
    }
}

impl McpServerParams {
    fn server(&self) -> Result<AcpMcpServer, AcpError> {
        let pairs = |named: &[Named]| named.iter().map(|pair| (pair.name.clone(), pair.value.clone())).collect();
        let lacks = |field: &str| AcpError::invalid_params(format!("the MCP server {:?} has no {field}", self.name));
        let url = || self.url.clone().ok_or_else(|| lacks("url"));
        let transport = match self.kind.as_deref() {
            None | Some("stdio") => AcpMcpTransport::Stdio {
                command: self.command.clone().ok_or_else(|| lacks("command"))?,
                args: self.args.clone(),
                env: pairs(&self.env),
            },
            Some("http") => AcpMcpTransport::Http { url: url()?, headers: pairs(&self.headers) },
            Some("sse") => AcpMcpTransport::Sse { url: url()?, headers: pairs(&self.headers) },
            Some(other) => {
                let message = format!("the MCP server {:?} has the unknown type {other:?}", self.name);
                return Err(AcpError::invalid_params(message));
            }
        };
        Ok(AcpMcpServer::new(&self.name, transport))
    }
}

/// Checks that a directory is absolute.
pub(crate) fn absolute(name: &str, directory: &Path) -> Result<(), AcpError> {
    if directory.is_absolute() {
        return Ok(());
    }
    Err(AcpError::invalid_params(format!("{name} is not absolute: {}", directory.display())))
}
