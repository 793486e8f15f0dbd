//! Parts shared by both sides of the protocol: the frames of control traffic, and the outcomes of control requests.

pub(crate) mod frames;
pub(crate) mod requests;
#[cfg(feature = "client")]
pub(crate) mod task;
