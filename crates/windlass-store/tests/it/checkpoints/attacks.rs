//! Attacks by means of a rewind: files of others, and moved files.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use windlass_session::NotRestoredKind;

/// A file that only tools have changed is not a conflict, however large it is.
#[tokio::test]
async fn a_large_file_that_only_tools_changed_is_rewound() {
    let world = World::new();
    let checkpoints = at(&world.directory());
    let path = world.path("large");
    fs::write(&path, vec![b'a'; 3 << 20]).unwrap();
    change(&checkpoints, 1, &path, &vec![b'b'; 3 << 20]).await;
    let mut options = world.options();
    options.leave_conflicts = true;
    let done = checkpoints.rewind(&prompt(1), &options).await.unwrap();
    assert_eq!(done.changed().count(), 1, "{:?}", done.files);
    assert!(!done.files[0].conflict);
    assert_eq!(fs::read(&path).unwrap()[0], b'a');
    // A change that another program made meanwhile is a conflict.
    fs::write(&path, vec![b'c'; 3 << 20]).unwrap();
    let done = checkpoints.rewind(&done.undo.unwrap(), &options).await.unwrap();
    assert_eq!((done.changed().count(), done.files[0].conflict), (0, true), "{:?}", done.files);
    assert_eq!(fs::read(&path).unwrap()[0], b'c');
}

/// Whatever takes the place of a directory on the path, nothing outside is created, changed or removed.
#[tokio::test]
async fn a_directory_that_became_a_link_leads_nowhere() {
    for made in [false, true] {
        let world = World::new();
        let outside = tempfile::tempdir().unwrap();
        let secret = outside.path().canonicalize().unwrap();
        let checkpoints = at(&world.directory());
        let path = world.path("way/deep/file");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if made {
            fs::write(&path, "before").unwrap();
        }
        change(&checkpoints, 1, &path, b"after").await;
        for (name, target) in [("way", secret.clone()), ("way/deep", secret.join("deep"))] {
            let aside = world.path("aside");
            fs::create_dir_all(secret.join("deep")).unwrap();
            fs::write(secret.join("deep/file"), "after").unwrap();
            fs::rename(world.path(name), &aside).unwrap();
            symlink(&target, world.path(name)).unwrap();
            let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
            let kinds: Vec<_> = done.files.iter().map(|file| file.problem.as_ref().unwrap().kind).collect();
            assert_eq!(kinds, [NotRestoredKind::Link], "{name}");
            assert_eq!(fs::read_to_string(secret.join("deep/file")).unwrap(), "after", "{name}");
            fs::remove_file(world.path(name)).unwrap();
            fs::rename(&aside, world.path(name)).unwrap();
        }
    }
}

/// A path that begins in the workspace and leaves it with `..` is outside, even if the index contains it.
#[tokio::test]
async fn a_path_that_climbs_out_is_not_rewound() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().canonicalize().unwrap().join("file");
    fs::write(&target, "outside").unwrap();
    let climbing = world.root().join("..").join(target.parent().unwrap().file_name().unwrap()).join("file");
    let checkpoints = at(&world.directory());
    change(&checkpoints, 1, &climbing, b"changed").await;
    assert_eq!(fs::read_to_string(&target).unwrap(), "changed");
    for _ in 0..2 {
        let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
        let problem = done.files[0].problem.as_ref().map(|problem| problem.kind);
        assert_eq!((done.changed().count(), problem), (0, Some(NotRestoredKind::Outside)), "{:?}", done.files);
        assert_eq!(fs::read_to_string(&target).unwrap(), "changed");
    }
}
