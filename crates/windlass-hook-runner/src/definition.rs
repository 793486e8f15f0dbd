//! One configured hook.

use crate::condition::Condition;
use crate::events::EventRow;
use crate::matcher::HookMatcher;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use windlass_types::HookEventName;
use windlass_types::text::visible_line;

/// Maximum number of characters of a hook's display name.
const MOST_SHOWN: usize = 80;

/// A hook as a settings file, a skill, an agent or a plugin defines it.
///
/// ```
/// use windlass_hook_runner::HookDefinition;
/// use windlass_types::HookEventName::PreToolUse;
///
/// let guard = HookDefinition::command("./guard.sh").on(PreToolUse).for_tools("Bash|Write")?;
/// assert_eq!(guard.to_string(), "./guard.sh");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookDefinition {
    /// Event that the hook listens to.
    pub event: HookEventName,
    /// Filter on the event's subject, such as the tool name. Default: all.
    pub matcher: HookMatcher,
    /// Permission rule that the call must match (`if`). Events without a call are not tested. Default: none.
    pub condition: Option<Condition>,
    /// Program, request, tool or model question that the hook runs.
    pub handler: HookHandler,
    /// Time limit. Default: see [`HookDefinition::time_limit`].
    pub timeout: Option<Duration>,
    /// Consequence of a failure on a gate.
    pub on_failure: OnFailure,
    /// `true` if the hook runs at most once in a session. Default: `false`.
    pub once: bool,
    /// Text shown to people while the hook runs.
    pub status_message: Option<String>,
}

/// Consequence of a hook's failure on a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "a gate is closed or open")]
pub enum OnFailure {
    /// The gate closes: the call is denied, the prompt blocked.
    #[default]
    Block,
    /// The failure is reported, and the run continues.
    Continue,
}

/// Handler of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookHandler {
    /// A program.
    Command(CommandHandler),
    /// A request to a server.
    Http(HttpHandler),
    /// A tool of a connected MCP server.
    McpTool(McpToolHandler),
    /// One call of a model.
    Prompt(ModelHandler),
    /// An agent that can look at files.
    Agent(ModelHandler),
}

/// A program that a hook runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandHandler {
    /// A line for bash, or the program if there are arguments.
    pub command: String,
    /// Arguments, which go to the program without a shell. Default: none, and a shell reads the command.
    pub args: Option<Vec<String>>,
    /// Mode of the program: in the foreground, or beside the run.
    pub background: Background,
}

/// Foreground or background mode of a hook program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "what runs hooks must know each way")]
pub enum Background {
    /// Foreground: the run waits for the program.
    #[default]
    No,
    /// Background. The program's additions reach the model with the next prompt or tool result.
    Async,
    /// Background, and exit code 2 wakes the model with standard error.
    Rewake,
}

/// An HTTP request made by a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpHandler {
    /// URL that receives the event in a POST request.
    pub url: String,
    /// Headers. `$NAME` and `${NAME}` are replaced by the allowed variables.
    pub headers: BTreeMap<String, String>,
    /// Variables that headers may contain.
    pub allowed_env_vars: Vec<String>,
}

/// An MCP tool called by a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpToolHandler {
    /// Name of the server in the configuration.
    pub server: String,
    /// Name of the tool on the server.
    pub tool: String,
    /// Input of the tool. `${path.to.field}` in a text is replaced by a field of the event.
    pub input: Map<String, Value>,
}

/// A question for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelHandler {
    /// The question. `$ARGUMENTS` is replaced by the event; without it the event is appended to the question.
    pub prompt: String,
    /// The model. Default: that of the session.
    pub model: Option<String>,
    /// `true` if a negative answer after a tool is feedback instead of the end of the run.
    pub continue_on_block: bool,
}

impl HookHandler {
    /// Returns the value of the key `type`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Http(_) => "http",
            Self::McpTool(_) => "mcp_tool",
            Self::Prompt(_) => "prompt",
            Self::Agent(_) => "agent",
        }
    }
}

