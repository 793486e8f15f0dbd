//! What both sides of the protocol share: a queue of lines on their way out,
//! and questions to the other side that wait for an answer.

pub(crate) mod frames;
pub(crate) mod outbox;
pub(crate) mod requests;
pub(crate) mod task;
