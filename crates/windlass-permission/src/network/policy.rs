//! Lists of hosts that may and that must not be reached.

use std::fmt;
use std::net::IpAddr;

use super::{AddressKind, Domain, Target};
use crate::RuleError;

/// Lists of hosts. A deny wins over every allow, and addresses that are not public are denied unless a list of their
/// own names the host. The default allows no host.
///
/// An entry is a pattern of hosts as in `WebFetch(domain:…)`, and may have a port: `example.com`, `*.example.com:8443`,
/// `*:443`, `[2606:4700::1111]`. Without a port, allowing entries are for the ports 80 and 443, and denying ones for
/// every port; `:*` is every port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkPolicy {
    allow: Vec<Entry>,
    private: Vec<Entry>,
    deny: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    text: String,
    domain: Domain,
    ports: Ports,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ports {
    Any,
    Web,
    One(u16),
}

/// Verdict of a policy on a target before its name is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who connects must handle each")]
pub enum Verdict {
    /// The target may be reached, at addresses that the permission allows.
    Allowed(Permission),
    /// The target must not be reached. The text is the reason, for people and the model.
    Denied(String),
    /// No entry names it.
    Undecided,
}

/// Permission to dial addresses of an allowed target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    entry: String,
    is_private: bool,
}

impl NetworkPolicy {
    /// Allows the public addresses of hosts.
    ///
    /// # Errors
    /// The entry is not a pattern of hosts.
    pub fn allow(mut self, entry: &str) -> Result<Self, RuleError> {
        self.allow.push(Entry::parse(entry, Ports::Web)?);
        Ok(self)
    }

    /// Allows hosts also at addresses of this machine and its network ([`AddressKind::Private`]), for servers of a
    /// company or of a project. The entry has to name a host: `*` does not fit here.
    ///
    /// # Errors
    /// The entry is not a pattern of hosts, or its last label has a `*`.
    pub fn allow_private(mut self, entry: &str) -> Result<Self, RuleError> {
        let parsed = Entry::parse(entry, Ports::Web)?;
        if parsed.domain.is_broad() {
            return Err(RuleError::new(
                entry,
                "names too much: hosts that may be on this network need an entry whose last label has no `*`",
            ));
        }
        self.private.push(parsed);
        Ok(self)
    }

    /// Denies hosts, whatever else allows them.
    ///
    /// # Errors
    /// The entry is not a pattern of hosts.
    pub fn deny(mut self, entry: &str) -> Result<Self, RuleError> {
        self.deny.push(Entry::parse(entry, Ports::Any)?);
        Ok(self)
    }

    /// Returns the verdict of the lists on a target. Total: a target that no entry names is undecided.
    #[must_use]
    pub fn judge(&self, target: &Target) -> Verdict {
        let names = |list: &[Entry]| list.iter().find(|entry| entry.names(target)).map(|entry| entry.text.clone());
        if let Some(entry) = names(&self.deny) {
            return Verdict::Denied(format!("{target} is denied by `{entry}`"));
        }
        let private = names(&self.private);
        if private.is_none() {
            if target.is_local_name() {
                return Verdict::Denied(format!("{target} is a name of the local network"));
            }
            if target.address().is_some_and(|address| AddressKind::of(address) != AddressKind::Public) {
                return Verdict::Denied(format!("{target} is not a public address"));
            }
        }
        let is_private = private.is_some();
        match private.or_else(|| names(&self.allow)) {
            Some(entry) => Verdict::Allowed(Permission { entry, is_private }),
            None => Verdict::Undecided,
        }
    }
}

impl Permission {
    /// For a target that a person or another rule has allowed: its public addresses.
    #[must_use]
    pub fn of_public() -> Self {
        Self { entry: String::new(), is_private: false }
    }

    /// Returns the entry that allows the target; empty if no list does.
    #[must_use]
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Returns `true` if addresses of this machine and its network may be dialled too.
    #[must_use]
    pub fn allows_private(&self) -> bool {
        self.is_private
    }

    /// Returns `true` if an address of the target may be dialled.
    #[must_use]
    pub fn may_dial(&self, address: IpAddr) -> bool {
        match AddressKind::of(address) {
            AddressKind::Public => true,
            AddressKind::Private => self.is_private,
            AddressKind::Forbidden => false,
        }
    }

