//! What a sandbox is to hold.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// What of the network programs reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Network {
    /// No network beside a loopback of their own, where the system can give one.
    #[default]
    Off,
    /// A proxy at this address of the host, and no other address.
    ///
    /// Programs reach it at the port [`PROXY_PORT`](crate::PROXY_PORT) of their own loopback. Where the sandbox cannot separate networks, they
    /// reach none, as with [`Network::Off`].
    Proxy(SocketAddr),
    /// All of it.
    On,
}

/// What programs in a sandbox may touch. Pure data: [`Ground::look`](crate::Ground::look) finds what of it is there.
///
/// ```
/// use windlass_sandbox::{Network, SandboxPolicy};
///
/// let policy = SandboxPolicy::new(["/home/me/project"])
///     .with_protected([".git/hooks", ".git/config", ".windlass"])
///     .with_hidden(["/home/me/.ssh", "/home/me/.aws"])
///     .with_network(Network::Off);
/// assert_eq!(policy.writable.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SandboxPolicy {
    /// Directories in which programs may write; absolute. All others are read-only.
    pub writable: Vec<PathBuf>,
    /// Paths, relative to each writable directory, that stay as they are.
    pub protected: Vec<PathBuf>,
    /// Paths, relative to each writable directory, that must not come to be: where they exist, programs may write in them.
    pub not_made: Vec<PathBuf>,
    /// More paths that stay as they are; absolute.
    pub read_only: Vec<PathBuf>,
    /// Paths of which programs see nothing; absolute.
    pub hidden: Vec<PathBuf>,
    /// Paths below hidden ones that programs may read all the same; absolute. Only what lies below one of these counts.
    pub shown: Vec<PathBuf>,
    /// The network.
    pub network: Network,
    /// Whether programs may open Unix sockets, by which they reach services of this machine (agents for keys, containers).
    /// Default: no.
    pub unix_sockets: bool,
}

impl SandboxPolicy {
    /// Programs may write in these directories and nowhere else, and have no network.
    pub fn new(writable: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { writable: writable.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds paths, relative to each writable directory, that stay as they are.
    #[must_use]
    pub fn with_protected(mut self, names: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.protected.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds paths, relative to each writable directory, that must not come to be, such as a repository around the work.
    #[must_use]
    pub fn with_not_made(mut self, names: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.not_made.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds absolute paths that stay as they are.
    #[must_use]
    pub fn with_read_only(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.read_only.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Adds absolute paths of which programs see nothing.
    #[must_use]
    pub fn with_hidden(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.hidden.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Takes hidden paths back that are one of these, or lie below one.
    #[must_use]
    pub fn with_shown(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.shown.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Sets what of the network programs reach.
    #[must_use]
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Says whether programs may open Unix sockets.
    #[must_use]
    pub fn with_unix_sockets(mut self, allowed: bool) -> Self {
        self.unix_sockets = allowed;
        self
    }

    /// Whether a path is hidden still after what is shown was taken back.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        !self.shown.iter().any(|shown| path.starts_with(shown))
    }
}
