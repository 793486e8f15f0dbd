//! Options for hosts: what events show, and what an editor contributes.

use super::{OptionChange, Options};
use std::sync::Arc;
use windlass_runtime::Diagnostics;

/// Options of the events that a host gets, and of what an editor contributes. Values that are not set stay as they are.
///
/// ```
/// use windlass::options::HostOptions;
///
/// let query = windlass::query("Rename the field").host(HostOptions::new().preview_edits(true));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct HostOptions {
    preview_edits: Option<bool>,
    hook_events: Option<bool>,
    partial_messages: Option<bool>,
    diagnostics: Option<Arc<dyn Diagnostics>>,
    /// Values that features bring.
    pub(crate) changes: Vec<OptionChange>,
}

impl HostOptions {
    /// No value is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes the file changes of a call as a diff before the call runs. Permission requests and events carry the diff
    /// (`PermissionRequest::edits`, `ToolStarted::edits`). Covers the built-in editing tools and others with a
    /// [`preview`](crate::Tool::preview). Default: `false`.
    pub fn preview_edits(mut self, on: bool) -> Self {
        self.preview_edits = Some(on);
        self
    }

    /// Reports the start of hooks as an event ([`EventKind::HooksStarted`](crate::EventKind::HooksStarted)), not only
    /// their outcomes. Default: `false`.
    pub fn hook_events(mut self, on: bool) -> Self {
        self.hook_events = Some(on);
        self
    }

    /// Emits every frame of the model's stream as the provider sent it. Default: `false`.
    pub fn partial_messages(mut self, on: bool) -> Self {
        self.partial_messages = Some(on);
        self
    }

    /// Source of compiler and linter diagnostics, such as an editor. Asked about files before and after a call changes
    /// them. The model reads new diagnostics with its next turn. Default: none.
    pub fn diagnostics(mut self, source: impl Diagnostics) -> Self {
        self.diagnostics = Some(Arc::new(source));
        self
    }

    pub(crate) fn apply(self, options: &mut Options) {
        let surroundings = &mut options.surroundings;
        surroundings.previews_edits = self.preview_edits.unwrap_or(surroundings.previews_edits);
        surroundings.diagnostics = self.diagnostics.or(surroundings.diagnostics.take());
        options.limits.hook_starts = self.hook_events.unwrap_or(options.limits.hook_starts);
        options.model.requests.raw_frames = self.partial_messages.unwrap_or(options.model.requests.raw_frames);
        self.changes.iter().for_each(|change| change.apply(options));
    }
}

impl std::fmt::Debug for HostOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostOptions")
            .field("preview_edits", &self.preview_edits)
            .field("hook_events", &self.hook_events)
            .field("partial_messages", &self.partial_messages)
            .finish_non_exhaustive()
    }
}
