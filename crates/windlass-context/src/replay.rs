//! What of earlier messages a model is sent back: signatures, encrypted reasoning and ids of a vendor go to the model
//! that made them alone.

use crate::model_id::is_same_model;
use windlass_types::{Api, ContentBlock, Message, Origin, Role, SharedMessage};

/// The messages as one model can read them.
///
/// Messages of another origin, and the first `dropped` messages whatever their origin, lose their reasoning and what is
/// sent back beside texts and calls; the reasoning never becomes text. The result depends on the messages and the
/// model alone, so that one request stays the beginning of the next.
pub fn readable_messages(messages: Vec<SharedMessage>, api: &Api, model: &str, dropped: usize) -> Vec<SharedMessage> {
    let readable = |(at, message): (usize, SharedMessage)| match &message.origin {
        _ if message.role != Role::Assistant => Some(message),
        Some(origin) if at >= dropped && is_readable(origin, api, model) => Some(message),
        None if at >= dropped => Some(message),
        origin => {
            let same_dialect = origin.as_ref().is_none_or(|origin| origin.api.dialect() == api.dialect());
            without_private(message, same_dialect)
        }
    };
    messages.into_iter().enumerate().filter_map(readable).collect()
}

/// Whether a model can read what only the origin of a message can.
fn is_readable(origin: &Origin, api: &Api, model: &str) -> bool {
    let same_provider = origin.api.provider().is_empty() || origin.api.provider() == api.provider();
    same_provider && origin.api.dialect() == api.dialect() && is_same_model(&origin.model, model)
}

/// The message without what only its origin can read. `None`: there is no other content.
fn without_private(message: SharedMessage, same_dialect: bool) -> Option<SharedMessage> {
    // Blocks that are not known here belong to the dialect, such as those of tools that the provider runs.
    let stays =
        |block: &ContentBlock| !block.is_thinking() && (same_dialect || !matches!(block, ContentBlock::Unknown(_)));
    if message.content.iter().all(|block| stays(block) && block.replay().is_none()) {
        return Some(message);
    }
    let mut content: Vec<ContentBlock> = message.content.iter().filter(|block| stays(block)).cloned().collect();
    content.iter_mut().for_each(|block| block.set_replay(None));
    let origin = message.origin.clone();
    (!content.is_empty()).then(|| Message::assistant(content).with_origin(origin).into())
}

#[cfg(test)]
mod tests;
