//! Hosts that a proxy has refused to programs.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of refusals that wait for the end of their program.
const MOST: usize = 1_024;
/// Maximum number of hosts that are named per program.
const MOST_NAMED: usize = 20;

/// Refusals of the proxy of [`Network::Proxy`](crate::Network::Proxy). Clones share them: the proxy [notes](Self::note)
/// each, and the runner of a program names the hosts with its outcome.
///
/// ```
/// use windlass_sandbox::RefusedHosts;
///
/// let refused = RefusedHosts::default();
/// refused.note("127.0.0.1:40001".parse()?, "evil.example:443");
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RefusedHosts(Arc<Mutex<VecDeque<(SocketAddr, String)>>>);

impl RefusedHosts {
    /// Notes that a host was refused to the client at this address. Beyond 1,024 refusals, the oldest is dropped.
    pub fn note(&self, from: SocketAddr, host: impl Into<String>) {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= MOST {
            refused.pop_front();
        }
        refused.push_back((from, host.into()));
    }

    /// Takes the hosts that were refused on these connections, each once.
    pub(crate) fn on(&self, connections: &[SocketAddr]) -> Vec<String> {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hosts: Vec<String> = Vec::new();
        refused.retain(|(from, host)| {
            let is_own = connections.contains(from);
            if is_own && !hosts.contains(host) && hosts.len() < MOST_NAMED {
                hosts.push(host.clone());
            }
            !is_own
        });
        hosts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn each_program_hears_of_its_own() {
        let refused = RefusedHosts::default();
        for (port, host) in [(1, "a:443"), (2, "b:443"), (1, "a:443"), (3, "c:443")] {
            refused.note(at(port), host);
        }
        assert_eq!(refused.on(&[at(1), at(3)]), ["a:443", "c:443"]);
        assert_eq!(refused.on(&[at(1), at(3)]), [""; 0]);
        assert_eq!(refused.on(&[at(2)]), ["b:443"]);
    }

    #[test]
    fn a_flood_is_bounded() {
        let refused = RefusedHosts::default();
        for host in 0..5_000 {
            refused.note(at(1), host.to_string());
        }
        assert_eq!(refused.0.lock().unwrap().len(), MOST);
        assert_eq!(refused.on(&[at(1)]).len(), MOST_NAMED);
        assert_eq!(refused.0.lock().unwrap().len(), 0);
    }
}
