//! Permission requests that wait for an answer, and their tokens.

use crate::PgStore;
use crate::error::odd;
use crate::store::Place;
use windlass_session::{
    AnswerRefusal, PendingAnswers as _, SessionKey, StoreError, StoreErrorKind, StoredAnswer, StoredQuestion,
    stored_questions,
};
use windlass_types::{QuestionId, QuestionToken, Timestamp};

const KEEP: &str = "insert into wl_question (tenant, id, question, token) \
                    select s.tenant, s.id, $4, $5 from wl_session s \
                    where s.tenant = $1 and s.project = $2 and s.session = $3 and s.agent = '' \
                    on conflict (tenant, id, question) do update set token = excluded.token";

const TOKEN: &str = "select q.token from wl_question q join wl_session s on s.tenant = q.tenant and s.id = q.id \
                     where s.tenant = $1 and s.project = $2 and s.session = $3 and s.agent = '' and q.question = $4";

impl PgStore {
    /// Stores the token of a permission request of a session, or of an agent of it, so that services of the tenant can answer
    /// it.
    ///
    /// # Errors
    /// The database refused, or cannot be reached.
    pub async fn keep_token(
        &self,
        key: &SessionKey,
        question: &QuestionId,
        token: &QuestionToken,
    ) -> Result<(), StoreError> {
        let key = &*self.stored_key(key);
        let Place { project, session, .. } = Place::of(key);
        let (tenant, question) = (self.inner.database.tenant(), question.to_string());
        let token = token.reveal();
        self.inner.database.repeat(KEEP, &[&tenant, &project, &session, &question, &token]).await?;
        Ok(())
    }

    /// Returns the permission requests of a session that wait for an answer, those of its agents last.
    ///
    /// # Errors
    /// There is no such session, or it cannot be read.
    pub async fn questions(&self, key: &SessionKey) -> Result<Vec<StoredQuestion>, StoreError> {
        stored_questions(self, key).await
    }

    /// Answers a permission request. A session that waits is ready from now on; one that asks now takes the answer within a
    /// second. `message`: text of a denial for the model; `at`: the time of the answer.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotFound`] when the request does not wait for an answer; [`StoreErrorKind::Exists`] when it has one.
    pub async fn answer_question(
        &self,
        key: &SessionKey,
        question: &QuestionId,
        (allow, message): (bool, Option<String>),
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let not_open = || {
            let text = format!("question {question} does not wait for an answer: list the questions of the session");
            StoreError::new(StoreErrorKind::NotFound, text)
        };
        let asked = self.questions(key).await?.into_iter().find(|asked| asked.question.id == *question);
        let asked = asked.ok_or_else(not_open)?;
        let main = &*self.stored_key(key);
        let Place { project, session, .. } = Place::of(main);
        let (tenant, id) = (self.inner.database.tenant(), question.to_string());
        let rows = self.inner.database.repeat(TOKEN, &[&tenant, &project, &session, &id]).await?;
        let token: String = rows.first().ok_or_else(not_open)?.try_get(0).map_err(odd)?;
        let token = QuestionToken::new(token);
        let answer = StoredAnswer::new(&asked.key, &asked.question, token, allow, at).with_message(message);
        match answer.check(&asked.key, &asked.question) {
            Ok(()) => self.give(&asked.key, &answer).await,
            Err(AnswerRefusal::WrongToken) => Err(not_open()),
            Err(refusal) => Err(StoreError::new(StoreErrorKind::NotFound, format!("question {question}: {refusal}"))),
        }
    }
}
