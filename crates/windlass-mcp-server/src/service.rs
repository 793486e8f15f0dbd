//! What a server offers.

use crate::{Client, ClientAbility};
use async_trait::async_trait;
use std::time::Duration;
use windlass::{JsonText, ToolOutput};

/// Some of the tools that a server offers.
///
/// ```
/// use windlass::{JsonText, ToolOutput, async_trait};
/// use windlass_mcp_server::{McpService, ServedCall, ServedTool};
///
/// /// Says what it is given.
/// struct Echo;
///
/// #[async_trait]
/// impl McpService for Echo {
///     fn tools(&self) -> Vec<ServedTool> {
///         vec![ServedTool::new("echo", "Says what it is given.", JsonText::empty_object())]
///     }
///
///     async fn call(&self, call: ServedCall) -> ToolOutput {
///         call.client.progress("speaking").await;
///         ToolOutput::text(call.input.as_str())
///     }
/// }
/// ```
#[async_trait]
pub trait McpService: Send + Sync + 'static {
    /// The tools, each time that a client asks for them. Of two with one name that of the service that was added first counts.
    fn tools(&self) -> Vec<ServedTool>;

    /// Carries out a call of one of the tools. The future is dropped when the client cancels the call or is gone; a task
    /// continues without its client.
    async fn call(&self, call: ServedCall) -> ToolOutput;
}

/// A tool as clients see it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedTool {
    /// Its name.
    pub name: String,
    /// What it is called for people. Default: its name.
    pub title: Option<String>,
    /// What it does, for models.
    pub description: String,
    /// The JSON Schema of its input, an object. Without `type` it is given `"type":"object"`.
    pub input_schema: JsonText,
    /// The JSON Schema of its structured output, an object. Default: none.
    pub output_schema: Option<JsonText>,
    /// What clients are informed of its effects. Default: what any tool could do.
    pub hints: ServedHints,
    /// What a client has to be able to do, or the call is refused before it is made. Default: nothing.
    pub needs: Vec<ClientAbility>,
    /// How long a call may take until it becomes a task, see [`with_task`](Self::with_task). Default: none becomes one.
    pub task_after: Option<Duration>,
}

impl ServedTool {
    /// A tool with these words and no hints.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: JsonText) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema,
            output_schema: None,
            hints: ServedHints::default(),
            needs: Vec::new(),
            task_after: None,
        }
    }

    /// Lets calls that take longer than this become tasks (the extension `io.modelcontextprotocol/tasks`), for clients of 2026-07-28
    /// that take them: the call continues while its client asks for its state, answers its questions and can stop it. With zero
    /// every call is one from its begin. Others wait for the result as for any other.
    ///
    /// What a call asks before it becomes a task is asked in place of its result. A task runs for at most 24 hours, for as long as
    /// its result is kept; at most 64 run at once. A tool whose calls cannot wait [needs](Self::with_need)
    /// [`ClientAbility::Tasks`].
    #[must_use]
    pub fn with_task(mut self, after: Duration) -> Self {
        self.task_after = Some(after);
        self
    }

    /// Sets what it is called for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds what a client has to be able to do.
    #[must_use]
    pub fn with_need(mut self, ability: ClientAbility) -> Self {
        self.needs.push(ability);
        self
    }

    /// Sets the schema of its structured output.
    #[must_use]
    pub fn with_output_schema(mut self, schema: JsonText) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Sets what clients are informed of its effects.
    #[must_use]
    pub fn with_hints(mut self, hints: ServedHints) -> Self {
        self.hints = hints;
        self
    }
}

/// What clients are informed of a tool's effects. `None`: what MCP assumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ServedHints {
    /// It changes nothing. MCP assumes that it may.
    pub read_only: Option<bool>,
    /// It may destroy what is there. MCP assumes so of a tool that changes something.
    pub destructive: Option<bool>,
    /// It reaches beyond the machine. MCP assumes so.
    pub open_world: Option<bool>,
}

impl ServedHints {
    /// A tool that only reads what is on this machine.
    #[must_use]
    pub fn reads() -> Self {
        Self { read_only: Some(true), destructive: None, open_world: Some(false) }
    }

    /// A tool that changes or replaces what is on this machine.
    #[must_use]
    pub fn writes() -> Self {
        Self { read_only: Some(false), destructive: Some(true), open_world: Some(false) }
    }

    /// A tool that reads what is elsewhere.
    #[must_use]
    pub fn fetches() -> Self {
        Self { read_only: Some(true), destructive: None, open_world: Some(true) }
    }
}

/// A call of a tool.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedCall {
    /// The tool's name.
    pub tool: String,
    /// Its input, an object. It is not checked against the schema.
    pub input: JsonText,
    /// Who calls.
    pub client: Client,
}

impl ServedCall {
    /// A call of a tool by a client.
    pub fn new(tool: impl Into<String>, input: JsonText, client: Client) -> Self {
        Self { tool: tool.into(), input, client }
    }
}
