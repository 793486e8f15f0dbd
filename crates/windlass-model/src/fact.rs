//! Facts of the surroundings that requests depend on.

/// A fact of a session's surroundings that gets into its requests and differs from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionFact {
    /// The date in UTC, as `YYYY-MM-DD`.
    Date,
    /// The operating system, as [`std::env::consts::OS`] names it.
    Platform,
    /// The git repository around the working directory, as JSON: its branch, and the lines of its status.
    Repository,
    /// The seed of the ids that the model reads, such as names of kept results: 32 hexadecimal digits. A recording has one.
    Ids,
    /// The folder in which the session keeps large results. A recording holds a mark in its place.
    Results,
}

impl SessionFact {
    /// The name of the fact, as a recording writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Platform => "platform",
            Self::Repository => "repository",
            Self::Ids => "ids",
            Self::Results => "results",
        }
    }
}
