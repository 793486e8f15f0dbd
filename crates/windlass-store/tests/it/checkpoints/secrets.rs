//! Files that may contain secrets are not copied, and are named.

use super::*;
use std::fs;
use windlass_session::{ChangedBy, NotRestoredKind, Survey};

fn is_secret(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".env")
}

fn checkpoints(world: &World) -> FileCheckpoints {
    at(&world.directory()).leaving_secrets(is_secret)
}

async fn look(checkpoints: &dyn Checkpoints, world: &World, by: ChangedBy) {
    checkpoints.survey(&Survey::new(prompt(1), [world.root()], by)).await.unwrap();
}

/// Returns all contents that are kept.
fn kept(world: &World) -> Vec<Vec<u8>> {
    let objects = fs::read_dir(world.directory().join("objects")).unwrap();
    objects.map(|object| fs::read(object.unwrap().path()).unwrap()).collect()
}

#[tokio::test]
async fn a_secret_that_a_command_changes_is_named_and_left() {
    let world = World::new();
    fs::create_dir(world.path("sub")).unwrap();
    for name in [".env", "sub/.env", "a"] {
        fs::write(world.path(name), format!("KEY=of {name}")).unwrap();
    }
    let checkpoints = checkpoints(&world);
    look(&checkpoints, &world, ChangedBy::Others).await;
    let listed = checkpoints.list().await.unwrap();
    let left_out: Vec<_> = listed[0].left_out.iter().map(|left| left.path.clone()).collect();
    assert_eq!(left_out, [world.path(".env"), world.path("sub/.env")]);
    assert!(listed[0].left_out[0].reason.contains("secret"));
    for name in [".env", "a"] {
        fs::write(world.path(name), "changed by the command").unwrap();
    }
    fs::remove_file(world.path("sub/.env")).unwrap();
    look(&checkpoints, &world, ChangedBy::Session).await;
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    let left: Vec<_> = done.left().map(|file| (file.path.clone(), file.problem.clone().unwrap())).collect();
    let names: Vec<_> = left.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(names, [world.path(".env"), world.path("sub/.env")]);
    assert!(left.iter().all(|(_, why)| why.kind == NotRestoredKind::NotKept && why.reason.contains("secret")));
    assert_eq!(fs::read_to_string(world.path("a")).unwrap(), "KEY=of a");
    assert_eq!(fs::read_to_string(world.path(".env")).unwrap(), "changed by the command");
    assert!(kept(&world).iter().all(|content| !content.starts_with(b"KEY=of .env")));
}

#[tokio::test]
async fn what_the_session_itself_makes_or_edits_is_taken_back() {
    let world = World::new();
    fs::write(world.path(".env"), "KEY=1").unwrap();
    fs::create_dir(world.path("sub")).unwrap();
    let checkpoints = checkpoints(&world);
    change(&checkpoints, 1, &world.path(".env"), b"KEY=2").await;
    look(&checkpoints, &world, ChangedBy::Others).await;
    fs::write(world.path("sub/.env"), "made").unwrap();
    fs::write(world.path(".env"), "KEY=3").unwrap();
    look(&checkpoints, &world, ChangedBy::Session).await;
    let done = checkpoints.rewind(&prompt(1), &world.options().leaving_conflicts()).await.unwrap();
    assert_eq!((done.changed().count(), done.left().count()), (2, 0), "{done:?}");
    assert_eq!(fs::read_to_string(world.path(".env")).unwrap(), "KEY=1");
    assert!(!world.path("sub/.env").exists());
}

#[tokio::test]
async fn what_people_do_to_secrets_is_theirs_and_not_read() {
    let world = World::new();
    let checkpoints = checkpoints(&world);
    fs::write(world.path("a"), "0").unwrap();
    look(&checkpoints, &world, ChangedBy::Others).await;
    fs::write(world.path(".env"), "KEY=of a person").unwrap();
    look(&checkpoints, &world, ChangedBy::Others).await;
    fs::write(world.path("a"), "1").unwrap();
    look(&checkpoints, &world, ChangedBy::Session).await;
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    assert_eq!((done.changed().count(), done.left().count()), (1, 0), "{done:?}");
    assert_eq!(fs::read_to_string(world.path(".env")).unwrap(), "KEY=of a person");
    assert!(kept(&world).iter().all(|content| !content.starts_with(b"KEY")));
}
