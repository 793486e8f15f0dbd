//! Rewinds of the conversation in the log.

use crate::commands::ConversationRewind;
use crate::error::RewindError;
use crate::log::writer::{Log, LogCommand, RewindRequest};
use tokio::sync::oneshot;
use windlass_core::EffectId;
use windlass_session::{ForkError, RewindPoint, RewoundMark, StoreError, StoreErrorKind};
use windlass_types::EntryId;

fn ended() -> ForkError {
    StoreError::new(StoreErrorKind::Io, "the writer of the log has ended").into()
}

/// Finds a point in the log.
pub(crate) fn find_point(log: &Log, to: EntryId, answer: oneshot::Sender<Result<RewindPoint, RewindError>>) {
    let Log::Store(log) = log else { return drop(answer.send(Err(RewindError::NotKept))) };
    let (sender, found) = oneshot::channel();
    // A writer that has ended drops the sender.
    let _ = log.send(LogCommand::FindPoint(to, sender));
    tokio::spawn(async move {
        let found = found.await.unwrap_or_else(|_| Err(ended()));
        // The requester may have dropped its receiver.
        let _ = answer.send(found.map_err(RewindError::from));
    });
}

/// Makes the writer of the log rewind the conversation and answer the effect. Returns `true` if it will.
pub(crate) fn carry_out(log: &Log, effect: EffectId, rewind: ConversationRewind, mark: RewoundMark) -> bool {
    let ConversationRewind { files, answer, to } = rewind;
    let Log::Store(log) = log else {
        let _ = answer.send(Err(RewindError::NotKept));
        return false;
    };
    let (waiting, rewound) = oneshot::channel();
    let (mark, undo) = (mark.clone().with_files(files), mark.id);
    let is_taken = log.send(LogCommand::Rewind(Box::new(RewindRequest { effect, to, mark, waiting }))).is_ok();
    tokio::spawn(async move {
        let rewound = rewound.await.unwrap_or_else(|_| Err(ended()));
        // The requester may have dropped its receiver.
        let _ = answer.send(rewound.map(|point| (point, undo)).map_err(RewindError::from));
    });
    is_taken
}
