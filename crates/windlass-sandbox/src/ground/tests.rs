#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use super::*;
use crate::Network;
use std::os::unix::fs::symlink;

/// Folder whose own path has no links, with directories (`x/`) and files in it.
struct Place {
    _folder: tempfile::TempDir,
    at: PathBuf,
}

impl Place {
    fn new(all: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        for name in all {
            let path = at.join(name);
            fs::create_dir_all(if name.ends_with('/') { &path } else { path.parent().unwrap() }).unwrap();
            if !name.ends_with('/') {
                fs::write(path, "text").unwrap();
            }
        }
        Self { _folder: folder, at }
    }

    fn link(self, from: &str, to: &str) -> Self {
        symlink(self.at.join(to), self.at.join(from)).unwrap();
        self
    }

    fn paths<const N: usize>(&self, names: [&str; N]) -> Vec<PathBuf> {
        names.iter().map(|name| self.at.join(name)).collect()
    }

    fn policy(&self) -> SandboxPolicy {
        SandboxPolicy::new([self.at.join("w")])
    }

    fn look(&self, policy: &SandboxPolicy) -> Ground {
        Ground::look(policy, &nested_projects(policy)).unwrap()
    }

    /// Returns the watched paths, each with its target.
    fn watched(&self, ground: &Ground) -> Vec<(String, Option<PathBuf>)> {
        let name = |path: &Path| path.strip_prefix(&self.at).unwrap().display().to_string();
        ground.watched.iter().map(|watched| (name(&watched.path), watched.link.clone())).collect()
    }
}

#[test]
fn what_is_writable_is_where_its_links_lead() {
    let place = Place::new(&["w/", "v/"]).link("to-w", "w");
    let found = place.look(&SandboxPolicy::new(place.paths(["to-w", "w", "v"])));
    assert_eq!(found.writable, place.paths(["w", "v"]));
    for (path, problem) in [(place.at.join("none"), "No such file"), (PathBuf::from("/"), "the whole file system")] {
        let error = Ground::look(&SandboxPolicy::new([&path]), &[]).unwrap_err();
        let SandboxError::Directory { path: named, problem: told } = error else { panic!("{error}") };
        assert!(named == path && told.starts_with(problem), "{told}");
    }
}

#[test]
fn secrets_are_hidden_where_they_are() {
    let place = Place::new(&["w/", "home/.ssh/id", "home/.netrc", "real/key", "home/shown/a", "home/shown-too"]);
    let place = place.link("home/link", "real").link("home/again", "home/.netrc").link("home/to-shown", "home/shown");
    let hidden = place.paths([
        "home/.ssh",
        "home/.netrc",
        "home/again",
        "home/link",
        "home/none",
        "home/shown",
        "home/to-shown",
        "home/shown-too",
        // This directory holds the project.
        "",
    ]);
    let policy = place.policy().with_hidden(hidden).with_shown(place.paths(["home/shown", "home/shown-too"]));
    let found = place.look(&policy);
    assert_eq!(found.hidden_directories, place.paths(["home/.ssh", "real"]));
    assert_eq!(found.hidden_files, place.paths(["home/.netrc"]));
    // A path below a shown one is shown; a path that merely begins with the same text is not.
    let shown = place.policy().with_shown(["/h/.ssh"]);
    assert!(!shown.hides("/h/.ssh/id".as_ref()) && shown.hides("/h/.ssh2".as_ref()) && shown.hides("/h".as_ref()));
}

#[test]
fn what_is_protected_is_masked_where_it_exists_and_watched_where_it_does_not() {
    let place = Place::new(&["w/.git/hooks/x", "w/.git/config", "w/inner/", "w/file", "out/kept"]);
    let place =
        place.link("w/.vscode", "w/inner").link("w/.idea", "out").link("w/.mcp.json", "out/none").link("w/all", "w");
    let names =
        [".git/hooks", ".git/config", ".bashrc", ".vscode", ".idea", ".mcp.json", "all", "file/below", "none/below"];
    let found = place.look(&place.policy().with_protected(names));
    assert_eq!(found.masks, place.paths(["w/.git/config", "w/.git/hooks", "w/inner"]));
    // The directories that lead to a masked path are kept as well.
    assert_eq!(found.pins, place.paths(["w/.git"]));
    let link = |to: &str| Some(place.at.join(to));
    let expected = [
        ("w/.bashrc", None),
        ("w/.vscode", link("w/inner")),
        ("w/.idea", link("out")),
        ("w/.mcp.json", link("out/none")),
        ("w/all", link("w")),
        ("w/none/below", None),
    ];
    assert_eq!(place.watched(&found), expected.map(|(name, link)| (name.to_owned(), link)));
}

