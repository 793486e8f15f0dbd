//! Hooks in the head of a command or a skill.

use crate::canonical::content_of;
use crate::front_matter::FrontMatter;
use windlass_hook_runner::{HookDefinition, read_hooks};

/// The hooks of a command or a skill. They apply to the runs that use it, from its use on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CommandHooks {
    /// Usable hooks, in order.
    pub all: Vec<HookDefinition>,
    /// Ignored parts, one sentence each.
    pub notes: Vec<String>,
    /// Problem of an unusable hook of a gate, which makes the command unusable: without the hook it would do too much.
    pub(super) broken: Option<String>,
    /// Value of the key `hooks` as canonical JSON. Empty without hooks.
    content: String,
}

impl CommandHooks {
    pub(super) fn of(head: &FrontMatter) -> Self {
        let Some(value) = head.value("hooks").filter(|value| !value.is_null()) else { return Self::default() };
        let read = read_hooks(&value);
        let broken = read.broken.first().map(ToString::to_string);
        Self { all: read.hooks, notes: read.notes, broken, content: content_of(&value) }
    }

    /// Returns the hooks that trust has to cover, in one canonical text. `None`: there is no hook.
    pub(super) fn content(&self) -> Option<&str> {
        (!self.content.is_empty()).then_some(self.content.as_str())
    }
}
