//! Removing and renaming files.

use windlass_tool::{Permit, Workspace, WorkspaceError, WorkspaceErrorKind as Kind, WriteOptions};

use super::site::{RuleSite, no_permit, unexpected};
use super::{Fixture, Item};
use crate::Violation;
use crate::violation::{ensure, within};

impl RuleSite<'_> {
    async fn discard(&self, permit: &Permit, path: &str) -> Result<Result<(), WorkspaceError>, Violation> {
        within(&format!("remove {path}"), self.workspace.remove(permit, &self.at(path))).await
    }

    async fn rename(&self, permit: &Permit, from: &str, to: &str) -> Result<Result<(), WorkspaceError>, Violation> {
        let options = WriteOptions::default().creating_directories();
        let (old, new) = (self.at(from), self.at(to));
        within(&format!("rename {from}"), self.workspace.rename(permit, &old, &new, options)).await
    }
}

/// Checks that exactly the regular files that a permit for writing covers can be removed. A workspace without such an
/// operation passes.
///
/// # Errors
/// Something else was removed, or a file was not.
pub async fn removes_only_permitted_files(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "removing").await?;
    site.put("file", Item::File(b"x")).await?;
    site.put("other", Item::File(b"y")).await?;
    site.put("directory", Item::Directory).await?;
    let permit = site.writing(&["file", "directory", "none"]).await?;
    let removed = site.discard(&permit, "none").await?;
    if removed.as_ref().is_err_and(|error| error.kind == Kind::Unsupported) {
        return Ok(());
    }
    site.expect_refusal(removed, "none", &[Kind::NotFound], "remove what is not there")?;
    let removed = site.discard(&permit, "directory").await?;
    site.expect_refusal(removed, "directory", &[Kind::IsDirectory], "remove a directory")?;
    for (permit, which) in [(no_permit(), "an empty permit"), (site.reading(&["other"]).await?, "a permit for reading")]
    {
        let removed = site.discard(&permit, "other").await?;
        site.expect_refusal(removed, "other", &[Kind::NotPermitted], &format!("remove with {which}"))?;
    }
    site.discard(&permit, "file").await?.map_err(|error| unexpected("remove", "file", &error))?;
    site.expect_names("", &["directory", "other"], "after a file was removed").await?;
    // A link that was put there after the judgement is not followed, and stays.
    if site.link("file", "other").await? {
        let removed = site.discard(&permit, "file").await?;
        site.expect_refusal(removed, "file", &[Kind::Changed], "remove a file that became a link")?;
        site.expect_names("", &["directory", "file", "other"], "after a link was not removed").await?;
    }
    Ok(())
}

/// Checks that a file gets another name, with missing directories created, and that an existing entry is never
/// replaced. A workspace without such an operation passes.
///
/// # Errors
/// A file was replaced, lost or not renamed.
pub async fn renames_without_replacing(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "renaming").await?;
    site.put("file", Item::File(b"x")).await?;
    site.put("taken", Item::File(b"y")).await?;
    site.put("directory", Item::Directory).await?;
    let permit = site.writing(&["file", "taken", "directory", "none", "a/b/new"]).await?;
    let renamed = site.rename(&permit, "none", "a/b/new").await?;
    if renamed.as_ref().is_err_and(|error| error.kind == Kind::Unsupported) {
        return Ok(());
    }
    site.expect_refusal(renamed, "none", &[Kind::NotFound], "rename what is not there")?;
    for to in ["taken", "directory"] {
        let renamed = site.rename(&permit, "file", to).await?;
        site.expect_refusal(renamed, to, &[Kind::AlreadyExists], "rename to a name that is taken")?;
    }
    let renamed = site.rename(&permit, "directory", "a/b/new").await?;
    site.expect_refusal(renamed, "directory", &[Kind::IsDirectory], "rename a directory")?;
    let from_only = site.writing(&["file"]).await?;
    let renamed = site.rename(&from_only, "file", "a/b/new").await?;
    site.expect_refusal(renamed, "a/b/new", &[Kind::NotPermitted], "rename to a name that is not permitted")?;
    site.expect_content("taken", b"y", "after refused renames").await?;
    site.expect_content("file", b"x", "after refused renames").await?;
    site.rename(&permit, "file", "a/b/new").await?.map_err(|error| unexpected("rename", "file", &error))?;
    site.expect_content("a/b/new", b"x", "after a rename").await?;
    let names = site.names("").await?;
    ensure(!names.contains(&"file".to_owned()), || "after a rename the old name is still there".to_owned())
}
