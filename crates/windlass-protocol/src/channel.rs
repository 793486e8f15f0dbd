//! What both sides of the protocol share: the frames of control traffic, and what comes of a question.

pub(crate) mod frames;
pub(crate) mod requests;
#[cfg(feature = "client")]
pub(crate) mod task;
