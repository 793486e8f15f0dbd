//! Questions of stored sessions that wait for an answer.

use crate::error::AnswerProblem;
use crate::{Error, Home, SessionId};
use serde::Serialize;
use windlass_session::{AnswerRefusal, PendingAnswers, StoreErrorKind, StoredAnswer, StoredQuestion, stored_questions};
use windlass_tool::{Clock, SystemClock};
use windlass_types::{
    AgentIdentity, AgentPath, CallDigest, JsonText, PendingQuestion, PermissionAnswer, QuestionId, QuestionToken,
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
    /// The tool uses that lead to the agent that asks, the outermost first. Empty for the main agent, and left out of the JSON
    /// then.
    #[serde(skip_serializing_if = "AgentPath::is_main")]
    pub agent: AgentPath,
    /// Who that agent is, if it is not the main one: `agent_id` and `agent_type` in the JSON.
    #[serde(flatten)]
    pub identity: Option<AgentIdentity>,
}

impl Home {
    /// The questions of a session that wait for an answer ([`Permissions::wait_for_answers`]), in the order in which they
    /// were asked, and behind them those of agents that it waits for. Their tokens are not kept: who was asked has them, and who
    /// continues the session gets others for the same questions.
    ///
    /// [`Permissions::wait_for_answers`]: crate::Permissions::wait_for_answers
    ///
    /// # Errors
    /// There is no such session, or it cannot be read.
    pub async fn pending_questions(&self, id: impl AsRef<str>) -> Result<Vec<OpenQuestion>, Error> {
        let (store, key) = (self.store(), self.found(id.as_ref()).await?.key);
        let mut open = Vec::new();
        for asked in stored_questions(&store, &key).await? {
            // An answer that cannot be read is none that counts.
            let answered = store.answer_to(&asked.key, &asked.question.id).await.is_ok_and(|found| found.is_some());
            open.push(described(asked, answered));
        }
        Ok(open)
    }

    /// Answers a question of a session that waits, also one of an agent of it, with the token that was given when it was
    /// asked. The session may be open elsewhere. It takes the answer when it continues, or within a second if it is asking
    /// now, and only for exactly the call that was asked about. The first answer counts.
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
        let open = stored_questions(&store, &key).await?;
        let asked = open.into_iter().find(|asked| asked.question.id == *question);
        let StoredQuestion { key, question: asked, .. } = asked.ok_or_else(|| refused(AnswerProblem::NotOpen))?;
        let (token, at) = (QuestionToken::new(token), SystemClock::default().now());
        let answer = StoredAnswer::new(&key, &asked, token, allow, at).with_message(message);
        match answer.check(&key, &asked) {
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

fn described(asked: StoredQuestion, answered: bool) -> OpenQuestion {
    let StoredQuestion { key, agent, identity, question, asked, input, .. } = asked;
    let PendingQuestion { id, tool_use_id, digest, tool, title, cwd, .. } = question;
    OpenQuestion {
        session: key.session,
        id,
        asked,
        tool_use_id,
        tool,
        title,
        input,
        cwd,
        digest,
        answered,
        agent,
        identity,
    }
}
