//! Amazon Bedrock: Claude has its own API, all others use Converse.

use super::http::Connection;
use super::route::{Route, Variables};
use super::split::Split;
use std::sync::Arc;
use windlass_anthropic::Anthropic;
use windlass_bedrock::Bedrock;
use windlass_http::HttpOptions;
use windlass_http::provider::AwsAccess;
use windlass_model::ModelError;

pub(super) fn routes(connection: &Connection) -> Vec<Route> {
    let set = connection.options();
    vec![Route::new("bedrock", move |lookup| provider(lookup, &set), |_| Bedrock::known())]
}

fn provider(lookup: &Variables, set: &impl Fn(&mut HttpOptions)) -> Result<Split, ModelError> {
    let mut claude = Anthropic::bedrock_from_lookup(lookup)?.http_options(set);
    let mut other = Bedrock::builder().lookup(lookup).http_options(set);
    // Both share one source, so expiring credentials are refreshed once.
    if let Some(credentials) = AwsAccess::from_lookup(lookup).credentials {
        claude = claude.credentials(Arc::clone(&credentials));
        other = other.credentials(credentials);
    }
    Ok(Split::new(Arc::new(claude.build()?), Arc::new(other.build()?), Bedrock::is_for))
}
