//! Scripts in JSON.

use super::{Script, ScriptedTurn};
use serde::Deserialize;
use std::time::Duration;
use windlass_types::{ContentBlock, JsonText, ModelErrorKind, RateLimit, StopReason, Usage};

/// Reason why a text is not a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a script: {0}")]
pub struct ScriptError(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    version: u32,
    turns: Vec<ScriptFileTurn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFileTurn {
    #[serde(default)]
    blocks: Vec<JsonText>,
    id: Option<String>,
    model: Option<String>,
    stop_reason: Option<StopReason>,
    usage: Option<Usage>,
    delta_chars: Option<usize>,
    fail: Option<Fail>,
    cut_after: Option<usize>,
    rate_limit: Option<RateLimit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fail {
    kind: ModelErrorKind,
    after: Option<usize>,
    message: Option<String>,
    status: Option<u16>,
    retry_after_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct ScriptCall {
    id: Option<String>,
    name: String,
    input: JsonText,
}

impl Script {
    /// Reads a script from JSON.
    ///
    /// ```
    /// # use windlass_model::Script;
    /// let script = Script::from_json(r#"{
    ///   "version": 1,
    ///   "turns": [
    ///     {"blocks": [
    ///        {"type": "text", "text": "Let me look."},
    ///        {"type": "tool_use", "name": "Read", "input": {"file_path": "/a"}}
    ///     ]},
    ///     {"fail": {"kind": "overloaded", "status": 529, "retry_after_ms": 200}},
    ///     {"blocks": [{"type": "text", "text": "It is empty."}], "usage": {"input_tokens": 900, "output_tokens": 12}}
    ///   ]
    /// }"#)?;
    /// assert_eq!(script.turns.len(), 3);
    /// # Ok::<(), windlass_model::ScriptError>(())
    /// ```
    ///
    /// A turn has any of `blocks` (content blocks of the Messages API; a tool
    /// use needs no `id`), `id`, `model`, `stop_reason`, `usage`, `delta_chars`,
    /// `cut_after` (a number of events), `rate_limit` (a [`RateLimit`]) and `fail` with `kind` (a
    /// [`ModelErrorKind`] in snake case), `after` (a number of events; without
    /// it the request is refused), `message`, `status` and `retry_after_ms`.
    ///
    /// # Errors
    /// The text is not JSON of that shape; the error names turn and place.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        Self::from_json_with(text, &[])
    }

    /// Reads a script from JSON in which each `${name}` inside a string is replaced by a value.
    ///
    /// ```
    /// # use windlass_model::Script;
    /// let text = r#"{"version": 1, "turns": [{"blocks": [
    ///     {"type": "tool_use", "name": "Read", "input": {"file_path": "${dir}/a"}}]}]}"#;
    /// Script::from_json_with(text, &[("dir", "/tmp/x")])?;
    /// # Ok::<(), windlass_model::ScriptError>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`Script::from_json`].
    pub fn from_json_with(text: &str, values: &[(&str, &str)]) -> Result<Self, ScriptError> {
        let mut text = text.to_owned();
        for (name, value) in values {
            let quoted = JsonText::of(value).map_err(|error| ScriptError(error.to_string()))?;
            let escaped = quoted.as_str().strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
            text = text.replace(&format!("${{{name}}}"), escaped);
        }
        let file: ScriptFile = serde_json::from_str(&text).map_err(|error| ScriptError(error.to_string()))?;
        if file.version != 1 {
            return Err(ScriptError(format!("version {} is not known; this program reads version 1", file.version)));
        }
        let mut script = Self::new();
        for (number, turn) in file.turns.into_iter().enumerate() {
            let turn = turn.read().map_err(|error| ScriptError(format!("turn {}: {error}", number + 1)))?;
            script = script.then(turn);
        }
        Ok(script)
    }
}

impl ScriptFileTurn {
    fn read(self) -> Result<ScriptedTurn, String> {
        let mut turn = ScriptedTurn::new();
        for (number, block) in self.blocks.iter().enumerate() {
            turn = add_block(turn, block).map_err(|error| format!("block {}: {error}", number + 1))?;
        }
        if let Some(id) = self.id {
            turn = turn.id(id);
        }
        if let Some(model) = self.model {
            turn = turn.model(model);
        }
        if let Some(reason) = self.stop_reason {
            turn = turn.stop_reason(reason);
        }
        if let Some(usage) = self.usage {
            turn = turn.usage(usage);
        }
        if let Some(chars) = self.delta_chars {
            turn = turn.delta_chars(chars);
        }
        if let Some(events) = self.cut_after {
            turn = turn.cut_after(events);
        }
        if let Some(limit) = self.rate_limit {
            turn = turn.rate_limit(limit);
        }
        Ok(match self.fail {
            Some(fail) => fail.add_to(turn),
            None => turn,
        })
    }
}

fn add_block(turn: ScriptedTurn, block: &JsonText) -> Result<ScriptedTurn, windlass_types::JsonError> {
    let kind: Kind = block.to()?;
    if kind.kind != "tool_use" {
        return Ok(turn.block(block.to::<ContentBlock>()?));
    }
    let call: ScriptCall = block.to()?;
    Ok(match call.id {
        Some(id) => turn.tool_use_with_id(id, call.name, call.input),
        None => turn.tool_use(call.name, call.input),
    })
}

impl Fail {
    fn add_to(self, turn: ScriptedTurn) -> ScriptedTurn {
        let mut turn = match self.after {
            Some(events) => turn.fail_after(events, self.kind),
            None => turn.fail(self.kind),
        };
        if let Some(message) = self.message {
            turn = turn.message(message);
        }
        if let Some(status) = self.status {
            turn = turn.status(status);
        }
        if let Some(wait) = self.retry_after_ms {
            turn = turn.retry_after(Duration::from_millis(wait));
        }
        turn
    }
}
