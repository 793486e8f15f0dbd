//! Model requests of MCP servers (sampling) through a session's models.

use async_trait::async_trait;
use std::sync::Arc;
use windlass_mcp::{McpServers, Sampling, SamplingAnswer, SamplingRequest};
use windlass_runtime::{SessionHandle, SideCall};
use windlass_types::StopReason;

/// An open session.
struct OfSession {
    handle: SessionHandle,
    /// Model that writes summaries, if it is another one.
    other: Option<String>,
}

/// Lets permitted servers request messages from the models of a session.
pub(crate) fn offer(servers: &McpServers, session: &SessionHandle, other: Option<String>) {
    servers.sample_through(Arc::new(OfSession { handle: session.weak(), other }));
}

#[async_trait]
impl Sampling for OfSession {
    async fn sample(&self, request: SamplingRequest) -> Result<SamplingAnswer, String> {
        let messages = request.conversation()?;
        let (tools, tool_choice) = request.offered_tools();
        let mut call = SideCall::new(request.tool_name(), request.shown(), messages, request.max_tokens);
        call.title = format!("A message of a model for the MCP server {:?}", request.server);
        call.models = self.other.iter().cloned().collect();
        (call.hints, call.system, call.most_in_run) =
            (request.model_hints, request.system, request.limits.max_requests);
        (call.tools, call.tool_choice) = (tools, tool_choice);
        let answer = self.handle.side_call(call).await.map_err(|error| error.to_string())?;
        let (read, written) = (answer.usage.total_input(), answer.usage.output_tokens);
        let model = &answer.model;
        // Fails when the session has ended.
        let _ = self.handle.notice(format!(
            "The model {model} wrote a message for the MCP server {:?}: {read} tokens in, {written} out.",
            request.server
        ));
        let end = request.stop_sequences.iter().filter(|stop| !stop.is_empty());
        let end = end.filter_map(|stop| answer.text.find(stop.as_str())).min();
        let text = end.and_then(|end| answer.text.get(..end)).unwrap_or(&answer.text);
        let reason = match &answer.stop_reason {
            _ if end.is_some() => "stopSequence",
            StopReason::MaxTokens => "maxTokens",
            StopReason::StopSequence => "stopSequence",
            StopReason::EndTurn => "endTurn",
            other => other.as_str(),
        };
        // Calls after a stop sequence are not part of the answer.
        let calls = if end.is_some() { Vec::new() } else { answer.calls };
        Ok(SamplingAnswer::new(model, text).stop_reason(reason).calls(calls))
    }

    fn takes_tools(&self) -> bool {
        true
    }

    fn has_ended(&self) -> bool {
        self.handle.has_ended()
    }
}
