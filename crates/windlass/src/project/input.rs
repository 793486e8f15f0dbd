//! The project of a session, before and after its files are read.

use super::{LoadedProject, Project};

/// A project for a session, read before or when the session opens.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ProjectInput {
    /// Read when the session opens.
    Unread(Box<Project>),
    /// Read before.
    Loaded(Box<LoadedProject>),
}

impl From<Project> for ProjectInput {
    fn from(project: Project) -> Self {
        Self::Unread(Box::new(project))
    }
}

impl From<LoadedProject> for ProjectInput {
    fn from(project: LoadedProject) -> Self {
        Self::Loaded(Box::new(project))
    }
}
