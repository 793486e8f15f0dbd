//! Permission requests of stored sessions: those of the main agent, and those of the agents that its open calls wait
//! for.

use super::PendingQuestions;
use crate::{RepairReport, SessionKey, SessionStore, StoreError, repair_but_pending};
use std::collections::HashSet;
use windlass_types::{
    AgentIdentity, AgentPath, ContentBlock, Entry, EntryKind, JsonText, PendingQuestion, Timestamp, ToolUse, ToolUseId,
    WaitingCall,
};

/// Maximum depth of the search below the main agent. Agents are never as deep.
const MAX_DEPTH: usize = 16;

/// A permission request that waits for an answer, and its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredQuestion {
    /// Log that contains the request: its answer is stored beside that.
    pub key: SessionKey,
    /// Tool uses from the main agent down to the agent of the request; empty for the main agent.
    pub agent: AgentPath,
    /// Identity of that agent, if it is not the main one.
    pub identity: Option<AgentIdentity>,
    /// Permission request.
    pub question: PendingQuestion,
    /// Time when the request was sent.
    pub asked: Timestamp,
    /// Input as the model wrote it.
    pub input: JsonText,
}

/// A log that is searched for requests.
struct Asker {
    key: SessionKey,
    agent: AgentPath,
    identity: Option<AgentIdentity>,
}

/// Findings below a call.
#[derive(Default)]
struct Walked {
    questions: Vec<StoredQuestion>,
    /// `true` if the log of an agent could not be read.
    is_incomplete: bool,
}

impl Asker {
    fn main(key: &SessionKey) -> Self {
        Self { key: key.clone(), agent: AgentPath::default(), identity: None }
    }

    /// Returns the requests of the log with these entries, and the agents that it waits for.
    fn read(&self, entries: &[Entry]) -> (Vec<StoredQuestion>, Vec<Self>) {
        let pending = PendingQuestions::of(entries);
        let questions = pending.iter().map(|question| self.asks(question, entries)).collect();
        (questions, pending.waiting_calls().map(|call| self.waits_for(call)).collect())
    }

    /// Returns the agent that a call of this one waits for.
    fn waits_for(&self, call: &WaitingCall) -> Self {
        Self {
            key: self.key.of_agent(call.agent.clone()),
            agent: self.agent.child(call.tool_use_id.clone()),
            identity: Some(AgentIdentity::new(call.agent.clone(), call.agent_type.clone())),
        }
    }

    /// Returns the requests of this agent, and of those that it waits for.
    async fn walk(self, store: &dyn SessionStore) -> Walked {
        let mut walked = Walked::default();
        let mut next = vec![self];
        // A log may name any agent, even a parent.
        let mut known = HashSet::new();
        while let Some(asker) = next.pop() {
            if asker.agent.tool_uses().len() > MAX_DEPTH || !known.insert(asker.key.clone()) {
                continue;
            }
            let Ok(loaded) = store.load(&asker.key).await else {
                walked.is_incomplete = true;
                continue;
            };
            let (entries, _) = repair_but_pending(loaded.entries);
            let (questions, below) = asker.read(&entries);
            walked.questions.extend(questions);
            next.extend(below.into_iter().rev());
        }
        walked
    }

    fn asks(&self, question: &PendingQuestion, entries: &[Entry]) -> StoredQuestion {
        let mut latest = entries.iter().rev();
        let is_it = |entry: &&Entry| matches!(&entry.kind, EntryKind::Question(asked) if asked.id == question.id);
        StoredQuestion {
            key: self.key.clone(),
            agent: self.agent.clone(),
            identity: self.identity.clone(),
            question: question.clone(),
            asked: latest.find(is_it).map(|entry| entry.timestamp).unwrap_or_default(),
            input: call_of(&question.tool_use_id, entries)
                .map_or_else(JsonText::empty_object, |call| call.input.clone()),
        }
    }
}

/// Returns a call of the last message.
fn call_of<'a>(id: &ToolUseId, entries: &'a [Entry]) -> Option<&'a ToolUse> {
    let content = entries.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Assistant(message) => Some(&message.content),
        _ => None,
    });
    content?.iter().filter_map(ContentBlock::as_tool_use).find(|call| call.id == *id)
}

/// Returns the permission requests of a session that wait for an answer, including those of agents that its open calls
/// wait for, at any depth. Requests of one agent are in the order in which they were sent, and come after those of its
/// parent.
///
/// A request of an agent whose call has a result is left out: no answer to it would be valid.
///
/// # Errors
/// No such session exists, or its log cannot be read. Unreadable logs of agents are left out: they cannot be continued.
pub async fn stored_questions(store: &dyn SessionStore, key: &SessionKey) -> Result<Vec<StoredQuestion>, StoreError> {
    let (entries, _) = repair_but_pending(store.load(key).await?.entries);
    Ok(questions_below(store, key, &entries).await)
}

/// Returns the permission requests like [`stored_questions`], of a session with these entries.
pub async fn questions_below(store: &dyn SessionStore, key: &SessionKey, entries: &[Entry]) -> Vec<StoredQuestion> {
    let (mut found, below) = Asker::main(key).read(entries);
    for asker in below {
        found.extend(asker.walk(store).await.questions);
    }
    found
}

/// Repairs the entries of a log like [`repair_but_pending`], and closes calls whose agents have no open request any
/// more: the process ended when they were at work again.
pub async fn repair_but_waiting(
    store: &dyn SessionStore,
    key: &SessionKey,
    mut entries: Vec<Entry>,
) -> (Vec<Entry>, RepairReport) {
    let main = Asker::main(key);
    let mut ended = HashSet::new();
    for call in PendingQuestions::of(&entries).waiting_calls() {
        let walked = main.waits_for(call).walk(store).await;
        // A call whose agent's log cannot be read is an error when it is continued.
        if walked.questions.is_empty() && !walked.is_incomplete {
            ended.insert(call.tool_use_id.clone());
        }
    }
    if !ended.is_empty() {
        entries
            .retain(|entry| !matches!(&entry.kind, EntryKind::AgentWaits(call) if ended.contains(&call.tool_use_id)));
    }
    repair_but_pending(entries)
}
