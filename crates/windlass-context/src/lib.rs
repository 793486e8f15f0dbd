//! What goes into the context window: token estimates, reminders, and the
//! texts that the runtime itself writes. Pure.

mod estimate;
mod prompt;
mod reminder;

pub use estimate::{estimate_message, estimate_request, estimate_text};
pub use prompt::{SystemPrompt, coding_agent_sections};
pub use reminder::{reminder, runtime_text};
