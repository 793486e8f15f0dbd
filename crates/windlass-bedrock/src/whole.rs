//! Answers in one piece: some models call tools, but not in a stream.

use crate::assembly::{BlockPiece, ConverseAssembly};
use crate::error::ConverseErrors;
use crate::event::{BlockStartEvent, BlockStarts, CallStart, TokenUsage};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Maximum number of models that are remembered.
const MAX_MODELS: usize = 1_000;

/// Models that refused to stream.
#[derive(Debug, Default)]
pub(crate) struct WholeModels(Mutex<BTreeSet<String>>);

impl WholeModels {
    pub(crate) fn contains(&self, model: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(model)
    }

    /// Remembers a model, if this error is a refusal to stream. Returns `true` if so.
    pub(crate) fn learn(&self, model: &str, error: &ModelError) -> bool {
        let text = error.message.to_lowercase();
        let is_meant = error.kind == ModelErrorKind::InvalidRequest
            && text.contains("support")
            && (text.contains("streaming mode")
                || text.contains("support streaming")
                || text.contains("for streaming"));
        if is_meant {
            let mut models = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if models.len() >= MAX_MODELS {
                models.clear();
            }
            models.insert(model.to_owned());
        }
        is_meant
    }
}

/// Answer, in its wire format.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ConverseAnswer<'a> {
    #[serde(borrow)]
    output: Option<ConverseOutput<'a>>,
    stop_reason: Option<String>,
    usage: Option<TokenUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ConverseOutput<'a> {
    #[serde(borrow)]
    message: Option<ConverseMessage<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ConverseMessage<'a> {
    #[serde(borrow)]
    content: Vec<ConverseBlock<'a>>,
}

/// Block with one of these members; unknown ones are skipped.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ConverseBlock<'a> {
    text: Option<String>,
    #[serde(borrow)]
    tool_use: Option<ConverseCall<'a>>,
    reasoning_content: Option<ConverseReasoning>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConverseCall<'a> {
    #[serde(flatten)]
    start: CallStart,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ConverseReasoning {
    reasoning_text: Option<ReasoningText>,
    redacted_content: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReasoningText {
    text: String,
    signature: Option<String>,
}

/// Reads an answer into the events of a message.
///
/// # Errors
/// Fails if the answer is unreadable or incomplete.
pub(crate) fn read(body: &str, assembly: &mut ConverseAssembly, faults: &ConverseErrors) -> Result<(), ModelError> {
    // Serde would read the members of an array as those of the object.
    if !body.trim_start().starts_with('{') {
        return Err(faults.protocol("the answer is not an object"));
    }
    let answer: ConverseAnswer<'_> =
        serde_json::from_str(body).map_err(|error| faults.unreadable("the answer", &error))?;
    let (Some(message), Some(reason)) = (answer.output.and_then(|output| output.message), answer.stop_reason) else {
        return Err(faults.protocol("the answer has no message"));
    };
    assembly.begin();
    for (at, block) in (0..).zip(message.content) {
        for piece in pieces(&block) {
            assembly.put(at, piece)?;
        }
        if let Some(call) = block.tool_use {
            let start = BlockStartEvent { tool_use: Some(call.start) };
            assembly.block(BlockStarts { content_block_index: at, start })?;
            let input = call.input.map_or(String::new(), |input| input.get().to_owned());
            assembly.put(at, BlockPiece::Input(input))?;
        }
        assembly.put(at, BlockPiece::Stop)?;
    }
    assembly.stop(&reason)?;
    assembly.count(answer.usage.as_ref());
    assembly.end()
}

/// Returns the pieces of a block that is no call.
fn pieces(block: &ConverseBlock<'_>) -> Vec<BlockPiece> {
    let mut pieces = Vec::new();
    pieces.extend(block.text.clone().map(BlockPiece::Text));
    if let Some(reasoning) = &block.reasoning_content {
        if let Some(text) = &reasoning.reasoning_text {
            pieces.push(BlockPiece::Thinking(text.text.clone()));
            pieces.extend(text.signature.clone().map(BlockPiece::Signature));
        }
        pieces.extend(reasoning.redacted_content.clone().map(BlockPiece::Redacted));
    }
    pieces
}
