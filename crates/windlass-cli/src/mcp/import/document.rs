//! Conversion of clients' configurations (JSON with comments, TOML or YAML) to one form of data.

use super::client::Client;
use super::comments::without_comments;
use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Maximum depth of lists and maps in YAML.
const MAX_DEPTH: usize = 64;

impl Client {
    /// Reads a configuration.
    ///
    /// # Errors
    /// The text is not in the client's format.
    pub(crate) fn document(self, text: &str) -> Result<Value, String> {
        match self {
            Self::Codex => basic_toml::from_str(text).map_err(|error| error.to_string()),
            Self::Goose => yaml(text),
            _ => serde_json::from_str(&without_comments(text)).map_err(|error| error.to_string()),
        }
    }
}

/// A list or map that has not ended.
enum OpenNode {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

/// Reads a document of YAML. Anchors and aliases are refused.
fn yaml(text: &str) -> Result<Value, String> {
    let (mut open, mut root): (Vec<OpenNode>, Value) = (Vec::new(), Value::Object(Map::new()));
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| error.to_string())?;
        let value = match event {
            Event::Scalar(text, style, 0, _) => scalar(&text, style == ScalarStyle::Plain),
            Event::SequenceStart(_, 0, _) if open.len() < MAX_DEPTH => {
                open.push(OpenNode::List(Vec::new()));
                continue;
            }
            Event::MappingStart(_, 0, _) if open.len() < MAX_DEPTH => {
                open.push(OpenNode::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(OpenNode::List(items)) => Value::Array(items),
                Some(OpenNode::Map(members, _)) => Value::Object(members),
                None => return Err("a list or map ends that did not begin".to_owned()),
            },
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => continue,
            _ => {
                return Err(format!(
                    "line {} has what is not read: an anchor, an alias or deep lists",
                    span.start.line()
                ));
            }
        };
        match open.last_mut() {
            None => root = value,
            Some(OpenNode::List(items)) => items.push(value),
            Some(OpenNode::Map(members, key)) => match (key.take(), value) {
                (Some(key), value) => drop(members.insert(key, value)),
                (None, Value::String(name)) => *key = Some(name),
                (None, other) => *key = Some(other.to_string()),
            },
        }
    }
    Ok(root)
}

/// Value of a scalar by the core schema, as far as configurations use it.
fn scalar(text: &str, is_plain: bool) -> Value {
    match text {
        _ if !is_plain => Value::from(text),
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_format_is_read() {
        let goose = "GOOSE_MODEL: gpt-5\nextensions:\n  git:\n    cmd: uvx\n    args: [mcp-git, 'x y']\n    enabled: true\n    timeout: 300\n";
        let expected = json!({"GOOSE_MODEL": "gpt-5", "extensions": {"git": {"cmd": "uvx", "args": ["mcp-git", "x y"], "enabled": true, "timeout": 300}}});
        assert_eq!(Client::Goose.document(goose), Ok(expected));
        assert!(Client::Goose.document("a: &x 1\nb: *x\n").is_err());
        let codex = "model = \"gpt-5\"\n[mcp_servers.git]\ncommand = \"uvx\"\nargs = [\"mcp-git\"]\n";
        let expected = json!({"model": "gpt-5", "mcp_servers": {"git": {"command": "uvx", "args": ["mcp-git"]}}});
        assert_eq!(Client::Codex.document(codex), Ok(expected));
        assert_eq!(Client::Opencode.document("{\"mcp\": {}, // x\n}"), Ok(json!({"mcp": {}})));
    }
}
