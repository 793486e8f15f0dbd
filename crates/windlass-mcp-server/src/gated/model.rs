//! Model of a session whose calls come from clients.

use super::queue::GatedQueue;
use std::sync::Arc;
use windlass::event::ToolFinished;
use windlass::text::compaction_prompt;
use windlass::{ContentBlock, ScriptedModel, ScriptedTurn, ToolOutput};
use windlass::{event::ToolResultContent, provider::ModelRequest};

/// Creates a model that makes all waiting calls. Without any it ends its turn.
pub(super) fn calling_model(queue: Arc<GatedQueue>) -> ScriptedModel {
    let model = ScriptedModel::from_fn(move |request, number| {
        // A compaction request is no turn of the model.
        if wants_summary(request) {
            return ScriptedTurn::new().text("<summary>Calls were made one after the other.</summary>");
        }
        queue.offer(&request.tools);
        let calls = queue.take();
        if calls.is_empty() {
            return ScriptedTurn::new().text("Done.");
        }
        let turn = ScriptedTurn::new().id(format!("msg_{number}"));
        calls.into_iter().fold(turn, |turn, (id, name, input)| turn.tool_use_with_id(id, name, input))
    });
    model.with_delta_chars(0).without_recording()
}

/// `true` if a request asks for a summary of the conversation, which will replace it.
fn wants_summary(request: &ModelRequest) -> bool {
    let last = request.messages.last().and_then(|message| message.content.last());
    last.and_then(ContentBlock::as_text).is_some_and(|text| text == compaction_prompt(None))
}

/// Converts the result of a call.
pub(super) fn output(tool: ToolFinished) -> ToolOutput {
    let mut output = match tool.result.content {
        ToolResultContent::Text(text) => ToolOutput::text(text),
        ToolResultContent::Blocks(blocks) => ToolOutput::blocks(blocks),
    };
    output.is_error = tool.result.is_error;
    output.structured = tool.structured;
    output
}
