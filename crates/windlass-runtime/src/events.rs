//! Events on their way to the host and to watchers.

pub(crate) mod history;
pub(crate) mod queue;
