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
async fn the_oldest_contents_make_room_and_that_is_reported() {
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
    // Contents needed by the rewind stay, even without space to keep more.
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

#[tokio::test]
async fn a_rewind_drops_nothing_that_taking_it_back_needs() {
    let world = World::new();
    let checkpoints = limited(&world, 100, 330);
    let (file, first, second) = (world.path("0"), world.path("1"), world.path("2"));
    for (path, content) in [(&file, b'x'), (&first, b'1'), (&second, b'2')] {
        fs::write(path, [content; 100]).unwrap();
    }
    change(&checkpoints, 1, &file, b"short").await;
    // The present content of the first of two files is kept already, by the oldest checkpoint alone.
    change(&checkpoints, 2, &first, &[b'x'; 100]).await;
    change(&checkpoints, 2, &second, &[b'y'; 100]).await;
    let done = checkpoints.rewind(&prompt(2), &world.options()).await.unwrap();
    assert!(done.changed().any(|one| one.path == first), "{done:?}");
    assert!(stored(&world) <= 330);
    let back = checkpoints.rewind(&done.undo.unwrap(), &world.options()).await.unwrap();
    assert_eq!(back.left().count(), 0, "{back:?}");
    assert_eq!((fs::read(&first).unwrap(), fs::read(&second).unwrap()), (vec![b'x'; 100], vec![b'y'; 100]));
}

#[tokio::test]
async fn what_cannot_make_room_drops_nothing() {
    let world = World::new();
    let checkpoints = limited(&world, 100, 250);
    let (file, first, second) = (world.path("0"), world.path("1"), world.path("2"));
    for (path, content) in [(&file, b'x'), (&first, b'1'), (&second, b'2')] {
        fs::write(path, [content; 100]).unwrap();
    }
    fs::write(&file, [b'x'; 50]).unwrap();
    change(&checkpoints, 1, &file, b"short").await;
    change(&checkpoints, 2, &first, &[b'a'; 100]).await;
    change(&checkpoints, 2, &second, &[b'b'; 100]).await;
    // There is no space for the contents that a rewind must keep first: dropping the oldest would not suffice.
    let done = checkpoints.rewind(&prompt(2), &world.options()).await.unwrap();
    assert_eq!(done.changed().count(), 0, "{done:?}");
    let oldest = checkpoints.changes(&prompt(1), &world.options()).await.unwrap();
    let of_file = oldest.files.iter().find(|one| one.path == file).unwrap();
    assert_eq!(of_file.problem, None, "it was dropped for nothing");
}

#[tokio::test]
async fn files_of_one_rewind_do_not_take_the_same_room() {
    let world = World::new();
    let checkpoints = limited(&world, 100, 350);
    let paths: Vec<_> = (0..3).map(|number| world.path(&number.to_string())).collect();
    for (path, after) in paths.iter().zip([b'a', b'b', b'c']) {
        fs::write(path, [b'0'; 100]).unwrap();
        change(&checkpoints, 1, path, &[after; 100]).await;
    }
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    assert_eq!((done.changed().count(), done.left().count()), (2, 1), "{done:?}");
    assert!(stored(&world) <= 350, "{}", stored(&world));
}