impl HookDefinition {
    /// Default [`time_limit`](Self::time_limit) of most programs, requests and tools: ten minutes.
    pub const TIME_LIMIT: Duration = Duration::from_secs(600);

    /// Creates a hook that runs before each tool call.
    #[must_use]
    pub fn new(handler: HookHandler) -> Self {
        Self {
            event: HookEventName::PreToolUse,
            matcher: HookMatcher::all(),
            condition: None,
            handler,
            timeout: None,
            on_failure: OnFailure::Block,
            once: false,
            status_message: None,
        }
    }

    /// Creates a hook that runs a bash line before each tool call, with the event on its standard input.
    #[must_use]
    pub fn command(line: impl Into<String>) -> Self {
        let (command, args, background) = (line.into(), None, Background::No);
        Self::new(HookHandler::Command(CommandHandler { command, args, background }))
    }

    /// Sets the event. The matcher is kept.
    #[must_use]
    pub fn on(mut self, event: HookEventName) -> Self {
        self.event = event;
        self
    }

    /// Limits the hook to the events that a matcher selects, such as `Bash|Write`. Call it behind [`on`](Self::on).
    ///
    /// # Errors
    /// The matcher cannot be used.
    pub fn for_tools(mut self, matcher: &str) -> Result<Self, String> {
        self.matcher = HookMatcher::parse(Some(matcher), self.event)?;
        Ok(self)
    }

    /// Sets the time limit.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Lets the run continue when the hook fails.
    #[must_use]
    pub fn continuing_on_failure(mut self) -> Self {
        self.on_failure = OnFailure::Continue;
        self
    }

    /// Returns the time limit: the configured one, or else ten minutes, 30 seconds for a model and for a prompt of the
    /// user, 60 seconds for an agent, one and a half at the end of a session.
    #[must_use]
    pub fn time_limit(&self) -> Duration {
        let usual = match (self.event.as_str(), &self.handler) {
            ("SessionEnd", _) => Duration::from_millis(1_500),
            ("MessageDisplay", _) => Duration::from_secs(10),
            (_, HookHandler::Agent(_)) => Duration::from_secs(60),
            (_, HookHandler::Prompt(_)) | ("UserPromptSubmit", _) => Duration::from_secs(30),
            _ => Self::TIME_LIMIT,
        };
        self.timeout.unwrap_or(usual)
    }

    /// Returns `true` if both hooks have the same event and handler, so that one can run for both.
    pub(crate) fn does_the_same(&self, other: &Self) -> bool {
        self.event == other.event && self.handler == other.handler
    }

    /// Returns the rank among hooks that run the same. A hook whose failure closes the gate is the strictest, then one
    /// that runs each time, then one with more time to answer.
    #[must_use]
    pub fn strictness(&self) -> (bool, bool, Duration) {
        (self.on_failure == OnFailure::Block, !self.once, self.time_limit())
    }

    pub(crate) fn row(&self) -> EventRow {
        EventRow::of(self.event)
    }
}

/// Command or handler in a line of at most 80 characters: the hook's name in events and messages.
impl fmt::Display for HookDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match &self.handler {
            HookHandler::Command(command) => match &command.args {
                None => command.command.clone(),
                Some(args) => format!("{} {}", command.command, args.join(" ")),
            },
            HookHandler::Http(http) => http.url.clone(),
            HookHandler::McpTool(tool) => format!("{} of {}", tool.tool, tool.server),
            HookHandler::Prompt(model) | HookHandler::Agent(model) => {
                format!("{}: {}", self.handler.kind(), model.prompt)
            }
        };
        let line = visible_line(&text);
        let short: String = line.chars().take(MOST_SHOWN).collect();
        f.write_str(&short)?;
        if short.len() < line.len() { f.write_str("…") } else { Ok(()) }
    }
}
