//! Rewinds of an open session by its handle: of the conversation alone, or with its files.

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
    /// Rewind of the files. `None` if this undoes a rewind that changed no files.
    pub files: Option<Rewind>,
    /// Point at which the conversation continues.
    pub conversation: RewindPoint,
    /// Id that undoes this rewind: pass it to the same method.
    pub undo: EntryId,
}

impl SessionHandle {
    /// Returns the changes that [`rewind_conversation`](Self::rewind_conversation) would make. May be called while a
    /// run is in progress.
    ///
    /// # Errors
    /// The conversation has no such prompt, the session is closed or not stored, or its log cannot be read.
    pub async fn conversation_changes(&self, to: &EntryId) -> Result<RewindPoint, RewindError> {
        let (sender, receiver) = oneshot::channel();
        self.send_conversation_command(ConversationCommand::FindPoint(to.clone(), sender), receiver).await
    }

    /// Ends the conversation before a prompt of the user. `to` is the id of that prompt
    /// ([`RunStarted::prompt`](windlass_types::RunStarted)), or the id that an earlier rewind returned, which undoes
    /// that rewind. The next prompt continues there. Nothing is removed from the log. Files, mode, current directory
    /// and spending stay unchanged. Prompts sent meanwhile wait.
    ///
    /// Returns the point, and the id that undoes the rewind until the conversation continues.
    ///
    /// Cancel safety: once polled the rewind is carried out; dropping the future loses only the outcome.
    ///
    /// # Errors
    /// A run is in progress, the conversation has no such prompt, the session is closed or not stored, or its log
    /// refuses the write. Then the conversation is unchanged.
    pub async fn rewind_conversation(&self, to: &EntryId) -> Result<(RewindPoint, EntryId), RewindError> {
        self.send_rewind(to.clone(), None).await
    }

    /// Rewinds files and conversation to a prompt of the user, or undoes such a rewind. Files that others have changed
    /// since are left as they are and named; see [`rewind_own_files`](Self::rewind_own_files).
    ///
    /// Files are rewound first, so that a failure never leaves a rewound conversation with later files.
    ///
    /// Cancel safety: dropping the future may leave the files rewound and the conversation as it was; the rewind can be
    /// repeated.
    ///
    /// # Errors
    /// Errors of both rewinds. If rewinding the conversation fails, the files stay rewound.
    pub async fn rewind(&self, to: &EntryId) -> Result<Rewound, RewindError> {
        let point = self.conversation_changes(to).await?;
        let checkpoint = if point.is_undo { point.files } else { Some(to.clone()) };
        let files = match checkpoint {
            Some(checkpoint) => Some(self.rewind_own_files(&checkpoint).await?),
            None => None,
        };
        let undo_files = files.as_ref().and_then(|files| files.undo.clone());
        let (conversation, undo) = self.send_rewind(to.clone(), undo_files).await?;
        Ok(Rewound { files, conversation, undo })
    }

    async fn send_rewind(
        &self,
        to: EntryId,
        undo_files: Option<EntryId>,
    ) -> Result<(RewindPoint, EntryId), RewindError> {
        let (sender, receiver) = oneshot::channel();
        let rewind = ConversationRewind { to, files: undo_files, answer: sender };
        self.send_conversation_command(ConversationCommand::Rewind(rewind), receiver).await
    }

    async fn send_conversation_command<T>(
        &self,
        command: ConversationCommand,
        receiver: oneshot::Receiver<Result<T, RewindError>>,
    ) -> Result<T, RewindError> {
        self.command(SessionCommand::Conversation(command)).map_err(|_| RewindError::Closed)?;
        receiver.await.unwrap_or(Err(RewindError::Closed))
    }
}
