//! Conformance checks for writing files in a workspace.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use windlass_tool::{Workspace, WorkspaceErrorKind as Kind, WriteOptions};

use super::site::{RuleSite, shown, unexpected};
use super::{Fixture, Item};
use crate::Violation;
use crate::violation::{PATIENCE, ensure};

/// Checks that a write creates or replaces a file with exactly the given bytes, even with none, and that no other name
/// appears in its directory.
///
/// # Errors
/// The file has other bytes, or the directory has another name.
pub async fn writes_whole_files(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "writing").await?;
    site.put("old", Item::File(b"a longer content than all that follow")).await?;
    let large = vec![b'x'; 1_500_000];
    let contents: [&[u8]; 5] = [b"new", b"", b"\0\xff\r\n", &large, b"end"];
    for path in ["old", "new"] {
        let permit = site.writing(&[path]).await?;
        for content in contents {
            let written = site.write(&permit, path, content, WriteOptions::default()).await?;
            written.map_err(|error| unexpected("write", path, &error))?;
            site.expect_content(path, content, "after a write").await?;
            let read = site.read(&permit, path).await?;
            ensure(read == content, || format!("{path} was written, but reads as {}", shown(&read)))?;
        }
    }
    site.expect_names("", &["new", "old"], "after writes that worked").await
}

/// Checks that directories and special files are not overwritten, and that a failed write leaves no file behind.
///
/// # Errors
/// An entry was replaced, or the refusal is of another kind.
pub async fn writes_only_over_regular_files(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "over").await?;
    site.put("directory", Item::Directory).await?;
    let mut cases = vec![("directory", Kind::IsDirectory)];
    if site.put("special", Item::Special).await? {
        cases.push(("special", Kind::NotRegular));
    }
    let before = site.names("").await?;
    for (path, kind) in cases {
        let permit = site.writing(&[path]).await?;
        let written = site.write(&permit, path, b"x", WriteOptions::default()).await?;
        site.expect_refusal(written, path, &[kind], &format!("write over a {path}"))?;
        ensure(site.names("").await? == before, || format!("the write over a {path} failed and left a file behind"))?;
    }
    Ok(())
}

/// Checks that a file is replaced and removed only if it has the content that the caller expects.
///
/// # Errors
/// Another content was overwritten, or the refusal is of another kind.
pub async fn compares_before_it_replaces(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "comparing").await?;
    for (content, expected) in [("theirs", "ours"), ("longer", "long"), ("long", "longer"), ("", "x"), ("x", "")] {
        site.put("file", Item::File(content.as_bytes())).await?;
        let permit = site.writing(&["file"]).await?;
        let written = site.compare_and_write(&permit, "file", expected, "new").await?;
        site.expect_refusal(written, "file", &[Kind::ContentChanged], "write over another content")?;
        let removed = site.compare_and_remove(&permit, "file", expected).await?;
        site.expect_refusal(removed, "file", &[Kind::ContentChanged, Kind::Unsupported], "remove another content")?;
        site.expect_content("file", content.as_bytes(), "after a comparison that failed").await?;
        let written = site.compare_and_write(&permit, "file", content, "new").await?;
        written.map_err(|error| unexpected("compare and write", "file", &error))?;
        site.expect_content("file", b"new", "after a comparison").await?;
    }
    let permit = site.writing(&["file", "none"]).await?;
    let written = site.compare_and_write(&permit, "none", "", "new").await?;
    site.expect_refusal(written, "none", &[Kind::ContentChanged], "write over a file that is gone")?;
    let reading = site.reading(&["file"]).await?;
    let written = site.compare_and_write(&reading, "file", "new", "x").await?;
    site.expect_refusal(written, "file", &[Kind::NotPermitted], "compare and write with a permit for reading")?;
    site.expect_names("", &["file"], "after comparisons").await?;
    match site.compare_and_remove(&permit, "file", "new").await? {
        Err(error) if error.kind == Kind::Unsupported => Ok(()),
        removed => {
            removed.map_err(|error| unexpected("compare and remove", "file", &error))?;
            site.expect_names("", &[], "after a comparison").await
        }
    }
}

/// Checks that a write with [`WriteOptions::only_new`] keeps an existing entry of any kind.
///
/// # Errors
/// The entry was replaced, or a new file was refused.
pub async fn makes_only_new_files_when_asked(
    workspace: &dyn Workspace,
    fixture: &dyn Fixture,
) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "new").await?;
    let only_new = WriteOptions::default().only_new();
    let permit = site.writing(&["file", "directory"]).await?;
    let written = site.write(&permit, "file", b"first", only_new).await?;
    written.map_err(|error| unexpected("write as new", "file", &error))?;
    site.put("directory", Item::Directory).await?;
    let second_write = site.write(&permit, "file", b"second", only_new).await?;
    site.expect_refusal(second_write, "file", &[Kind::AlreadyExists], "write as new over a file")?;
    let over_directory = site.write(&permit, "directory", b"x", only_new).await?;
    let kinds = &[Kind::AlreadyExists, Kind::IsDirectory];
    site.expect_refusal(over_directory, "directory", kinds, "write as new over a directory")?;
    site.expect_content("file", b"first", "after a second write as new").await?;
    site.expect_names("", &["directory", "file"], "after refused writes as new").await
}

