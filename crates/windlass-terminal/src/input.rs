//! Input of a terminal: bytes become keys and pastes, and these become actions of the prompt.
//!
//! Nothing here reads a terminal or a clock. Bytes, and the time since an arbitrary start, come as parameters.

mod burst;
mod decoder;
mod escape;
mod mode;
mod queue;

pub use decoder::{TerminalDecoder, TerminalInput};
pub use mode::{InputAction, InputMode, InputModeOptions, RunActivity};
pub use queue::{WaitingMessage, WaitingMessages};
