//! Hooks of settings files.

use crate::canonical::content_of;
use serde_json::Value;
use windlass_hook_runner::{BrokenHook, HookDefinition, read_hooks};

/// Settings about hooks in one settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookSettings {
    /// Hooks that can run, in order.
    pub hooks: Vec<HookDefinition>,
    /// Unusable hooks whose failure must deny the call, in file order.
    pub broken: Vec<BrokenHook>,
    /// Ignored parts of the key `hooks`, one sentence each.
    pub notes: Vec<String>,
    /// `true` if hooks are switched off (`disableAllHooks`).
    pub disabled: bool,
    /// In a managed file, `true` if hooks of other files are ignored (`allowManagedHooksOnly`).
    pub managed_only: bool,
    /// URLs that HTTP hooks may request, if the file has the list (`allowedHttpHookUrls`).
    pub urls: Option<Vec<String>>,
    /// Names of environment variables that HTTP hooks may expand, if the file has the list (`httpHookAllowedEnvVars`).
    pub variables: Option<Vec<String>>,
    canonical_hooks: String,
}

impl HookSettings {
    /// Reads the value of the key `hooks`.
    pub(crate) fn read(value: &Value) -> Self {
        let read = read_hooks(value);
        let is_empty = read.hooks.is_empty() && read.broken.is_empty() && read.notes.is_empty();
        let content = if is_empty { String::new() } else { content_of(value) };
        Self { hooks: read.hooks, broken: read.broken, notes: read.notes, canonical_hooks: content, ..Self::default() }
    }

    /// Returns `true` if the key `hooks` is absent or empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.canonical_hooks.is_empty()
    }

    /// Returns the value of the key `hooks` as canonical JSON; empty if the key is absent.
    pub(crate) fn content(&self) -> &str {
        &self.canonical_hooks
    }
}
