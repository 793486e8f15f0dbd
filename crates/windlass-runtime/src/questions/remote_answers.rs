//! Answers of other processes to questions of a waiting run.

use crate::Persistence;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;
use windlass_core::Unanswered;
use windlass_session::{PendingAnswers, SessionKey, SessionStore, StoreErrorKind, StoredAnswer};
use windlass_types::{PendingQuestion, PermissionAnswer};

/// Interval between checks for an answer while a host is asked, too.
const INTERVAL: Duration = Duration::from_secs(1);

/// Place of the answer to one question.
#[derive(Debug)]
pub(crate) struct RemoteAnswers {
    /// `None`: the session is not kept, so no other process knows of the question.
    kept: Option<(Arc<dyn SessionStore>, SessionKey)>,
    question: PendingQuestion,
}

impl RemoteAnswers {
    pub(crate) fn new(kept: Option<&Persistence>, question: PendingQuestion) -> Self {
        Self { kept: kept.map(|kept| (Arc::clone(&kept.store), kept.key.clone())), question }
    }

    /// Returns the stored answer, if there is a valid one, without marking it as taken.
    ///
    /// # Errors
    /// There is an invalid answer.
    pub(crate) async fn find(&self) -> Result<Option<StoredAnswer>, Unanswered> {
        let Some((answers, key)) = self.answers() else { return Ok(None) };
        let id = &self.question.id;
        let answer = match answers.answer_to(key, id).await {
            Ok(answer) => answer,
            Err(error) if error.kind == StoreErrorKind::Unavailable => None,
            Err(error) => return Err(self.unusable(&error)),
        };
        let Some(answer) = answer else { return Ok(None) };
        answer.check(key, &self.question).map_err(|refusal| self.unusable(&refusal))?;
        Ok(Some(answer))
    }

    /// Takes an answer that was found. It is marked as taken before it is returned: if the process dies then, the
    /// answer is lost and the question is asked again.
    ///
    /// # Errors
    /// The answer was taken before, or cannot be marked.
    pub(crate) async fn take(&self, answer: &StoredAnswer) -> Result<PermissionAnswer, Unanswered> {
        let Some((answers, key)) = self.answers() else { return Err(Unanswered::Yet) };
        match answers.take(key, &self.question.id).await {
            Ok(true) => Ok(answer.to_answer()),
            Ok(false) => Err(self.unusable(&"it was taken before, and what came of it is not known")),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    fn answers(&self) -> Option<(&dyn PendingAnswers, &SessionKey)> {
        let (store, key) = self.kept.as_ref()?;
        Some((store.answers()?, key))
    }

    fn unusable(&self, why: &dyn Display) -> Unanswered {
        Unanswered::Unusable(format!("the answer to the question {} does not count: {why}", self.question.id))
    }

    /// Waits for an answer of another process. A store that cannot be reached for a while is asked again.
    ///
    /// # Errors
    /// There is an invalid answer.
    pub(crate) async fn watch(&self) -> Result<StoredAnswer, Unanswered> {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Some(answer) = self.find().await? {
                return Ok(answer);
            }
        }
    }
}