/// A name whose directory is a link is watched at the target, unless that is outside of the writable directories.
#[test]
fn a_name_behind_a_link_is_watched_where_the_link_leads() {
    let place = Place::new(&["w/real/", "out/"]).link("w/near", "w/real").link("w/far", "out");
    let found = place.look(&place.policy().with_protected(["near/x", "far/x"]));
    assert_eq!(place.watched(&found), [("w/real/x".to_owned(), None), ("w/far/x".to_owned(), None)]);
}

#[test]
fn a_repository_may_be_worked_in_and_not_be_made() {
    for (files, masks, is_watched) in
        [(&["w/.git/HEAD"][..], vec![], false), (&["w/.git"], vec!["w/.git"], false), (&["w/x"], vec![], true)]
    {
        let place = Place::new(files);
        let found = place.look(&place.policy().with_not_made([".git"]));
        let masks: Vec<_> = masks.iter().map(|mask| place.at.join(mask)).collect();
        assert_eq!((found.masks, !found.watched.is_empty()), (masks, is_watched), "{files:?}");
    }
}

#[test]
fn what_stays_as_it_is_counts_inside_of_what_is_writable() {
    let place = Place::new(&["w/a/b/kept", "out/kept"]);
    let kept = place.paths(["w/a/b/kept", "w/none", "w/no/deeper", "out/kept", "out/none"]);
    let found = place.look(&place.policy().with_read_only(kept));
    assert_eq!(found.masks, place.paths(["w/a/b/kept"]));
    assert_eq!(found.pins, place.paths(["w/a", "w/a/b"]));
    let watched: Vec<_> = found.watched.into_iter().map(|watched| watched.path).collect();
    assert_eq!(watched, place.paths(["w/none", "w/no/deeper"]));
}

/// The outermost of nested writable directories counts: directories between them could be renamed there.
#[test]
fn each_directory_on_the_way_is_pinned_outermost_first() {
    let place = Place::new(&["w/v/a/b/x", "w/v/c/x", "w/v/a/x"]);
    let policy = SandboxPolicy::new(place.paths(["w/v", "w"])).with_read_only(place.paths(["w/v/a/b/x", "w/v/c/x"]));
    assert_eq!(place.look(&policy).pins, place.paths(["w/v", "w/v/a", "w/v/c", "w/v/a/b"]));
    // A path that is masked itself needs no pin.
    let policy = place.policy().with_read_only(place.paths(["w/v/a", "w/v/a/x"]));
    assert_eq!(place.look(&policy).pins, place.paths(["w/v"]));
}

#[test]
fn projects_inside_are_found_and_keep_what_they_have() {
    let place = Place::new(&[
        "w/.git/config",
        "w/sub/.git/config",
        "w/sub/.vscode/x",
        "w/1/2/3/.git/config",
        "w/1/2/3/4/.git/config",
        "w/node_modules/x/.git/config",
        "w/.cache/x/.git/config",
        "w/plain/x",
        "w/tree/.git",
        "out/.git/config",
    ]);
    let place = place.link("w/link", "out");
    let policy = place.policy().with_protected([".git/config", ".vscode"]).with_not_made([".git"]);
    let mut nested = nested_projects(&policy);
    nested.sort();
    assert_eq!(nested, place.paths(["w/1/2/3", "w/sub", "w/tree"]));
    let found = place.look(&policy);
    let masks = ["w/.git/config", "w/1/2/3/.git/config", "w/sub/.git/config", "w/sub/.vscode", "w/tree/.git"];
    assert_eq!(found.masks, place.paths(masks));
    // In the project itself a name must not be created. Further below, it is merely a new project.
    assert_eq!(place.watched(&found), [("w/.vscode".to_owned(), None)]);
}

#[test]
fn looking_for_projects_ends() {
    let place = Place::new(&["w/"]);
    for number in 0..MOST_DIRECTORIES {
        fs::create_dir_all(place.at.join(format!("w/{number}/.git"))).unwrap();
    }
    // The writable directory itself is one of those that are searched.
    assert_eq!(nested_projects(&place.policy().with_protected([".git/config"])).len(), MOST_DIRECTORIES - 1);
}

#[test]
fn a_policy_has_all_that_was_said() {
    let all = SandboxPolicy::new(["/w"])
        .with_protected([".a"])
        .with_not_made([".b"])
        .with_read_only(["/c"])
        .with_hidden(["/d"])
        .with_emptied(["/w/.env"])
        .with_shown(["/d/e"])
        .with_network(Network::On)
        .with_unix_sockets(true);
    let expected = SandboxPolicy {
        writable: vec!["/w".into()],
        protected: vec![".a".into()],
        not_made: vec![".b".into()],
        read_only: vec!["/c".into()],
        hidden: vec!["/d".into()],
        emptied: vec!["/w/.env".into()],
        shown: vec!["/d/e".into()],
        network: Network::On,
        unix_sockets: true,
    };
    assert_eq!(all, expected);
}
