//! Messages of the inbox, on their way into an open session.

use windlass::store::{SessionKey, StoreError, StoreErrorKind};
use windlass::{Prompt, SessionHandle};
use windlass_postgres::{InboxKind, InboxRow, PgStore};

/// Messages that were passed to the session, and are taken once their entries are stored.
#[derive(Debug, Default)]
pub(crate) struct PassedMessages {
    last: u64,
}

impl PassedMessages {
    /// Passes new messages to the session. Returns their number. A store out of reach has none for now.
    pub(crate) async fn pass(
        &mut self,
        store: &PgStore,
        key: &SessionKey,
        handle: &SessionHandle,
    ) -> Result<usize, StoreError> {
        let mut passed = 0;
        let pending = store.pending(key, self.last).await;
        if is_unavailable(&pending)? {
            return Ok(0);
        }
        for InboxRow { number, message, entry, .. } in pending? {
            self.last = number;
            let prompt = || Prompt::text(message.text.as_str()).with_id(entry.clone());
            // Sending fails only when the session has ended: another owner reads the message then.
            let _ = match message.kind {
                InboxKind::Prompt => handle.prompt(prompt()),
                InboxKind::Steer => handle.steer(prompt()),
                InboxKind::Interrupt if store.take_message(key, number).await? => handle.interrupt(),
                _ => continue,
            };
            passed += 1;
        }
        Ok(passed)
    }

    /// Takes messages that were passed and made no entry, such as prompts that a hook blocked: they are not passed again.
    /// Call it when no run is in progress.
    pub(crate) async fn settle(&self, store: &PgStore, key: &SessionKey) -> Result<(), StoreError> {
        let pending = store.pending(key, 0).await;
        if is_unavailable(&pending)? {
            return Ok(());
        }
        for row in pending?.iter().filter(|row| row.number <= self.last) {
            store.take_message(key, row.number).await?;
        }
        Ok(())
    }
}

/// `true` if the store was out of reach, so that the operation can be repeated.
///
/// # Errors
/// The store refused the operation.
pub(crate) fn is_unavailable<T>(result: &Result<T, StoreError>) -> Result<bool, StoreError> {
    match result {
        Ok(_) => Ok(false),
        Err(error) if error.kind == StoreErrorKind::Unavailable => Ok(true),
        Err(error) => Err(error.clone()),
    }
}
