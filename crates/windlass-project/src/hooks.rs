//! Hooks of settings files.

use crate::canonical::content_of;
use serde_json::Value;
use windlass_hook_runner::{BrokenHook, HookDefinition, read_hooks};

/// The keys of a settings file that are about hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookSettings {
    /// Hooks that can run, in order.
    pub hooks: Vec<HookDefinition>,
    /// Unusable hooks of gates whose failure closes the gate, in order.
    pub broken: Vec<BrokenHook>,
    /// Ignored parts of the key `hooks`, one sentence each.
    pub notes: Vec<String>,
    /// `true` if hooks are switched off (`disableAllHooks`).
    pub disabled: bool,
    /// In a managed file, `true` if hooks of other files are ignored (`allowManagedHooksOnly`).
    pub managed_only: bool,
    /// Allowed URLs of hook requests, if the file has the list (`allowedHttpHookUrls`).
    pub urls: Option<Vec<String>>,
    /// Names of variables that hook requests may contain, if the file has the list (`httpHookAllowedEnvVars`).
    pub variables: Option<Vec<String>>,
    content: String,
}

impl HookSettings {
    /// Reads the value of the key `hooks`.
    pub(crate) fn read(value: &Value) -> Self {
        let read = read_hooks(value);
        let is_empty = read.hooks.is_empty() && read.broken.is_empty() && read.notes.is_empty();
        let content = if is_empty { String::new() } else { content_of(value) };
        Self { hooks: read.hooks, broken: read.broken, notes: read.notes, content, ..Self::default() }
    }

    /// Returns `true` if the key `hooks` is absent or empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// Returns the key as it is written, in one form.
    pub(crate) fn content(&self) -> &str {
        &self.content
    }
}
