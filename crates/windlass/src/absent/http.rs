//! Connections of providers to their vendors, in a build without the feature `credentials`, which brings HTTP.

/// No connection.
#[derive(Clone, Default)]
pub(crate) struct Connection;
