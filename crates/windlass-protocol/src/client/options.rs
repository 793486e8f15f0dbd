//! What a host brings along: its callbacks, its tools and its limits.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_hook::Hook;
use windlass_permission::CanUseTool;
use windlass_tool::{Ids, SystemIds, ToolSet};
use windlass_types::JsonText;

/// What a host brings along, whichever way it reaches the runtime.
///
/// Callbacks run on tasks of their own, beside [`Client::next`](crate::client::Client::next): a host
/// that does not read its messages still answers. They may give orders through
/// a [`ClientHandle`](crate::client::ClientHandle), and are dropped when the other side no longer waits.
#[derive(Clone)]
#[must_use = "options do nothing until a client is made with them"]
pub struct ClientOptions {
    pub(super) can_use_tool: Option<Arc<dyn CanUseTool>>,
    pub(super) hooks: Vec<Arc<dyn Hook>>,
    pub(super) tools: BTreeMap<String, ToolSet>,
    pub(super) session: SessionWishes,
    pub(super) limits: ClientLimits,
    pub(super) ids: Arc<dyn Ids>,
}

/// The session that `initialize` asks for.
#[derive(Clone, Default)]
pub(super) struct SessionWishes {
    pub(super) system_prompt: Option<String>,
    pub(super) append_system_prompt: Option<String>,
    pub(super) json_schema: Option<JsonText>,
    pub(super) agents: Option<JsonText>,
    pub(super) forward_subagent_text: bool,
}

/// How much is read, and how long is waited.
#[derive(Clone)]
pub(super) struct ClientLimits {
    pub(super) max_line: usize,
    pub(super) max_waiting: usize,
    pub(super) order_timeout: Duration,
    pub(super) initialize_timeout: Duration,
    pub(super) hook_timeout: Duration,
    pub(super) patience: Duration,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            max_line: 64 * 1024 * 1024,
            max_waiting: 16 * 1024 * 1024,
            order_timeout: Duration::from_secs(60),
            initialize_timeout: Duration::from_secs(60),
            hook_timeout: Duration::from_secs(60),
            patience: Duration::from_secs(5),
        }
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            can_use_tool: None,
            hooks: Vec::new(),
            tools: BTreeMap::new(),
            session: SessionWishes::default(),
            limits: ClientLimits::default(),
            ids: Arc::new(SystemIds::default()),
        }
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks: Vec<&str> = self.hooks.iter().map(|hook| hook.name()).collect();
        f.debug_struct("ClientOptions")
            .field("can_use_tool", &self.can_use_tool.is_some())
            .field("hooks", &hooks)
            .field("tools", &self.tools.keys().collect::<Vec<_>>())
            .field("max_line", &self.limits.max_line)
            .field("max_waiting", &self.limits.max_waiting)
            .finish_non_exhaustive()
    }
}

impl ClientOptions {
    /// No callbacks, no tools, and the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers questions about tool calls: the same type that answers them in
    /// process. Without it, what would ask is denied.
    ///
    /// The [`digest`](windlass_types::PermissionRequest::digest) of a request names the question, not
    /// the exact call, which does not travel. Of an agent below the main one, the id does, and neither its type nor
    /// its path: the type is empty, the path of one step that is the id.
    pub fn can_use_tool(mut self, answer: impl CanUseTool) -> Self {
        self.can_use_tool = Some(Arc::new(answer));
        self
    }

    /// Adds a hook: the same type that runs in process, merged in the same way.
    /// One that fails on a gate closes it. SessionStart and SessionEnd are asked
    /// only if the other side asks about them.
    pub fn hook(mut self, hook: impl Hook) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Serves tools of this process to the agent, as an MCP server of this name:
    /// the model knows them as `mcp__<server>__<tool>`.
    ///
    /// Their [`ToolCx`](windlass_tool::ToolCx) has no workspace and no programs,
    /// which are at the other end.
    pub fn tools(mut self, server: impl Into<String>, tools: ToolSet) -> Self {
        self.tools.insert(server.into(), tools);
        self
    }

    /// A system prompt instead of the built-in one; none at all if empty.
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.session.system_prompt = Some(text.into());
        self
    }

    /// A text behind the system prompt.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.session.append_system_prompt = Some(text.into());
        self
    }

    /// The JSON Schema that answers must fit; they come as
    /// [`structured_output`](crate::client::ResultMessage::structured_output).
    pub fn json_schema(mut self, schema: JsonText) -> Self {
        self.session.json_schema = Some(schema);
        self
    }

    /// Definitions of agents that the model can give tasks to: an object with one for each name.
    /// [`Program::agent`](super::Program::agent) chooses one that the session itself is.
    pub fn agents(mut self, definitions: JsonText) -> Self {
        self.session.agents = Some(definitions);
        self
    }

    /// Shows the texts and thoughts of agents below the main one, beside their calls and results. Default: no.
    pub fn forward_subagent_text(mut self, on: bool) -> Self {
        self.session.forward_subagent_text = on;
        self
    }

    /// Most bytes of a line, in both directions. Default: 64 MiB.
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.limits.max_line = bytes;
        self
    }

    /// Most bytes of messages that wait to be read. When there are more, the
    /// other side is made to wait; only while an order waits for its answer may
    /// there be twice as many. Default: 16 MiB.
    pub fn max_waiting(mut self, bytes: usize) -> Self {
        self.limits.max_waiting = bytes;
        self
    }

    /// How long an order may wait for its answer. Default: 60 s.
    pub fn order_timeout(mut self, limit: Duration) -> Self {
        self.limits.order_timeout = limit;
        self
    }

    /// How long the other side may take to be ready. Default: 60 s.
    pub fn initialize_timeout(mut self, limit: Duration) -> Self {
        self.limits.initialize_timeout = limit;
        self
    }

    /// How long all hooks of one occasion may take; after that a gate is closed. Default: 60 s.
    pub fn hook_timeout(mut self, limit: Duration) -> Self {
        self.limits.hook_timeout = limit;
        self
    }

    /// How long a program may take to end by itself, and again after it was asked
    /// to terminate, before it is killed. Default: 5 s.
    pub fn patience(mut self, limit: Duration) -> Self {
        self.limits.patience = limit;
        self
    }

    /// Random ids. Default: from the operating system.
    pub fn ids(mut self, ids: Arc<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }
}
