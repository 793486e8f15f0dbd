//! One call of a provider.

use std::sync::Arc;

use windlass_model::ModelProvider;
use windlass_types::{JsonText, ModelRequest};

use super::stream::{Ending, Transcript, read};
use crate::Violation;
use crate::violation::ensure;

/// Returns the outcome of a call, also when it is refused at once.
pub(super) async fn open(provider: &dyn ModelProvider, request: &ModelRequest) -> Result<Transcript, Violation> {
    match provider.stream(Arc::new(request.clone())).await {
        Ok(stream) => read(stream).await,
        Err(error) => Ok(Transcript::refused(error)),
    }
}

/// Checks that a request that the endpoint answers in full gives one complete message.
///
/// # Errors
/// The stream does not follow the grammar of a message, does not complete, counts usage downwards, or contains a tool
/// input that is not JSON.
pub async fn answers(provider: &dyn ModelProvider, request: &ModelRequest) -> Result<Transcript, Violation> {
    let transcript = open(provider, request).await?;
    ensure(transcript.ending() == Ending::Complete, || {
        format!("the message is whole, but its stream ended as {:?}: {:?}", transcript.ending(), transcript.error)
    })?;
    for (name, input) in transcript.tool_inputs() {
        let whole = input.is_empty() || JsonText::parse(input.as_str()).is_ok();
        ensure(whole, || format!("the input of {name} is not the JSON that the model wrote: {input}"))?;
    }
    Ok(transcript)
}
