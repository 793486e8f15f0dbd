//! Large trees, in which the survey before a command relies on reports of the system, and large files.

use super::*;
use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use windlass_session::{ChangedBy, NotRestoredKind, Survey};

/// Returns a tree that is large enough to be watched.
fn large() -> World {
    let world = World::new();
    for at in 0..6_000 {
        let folder = world.path(&format!("{}", at % 60));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{at}")), "0").unwrap();
    }
    world
}

async fn look(checkpoints: &dyn Checkpoints, world: &World, by: ChangedBy) {
    checkpoints.survey(&Survey::new(prompt(1), [world.root()], by)).await.unwrap();
}

#[tokio::test]
async fn in_a_large_tree_changes_of_people_and_of_commands_are_told_apart() {
    let world = large();
    let checkpoints = at(&world.directory());
    checkpoints.begin(&prompt(1)).await.unwrap();
    look(&checkpoints, &world, ChangedBy::Others).await;
    for round in 0..4_usize {
        let (theirs, own) = (format!("{round}/{round}"), format!("{}/{}", round + 10, round + 10));
        fs::write(world.path(&theirs), "of people").unwrap();
        fs::create_dir_all(world.path(&format!("people{round}/deep"))).unwrap();
        fs::write(world.path(&format!("people{round}/deep/file")), "of people").unwrap();
        look(&checkpoints, &world, ChangedBy::Others).await;
        fs::write(world.path(&own), "of the command").unwrap();
        fs::rename(world.path(&format!("{}", round + 20)), world.path(&format!("renamed{round}"))).unwrap();
        // An unreported change: through a name outside the tree.
        let outside = world.home.path().join(format!("outside{round}"));
        fs::hard_link(world.path(&format!("{}/{}", round + 30, round + 30)), &outside).unwrap();
        fs::write(&outside, "through another name").unwrap();
        fs::remove_file(&outside).unwrap();
        look(&checkpoints, &world, ChangedBy::Session).await;
    }
    let done = checkpoints.rewind(&prompt(1), &world.options().leaving_conflicts()).await.unwrap();
    assert_eq!(done.left().count(), 0);
    for round in 0..4_usize {
        let read = |name: String| fs::read_to_string(world.path(&name)).unwrap();
        assert_eq!(read(format!("{round}/{round}")), "of people");
        assert_eq!(read(format!("people{round}/deep/file")), "of people");
        for place in [10, 20, 30] {
            assert_eq!(read(format!("{0}/{0}", round + place)), "0");
        }
        assert!(!world.path(&format!("renamed{round}")).exists());
    }
}

#[tokio::test]
async fn a_file_of_one_gigabyte_that_nothing_tracks_is_neither_read_nor_touched() {
    let world = World::new();
    let path = world.path("large");
    fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
    fs::write(world.path("small"), "1").unwrap();
    let stamp = || {
        let meta = fs::metadata(&path).unwrap();
        (meta.ino(), meta.len(), meta.mtime_nsec(), meta.ctime_nsec(), meta.blocks())
    };
    let before = stamp();
    let checkpoints = at(&world.directory());
    checkpoints.begin(&prompt(1)).await.unwrap();
    look(&checkpoints, &world, ChangedBy::Others).await;
    let listed = checkpoints.list().await.unwrap();
    assert_eq!(listed[0].left_out.iter().map(|left| &left.path).collect::<Vec<_>>(), [&path]);
    fs::write(world.path("small"), "2").unwrap();
    look(&checkpoints, &world, ChangedBy::Session).await;
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    assert_eq!(done.changed().map(|file| file.path.clone()).collect::<Vec<_>>(), [world.path("small")]);
    assert_eq!((stamp(), fs::read_to_string(world.path("small")).unwrap()), (before, "1".to_owned()));
    // A large file removed by a command is named, and is not restored.
    look(&checkpoints, &world, ChangedBy::Others).await;
    fs::remove_file(&path).unwrap();
    look(&checkpoints, &world, ChangedBy::Session).await;
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    let left: Vec<_> = done.left().map(|file| (file.path.clone(), file.problem.as_ref().unwrap().kind)).collect();
    assert_eq!(left, [(path.clone(), NotRestoredKind::NotKept)]);
}

#[tokio::test]
async fn large_files_come_back_whose_blocks_the_baseline_may_share() {
    let world = World::new();
    let content = |at: usize| -> Vec<u8> { (0..700_001_usize).map(|byte| ((byte * 7 + at) % 251) as u8).collect() };
    let paths: Vec<_> = (0..5).map(|at| world.path(&format!("large{at}"))).collect();
    for (at, path) in paths.iter().enumerate() {
        fs::write(path, content(at)).unwrap();
    }
    let checkpoints = at(&world.directory());
    checkpoints.begin(&prompt(1)).await.unwrap();
    look(&checkpoints, &world, ChangedBy::Others).await;
    // Changed in place, cut, replaced, removed; one stays.
    let open = |path| fs::OpenOptions::new().write(true).open(path).unwrap();
    open(&paths[0]).write_all_at(b"changed", 300_000).unwrap();
    open(&paths[1]).set_len(10).unwrap();
    fs::write(world.path("new"), "new").unwrap();
    fs::rename(world.path("new"), &paths[2]).unwrap();
    fs::remove_file(&paths[3]).unwrap();
    look(&checkpoints, &world, ChangedBy::Session).await;
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    assert_eq!(done.left().count(), 0);
    for (at, path) in paths.iter().enumerate() {
        assert!(fs::read(path).unwrap() == content(at), "{at}");
    }
}
