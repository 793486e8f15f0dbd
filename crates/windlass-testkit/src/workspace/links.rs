//! Links, including those that are swapped meanwhile.

use std::path::Path;

use windlass_tool::{EntryKind, Workspace, WorkspaceErrorKind as Kind, WriteOptions};

use super::site::{RuleSite, shown};
use super::{Fixture, Item};
use crate::Violation;
use crate::violation::{ensure, within};

const SWAPPED: &[Kind] = &[Kind::Changed];

/// Checks that a path resolves to the place that it really names: links are followed wherever they are, missing
/// components are taken as spelled, and `..` is applied after links. A resolved path resolves to itself. A circle is an
/// error, and so is `..` after a missing component. Every link in the path is reported with its target.
///
/// A path resolves to another place or kind, or a link in it is not reported.
pub async fn follows_links_when_resolving(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "resolving").await?;
    site.put("real", Item::Directory).await?;
    site.put("real/file", Item::File(b"x")).await?;
    let mut cases = vec![
        ("real", "real", EntryKind::Directory),
        ("real/file", "real/file", EntryKind::File),
        ("real/none", "real/none", EntryKind::Missing),
        ("none/at/all", "none/at/all", EntryKind::Missing),
    ];
    if site.put("special", Item::Special).await? {
        cases.push(("special", "special", EntryKind::Special));
    }
    let has_links = site.link("to-dir", "real").await?;
    if has_links {
        site.link("real/to-file", "real/file").await?;
        site.link("to-nothing", "real/gone/far").await?;
        site.put("real/inner", Item::Directory).await?;
        site.link("deep", "real/inner").await?;
        site.link("chain", "to-dir/to-file").await?;
        site.put("relative", Item::Link(Path::new("real/../real/file"))).await?;
        cases.extend([
            ("to-dir", "real", EntryKind::Directory),
            ("to-dir/file", "real/file", EntryKind::File),
            ("to-dir/none/deep", "real/none/deep", EntryKind::Missing),
            ("to-nothing", "real/gone/far", EntryKind::Missing),
            ("chain", "real/file", EntryKind::File),
            ("relative", "real/file", EntryKind::File),
            ("deep/../file", "real/file", EntryKind::File),
            ("deep/../none", "real/none", EntryKind::Missing),
            ("to-dir/../real/file", "real/file", EntryKind::File),
        ]);
    }
    for (path, to, kind) in cases {
        site.expect_resolved(path, to, kind).await?;
        site.expect_resolved(to, to, kind).await?;
    }
    for path in ["none/../real", "real/none/../file"] {
        let resolved = within("resolve `..` behind nothing", workspace.resolve(&site.at(path))).await?;
        site.expect_refusal(resolved, path, &[Kind::NotFound], "resolve `..` behind what is not there")?;
    }
    if has_links {
        let found = site.resolve("chain").await?;
        let reported = |hop: &str| found.via.contains(&site.at(hop));
        ensure(reported("to-dir/to-file") && reported("real/to-file"), || {
            format!("chain goes by to-dir/to-file and real/to-file, and was reported to go by {:?}", found.via)
        })?;
        let resolved = within("resolve `..` behind nothing", workspace.resolve(&site.at("to-nothing/../x"))).await?;
        site.expect_refusal(resolved, "to-nothing/../x", &[Kind::NotFound], "resolve `..` behind a dangling link")?;
        site.link("round", "about").await?;
        site.link("about", "round").await?;
        let resolved = within("resolve a circle", workspace.resolve(&site.at("round"))).await?;
        site.expect_refusal(resolved, "round", &[Kind::LinkCycle], "resolve links that lead in a circle")?;
    }
    Ok(())
}

/// Checks that the entries of a directory are listed with their kinds, links as links, and at most the requested
/// number.
///
/// # Errors
/// An entry is missing, additional, or listed as another kind.
pub async fn tells_entries_without_following(
    workspace: &dyn Workspace,
    fixture: &dyn Fixture,
) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "entries").await?;
    site.put("sub", Item::Directory).await?;
    site.put("sub/below", Item::File(b"x")).await?;
    site.put(".hidden", Item::File(b"x")).await?;
    let mut expected = vec![(".hidden", EntryKind::File), ("sub", EntryKind::Directory)];
    if site.put("special", Item::Special).await? {
        expected.push(("special", EntryKind::Special));
    }
    let has_links = site.link("link", "sub").await?;
    if has_links {
        site.link("dangling", "none").await?;
        expected.extend([("dangling", EntryKind::Link), ("link", EntryKind::Link)]);
    }
    expected.sort_unstable_by_key(|(name, _)| *name);
    let directory = site.at("");
    let directory = directory.components().as_path();
    let entries = within("list entries", workspace.entries(directory, 99)).await?;
    let entries = entries.map_err(|error| Violation::new(format!("list entries: {error}")))?;
    let mut found: Vec<_> = entries.iter().map(|entry| (entry.name.to_str().unwrap_or_default(), entry.kind)).collect();
    found.sort_unstable_by_key(|(name, _)| *name);
    ensure(found == expected, || format!("the entries are {found:?}, not {expected:?}"))?;
    let few = within("list two entries", workspace.entries(directory, 2)).await?;
    ensure(few.as_ref().is_ok_and(|few| few.len() == 2), || format!("of two entries asked for there are {few:?}"))?;
    let mut wrong = vec![(".hidden", &[Kind::NotDirectory][..]), ("none", &[Kind::NotFound])];
    if has_links {
        wrong.push(("link", &[Kind::Changed]));
    }
    for (path, kinds) in wrong {
        let listed = within("list entries", workspace.entries(&site.at(path), 9)).await?;
        site.expect_refusal(listed, path, kinds, "list entries of what is no directory")?;
    }
    Ok(())
}

