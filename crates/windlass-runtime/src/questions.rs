//! Questions about calls: who answers them, and how answers of other processes count.

pub(crate) mod gate;
pub(crate) mod open_questions;
pub(crate) mod question;
pub(crate) mod remote_answers;
