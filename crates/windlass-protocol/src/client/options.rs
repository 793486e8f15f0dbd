//! Callbacks, tools and limits of a host.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_hook::Hook;
use windlass_permission::CanUseTool;
use windlass_tool::{Ids, SystemIds, ToolSet};
use windlass_types::JsonText;

/// Options of a host, for programs and for streams.
///
/// Callbacks run on tasks of their own, beside [`Client::next`](crate::client::Client::next): a host that does not read
/// its messages still answers. They may send control requests through a [`ClientHandle`](crate::client::ClientHandle),
/// and are dropped when the other side no longer waits.
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

/// Session options in `initialize`.
#[derive(Clone, Default)]
pub(super) struct SessionWishes {
    pub(super) system_prompt: Option<String>,
    pub(super) append_system_prompt: Option<String>,
    pub(super) json_schema: Option<JsonText>,
    pub(super) agents: Option<JsonText>,
    pub(super) forward_subagent_text: bool,
}

/// Limits of sizes and waits.
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
    /// Options without callbacks and tools, with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers permission requests: the same type that answers them in process. Without it, calls that need a request
    /// are denied.
    ///
    /// The [`digest`](windlass_types::PermissionRequest::digest) of a request identifies the request, not the exact
    /// call, which is not transmitted. For a subagent, only the id is transmitted, neither its type nor its path: the
    /// type is empty, the path is one step with the id.
    pub fn can_use_tool(mut self, answer: impl CanUseTool) -> Self {
        self.can_use_tool = Some(Arc::new(answer));
        self
    }

    /// Adds a hook: the same type that runs in process, merged in the same way. A failing gate denies. SessionStart and
    /// SessionEnd are called only if the other side requests that.
    pub fn hook(mut self, hook: impl Hook) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Serves tools of this process to the agent, as an MCP server of this name: the model knows them as
    /// `mcp__<server>__<tool>`.
    ///
    /// The [`ToolCx`](windlass_tool::ToolCx) of these tools has no workspace and no programs, which are at the other
    /// end.
    pub fn tools(mut self, server: impl Into<String>, tools: ToolSet) -> Self {
        self.tools.insert(server.into(), tools);
        self
    }

    /// Replaces the built-in system prompt; none at all if empty.
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.session.system_prompt = Some(text.into());
        self
    }

    /// Appends a text to the system prompt.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.session.append_system_prompt = Some(text.into());
        self
    }

    /// Sets the JSON Schema of the output, which is returned as
    /// [`structured_output`](crate::client::ResultMessage::structured_output).
    pub fn json_schema(mut self, schema: JsonText) -> Self {
        self.session.json_schema = Some(schema);
        self
    }

    /// Sets the definitions of agents that the model can give tasks to: an object with one for each name.
    /// [`Program::agent`](super::Program::agent) chooses the main agent.
    pub fn agents(mut self, definitions: JsonText) -> Self {
        self.session.agents = Some(definitions);
        self
    }

    /// Forwards the texts and thinking of subagents, beside their calls and results. Default: `false`.
    pub fn forward_subagent_text(mut self, on: bool) -> Self {
        self.session.forward_subagent_text = on;
        self
    }

    /// Sets the maximum number of bytes of a line, in both directions. Default: 64 MiB.
    pub fn max_line(mut self, bytes: usize) -> Self {
        self.limits.max_line = bytes;
        self
    }

    /// Sets the maximum number of bytes of messages that wait to be read. Beyond it, the other side is made to wait;
    /// only while a control request waits for its answer may there be twice as many. Default: 16 MiB.
    pub fn max_waiting(mut self, bytes: usize) -> Self {
        self.limits.max_waiting = bytes;
        self
    }

    /// Sets the time limit of answers to control requests. Default: 60 s.
    pub fn order_timeout(mut self, limit: Duration) -> Self {
        self.limits.order_timeout = limit;
        self
    }

    /// Sets the time limit for the other side to be ready. Default: 60 s.
    pub fn initialize_timeout(mut self, limit: Duration) -> Self {
        self.limits.initialize_timeout = limit;
        self
    }

    /// Sets the time limit of all hooks of one event; after that a gate denies. Default: 60 s.
    pub fn hook_timeout(mut self, limit: Duration) -> Self {
        self.limits.hook_timeout = limit;
        self
    }

    /// Sets the time for a program to end by itself, and again after it was asked to terminate, before it is killed.
    /// Default: 5 s.
    pub fn patience(mut self, limit: Duration) -> Self {
        self.limits.patience = limit;
        self
    }

    /// Sets the source of random ids. Default: the operating system.
    pub fn ids(mut self, ids: Arc<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }
}
