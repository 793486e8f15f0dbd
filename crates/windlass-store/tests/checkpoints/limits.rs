use super::*;
use std::fs;
use windlass_session::NotRestoredKind;
use windlass_store::CheckpointLimits;

fn limited(world: &World, file: u64, total: u64) -> FileCheckpoints {
    let (tree, clock, ids) = ports();
    FileCheckpoints::with_limits(world.directory(), tree, clock, ids, CheckpointLimits::new(file, total))
}

fn stored(world: &World) -> u64 {
    let objects = fs::read_dir(world.directory().join("objects")).unwrap();
    objects.map(|object| object.unwrap().metadata().unwrap().len()).sum()
}

#[tokio::test]
async fn a_file_that_is_too_large_is_noted_and_left() {
    let world = World::new();
    let checkpoints = limited(&world, 10, 1_000);
    for (name, before) in [("large", "more than ten bytes"), ("small", "ten bytes.")] {
        fs::write(world.path(name), before).unwrap();
        change(&checkpoints, 1, &world.path(name), b"after").await;
    }
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    let problem = done.files[0].problem.clone().unwrap();
    assert_eq!((problem.kind, done.files[1].problem.clone()), (NotRestoredKind::NotKept, None));
    assert!(problem.reason.contains("19 bytes"), "{problem:?}");
    assert_eq!(fs::read_to_string(world.path("large")).unwrap(), "after");
    assert_eq!(fs::read_to_string(world.path("small")).unwrap(), "ten bytes.");
}

#[tokio::test]
async fn what_has_become_too_large_to_be_kept_is_not_overwritten() {
    let world = World::new();
    let checkpoints = limited(&world, 10, 1_000);
    change(&checkpoints, 1, &world.path("made"), b"after").await;
    fs::write(world.path("made"), "it has grown since").unwrap();
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    assert_eq!(done.files[0].problem.clone().unwrap().kind, NotRestoredKind::CannotKeep);
    assert_eq!(fs::read_to_string(world.path("made")).unwrap(), "it has grown since");
}

#[tokio::test]
async fn the_oldest_contents_make_room_and_that_is_said() {
    let world = World::new();
    let mut checkpoints = limited(&world, 100, 250);
    fs::write(world.path("file"), [b'0'; 100]).unwrap();
    for number in 1..=6 {
        change(&checkpoints, number, &world.path("file"), &[b'0' + number as u8; 100]).await;
        assert!(stored(&world) <= 250);
        if number == 4 {
            drop(checkpoints);
            checkpoints = limited(&world, 100, 250);
        }
    }
    let preview = checkpoints.changes(&prompt(4), &world.options()).await.unwrap();
    let problem = preview.files[0].problem.clone().unwrap();
    assert!(problem.kind == NotRestoredKind::NotKept && problem.reason.contains("make room"), "{problem:?}");
    // What the rewind needs stays, also when there is no room to keep more.
    let done = checkpoints.rewind(&prompt(5), &world.options()).await.unwrap();
    assert_eq!(done.files[0].problem.clone().unwrap().kind, NotRestoredKind::CannotKeep);
    let done = checkpoints.rewind(&prompt(6), &world.options()).await.unwrap();
    assert_eq!((done.changed().count(), fs::read(world.path("file")).unwrap()), (1, vec![b'5'; 100]));
    assert!(stored(&world) <= 250);
}

#[tokio::test]
async fn equal_contents_are_kept_once() {
    let world = World::new();
    let checkpoints = at(&world.directory());
    for number in 1..=20 {
        let path = world.path(&format!("f{}", number % 4));
        fs::write(&path, "the same").unwrap();
        change(&checkpoints, number, &path, b"other").await;
    }
    assert_eq!(stored(&world), 8);
}
