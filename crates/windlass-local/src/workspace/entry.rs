//! Directory entries.

/// Treatment of missing directories on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Refuse,
    Create,
}

/// The kind of a directory entry, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    File,
    Directory,
    Link,
    Special,
}

/// A directory entry, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryStatus {
    pub(crate) entry: Entry,
    /// Number of the file's names.
    pub(crate) names: u64,
    #[cfg(unix)]
    pub(crate) rights: Rights,
}

/// Owner, group and permission bits.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rights {
    pub(crate) mode: u32,
    pub(crate) owner: u32,
    pub(crate) group: u32,
}
