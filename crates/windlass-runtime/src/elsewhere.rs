//! Answers that another process gives to a question of a run that waits.

use crate::Persistence;
use std::sync::Arc;
use std::time::Duration;
use windlass_core::Unanswered;
use windlass_session::{PendingAnswers, SessionKey, SessionStore};
use windlass_types::{PendingQuestion, PermissionAnswer};

/// How often an answer is looked for while a host is asked, too.
const INTERVAL: Duration = Duration::from_secs(1);

/// Where the answer to one question is looked for.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    /// `None`: the session is not kept, so no other process knows of it.
    kept: Option<(Arc<dyn SessionStore>, SessionKey)>,
    question: PendingQuestion,
}

impl Elsewhere {
    pub(crate) fn new(kept: Option<&Persistence>, question: PendingQuestion) -> Self {
        Self { kept: kept.map(|kept| (Arc::clone(&kept.store), kept.key.clone())), question }
    }

    /// The answer that was left, if there is one. It is marked as taken before it is returned: a process that dies then
    /// has lost it, and the question is asked anew.
    ///
    /// # Errors
    /// There is one that does not count.
    pub(crate) async fn look(&self) -> Result<Option<PermissionAnswer>, Unanswered> {
        let Some((store, key)) = &self.kept else { return Ok(None) };
        let Some(answers) = store.answers() else { return Ok(None) };
        self.look_in(answers, key).await.map_err(Unanswered::Unusable)
    }

    async fn look_in(
        &self,
        answers: &dyn PendingAnswers,
        key: &SessionKey,
    ) -> Result<Option<PermissionAnswer>, String> {
        let id = &self.question.id;
        let unusable = |why: &dyn std::fmt::Display| format!("the answer to the question {id} does not count: {why}");
        let Some(answer) = answers.answer_to(key, id).await.map_err(|error| unusable(&error))? else { return Ok(None) };
        answer.check(key, &self.question).map_err(|refusal| unusable(&refusal))?;
        match answers.take(key, id).await {
            Ok(true) => Ok(Some(answer.to_answer())),
            Ok(false) => Err(unusable(&"it was taken before, and what came of it is not known")),
            Err(error) => Err(unusable(&error)),
        }
    }

    /// Waits for an answer of another process.
    ///
    /// # Errors
    /// There is one that does not count.
    pub(crate) async fn watch(&self) -> Result<PermissionAnswer, Unanswered> {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Some(answer) = self.look().await? {
                return Ok(answer);
            }
        }
    }
}
