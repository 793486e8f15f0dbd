//! Version 1 of the protocol: its messages as JSON, and their meaning in terms of conversations.

pub(crate) mod buffer;
pub(crate) mod client;
pub(crate) mod commands;
pub(crate) mod diff;
pub(crate) mod elicitation;
pub(crate) mod history;
pub(crate) mod initialize;
pub(crate) mod params;
pub(crate) mod permission;
pub(crate) mod presenter;
pub(crate) mod prompt;
pub(crate) mod question;
pub(crate) mod settings;
pub(crate) mod tool_call;

/// Number of this version.
pub(crate) const VERSION: u64 = 1;
