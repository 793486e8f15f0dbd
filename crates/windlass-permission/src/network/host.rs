//! Hosts of addresses, read so strictly that every program reads the same.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Host of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host is known or it is not")]
pub enum Host {
    /// Canonical form: lower case, no dot at the end, IPv6 addresses in brackets.
    Known(String),
    /// There may be a host, but not in a form that can be compared.
    Unclear,
}

/// Returns the host of an http(s) address, in its canonical form. Strict: an address that two programs could read
/// differently is unclear. That is one with a user name, an escape, a blank or a letter beyond ASCII in it, and an IPv4
/// address that is not four decimal numbers. An IPv6 address that represents an IPv4 address becomes that one.
#[must_use]
pub fn host(url: &str) -> Host {
    let known = || {
        let (scheme, rest) = url.split_once("://")?;
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return None;
        }
        let (host, _) = split_port(rest.split(['/', '?', '#']).next()?)?;
        canonical(host)
    };
    let readable = !url.contains(|c: char| c == '\\' || c.is_control() || c.is_whitespace());
    known().filter(|_| readable).map_or(Host::Unclear, Host::Known)
}

/// A host and a port to connect to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    host: String,
    port: u16,
}

impl Target {
    /// Reads `example.com:443` or `[2606:4700::1111]:443`. The port must be there and must not be 0. `None` if [`host`]
    /// finds the text unclear.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = split_port(text)?;
        Self::new(host, port?)
    }

    /// Creates a target from a host, written as in an address, and a port. `None` if [`host`] finds it unclear, and for
    /// port 0.
    #[must_use]
    pub fn new(host: &str, port: u16) -> Option<Self> {
        Some(Self { host: canonical(host)?, port }).filter(|target| target.port != 0)
    }

    /// Reads an http(s) address; without a port, the default of its scheme is used. `None` if [`host`] finds it
    /// unclear.
    #[must_use]
    pub fn of_url(url: &str) -> Option<Self> {
        let Host::Known(host) = host(url) else { return None };
        let (scheme, rest) = url.split_once("://")?;
        let usual = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
        let (_, port) = split_port(rest.split(['/', '?', '#']).next()?)?;
        Self::new(&host, port.unwrap_or(usual))
    }

    /// Returns the host in its canonical form: lower case, no dot at its end, IPv6 addresses in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port, never 0.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address, if the host is one and no name.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        match self.host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(bracketed) => bracketed.parse().ok().map(IpAddr::V6),
            None => self.host.parse().ok().map(IpAddr::V4),
        }
    }

    /// Returns `true` if the name is one of this machine or its network and of no registry: a single label, or below
    /// `localhost`, `local`, `internal`, `home.arpa` and the like.
    #[must_use]
    pub fn is_local_name(&self) -> bool {
        const LOCAL: [&str; 10] = [
            "localhost",
            "localdomain",
            "local",
            "internal",
            "intranet",
            "lan",
            "home",
            "corp",
            "private",
            "home.arpa",
        ];
        let below = |end: &&str| self.host.strip_suffix(*end).is_some_and(|rest| rest.ends_with('.'));
        self.address().is_none() && (!self.host.contains('.') || LOCAL.iter().any(below))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Splits off the port. `None` if the text in its place is no port number.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) => {
            Some((host, Some(port.parse().ok()?)))
        }
        Some((_, port)) if !port.ends_with(']') => None,
        _ => Some((authority, None)),
    }
}

/// Returns the one form of a host.
fn canonical(host: &str) -> Option<String> {
    const LONGEST: usize = 253;
    if let Some(inside) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        let address: Ipv6Addr = inside.parse().ok()?;
        return Some(match address.to_ipv4_mapped() {
            Some(mapped) => mapped.to_string(),
            None => format!("[{address}]"),
        });
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let fine = |label: &str| !label.is_empty() && label.len() <= 63 && label.chars().all(plain);
    if host.len() > LONGEST || !host.split('.').all(fine) {
        return None;
    }
    let is_number = host.rsplit('.').next().is_some_and(is_number);
    if is_number && host.parse::<Ipv4Addr>().is_err() {
        return None;
    }
    Some(host.to_ascii_lowercase())
}

/// Returns `true` if programs read a name that ends in this label as an IPv4 address: `1`, `0x7f`.
fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    label.chars().all(|c| c.is_ascii_digit())
        || hexadecimal.is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_strictly() {
        for (url, expected) in [
            ("https://Example.com/x?y#z", "example.com"),
            ("http://example.com:8080", "example.com"),
            ("https://example.com./", "example.com"),
            ("https://[::1]:80/", "[::1]"),
            ("https://[0:0::0:1]/", "[::1]"),
            ("https://[::ffff:10.0.0.1]/", "10.0.0.1"),
            ("https://[::FFFF:7f00:1]/", "127.0.0.1"),
            ("http://127.0.0.1/", "127.0.0.1"),
            ("http://1.2.3.4.example.com/", "1.2.3.4.example.com"),
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
            "https://example.com:/",
            "https://example.com:65536/",
            "https://example.com../",
            "http://2130706433/",
            "http://127.1/",
            "http://0x7f000001/",
            "http://0X7F.0.0.1/",
            "http://0177.0.0.1/",
            "http://127.0.0.1.2/",
            "http://256.0.0.1/",
            "http://example.0x/",
            "https://[::1%25lo]/",
            "https://[127.0.0.1]/",
            "https://[::1/",
            "https://%31%32%37.0.0.1/",
            "https://\u{ff11}\u{ff12}\u{ff17}.0.0.1/",
            "https://example\u{3002}com/",
            "https://user@example.com/",
            "https://:@example.com/",
        ] {
            assert_eq!(host(url), Host::Unclear, "{url}");
        }
    }

    #[test]
    fn targets_are_hosts_with_ports() {
        let shown = |text: &str| Target::parse(text).map(|target| target.to_string());
        for (text, expected) in [
            ("Example.com:443", "example.com:443"),
            ("example.com.:1", "example.com:1"),
            ("[::1]:8080", "[::1]:8080"),
            ("[::ffff:1.2.3.4]:80", "1.2.3.4:80"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["example.com", "example.com:0", "example.com:99999", ":443", "::1:443", "a b:1", "a@b:1", "[::1]"]
        {
            assert_eq!(shown(text), None, "{text}");
        }
        let of_url = |url: &str| Target::of_url(url).map(|target| target.to_string());
        assert_eq!(of_url("https://example.com/a:1").as_deref(), Some("example.com:443"));
        assert_eq!(of_url("HTTP://example.com?x").as_deref(), Some("example.com:80"));
        assert_eq!(of_url("http://[::1]:81#x").as_deref(), Some("[::1]:81"));
        assert_eq!(of_url("https://example.com:0/"), None);
    }

    #[test]
    fn names_of_the_local_network_are_known() {
        let is_local = |host: &str| Target::new(host, 443).unwrap().is_local_name();
        for host in [
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "printer.local",
            "metadata.google.internal",
            "nas",
            "a.home.arpa",
        ] {
            assert!(is_local(host), "{host}");
        }
        for host in ["example.com", "local.example.com", "notlocalhost.dev", "127.0.0.1", "[::1]"] {
            assert!(!is_local(host), "{host}");
        }
    }
}
