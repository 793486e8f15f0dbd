//! Interests of hooks.

use std::error::Error;
use std::fmt;
use windlass_types::names::{guards_of_tool, present_tool};
use windlass_types::{HookEventName, ToolMatcher, ToolMatcherError};

/// Event that a hook listens to, and the tools that limit it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interest {
    /// The event.
    pub event: HookEventName,
    /// Matchers of tools: only calls of tools that match one are covered. If empty, all occasions are.
    pub tools: Vec<ToolMatcher>,
    /// Reason why the interest can never be met. Until it is reported, all occasions are covered.
    problem: Option<InterestError>,
}

impl Interest {
    /// Covers all occasions of an event.
    pub fn all(event: HookEventName) -> Self {
        Self { event, tools: Vec::new(), problem: None }
    }

    /// Covers only calls of these tools, in the grammar of [`ToolMatcher`]: `Bash`, `Write|Edit`, `mcp__server__*`,
    /// `*`.
    ///
    /// [`Interest::check`] finds names that can never match, and a session with one does not open. Without that check,
    /// such an interest covers every occasion of the event: a gate is asked too often rather than never.
    ///
    /// ```
    /// # mod windlass { pub mod hook { pub use windlass_hook::Interest; pub use windlass_types::HookEventName; } }
    /// use windlass::hook::HookEventName::PreToolUse;
    /// use windlass::hook::Interest;
    ///
    /// let edits = Interest::tools(PreToolUse, ["Write|Edit", "mcp__files__*"]);
    /// assert!(edits.covers(PreToolUse, Some("mcp__files__write")));
    /// // Who guards `Edit` or `Write` guards every tool that writes files.
    /// assert!(edits.covers(PreToolUse, Some("NotebookEdit")) && !edits.covers(PreToolUse, Some("Read")));
    /// assert!(Interest::tools(PreToolUse, ["^Write$"]).check().is_err());
    /// ```
    pub fn tools<I: AsRef<str>>(event: HookEventName, tools: impl IntoIterator<Item = I>) -> Self {
        match matchers(event, tools) {
            Ok(tools) => Self { event, tools, problem: None },
            Err(problem) => Self { event, tools: Vec::new(), problem: Some(problem) },
        }
    }

    /// Covers only calls of tools that one of the matchers matches; all occasions when there is none.
    pub fn matching(event: HookEventName, tools: impl IntoIterator<Item = ToolMatcher>) -> Self {
        Self { event, tools: tools.into_iter().collect(), problem: None }
    }

    /// Interest of a hook that has no listener.
    pub(crate) fn none() -> Self {
        Self { event: HookEventName::Stop, tools: Vec::new(), problem: Some(InterestError::NoEvents) }
    }

    /// `true` if this covers an occasion.
    pub fn covers(&self, event: HookEventName, tool: Option<&str>) -> bool {
        let guards = |tool: &str, matcher: &ToolMatcher| {
            matcher.tool().is_some_and(|named| guards_of_tool(tool).any(|guard| guard == present_tool(named)))
        };
        let means = |tool: &str| self.tools.iter().any(|matcher| matcher.matches(tool) || guards(tool, matcher));
        self.event == event && (self.tools.is_empty() || tool.is_some_and(means))
    }

    /// Checks that this can cover an occasion.
    ///
    /// # Errors
    /// No occasion can be covered, see [`InterestError`].
    pub fn check(&self) -> Result<(), InterestError> {
        match &self.problem {
            Some(problem) => Err(problem.clone()),
            None if !self.tools.is_empty() && !self.event.is_about_tools() => {
                Err(InterestError::NotAboutTools { event: self.event })
            }
            None => Ok(()),
        }
    }
}

fn matchers<I: AsRef<str>>(
    event: HookEventName,
    tools: impl IntoIterator<Item = I>,
) -> Result<Vec<ToolMatcher>, InterestError> {
    if !event.is_about_tools() {
        return Err(InterestError::NotAboutTools { event });
    }
    let mut matchers = Vec::new();
    for text in tools {
        let list = ToolMatcher::list(text.as_ref()).map_err(|source| InterestError::Matcher { event, source })?;
        matchers.extend(list);
    }
    if matchers.is_empty() { Err(InterestError::NoTools { event }) } else { Ok(matchers) }
}

/// Reason why a hook would never be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterestError {
    /// The hook was made without a closure.
    NoEvents,
    /// A name or pattern of tools can never match.
    Matcher {
        /// The event.
        event: HookEventName,
        /// Name or pattern, and the problem with it.
        source: ToolMatcherError,
    },
    /// The list of tools is empty.
    NoTools {
        /// The event.
        event: HookEventName,
    },
    /// Tools are named, but the event is not about a tool.
    NotAboutTools {
        /// The event.
        event: HookEventName,
    },
}

impl fmt::Display for InterestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEvents => write!(f, "it listens to no event: give it a closure, such as with `before_tool`"),
            Self::Matcher { event, source } => write!(f, "it listens to {event} of tools, but {source}"),
            Self::NoTools { event } => {
                write!(f, "it listens to {event} of no tool: name at least one, or `*` for every tool")
            }
            Self::NotAboutTools { event } => {
                write!(f, "it listens to {event} of certain tools, but {event} is not about a tool: leave them out")
            }
        }
    }
}

impl Error for InterestError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Matcher { source, .. } => Some(source),
            _ => None,
        }
    }
}
