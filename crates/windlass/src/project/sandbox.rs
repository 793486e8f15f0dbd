//! Sandbox options from settings.

mod server_sandbox;

use super::configuration::state::Configuration;
use super::{LoadedProject, Project, ProjectError, ProjectNoticeKind};
use crate::sandbox::{Network, SandboxOptions};
use std::path::PathBuf;
use windlass_permission::network::NetworkPolicy;
use windlass_project::SandboxDomains;
use windlass_types::{Behavior, RuleSource};

impl Project {
    /// Helper program for the sandbox of MCP servers that start before a session opens, see
    /// [`sandbox_helper`](crate::options::WorkspaceOptions::sandbox_helper). Default: that of the session.
    pub fn sandbox_helper(mut self, program: impl Into<PathBuf>) -> Self {
        self.sandbox_helper = Some(program.into());
        self
    }
}

impl LoadedProject {
    /// Sandbox that settings request. `None`: none is requested, or the files are not on this machine. A session with
    /// the project applies it automatically.
    pub fn sandbox(&self) -> Option<SandboxOptions> {
        let resolved = &self.resolved().sandbox;
        resolved.enabled.as_ref().filter(|_| self.place_elsewhere().is_none())?;
        let settings = &resolved.settings;
        let (files, domains) = (&settings.files, &settings.domains);
        let domains = &self.with_pages(domains);
        let is_open = domains.denied.is_empty() && domains.allowed.iter().any(|domain| domain == "*");
        let mut sandbox = SandboxOptions::new()
            .exclude(&settings.excluded)
            .exclude_servers(&settings.excluded_servers)
            .exclude_language_servers(&settings.excluded_language_servers)
            .network(if is_open { Network::On } else { Network::Off })
            .writable(&files.allow_write)
            .read_only(&files.deny_write)
            .hide(&files.deny_read)
            .show(&files.allow_read);
        if !is_open && !domains.allowed.is_empty() {
            sandbox = sandbox
                .with_domains(&domains.denied, &domains.allowed, |text| self.note(ProjectNoticeKind::Setting, text));
        }
        type Change = fn(SandboxOptions) -> SandboxOptions;
        let changes: [(bool, Change); 5] = [
            (resolved.required.is_some(), SandboxOptions::required),
            (settings.weaker == Some(true), SandboxOptions::accept_weaker),
            (settings.auto_allow == Some(true), SandboxOptions::auto_allow),
            (settings.allow_unsandboxed == Some(false), SandboxOptions::keep_inside),
            (settings.unix_sockets == Some(true), SandboxOptions::allow_unix_sockets),
        ];
        for (_, change) in changes.into_iter().filter(|(wanted, _)| *wanted) {
            sandbox = change(sandbox);
        }
        if let Some(program) = &settings.bubblewrap {
            sandbox = sandbox.bubblewrap(program);
        }
        Some(sandbox)
    }

    /// Hosts of programs, with those of rules on WebFetch: hosts denied there are denied here. Hosts allowed there are
    /// allowed here if settings share them, and only if the rule is not from a file of the project.
    fn with_pages(&self, domains: &SandboxDomains) -> SandboxDomains {
        let mut domains = domains.clone();
        for set in &self.resolved().permissions.rules {
            let is_project_rule = matches!(set.source, RuleSource::ProjectSettings | RuleSource::LocalSettings);
            let hosts = set.rules.iter().filter_map(|rule| page_host(rule)).map(str::to_owned);
            match set.behavior {
                Behavior::Deny => domains.denied.extend(hosts),
                Behavior::Allow if domains.shared == Some(true) && !is_project_rule => domains.allowed.extend(hosts),
                _ => {}
            }
        }
        domains
    }

    /// Rules on WebFetch that follow from the hosts of programs, if settings request a sandbox: hosts denied there are
    /// denied here, and hosts allowed there need no permission request if settings share them.
    pub(crate) fn page_rules(&self) -> (Vec<String>, Vec<String>) {
        let resolved = &self.resolved().sandbox;
        let domains = &resolved.settings.domains;
        if resolved.enabled.is_none() {
            return (Vec::new(), Vec::new());
        }
        let shared = domains.allowed.iter().filter(|_| domains.shared == Some(true));
        let allowed = shared.filter_map(|entry| page_rule(entry)).collect();
        // An unreadable entry might have meant any host.
        let deny = |entry: &String| match NetworkPolicy::default().deny(entry) {
            Ok(_) => page_rule(entry),
            Err(_) => Some("WebFetch".to_owned()),
        };
        (domains.denied.iter().filter_map(deny).collect(), allowed)
    }
}

/// Applies the sandbox that settings request, unless the program has chosen one.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    let sandbox = &mut configuration.options.surroundings.sandbox;
    if sandbox.options.is_none() {
        sandbox.options = configuration.project.sandbox();
    }
    Ok(())
}

/// Host of a rule on pages.
fn page_host(rule: &str) -> Option<&str> {
    rule.trim().strip_prefix("WebFetch(")?.strip_suffix(')')?.trim().strip_prefix("domain:").map(str::trim)
}

/// Rule on pages for the hosts of an entry. `None`: the entry is about a port that no page has, or its host cannot be
/// named by a rule.
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
