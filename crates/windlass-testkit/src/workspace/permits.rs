//! Limits of a permit.

use std::path::Path;
use std::sync::Arc;

use windlass_tool::{Workspace, WorkspaceErrorKind, WriteOptions};

use super::site::{RuleSite, no_permit, shown, unexpected};
use super::{Fixture, Item};
use crate::Violation;
use crate::violation::ensure;

const REFUSED: &[WorkspaceErrorKind] = &[WorkspaceErrorKind::NotPermitted];

/// Checks that paths outside of a permit are neither read, written nor listed: paths that were not judged, writing to
/// paths that may only be read, paths below a file that may be written or in a directory that may only be listed, a
/// name that merely begins like a judged one, and paths that the filter leaves out. A refused write creates no file and
/// no directory.
///
/// # Errors
/// An operation was done, or refused for another reason.
pub async fn refuses_what_is_not_permitted(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "permits").await?;
    site.put("tree", Item::Directory).await?;
    site.put("tree/in", Item::File(b"in")).await?;
    site.put("tree-beside", Item::File(b"beside")).await?;
    let tree = site.reading(&["tree"]).await?;
    let one = site.writing(&["tree/in"]).await?;
    let making = WriteOptions::default().creating_directories();

    for (permit, path, when) in [
        (no_permit(), "tree/in", "an empty permit"),
        (tree.clone(), "tree-beside", "a permit for a tree whose name begins alike"),
        (one.clone(), "tree-beside", "a permit for another file"),
    ] {
        site.expect_refusal(site.open(&permit, path).await?, path, REFUSED, &format!("open with {when}"))?;
        let written = site.write(&permit, path, b"x", making).await?;
        site.expect_refusal(written, path, REFUSED, &format!("write with {when}"))?;
    }
    let written = site.write(&tree, "tree/in", b"x", making).await?;
    site.expect_refusal(written, "tree/in", REFUSED, "write with a permit for reading")?;
    let whole = site.writing(&["tree"]).await?;
    let written = site.write(&whole, "tree/in", b"x", making).await?;
    site.expect_refusal(written, "tree/in", REFUSED, "write below a path that may be written")?;
    let written = site.write(&no_permit(), "new/deep/file", b"x", making).await?;
    site.expect_refusal(written, "new/deep/file", REFUSED, "write a new file with an empty permit")?;
    site.expect_refusal(site.list(&no_permit(), "tree", 9).await?, "tree", REFUSED, "list with an empty permit")?;
    site.expect_refusal(site.list(&tree, "", 9).await?, "", REFUSED, "list above a judged tree")?;

    let listable = no_permit().with_listable(vec![site.judge("tree").await?]);
    let names = site.list(&listable, "tree", 9).await?.map_err(|error| unexpected("list", "tree", &error))?;
    ensure(names == ["in"], || format!("a directory that may be listed holds \"in\", but gives {names:?}"))?;
    let opened = site.open(&listable, "tree/in").await?;
    site.expect_refusal(opened, "tree/in", REFUSED, "open in a directory that may only be listed")?;

    let filtered = tree.with_filter(Arc::new(|path: &Path| !path.ends_with("in")));
    let opened = site.open(&filtered, "tree/in").await?;
    site.expect_refusal(opened, "tree/in", REFUSED, "open what the filter leaves out")?;
    let names = site.list(&filtered, "tree", 9).await?.unwrap_or_else(|_| vec!["an error".to_owned()]);
    ensure(names.is_empty(), || format!("list with a filter that leaves out all: {names:?}"))?;

    let read = site.read(&one, "tree/in").await?;
    ensure(read == b"in", || format!("a file that may be written reads as {}", shown(&read)))?;
    site.expect_content("tree/in", b"in", "after refused writes").await?;
    site.expect_content("tree-beside", b"beside", "after refused writes").await?;
    site.expect_names("", &["tree", "tree-beside"], "after refused writes").await
}
