//! Forks: independent copies of conversations.

#[cfg(test)]
mod tests;

use crate::foreign::{Kind, Object, kind_of};
use serde::Serialize;
use std::collections::HashMap;
use windlass_types::{Entry, EntryId, EntryKind, JsonText, SessionId, Timestamp};

/// Fields that other programs write about the session of a line. A copy leaves them out.
const SOURCE_FIELDS: [&str; 4] = ["teamName", "agentName", "slug", "sourceToolAssistantUUID"];

/// Origin of the lines of a fork. Each line contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// Id of the copied session.
    pub session: SessionId,
    ids: HashMap<EntryId, EntryId>,
}

impl Origin {
    /// Returns the source line of this line, if it is a copy.
    pub fn of(&self, id: &EntryId) -> Option<&EntryId> {
        self.ids.get(id)
    }
}

/// A copy of a conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Fork {
    /// Entries of the copy.
    pub entries: Vec<Entry>,
    /// Origin of the lines.
    pub origin: Origin,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForkedFrom<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) message_uuid: &'a str,
}

/// Copies a conversation into another session: the same messages under fresh ids, each linked to the one before it, and
/// results to their calls, so that a copy has none of the damage of its source.
///
/// The mode, the directory, the model and the todos are copied. Data of the source alone is not: costs, decisions,
/// intents, progress, titles, tags and file history. The last line gets the time `now`.
///
/// The entries must be repaired ([`crate::repair`]).
pub fn fork(
    entries: Vec<Entry>,
    source: &SessionId,
    target: &SessionId,
    now: Timestamp,
    new_id: impl FnMut() -> EntryId,
) -> Fork {
    let origin = Origin { session: source.clone(), ids: HashMap::new() };
    let mut copy = Copy { source, target, new_id, map: HashMap::new(), last: None, origin };
    let mut copied: Vec<Entry> = entries.into_iter().filter_map(|entry| copy.entry(entry)).collect();
    if let Some(last) = copied.iter_mut().rfind(|entry| entry.is_conversation()) {
        last.timestamp = now.max(last.timestamp);
    }
    Fork { entries: copied, origin: copy.origin }
}

struct Copy<'a, F> {
    source: &'a SessionId,
    target: &'a SessionId,
    new_id: F,
    /// New id of each line.
    map: HashMap<EntryId, EntryId>,
    last: Option<EntryId>,
    origin: Origin,
}

impl<F: FnMut() -> EntryId> Copy<'_, F> {
    fn id(&mut self, old: &EntryId) -> EntryId {
        let new = (self.new_id)();
        self.map.insert(old.clone(), new.clone());
        self.origin.ids.insert(new.clone(), old.clone());
        new
    }

    fn mapped(&self, old: Option<&EntryId>) -> Option<EntryId> {
        self.map.get(old?).cloned()
    }

    fn entry(&mut self, mut entry: Entry) -> Option<Entry> {
        match &mut entry.kind {
            EntryKind::Foreign(json) => return self.foreign(&entry.id, entry.timestamp, json),
            EntryKind::Mode(_)
            | EntryKind::Model(_)
            | EntryKind::Cwd(_)
            | EntryKind::Todos(_)
            | EntryKind::Task(_)
            | EntryKind::ReplayDropped
            | EntryKind::ModelLearned(_)
            | EntryKind::ToolsAdded(_)
            | EntryKind::ToolsWithheld(_)
            | EntryKind::ResultsTrimmed(_) => {
                entry.parent = self.mapped(entry.parent.as_ref());
                entry.id = (self.new_id)();
                return Some(entry);
            }
            EntryKind::User(user) => {
                // The copy continues no run of its source.
                user.run = None;
                entry.parent = self.last.clone();
                entry.id = self.id(&entry.id);
            }
            EntryKind::ToolResult(result) => {
                result.assistant = self.mapped(Some(&result.assistant)).or_else(|| self.last.clone())?;
                entry.parent = Some(result.assistant.clone());
                entry.id = self.id(&entry.id);
            }
            EntryKind::Assistant(message) => {
                entry.parent = self.last.clone();
                for (at, id) in message.block_ids.iter_mut().enumerate() {
                    let is_last = at + 1 == message.content.len();
                    *id = self.id(if is_last { &entry.id } else { id });
                }
                let last = message.block_ids.last().filter(|_| message.block_ids.len() == message.content.len());
                entry.id = last.cloned().unwrap_or_else(|| self.id(&entry.id));
            }
            EntryKind::Compacted(record) => {
                // A boundary is a new beginning.
                record.before = self.mapped(record.before.as_ref());
                entry.parent = None;
                entry.id = self.id(&entry.id);
            }
            _ => return None,
        }
        self.last = Some(entry.id.clone());
        Some(entry)
    }

    fn foreign(&mut self, old: &EntryId, time: Timestamp, json: &JsonText) -> Option<Entry> {
        let kind = kind_of(json);
        let mut object = Object::read(json)?;
        match kind {
            Kind::Beside | Kind::Progress => return None,
            Kind::Replacement => {
                let is_of_source =
                    Object::read(json)?.get::<String>("sessionId").is_some_and(|of| of == self.source.as_str());
                if !is_of_source {
                    return None;
                }
                let new = (self.new_id)();
                object.set("uuid", &new);
                object.set("sessionId", self.target);
                return Some(Entry::new(new, None, time, EntryKind::Foreign(object.to_json()?)));
            }
            Kind::Output | Kind::Queued | Kind::Chained => {}
        }
        // A boundary is a new beginning.
        let is_boundary = object.get::<String>("subtype").is_some_and(|kind| kind == "compact_boundary");
        let logical = Object::read(json)?.get::<String>("logicalParentUuid").map(EntryId::from);
        let parent = self.last.clone().filter(|_| !is_boundary);
        let new = self.id(old);
        object.set("uuid", &new);
        object.set("parentUuid", &parent);
        if logical.is_some() {
            object.set("logicalParentUuid", &self.mapped(logical.as_ref()));
        }
        object.set("sessionId", self.target);
        object.set("isSidechain", &false);
        object.set("forkedFrom", &ForkedFrom { session_id: self.source.as_str(), message_uuid: old.as_str() });
        for field in SOURCE_FIELDS {
            object.remove(field);
        }
        let entry = Entry::new(new.clone(), parent, time, EntryKind::Foreign(object.to_json()?));
        self.last = Some(new);
        Some(entry)
    }
}
