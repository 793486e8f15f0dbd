//! Reading of logs from any position.

use crate::PgStore;
use crate::database::Arguments;
use crate::error::odd;
use crate::session::position;
use crate::store::Place;
use async_trait::async_trait;
use windlass_session::{LogChunk, LogReader, SessionKey, StoreError};

/// Maximum number of batches of one chunk.
const BATCHES: i64 = 256;

const READ: &str = "select s.seq, l.seq, l.body from wl_session s left join lateral ( \
        select w.seq, w.body from (select b.seq, b.body, sum(length(b.body)) over (order by b.seq) - length(b.body) as before \
            from (select seq, body from wl_log where tenant = s.tenant and id = s.id and seq > $5 order by seq limit $6) b) w \
        where w.before < $7) l on true \
    where s.tenant = $1 and s.project = $2 and s.session = $3 and s.agent = $4 and s.seq > 0 order by l.seq";

#[async_trait]
impl LogReader for PgStore {
    async fn read(&self, key: &SessionKey, from: u64) -> Result<LogChunk, StoreError> {
        key.check_agent()?;
        let key = &*self.stored_key(key);
        let Place { project, session, agent } = Place::of(key);
        let start = i64::try_from(from).unwrap_or(i64::MAX);
        let most = i64::try_from(LogChunk::BYTES).unwrap_or(i64::MAX);
        let tenant = self.inner.database.tenant();
        let arguments: Arguments<'_> = &[&tenant, &project, &session, &agent, &start, &BATCHES, &most];
        let rows = self.inner.database.repeat(READ, arguments).await?;
        let (mut lines, mut last, mut whole) = (Vec::new(), start, None);
        for row in &rows {
            whole = Some(row.try_get::<_, i64>(0).map_err(odd)?);
            let (Some(seq), Some(body)) =
                (row.try_get::<_, Option<i64>>(1).map_err(odd)?, row.try_get::<_, Option<&[u8]>>(2).map_err(odd)?)
            else {
                continue;
            };
            // A position may be inside a batch, behind one of its entries.
            let behind = usize::try_from(position(seq).saturating_sub(from)).unwrap_or(usize::MAX);
            let skipped = body.len().saturating_sub(behind.saturating_sub(lines.len()));
            lines.extend_from_slice(body.get(skipped..).unwrap_or_default());
            last = seq;
        }
        let whole = whole.ok_or_else(|| StoreError::not_found(key))?;
        Ok(LogChunk::new(from, lines, last < whole))
    }
}
