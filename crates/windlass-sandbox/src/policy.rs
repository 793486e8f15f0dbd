//! The policy of a sandbox.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Port on the loopback of the sandbox at which programs reach the proxy of [`Network::Proxy`].
pub const PROXY_PORT: u16 = 3128;

/// Part of the network that programs reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Network {
    /// No network beside a loopback of their own, where the system can give one.
    #[default]
    Off,
    /// Only a proxy, at this address of the host.
    ///
    /// Programs reach it at the port [`PROXY_PORT`] of their own loopback. If the sandbox cannot
    /// separate networks, they reach none, as with [`Network::Off`].
    Proxy(SocketAddr),
    /// The whole network.
    On,
}

/// Policy for programs in a sandbox. It is pure data: [`Ground::look`](crate::Ground::look) finds which of its paths
/// exist.
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
    /// Paths, relative to each writable directory, that must not be created; existing ones are writable.
    pub not_made: Vec<PathBuf>,
    /// Further paths that stay as they are; absolute.
    pub read_only: Vec<PathBuf>,
    /// Paths that are hidden from programs; absolute.
    pub hidden: Vec<PathBuf>,
    /// Files that programs read as empty, such as `.env` with a token; absolute. Only mounts can do that: at the levels without, the files
    /// stay as they are.
    pub emptied: Vec<PathBuf>,
    /// Paths below hidden ones that programs may read nevertheless; absolute. Only paths below one of these count.
    pub shown: Vec<PathBuf>,
    /// Part of the network that programs reach.
    pub network: Network,
    /// `true` if programs may open Unix sockets, by which they reach services of this machine (agents for keys,
    /// containers). Default: `false`.
    pub unix_sockets: bool,
}

impl SandboxPolicy {
    /// Creates a policy under which programs may write in these directories only, and have no network.
    pub fn new(writable: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { writable: writable.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds paths, relative to each writable directory, that stay as they are.
    #[must_use]
    pub fn with_protected(mut self, names: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.protected.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds paths, relative to each writable directory, that must not be created, such as a repository around the
    /// project.
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

    /// Adds absolute paths that are hidden from programs.
    #[must_use]
    pub fn with_hidden(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.hidden.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Adds absolute paths of files that programs read as empty.
    #[must_use]
    pub fn with_emptied(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.emptied.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Shows those hidden paths again that equal one of these or lie below one.
    #[must_use]
    pub fn with_shown(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.shown.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Sets the part of the network that programs reach.
    #[must_use]
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets whether programs may open Unix sockets.
    #[must_use]
    pub fn with_unix_sockets(mut self, allowed: bool) -> Self {
        self.unix_sockets = allowed;
        self
    }

    /// `true` if a hidden path is not shown again.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        !self.shown.iter().any(|shown| path.starts_with(shown))
    }
}
