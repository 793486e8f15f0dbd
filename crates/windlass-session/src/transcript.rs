//! Conversation as a request contains it: a type that cannot be invalid.

mod clean;
#[cfg(test)]
mod tests;
mod trim;

use crate::CallIds;
use clean::{assistant_content, user_content};
pub(crate) use clean::{has_assistant_content, has_user_content};

use std::collections::HashMap;
use std::sync::Arc;
use windlass_types::{
    Api, AssistantEntry, ContentBlock, Entry, EntryKind, Message, Origin, Role, SharedMessage, ToolResult, ToolUse,
    ToolUseId,
};

/// Text for the model about a call that may have run but whose result is lost.
pub const OUTCOME_UNKNOWN: &str = "The outcome of this call is unknown: the session ended after it was started and before \
its result was stored. It may have run in part or in full, and it was not run again. Check the state before you repeat it.";

/// Text for the model about a call without a record of its start in the log. The intent of a call with an effect is
/// stored before it begins, so this one had not begun, or was read-only.
pub const INTERRUPTED: &str = "This call was interrupted: the session ended before its result was stored. It changed \
nothing: it had not begun, or was only reading. TranscriptCall it again if its result is still needed.";

/// Replacement for the lost beginning of a conversation.
pub const BEGINNING_LOST: &str = "[The beginning of this conversation could not be read.]";

/// A conversation, built message by message, that is at any time fit to be sent.
///
/// It starts with the user, roles alternate, no message is empty, and every tool use is answered exactly once, in call
/// order, at the start of the next user message. Invalid content is left out or completed, always in the same way, so
/// that a request is a prefix of the next one. Signed reasoning is never changed.
///
/// Content that cannot be sent is left out: blank text, blocks of the other side, reasoning at the end of a message, a
/// second tool use of one id within a message. A tool input that is not an object becomes `{}`. A tool use whose id an
/// earlier message has, or that has none, gets an id of its own ([`CallIds`]).
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    sealed: Vec<SharedMessage>,
    /// Last message, which may still grow.
    tail: Option<SharedMessage>,
    open: Option<OpenCalls>,
    /// Ids of all calls, including those replaced by a summary.
    ids: CallIds,
    /// `true` if a summary in the next entry replaces everything before it.
    at_boundary: bool,
    /// Origin of the last message of a model: messages of one origin share it.
    origin: Option<Arc<Origin>>,
}

/// Calls of the last message, which is an assistant message, until each is answered.
#[derive(Debug, Clone, Default)]
struct OpenCalls {
    calls: Vec<TranscriptCall>,
    /// Indices of the calls by their given and their own ids.
    by_id: HashMap<ToolUseId, usize>,
    unanswered: usize,
    /// Messages of the user that arrived meanwhile. They follow the results.
    after: Vec<ContentBlock>,
}

#[derive(Debug, Clone)]
struct TranscriptCall {
    block: usize,
    started: bool,
    result: Option<ToolResult>,
}

/// Returns the last message, with more content of the same side.
fn extended(tail: SharedMessage, blocks: Vec<ContentBlock>, origin: Option<Arc<Origin>>) -> SharedMessage {
    let mut tail = tail.into_message();
    if tail.origin != origin {
        // A message has one origin. Data for the earlier origin alone is useless for the later.
        tail.content.retain(|block| !block.is_thinking());
        tail.content.iter_mut().for_each(|block| block.set_replay(None));
        tail.origin = origin;
    }
    tail.content.extend(blocks);
    tail.into()
}

fn message(role: Role, blocks: Vec<ContentBlock>, origin: Option<Arc<Origin>>) -> SharedMessage {
    match role {
        Role::Assistant => Message::assistant(blocks).with_origin(origin).into(),
        _ => Message::user(blocks).into(),
    }
}

/// Returns the origin of a message. Other programs record only the name of the model, of the Messages API.
fn origin_of(assistant: &AssistantEntry) -> Arc<Origin> {
    let unknown = || Arc::new(Origin::new(Api::default(), &*assistant.model, &*assistant.model));
    assistant.origin.clone().unwrap_or_else(unknown)
}

