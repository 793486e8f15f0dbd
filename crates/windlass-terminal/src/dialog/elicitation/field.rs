//! A field of a form: a text, a number, a yes or no, or a choice.

use super::super::content::{DialogLine, note, wrapped};
use super::super::{DialogRow, DialogRowKind, editor, form, key_of, write};
use crate::composer::Composer;
use crate::input::TerminalInput;
use crate::keys::{KeyAction, KeyCode, Keymap};
use serde::Deserialize;
use serde_json::{Number, Value};
use std::collections::BTreeSet;
use windlass_types::JsonText;

/// Most options of a field.
const MOST_OPTIONS: usize = 200;

/// Kind of the values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Text,
    Number { is_whole: bool },
    Flag,
    One,
    Several,
}

/// Bounds of the values of a field: of a number, of the characters of a text, or of the number of choices.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct FieldBounds {
    least: Option<f64>,
    most: Option<f64>,
}

/// A field and what was written into it.
#[derive(Debug)]
pub(super) struct FormField {
    pub(super) name: String,
    title: String,
    description: String,
    is_required: bool,
    kind: FieldKind,
    bounds: FieldBounds,
    /// Values to choose from, with their titles.
    options: Vec<(String, String)>,
    text: Composer,
    chosen: BTreeSet<usize>,
    /// Option that the keys mark.
    at: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FieldSchema {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    #[serde(flatten)]
    options: OptionsSchema,
    items: Option<OptionsSchema>,
    default: Option<Value>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    min_length: Option<f64>,
    max_length: Option<f64>,
    min_items: Option<f64>,
    max_items: Option<f64>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct OptionsSchema {
    #[serde(rename = "enum")]
    values: Option<Vec<String>>,
    #[serde(default)]
    enum_names: Vec<String>,
    one_of: Option<Vec<TitledOption>>,
    any_of: Option<Vec<TitledOption>>,
}

#[derive(Deserialize)]
struct TitledOption {
    #[serde(rename = "const")]
    value: String,
    #[serde(default)]
    title: String,
}

impl OptionsSchema {
    /// The values with their titles; `None` if there is nothing to choose.
    fn read(self) -> Option<Vec<(String, String)>> {
        if let Some(values) = self.values {
            let titles = self.enum_names.into_iter().map(Some).chain(std::iter::repeat(None));
            let titled =
                values.into_iter().zip(titles).map(|(value, title)| (title.unwrap_or_else(|| value.clone()), value));
            return Some(titled.map(|(title, value)| (value, title)).collect());
        }
        let titled = self.one_of.or(self.any_of)?.into_iter().map(|option| {
            let title = if option.title.is_empty() { option.value.clone() } else { option.title };
            (option.value, title)
        });
        Some(titled.collect())
    }
}

impl FormField {
    /// A field with its default; `None` if forms cannot have it.
    pub(super) fn new(name: &str, schema: &JsonText, is_required: bool) -> Option<Self> {
        let schema: FieldSchema = schema.to().ok()?;
        let bounds = |least, most| FieldBounds { least, most };
        let own = schema.options.read();
        let (kind, options, bounds) = match (schema.kind.as_str(), own) {
            ("string", Some(options)) => (FieldKind::One, options, FieldBounds::default()),
            ("string", None) => (FieldKind::Text, Vec::new(), bounds(schema.min_length, schema.max_length)),
            ("number", None) => {
                (FieldKind::Number { is_whole: false }, Vec::new(), bounds(schema.minimum, schema.maximum))
            }
            ("integer", None) => {
                (FieldKind::Number { is_whole: true }, Vec::new(), bounds(schema.minimum, schema.maximum))
            }
            ("boolean", None) => {
                let options =
                    [("true", "yes"), ("false", "no")].map(|(value, title)| (value.to_owned(), title.to_owned()));
                (FieldKind::Flag, options.into(), FieldBounds::default())
            }
            ("array", None) => (FieldKind::Several, schema.items?.read()?, bounds(schema.min_items, schema.max_items)),
            _ => return None,
        };
        if options.len() > MOST_OPTIONS {
            return None;
        }
        let title = if schema.title.is_empty() { name } else { &schema.title };
        let mut field = Self {
            name: name.to_owned(),
            title: note(title),
            description: note(&schema.description),
            is_required,
            kind,
            bounds,
            options,
            text: editor(),
            chosen: BTreeSet::new(),
            at: 0,
        };
        field.set(schema.default.as_ref());
        Some(field)
    }

    fn set(&mut self, default: Option<&Value>) {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match (self.kind, default) {
            (_, None | Some(Value::Null)) => {}
            (FieldKind::Text | FieldKind::Number { .. }, Some(value)) => self.text.paste(&text(value)),
            (_, Some(value)) => {
                let values = value.as_array().map_or_else(|| vec![text(value)], |all| all.iter().map(text).collect());
                let chosen = self.options.iter().enumerate().filter(|(_, (option, _))| values.contains(option));
                self.chosen = chosen.map(|(at, _)| at).collect();
                self.at = self.chosen.first().copied().unwrap_or_default();
            }
        }
    }

    /// Text that the person has written.
    pub(super) fn written(&self) -> Option<String> {
        let text = self.text.expanded();
        (!text.trim().is_empty()).then_some(text)
    }

    /// The rows, and the place of the caret in them.
    pub(super) fn rows(&self, is_current: bool, columns: usize) -> (Vec<DialogRow>, (usize, usize)) {
        let (mark, kind) = form::marked(is_current);
        let star = if self.is_required { " (required)" } else { "" };
        let title = DialogLine::new(kind, mark, format!("{}{star}:", self.title));
        let mut rows = wrapped(&title, columns);
        if !self.description.is_empty() && is_current {
            rows.extend(wrapped(&DialogLine::new(DialogRowKind::Note, "    ", self.description.as_str()), columns));
        }
        let mut caret = (rows.len(), 4);
        if self.options.is_empty() && !matches!(self.kind, FieldKind::One | FieldKind::Several) {
            let view = self.text.view(columns.saturating_sub(4), 3);
            caret = (rows.len().saturating_add(view.caret_row), view.caret_column.saturating_add(4));
            rows.extend(
                view.rows.into_iter().map(|row| DialogRow::new(DialogRowKind::Input, format!("    {}", row.text))),
            );
            return (rows, caret);
        }
        for (at, (_, title)) in self.options.iter().enumerate() {
            let is_chosen = self.chosen.contains(&at);
            let is_marked = is_current && at == self.at;
            if !is_current && !is_chosen {
                continue;
            }
            if is_marked {
                caret.0 = rows.len();
            }
            let mark = form::mark(self.kind == FieldKind::Several, is_marked, is_chosen);
            let kind = if is_marked { DialogRowKind::Selected } else { DialogRowKind::Choice };
            rows.extend(wrapped(&DialogLine::new(kind, mark, note(title)), columns));
        }
        let last = rows.len().saturating_sub(1);
        (rows, (caret.0.min(last), 0))
    }

    /// Takes an input. Returns the action that is for the form.
    pub(super) fn handle(&mut self, input: &TerminalInput, keymap: &Keymap, columns: usize) -> Option<KeyAction> {
        if matches!(self.kind, FieldKind::Text | FieldKind::Number { .. }) {
            return write(&mut self.text, input, keymap, columns.saturating_sub(4));
        }
        let key = key_of(input)?;
        if key.code == KeyCode::Char(' ') {
            self.toggle();
            return None;
        }
        let last = self.options.len().saturating_sub(1);
        match keymap.action(key)? {
            KeyAction::Up if self.at > 0 => self.at = self.at.saturating_sub(1),
            KeyAction::Down if self.at < last => self.at = self.at.saturating_add(1),
            KeyAction::Submit => {
                if self.kind != FieldKind::Several {
                    self.chosen.clear();
                    self.toggle();
                }
                return Some(KeyAction::Submit);
            }
            action => return Some(action),
        }
        None
    }

    /// Chooses the marked option, or no longer.
    fn toggle(&mut self) {
        let was_chosen = self.chosen.contains(&self.at);
        if self.kind != FieldKind::Several {
            self.chosen.clear();
        }
        if was_chosen {
            self.chosen.remove(&self.at);
        } else if self.at < self.options.len() {
            self.chosen.insert(self.at);
        }
    }

    /// The value; `None` if none was written.
    ///
    /// # Errors
    /// The reason why the value cannot be sent, for the person.
    pub(super) fn value(&self) -> Result<Option<Value>, String> {
        let value = match self.kind {
            FieldKind::Text => self.written().map(Value::String),
            FieldKind::Number { is_whole } => {
                self.written().map(|text| self.number(text.trim(), is_whole)).transpose()?
            }
            FieldKind::Flag => self.chosen.first().map(|at| Value::Bool(*at == 0)),
            FieldKind::One => self.values().next(),
            FieldKind::Several if self.chosen.is_empty() && !self.is_required => None,
            FieldKind::Several => Some(self.values().collect()),
        };
        match &value {
            None if self.is_required => Err(format!("{} needs a value.", self.title)),
            None => Ok(None),
            Some(found) => self.check(found).map(|()| value),
        }
    }

    fn values(&self) -> impl Iterator<Item = Value> {
        let chosen = self.chosen.iter().filter_map(|at| self.options.get(*at));
        chosen.map(|(value, _)| Value::String(value.clone()))
    }

    fn number(&self, text: &str, is_whole: bool) -> Result<Value, String> {
        let whole = text.parse::<i64>().ok().map(Number::from);
        let number = if is_whole { whole } else { whole.or_else(|| Number::from_f64(text.parse().ok()?)) };
        let kind = if is_whole { "whole number" } else { "number" };
        number.map(Value::Number).ok_or_else(|| format!("{} needs a {kind}.", self.title))
    }

    /// Compares a value with the bounds.
    fn check(&self, value: &Value) -> Result<(), String> {
        let (size, unit) = match value {
            Value::Number(number) => (number.as_f64().unwrap_or_default(), ""),
            Value::String(text) => (count(text.chars().count()), " characters"),
            Value::Array(values) => (count(values.len()), " choices"),
            _ => return Ok(()),
        };
        match self.bounds {
            FieldBounds { least: Some(least), .. } if size < least => {
                Err(format!("{} needs at least {least}{unit}.", self.title))
            }
            FieldBounds { most: Some(most), .. } if size > most => {
                Err(format!("{} takes at most {most}{unit}.", self.title))
            }
            _ => Ok(()),
        }
    }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::INFINITY, f64::from)
}
