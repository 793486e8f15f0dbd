//! The head of a Markdown file: `key: value` lines between two lines of `---`.
//!
//! This is the flat part of YAML that is common there: text, also in quotes or as a block (`|`, `>`), and lists
//! (`[a, b]`, `a, b`, or one `- a` a line). What is nested deeper is read for [some keys](FrontMatter::nested) alone.

mod nested;

use serde_json::Value;
use std::collections::BTreeMap;

/// Splits a text into its head and its body. A text without a closed head is all body.
pub(crate) fn split(text: &str) -> (FrontMatter, &str) {
    let Some(rest) = text.strip_prefix("---").and_then(after_line_end) else {
        return (FrontMatter::default(), text);
    };
    let mut at = 0_usize;
    for line in rest.split_inclusive('\n') {
        let end = at.saturating_add(line.len());
        if line.trim_end() == "---" {
            let head = rest.get(..at).unwrap_or_default();
            return (FrontMatter::parse(head), rest.get(end..).unwrap_or_default());
        }
        at = end;
    }
    (FrontMatter::default(), text)
}

/// What follows a line that has only blanks left.
fn after_line_end(rest: &str) -> Option<&str> {
    let (line, rest) = rest.split_once('\n')?;
    line.trim().is_empty().then_some(rest)
}

/// The keys of a head.
#[derive(Debug, Default)]
pub(crate) struct FrontMatter(BTreeMap<String, Field>);

#[derive(Debug, Default)]
struct Field {
    /// What stands behind the colon, as it is written.
    inline: String,
    /// The indented lines and list items below, without their indentation.
    below: Vec<String>,
    /// The same with it.
    raw: Vec<String>,
}

impl FrontMatter {
    fn parse(head: &str) -> Self {
        let mut fields: BTreeMap<String, Field> = BTreeMap::new();
        let mut current: Option<String> = None;
        for line in head.lines() {
            let is_below = line.starts_with([' ', '\t']) || line.starts_with("- ") || line.trim() == "-";
            if is_below || line.trim().is_empty() {
                if let Some(field) = current.as_ref().and_then(|key| fields.get_mut(key)) {
                    field.below.push(line.trim().to_owned());
                    field.raw.push(line.to_owned());
                }
            } else if !line.starts_with('#')
                && let Some((key, value)) = line.split_once(':')
            {
                let key = key.trim().to_owned();
                // The first one counts: a person who reads the head from the top sees it first.
                current = (!fields.contains_key(&key)).then(|| key.clone());
                fields.entry(key).or_insert_with(|| Field { inline: value.trim().to_owned(), ..Field::default() });
            }
        }
        Self(fields)
    }

    /// Whether a key is there, be it empty.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// The keys, sorted.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A text; `None` for a key that is absent or empty.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let field = self.0.get(key)?;
        let lines = || field.below.iter().map(String::as_str).collect::<Vec<_>>();
        let text = match field.inline.trim_end_matches(['-', '+']) {
            "|" => lines().join("\n"),
            ">" | "" => lines().join(" "),
            _ => unquoted(&field.inline),
        };
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// A value that may be nested; `None` for a key that is absent. What is not understood is the text as it stands.
    pub(crate) fn nested(&self, key: &str) -> Option<Value> {
        let field = self.0.get(key)?;
        if field.raw.iter().all(|line| line.trim().is_empty()) {
            let inline = field.inline.as_str();
            let value = if inline.is_empty() { Some(Value::Null) } else { serde_json::from_str(inline).ok() };
            return Some(value.unwrap_or_else(|| Value::String(inline.to_owned())));
        }
        let value = if field.inline.is_empty() { nested::value(field.raw.iter().map(String::as_str)) } else { None };
        Some(value.unwrap_or_else(|| Value::String(field.raw.join("\n"))))
    }

    /// A list, however it is written. Commas in parentheses do not separate.
    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        let Some(field) = self.0.get(key) else { return Vec::new() };
        let items = match field.inline.as_str() {
            "" => field.below.iter().filter_map(|line| line.strip_prefix('-')).map(str::to_owned).collect(),
            inline => {
                let inner = inline.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(inline);
                at_commas(&unquoted(inner))
            }
        };
        items.iter().map(|item| unquoted(item.trim())).filter(|item| !item.is_empty()).collect()
    }
}

/// The parts between commas that stand outside of parentheses.
pub(crate) fn at_commas(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part);
    parts
}

/// A text without the quotes around all of it.
fn unquoted(text: &str) -> String {
    if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return inner.replace("''", "'");
    }
    // The strings of JSON are those of YAML, as far as people use them.
    match serde_json::from_str::<String>(text) {
        Ok(inner) if text.starts_with('"') => inner,
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
