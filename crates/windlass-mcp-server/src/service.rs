//! Services: tools that a server offers.

use crate::{Client, ClientAbility};
use async_trait::async_trait;
use std::time::Duration;
use windlass::{JsonText, ToolOutput};

/// Group of tools that a server offers.
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
    /// Returns the tools. Called each time that a client asks for them. Of two tools with one name that of the service
    /// added first is used.
    fn tools(&self) -> Vec<ServedTool>;

    /// Executes a call of one of the tools. The future is dropped when the client cancels the call or disconnects; a
    /// task continues without its client.
    async fn call(&self, call: ServedCall) -> ToolOutput;
}

/// Tool in the form for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServedTool {
    /// Name of the tool.
    pub name: String,
    /// Name for people. Default: `None`, the name of the tool.
    pub title: Option<String>,
    /// Description of the tool, for models.
    pub description: String,
    /// JSON Schema of the input, an object. Without `type` it gets `"type":"object"`.
    pub input_schema: JsonText,
    /// JSON Schema of the structured output, an object. Default: `None`.
    pub output_schema: Option<JsonText>,
    /// Hints on the tool's effects for clients. Default: those of an arbitrary tool.
    pub hints: ServedHints,
    /// Abilities that a client needs; otherwise the call is refused before it is made. Default: none.
    pub needs: Vec<ClientAbility>,
    /// Duration after which a call becomes a task, see [`with_task`](Self::with_task). Default: `None`, no call becomes
    /// a task.
    pub task_after: Option<Duration>,
}

impl ServedTool {
    /// Creates a tool with these texts and no hints.
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

    /// Lets calls that take longer than this become tasks (the extension `io.modelcontextprotocol/tasks`), for clients
    /// of 2026-07-28 that take them: the call continues while its client polls its state, answers its questions and can
    /// stop it. With zero every call is a task from its begin. Other clients wait for the result as for any other call.
    ///
    /// Questions that a call asks before it becomes a task are asked in place of its result. A task runs for at most 24
    /// hours, and its result is kept for the same time; at most 64 run at once. A tool whose calls cannot wait
    /// [needs](Self::with_need) [`ClientAbility::Tasks`].
    #[must_use]
    pub fn with_task(mut self, after: Duration) -> Self {
        self.task_after = Some(after);
        self
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Adds an ability that a client needs.
    #[must_use]
    pub fn with_need(mut self, ability: ClientAbility) -> Self {
        self.needs.push(ability);
        self
    }

    /// Sets the schema of the structured output.
    #[must_use]
    pub fn with_output_schema(mut self, schema: JsonText) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Sets the hints on the tool's effects for clients.
    #[must_use]
    pub fn with_hints(mut self, hints: ServedHints) -> Self {
        self.hints = hints;
        self
    }
}

/// Hints on a tool's effects for clients. `None` leaves the assumption to MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ServedHints {
    /// `true` if the tool changes nothing. MCP assumes `false`.
    pub read_only: Option<bool>,
    /// `true` if the tool may destroy data. MCP assumes `true` for a tool that changes something.
    pub destructive: Option<bool>,
    /// `true` if the tool reaches beyond the machine. MCP assumes `true`.
    pub open_world: Option<bool>,
}

impl ServedHints {
    /// Returns the hints of a tool that only reads data on this machine.
    #[must_use]
    pub fn reads() -> Self {
        Self { read_only: Some(true), destructive: None, open_world: Some(false) }
    }

    /// Returns the hints of a tool that changes or replaces data on this machine.
    #[must_use]
    pub fn writes() -> Self {
        Self { read_only: Some(false), destructive: Some(true), open_world: Some(false) }
    }

    /// Returns the hints of a tool that reads data on other machines.
    #[must_use]
    pub fn fetches() -> Self {
        Self { read_only: Some(true), destructive: None, open_world: Some(true) }
    }
}

/// Call of a tool.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServedCall {
    /// Name of the tool.
    pub tool: String,
    /// Input, an object. Not checked against the schema.
    pub input: JsonText,
    /// Client that calls.
    pub client: Client,
}

impl ServedCall {
    /// Creates a call of a tool by a client.
    pub fn new(tool: impl Into<String>, input: JsonText, client: Client) -> Self {
        Self { tool: tool.into(), input, client }
    }
}
