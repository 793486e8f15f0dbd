//! Inputs that a machine rejects.

use crate::EffectId;

/// An invalid input: a bug of the driver or of the machine. The machine has not changed.
///
/// An answer that merely comes too late is not an error: its effect was cancelled, or answered before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfitInput {
    /// Answer to an effect that was never handed out.
    #[error("{answer} answers effect {}, which was never handed out", effect.get())]
    UnknownEffect {
        /// Id of the effect.
        effect: EffectId,
        /// Kind of the answer, in words.
        answer: &'static str,
    },
    /// Answer to an effect of another kind.
    #[error("{answer} cannot answer effect {}, which is {expected}", effect.get())]
    WrongKind {
        /// Id of the effect.
        effect: EffectId,
        /// Kind of the answer, in words.
        answer: &'static str,
        /// Kind of the effect, in words.
        expected: &'static str,
    },
    /// Answer to an open effect that no part of the machine waits for.
    #[error("{answer} answers effect {}, which is open, but no part of the machine waits for it", effect.get())]
    NotAwaited {
        /// Id of the effect.
        effect: EffectId,
        /// Kind of the answer, in words.
        answer: &'static str,
    },
}
