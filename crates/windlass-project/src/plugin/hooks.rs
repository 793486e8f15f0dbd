//! The hooks of a plugin.

use super::components::Components;
use super::error::PluginErrorKind;
use super::manifest::{Named, read_inside};
use serde_json::Value;
use windlass_hook_runner::{BrokenHook, HookDefinition, read_hooks};
use windlass_types::JsonText;

/// Default path of the hooks file.
const FILE: &str = "hooks/hooks.json";

/// The hooks of a plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PluginHooks {
    /// Usable hooks, in order.
    pub all: Vec<HookDefinition>,
    /// Unusable hooks of gates: a session must not start without them.
    pub broken: Vec<BrokenHook>,
}

impl Components<'_> {
    /// Returns the hooks: those of `hooks/hooks.json`, then those that the manifest names by path or has itself.
    pub(super) fn hooks(&mut self) -> PluginHooks {
        let mut hooks = PluginHooks::default();
        self.add_hooks_file(FILE, false, &mut hooks);
        match self.manifest.named("hooks") {
            None => {}
            Some(Named::One(path)) => self.add_hooks_file(&path, true, &mut hooks),
            Some(Named::Many(parts)) => {
                for part in parts {
                    match part.to::<String>() {
                        Ok(path) => self.add_hooks_file(&path, true, &mut hooks),
                        Err(_) => self.add_hooks("plugin.json", &part, &mut hooks),
                    }
                }
            }
            Some(Named::Other(inline)) => self.add_hooks("plugin.json", &inline, &mut hooks),
        }
        hooks
    }

    fn add_hooks_file(&mut self, written: &str, is_required: bool, hooks: &mut PluginHooks) {
        let is_read_already = is_required && written.trim_start_matches("./") == FILE;
        let read = read_inside(self.root, written).and_then(|text| match text {
            Some(text) => JsonText::parse_strict(&text).map(Some).map_err(|error| format!("{written}: {error}")),
            None if is_required => Err(format!("{written}: it is not there")),
            None => Ok(None),
        });
        match read {
            Ok(Some(json)) if !is_read_already => self.add_hooks(written, &json, hooks),
            Ok(_) => {}
            // The calls that the file would have denied are unknown.
            Err(problem) => hooks.broken.push(BrokenHook::unread(written, problem)),
        }
    }

    /// Adds the hooks of an object: below its key `hooks`, or the object itself.
    fn add_hooks(&mut self, file: &str, json: &JsonText, hooks: &mut PluginHooks) {
        let value: Value = json.to().unwrap_or_default();
        let read = read_hooks(value.get("hooks").unwrap_or(&value));
        hooks.all.extend(read.hooks);
        hooks.broken.extend(read.broken);
        for note in read.notes {
            self.error(PluginErrorKind::Component, format!("{file}: {note}"));
        }
    }
}
