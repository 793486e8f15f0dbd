//! Answers to permission requests.

use crate::PgStore;
use crate::database::Arguments;
use crate::error::odd;
use crate::session::no_row;
use crate::store::Place;
use async_trait::async_trait;
use tokio_postgres::types::Json;
use windlass_session::{PendingAnswers, SessionKey, StoreError, StoredAnswer};
use windlass_types::QuestionId;

const GIVE: &str = "select r_status from wl_give($1, $2, $3, $4, $5, $6)";

const FIND: &str = "select a.body from wl_answer a join wl_session s on s.tenant = a.tenant and s.id = a.id \
                    where s.tenant = $1 and s.project = $2 and s.session = $3 and s.agent = $4 and a.question = $5";

const TAKE: &str = "update wl_answer a set taken = clock_timestamp() from wl_session s \
                    where s.tenant = a.tenant and s.id = a.id and s.tenant = $1 and s.project = $2 and s.session = $3 \
                    and s.agent = $4 and a.question = $5 and a.taken is null returning 1";

#[async_trait]
impl PendingAnswers for PgStore {
    async fn give(&self, key: &SessionKey, answer: &StoredAnswer) -> Result<(), StoreError> {
        let key = &*self.stored_key(key);
        let Place { project, session, agent } = Place::of(key);
        let (tenant, question) = (self.inner.database.tenant(), answer.question.to_string());
        let arguments: Arguments<'_> = &[&tenant, &project, &session, &agent, &question, &Json(answer)];
        // Sent once: a repeat could find its own answer, and report it as another one's.
        let rows = self.inner.database.query(GIVE, arguments).await?;
        let status: i32 = rows.first().ok_or_else(|| no_row(key))?.try_get(0).map_err(odd)?;
        match status {
            0 => Ok(()),
            1 => Err(StoreError::answered(&answer.question)),
            _ => Err(StoreError::not_found(key)),
        }
    }

    async fn answer_to(&self, key: &SessionKey, question: &QuestionId) -> Result<Option<StoredAnswer>, StoreError> {
        let key = &*self.stored_key(key);
        let Place { project, session, agent } = Place::of(key);
        let (tenant, question) = (self.inner.database.tenant(), question.to_string());
        let rows = self.inner.database.repeat(FIND, &[&tenant, &project, &session, &agent, &question]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let Json(answer): Json<StoredAnswer> = row.try_get(0).map_err(odd)?;
        Ok(Some(answer))
    }

    async fn take(&self, key: &SessionKey, question: &QuestionId) -> Result<bool, StoreError> {
        let key = &*self.stored_key(key);
        let Place { project, session, agent } = Place::of(key);
        let (tenant, question) = (self.inner.database.tenant(), question.to_string());
        // Sent once: a repeat would not find what the first one took.
        let rows = self.inner.database.query(TAKE, &[&tenant, &project, &session, &agent, &question]).await?;
        Ok(!rows.is_empty())
    }
}
