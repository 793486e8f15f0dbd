//! The conversation as a request carries it: a type that cannot be invalid.

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

/// What the model reads of a call that may have run but whose result is lost.
pub const OUTCOME_UNKNOWN: &str = "The outcome of this call is unknown: the session ended after it was started and before \
its result was stored. It may have run in part or in full, and it was not run again. Check the state before you repeat it.";

/// What the model reads of a call of whose beginning the log has nothing. The intent of a call with an effect is stored
/// before it begins, so this one had not begun, or was of those that only read.
pub const INTERRUPTED: &str = "This call was interrupted: the session ended before its result was stored. It changed \
nothing: it had not begun, or was only reading. Call it again if its result is still needed.";

/// Stands for the beginning of a conversation that is lost.
pub const BEGINNING_LOST: &str = "[The beginning of this conversation could not be read.]";

/// A conversation, built message by message, that is at any time fit to be
/// sent.
///
/// It starts with the user, roles alternate, no message is empty, and every
/// tool use is answered exactly once, in call order, at the start of the next
/// user message. What does not fit is left out or completed, always in the same
/// way, so that a request is a prefix of the next one. Signed reasoning is
/// never changed.
///
/// Content that cannot be sent is left out: blank text, blocks of the other
/// side, reasoning at the end of a message, a second tool use of one id within
/// a message. A tool input that is no object becomes `{}`. A tool use whose id
/// an earlier message has, or that has none, gets an id of its own ([`CallIds`]).
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    sealed: Vec<SharedMessage>,
    /// The last message, which may still grow.
    tail: Option<SharedMessage>,
    open: Option<OpenCalls>,
    /// The ids of all calls, also of those that a summary stands for.
    ids: CallIds,
    /// Whether a summary that comes next stands for everything before it.
    at_boundary: bool,
    /// The origin of the last message of a model: messages of one origin share it.
    origin: Option<Arc<Origin>>,
}

/// The calls of the last message, which is an assistant message, until each is answered.
#[derive(Debug, Clone, Default)]
struct OpenCalls {
    calls: Vec<Call>,
    /// By the ids that they were given with, and by their own.
    by_id: HashMap<ToolUseId, usize>,
    unanswered: usize,
    /// Messages of the user that came meanwhile. They follow the results.
    after: Vec<ContentBlock>,
}

#[derive(Debug, Clone)]
struct Call {
    block: usize,
    started: bool,
    result: Option<ToolResult>,
}

/// The last message, with more content of the same side.
fn extended(tail: SharedMessage, blocks: Vec<ContentBlock>, origin: Option<Arc<Origin>>) -> SharedMessage {
    let mut tail = tail.into_message();
    if tail.origin != origin {
        // A message has one origin. What the earlier origin alone can read is of no use to the later.
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

/// Where a message comes from. Other programs keep the name of the model only, of the Messages API.
fn origin_of(assistant: &AssistantEntry) -> Arc<Origin> {
    let unknown = || Arc::new(Origin::new(Api::default(), &*assistant.model, &*assistant.model));
    assistant.origin.clone().unwrap_or_else(unknown)
}

impl Transcript {
    /// An empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// The conversation that these entries add up to. See [`crate::repair`] for
    /// entries that may be damaged.
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

    /// Adds content of the user. While calls are open it waits behind their results.
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

    /// Adds a message of the model, with where it comes from, if that is known. Calls that are still open are settled first,
    /// as [`Transcript::settle`] does.
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
                open.calls.push(Call { block, started: false, result: None });
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

    /// The origin of the message before, if it is the same.
    fn shared(&mut self, origin: Arc<Origin>) -> Arc<Origin> {
        match &self.origin {
            Some(last) if **last == *origin => Arc::clone(last),
            _ => Arc::clone(self.origin.insert(origin)),
        }
    }

    /// Gives calls that need one an id of their own. Returns those with the ids that they were given with.
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

    /// The ids of all calls so far.
    pub fn call_ids(&self) -> &CallIds {
        &self.ids
    }

    /// Answers an open call, by the id that it was given with or its own. Returns whether there was one with that id; if not
    /// (answered before, or never made), the conversation stays as it is.
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

    /// Notes that an open call may have begun to run, so that settling it reports
    /// an unknown outcome.
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

    /// The calls that wait for a result, in call order.
    pub fn open_calls(&self) -> impl Iterator<Item = &ToolUse> {
        let blocks = self.tail.as_ref().map_or(&[] as &[ContentBlock], |tail| &tail.content);
        let calls = self.open.as_ref().map_or(&[] as &[Call], |open| &open.calls);
        calls
            .iter()
            .filter(|call| call.result.is_none())
            .filter_map(|call| blocks.get(call.block).and_then(ContentBlock::as_tool_use))
    }

    /// Whether calls wait for a result.
    pub fn has_open_calls(&self) -> bool {
        self.open.is_some()
    }

    /// Whether the conversation can be sent as it is: no call is open and the
    /// last message is the user's.
    pub fn is_ready(&self) -> bool {
        self.open.is_none() && self.tail.as_ref().is_some_and(|tail| tail.role == Role::User)
    }

    /// Who wrote the last message.
    pub fn last_role(&self) -> Option<Role> {
        self.tail.as_ref().map(|tail| tail.role)
    }

    /// How many messages there are, counting one whose calls are open.
    pub fn len(&self) -> usize {
        self.sealed.len() + usize::from(self.tail.is_some())
    }

    /// Whether it holds no message.
    pub fn is_empty(&self) -> bool {
        self.tail.is_none()
    }

    /// The messages of a request. A message whose calls are open is not in it,
    /// nor what followed. Each message is made once and shared from then on.
    pub fn messages(&self) -> Vec<SharedMessage> {
        let mut messages = Vec::with_capacity(self.sealed.len() + 1);
        messages.extend(self.iter().cloned());
        messages
    }

    /// The same messages, without sharing them.
    pub fn iter(&self) -> impl Iterator<Item = &SharedMessage> {
        self.sealed.iter().chain(self.tail.as_ref().filter(|_| self.open.is_none()))
    }

    /// One of the messages of a request, by its place.
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

/// What the model reads of a call without a result.
pub(crate) fn lost_result_text(started: bool) -> &'static str {
    if started { OUTCOME_UNKNOWN } else { INTERRUPTED }
}
