//! Texts for people and models: safe to show on a terminal, without secrets, near to what was meant.

pub use windlass_context::{compaction_prompt, is_reminder, secret_in};
pub use windlass_types::near::{is_misspelt, nearest};
pub use windlass_types::text::{
    TerminalFilter, clause, clean, clean_line, hidden, sentence, visible, visible_json, visible_line,
};
