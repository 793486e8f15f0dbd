//! Matching of servers with the patterns of lists. Addresses are compared in the form used for connections.

use super::pattern::{ServerAddress, ServerPattern};
use url::Url;
use windlass_permission::network::{Host, UrlPattern, host};

/// A pattern with its variables replaced, ready for matching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ready {
    Name(String),
    Command(Vec<String>),
    Url(ServerUrl),
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
            ServerPattern::Url(text) => Self::Url(ServerUrl::parse(&expand(text)?)?),
        })
    }

    /// Returns `true` if an allow list with these entries allows the server.
    pub(super) fn allow(all: &[Self], name: &str, address: ServerAddress<'_>) -> bool {
        // In a list with addresses or commands, a name alone is not enough.
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

    /// Returns `true` if the entry denies the server.
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

/// A pattern of addresses of servers. Without a path it matches every path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerUrl {
    pattern: UrlPattern,
    /// The pattern without its trailing slash, if it has one.
    without_slash: Option<UrlPattern>,
}

impl ServerUrl {
    fn parse(text: &str) -> Result<Self, String> {
        let unusable = |why: &str| format!("{text:?} {why}");
        let parse = |text: &str| {
            // An address without wildcards is compared in the form in which it is connected to.
            let plain = Some(text).filter(|text| !text.contains('*')).and_then(|text| Url::parse(text).ok());
            UrlPattern::parse(plain.as_ref().map_or(text, Url::as_str))
        };
        let rest = match text.split_once("://") {
            Some((_, rest)) => rest,
            None if text == "*" => "/",
            None => return Err(unusable("has no scheme: write `https://` or `*://`")),
        };
        let (authority, path) =
            rest.split_at_checked(rest.find(['/', '?', '#']).unwrap_or(rest.len())).unwrap_or((rest, ""));
        let problem =
            "is no address of a server: write `https://host:port/path`, with `*` for any text within one part";
        if authority.is_empty() && text != "*" {
            return Err(unusable(problem));
        }
        let labels: Vec<String> = authority.split('.').map(in_ascii).collect();
        let full_url = match text.split_once("://") {
            Some((scheme, _)) => {
                format!("{scheme}://{}{}", labels.join("."), if path.is_empty() { "/*" } else { path })
            }
            None => text.to_owned(),
        };
        let pattern = parse(&full_url).ok_or_else(|| unusable(problem))?;
        Ok(Self { pattern, without_slash: full_url.strip_suffix('/').and_then(UrlPattern::parse) })
    }

    /// Returns `true` if the pattern matches the address.
    fn covers(&self, url: &Url) -> bool {
        self.pattern.matches(plain(url).as_str())
    }

    /// Returns `true` if the pattern matches the address, ignoring its query and a trailing slash, or if the address
    /// cannot be compared.
    fn touches(&self, url: &Url) -> bool {
        let url = plain(url);
        let mut path = url.clone();
        path.set_query(None);
        let text = path.as_str();
        let texts = [url.as_str(), text, text.strip_suffix('/').unwrap_or(text)];
        let fits = |pattern: &UrlPattern| texts.iter().any(|text| pattern.matches(text));
        host(url.as_str()) == Host::Unclear || fits(&self.pattern) || self.without_slash.as_ref().is_some_and(fits)
    }
}

/// Returns a label of a host name in ASCII, as it is looked up.
fn in_ascii(label: &str) -> String {
    match url::Host::parse(label) {
        Ok(url::Host::Domain(name)) if !label.is_ascii() => name,
        _ => label.to_owned(),
    }
}

/// Returns the address without a user's name and a fragment, which do not choose the server.
fn plain(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_fragment(None);
    // These calls fail only for addresses that cannot have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}
