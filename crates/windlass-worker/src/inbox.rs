//! Messages of the inbox, on their way into an open session.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use tokio::sync::Notify;
use windlass::session::EntryId;
use windlass::store::{SessionKey, StoreError, StoreErrorKind};
use windlass::{Prompt, SessionHandle};
use windlass_postgres::{InboxKind, InboxRow, PgStore};

/// Messages that were passed to the session, and are taken once their entries are stored.
#[derive(Debug, Default)]
pub(crate) struct PassedMessages {
    last: u64,
    /// Entries of messages that wait in the log: the run that continues reads them.
    queued: HashSet<EntryId>,
}

impl PassedMessages {
    /// Returns an inbox whose messages with these entries are in the session already.
    pub(crate) fn with_queued(queued: impl IntoIterator<Item = EntryId>) -> Self {
        Self { last: 0, queued: queued.into_iter().collect() }
    }

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
            if self.queued.contains(&entry) {
                continue;
            }
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

/// Inboxes of the open sessions of a worker, which are looked at together.
#[derive(Debug, Default)]
pub(crate) struct OpenInboxes(HashMap<SessionKey, Weak<Notify>>);

impl OpenInboxes {
    /// Adds the inbox of a session, until the returned notification is dropped.
    pub(crate) fn add(&mut self, key: &SessionKey) -> Arc<Notify> {
        let notify = Arc::new(Notify::new());
        self.0.insert(key.clone(), Arc::downgrade(&notify));
        notify
    }

    /// Notifies sessions that have messages. A store out of reach has none for now.
    pub(crate) async fn notify(&mut self, store: &PgStore) -> Result<(), StoreError> {
        self.0.retain(|_, notify| notify.strong_count() > 0);
        let keys: Vec<SessionKey> = self.0.keys().cloned().collect();
        if keys.is_empty() {
            return Ok(());
        }
        let unread = store.unread(&keys).await;
        if is_unavailable(&unread)? {
            return Ok(());
        }
        for notify in unread?.iter().filter_map(|key| self.0.get(key)?.upgrade()) {
            notify.notify_one();
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
