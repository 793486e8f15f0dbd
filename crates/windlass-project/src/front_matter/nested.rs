//! Values in a head that are nested: maps and lists by indentation.
//!
//! This is the part of YAML that hooks are written in: `key: value`, `- item`, quoted and plain texts, numbers, truth
//! values, texts as blocks (`|`, `>`), and lists and objects in the form of JSON.

use serde_json::{Map, Value};

/// Most lines and levels of a value.
const MOST_LINES: usize = 2_000;
const DEEPEST: usize = 16;

/// A line with its indentation.
#[derive(Debug, Clone)]
struct Line {
    indent: usize,
    text: String,
}

/// The value of lines, as they stand below a key; `None` for what is not understood.
pub(super) fn value<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Value> {
    let line = |line: &str| {
        let text = line.trim_start_matches(' ');
        Line { indent: line.len().saturating_sub(text.len()), text: text.trim_end().to_owned() }
    };
    let lines: Vec<Line> = lines.take(MOST_LINES).map(line).collect();
    let mut reader = Reader { lines, at: 0 };
    let value = reader.node(0)?;
    reader.skip();
    (reader.at >= reader.lines.len()).then_some(value)
}

struct Reader {
    lines: Vec<Line>,
    at: usize,
}

impl Reader {
    fn skip(&mut self) {
        let is_idle = |line: &Line| line.text.is_empty() || line.text.starts_with('#');
        while self.lines.get(self.at).is_some_and(is_idle) {
            self.at = self.at.saturating_add(1);
        }
    }

    /// The next line that says something.
    fn peek(&mut self) -> Option<Line> {
        self.skip();
        self.lines.get(self.at).cloned()
    }

    /// The map, list or text that begins at the next line.
    fn node(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        let first = self.peek()?;
        if item(&first.text).is_some() {
            self.list(first.indent, depth)
        } else if entry(&first.text).is_some() {
            self.map(first.indent, depth)
        } else {
            self.at = self.at.saturating_add(1);
            Some(scalar(&first.text))
        }
    }

    fn list(&mut self, indent: usize, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        while let Some(line) = self.peek().filter(|line| line.indent == indent) {
            let Some(rest) = item(&line.text) else { break };
            if rest.is_empty() {
                self.at = self.at.saturating_add(1);
                items.push(self.below(indent, depth)?);
                continue;
            }
            // What follows the dash stands like a line of its own, as far to the right.
            let inner = indent.saturating_add(line.text.len().saturating_sub(rest.len()));
            *self.lines.get_mut(self.at)? = Line { indent: inner, text: rest.to_owned() };
            items.push(self.node(depth.saturating_add(1))?);
        }
        Some(items.into())
    }

    fn map(&mut self, indent: usize, depth: usize) -> Option<Value> {
        let mut fields = Map::new();
        while let Some(line) = self.peek().filter(|line| line.indent == indent) {
            let (key, rest) = entry(&line.text)?;
            self.at = self.at.saturating_add(1);
            let value = match rest.trim_end_matches(['-', '+']) {
                "" => self.below(indent, depth)?,
                "|" => Value::String(self.block(indent, "\n")),
                ">" => Value::String(self.block(indent, " ")),
                _ => scalar(rest),
            };
            if fields.insert(key, value).is_some() {
                return None;
            }
        }
        // A line that is further to the right belongs to no key.
        self.peek().is_none_or(|line| line.indent <= indent).then_some(Value::Object(fields))
    }

    /// The value below a key or a dash; a list may stand as far to the left as its key.
    fn below(&mut self, indent: usize, depth: usize) -> Option<Value> {
        match self.peek() {
            Some(line) if line.indent > indent || (line.indent == indent && item(&line.text).is_some()) => {
                self.node(depth.saturating_add(1))
            }
            _ => Some(Value::Null),
        }
    }

    /// The lines of a block.
    fn block(&mut self, indent: usize, joint: &str) -> String {
        let mut lines = Vec::new();
        while let Some(line) = self.lines.get(self.at).filter(|line| line.indent > indent || line.text.is_empty()) {
            lines.push(line.text.clone());
            self.at = self.at.saturating_add(1);
        }
        lines.join(joint).trim_end().to_owned()
    }
}

/// What follows the dash of an item.
fn item(text: &str) -> Option<&str> {
    if text == "-" { Some("") } else { text.strip_prefix("- ").map(str::trim_start) }
}

/// A key and what follows its colon.
fn entry(text: &str) -> Option<(String, &str)> {
    let (key, rest) = match text.strip_suffix(':').filter(|key| !key.contains(": ")) {
        Some(key) => (key, ""),
        None => text.split_once(": ")?,
    };
    let key = key.trim().trim_matches(['"', '\'']);
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    is_key.then(|| (key.to_owned(), rest.trim()))
}

/// A text, a number, a truth value, or JSON on one line.
fn scalar(text: &str) -> Value {
    if let Ok(value) = serde_json::from_str(text) {
        return value;
    }
    if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Value::String(inner.replace("''", "'"));
    }
    let plain = text.split_once(" #").map_or(text, |(plain, _)| plain).trim_end();
    serde_json::from_str(plain).unwrap_or_else(|_| Value::String(plain.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hooks_are_read_as_people_write_them() {
        let expected = json!({ "PreToolUse": [
            { "matcher": "Bash|Write", "hooks": [
                { "type": "command", "command": "./check.sh --x: 1", "timeout": 10 },
                { "type": "command", "command": "a\nb", "once": true },
            ] },
        ], "Stop": null });
        let wide = "  PreToolUse:\n    - matcher: \"Bash|Write\"\n      hooks:\n        - type: command\n          command: './check.sh --x: 1'\n          timeout: 10 # seconds\n\n        - type: command\n          command: |\n            a\n            b\n          once: true\n  # none yet\n  Stop:";
        let narrow = "PreToolUse:\n- matcher: Bash|Write\n  hooks:\n  - type: command\n    command: \"./check.sh --x: 1\"\n    timeout: 10\n  -\n    type: command\n    command: |\n      a\n      b\n    once: true\nStop:";
        for text in [wide, narrow] {
            assert_eq!(value(text.lines()), Some(expected.clone()), "{text}");
        }
        let json = "  PreToolUse: [{\"matcher\": \"x\", \"hooks\": []}]";
        assert_eq!(value(json.lines()), Some(json!({ "PreToolUse": [{ "matcher": "x", "hooks": [] }] })));
    }

    #[test]
    fn what_is_not_understood_is_no_value() {
        for text in ["a: 1\n   b: 2", "a: 1\na: 2", "- a\nb: 1", "a: 1\n- b", ""] {
            assert_eq!(value(text.lines()), None, "{text}");
        }
        let deep: String = (0..40).map(|at| format!("{}a:\n", " ".repeat(at))).collect();
        assert_eq!(value(deep.lines()), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "([ ]{0,4}(- |a: |a:|\\| |#|x|\"|\\{)?\\PC{0,6}\n){0,12}") {
            let _ = value(text.lines());
        }
    }
}
