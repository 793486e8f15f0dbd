//! Payment of model requests outside the conversation.

use crate::budget::Claim;
use crate::ports::model_text::{ModelText, write};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_core::{Input, ModelProfile};
use windlass_model::ModelProvider;
use windlass_types::{ModelRequest, Usage};

/// Time limit for a message, once it may be written.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Maximum length of a message, in bytes.
const MAX_MESSAGE_BYTES: usize = 1_000_000;

/// Usage of a request, which is booked when it ends, also when it is cancelled.
pub(crate) struct Bill<'a> {
    claim: Option<Claim>,
    model: ModelProfile,
    pub(crate) usage: Usage,
    results: &'a mpsc::UnboundedSender<Input>,
}

impl<'a> Bill<'a> {
    pub(crate) fn new(claim: Claim, model: ModelProfile, results: &'a mpsc::UnboundedSender<Input>) -> Self {
        Self { claim: Some(claim), model, usage: Usage::default(), results }
    }
}

impl Drop for Bill<'_> {
    fn drop(&mut self) {
        if let Some(mut claim) = self.claim.take() {
            // Settled before the session is told, so that its reports include it.
            claim.used = Some((self.model.clone(), self.usage));
        }
        if self.usage != Usage::default() {
            // Sending fails when the session has ended.
            let _ = self.results.send(Input::Used(Box::new(self.model.clone()), self.usage));
        }
    }
}

/// Reason why a text was not written.
pub(crate) enum TextFailure {
    /// The budget does not suffice.
    Budget,
    /// The model did not write the text.
    Failed(String),
}

/// Makes a model write a whole text, paid with a claim. Returns it with its usage.
pub(crate) async fn paid(
    provider: &dyn ModelProvider,
    (model, request): (&ModelProfile, &Arc<ModelRequest>),
    claim: Option<Claim>,
    results: &mpsc::UnboundedSender<Input>,
) -> Result<(ModelText, Usage), TextFailure> {
    let mut claim = claim.ok_or(TextFailure::Budget)?;
    claim.noted().await.map_err(|failure| TextFailure::Failed(failure.message))?;
    let mut bill = Bill::new(claim, model.clone(), results);
    let message = write(provider, request, MAX_MESSAGE_BYTES, &mut bill.usage);
    let message = tokio::time::timeout(MESSAGE_TIMEOUT, AssertUnwindSafe(message).catch_unwind()).await;
    let failed = |why: &str| TextFailure::Failed(why.to_owned());
    match message {
        Ok(Ok(Ok(message))) if message.is_whole => Ok((message, bill.usage)),
        Ok(Ok(Ok(_))) => Err(failed("its answer was cut off")),
        Ok(Ok(Err(error))) => Err(TextFailure::Failed(error.message)),
        Ok(Err(_)) => Err(failed("its provider panicked")),
        Err(_) => Err(failed("it took longer than ten minutes")),
    }
}