    /// Returns `true` if the resolved addresses of a name may be dialled: there are some, and each of them may. One
    /// forbidden address spoils all, since the name's owner has tried to lead somewhere else.
    #[must_use]
    pub fn may_dial_all(&self, addresses: &[IpAddr]) -> bool {
        !addresses.is_empty() && addresses.iter().all(|address| self.may_dial(*address))
    }
}

impl Entry {
    fn parse(text: &str, usual: Ports) -> Result<Self, RuleError> {
        let text = text.trim();
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (text, None),
        };
        let ports = match port {
            None => usual,
            Some("*") => Ports::Any,
            Some(port) => match port.parse() {
                Ok(port) if port != 0 => Ports::One(port),
                _ => return Err(RuleError::new(text, "has no port behind `:`: write a number or `*`")),
            },
        };
        let host = host.trim();
        // An address has one canonical form, in which targets have it too.
        let canonical = Target::new(host, 1).map_or_else(|| host.to_owned(), |target| target.host().to_owned());
        let domain = Domain::parse(&canonical).map_err(|problem| RuleError::new(text, problem))?;
        Ok(Self { text: text.to_owned(), domain, ports })
    }

    fn names(&self, target: &Target) -> bool {
        let fits = match self.ports {
            Ports::Any => true,
            Ports::Web => matches!(target.port(), 80 | 443),
            Ports::One(port) => port == target.port(),
        };
        fits && self.domain.matches(target.host())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allowed(permission) => write!(f, "allowed by `{}`", permission.entry),
            Self::Denied(why) => f.write_str(why),
            Self::Undecided => f.write_str("no entry names it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> NetworkPolicy {
        let policy = NetworkPolicy::default().allow("example.com").unwrap().allow("*.example.org:8443").unwrap();
        let policy = policy.allow("*.all.net:*").unwrap().allow("10.0.0.1").unwrap();
        let policy = policy.allow_private("registry.corp:5000").unwrap().allow_private("[::1]:*").unwrap();
        policy.deny("bad.all.net").unwrap().deny("example.com:80").unwrap()
    }

    #[test]
    fn lists_are_weighed() {
        for (target, expected) in [
            ("example.com:443", "allowed by `example.com`"),
            ("example.com:80", "example.com:80 is denied by `example.com:80`"),
            ("example.com:22", "no entry names it"),
            ("www.example.com:443", "no entry names it"),
            ("a.example.org:8443", "allowed by `*.example.org:8443`"),
            ("a.example.org:443", "no entry names it"),
            ("x.all.net:22", "allowed by `*.all.net:*`"),
            ("bad.all.net:22", "bad.all.net:22 is denied by `bad.all.net`"),
            ("10.0.0.1:443", "10.0.0.1:443 is not a public address"),
            ("registry.corp:5000", "allowed by `registry.corp:5000`"),
            ("registry.corp:443", "registry.corp:443 is a name of the local network"),
            ("[::1]:9", "allowed by `[::1]:*`"),
            ("localhost:443", "localhost:443 is a name of the local network"),
        ] {
            assert_eq!(policy().judge(&Target::parse(target).unwrap()).to_string(), expected, "{target}");
        }
    }

    #[test]
    fn only_addresses_that_fit_are_dialled() {
        let permission = |target: &str| match policy().judge(&Target::parse(target).unwrap()) {
            Verdict::Allowed(permission) => permission,
            other => panic!("{target}: {other}"),
        };
        let addresses = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
        let public = permission("example.com:443");
        assert!(public.may_dial_all(&addresses(&["1.1.1.1", "2606:4700::1111"])));
        assert!(!public.may_dial_all(&addresses(&["1.1.1.1", "127.0.0.1"])));
        assert!(!public.may_dial_all(&[]));
        let private = permission("registry.corp:5000");
        assert!(private.may_dial_all(&addresses(&["10.1.2.3", "1.1.1.1"])));
        assert!(!private.may_dial_all(&addresses(&["169.254.169.254"])));
        assert!(!private.may_dial_all(&addresses(&["64:ff9b::10.0.0.1"])));
    }

    #[test]
    fn entries_that_say_little_are_refused() {
        for entry in
            ["", "example.com:", "example.com:0", "example.com:70000", "http://example.com", "a b", "*.", ":443"]
        {
            assert!(NetworkPolicy::default().allow(entry).is_err(), "{entry}");
        }
        for entry in ["*", "*.*", "10.*", "a.*:80"] {
            assert!(NetworkPolicy::default().allow_private(entry).is_err(), "{entry}");
        }
        assert!(NetworkPolicy::default().allow("*:443").is_ok());
    }
}
