//! What settings say of the sandbox, as options.

use super::{LoadedProject, ProjectNoticeKind};
use crate::sandbox::{Network, SandboxOptions};
use crate::session::Options;
use windlass_permission::network::NetworkPolicy;
use windlass_project::SandboxDomains;
use windlass_types::{Behavior, RuleSource};

impl LoadedProject {
    /// Has commands run in the sandbox that settings ask for, unless the program has said which one it wants.
    pub(super) fn apply_sandbox(&self, options: &mut Options) {
        if options.surroundings.sandbox.options.is_none() {
            options.surroundings.sandbox.options = self.sandbox();
        }
    }

    /// The sandbox that settings ask for. `None`: none does, or the files are not on this machine. A session that takes the
    /// project heeds it by itself.
    pub fn sandbox(&self) -> Option<SandboxOptions> {
        let resolved = &self.resolved().sandbox;
        resolved.enabled.as_ref().filter(|_| self.place_elsewhere().is_none())?;
        let said = &resolved.settings;
        let (files, domains) = (&said.files, &said.domains);
        let domains = &self.with_pages(domains);
        let is_open = domains.denied.is_empty() && domains.allowed.iter().any(|domain| domain == "*");
        let mut sandbox = SandboxOptions::new()
            .exclude(&said.excluded)
            .exclude_servers(&said.excluded_servers)
            .exclude_language_servers(&said.excluded_language_servers)
            .network(if is_open { Network::On } else { Network::Off })
            .writable(&files.allow_write)
            .read_only(&files.deny_write)
            .hide(&files.deny_read)
            .show(&files.allow_read);
        if !is_open && !domains.allowed.is_empty() {
            sandbox = self.with_hosts(sandbox, domains);
        }
        type Change = fn(SandboxOptions) -> SandboxOptions;
        let changes: [(bool, Change); 5] = [
            (resolved.required.is_some(), SandboxOptions::required),
            (said.weaker == Some(true), SandboxOptions::accept_weaker),
            (said.auto_allow == Some(true), SandboxOptions::auto_allow),
            (said.allow_unsandboxed == Some(false), SandboxOptions::keep_inside),
            (said.unix_sockets == Some(true), SandboxOptions::allow_unix_sockets),
        ];
        for (_, change) in changes.into_iter().filter(|(wanted, _)| *wanted) {
            sandbox = change(sandbox);
        }
        if let Some(program) = &said.bubblewrap {
            sandbox = sandbox.bubblewrap(program);
        }
        Some(sandbox)
    }

    /// The hosts of programs, with those that rules say of WebFetch: what is denied there is denied here. What is allowed there is allowed
    /// here if settings share it, and if no file of the project says so.
    fn with_pages(&self, domains: &SandboxDomains) -> SandboxDomains {
        let mut domains = domains.clone();
        for set in &self.resolved().permissions.rules {
            let of_project = matches!(set.source, RuleSource::ProjectSettings | RuleSource::LocalSettings);
            let hosts = set.rules.iter().filter_map(|rule| page_host(rule)).map(str::to_owned);
            match set.behavior {
                Behavior::Deny => domains.denied.extend(hosts),
                Behavior::Allow if domains.shared == Some(true) && !of_project => domains.allowed.extend(hosts),
                _ => {}
            }
        }
        domains
    }

    /// The rules on WebFetch that follow from the hosts of programs, where settings want a sandbox: what is denied there is denied here,
    /// and what is allowed there needs no question if settings share it.
    pub(super) fn page_rules(&self) -> (Vec<String>, Vec<String>) {
        let resolved = &self.resolved().sandbox;
        let domains = &resolved.settings.domains;
        if resolved.enabled.is_none() {
            return (Vec::new(), Vec::new());
        }
        let shared = domains.allowed.iter().filter(|_| domains.shared == Some(true));
        let allowed = shared.filter_map(|entry| page_rule(entry)).collect();
        // One that cannot be read might have meant any host.
        let deny = |entry: &String| match NetworkPolicy::default().deny(entry) {
            Ok(_) => page_rule(entry),
            Err(_) => Some("WebFetch".to_owned()),
        };
        (domains.denied.iter().filter_map(deny).collect(), allowed)
    }

    /// The sandbox with the hosts that programs may reach. An entry that cannot be read allows nothing; where one denies, programs reach no
    /// host at all.
    #[cfg(feature = "web")]
    fn with_hosts(&self, sandbox: SandboxOptions, domains: &SandboxDomains) -> SandboxOptions {
        let mut hosts = NetworkPolicy::default();
        for entry in &domains.denied {
            match hosts.clone().deny(entry) {
                Ok(more) => hosts = more,
                Err(error) => {
                    let text = format!("sandbox.network.deniedDomains: programs reach no host: {error}");
                    self.note(ProjectNoticeKind::Setting, text);
                    return sandbox;
                }
            }
        }
        for entry in &domains.allowed {
            match hosts.clone().allow(entry) {
                Ok(more) => hosts = more,
                Err(error) => {
                    self.note(ProjectNoticeKind::Setting, format!("sandbox.network.allowedDomains: {error}"));
                }
            }
        }
        sandbox.hosts(hosts)
    }

    /// Without the feature `web` there is no proxy for them.
    #[cfg(not(feature = "web"))]
    fn with_hosts(&self, sandbox: SandboxOptions, _domains: &SandboxDomains) -> SandboxOptions {
        let text = "sandbox.network.allowedDomains: programs reach no host, since this program has no proxy for them";
        self.note(ProjectNoticeKind::Setting, text);
        sandbox
    }
}

/// The host of a rule on pages.
fn page_host(rule: &str) -> Option<&str> {
    rule.trim().strip_prefix("WebFetch(")?.strip_suffix(')')?.trim().strip_prefix("domain:").map(str::trim)
}

/// The rule on pages that means the hosts of an entry. `None`: it is about a port that no page has, or names no host that a rule can.
fn page_rule(entry: &str) -> Option<String> {
    let entry = entry.trim();
    let host = match entry.rsplit_once(':') {
        Some((_, rest)) if rest.ends_with(']') => entry,
        Some((host, "80" | "443" | "*")) => host,
        Some(_) => return None,
        None => entry,
    };
    (!host.is_empty()).then(|| format!("WebFetch(domain:{host})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_programs_and_of_pages_are_the_same() {
        for (entry, rule) in [
            ("example.com", Some("WebFetch(domain:example.com)")),
            (" *.example.com:443 ", Some("WebFetch(domain:*.example.com)")),
            ("*:*", Some("WebFetch(domain:*)")),
            ("github.com:22", None),
            (":443", None),
            ("[2606:4700::1111]", Some("WebFetch(domain:[2606:4700::1111])")),
        ] {
            assert_eq!(page_rule(entry).as_deref(), rule, "{entry}");
        }
        assert_eq!(page_host(" WebFetch(domain: *.a.com )"), Some("*.a.com"));
        assert!(["WebFetch", "WebFetch(x)", "Bash(domain:a)"].iter().all(|rule| page_host(rule).is_none()));
    }
}
