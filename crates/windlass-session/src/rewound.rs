//! Rewind to an earlier prompt in the log itself: a line records where the conversation continues, and where it had
//! ended.

use crate::Lease;
use crate::branch::UnknownEntry;
use crate::copy::ForkError;
use crate::store::{Durability, SessionStore};
use crate::{SessionKey, foreign::kind_of};
use serde::{Deserialize, Serialize};
use windlass_types::{Entry, EntryId, EntryKind, JsonText, SessionId, Timestamp};

/// Subtype of such a line. It is written and searched literally.
const SUBTYPE: &str = "conversation_rewound";

/// Record of a rewind of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewoundMark {
    /// Id of the line: rewinding to it undoes the rewind.
    pub id: EntryId,
    /// Checkpoint that undoes the simultaneous changes to files.
    pub files: Option<EntryId>,
    /// Time of the rewind.
    pub at: Timestamp,
}

impl RewoundMark {
    /// Returns the record of a rewind of the conversation alone.
    pub fn new(id: EntryId, at: Timestamp) -> Self {
        Self { id, files: None, at }
    }

    /// Adds the checkpoint that undoes the changes to files.
    #[must_use]
    pub fn with_files(mut self, undo: Option<EntryId>) -> Self {
        self.files = undo;
        self
    }
}

/// Point that a conversation can be rewound to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewindPoint {
    /// Last entry that is kept. `None` before the first prompt.
    pub kept: Option<EntryId>,
    /// Present last entry of the conversation.
    pub left: Option<EntryId>,
    /// Checkpoint of files for the point, if it is an earlier rewind that changed files.
    pub files: Option<EntryId>,
    /// Number of messages of the user and the model that are removed from the conversation. 0 if an earlier rewind is
    /// undone.
    pub dropped: usize,
    /// `true` if an earlier rewind is undone.
    pub is_undo: bool,
}

/// Line of the log. Other programs display nothing of it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RewoundLine {
    #[serde(rename = "type")]
    kind: String,
    subtype: String,
    content: String,
    uuid: EntryId,
    parent_uuid: Option<EntryId>,
    session_id: SessionId,
    timestamp: Timestamp,
    left: Option<EntryId>,
    files: Option<EntryId>,
}

/// Finds the point before a prompt, or the point abandoned by an earlier rewind.
///
/// # Errors
/// The conversation has no such prompt: it never existed, or another branch or a compaction hides it.
pub fn rewind_point(entries: &[Entry], to: &EntryId) -> Result<RewindPoint, UnknownEntry> {
    let is_chained = |entry: &&Entry| match &entry.kind {
        EntryKind::Foreign(json) => kind_of(json).is_chained(),
        _ => entry.is_conversation(),
    };
    let left = entries.iter().rfind(is_chained).map(|entry| entry.id.clone());
    let at = entries.iter().position(|entry| entry.id == *to).ok_or_else(|| UnknownEntry { id: to.clone() })?;
    let (before, behind) = entries.split_at_checked(at).unwrap_or((entries, &[]));
    match behind.first().map(|entry| (&entry.kind, &entry.parent)) {
        Some((EntryKind::User(user), _)) if !user.is_meta && !user.is_summary => {
            let kept = before.iter().rfind(is_chained).map(|entry| entry.id.clone());
            let dropped = behind.iter().filter(|entry| entry.is_conversation()).count();
            Ok(RewindPoint { kept, left, files: None, dropped, is_undo: false })
        }
        Some((EntryKind::Foreign(json), _)) if is_mark(json) => {
            let line: Option<RewoundLine> = serde_json::from_str(json.as_str()).ok();
            let line = line.ok_or_else(|| UnknownEntry { id: to.clone() })?;
            Ok(RewindPoint { kept: line.left, left, files: line.files, dropped: 0, is_undo: true })
        }
        _ => Err(UnknownEntry { id: to.clone() }),
    }
}

/// Ends the conversation of a stored session before a prompt. Nothing is removed from the log: the later lines are on a
/// branch that the conversation has left, and rewinding to the mark returns to it, until the conversation continues.
///
/// Returns the point, and the position of the log after the mark.
///
/// # Errors
/// No such prompt exists in the conversation, or the store refuses. Then nothing was written.
pub async fn rewind_conversation(
    store: &dyn SessionStore,
    key: &SessionKey,
    lease: &Lease,
    to: &EntryId,
    mark: RewoundMark,
) -> Result<(RewindPoint, u64), ForkError> {
    let loaded = store.load(key).await?;
    let point = rewind_point(&loaded.entries, to)?;
    let line = RewoundLine {
        kind: "system".to_owned(),
        subtype: SUBTYPE.to_owned(),
        content: "The conversation was rewound".to_owned(),
        uuid: mark.id.clone(),
        parent_uuid: point.kept.clone(),
        session_id: key.session.clone(),
        timestamp: mark.at,
        left: point.left.clone(),
        files: mark.files,
    };
    let json = serde_json::to_string(&line).ok().and_then(|json| JsonText::parse(json).ok());
    let kind = EntryKind::Foreign(json.unwrap_or_else(JsonText::empty_object));
    let entry = Entry::new(mark.id, point.kept.clone(), mark.at, kind);
    let seq = store.append(lease, loaded.seq, vec![entry], Durability::Durable).await?;
    Ok((point, seq))
}

/// `true` if a line of the conversation marks a rewind: then the conversation ends in it.
pub(crate) fn is_mark(json: &JsonText) -> bool {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(default)]
        subtype: Option<&'a str>,
    }
    json.as_str().contains(SUBTYPE)
        && serde_json::from_str::<Named<'_>>(json.as_str()).is_ok_and(|named| named.subtype == Some(SUBTYPE))
}
