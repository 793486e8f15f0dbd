//! Patterns of http(s) addresses, compared part by part.

use super::{Host, Target, host};
use crate::wildcard::Wildcard;

/// A pattern of addresses: `scheme://host:port/path` with `*` for any text within one part, or `*` for every address.
///
/// Without a port the port of the scheme is meant, without a path the root. Scheme and host are compared in their
/// canonical form, so that a `*` of the host never reaches into the path.
///
/// ```
/// use windlass_permission::network::UrlPattern;
///
/// let pattern = UrlPattern::parse("http://*.example.com/*").unwrap();
/// assert!(pattern.matches("http://hooks.example.com/x"));
/// assert!(!pattern.matches("http://127.0.0.1/x.example.com/"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlPattern {
    scheme: Wildcard,
    host: Wildcard,
    port: Port,
    /// Path with its query.
    path: Wildcard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    OfScheme,
    Any,
    Is(u16),
}

impl UrlPattern {
    /// Reads a pattern. `None` for one that no address can match.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let any = || Wildcard::new("*");
        if text == "*" {
            return Some(Self { scheme: any(), host: any(), port: Port::Any, path: any() });
        }
        let (scheme, rest) = text.split_once("://")?;
        let (authority, path) = split_path(rest);
        let is_odd = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '\\' | '@');
        if authority.is_empty() || authority.contains(is_odd) || path.contains('#') || has_dot_segment(path) {
            return None;
        }
        // The colons of an address in brackets are its own.
        let (name, port) = match authority.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (authority, None),
        };
        let port = match port {
            None => Port::OfScheme,
            Some("*") => Port::Any,
            Some(port) => Port::Is(port.parse().ok().filter(|port| *port != 0)?),
        };
        let name = match host(&format!("http://{name}")) {
            Host::Known(name) => name,
            Host::Unclear if name.contains('*') => name.trim_end_matches('.').to_ascii_lowercase(),
            Host::Unclear => return None,
        };
        let scheme = scheme.to_ascii_lowercase();
        let is_http = ["http", "https"].iter().any(|known| Wildcard::new(&scheme).matches(known));
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        is_http.then(|| Self {
            scheme: Wildcard::new(&scheme),
            host: Wildcard::new(&name),
            port,
            path: Wildcard::new(&path),
        })
    }

    /// Returns `true` if an address is one of these. An address that programs could read differently is none.
    #[must_use]
    pub fn matches(&self, url: &str) -> bool {
        let (Some(target), Some((scheme, rest))) = (Target::of_url(url), url.split_once("://")) else { return false };
        let (_, path) = split_path(rest);
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let scheme = scheme.to_ascii_lowercase();
        let port = match self.port {
            Port::Any => true,
            Port::Is(port) => target.port() == port,
            Port::OfScheme => target.port() == if scheme == "https" { 443 } else { 80 },
        };
        port && self.scheme.matches(&scheme)
            && self.host.matches(target.host())
            && !has_dot_segment(&path)
            && self.path.matches(&path)
    }
}

/// Returns the authority and path, with query and fragment.
fn split_path(rest: &str) -> (&str, &str) {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest.split_at_checked(end).unwrap_or((rest, ""))
}

/// Returns `true` if a client would resolve a segment, so that another path is requested.
fn has_dot_segment(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default().to_ascii_lowercase().replace("%2e", ".");
    path.split('/').any(|segment| matches!(segment, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_part_by_part() {
        for (pattern, url, expected) in [
            ("http://*.example.com/*", "http://hooks.example.com/x", true),
            ("http://*.example.com/*", "HTTP://A.B.EXAMPLE.com./x?y=z", true),
            ("http://*.example.com/*", "http://127.0.0.1/x.example.com/", false),
            ("http://*.example.com/*", "http://127.0.0.1?.example.com/", false),
            ("http://*.example.com/*", "http://127.0.0.1#.example.com/", false),
            ("http://*.example.com/*", "http://127.0.0.1\\.example.com/", false),
            ("http://*.example.com/*", "http://u@a.example.com/", false),
            ("http://*.example.com/*", "http://127.0.0.1:80.example.com/", false),
            ("https://hooks.example/a/*", "https://hooks.example/a/b", true),
            ("https://hooks.example/a/*", "https://hooks.example/a/../b", false),
            ("https://hooks.example/a/*", "https://hooks.example/a/.%2E/b", false),
            ("https://hooks.example/*/end", "https://hooks.example/other#/end", false),
            ("https://hooks.example/a", "https://hooks.example/a#x", true),
            ("https://hooks.example", "https://hooks.example/", true),
            ("https://hooks.example", "https://hooks.example/a", false),
            ("https://hooks.example/*", "https://hooks.example:8443/a", false),
            ("https://hooks.example:8443/*", "https://hooks.example:8443/a", true),
            ("http://localhost:*/*", "http://localhost:3000/a", true),
            ("http://[::1]:80/*", "http://[0:0:0:0:0:0:0:1]/a", true),
            ("*://h/*", "https://h/a", true),
            ("https://*", "https://h", true),
            ("https://*", "https://h/a", false),
            ("*", "http://anything:1/x?y", true),
            ("*", "http://127.1/x", false),
        ] {
            assert_eq!(UrlPattern::parse(pattern).unwrap().matches(url), expected, "{pattern} {url}");
        }
        for pattern in
            ["", "h/*", "ftp://h/*", "https://", "https:///x", "https://u@h/", "https://h:x/", "https://h/../*"]
        {
            assert_eq!(UrlPattern::parse(pattern), None, "{pattern}");
        }
    }
}
