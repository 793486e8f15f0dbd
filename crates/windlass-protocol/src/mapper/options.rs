//! How frames are written.

/// What a host wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameOptions {
    /// Whether the model's own stream is handed on, and the state of requests. Default: no.
    pub include_partial_messages: bool,
    /// Whether runs of hooks are reported, other than those of the host. Default: no.
    pub include_hook_events: bool,
    /// Whether it is reported what calls change in files. Default: no.
    pub include_edit_events: bool,
    /// Whether the texts and thoughts of agents below the main one are shown, beside their calls. Default: no.
    pub forward_subagent_text: bool,
    /// Where the key of the provider came from, such as `ANTHROPIC_API_KEY`. Default: `none`.
    pub api_key_source: String,
    /// The output style of sessions. Default: `default`.
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
    /// Hands on the model's own stream.
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

    /// Reports what calls change in files: before they run, where the session looks at that beforehand, and behind it.
    #[must_use]
    pub fn with_edit_events(mut self, on: bool) -> Self {
        self.include_edit_events = on;
        self
    }

    /// Shows the texts and thoughts of agents below the main one.
    #[must_use]
    pub fn with_subagent_text(mut self, on: bool) -> Self {
        self.forward_subagent_text = on;
        self
    }

    /// Sets where the key came from.
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
