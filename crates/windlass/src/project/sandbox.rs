//! What settings say of the sandbox, as options.

use super::{LoadedProject, ProjectNoticeKind};
use crate::sandbox::{Network, SandboxOptions};
use crate::session::Options;
#[cfg(feature = "web")]
use windlass_permission::network::NetworkPolicy;
use windlass_project::SandboxDomains;

impl LoadedProject {
    /// Has commands run in the sandbox that settings ask for, unless the program has said which one it wants.
    pub(super) fn apply_sandbox(&self, options: &mut Options) {
        if options.surroundings.sandbox.is_none() {
            options.surroundings.sandbox = self.sandbox();
        }
    }

    /// The sandbox that settings ask for. `None`: none does. A session that takes the project heeds it by itself.
    pub fn sandbox(&self) -> Option<SandboxOptions> {
        let resolved = &self.resolved().sandbox;
        resolved.enabled.as_ref()?;
        let said = &resolved.settings;
        let (files, domains) = (&said.files, &said.domains);
        let is_open = domains.denied.is_empty() && domains.allowed.iter().any(|domain| domain == "*");
        let mut sandbox = SandboxOptions::new()
            .exclude(&said.excluded)
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
