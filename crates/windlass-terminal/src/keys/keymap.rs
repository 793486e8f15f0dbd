//! Keys as data: the user can change the key of each action.

use super::{Key, KeyAction, KeyError, defaults, normal};
use serde_json::Value;
use std::collections::BTreeMap;
use windlass_types::near::nearest;

/// Most keys of a keymap.
const MOST_KEYS: usize = 1000;

/// Keys and the actions that they stand for.
///
/// Settings change single keys; all others keep their default. The name of an action gives the key to it, and `null`
/// takes the key away:
///
/// ```
/// use windlass_terminal::keys::{KeyAction, Keymap};
///
/// let settings = serde_json::json!({ "ctrl+x": "external-editor", "ctrl+z": null });
/// let keymap = Keymap::from_settings(&settings)?;
/// assert_eq!(keymap.action("ctrl+x".parse()?), Some(KeyAction::ExternalEditor));
/// assert_eq!(keymap.action("ctrl+z".parse()?), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    actions: BTreeMap<Key, KeyAction>,
}

impl Default for Keymap {
    fn default() -> Self {
        let bindings = defaults::BINDINGS.iter();
        Self { actions: bindings.filter_map(|(key, action)| Some((key.parse().ok()?, *action))).collect() }
    }
}

/// A keymap of settings that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeymapError {
    /// The keymap is no object.
    #[error("the keymap is no object: write keys and actions, such as {{\"ctrl+x\": \"external-editor\"}}")]
    NoObject,
    /// The keymap has too many keys.
    #[error("the keymap has {0} keys, more than {MOST_KEYS}: remove some")]
    TooMany(usize),
    /// A text names no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A name is no action.
    #[error("the key {key:?} has the unknown action {action}{}", suggestion(.meant.as_deref()))]
    UnknownAction {
        /// The key as it was written.
        key: String,
        /// The action as it was written, in JSON.
        action: String,
        /// The action that was probably meant.
        meant: Option<&'static str>,
    },
    /// No key is left for an action without which windlass cannot be used.
    #[error("no key is left for the action {0:?}: give it one")]
    Unreachable(&'static str),
}

fn suggestion(name: Option<&str>) -> String {
    name.map_or_else(|| ": `?` on an empty line lists them".to_owned(), |name| format!(": did you mean {name:?}?"))
}

impl Keymap {
    /// The default keymap with the changes of a settings file.
    ///
    /// # Errors
    /// The first key or action that is not known, or an action that has to have a key and lost the last one.
    pub fn from_settings(settings: &Value) -> Result<Self, KeymapError> {
        let settings = settings.as_object().ok_or(KeymapError::NoObject)?;
        if settings.len() > MOST_KEYS {
            return Err(KeymapError::TooMany(settings.len()));
        }
        let mut keymap = Self::default();
        for (name, action) in settings {
            let key: Key = name.parse()?;
            match action {
                Value::Null => {
                    keymap.actions.remove(&key);
                }
                Value::String(text) => {
                    let action = KeyAction::named(text).ok_or_else(|| unknown(name, action))?;
                    keymap.actions.insert(key, action);
                }
                _ => return Err(unknown(name, action)),
            }
        }
        // A person who cannot send, stop or leave is stuck.
        for needed in [KeyAction::Submit, KeyAction::Interrupt, KeyAction::Cancel] {
            if keymap.keys(needed).next().is_none() {
                return Err(KeymapError::Unreachable(needed.name()));
            }
        }
        Ok(keymap)
    }

    /// The action of a key; `None` if it has none and types its character.
    #[must_use]
    pub fn action(&self, key: Key) -> Option<KeyAction> {
        self.actions.get(&normal(key)).copied()
    }

    /// The keys of an action.
    pub fn keys(&self, action: KeyAction) -> impl Iterator<Item = Key> {
        self.actions.iter().filter(move |(_, known)| **known == action).map(|(key, _)| *key)
    }

    /// Lines of the help: the keys of each action that has some, and what it does.
    #[must_use]
    pub fn help(&self) -> Vec<(String, &'static str)> {
        let listed = |action: &KeyAction| {
            let keys: Vec<String> = self.keys(*action).map(|key| key.to_string()).collect();
            (!keys.is_empty()).then(|| (keys.join(", "), action.description()))
        };
        KeyAction::ALL.iter().filter_map(listed).collect()
    }
}

fn unknown(key: &str, action: &Value) -> KeymapError {
    let names = KeyAction::ALL.iter().map(|action| action.name());
    let meant = action.as_str().and_then(|text| nearest(text, names).first().copied());
    KeymapError::UnknownAction { key: key.to_owned(), action: action.to_string(), meant }
}
