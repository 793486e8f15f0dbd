//! Options of frames.

/// Options of frames for a host.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameOptions {
    /// Emits the model's own stream, and the state of requests. Default: `false`.
    pub include_partial_messages: bool,
    /// Reports runs of hooks, other than those of the host. Default: `false`.
    pub include_hook_events: bool,
    /// Reports file changes of calls. Default: `false`.
    pub include_edit_events: bool,
    /// Shows the texts and thinking of subagents, beside their calls. Default: `false`.
    pub forward_subagent_text: bool,
    /// Source of the provider's key, such as `ANTHROPIC_API_KEY`. Default: `none`.
    pub api_key_source: String,
    /// Output style of sessions. Default: `default`.
    pub output_style: String,
}

impl Default for FrameOptions {
    fn default() -> Self {
        Self {
            include_partial_messages: false,
            include_hook_events: false,
            include_edit_events: false,
            forward_subagent_text: false,
            api_key_source: "none".to_owned(),
            output_style: "default".to_owned(),
        }
    }
}

impl FrameOptions {
    /// Emits the model's own stream.
    #[must_use]
    pub fn with_partial_messages(mut self, on: bool) -> Self {
        self.include_partial_messages = on;
        self
    }

    /// Reports runs of hooks.
    #[must_use]
    pub fn with_hook_events(mut self, on: bool) -> Self {
        self.include_hook_events = on;
        self
    }

    /// Reports file changes of calls: before they run, if the session previews them, and afterwards.
    #[must_use]
    pub fn with_edit_events(mut self, on: bool) -> Self {
        self.include_edit_events = on;
        self
    }

    /// Shows the texts and thinking of subagents.
    #[must_use]
    pub fn with_subagent_text(mut self, on: bool) -> Self {
        self.forward_subagent_text = on;
        self
    }

    /// Sets the source of the key.
    #[must_use]
    pub fn with_api_key_source(mut self, source: impl Into<String>) -> Self {
        self.api_key_source = source.into();
        self
    }
    /// Sets the output style of sessions.
    #[must_use]
    pub fn with_output_style(mut self, name: impl Into<String>) -> Self {
        self.output_style = name.into();
        self
    }
}
