//! Selection of the replay data of earlier messages: signatures, encrypted reasoning and ids of a vendor are sent back
//! only to the model that created them.

use crate::model_id::is_same_model;
use std::sync::Arc;
use windlass_types::{Api, ContentBlock, Message, Origin, Role, SharedMessage};

/// Replacement for a message of which another model can read nothing.
const NO_CONTENT: &str = "(no content)";

/// Returns the messages as one model can read them.
///
/// Messages of another origin, and the first `dropped` messages of any origin, lose their reasoning and the replay data
/// of texts and calls; the reasoning never becomes text. The result depends on the messages and the model alone, so
/// that one request stays the beginning of the next.
pub fn readable_messages<'a>(
    messages: impl Iterator<Item = &'a SharedMessage>,
    api: &Api,
    model: &str,
    dropped: usize,
) -> Vec<SharedMessage> {
    // Messages of one model share their origin: it is compared once, for each request has all of them.
    let mut last: Option<(&Arc<Origin>, bool)> = None;
    let mut is_readable = |origin: &'a Arc<Origin>| match last {
        Some((known, is_readable)) if Arc::ptr_eq(known, origin) => is_readable,
        _ => last.insert((origin, is_readable(origin, api, model))).1,
    };
    let readable = |(at, message): (usize, &'a SharedMessage)| match &message.origin {
        _ if message.role != Role::Assistant => message.clone(),
        Some(origin) if at >= dropped && is_readable(origin) => message.clone(),
        None if at >= dropped => message.clone(),
        origin => {
            // Unknown blocks may contain a part of the refused data.
            let keeps_unknown = at >= dropped && origin.as_ref().is_none_or(|origin| is_same_service(origin, api));
            without_private(message.clone(), keeps_unknown)
        }
    };
    messages.enumerate().map(readable).collect()
}

/// `true` if a model can read data that only the origin of a message can.
fn is_readable(origin: &Origin, api: &Api, model: &str) -> bool {
    is_same_service(origin, api) && is_same_model(bare(&origin.model, api), bare(model, api))
}

/// `true` if a message comes from the called service, of whatever model. A cloud that uses the dialect of a vendor is
/// another service: it does not run the vendor's tools.
fn is_same_service(origin: &Origin, api: &Api) -> bool {
    let is_same_provider = origin.api.provider().is_empty() || origin.api.provider() == api.provider();
    is_same_provider && origin.api.dialect() == api.dialect()
}

/// Returns the name of a model without that of its provider, which a router puts in front.
fn bare<'a>(model: &'a str, api: &Api) -> &'a str {
    model.strip_prefix(api.provider()).and_then(|rest| rest.strip_prefix('/')).unwrap_or(model)
}

/// Returns the message without data that only its origin can read.
fn without_private(message: SharedMessage, keeps_unknown: bool) -> SharedMessage {
    // Unknown blocks belong to the service, such as those of tools that it runs.
    let stays =
        |block: &ContentBlock| !block.is_thinking() && (keeps_unknown || !matches!(block, ContentBlock::Unknown(_)));
    if message.content.iter().all(|block| stays(block) && block.replay().is_none()) {
        return message;
    }
    let mut content: Vec<ContentBlock> = message.content.iter().filter(|block| stays(block)).cloned().collect();
    content.iter_mut().for_each(|block| block.set_replay(None));
    if content.is_empty() {
        // Roles alternate, and the messages keep their numbers.
        content.push(ContentBlock::text(NO_CONTENT));
    }
    Message::assistant(content).with_origin(message.origin.clone()).into()
}

#[cfg(test)]
mod tests;
