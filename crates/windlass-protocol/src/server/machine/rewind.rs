//! Rewinds for the host: `rewind_files` for files, `windlass_rewind_conversation` for the conversation, and optionally
//! for the files too.

use super::ServerMachine;
use super::answers::{RequestAnswer, RequestRefusal, RequestReply, field};
use serde_json::{Value, json};
use windlass_conversation::{Request, RewindScope, Rewound};
use windlass_session::{NotRestoredKind, Rewind, RewindPoint};
use windlass_types::{EntryId, JsonText};

impl ServerMachine {
    /// Begins a rewind, which is answered when it is done.
    pub(super) fn rewind(&mut self, id: &str, subtype: &str, body: &JsonText) -> Result<RequestReply, RequestRefusal> {
        let to = field::<String>(body, "user_message_id")?;
        let to = EntryId::from(to.ok_or_else(|| RequestRefusal::new("`user_message_id` is missing"))?);
        let dry_run = field::<bool>(body, "dry_run")?.unwrap_or_default();
        let scope = match (subtype, field::<bool>(body, "files")?) {
            ("rewind_files", _) => RewindScope::Files,
            (_, Some(true)) => RewindScope::Both,
            (_, Some(false) | None) => RewindScope::Conversation,
        };
        self.ask_conversation(id, subtype, None, Request::Rewind { to, scope, dry_run })
    }
}

/// Answer to a rewind.
pub(super) fn answer(dry_run: bool, outcome: Result<Rewound, String>) -> RequestAnswer {
    match outcome.and_then(|rewound| rewound_json(&rewound, dry_run)) {
        Ok(value) => Ok(Some(value)),
        // A preview contains the problem. SDKs recognise failures only by errors.
        Err(error) if dry_run => Ok(Some(json!({ "canRewind": false, "error": error }))),
        Err(error) => Err(RequestRefusal::new(error)),
    }
}

/// Answer for the parts that were rewound.
fn rewound_json(rewind: &Rewound, dry_run: bool) -> Result<Value, String> {
    let mut answer = match &rewind.files {
        // If the conversation was rewound, unchanged files are no failure.
        Some(files) => files_json(files, dry_run, rewind.conversation.is_some())?,
        None => json!({ "canRewind": true }),
    };
    let (Some(point), Some(fields)) = (&rewind.conversation, answer.as_object_mut()) else { return Ok(answer) };
    let RewindPoint { dropped, is_undo, .. } = point;
    fields.insert("messagesDropped".to_owned(), json!(dropped));
    if *is_undo {
        fields.insert("takesBack".to_owned(), json!(true));
    }
    // The id for undoing the files alone is replaced by the one for undoing the whole rewind.
    fields.remove("undoMessageId");
    if let Some(undo) = &rewind.undo {
        fields.insert("undoMessageId".to_owned(), json!(undo));
    }
    Ok(answer)
}

/// Outcome for files. An error when some should have changed and none did.
fn files_json(rewind: &Rewind, dry_run: bool, with_conversation: bool) -> Result<Value, String> {
    let problems: Vec<String> = rewind
        .left()
        .map(|file| {
            let reason = file.problem.as_ref().map_or("", |problem| problem.reason.as_str());
            format!("{}: {reason}", file.path.display())
        })
        .collect();
    if !problems.is_empty() && rewind.changed().next().is_none() && !with_conversation {
        return Err(format!("No file could be rewound. {}", problems.join("; ")));
    }
    let paths: Vec<String> = rewind.changed().map(|file| file.path.display().to_string()).collect();
    let mut answer = json!({
        "canRewind": true,
        "filesChanged": paths,
        "insertions": rewind.insertions(),
        "deletions": rewind.deletions(),
    });
    let Some(fields) = answer.as_object_mut() else { return Ok(answer) };
    let links = rewind.left().filter_map(|file| file.problem.as_ref());
    let links = links.filter(|problem| problem.kind == NotRestoredKind::Link).count();
    if links > 0 && !dry_run {
        fields.insert("skippedLinks".to_owned(), json!(links));
    }
    // Fields that the protocol does not define, for hosts that show them.
    if !problems.is_empty() {
        fields.insert("filesLeft".to_owned(), json!(problems));
    }
    let conflicts: Vec<String> =
        rewind.changed().filter(|file| file.conflict).map(|file| file.path.display().to_string()).collect();
    if !conflicts.is_empty() {
        fields.insert("conflicts".to_owned(), json!(conflicts));
    }
    if let Some(undo) = &rewind.undo {
        fields.insert("undoMessageId".to_owned(), json!(undo));
    }
    Ok(answer)
}
