//! Hosts of web addresses.

use crate::wildcard::Wildcard;

/// The pattern of a `domain:` rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Domain {
    /// `*`
    Any,
    /// Labels, each with `*` for any characters in it.
    Labels { below: bool, labels: Vec<Wildcard> },
}

/// What is known of the host of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// Its canonical form.
    Known(String),
    /// There may be a host, but not in a form that can be compared.
    Unclear,
}

impl Domain {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim().to_ascii_lowercase();
        let text = text.strip_suffix('.').filter(|rest| !rest.ends_with('*')).unwrap_or(&text);
        if text == "*" {
            return Ok(Self::Any);
        }
        let (below, rest) = text.strip_prefix("*.").map_or((false, text), |rest| (true, rest));
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*' | '[' | ']' | ':');
        if rest.is_empty() || rest.split('.').any(str::is_empty) || !rest.chars().all(known) {
            return Err(
                "is not a host name: write `WebFetch(domain:example.com)`, international names as `xn--…`".to_owned()
            );
        }
        Ok(Self::Labels { below, labels: rest.split('.').map(Wildcard::new).collect() })
    }

    pub(crate) fn matches(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Labels { below, labels } => {
                let names: Vec<&str> = host.split('.').collect();
                let more = names.len().checked_sub(labels.len());
                let depth_fits = more.is_some_and(|more| if *below { more > 0 } else { more == 0 });
                depth_fits && labels.iter().rev().zip(names.iter().rev()).all(|(label, name)| label.matches(name))
            }
        }
    }
}

/// The host of an http(s) address, lower case. Strict: an address that two programs could read differently is unclear.
pub(crate) fn host(url: &str) -> Host {
    let parsed = || {
        let (scheme, rest) = url.split_once("://")?;
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return None;
        }
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) => host,
            Some((_, port)) if !port.ends_with(']') => return None,
            _ => authority,
        };
        let host = host.strip_suffix('.').unwrap_or(host);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let bracketed = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
        let fine = match bracketed {
            Some(address) => address.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '.')),
            None => host.chars().all(plain) && host.split('.').all(|label| !label.is_empty()),
        };
        (fine && !host.is_empty()).then(|| host.to_ascii_lowercase())
    };
    let readable = !url.contains(|c: char| c == '\\' || c.is_control() || c.is_whitespace());
    parsed().filter(|_| readable).map_or(Host::Unclear, Host::Known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_match_by_label() {
        for (pattern, host, expected) in [
            ("example.com", "example.com", true),
            ("Example.COM.", "example.com", true),
            ("example.com", "www.example.com", false),
            ("*.example.com", "www.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "badexample.com", false),
            ("api.*.com", "api.x.com", true),
            ("api.*.com", "api.x.y.com", false),
            ("example.*", "example.org", true),
            ("example.*", "example.co.uk", false),
            ("*", "anything", true),
        ] {
            assert_eq!(Domain::parse(pattern).unwrap().matches(host), expected, "{pattern} {host}");
        }
        for bad in ["", "*.", "a..b", "a b", "http://x", "bücher.de"] {
            assert!(Domain::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn hosts_are_read_strictly() {
        for (url, expected) in [
            ("https://Example.com/x?y#z", "example.com"),
            ("http://example.com:8080", "example.com"),
            ("https://example.com./", "example.com"),
            ("https://[::1]:80/", "[::1]"),
        ] {
            assert_eq!(host(url), Host::Known(expected.to_owned()), "{url}");
        }
        for url in [
            "",
            "example.com",
            "ftp://example.com",
            "https://good.com@evil.com/",
            "https://good.com\\@evil.com/",
            "https://ex%61mple.com",
            "https://b\u{fc}cher.de",
            "https://example.com\t/",
            "https://a..b/",
            "https:///x",
            "https://example.com:x/",
        ] {
            assert_eq!(host(url), Host::Unclear, "{url}");
        }
    }
}
