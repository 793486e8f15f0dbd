//! Network access of confined programs, in a build without the feature `web`: there is no proxy for hosts.

use super::SandboxOptions;
use std::ffi::OsString;
use windlass_sandbox::{Network, RefusedHosts, SandboxError};

/// No hosts.
#[derive(Debug, Clone, Default)]
pub(super) struct EgressHosts;

impl SandboxOptions {
    /// No hosts, and a note about it.
    pub(crate) fn with_domains(self, _: &[String], _: &[String], note: impl Fn(String)) -> Self {
        note(
            "sandbox.network.allowedDomains: programs reach no host, since this program has no proxy for them"
                .to_owned(),
        );
        self
    }
}

/// Network access of programs.
pub(crate) struct Way(Network);

impl Way {
    pub(super) async fn open(network: Network, _: &EgressHosts) -> Result<Self, SandboxError> {
        Ok(Self(network))
    }

    pub(super) fn network(&self) -> Network {
        self.0
    }

    pub(super) fn variables(&self) -> &[(OsString, OsString)] {
        &[]
    }

    pub(super) fn refused(&self) -> RefusedHosts {
        RefusedHosts::default()
    }
}
