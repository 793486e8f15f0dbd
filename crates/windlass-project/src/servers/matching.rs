//! Servers beside the patterns of lists. Addresses are compared in the form in which they are connected to.

use super::pattern::{ServerAddress, ServerPattern};
use url::{Host, Url};

/// A pattern that can be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ready {
    Name(String),
    Command(Vec<String>),
    Url(UrlPattern),
}

impl Ready {
    /// Puts variables in place, except in names.
    pub(super) fn new(
        pattern: &ServerPattern,
        expand: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        Ok(match pattern {
            ServerPattern::Name(name) => Self::Name(name.clone()),
            ServerPattern::Command(texts) => {
                Self::Command(texts.iter().map(|text| expand(text)).collect::<Result<_, _>>()?)
            }
            ServerPattern::Url(text) => Self::Url(UrlPattern::parse(&expand(text)?)?),
        })
    }

    /// Whether a list that allows only these names the server.
    pub(super) fn allow(all: &[Self], name: &str, address: ServerAddress<'_>) -> bool {
        // Where a list names addresses or commands, a name alone is not enough.
        let by_name = match address {
            ServerAddress::Program { .. } => !all.iter().any(|entry| matches!(entry, Self::Command(_))),
            ServerAddress::Url(_) => !all.iter().any(|entry| matches!(entry, Self::Url(_))),
        };
        let url = parsed(address);
        all.iter().any(|entry| match entry {
            Self::Name(known) => by_name && known == name,
            Self::Command(known) => is_command(known, address),
            Self::Url(pattern) => url.as_ref().is_some_and(|url| pattern.covers(url)),
        })
    }

    /// Whether it denies the server.
    pub(super) fn denies(&self, name: &str, address: ServerAddress<'_>) -> bool {
        match self {
            Self::Name(known) => known == name,
            Self::Command(known) => is_command(known, address),
            Self::Url(pattern) => parsed(address).is_some_and(|url| pattern.touches(&url)),
        }
    }
}

fn parsed(address: ServerAddress<'_>) -> Option<Url> {
    match address {
        // An address that is not understood here is not connected to either.
        ServerAddress::Url(text) => Url::parse(text).ok(),
        ServerAddress::Program { .. } => None,
    }
}

fn is_command(known: &[String], address: ServerAddress<'_>) -> bool {
    let ServerAddress::Program { command, args } = address else { return false };
    known.split_first().is_some_and(|(first, rest)| first == command && rest == args)
}

/// An address with wildcards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UrlPattern {
    scheme: String,
    host: String,
    port: Port,
    path: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    OfScheme,
    Any,
    Is(u16),
}

impl UrlPattern {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self { scheme: "*".to_owned(), host: "*".to_owned(), port: Port::Any, path: None });
        }
        let unusable = |why: &str| format!("{text:?} {why}");
        let (scheme, rest) =
            text.split_once("://").ok_or_else(|| unusable("has no scheme: write `https://` or `*://`"))?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if authority.contains(['@', '\\']) || path.contains(['#', '\\']) {
            return Err(unusable("has what no address of a server has: `@`, `#` or `\\`"));
        }
        // The colons of an address in brackets are its own.
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let port = match port {
            None => Port::OfScheme,
            Some("*") => Port::Any,
            Some(port) => Port::Is(port.parse().map_err(|_| unusable("has a port that is no number"))?),
        };
        let host = host.strip_suffix('.').unwrap_or(host);
        let host = if host.contains('*') && host.is_ascii() {
            host.to_ascii_lowercase()
        } else {
            Host::parse(host).map_err(|_| unusable("has a host that cannot be used"))?.to_string()
        };
        let path = (!path.is_empty()).then(|| if path.starts_with('/') { path.to_owned() } else { format!("/{path}") });
        Ok(Self { scheme: scheme.to_ascii_lowercase(), host, port, path })
    }

    /// Whether the address is one of these.
    fn covers(&self, url: &Url) -> bool {
        self.is_place_of(url) && self.path.as_ref().is_none_or(|pattern| glob(pattern, &whole_path(url)))
    }

    /// Whether the address is one of these, whatever its query is and whether it ends with a slash.
    fn touches(&self, url: &Url) -> bool {
        let path = url.path();
        let fits = |pattern: &String| {
            glob(pattern, &whole_path(url))
                || glob(pattern, path)
                || path.strip_suffix('/').is_some_and(|path| glob(pattern, path))
                || pattern.strip_suffix('/').is_some_and(|pattern| pattern == path)
        };
        self.is_place_of(url) && self.path.as_ref().is_none_or(fits)
    }

    fn is_place_of(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let host = host.strip_suffix('.').unwrap_or(host);
        let port = match self.port {
            Port::OfScheme => url.port().is_none(),
            Port::Any => true,
            Port::Is(port) => url.port_or_known_default() == Some(port),
        };
        port && glob(&self.scheme, url.scheme()) && glob(&self.host, host)
    }
}

fn whole_path(url: &Url) -> String {
    url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
}

/// Whether a text matches a pattern, where `*` is any text. Takes time in proportion to both.
fn glob(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let (between, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(inner) = text.strip_prefix(first).and_then(|text| text.strip_suffix(last)) else { return false };
    // The first place of each piece leaves the most for those behind it.
    between.split('*').try_fold(inner, |left, piece| left.split_once(piece).map(|(_, behind)| behind)).is_some()
}
