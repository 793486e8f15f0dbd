//! Errors of streams that do not form a message.

use windlass_types::ToolUseId;

/// A stream that breaks the grammar of a message, or a limit. The loop treats it as
/// [`ModelErrorKind::Protocol`](windlass_types::ModelErrorKind::Protocol).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AssembleError {
    /// Content before the message began.
    #[error("the model's stream does not begin with the start of a message")]
    NotStarted,
    /// A second start.
    #[error("the model's stream starts a message inside a message")]
    StartedTwice,
    /// An event that ends or replaces a block while one is open.
    #[error("the model's stream continues while block {index} is still open")]
    BlockOpen { index: usize },
    /// A block with an unexpected index.
    #[error("the model's stream starts block {found} where block {expected} is due")]
    WrongIndex { expected: usize, found: usize },
    /// A delta or stop of a block that is not open.
    #[error("the model's stream names block {index}, which is not open")]
    NotOpen { index: usize },
    /// A delta that does not fit its block.
    #[error("the model's stream adds to block {index} what does not belong to its type")]
    WrongDelta { index: usize },
    /// A block of a type that a model's message cannot contain, or a malformed one.
    #[error("the model's stream holds a block that does not belong in a model's message")]
    ForeignBlock,
    /// A tool use without id or name.
    #[error("the model's stream holds a tool use without id or name")]
    NamelessCall,
    /// Two tool uses with one id.
    #[error("the model's stream holds two tool uses with the id {id}")]
    RepeatedCall { id: ToolUseId },
    /// A block after the stop reason.
    #[error("the model's stream continues with content after its stop reason")]
    AfterStopReason,
    /// Two stop reasons.
    #[error("the model's stream changes its stop reason")]
    StopReasonChanged,
    /// A stop without a reason.
    #[error("the model's stream ends its message without a stop reason")]
    NoStopReason,
    /// Too many bytes.
    #[error("the model's message is larger than {limit} bytes")]
    TooLarge { limit: usize },
    /// Too many blocks.
    #[error("the model's message has more than {limit} blocks")]
    TooManyBlocks { limit: usize },
    /// An event after the end, or after an error.
    #[error("the model's stream continues after its end")]
    Ended,
}
