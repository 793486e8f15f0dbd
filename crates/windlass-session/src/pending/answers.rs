//! Answers that another process left, and where they are kept.

use super::is_token_of;
use crate::{SessionKey, StoreError};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;
use windlass_types::{
    AgentId, CallDigest, PendingQuestion, PermissionAnswer, QuestionId, QuestionToken, SessionId, Timestamp,
};

/// An answer to a question, as it is kept beside the log. It counts for one question of one session, about one exact call,
/// and only with the token of the question: nothing that stands in a log alone can make a call run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct StoredAnswer {
    /// The session.
    pub session: SessionId,
    /// The agent below the main one whose log has the question; `None` for the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The question.
    pub question: QuestionId,
    /// The call that was asked about.
    pub digest: CallDigest,
    /// The token of the question.
    pub token: QuestionToken,
    /// Whether the call may run.
    pub allow: bool,
    /// What the model reads of a denial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When it was given.
    pub at: Timestamp,
}

impl StoredAnswer {
    /// An answer to this question, which the log with this key has.
    pub fn new(key: &SessionKey, question: &PendingQuestion, token: QuestionToken, allow: bool, at: Timestamp) -> Self {
        let (session, agent) = (key.session.clone(), key.agent.clone());
        let (question, digest) = (question.id.clone(), question.digest.clone());
        Self { session, agent, question, digest, token, allow, message: None, at }
    }

    /// Sets what the model reads of a denial.
    #[must_use]
    pub fn with_message(mut self, message: Option<String>) -> Self {
        self.message = message;
        self
    }

    /// Whether this answers a question of the log with this key.
    ///
    /// # Errors
    /// It is for another session, agent, question or call, or its token is wrong.
    pub fn check(&self, key: &SessionKey, question: &PendingQuestion) -> Result<(), AnswerRefusal> {
        if self.session != key.session {
            return Err(AnswerRefusal::OtherSession);
        }
        if self.agent != key.agent {
            return Err(AnswerRefusal::OtherAgent);
        }
        if self.question != question.id {
            return Err(AnswerRefusal::OtherQuestion);
        }
        if self.digest != question.digest {
            return Err(AnswerRefusal::OtherCall);
        }
        let mut tokens = std::iter::once(&question.token).chain(&question.earlier_tokens);
        if !tokens.any(|token| is_token_of(&self.token, token)) {
            return Err(AnswerRefusal::WrongToken);
        }
        Ok(())
    }

    /// The answer as a host would give it.
    pub fn to_answer(&self) -> PermissionAnswer {
        if self.allow {
            return PermissionAnswer::allow();
        }
        let message = self.message.clone().filter(|message| !message.trim().is_empty());
        PermissionAnswer::deny(message.unwrap_or_else(|| "The call was not approved.".to_owned()))
    }
}

/// Why an answer does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerRefusal {
    /// It is for another session.
    OtherSession,
    /// It is for another agent of the session.
    OtherAgent,
    /// It is for another question.
    OtherQuestion,
    /// It is for another call: the input, the directory or the files are not those that were asked about.
    OtherCall,
    /// Its token is not that of the question.
    WrongToken,
}

impl fmt::Display for AnswerRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherSession => "it was given for another session",
            Self::OtherAgent => "it was given for another agent",
            Self::OtherQuestion => "it was given for another question",
            Self::OtherCall => "it was given for another call",
            Self::WrongToken => "its token is not that of the question",
        })
    }
}

impl std::error::Error for AnswerRefusal {}

/// Where answers to questions are kept until the session takes them.
///
/// An answer is given once and taken once, whatever processes do at the same time. A store that has none leaves
/// [`SessionStore::answers`](crate::SessionStore::answers) as it is.
///
/// ```
/// # mod windlass { pub mod store { pub use windlass_session::*; } pub mod permission { pub use windlass_types::QuestionId; } }
/// use std::{collections::BTreeMap, sync::Mutex};
/// use windlass::permission::QuestionId;
/// use windlass::store::{PendingAnswers, SessionKey, StoreError, StoreErrorKind, StoredAnswer};
///
/// /// Answers of this process alone, and whether each was taken.
/// #[derive(Debug, Default)]
/// struct Answers(Mutex<BTreeMap<QuestionId, (StoredAnswer, bool)>>);
///
/// #[async_trait::async_trait]
/// impl PendingAnswers for Answers {
///     async fn give(&self, _: &SessionKey, answer: &StoredAnswer) -> Result<(), StoreError> {
///         let mut answers = self.0.lock().expect("no thread panicked");
///         if answers.contains_key(&answer.question) {
///             return Err(StoreError::new(StoreErrorKind::Exists, "there is an answer already"));
///         }
///         answers.insert(answer.question.clone(), (answer.clone(), false));
///         Ok(())
///     }
///
///     async fn answer_to(&self, _: &SessionKey, question: &QuestionId) -> Result<Option<StoredAnswer>, StoreError> {
///         Ok(self.0.lock().expect("no thread panicked").get(question).map(|(answer, _)| answer.clone()))
///     }
///
///     async fn take(&self, _: &SessionKey, question: &QuestionId) -> Result<bool, StoreError> {
///         let mut answers = self.0.lock().expect("no thread panicked");
///         Ok(answers.get_mut(question).is_some_and(|(_, taken)| !std::mem::replace(taken, true)))
///     }
/// }
/// ```
#[async_trait]
pub trait PendingAnswers: fmt::Debug + Send + Sync {
    /// Keeps an answer, durable. It must have been [checked](StoredAnswer::check) before.
    ///
    /// # Errors
    /// [`StoreErrorKind::Exists`](crate::StoreErrorKind::Exists) when the question has an answer already, taken or not;
    /// other kinds when it cannot be kept.
    async fn give(&self, key: &SessionKey, answer: &StoredAnswer) -> Result<(), StoreError>;

    /// The answer to a question, if there is one, taken or not. What is found need not be genuine:
    /// [check](StoredAnswer::check) it.
    ///
    /// # Errors
    /// There is an answer that cannot be read, or that others than this user could have written.
    async fn answer_to(&self, key: &SessionKey, question: &QuestionId) -> Result<Option<StoredAnswer>, StoreError>;

    /// Marks the answer to a question as taken, durable, before anything is done with it. Returns whether this was the
    /// first time: only then it counts.
    ///
    /// # Errors
    /// The mark cannot be kept. Then the answer must not be used.
    async fn take(&self, key: &SessionKey, question: &QuestionId) -> Result<bool, StoreError>;
}
