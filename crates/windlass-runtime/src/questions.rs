//! Questions about calls, and the answers of hosts, hooks and other processes.

pub(crate) mod gate;
pub(crate) mod open_questions;
pub(crate) mod question;
pub(crate) mod remote_answers;
