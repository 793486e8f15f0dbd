//! Open permission requests of stored sessions.

use crate::SessionId;
use crate::error::AnswerProblem;
use crate::error::Error;
use crate::home::Home;
use serde::Serialize;
use windlass_session::{
    AnswerRefusal, LastRun, OpenRun, PendingAnswers, SessionStore, StoreErrorKind, StoredAnswer, StoredQuestion,
    stored_questions,
};
use windlass_tool::{Clock, SystemClock};
use windlass_types::{
    AgentIdentity, AgentPath, CallDigest, JsonText, PendingQuestion, PermissionAnswer, QuestionId, QuestionToken,
    Timestamp, ToolUseId,
};

/// A permission request of a stored session that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OpenQuestion {
    /// Id of the session.
    pub session: SessionId,
    /// Id of the request.
    pub id: QuestionId,
    /// Time of the request.
    pub asked: Timestamp,
    /// Tool use in question.
    pub tool_use_id: ToolUseId,
    /// Name of the tool.
    pub tool: String,
    /// Effect of the call, in one line.
    pub title: String,
    /// Input as the model wrote it. Hooks may have changed it since; the title and the digest are those of the request.
    pub input: JsonText,
    /// Directory that the call would start in, as the log names it.
    pub cwd: String,
    /// Digest of the exact call that an answer applies to.
    pub digest: CallDigest,
    /// `true` if there is an answer that the session has not taken yet.
    pub answered: bool,
    /// Tool uses that lead to the asking agent, the outermost first. Empty for the main agent, and left out of the JSON
    /// then.
    #[serde(skip_serializing_if = "AgentPath::is_main")]
    pub agent: AgentPath,
    /// Identity of that agent, if it is not the main one: `agent_id` and `agent_type` in the JSON.
    #[serde(flatten)]
    pub identity: Option<AgentIdentity>,
}

impl Home {
    /// Open permission requests of a session ([`Permissions::wait_for_answers`]), in the order of asking, followed by
    /// those of agents that it waits for. Their tokens are not stored: the recipients of the requests have them, and
    /// the continuation of the session gets others for the same requests.
    ///
    /// [`Permissions::wait_for_answers`]: crate::Permissions::wait_for_answers
    ///
    /// # Errors
    /// The session does not exist, or cannot be read.
    pub async fn pending_questions(&self, id: impl AsRef<str>) -> Result<Vec<OpenQuestion>, Error> {
        let (store, key) = (self.store(), self.found(id.as_ref()).await?.key);
        let mut open = Vec::new();
        for asked in stored_questions(&store, &key).await? {
            // An unreadable answer is ignored.
            let answered = store.answer_to(&asked.key, &asked.question.id).await.is_ok_and(|found| found.is_some());
            open.push(described(asked, answered));
        }
        Ok(open)
    }

    /// Returns the last run of a session if it has not ended: its process ended before it, or [handed it
    /// over](crate::SessionHandle::hand_over). [`Prompt::continue_run`](crate::Prompt::continue_run)
    /// continues it. `None` for a run that waits for answers.
    ///
    /// # Errors
    /// The session does not exist, or cannot be read.
    pub async fn open_run(&self, id: impl AsRef<str>) -> Result<Option<OpenRun>, Error> {
        let (store, key) = (self.store(), self.found(id.as_ref()).await?.key);
        let loaded = store.load(&key).await?;
        Ok(LastRun::of(&loaded.entries).open())
    }

    /// Answers an open permission request of a session, or of one of its agents, with the token of the request. The
    /// session may be open elsewhere. It takes the answer when it continues, or within a second if it is asking now,
    /// and only for exactly the call of the request. The first answer is used.
    ///
    /// # Errors
    /// The session does not exist; the request is not open, has an answer, or has another token; the answer is more
    /// than a plain yes or no ([`Error::Answer`]); or it cannot be written.
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

/// Decision and message of an answer; `None` for an answer that requests more.
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
