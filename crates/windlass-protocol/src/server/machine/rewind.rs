//! `rewind_files`: the host wants files back as they were before a message. `windlass_rewind_conversation`: it wants the
//! conversation to end before a message, and the files too if it says so.

use super::Machine;
use super::answers::{Refusal, Reply, field};
use super::io::{HostRewind, Job, Order, RewindScope, Ticket, Timer};
use super::tickets::{Asked, Pending, Rewinding, Stage};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_runtime::RewindError;
use windlass_session::{NotRestoredKind, Rewind, RewindPoint};
use windlass_types::{EntryId, JsonText};

/// How long a rewind waits for the run that continues. The SDKs wait for a minute.
const MOST_WAIT: Duration = Duration::from_secs(30);

impl Machine {
    /// Begins a rewind, which is answered when it is done. A session that is not open is opened for it.
    pub(super) fn rewind(&mut self, id: &str, subtype: &str, body: &JsonText) -> Result<Reply, Refusal> {
        let to = field::<String>(body, "user_message_id")?;
        let to = EntryId::from(to.ok_or_else(|| Refusal::new("`user_message_id` is missing"))?);
        let dry_run = field::<bool>(body, "dry_run")?.unwrap_or_default();
        let scope = match (subtype, field::<bool>(body, "files")?) {
            ("rewind_files", _) => RewindScope::Files,
            (_, Some(true)) => RewindScope::Both,
            (_, Some(false) | None) => RewindScope::Conversation,
        };
        if !self.tickets.has_room_for_rewind() {
            return Err(Refusal::new("too many rewinds wait already"));
        }
        let stage = if self.session.is_open() { Stage::Ordered } else { Stage::Early };
        let rewind = Rewinding { to: to.clone(), scope, dry_run, stage, has_waited: false, is_late: false };
        let ticket = self.tickets.add(Pending::Request(id.to_owned(), Asked::Rewind(rewind)));
        if stage == Stage::Ordered {
            self.order(Order::Begin(ticket, Job::Rewind { to, scope, dry_run }));
        }
        Ok(Reply::Later)
    }

    /// Orders those again that wait for the end of a run: one has ended.
    pub(super) fn rewind_again(&mut self) {
        for (_, rewind) in self.tickets.rewinds(Stage::Ordered) {
            rewind.stage = Stage::OrderedAgain;
        }
        self.begin_rewinds(Stage::Waiting);
    }

    /// Begins the rewinds that came before there was a session.
    pub(super) fn begin_early_rewinds(&mut self) {
        self.begin_rewinds(Stage::Early);
    }

    fn begin_rewinds(&mut self, stage: Stage) {
        let mut orders = Vec::new();
        for (ticket, rewind) in self.tickets.rewinds(stage) {
            rewind.stage = Stage::Ordered;
            let (to, scope, dry_run) = (rewind.to.clone(), rewind.scope, rewind.dry_run);
            orders.push(Order::Begin(ticket, Job::Rewind { to, scope, dry_run }));
        }
        for order in orders {
            self.order(order);
        }
    }

    /// There is no session for the rewinds that came before there was one.
    pub(super) fn fail_early_rewinds(&mut self, error: &str) {
        let early: Vec<_> = self.tickets.rewinds(Stage::Early).into_iter().map(|(ticket, _)| ticket).collect();
        for ticket in early {
            if let Some(Pending::Request(id, _)) = self.tickets.take(ticket) {
                self.reply(&id, Err(Refusal::new(error)));
            }
        }
    }

    /// A rewind is done, or a run was in its way.
    pub(super) fn rewound(
        &mut self,
        ticket: Ticket,
        id: String,
        mut rewind: Rewinding,
        outcome: Result<HostRewind, RewindError>,
    ) {
        let again = outcome == Err(RewindError::Running) && !rewind.is_late;
        if !again {
            self.reply(&id, answer(rewind.dry_run, outcome));
            if rewind.scope != RewindScope::Files {
                // It was in the way of others, like a run. Prompts have waited for it.
                self.begin_rewinds(Stage::Waiting);
                self.advance();
            }
            return;
        }
        let missed = rewind.stage == Stage::OrderedAgain;
        rewind.stage = Stage::Waiting;
        if !rewind.has_waited {
            rewind.has_waited = true;
            self.order(Order::Wake(Timer::Rewind(ticket), MOST_WAIT));
        }
        self.tickets.put_back(ticket, Pending::Request(id, Asked::Rewind(rewind)));
        if missed {
            // The run that was in the way may be the one that has ended meanwhile.
            self.begin_rewinds(Stage::Waiting);
        }
    }

    /// A rewind has waited long enough for the end of a run. One that the session is carrying out is not given up.
    pub(super) fn rewind_is_late(&mut self, ticket: Ticket) {
        match self.tickets.take(ticket) {
            Some(Pending::Request(id, Asked::Rewind(rewind))) if rewind.stage == Stage::Waiting => {
                self.reply(&id, answer(rewind.dry_run, Err(RewindError::Running)));
            }
            Some(Pending::Request(id, Asked::Rewind(mut rewind))) => {
                rewind.is_late = true;
                self.tickets.put_back(ticket, Pending::Request(id, Asked::Rewind(rewind)));
            }
            Some(other) => self.tickets.put_back(ticket, other),
            None => {}
        }
    }
}

/// The answer to the host.
fn answer(dry_run: bool, outcome: Result<HostRewind, RewindError>) -> super::answers::Answer {
    let answer = match outcome {
        Ok(rewind) => answer_of(&rewind, dry_run),
        Err(error) => Err(error.to_string()),
    };
    match answer {
        Ok(value) => Ok(Some(value)),
        // A preview holds the problem; the SDKs read failures from errors alone.
        Err(error) if dry_run => Ok(Some(json!({ "canRewind": false, "error": error }))),
        Err(error) => Err(Refusal::new(error)),
    }
}

/// The answer to a rewind.
fn answer_of(rewind: &HostRewind, dry_run: bool) -> Result<Value, String> {
    let mut answer = match &rewind.files {
        // The conversation is rewound already where it was wanted: that some files stayed is no failure then.
        Some(files) => files_of(files, dry_run, rewind.conversation.is_some())?,
        None => json!({ "canRewind": true }),
    };
    let (Some(point), Some(fields)) = (&rewind.conversation, answer.as_object_mut()) else { return Ok(answer) };
    let RewindPoint { dropped, is_undo, .. } = point;
    fields.insert("messagesDropped".to_owned(), json!(dropped));
    if *is_undo {
        fields.insert("takesBack".to_owned(), json!(true));
    }
    // Rewinding the files alone is another step back.
    fields.remove("undoMessageId");
    if let Some(undo) = &rewind.undo {
        fields.insert("undoMessageId".to_owned(), json!(undo));
    }
    Ok(answer)
}

/// What became of files. An error when some should have changed and none did.
fn files_of(rewind: &Rewind, dry_run: bool, with_conversation: bool) -> Result<Value, String> {
    let left: Vec<String> = rewind
        .left()
        .map(|file| {
            let reason = file.problem.as_ref().map_or("", |problem| problem.reason.as_str());
            format!("{}: {reason}", file.path.display())
        })
        .collect();
    if !left.is_empty() && rewind.changed().next().is_none() && !with_conversation {
        return Err(format!("No file could be rewound. {}", left.join("; ")));
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
    if !left.is_empty() {
        fields.insert("filesLeft".to_owned(), json!(left));
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
