//! Answers left by another process, and their storage.

use super::is_token_of;
use crate::{SessionKey, StoreError};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::fmt;
use windlass_types::{
    AgentId, CallDigest, PendingQuestion, PermissionAnswer, QuestionId, QuestionToken, SessionId, Timestamp,
};

/// An answer to a permission request, as stored beside the log. It applies to one request of one session, about one
/// exact call, and only with the token of the request: the content of a log alone cannot make a call run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct StoredAnswer {
    /// Id of the session.
    pub session: SessionId,
    /// Agent below the main one whose log has the request; `None` for the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// Id of the request.
    pub question: QuestionId,
    /// Digest of the call.
    pub digest: CallDigest,
    /// Token of the request.
    pub token: QuestionToken,
    /// `true` if the call may run.
    pub allow: bool,
    /// Text of a denial for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Time of the answer.
    pub at: Timestamp,
}

impl StoredAnswer {
    /// Returns an answer to this request, which is in the log with this key.
    pub fn new(key: &SessionKey, question: &PendingQuestion, token: QuestionToken, allow: bool, at: Timestamp) -> Self {
        let (session, agent) = (key.session.clone(), key.agent.clone());
        let (question, digest) = (question.id.clone(), question.digest.clone());
        Self { session, agent, question, digest, token, allow, message: None, at }
    }

    /// Sets the text of a denial for the model.
    #[must_use]
    pub fn with_message(mut self, message: Option<String>) -> Self {
        self.message = message;
        self
    }

    /// Checks that this answers a request of the log with this key.
    ///
    /// # Errors
    /// The answer is for another session, agent, request or call, or its token is wrong.
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

    /// Returns the answer as a host would give it.
    pub fn to_answer(&self) -> PermissionAnswer {
        if self.allow {
            return PermissionAnswer::allow();
        }
        let message = self.message.clone().filter(|message| !message.trim().is_empty());
        PermissionAnswer::deny(message.unwrap_or_else(|| "The call was not approved.".to_owned()))
    }
}

/// Reason why an answer is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerRefusal {
    /// The answer is for another session.
    OtherSession,
    /// The answer is for another agent of the session.
    OtherAgent,
    /// The answer is for another request.
    OtherQuestion,
    /// The answer is for another call: the input, the directory or the files differ from the request.
    OtherCall,
    /// The token is not that of the request.
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

/// Storage of answers to permission requests until the session takes them.
///
/// An answer is given once and taken once, whatever processes do at the same time. A store without this ability leaves
/// [`SessionStore::answers`](crate::SessionStore::answers) unimplemented.
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
    /// Stores an answer, durable. It must have been [checked](StoredAnswer::check) before.
    ///
    /// # Errors
    /// [`StoreErrorKind::Exists`](crate::StoreErrorKind::Exists) when the request has an answer already, taken or not;
    /// other kinds when it cannot be stored.
    async fn give(&self, key: &SessionKey, answer: &StoredAnswer) -> Result<(), StoreError>;

    /// Returns the answer to a request, if there is one, taken or not. The answer need not be genuine:
    /// [check](StoredAnswer::check) it.
    ///
    /// # Errors
    /// The answer cannot be read, or users other than this one could have written it.
    async fn answer_to(&self, key: &SessionKey, question: &QuestionId) -> Result<Option<StoredAnswer>, StoreError>;

    /// Marks the answer to a request as taken, durable, before it is used. Returns `true` the first time: only then the
    /// answer applies.
    ///
    /// # Errors
    /// The mark cannot be stored. Then the answer must not be used.
    async fn take(&self, key: &SessionKey, question: &QuestionId) -> Result<bool, StoreError>;
}
