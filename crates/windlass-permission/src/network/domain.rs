//! Patterns of hosts.

use crate::wildcard::Wildcard;

/// The pattern of a `domain:` rule, and of the lists of a [`NetworkPolicy`](super::NetworkPolicy): `example.com` is
/// that host alone, `*.example.com` every host below it, `*` any host; inside a label `*` matches any characters of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Domain {
    /// `*`
    Any,
    /// Labels, each with `*` for any characters in it.
    Labels { below: bool, labels: Vec<Wildcard> },
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

    /// Returns `true` if the pattern names no domain: its last label may be any.
    pub(crate) fn is_broad(&self) -> bool {
        match self {
            Self::Any => true,
            Self::Labels { labels, .. } => labels.last().is_none_or(|label| !label.is_literal()),
        }
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
}
