//! Judgement of targets, and connection to permitted ones.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::net::TcpStream;
use tokio::time::timeout;
use windlass_permission::network::{NetworkPolicy, Permission, Target, Verdict};

use super::options::EgressOptions;
use super::{EgressEvent, EgressOutcome};

/// Judges targets and connects to those that pass.
pub(super) struct HostGate {
    pub(super) policy: Arc<RwLock<NetworkPolicy>>,
    pub(super) options: EgressOptions,
}

impl HostGate {
    /// Connects to a target. Its name is looked up once, and only checked addresses are dialled.
    ///
    /// # Errors
    /// Fails if the target must not or cannot be reached. The outcome is reported in every case.
    pub(super) async fn connect(&self, target: &Target, from: Option<SocketAddr>) -> Result<TcpStream, EgressOutcome> {
        let connected = timeout(self.options.connect_timeout, self.dial(target, self.permission(target).await)).await;
        let late = || Err(EgressOutcome::Failed("it took too long to connect".to_owned()));
        let (outcome, connected) = match connected.unwrap_or_else(|_| late()) {
            Ok((stream, entry)) => (EgressOutcome::Allowed(entry), Ok(stream)),
            Err(outcome) => (outcome.clone(), Err(outcome)),
        };
        self.report(Some(target), from, outcome);
        connected
    }

    pub(super) fn report(&self, target: Option<&Target>, from: Option<SocketAddr>, outcome: EgressOutcome) {
        if let Some(sink) = &self.options.on_event {
            sink(&EgressEvent { target: target.map(Target::to_string), from, outcome });
        }
    }

    async fn permission(&self, target: &Target) -> Result<Permission, EgressOutcome> {
        let verdict = self.policy.read().unwrap_or_else(PoisonError::into_inner).judge(target);
        match verdict {
            Verdict::Allowed(permission) => Ok(permission),
            Verdict::Denied(why) => Err(EgressOutcome::Denied(why)),
            Verdict::Undecided => match &self.options.ask {
                Some(ask) if ask.may_reach(target).await => Ok(Permission::of_public()),
                _ => Err(EgressOutcome::Undecided),
            },
        }
    }

    async fn dial(
        &self,
        target: &Target,
        permission: Result<Permission, EgressOutcome>,
    ) -> Result<(TcpStream, String), EgressOutcome> {
        let permission = permission?;
        let addresses = self.addresses(target).await?;
        if !permission.may_dial_all(&addresses) {
            return Err(EgressOutcome::Denied(format!("{target} has an address that is not public")));
        }
        let mut last = None;
        for address in addresses {
            match self.options.network.connect(SocketAddr::new(address, target.port())).await {
                Ok(stream) => return Ok((stream, permission.entry().to_owned())),
                Err(error) => last = Some(error),
            }
        }
        Err(EgressOutcome::Failed(last.map_or_else(String::new, |error| error.to_string())))
    }

    async fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, EgressOutcome> {
        if let Some(address) = target.address() {
            return Ok(vec![address]);
        }
        let found = self.options.network.lookup(target.host()).await;
        let found = found.map_err(|error| EgressOutcome::Failed(error.to_string()))?;
        if found.is_empty() {
            return Err(EgressOutcome::Failed("the name has no address".to_owned()));
        }
        Ok(found)
    }
}
