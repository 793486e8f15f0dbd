//! Rule of readers from any position.

use super::{OrBroken, entries, key, open, refused, same};
use crate::Violation;
use windlass_session::{Durability, LogReader, SessionKey, SessionStore, StoreErrorKind};
use windlass_types::Entry;

/// Checks that a log is read from every position: each entry once, in the order of the appends, also while the session
/// is open, and nothing behind the last one. A store without a reader keeps this rule.
///
/// # Errors
/// The rule is broken.
pub async fn a_log_is_read_from_any_position(store: &dyn SessionStore) -> Result<(), Violation> {
    let Some(reader) = store.reader() else { return Ok(()) };
    let key = key("reader", 1);
    refused(reader.read(&key, 0).await, StoreErrorKind::NotFound, "there is no such session")?;
    let lease = open(store, &key).await?;
    let (mut seq, written) = (lease.seq(), entries());
    for batch in written.chunks(3) {
        seq = store.append(&lease, seq, batch.to_vec(), Durability::Durable).await.or_broken("append")?;
    }
    let whole = behind(reader, &key, 0).await?;
    let read = |all: &[(u64, Entry)]| all.iter().map(|(_, entry)| entry.clone()).collect::<Vec<_>>();
    same("the entries read", &read(&whole), &written)?;
    for (at, (position, _)) in whole.iter().enumerate() {
        let rest = written.get(at + 1..).unwrap_or_default();
        same("the entries behind a position", &read(&behind(reader, &key, *position).await?), &rest.to_vec())?;
    }
    store.close(lease).await.or_broken("close")
}

async fn behind(reader: &dyn LogReader, key: &SessionKey, mut position: u64) -> Result<Vec<(u64, Entry)>, Violation> {
    let mut all = Vec::new();
    loop {
        let entries = reader.read(key, position).await.or_broken("read")?.into_entries();
        let Some((last, _)) = entries.last() else { return Ok(all) };
        position = *last;
        all.extend(entries);
    }
}
