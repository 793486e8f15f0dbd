//! Discovery of the authorisation server of an MCP server.

use crate::address::{
    covers, is_loopback, is_same_issuer, issuer_descriptions, resource_descriptions, usable, with_path,
};
use crate::error::words;
use crate::fetch::Fetch;
use crate::metadata::{ResourceMetadata, ServerMetadata};
use crate::{AuthError, Challenge};
use url::Url;

/// Results of the discovery.
#[derive(Debug, Clone)]
pub(crate) struct DiscoveredServer {
    /// Name of the MCP server in requests for tokens, if it has metadata.
    pub(crate) resource: Option<String>,
    /// Scopes that the server names.
    pub(crate) resource_scopes: Vec<String>,
    pub(crate) server: ServerMetadata,
}

/// Finds the authorisation server of an MCP server. Of several, `preferred` is used if it is among them.
///
/// # Errors
/// Fails if metadata is about another server, would send secrets to an unsafe address, or is missing.
pub(crate) async fn discover(
    fetch: &Fetch,
    server: &Url,
    challenge: &Challenge,
    metadata_url: Option<&str>,
    preferred: Option<&str>,
) -> Result<DiscoveredServer, AuthError> {
    let described = describe(fetch, server, challenge).await?;
    let is_local = is_loopback(server);
    let authorization = match (metadata_url, issuer_of(described.as_ref(), preferred)) {
        (Some(configured), _) => {
            let address = usable(configured, "the configured description", is_local)?;
            read_server(fetch, address.as_str()).await?.ok_or_else(|| missing(configured))?
        }
        (None, Some(issuer)) => of_issuer(fetch, issuer, is_local).await?.ok_or_else(|| missing(issuer))?,
        // The revision 2025-03-26: the MCP server is its own authorisation server.
        (None, None) => {
            let origin = with_path(server, "");
            let found = of_origin(fetch, &origin, is_local).await?;
            found.unwrap_or_else(|| ServerMetadata::by_convention(&origin))
        }
    };
    let ends = [&authorization.authorization_endpoint, &authorization.registration_endpoint];
    for address in ends.into_iter().flatten().chain([&authorization.token_endpoint]) {
        usable(address, "the authorisation server", is_local)?;
    }
    let (resource, scopes) =
        described.map(|found| (found.resource, found.scopes_supported.unwrap_or_default())).unzip();
    Ok(DiscoveredServer { resource, resource_scopes: scopes.unwrap_or_default(), server: authorization })
}

fn missing(issuer: &str) -> AuthError {
    AuthError::Discovery(format!("the authorisation server {:?} does not describe itself", words(issuer)))
}

fn issuer_of<'a>(described: Option<&'a ResourceMetadata>, preferred: Option<&str>) -> Option<&'a str> {
    let issuers = described.map(|found| found.authorization_servers.as_slice()).unwrap_or_default();
    let known = preferred.and_then(|preferred| issuers.iter().find(|issuer| *issuer == preferred));
    known.or_else(|| issuers.first()).map(String::as_str)
}

/// Reads the metadata of an MCP server, if it has any.
async fn describe(fetch: &Fetch, server: &Url, challenge: &Challenge) -> Result<Option<ResourceMetadata>, AuthError> {
    let is_local = is_loopback(server);
    let mut places = Vec::new();
    if let Some(named) = &challenge.resource_metadata {
        places.push(usable(named, "the description of the server", is_local)?.to_string());
    }
    places.extend(resource_descriptions(server));
    for place in places {
        let answer = fetch.get(&place).await?;
        let Some(found) = answer.json::<ResourceMetadata>().filter(|_| answer.is_success()) else { continue };
        // Otherwise a token for another server could be requested, and sent to this one.
        return if covers(&found.resource, server) {
            Ok(Some(found))
        } else {
            Err(AuthError::Untrusted(format!("the server describes another resource: {:?}", words(&found.resource))))
        };
    }
    Ok(None)
}

/// Reads the metadata of an issuer, if it has any.
async fn of_issuer(fetch: &Fetch, issuer: &str, is_local: bool) -> Result<Option<ServerMetadata>, AuthError> {
    let address = usable(issuer, "the authorisation server", is_local)?;
    for place in issuer_descriptions(&address) {
        let Some(found) = read_server(fetch, &place).await? else { continue };
        // Otherwise one server could impersonate another, and receive its codes.
        return if is_same_issuer(&found.issuer, issuer) {
            Ok(Some(found))
        } else {
            let [own, asked] = [&found.issuer, issuer].map(words);
            Err(AuthError::Untrusted(format!("the authorisation server {asked:?} describes itself as {own:?}")))
        };
    }
    Ok(None)
}

/// Reads the metadata of an MCP server that is its own authorisation server, if it has any. Its name may have a path.
async fn of_origin(fetch: &Fetch, origin: &str, is_local: bool) -> Result<Option<ServerMetadata>, AuthError> {
    let address = usable(origin, "the server", is_local)?;
    for place in issuer_descriptions(&address) {
        let Some(found) = read_server(fetch, &place).await? else { continue };
        return match Url::parse(&found.issuer) {
            Ok(issuer) if issuer.origin() == address.origin() => Ok(Some(found)),
            _ => Err(AuthError::Untrusted(format!("the server describes itself as {:?}", words(&found.issuer)))),
        };
    }
    Ok(None)
}

async fn read_server(fetch: &Fetch, place: &str) -> Result<Option<ServerMetadata>, AuthError> {
    let answer = fetch.get(place).await?;
    Ok(answer.json().filter(|_| answer.is_success()))
}
