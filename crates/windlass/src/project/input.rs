//! The project of a session, before and after its files are read.

use super::{LoadedProject, Project};

/// A project for a session: one that is read when the session is opened, or one that was read before.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ProjectInput {
    /// It is read when the session is opened.
    Unread(Box<Project>),
    /// It was read before.
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

/// How far a project has come on its way into the options.
#[derive(Debug, Clone, Default)]
#[expect(clippy::large_enum_variant, reason = "a session has one")]
pub(crate) enum Applied {
    /// There is no project.
    #[default]
    None,
    /// It was given and does not count yet.
    Given(ProjectInput),
    /// The options say what it says.
    Yes(LoadedProject),
}
