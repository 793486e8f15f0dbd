//! What a hook listens to.

use windlass_types::HookEventName;

/// What a hook listens to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interest {
    /// The event.
    pub event: HookEventName,
    /// Only calls of these tools; all when empty.
    pub tools: Vec<String>,
}

impl Interest {
    /// All occasions of an event.
    pub fn all(event: HookEventName) -> Self {
        Self { event, tools: Vec::new() }
    }

    /// Only calls of these tools.
    pub fn tools<I: Into<String>>(event: HookEventName, tools: impl IntoIterator<Item = I>) -> Self {
        Self { event, tools: tools.into_iter().map(Into::into).collect() }
    }

    /// Whether this covers an occasion.
    pub fn covers(&self, event: HookEventName, tool: Option<&str>) -> bool {
        self.event == event
            && (self.tools.is_empty() || tool.is_some_and(|tool| self.tools.iter().any(|name| name == tool)))
    }
}
