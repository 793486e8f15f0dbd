//! Front matter: YAML between two lines of `---` at the start of a Markdown file.
//!
//! YAML 1.2 with its core schema: `yes` is a text, `true` is a truth value. Anchors, aliases, tags and merge keys are
//! refused. Where YAML fails, [`lenient`] reads plain texts that need quotes, with a notice. A head with a
//! [problem](FrontMatter::problem) must not be used: a key that restricts might be among the unreadable ones.

mod lenient;
mod node;

use node::{Node, YamlError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Maximum size of a head in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// Splits a text into its head and its body. A text without a head is all body.
pub(crate) fn split(text: &str) -> (FrontMatter, &str) {
    let start = text.trim_start_matches('\u{feff}').trim_start_matches(['\r', '\n']);
    let Some(rest) = start.strip_prefix("---").and_then(after_line_end) else {
        return (FrontMatter::default(), text);
    };
    let mut offset = 0_usize;
    for line in rest.split_inclusive('\n') {
        let end = offset.saturating_add(line.len());
        if line.trim_end() == "---" {
            let head = rest.get(..offset).unwrap_or_default();
            return (FrontMatter::parse(head), rest.get(end..).unwrap_or_default());
        }
        offset = end;
    }
    // A ruler above prose is no head; a key shows that one was meant.
    let first = rest.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match lenient::entry(first) {
        Some(_) => (FrontMatter::unusable("the front matter is not closed: add a line `---` behind it"), text),
        None => (FrontMatter::default(), text),
    }
}

/// Returns the text after the current line, if the rest of that line is blank.
fn after_line_end(rest: &str) -> Option<&str> {
    let (line, rest) = rest.split_once('\n')?;
    line.trim().is_empty().then_some(rest)
}

/// Keys and values of a head. Keys are compared without regard to case, `-` and `_`.
#[derive(Debug, Default)]
pub(crate) struct FrontMatter {
    /// Keys as they are written and their values, by folded key.
    fields: BTreeMap<String, (String, Node)>,
    problem: Option<String>,
    notices: Vec<String>,
}

impl FrontMatter {
    fn parse(head: &str) -> Self {
        if head.len() > MAX_BYTES {
            return Self::unusable(format!("the front matter is larger than {MAX_BYTES} bytes"));
        }
        let mut parsed = Self::default();
        match node::fields(head) {
            Ok(fields) => parsed.add_all(fields),
            Err(problem) => {
                let repaired = lenient::fields(head);
                parsed.add_all(repaired.fields);
                parsed.notices = repaired.notices;
                let is_refused = repaired.broken || matches!(problem, YamlError::Refused(_));
                parsed.problem = parsed.problem.or(is_refused.then(|| unreadable(&problem)));
            }
        }
        parsed
    }

    fn unusable(problem: impl Into<String>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }

    fn add_all(&mut self, fields: Vec<(String, Node)>) {
        for (key, node) in fields {
            match self.fields.entry(folded(&key)) {
                Entry::Vacant(free) => drop(free.insert((key, node))),
                Entry::Occupied(known) => {
                    self.problem = Some(format!("the front matter has `{}` and `{key}`: keep one", known.get().0));
                }
            }
        }
    }

    /// Returns the reason why the head must not be used. Its readable keys are still there, for messages.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Notices about values that are no valid YAML and were read as plain text.
    pub(crate) fn notices(&self) -> &[String] {
        &self.notices
    }

    fn node(&self, key: &str) -> Option<&Node> {
        self.fields.get(&folded(key)).map(|(_, node)| node)
    }

    /// Returns `true` if the key is there, with a value or without.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.node(key).is_some()
    }

    /// Returns the keys as they are written, sorted.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.fields.values().map(|(key, _)| key.as_str())
    }

    /// Returns the text of a value; `None` for a key that is absent or empty. For a list, the text is its YAML source.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let text = self.node(key).filter(|node| !node.is_null())?.text();
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns the truth value; `None` for a key that is absent or empty.
    ///
    /// # Errors
    /// Another value, such as `yes`.
    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        let Some(node) = self.node(key).filter(|node| !node.is_null()) else { return Ok(None) };
        match node.text().to_ascii_lowercase().as_str() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => Err(format!("`{key}` is `true` or `false`, not `{}`", node.text())),
        }
    }

    /// Items of a list, or of a text with commas between them; empty for a key that is absent or empty. Commas in
    /// brackets do not separate.
    ///
    /// # Errors
    /// A value that is no list of texts.
    pub(crate) fn list(&self, key: &str) -> Result<Vec<String>, String> {
        let items = self.node(key).map(Node::items).transpose();
        let items = items.map_err(|problem| format!("`{key}` {problem}"))?.unwrap_or_default();
        Ok(items.into_iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect())
    }

    /// Returns rules or names of tools: a [`list`](Self::list) whose text may have blanks between items, too.
    ///
    /// # Errors
    /// The errors of [`list`](Self::list).
    pub(crate) fn rules(&self, key: &str) -> Result<Vec<String>, String> {
        match self.node(key) {
            Some(node) if node.is_scalar() => {
                let commas = self.list(key)?;
                Ok(commas.iter().flat_map(|part| windlass_permission::split_rules(part)).collect())
            }
            _ => self.list(key),
        }
    }

    /// Returns the value of any shape, by the core schema; `None` for a key that is absent.
    pub(crate) fn value(&self, key: &str) -> Option<Value> {
        self.node(key).map(Node::value)
    }
}

/// Returns the key without case, `-` and `_`.
fn folded(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

fn unreadable(problem: &YamlError) -> String {
    format!("the front matter cannot be read: {problem}")
}

#[cfg(test)]
mod tests;