/// Checks that missing directories are created only if the options ask for it.
///
/// # Errors
/// A directory was created without a request, or not created on request.
pub async fn creates_directories_only_when_asked(
    workspace: &dyn Workspace,
    fixture: &dyn Fixture,
) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "directories").await?;
    site.put("file", Item::File(b"x")).await?;
    let creating_parents = WriteOptions::default().creating_directories();
    let permit = site.writing(&["a/b/c/file"]).await?;
    let written = site.write(&permit, "a/b/c/file", b"deep", WriteOptions::default()).await?;
    site.expect_refusal(written, "a/b/c/file", &[Kind::NotFound], "write below a missing directory")?;
    site.expect_names("", &["file"], "after a write below a missing directory").await?;
    let written = site.write(&permit, "a/b/c/file", b"deep", creating_parents).await?;
    written.map_err(|error| unexpected("write, making directories,", "a/b/c/file", &error))?;
    site.expect_content("a/b/c/file", b"deep", "after directories were made").await?;
    // The workspace may already refuse the permit, because a file stands in the place of a directory.
    if let Ok(permit) = site.writing(&["file/below"]).await {
        let written = site.write(&permit, "file/below", b"x", creating_parents).await?;
        site.expect_refusal(written, "file/below", &[Kind::NotDirectory], "make a directory in the place of a file")?;
        site.expect_content("file", b"x", "after a refused write below it").await?;
    }
    Ok(())
}

/// Checks that a write through a judged link changes its target, and that the link stays a link.
///
/// # Errors
/// The link was replaced, or the file was not written.
pub async fn keeps_the_kind_of_a_file(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "kind").await?;
    site.put("real", Item::File(b"old")).await?;
    if !site.link("link", "real").await? {
        return Ok(());
    }
    let permit = site.writing(&["link"]).await?;
    let written = site.write(&permit, "link", b"new", WriteOptions::default()).await?;
    written.map_err(|error| unexpected("write through a judged link", "link", &error))?;
    site.expect_content("real", b"new", "after a write through a judged link").await?;
    let resolved = site.resolve("link").await?;
    ensure(resolved.path == site.at("real"), || format!("a write replaced a link: {resolved:?}"))
}

/// Checks that a reader always sees one whole content while others write the file.
///
/// # Errors
/// A read returned a mixed, partial or empty content.
pub async fn readers_see_whole_files(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "whole").await?;
    let contents = [vec![b'a'; 200_000], vec![b'b'; 100_000], vec![b'c'; 150_000]];
    let permit = site.writing(&["file"]).await?;
    site.put("file", Item::File(contents.first().map_or(&[], Vec::as_slice))).await?;
    let writer = |content: &Vec<u8>| {
        let (site, permit, content) = (&site, &permit, content.clone());
        async move {
            for _ in 0..12 {
                let written = site.write(permit, "file", &content, WriteOptions::default()).await?;
                written.map_err(|error| unexpected("write beside others", "file", &error))?;
            }
            Ok::<(), Violation>(())
        }
    };
    let reader = async {
        for _ in 0..24 {
            let read = site.read(&permit, "file").await?;
            ensure(contents.contains(&read), || format!("read beside writers: {}", shown(&read)))?;
            tokio::task::yield_now().await;
        }
        Ok::<(), Violation>(())
    };
    let writers = futures_util::future::try_join_all(contents.iter().map(writer));
    let (written, read) = tokio::join!(writers, reader);
    written?;
    read?;
    let last = site.content("file").await?;
    ensure(contents.contains(&last), || format!("writers beside each other left {}", shown(&last)))?;
    site.expect_names("", &["file"], "after writers beside each other").await
}

/// Checks that a write that is dropped half-way leaves the old or the new content, whole. Temporary files must soon be
/// gone.
///
/// # Errors
/// The file has another content, or a temporary file stays.
pub async fn a_dropped_write_is_whole_or_not_made(
    workspace: &dyn Workspace,
    fixture: &dyn Fixture,
) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "dropped").await?;
    let (old, new) = (vec![b'o'; 100_000], vec![b'n'; 300_000]);
    site.put("file", Item::File(&old)).await?;
    let permit = site.writing(&["file"]).await?;
    let path = site.at("file");
    for polls in 1..6 {
        {
            let mut write = pin!(workspace.write(&permit, &path, &new, WriteOptions::default()));
            for _ in 0..polls {
                let polled = std::future::poll_fn(|cx| Poll::Ready(write.as_mut().poll(cx))).await;
                if polled.is_ready() {
                    break;
                }
                // The sleep lets background work advance, so that each round drops the write at another point.
                tokio::time::sleep(Duration::from_micros(200)).await;
            }
        }
        // A dropped write may continue in the background for a while. The port does not report its end, so the loop
        // polls.
        let dropped_at = tokio::time::Instant::now();
        loop {
            let names = site.names("").await?;
            let content = site.content("file").await?;
            ensure(content == old || content == new, || {
                format!("after a write that was dropped the file holds {}", shown(&content))
            })?;
            if names == ["file"] {
                break;
            }
            ensure(dropped_at.elapsed() < PATIENCE, || format!("a write that was dropped left {names:?}"))?;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    Ok(())
}
