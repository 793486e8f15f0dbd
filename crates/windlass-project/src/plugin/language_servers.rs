//! The language servers of a plugin.

use super::components::Components;
use super::error::PluginErrorKind;
use super::manifest::{Named, read_inside};
use crate::expand::{PLUGIN_ROOT, PLUGIN_ROOT_PLACEHOLDER};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use windlass_types::JsonText;

/// Default path of the language servers' file, if the manifest names none.
const FILE: &str = ".lsp.json";
/// Maximum number of language servers of a plugin.
const MAX_SERVERS: usize = 64;

impl Components<'_> {
    /// Returns the language servers: those of `.lsp.json`, and those of the manifest, which take precedence.
    pub(super) fn language_servers(&mut self) -> BTreeMap<String, JsonText> {
        let mut found = Map::new();
        self.add_language_file(FILE, false, &mut found);
        let parts = match self.manifest.named("lspServers") {
            None => Vec::new(),
            Some(Named::One(path)) => vec![text_of(&Value::String(path))],
            Some(Named::Many(parts)) => parts,
            Some(Named::Other(inline)) => vec![inline],
        };
        for part in parts {
            match part.to::<String>() {
                Ok(path) => self.add_language_file(&path, true, &mut found),
                Err(_) => self.add_languages("`lspServers`", part.as_str(), &mut found),
            }
        }
        if found.len() > MAX_SERVERS {
            let message =
                format!("language servers: a plugin has at most {MAX_SERVERS}, and this one has {}", found.len());
            self.error(PluginErrorKind::Component, message);
        }
        let (root, plugin) = (self.root.to_string_lossy(), &self.manifest.name);
        let of_plugin = |(name, server)| (format!("plugin:{plugin}:{name}"), text_of(&at_root(server, &root)));
        found.into_iter().take(MAX_SERVERS).map(of_plugin).collect()
    }

    fn add_language_file(&mut self, written: &str, is_required: bool, found: &mut Map<String, Value>) {
        match read_inside(self.root, written) {
            Ok(Some(text)) => self.add_languages(written, &text, found),
            Ok(None) if !is_required => {}
            Ok(None) => self.error(PluginErrorKind::Component, format!("language servers: {written} is not there")),
            Err(problem) => self.error(PluginErrorKind::Component, format!("language servers: {problem}")),
        }
    }

    fn add_languages(&mut self, place: &str, text: &str, found: &mut Map<String, Value>) {
        match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(servers) => found.extend(servers),
            Err(problem) => self.error(PluginErrorKind::Component, format!("language servers: {place}: {problem}")),
        }
    }
}

fn text_of(value: &Value) -> JsonText {
    JsonText::from_parsed(value.to_string())
}

/// Replaces the placeholder for the plugin's directory in a server, and sets the variable in its environment.
fn at_root(mut server: Value, root: &str) -> Value {
    replace(&mut server, root);
    if let Some(fields) = server.as_object_mut() {
        let env = fields.entry("env").or_insert_with(|| Value::Object(Map::new()));
        if let Some(env) = env.as_object_mut() {
            env.entry(PLUGIN_ROOT).or_insert_with(|| root.into());
        }
    }
    server
}

fn replace(value: &mut Value, root: &str) {
    match value {
        Value::String(text) if text.contains(PLUGIN_ROOT_PLACEHOLDER) => {
            *text = text.replace(PLUGIN_ROOT_PLACEHOLDER, root);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, root)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, root)),
        _ => {}
    }
}
