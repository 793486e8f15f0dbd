//! The level of a sandbox: its mechanism and the limits that it holds.

use std::fmt::{self, Display};

/// Mechanism that confines programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Mechanism {
    /// Bubblewrap, and inside of it the helper, if there is one.
    Bubblewrap,
    /// The helper with namespaces of its own, Landlock and seccomp.
    Namespaces,
    /// The helper with Landlock and seccomp alone, where namespaces are missing.
    Landlock,
    /// Seatbelt of macOS.
    Seatbelt,
}

impl Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Namespaces => "namespaces, Landlock and seccomp",
            Self::Landlock => "Landlock and seccomp",
            Self::Seatbelt => "Seatbelt",
        })
    }
}

/// Limits that a sandbox holds: each violation was tried when the sandbox was opened, and failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Holds {
    /// Files outside of the writable directories cannot be changed.
    pub writes: bool,
    /// Modes, owners and times of files outside cannot be changed.
    pub metadata: bool,
    /// Protected names inside of writable directories cannot be changed.
    pub protected: bool,
    /// Hidden files cannot be read.
    pub hidden: bool,
    /// The network cannot be reached, unless the policy opens it.
    pub network: bool,
    /// Services of this machine cannot be reached over Unix sockets, unless the policy opens them.
    pub sockets: bool,
    /// Other processes cannot be signalled or looked into.
    pub processes: bool,
}

impl Holds {
    const NAMES: [&'static str; 7] = [
        "writes outside",
        "modes and times outside",
        "protected names",
        "hidden files",
        "network",
        "Unix sockets",
        "other processes",
    ];

    fn all(self) -> [bool; 7] {
        [self.writes, self.metadata, self.protected, self.hidden, self.network, self.sockets, self.processes]
    }

    /// `true` if every violation that was tried failed.
    pub fn is_whole(self) -> bool {
        self.all().into_iter().all(|holds| holds)
    }

    /// Returns the limits that both hold.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            writes: self.writes && other.writes,
            metadata: self.metadata && other.metadata,
            protected: self.protected && other.protected,
            hidden: self.hidden && other.hidden,
            network: self.network && other.network,
            sockets: self.sockets && other.sockets,
            processes: self.processes && other.processes,
        }
    }

    /// Returns the number of limits that hold; more is better.
    pub(crate) fn count(self) -> usize {
        self.all().into_iter().filter(|holds| *holds).count()
    }

    /// Returns the limits that do not hold, in words for people.
    pub fn missing(self) -> Vec<&'static str> {
        Self::NAMES.into_iter().zip(self.all()).filter(|(_, holds)| !holds).map(|(name, _)| name).collect()
    }
}

/// Level of a sandbox that is in force: the proven limits, and the mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Level {
    /// Mechanism that confines the programs.
    pub mechanism: Mechanism,
    /// Limits that were proven.
    pub holds: Holds,
}

impl Level {
    /// Creates a level.
    pub fn new(mechanism: Mechanism, holds: Holds) -> Self {
        Self { mechanism, holds }
    }
}

impl Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let missing = self.holds.missing();
        if missing.is_empty() {
            return write!(f, "{}; all that was tried is held", self.mechanism);
        }
        write!(f, "{}; not held: {}", self.mechanism, missing.join(", "))
    }
}
