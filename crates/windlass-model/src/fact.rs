//! Session facts that requests depend on.

/// A fact of a session's surroundings that is part of its requests and differs from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionFact {
    /// Date in UTC, as `YYYY-MM-DD`.
    Date,
    /// Operating system, as named by [`std::env::consts::OS`].
    Platform,
    /// Git repository around the working directory, as JSON: its branch, and the lines of its status.
    Repository,
    /// Seed of the ids that the model reads, such as names of kept results: 32 hexadecimal digits. A recording has one.
    Ids,
    /// Folder in which the session keeps large results. A recording contains a mark in its place.
    Results,
    /// The time at which ages of memory notes are judged, in RFC 3339: when the session opened.
    MemoryTime,
}

impl SessionFact {
    /// Returns the name of the fact in a recording.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Platform => "platform",
            Self::Repository => "repository",
            Self::Ids => "ids",
            Self::Results => "results",
            Self::MemoryTime => "memory-time",
        }
    }
}
