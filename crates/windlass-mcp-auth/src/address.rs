//! Checks of addresses, and the addresses of metadata documents.

use crate::AuthError;
use crate::error::words;
use url::{Host, Url};

/// `true` for an address of this machine.
pub(crate) fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// Parses an address to which secrets may be sent: over TLS, or on this machine if the MCP server is on it too.
///
/// # Errors
/// Fails for any other address.
pub(crate) fn usable(text: &str, what: &str, is_local: bool) -> Result<Url, AuthError> {
    let refused = |why: &str| AuthError::Untrusted(format!("the address of {what} {why}: {:?}", words(text)));
    let address = Url::parse(text).map_err(|_| refused("is not valid"))?;
    if !address.username().is_empty() || address.password().is_some() {
        return Err(AuthError::Untrusted(format!("the address of {what} holds credentials")));
    }
    match address.scheme() {
        "https" if address.has_host() => Ok(address),
        "http" if is_local && is_loopback(&address) => Ok(address),
        _ => Err(refused("is not https")),
    }
}

/// `true` if the metadata of a resource is about a server: the same origin, and a path that is a prefix of the
/// server's.
pub(crate) fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let path = resource.path().trim_end_matches('/');
    let below = server.path().strip_prefix(path);
    resource.origin() == server.origin()
        && resource.fragment().is_none()
        && resource.query().is_none_or(|query| server.query() == Some(query))
        && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// `true` if two names of an issuer are the same: equal texts, or an origin with and without its trailing slash.
pub(crate) fn is_same_issuer(a: &str, b: &str) -> bool {
    let is_root = |text: &str| Url::parse(text).is_ok_and(|url| url.path() == "/" && url.query().is_none());
    a == b || (is_root(a) && is_root(b) && a.trim_end_matches('/') == b.trim_end_matches('/'))
}

/// Returns the addresses of a server's metadata as a protected resource, beside one that it names itself.
pub(crate) fn resource_descriptions(server: &Url) -> Vec<String> {
    let path = server.path().trim_end_matches('/');
    let query = server.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut places = vec![with_path(server, &format!("/.well-known/oauth-protected-resource{path}{query}"))];
    if !path.is_empty() {
        places.push(with_path(server, "/.well-known/oauth-protected-resource"));
    }
    places
}

/// Returns the addresses of an authorisation server's metadata, in the order in which they are tried.
pub(crate) fn issuer_descriptions(issuer: &Url) -> Vec<String> {
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![
        with_path(issuer, &format!("/.well-known/oauth-authorization-server{path}")),
        with_path(issuer, &format!("/.well-known/openid-configuration{path}")),
    ];
    if !path.is_empty() {
        places.push(with_path(issuer, &format!("{path}/.well-known/openid-configuration")));
    }
    places
}

/// Returns another address of the same origin. The text after the host is taken unchanged.
pub(crate) fn with_path(address: &Url, path: &str) -> String {
    format!("{}{path}", address.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn secrets_travel_over_tls_or_stay_on_this_machine() {
        for (address, local, is_usable) in [
            ("https://a.example/x", false, true),
            ("http://a.example/x", true, false),
            ("http://127.0.0.1:8/x", true, true),
            ("http://127.0.0.1:8/x", false, false),
            ("http://[::1]/x", true, true),
            ("http://localhost:1", true, true),
            ("http://localhost.evil.example", true, false),
            ("https://user:word@a.example/", false, false),
            ("file:///etc/passwd", true, false),
            ("javascript:alert(1)", true, false),
            ("nonsense", true, false),
        ] {
            assert_eq!(usable(address, "it", local).is_ok(), is_usable, "{address} {local}");
        }
    }

    #[test]
    fn a_description_is_about_its_own_origin_and_path() {
        let server = url("https://a.example/team/mcp");
        for (resource, is_about_it) in [
            ("https://a.example/team/mcp", true),
            ("https://a.example/team/mcp/", true),
            ("https://a.example/team", true),
            ("https://a.example", true),
            ("HTTPS://A.EXAMPLE:443/team", true),
            ("https://a.example/te", false),
            ("https://a.example/team/mcp/more", false),
            ("https://b.example/team/mcp", false),
            ("https://a.example.evil/team/mcp", false),
            ("http://a.example/team/mcp", false),
            ("https://a.example:444/team/mcp", false),
            ("https://a.example/team/mcp#x", false),
            ("https://a.example/team/mcp?x=1", false),
            ("", false),
        ] {
            assert_eq!(covers(resource, &server), is_about_it, "{resource}");
        }
    }

    #[test]
    fn descriptions_stand_at_the_known_places() {
        assert_eq!(
            resource_descriptions(&url("https://a.example/mcp/")),
            [
                "https://a.example/.well-known/oauth-protected-resource/mcp",
                "https://a.example/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(
            resource_descriptions(&url("https://a.example")),
            ["https://a.example/.well-known/oauth-protected-resource"]
        );
        assert_eq!(
            issuer_descriptions(&url("https://a.example/t")),
            [
                "https://a.example/.well-known/oauth-authorization-server/t",
                "https://a.example/.well-known/openid-configuration/t",
                "https://a.example/t/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn issuers_are_compared_as_texts_but_for_the_last_slash_of_an_origin() {
        assert!(is_same_issuer("https://a.example", "https://a.example/"));
        assert!(is_same_issuer("https://a.example/t", "https://a.example/t"));
        for (a, b) in [
            ("https://a.example/t", "https://a.example/t/"),
            ("https://a.example", "https://b.example"),
            ("https://a.example", "https://A.example"),
            ("https://a.example", "http://a.example"),
        ] {
            assert!(!is_same_issuer(a, b), "{a} {b}");
        }
    }
}
