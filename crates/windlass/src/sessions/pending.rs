//! Questions of stored sessions that wait for an answer.

use crate::error::AnswerProblem;
use crate::{Error, Home, SessionId};
use serde::Serialize;
use windlass_session::{
    AnswerRefusal, PendingAnswers, PendingQuestions, SessionStore, StoreErrorKind, StoredAnswer, repair_but_pending,
};
use windlass_tool::{Clock, SystemClock};
use windlass_types::{
    CallDigest, ContentBlock, Entry, EntryKind, JsonText, PendingQuestion, PermissionAnswer, QuestionId, QuestionToken,
    Timestamp, ToolUseId,
};

/// A question of a stored session that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OpenQuestion {
    /// The session.
    pub session: SessionId,
    /// The question.
    pub id: QuestionId,
    /// When it was asked.
    pub asked: Timestamp,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// The tool.
    pub tool: String,
    /// What would happen, in one line.
    pub title: String,
    /// The input as the model wrote it. Hooks may have changed it since; the title and the digest are of what was asked.
    pub input: JsonText,
    /// The directory that the call would start in, as the log names it.
    pub cwd: String,
    /// The exact call that an answer holds for.
    pub digest: CallDigest,
    /// Whether there is an answer, which the session has not taken.
    pub answered: bool,
}

impl Home {
    /// The questions of a session that wait for an answer ([`Permissions::wait_for_answers`]), in the order in which they
    /// were asked. Their tokens are not kept: only who was asked has them.
    ///
    /// [`Permissions::wait_for_answers`]: crate::Permissions::wait_for_answers
    ///
    /// # Errors
    /// There is no such session, or it cannot be read.
    pub async fn pending_questions(&self, id: impl AsRef<str>) -> Result<Vec<OpenQuestion>, Error> {
        let (store, key) = (self.store(), self.found(id.as_ref()).await?.key);
        let (entries, _) = repair_but_pending(store.load(&key).await?.entries);
        let mut open = Vec::new();
        for question in PendingQuestions::of(&entries).iter() {
            // An answer that cannot be read is none that counts.
            let answered = store.answer_to(&key, &question.id).await.is_ok_and(|found| found.is_some());
            open.push(described(&key.session, question, &entries, answered));
        }
        Ok(open)
    }

    /// Answers a question of a session that waits, with the token that was given when it was asked. The session may be
    /// open elsewhere. It takes the answer when it continues, or within a second if it is asking now, and only for
    /// exactly the call that was asked about. The first answer counts.
    ///
    /// # Errors
    /// There is no such session; the question is not open, has an answer, or has another token; the answer is more than a
    /// plain yes or no ([`Error::Answer`]); or it cannot be written.
    pub async fn answer_question(
        &self,
        id: impl AsRef<str>,
        question: &QuestionId,
        token: &str,
        answer: PermissionAnswer,
    ) -> Result<(), Error> {
        let refused = |problem| Error::Answer { question: question.clone(), problem };
        let (allow, message) = plain(answer).ok_or_else(|| refused(AnswerProblem::NotPlain))?;
        let (store, key) = (self.store(), self.found(id.as_ref()).await?.key);
        let (entries, _) = repair_but_pending(store.load(&key).await?.entries);
        let pending = PendingQuestions::of(&entries);
        let asked =
            pending.iter().find(|asked| asked.id == *question).ok_or_else(|| refused(AnswerProblem::NotOpen))?;
        let (token, at) = (QuestionToken::new(token), SystemClock::default().now());
        let answer = StoredAnswer::new(key.session.clone(), asked, token, allow, at).with_message(message);
        match answer.check(&key.session, asked) {
            Ok(()) => {}
            Err(AnswerRefusal::WrongToken) => return Err(refused(AnswerProblem::WrongToken)),
            Err(_) => return Err(refused(AnswerProblem::NotOpen)),
        }
        store.give(&key, &answer).await.map_err(|error| match error.kind {
            StoreErrorKind::Exists => refused(AnswerProblem::Answered),
            _ => error.into(),
        })
    }
}

/// Whether an answer allows, and what it says; `None` for one that wants more.
fn plain(answer: PermissionAnswer) -> Option<(bool, Option<String>)> {
    match answer {
        PermissionAnswer::Allow { updated_input: None, updates } if updates.is_empty() => Some((true, None)),
        PermissionAnswer::Deny { message, interrupt: false } => Some((false, Some(message))),
        _ => None,
    }
}

fn described(session: &SessionId, question: &PendingQuestion, entries: &[Entry], answered: bool) -> OpenQuestion {
    let asked = entries.iter().rev().find(|entry| matches!(&entry.kind, EntryKind::Question(q) if q.id == question.id));
    let calls = entries.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Assistant(message) => Some(&message.content),
        _ => None,
    });
    let mut calls = calls.into_iter().flatten().filter_map(ContentBlock::as_tool_use);
    let input = calls.find(|call| call.id == question.tool_use_id).map(|call| call.input.clone());
    OpenQuestion {
        session: session.clone(),
        id: question.id.clone(),
        asked: asked.map(|entry| entry.timestamp).unwrap_or_default(),
        tool_use_id: question.tool_use_id.clone(),
        tool: question.tool.clone(),
        title: question.title.clone(),
        input: input.unwrap_or_else(JsonText::empty_object),
        cwd: question.cwd.clone(),
        digest: question.digest.clone(),
        answered,
    }
}
