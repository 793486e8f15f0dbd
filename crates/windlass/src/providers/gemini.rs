//! The provider of the Gemini API.

use super::http::Connection;
use super::route::{Route, Setup, Variables};
use std::sync::Arc;
use windlass_gemini::Gemini;

pub(super) fn routes(connection: &Connection) -> Vec<Route> {
    let set = connection.options();
    let make = move |lookup: &Variables| Gemini::builder().lookup(lookup).http_options(&set).build();
    vec![Route::new("gemini", make, |_| Gemini::known())]
}

/// Gemini on Vertex AI.
pub(super) fn vertex(connection: &Connection) -> Option<Setup> {
    let set = connection.options();
    Some(Box::new(move |lookup| Ok(Arc::new(Gemini::vertex_from_lookup(lookup)?.http_options(&set).build()?))))
}
