//! Tools that servers offered when they were last connected, so that a server need not be started before its first
//! call.

use crate::connection::{ConnectionLifecycle, Introduction};
use crate::tools::{Offered, RemoteTool};
use crate::{McpServerConfig, McpServerInfo, McpTransport};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use windlass_types::JsonText;

/// Version of the cached form; entries of other versions are ignored.
const VERSION: u32 = 2;
/// Maximum number of bytes that are cached for a server.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Cache of the tools of servers, kept from one session to the next. Its contents are trusted: others must not be able
/// to write it.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Mutex;
/// use windlass_mcp::McpToolCache;
/// use windlass_types::JsonText;
///
/// /// Keeps it as long as the program runs.
/// #[derive(Debug, Default)]
/// struct InMemory(Mutex<HashMap<String, JsonText>>);
///
/// impl McpToolCache for InMemory {
///     fn load(&self, key: &str) -> Option<JsonText> {
///         self.0.lock().ok()?.get(key).cloned()
///     }
///
///     fn store(&self, key: &str, offered: &JsonText) {
///         if let Ok(mut kept) = self.0.lock() {
///             kept.insert(key.to_owned(), offered.clone());
///         }
///     }
/// }
/// ```
pub trait McpToolCache: std::fmt::Debug + Send + Sync {
    /// Returns the value stored under a key, if it is still there. Keys are long and may hold secrets of the
    /// configuration: a file is named by a digest of its key. May block for as long as a disk takes.
    fn load(&self, key: &str) -> Option<JsonText>;

    /// Stores the tools of a server. A failure is no error: the server is started at once the next time.
    fn store(&self, key: &str, offered: &JsonText);
}

/// Cached description of a server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CachedServer {
    version: u32,
    /// Lifecycle of the last greeting, so that the next session need not find out.
    pub(crate) lifecycle: Option<ConnectionLifecycle>,
    pub(crate) info: Option<McpServerInfo>,
    pub(crate) has_resources: bool,
    pub(crate) tools: Vec<RemoteTool>,
}

impl CachedServer {
    /// Creates the entry of a server's current tools.
    pub(crate) fn of(introduction: &Introduction, offered: &Offered) -> Self {
        Self {
            version: VERSION,
            lifecycle: Some(introduction.lifecycle),
            info: introduction.info.clone(),
            has_resources: introduction.has_resources,
            tools: offered.tools.clone(),
        }
    }

    /// Loads the entry of a server with this configuration.
    pub(crate) fn load(cache: &dyn McpToolCache, name: &str, config: &McpServerConfig) -> Option<Self> {
        let kept = cache.load(&key(name, config)?)?;
        kept.to::<Self>().ok().filter(|kept| kept.version == VERSION)
    }

    /// Stores the entry, unless it is too large.
    pub(crate) fn store(&self, cache: &dyn McpToolCache, name: &str, config: &McpServerConfig) {
        let (Some(key), Ok(text)) = (key(name, config), JsonText::of(self)) else { return };
        if text.as_str().len() <= MAX_BYTES {
            cache.store(&key, &text);
        }
    }

    /// Returns the own names of tools that have another definition now, or are gone. New tools are not included.
    pub(crate) fn changed(&self, offered: &Offered) -> Vec<String> {
        let current_tools: BTreeSet<&str> = offered.tools.iter().map(|tool| tool.info.name.as_str()).collect();
        let differs = |tool: &&RemoteTool| {
            !current_tools.contains(tool.info.name.as_str()) || !offered.tools.iter().any(|other| other.is_as(tool))
        };
        self.tools.iter().filter(differs).map(|tool| tool.info.name.clone()).collect()
    }
}

/// Returns the cache key of a lazy server: another program, address or environment is another server.
fn key(name: &str, config: &McpServerConfig) -> Option<String> {
    if !config.lazy {
        return None;
    }
    let reached = match &config.transport {
        McpTransport::Stdio { command, args, env } => serde_json::json!([name, command, args, env]),
        McpTransport::Http { url, headers } | McpTransport::Sse { url, headers } => {
            serde_json::json!([name, url, headers, config.headers_helper])
        }
        _ => return None,
    };
    Some(reached.to_string())
}
