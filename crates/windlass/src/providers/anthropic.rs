//! The provider of the Anthropic API.

use super::http::Connection;
use super::route::{Route, Setup, Variables};
use std::sync::Arc;
use windlass_anthropic::Anthropic;

pub(super) fn routes(connection: &Connection) -> Vec<Route> {
    let (key, set) = (connection.key(), connection.options());
    let make = move |lookup: &Variables| {
        let builder = Anthropic::builder().lookup(lookup).http_options(&set);
        key.iter().fold(builder, |builder, key| builder.credentials(key.clone())).build()
    };
    vec![Route::new("anthropic", make, |lookup| Anthropic::builder().lookup(lookup).known_models())]
}

/// Claude on Vertex AI.
pub(super) fn vertex(connection: &Connection) -> Option<Setup> {
    let set = connection.options();
    Some(Box::new(move |lookup| Ok(Arc::new(Anthropic::vertex_from_lookup(lookup)?.http_options(&set).build()?))))
}
