//! Rewinding the conversation of an open session, alone or with its files.

use crate::append::{Log, LogOrder, Rewinding};
use crate::error::RewindError;
use crate::handle::SessionHandle;
use crate::order::{ConversationOrder, Order, Wanted};
use tokio::sync::oneshot;
use windlass_core::EffectId;
use windlass_session::{ForkError, Rewind, RewindPoint, RewoundMark, StoreError, StoreErrorKind};
use windlass_types::EntryId;

/// Result of a rewind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewound {
    /// The files. `None` when undoing an earlier rewind that changed none.
    pub files: Option<Rewind>,
    /// The conversation.
    pub conversation: RewindPoint,
    /// Point that undoes the rewind, by rewinding to it in the same way.
    pub undo: EntryId,
}

impl SessionHandle {
    /// Returns the changes that [`rewind_conversation`](Self::rewind_conversation) would make. May be called while a
    /// run is in progress.
    ///
    /// # Errors
    /// The conversation has no such prompt, the session is not kept or closed, or its log cannot be read.
    pub async fn conversation_changes(&self, to: &EntryId) -> Result<RewindPoint, RewindError> {
        let (answer, waiting) = oneshot::channel();
        self.ask(ConversationOrder::Look(to.clone(), answer), waiting).await
    }

    /// Ends the conversation before a prompt of the user, named by its entry
    /// ([`RunStarted::prompt`](windlass_types::RunStarted)), or where an earlier rewind has left it. The next prompt continues
    /// there. Nothing is removed from the log, and files stay as they are, as do the mode, the current directory and what was spent.
    /// Prompts that are given meanwhile wait.
    ///
    /// Returns the point, and the id that undoes the rewind: rewind to it before the conversation continues.
    ///
    /// Cancel safety: once polled the rewind is carried out; dropping the future loses only the outcome.
    ///
    /// # Errors
    /// A run is in progress, the conversation has no such prompt, the session is not kept or closed, or its log refuses. Then the
    /// conversation is as it was.
    pub async fn rewind_conversation(&self, to: &EntryId) -> Result<(RewindPoint, EntryId), RewindError> {
        self.end_before(to.clone(), None).await
    }

    /// Rewinds files and conversation to a prompt of the user, or undoes an earlier such rewind. Files that others have
    /// changed since are left as they are and named; see [`rewind_own_files`](Self::rewind_own_files).
    ///
    /// The files are rewound first, so that no conversation ends before a state that its files still have.
    ///
    /// Cancel safety: dropping the future may leave the files rewound and the conversation as it was; the rewind can be repeated.
    ///
    /// # Errors
    /// Those of both. When the conversation fails, the files are rewound already.
    pub async fn rewind(&self, to: &EntryId) -> Result<Rewound, RewindError> {
        let point = self.conversation_changes(to).await?;
        let checkpoint = if point.is_undo { point.files } else { Some(to.clone()) };
        let files = match checkpoint {
            Some(checkpoint) => Some(self.rewind_own_files(&checkpoint).await?),
            None => None,
        };
        let undo_files = files.as_ref().and_then(|files| files.undo.clone());
        let (conversation, undo) = self.end_before(to.clone(), undo_files).await?;
        Ok(Rewound { files, conversation, undo })
    }

    async fn end_before(&self, to: EntryId, files: Option<EntryId>) -> Result<(RewindPoint, EntryId), RewindError> {
        let (answer, waiting) = oneshot::channel();
        self.ask(ConversationOrder::Rewind(Wanted { to, files, answer }), waiting).await
    }

    async fn ask<T>(
        &self,
        order: ConversationOrder,
        waiting: oneshot::Receiver<Result<T, RewindError>>,
    ) -> Result<T, RewindError> {
        self.order(Order::Conversation(order)).map_err(|_| RewindError::Closed)?;
        waiting.await.unwrap_or(Err(RewindError::Closed))
    }
}

fn ended() -> ForkError {
    StoreError::new(StoreErrorKind::Io, "the writer of the log has ended").into()
}

/// Finds a point in the log.
pub(crate) fn look(log: &Log, to: EntryId, answer: oneshot::Sender<Result<RewindPoint, RewindError>>) {
    let Log::Store(log) = log else { return drop(answer.send(Err(RewindError::NotKept))) };
    let (sender, found) = oneshot::channel();
    // A writer that has ended drops the sender.
    let _ = log.send(LogOrder::Look(to, sender));
    tokio::spawn(async move {
        let found = found.await.unwrap_or_else(|_| Err(ended()));
        // The requester may have dropped its receiver.
        let _ = answer.send(found.map_err(RewindError::from));
    });
}

/// Makes the writer of the log rewind the conversation and answer the effect. Returns `true` if it will.
pub(crate) fn carry_out(log: &Log, effect: EffectId, wanted: Wanted, mark: RewoundMark) -> bool {
    let Wanted { files, answer, to } = wanted;
    let Log::Store(log) = log else {
        let _ = answer.send(Err(RewindError::NotKept));
        return false;
    };
    let (waiting, rewound) = oneshot::channel();
    let (mark, undo) = (mark.clone().with_files(files), mark.id);
    let is_taken = log.send(LogOrder::Rewind(Box::new(Rewinding { effect, to, mark, waiting }))).is_ok();
    tokio::spawn(async move {
        let rewound = rewound.await.unwrap_or_else(|_| Err(ended()));
        // The requester may have dropped its receiver.
        let _ = answer.send(rewound.map(|point| (point, undo)).map_err(RewindError::from));
    });
    is_taken
}