/// Checks that the opened file is the judged one. A link that replaced a file or a directory above it since then is
/// refused, for reading, writing and listing, and no file is created at its target. A link that was judged with the
/// path and has another target now leads to the judged place or nowhere.
///
/// # Errors
/// A link was followed, or the refusal is of another kind than [`WorkspaceErrorKind::Changed`](Kind::Changed).
pub async fn never_follows_a_swapped_link(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "swapped").await?;
    site.put("secret", Item::Directory).await?;
    site.put("secret/file", Item::File(b"secret")).await?;
    if !site.link("probe", "secret").await? {
        return Ok(());
    }
    site.remove("probe").await?;
    for folder in ["a", "b", "c"] {
        site.put(folder, Item::Directory).await?;
        site.put(&format!("{folder}/file"), Item::File(b"judged")).await?;
    }

    // The file, a directory above it, a directory to be listed, and a name that was free.
    let (reads, writes) = (site.reading(&["a/file", "b/file", "c"]).await?, site.writing(&["a/file", "b/file"]).await?);
    let free = site.writing(&["a/new", "b/new"]).await?;
    site.remove("a/file").await?;
    site.link("a/file", "secret/file").await?;
    site.link("a/new", "secret/planted").await?;
    for folder in ["b", "c"] {
        site.remove(folder).await?;
        site.link(folder, "secret").await?;
    }
    for (path, when) in [("a/file", "a file became a link"), ("b/file", "its directory became a link")] {
        site.expect_refusal(site.open(&reads, path).await?, path, SWAPPED, &format!("open: {when}"))?;
        let written = site.write(&writes, path, b"overwritten", WriteOptions::default()).await?;
        site.expect_refusal(written, path, SWAPPED, &format!("write: {when}"))?;
    }
    let making = WriteOptions::default().creating_directories();
    for path in ["a/new", "b/new"] {
        let written = site.write(&free, path, b"planted", making).await?;
        site.expect_refusal(written, path, SWAPPED, &format!("write {path}: a link stands where the name was free"))?;
    }
    site.expect_refusal(site.list(&reads, "c", 9).await?, "c", SWAPPED, "list: the directory became a link")?;
    site.expect_content("secret/file", b"secret", "after refused writes").await?;
    site.expect_names("secret", &["file"], "after refused writes").await?;

    // A judged link whose target is changed.
    site.put("judged", Item::File(b"judged")).await?;
    site.link("turned", "judged").await?;
    let (read, write) = (site.reading(&["turned"]).await?, site.writing(&["turned"]).await?);
    site.remove("turned").await?;
    site.link("turned", "secret/file").await?;
    match site.open(&read, "turned").await? {
        Err(error) => site.expect_refusal(Err::<(), _>(error), "turned", SWAPPED, "open a link that was turned")?,
        Ok(_) => {
            let content = site.read(&read, "turned").await?;
            ensure(content == b"judged", || format!("a link that was turned since reads {}", shown(&content)))?;
        }
    }
    // In both cases only the judged place may have changed.
    let _ = site.write(&write, "turned", b"new", WriteOptions::default()).await?;
    site.expect_content("secret/file", b"secret", "after a write through a link that was turned").await
}

/// Checks that below a judged tree, a link that leads out of it is not followed, however it is spelled.
///
/// # Errors
/// A file outside was read.
pub async fn stays_inside_of_a_judged_tree(workspace: &dyn Workspace, fixture: &dyn Fixture) -> Result<(), Violation> {
    let site = RuleSite::new(workspace, fixture, "inside").await?;
    site.put("tree", Item::Directory).await?;
    site.put("tree/sub", Item::Directory).await?;
    site.put("out", Item::Directory).await?;
    site.put("out/file", Item::File(b"out")).await?;
    if !site.link("tree/absolute", "out/file").await? {
        return Ok(());
    }
    site.put("tree/relative", Item::Link(Path::new("../out/file"))).await?;
    site.link("tree/sub/folder", "out").await?;
    let permit = site.reading(&["tree"]).await?;
    for path in ["tree/absolute", "tree/relative", "tree/sub/folder/file"] {
        let opened = site.open(&permit, path).await?;
        let kinds = &[Kind::NotPermitted, Kind::Changed];
        site.expect_refusal(opened, path, kinds, &format!("open {path}, which leads out of the judged tree"))?;
    }
    let listed = site.list(&permit, "tree/sub/folder", 9).await?;
    let kinds = &[Kind::NotPermitted, Kind::Changed];
    site.expect_refusal(listed, "tree/sub/folder", kinds, "list a folder outside of the judged tree")
}
