//! What both sides of the protocol share: the frames of control traffic, and the outcomes of questions.

pub(crate) mod frames;
pub(crate) mod requests;
#[cfg(feature = "client")]
pub(crate) mod task;
