//! A provider of your own, which answers with the prompt that it gets. A real one sends the request to a service and
//! maps the service's stream to the same events.

use std::sync::Arc;
use windlass::provider::{BlockStart, MessageId, ModelEvent, ModelInfo, ModelRequest, StopReason, StreamDelta, Usage};
use windlass::provider::{ModelStream, framed};
use windlass::{ModelError, ModelProvider, async_trait, provider::ModelErrorKind, query};

#[derive(Debug)]
pub struct Parrot;

#[async_trait]
impl ModelProvider for Parrot {
    fn name(&self) -> &str {
        "parrot"
    }

    fn resolve_model(&self, name: &str) -> String {
        match name {
            "default" => "parrot-1".to_owned(),
            other => other.to_owned(),
        }
    }

    fn model_info(&self, _: &str) -> ModelInfo {
        ModelInfo::new(100_000, 4_096)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let Some(last) = request.messages.last() else {
            return Err(ModelError::new(ModelErrorKind::InvalidRequest, "The request has no message."));
        };
        let text = last.text();
        let (input, output) = (text.len() as u64 / 4 + 1, text.len() as u64 / 4 + 1);
        let events = [
            ModelEvent::MessageStart {
                id: MessageId::from("msg_parrot"),
                model: request.model.clone(),
                usage: Usage::new(input, 0),
            },
            ModelEvent::BlockStart { index: 0, block: BlockStart::Text(String::new()) },
            ModelEvent::BlockDelta { index: 0, delta: StreamDelta::Text(text) },
            ModelEvent::BlockStop { index: 0 },
            ModelEvent::MessageDelta { stop_reason: Some(StopReason::EndTurn), usage: Usage::new(input, output) },
            ModelEvent::MessageStop,
        ];
        let frames = request.raw_frames;
        Ok(Box::pin(futures_util::stream::iter(events.map(move |event| Ok(framed(event, frames))))))
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        Ok(request.messages.iter().map(|message| message.text().len() as u64 / 4 + 1).sum())
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let result = query("Polly wants a cracker").provider(Parrot).await?;
    println!("{}", result.text);
    anyhow::ensure!(result.text.contains("Polly wants a cracker"));
    Ok(())
}
