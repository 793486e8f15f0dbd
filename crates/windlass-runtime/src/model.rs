//! Requests to models: that of a turn, and those outside the conversation with their payment.

pub(crate) mod billing;
pub(crate) mod call;
pub(crate) mod classification;
pub(crate) mod completions;
pub(crate) mod scope;
pub(crate) mod side_requests;
