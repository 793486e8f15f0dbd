//! Inputs that a machine cannot take.

use crate::EffectId;

/// An input that does not fit: the driver has a bug, or the machine has. The machine has not changed.
///
/// An answer that merely comes too late is no error: its effect was cancelled, or answered before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnfitInput {
    /// It answers an effect that was never handed out.
    #[error("{answer} answers effect {}, which was never handed out", effect.get())]
    UnknownEffect {
        /// The effect.
        effect: EffectId,
        /// What the answer is.
        answer: &'static str,
    },
    /// It answers an effect of another kind.
    #[error("{answer} cannot answer effect {}, which is {expected}", effect.get())]
    WrongKind {
        /// The effect.
        effect: EffectId,
        /// What the answer is.
        answer: &'static str,
        /// What the effect is.
        expected: &'static str,
    },
    /// It answers an effect that is open, and no part of the machine waits for it.
    #[error("{answer} answers effect {}, which is open, but no part of the machine waits for it", effect.get())]
    NotAwaited {
        /// The effect.
        effect: EffectId,
        /// What the answer is.
        answer: &'static str,
    },
}
