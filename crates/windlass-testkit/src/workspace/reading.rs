//! Reading files and names.

use windlass_tool::{Workspace, WorkspaceErrorKind as Kind};

use super::site::{RuleSite, read_all, shown, unexpected};
use super::{Fixture, Item};
use crate::Violation;
use crate::violation::{ensure, within};

/// Checks that a file is read whole and exactly, in pieces no larger than requested, and stays at its end; its size is
/// reported. A file below a judged tree is read as well.
///
/// # Errors
/// Bytes differ, or a piece or the size is wrong.
pub async fn reads_files(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "reading").await?;
    let large: Vec<u8> = b"0123456\n89\xffabcdef".repeat(100_000);
    let contents: [(&str, &[u8]); 4] =
        [("empty", b""), ("one", b"\n"), ("bytes", b"a\0\xff\r\n\xe2\x82"), ("large", &large)];
    for (path, content) in contents {
        site.put(path, Item::File(content)).await?;
    }
    let tree = site.reading(&[""]).await?;
    for (path, content) in contents {
        let own = site.reading(&[path]).await?;
        for (permit, limit) in [(&own, 7 + content.len() / 3), (&tree, 1 << 20)] {
            let mut file = site.open(permit, path).await?.map_err(|error| unexpected("open", path, &error))?;
            let info = file.info().clone();
            let read = read_all(&mut *file, limit, path).await?;
            ensure(read == content, || format!("{path} reads as {}, not {}", shown(&read), shown(content)))?;
            ensure(info.size == content.len() as u64, || format!("{path} has {} bytes, but: {info:?}", content.len()))?;
            let more = within("read past the end", file.read(limit)).await?;
            ensure(more.as_ref().is_ok_and(Vec::is_empty), || format!("{path}, read again at its end: {more:?}"))?;
        }
    }
    Ok(())
}

/// Checks that only regular files are opened; all other entries are refused at once, each for its own reason.
///
/// # Errors
/// Another entry was opened, kept the caller waiting, or was refused for another reason.
pub async fn opens_only_regular_files(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "regular").await?;
    site.put("file", Item::File(b"x")).await?;
    site.put("directory", Item::Directory).await?;
    let mut cases: Vec<(&str, &[Kind])> = vec![
        ("directory", &[Kind::IsDirectory]),
        ("missing", &[Kind::NotFound]),
        ("missing/too", &[Kind::NotFound]),
        ("file/below", &[Kind::NotDirectory, Kind::NotFound]),
    ];
    if site.put("special", Item::Special).await? {
        cases.push(("special", &[Kind::NotRegular]));
    }
    for (path, kinds) in cases {
        let permit = match site.reading(&[path]).await {
            Ok(permit) => permit,
            // A component that is not a directory may already be refused when the path is judged.
            Err(_) if path == "file/below" => continue,
            Err(violation) => return Err(violation),
        };
        site.expect_refusal(site.open(&permit, path).await?, path, kinds, &format!("open {path}"))?;
    }
    Ok(())
}

/// Checks that the names of a directory are listed, all kinds and hidden ones, up to the limit; an entry that is not a
/// directory has none.
///
/// # Errors
/// A name is missing or additional.
pub async fn lists_names(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "listing").await?;
    site.put("file", Item::File(b"x")).await?;
    site.put("folder", Item::Directory).await?;
    let all = ["folder/.hidden", "folder/a", "folder/b", "folder/sub"];
    site.put("folder/sub", Item::Directory).await?;
    site.put("folder/sub/deep", Item::File(b"")).await?;
    for path in ["folder/.hidden", "folder/a", "folder/b"] {
        site.put(path, Item::File(b"")).await?;
    }
    let permit = site.reading(&["folder", "file", "missing"]).await?;
    for limit in [100, 4, 3, 1, 0] {
        let mut names =
            site.list(&permit, "folder", limit).await?.map_err(|error| unexpected("list", "folder", &error))?;
        names.sort_unstable();
        names.dedup();
        ensure(names.len() == limit.min(all.len()), || format!("{limit} names at most of {all:?} give {names:?}"))?;
        let known = names.iter().all(|name| all.contains(&format!("folder/{name}").as_str()));
        ensure(known, || format!("names that are not there: {names:?}"))?;
    }
    let of_file = site.list(&permit, "file", 9).await?;
    site.expect_refusal(of_file, "file", &[Kind::NotDirectory], "list a file")?;
    let of_missing = site.list(&permit, "missing", 9).await?;
    site.expect_refusal(of_missing, "missing", &[Kind::NotFound], "list what is not there")
}
