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

/// Most characters of a hook in its name.
const MOST_SHOWN: usize = 80;

/// A hook as a settings file, a skill, an agent or a plugin defines it.
///
/// ```
/// use windlass_hooks::HookDefinition;
/// use windlass_types::HookEventName::PreToolUse;
///
/// let guard = HookDefinition::command("./guard.sh").on(PreToolUse).for_tools("Bash|Write")?;
/// assert_eq!(guard.to_string(), "./guard.sh");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookDefinition {
    /// The event that it listens to.
    pub event: HookEventName,
    /// Which occasions of the event it is about. Default: all.
    pub matcher: HookMatcher,
    /// A permission rule that the call must meet (`if`). Events without a call are not tested. Default: none.
    pub condition: Option<Condition>,
    /// What is run.
    pub handler: HookHandler,
    /// The longest that it may take. Default: see [`HookDefinition::time_limit`].
    pub timeout: Option<Duration>,
    /// What its failure means on a gate.
    pub on_failure: OnFailure,
    /// Whether it runs once in a session at most. Default: no.
    pub once: bool,
    /// What people read while it runs.
    pub status_message: Option<String>,
}

/// What a failure of a hook means on a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "a gate is closed or open")]
pub enum OnFailure {
    /// The gate closes: the call is denied, the prompt blocked.
    #[default]
    Block,
    /// The failure is reported, and the run continues.
    Continue,
}

/// What a hook runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookHandler {
    /// A program.
    Command(CommandHandler),
    /// A request to a server.
    Http(HttpHandler),
    /// A tool of an MCP server that is connected.
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
    /// Whether the run waits for it.
    pub background: Background,
}

/// Whether a run waits for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "what runs hooks must know each way")]
pub enum Background {
    /// It does.
    #[default]
    No,
    /// It does not. What the program adds is read with the next prompt or result of a tool.
    Async,
    /// It does not, and exit code 2 wakes the model with standard error.
    Rewake,
}

/// A request that a hook makes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpHandler {
    /// Where the event is posted to.
    pub url: String,
    /// Headers. `$NAME` and `${NAME}` stand for variables, of those that are allowed.
    pub headers: BTreeMap<String, String>,
    /// The variables that headers may have.
    pub allowed_env_vars: Vec<String>,
}

/// A tool that a hook calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpToolHandler {
    /// The server, as it is configured.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// Its input. `${path.to.field}` in a text stands for a field of the event.
    pub input: Map<String, Value>,
}

/// A question for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelHandler {
    /// The question. `$ARGUMENTS` stands for the event; without it the event stands behind the question.
    pub prompt: String,
    /// The model. Default: that of the session.
    pub model: Option<String>,
    /// Whether a no after a tool is feedback instead of the end of the run.
    pub continue_on_block: bool,
}

impl HookHandler {
    /// The word of the key `type`.
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
    /// What [`time_limit`](Self::time_limit) says of most programs, requests and tools: ten minutes.
    pub const TIME_LIMIT: Duration = Duration::from_secs(600);

    /// A hook before each call of a tool.
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

    /// A hook that has bash run a line, with the event on its standard input, before each call of a tool.
    #[must_use]
    pub fn command(line: impl Into<String>) -> Self {
        let (command, args, background) = (line.into(), None, Background::No);
        Self::new(HookHandler::Command(CommandHandler { command, args, background }))
    }

    /// Listens to this event instead. The matcher is kept.
    #[must_use]
    pub fn on(mut self, event: HookEventName) -> Self {
        self.event = event;
        self
    }

    /// Listens to the occasions that a matcher means, such as `Bash|Write`. Call it behind [`on`](Self::on).
    ///
    /// # Errors
    /// The matcher cannot be used.
    pub fn for_tools(mut self, matcher: &str) -> Result<Self, String> {
        self.matcher = HookMatcher::parse(Some(matcher), self.event)?;
        Ok(self)
    }

    /// Sets the longest that it may take.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Lets the run continue when it fails.
    #[must_use]
    pub fn continuing_on_failure(mut self) -> Self {
        self.on_failure = OnFailure::Continue;
        self
    }

    /// The longest that it may take: what was set, or else ten minutes, 30 seconds for a model and for a prompt of the
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

    /// `true` if one of two hooks can run for both on an occasion that both are about.
    pub(crate) fn does_the_same(&self, other: &Self) -> bool {
        self.event == other.event && self.handler == other.handler
    }

    /// Order of hooks that run the same: one whose failure closes the gate is the strictest, then one that runs each time, then one
    /// with more time to answer.
    #[must_use]
    pub fn strictness(&self) -> (bool, bool, Duration) {
        (self.on_failure == OnFailure::Block, !self.once, self.time_limit())
    }

    pub(crate) fn row(&self) -> EventRow {
        EventRow::of(self.event)
    }
}

/// What it runs, in a line of at most 80 characters: its name in events and messages.
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
