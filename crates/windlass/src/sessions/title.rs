//! Titles of stored sessions written by a model.

use super::owner::owner;
use crate::error::Error;
use crate::{ModelProvider, SystemPrompt, query};
use windlass_session::{Annotation, SessionStore, TitleRequest};
use windlass_store::{FoundSession, JsonlStore};

/// Asks a model for a title and stores it. `None` if the session has no messages.
pub(super) async fn title(
    store: &JsonlStore,
    found: FoundSession,
    provider: impl ModelProvider,
    model: &str,
) -> Result<Option<String>, Error> {
    let entries = store.load(&found.key).await?.entries;
    let Some(request) = TitleRequest::of(&entries) else { return Ok(None) };
    let system = SystemPrompt::Custom(request.system.to_owned());
    let answer = query(request.prompt).provider(provider).model(model).system_prompt(system).max_turns(1).await?;
    let annotation = Annotation::generated_title(&answer.success()?.text)?;
    store.annotate(&found.key, &owner(), &annotation).await?;
    match annotation {
        Annotation::GeneratedTitle { title, .. } => Ok(Some(title)),
        _ => Ok(None),
    }
}
