//! The handle's rewinds of the conversation of an open session, alone or with its files.

use crate::commands::{ConversationCommand, ConversationRewind, SessionCommand};
use crate::error::RewindError;
use crate::handle::SessionHandle;
use tokio::sync::oneshot;
use windlass_session::{Rewind, RewindPoint};
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
        self.ask(ConversationCommand::FindPoint(to.clone(), answer), waiting).await
    }

    /// Ends the conversation before a prompt of the user, named by its entry
    /// ([`RunStarted::prompt`](windlass_types::RunStarted)), or where an earlier rewind has left it. The next prompt
    /// continues there. Nothing is removed from the log; files, mode, current directory and spending stay as they are.
    /// Prompts sent meanwhile wait.
    ///
    /// Returns the point, and the id that undoes the rewind: rewind to it before the conversation continues.
    ///
    /// Cancel safety: once polled the rewind is carried out; dropping the future loses only the outcome.
    ///
    /// # Errors
    /// A run is in progress, the conversation has no such prompt, the session is not stored or closed, or its log
    /// refuses. Then the conversation is unchanged.
    pub async fn rewind_conversation(&self, to: &EntryId) -> Result<(RewindPoint, EntryId), RewindError> {
        self.end_before(to.clone(), None).await
    }

    /// Rewinds files and conversation to a prompt of the user, or undoes an earlier such rewind. Files that others have
    /// changed since are left as they are and named; see [`rewind_own_files`](Self::rewind_own_files).
    ///
    /// The files are rewound first, so that no conversation ends before a state that its files still have.
    ///
    /// Cancel safety: dropping the future may leave the files rewound and the conversation as it was; the rewind can be
    /// repeated.
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
        self.ask(ConversationCommand::Rewind(ConversationRewind { to, files, answer }), waiting).await
    }

    async fn ask<T>(
        &self,
        command: ConversationCommand,
        waiting: oneshot::Receiver<Result<T, RewindError>>,
    ) -> Result<T, RewindError> {
        self.command(SessionCommand::Conversation(command)).map_err(|_| RewindError::Closed)?;
        waiting.await.unwrap_or(Err(RewindError::Closed))
    }
}
