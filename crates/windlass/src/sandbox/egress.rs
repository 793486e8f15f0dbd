//! Network access of confined programs, with a proxy for hosts.

use super::SandboxOptions;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use windlass_permission::network::NetworkPolicy;
use windlass_sandbox::{Network, PROXY_PORT, RefusedHosts, SandboxError};
use windlass_web::proxy::{EgressOptions, EgressOutcome, EgressProxy};

/// Hosts that programs may reach. `None`: the network of the options.
#[derive(Debug, Clone, Default)]
pub(super) struct EgressHosts(Option<NetworkPolicy>);

impl SandboxOptions {
    /// Lets programs reach only these hosts, through a proxy of the session. Overrides [`network`](Self::network).
    ///
    /// The proxy resolves names, and connects only to addresses that the rules permit. Programs find it by the usual
    /// variables (`HTTPS_PROXY`); a program that ignores them reaches no host. At a level that does not separate
    /// networks, no program reaches any.
    pub fn hosts(mut self, policy: NetworkPolicy) -> Self {
        self.hosts = EgressHosts(Some(policy));
        self
    }

    /// Adds the hosts that settings name. An unreadable entry allows nothing; an unreadable deny entry denies all
    /// hosts.
    pub(crate) fn with_domains(self, denied: &[String], allowed: &[String], note: impl Fn(String)) -> Self {
        let mut hosts = NetworkPolicy::default();
        for entry in denied {
            match hosts.clone().deny(entry) {
                Ok(more) => hosts = more,
                Err(error) => {
                    note(format!("sandbox.network.deniedDomains: programs reach no host: {error}"));
                    return self;
                }
            }
        }
        for entry in allowed {
            match hosts.clone().allow(entry) {
                Ok(more) => hosts = more,
                Err(error) => note(format!("sandbox.network.allowedDomains: {error}")),
            }
        }
        self.hosts(hosts)
    }
}

/// Network access of programs. A proxy ends with it.
pub(crate) struct Way {
    network: Network,
    variables: Vec<(OsString, OsString)>,
    /// Hosts that the proxy has refused.
    refused: RefusedHosts,
    _proxy: Option<EgressProxy>,
}

impl Way {
    /// Opens the network access, with its proxy if there are hosts.
    pub(super) async fn open(network: Network, hosts: &EgressHosts) -> Result<Self, SandboxError> {
        let refused = RefusedHosts::default();
        let Some(hosts) = &hosts.0 else { return Ok(Self { network, variables: Vec::new(), refused, _proxy: None }) };
        let unavailable = |error: &dyn std::error::Error| SandboxError::Unavailable { reason: error.to_string() };
        let refusals = refused.clone();
        let options = EgressOptions::default().on_event(move |event| {
            let is_refusal = matches!(event.outcome, EgressOutcome::Denied(_) | EgressOutcome::Undecided);
            if let (Some(from), Some(host), true) = (event.from, &event.target, is_refusal) {
                refusals.note(from, host);
            }
        });
        let proxy = EgressProxy::start(hosts.clone(), options).await;
        let proxy = proxy.map_err(|error| unavailable(&error))?;
        let inside = SocketAddr::from((Ipv4Addr::LOCALHOST, PROXY_PORT));
        let variables = proxy.environment_at(inside).into_iter().map(|(name, value)| (name.into(), value.into()));
        let network = proxy.address().map_or(Network::Off, Network::Proxy);
        Ok(Self { network, variables: variables.collect(), refused, _proxy: Some(proxy) })
    }

    pub(super) fn network(&self) -> Network {
        self.network
    }

    /// Variables by which programs find the proxy.
    pub(super) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    pub(super) fn refused(&self) -> RefusedHosts {
        self.refused.clone()
    }
}