impl Transcript {
    /// Returns an empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the conversation of these entries. See [`crate::repair`] for entries that may be damaged.
    pub fn from_entries<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut transcript = Self::new();
        for entry in entries {
            transcript.apply(entry);
        }
        transcript
    }

    /// Adds the content of an entry. Entries beside the conversation are ignored.
    pub fn apply(&mut self, entry: &Entry) {
        let at_boundary = std::mem::replace(&mut self.at_boundary, matches!(entry.kind, EntryKind::Compacted(_)));
        match &entry.kind {
            EntryKind::User(user) if user.is_summary && at_boundary => {
                // Without its summary a boundary is ignored.
                *self = Self { ids: std::mem::take(&mut self.ids), ..Self::new() };
                self.push_user(user.content.clone());
            }
            EntryKind::User(user) => self.push_user(user.content.clone()),
            EntryKind::Assistant(assistant) => {
                self.push_assistant(assistant.content.clone(), Some(origin_of(assistant)));
            }
            EntryKind::ToolResult(result) => {
                self.push_result(result.result.clone());
            }
            EntryKind::Intent { tool_use_id, .. } => self.mark_started(tool_use_id),
            EntryKind::ResultsTrimmed(record) => self.trim(&record.results),
            _ => {}
        }
    }

    /// Adds content of the user. While calls are open it waits for their results.
    pub fn push_user(&mut self, content: Vec<ContentBlock>) {
        let content = user_content(content);
        if content.is_empty() {
            return;
        }
        match &mut self.open {
            Some(open) => open.after.extend(content),
            None => self.extend(Role::User, content, None),
        }
    }

    /// Adds a message of the model, with its origin, if known. Calls that are still open are settled first, as
    /// [`Transcript::settle`] does.
    pub fn push_assistant(&mut self, content: Vec<ContentBlock>, origin: Option<Arc<Origin>>) {
        let mut content = assistant_content(content);
        if content.is_empty() {
            return;
        }
        self.settle();
        let given = self.name_calls(&mut content);
        let origin = origin.map(|origin| self.shared(origin));
        if self.tail.is_none() {
            self.extend(Role::User, vec![ContentBlock::text(BEGINNING_LOST)], None);
        }
        self.extend(Role::Assistant, content, origin);
        let mut open = OpenCalls::default();
        if let Some(tail) = &self.tail {
            for (block, call) in tail.content.iter().enumerate().filter_map(|(at, b)| Some((at, b.as_tool_use()?))) {
                open.by_id.insert(call.id.clone(), open.calls.len());
                open.calls.push(TranscriptCall { block, started: false, result: None });
            }
        }
        open.unanswered = open.calls.len();
        for (given, own) in given {
            if let Some(at) = open.by_id.get(&own).copied() {
                open.by_id.insert(given, at);
            }
        }
        self.open = (open.unanswered > 0).then_some(open);
    }

    /// Returns the origin of the message before, if it is the same.
    fn shared(&mut self, origin: Arc<Origin>) -> Arc<Origin> {
        match &self.origin {
            Some(last) if **last == *origin => Arc::clone(last),
            _ => Arc::clone(self.origin.insert(origin)),
        }
    }

    /// Assigns new ids to calls that need one. Returns the given and the new ids of these calls.
    fn name_calls(&mut self, content: &mut [ContentBlock]) -> Vec<(ToolUseId, ToolUseId)> {
        let mut changed = Vec::new();
        for block in content {
            if let ContentBlock::ToolUse(call) = block {
                let own = self.ids.name(&call.id);
                if own != call.id {
                    changed.push((std::mem::replace(&mut call.id, own.clone()), own));
                }
            }
        }
        changed
    }

    /// Returns the ids of all calls so far.
    pub fn call_ids(&self) -> &CallIds {
        &self.ids
    }

    /// Answers an open call, by its given or its own id. Returns `true` if there was one with that id; if not (answered
    /// before, or never made), the conversation is unchanged.
    pub fn push_result(&mut self, result: ToolResult) -> bool {
        let Some(open) = &mut self.open else { return false };
        let Some(call) = open.by_id.get(&result.tool_use_id).and_then(|at| open.calls.get_mut(*at)) else {
            return false;
        };
        if call.result.is_some() {
            return false;
        }
        let id = self.tail.as_ref().and_then(|tail| tail.content.get(call.block)?.as_tool_use());
        call.result = Some(clean::result(result, id.map(|call| &call.id)));
        open.unanswered -= 1;
        if open.unanswered == 0 {
            self.close_calls();
        }
        true
    }

    /// Records that an open call may have begun to run, so that settling it reports an unknown outcome.
    pub fn mark_started(&mut self, id: &ToolUseId) {
        let Some(open) = &mut self.open else { return };
        if let Some(call) = open.by_id.get(id).and_then(|at| open.calls.get_mut(*at)) {
            call.started = true;
        }
    }

    /// Answers every open call with an error: it did not run, or its outcome is
    /// unknown.
    pub fn settle(&mut self) {
        let (Some(open), Some(tail)) = (&mut self.open, &self.tail) else { return };
        for call in open.calls.iter_mut().filter(|call| call.result.is_none()) {
            let Some(id) = tail.content.get(call.block).and_then(ContentBlock::as_tool_use).map(|c| c.id.clone())
            else {
                continue;
            };
            call.result = Some(ToolResult::error(id, lost_result_text(call.started)));
        }
        open.unanswered = 0;
        self.close_calls();
    }

    /// Returns the calls that wait for a result, in call order.
    pub fn open_calls(&self) -> impl Iterator<Item = &ToolUse> {
        let blocks = self.tail.as_ref().map_or(&[] as &[ContentBlock], |tail| &tail.content);
        let calls = self.open.as_ref().map_or(&[] as &[TranscriptCall], |open| &open.calls);
        calls
            .iter()
            .filter(|call| call.result.is_none())
            .filter_map(|call| blocks.get(call.block).and_then(ContentBlock::as_tool_use))
    }

    /// `true` if calls wait for a result.
    pub fn has_open_calls(&self) -> bool {
        self.open.is_some()
    }

    /// `true` if the conversation can be sent as it is: no call is open and the last message is the user's.
    pub fn is_ready(&self) -> bool {
        self.open.is_none() && self.tail.as_ref().is_some_and(|tail| tail.role == Role::User)
    }

    /// Returns the author of the last message.
    pub fn last_role(&self) -> Option<Role> {
        self.tail.as_ref().map(|tail| tail.role)
    }

    /// Returns the number of messages, including one whose calls are open.
    pub fn len(&self) -> usize {
        self.sealed.len() + usize::from(self.tail.is_some())
    }

    /// `true` if there is no message.
    pub fn is_empty(&self) -> bool {
        self.tail.is_none()
    }

    /// Returns the messages of a request, without a message whose calls are open and all later ones. Each message is
    /// built once and shared from then on.
    pub fn messages(&self) -> Vec<SharedMessage> {
        let mut messages = Vec::with_capacity(self.sealed.len() + 1);
        messages.extend(self.iter().cloned());
        messages
    }

    /// Returns the messages of a request without sharing them.
    pub fn iter(&self) -> impl Iterator<Item = &SharedMessage> {
        self.sealed.iter().chain(self.tail.as_ref().filter(|_| self.open.is_none()))
    }

    /// Returns one of the messages of a request, by its index.
    pub fn get(&self, at: usize) -> Option<&SharedMessage> {
        let tail = || self.tail.as_ref().filter(|_| self.open.is_none() && at == self.sealed.len());
        self.sealed.get(at).or_else(tail)
    }

    fn extend(&mut self, role: Role, blocks: Vec<ContentBlock>, origin: Option<Arc<Origin>>) {
        let tail = match self.tail.take() {
            Some(tail) if tail.role == role => extended(tail, blocks, origin),
            before => {
                self.sealed.extend(before);
                message(role, blocks, origin)
            }
        };
        self.tail = Some(tail);
    }

    fn close_calls(&mut self) {
        if let Some(open) = self.open.take() {
            let results = open.calls.into_iter().filter_map(|call| call.result).map(ContentBlock::ToolResult);
            self.extend(Role::User, results.chain(open.after).collect(), None);
        }
    }
}

/// Returns the text for the model about a call without a result.
pub(crate) fn lost_result_text(started: bool) -> &'static str {
    if started { OUTCOME_UNKNOWN } else { INTERRUPTED }
}
