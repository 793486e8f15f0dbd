//! Changes by programs: found by surveys, distinguished from changes by people, and reverted.

use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use windlass_session::{ChangedBy, FileChange, NotRestoredKind, Rewind, Survey};
use windlass_store::CheckpointLimits;

fn limited(world: &World, limits: CheckpointLimits) -> FileCheckpoints {
    let (tree, clock, ids) = ports();
    FileCheckpoints::with_limits(world.directory(), tree, clock, ids, limits)
}

async fn look(checkpoints: &dyn Checkpoints, world: &World, number: u128, by: ChangedBy) {
    checkpoints.survey(&Survey::new(prompt(number), [world.root()], by)).await.unwrap();
}

/// Runs a command that changes files as a session does.
async fn command(checkpoints: &dyn Checkpoints, world: &World, number: u128, change: impl FnOnce()) {
    look(checkpoints, world, number, ChangedBy::Others).await;
    change();
    look(checkpoints, world, number, ChangedBy::Session).await;
}

async fn rewind(checkpoints: &dyn Checkpoints, world: &World, number: u128) -> Rewind {
    checkpoints.rewind(&prompt(number), &world.options().leaving_conflicts()).await.unwrap()
}

/// Returns the names of the files that were not restored, with the reasons.
fn left(done: &Rewind, world: &World) -> Vec<(String, NotRestoredKind)> {
    let name = |path: &Path| path.strip_prefix(world.root()).unwrap().display().to_string();
    done.left().map(|file| (name(&file.path), file.problem.as_ref().unwrap().kind)).collect()
}

#[tokio::test]
async fn what_a_command_changes_is_taken_back() {
    let world = World::new();
    fs::create_dir_all(world.path("src/deep")).unwrap();
    fs::create_dir_all(world.path("old")).unwrap();
    for (name, content) in [("a", "1\n2\n"), ("src/b", "b"), ("src/deep/c", "c"), ("old/x", "x"), ("tool", "0")] {
        fs::write(world.path(name), content).unwrap();
    }
    fs::set_permissions(world.path("src/b"), fs::Permissions::from_mode(0o755)).unwrap();
    let checkpoints = at(&world.directory());
    checkpoints.begin(&prompt(1)).await.unwrap();
    change(&checkpoints, 1, &world.path("tool"), b"1").await;
    command(&checkpoints, &world, 1, || {
        fs::write(world.path("a"), "1\n3\n").unwrap();
        fs::remove_file(world.path("src/b")).unwrap();
        fs::rename(world.path("old"), world.path("renamed")).unwrap();
        fs::create_dir_all(world.path("made/by/it")).unwrap();
        fs::write(world.path("made/by/it/new"), "n").unwrap();
        fs::set_permissions(world.path("src/deep/c"), fs::Permissions::from_mode(0o600)).unwrap();
    })
    .await;
    command(&checkpoints, &world, 1, || fs::write(world.path("tool"), "2").unwrap()).await;
    let listed = checkpoints.list().await.unwrap();
    assert_eq!((listed.len(), listed[0].files, listed[0].left_out.len()), (1, 7, 0));
    let done = rewind(&checkpoints, &world, 1).await;
    let changes: Vec<_> = done.files.iter().map(|file| (file.path.clone(), file.change, file.conflict)).collect();
    let expected = [
        ("a", FileChange::Modified),
        ("made/by/it/new", FileChange::Deleted),
        ("old/x", FileChange::Created),
        ("renamed/x", FileChange::Deleted),
        ("src/b", FileChange::Created),
        ("src/deep/c", FileChange::Modified),
        ("tool", FileChange::Modified),
    ];
    assert_eq!(changes, expected.map(|(name, change)| (world.path(name), Some(change), false)));
    assert_eq!(fs::read_to_string(world.path("a")).unwrap(), "1\n2\n");
    assert_eq!(fs::read_to_string(world.path("tool")).unwrap(), "0");
    assert_eq!(fs::metadata(world.path("src/b")).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!world.path("made").exists() && !world.path("renamed").exists());
    // And forth again.
    checkpoints.rewind(&done.undo.unwrap(), &world.options()).await.unwrap();
    assert_eq!(fs::read_to_string(world.path("a")).unwrap(), "1\n3\n");
    assert_eq!(fs::read_to_string(world.path("made/by/it/new")).unwrap(), "n");
    assert!(!world.path("src/b").exists());
}

#[tokio::test]
async fn what_people_change_between_commands_stays() {
    let world = World::new();
    for name in ["mine", "first", "between", "after", "twice"] {
        fs::write(world.path(name), "0").unwrap();
    }
    let write = |name: &str, content: &str| fs::write(world.path(name), content).unwrap();
    let checkpoints = at(&world.directory());
    checkpoints.begin(&prompt(1)).await.unwrap();
    command(&checkpoints, &world, 1, || write("between", "1")).await;
    write("mine", "u");
    write("first", "u");
    write("between", "u");
    write("new", "u");
    command(&checkpoints, &world, 1, || {
        write("first", "1");
        write("between", "2");
        write("after", "1");
        write("twice", "1");
    })
    .await;
    write("after", "u");
    // Another prompt is another checkpoint: earlier changes by people are lost only by a rewind to a later one.
    checkpoints.begin(&prompt(2)).await.unwrap();
    write("twice", "u");
    command(&checkpoints, &world, 2, || write("twice", "2")).await;
    let done = rewind(&checkpoints, &world, 1).await;
    let conflict = |name: &str| (name.to_owned(), NotRestoredKind::Conflict);
    assert_eq!(left(&done, &world), [conflict("after"), conflict("between"), conflict("twice")]);
    let now = |name: &str| fs::read_to_string(world.path(name)).unwrap();
    assert_eq!([now("mine"), now("new"), now("first"), now("between")], ["u", "u", "u", "2"]);
    // A rewind to the second prompt restores the files of that time.
    assert_eq!(left(&rewind(&checkpoints, &world, 2).await, &world), []);
    assert_eq!(now("twice"), "u");
}

#[tokio::test]
async fn people_who_put_back_what_was_there_are_noticed() {
    let world = World::new();
    fs::write(world.path("a"), "0").unwrap();
    let checkpoints = at(&world.directory());
    checkpoints.begin(&prompt(1)).await.unwrap();
    command(&checkpoints, &world, 1, || fs::write(world.path("a"), "1").unwrap()).await;
    change(&checkpoints, 1, &world.path("a"), b"2").await;
    fs::write(world.path("a"), "1").unwrap();
    command(&checkpoints, &world, 1, || fs::write(world.path("a"), "3").unwrap()).await;
    let done = rewind(&checkpoints, &world, 1).await;
    assert_eq!(left(&done, &world), [("a".to_owned(), NotRestoredKind::Conflict)]);
}

#[tokio::test]
async fn what_does_not_fit_is_named_and_left() {
    let world = World::new();
    fs::write(world.path("small"), "12").unwrap();
    fs::write(world.path("next"), "1234").unwrap();
    fs::write(world.path("crowded"), "12345678").unwrap();
    let huge = fs::File::create(world.path("huge")).unwrap();
    huge.set_len(1 << 30).unwrap();
    let before = huge.metadata().unwrap().modified().unwrap();
    let checkpoints = limited(&world, CheckpointLimits::new(1 << 20, 1 << 20).with_baseline(10));
    checkpoints.begin(&prompt(1)).await.unwrap();
    command(&checkpoints, &world, 1, || {
        for name in ["small", "next", "crowded"] {
            fs::write(world.path(name), "x").unwrap();
        }
    })
    .await;
    let listed = checkpoints.list().await.unwrap();
    let named: Vec<_> = listed[0].left_out.iter().map(|left| left.path.clone()).collect();
    assert_eq!(named, [world.path("crowded"), world.path("huge")]);
    // Another process reads the same.
    drop(checkpoints);
    let checkpoints = at(&world.directory());
    assert_eq!(checkpoints.list().await.unwrap()[0].left_out, listed[0].left_out);
    let done = rewind(&checkpoints, &world, 1).await;
    assert_eq!(left(&done, &world), [("crowded".to_owned(), NotRestoredKind::NotKept)]);
    assert_eq!(fs::read_to_string(world.path("next")).unwrap(), "1234");
    let huge = fs::metadata(world.path("huge")).unwrap();
    assert_eq!((huge.len(), huge.modified().unwrap()), (1 << 30, before));
}

#[tokio::test]
async fn what_git_ignores_is_left_out_unless_a_tool_has_changed_it() {
    let world = World::new();
    fs::write(world.path(".gitignore"), "*.tmp\nout/\n").unwrap();
    fs::create_dir_all(world.path("out")).unwrap();
    fs::create_dir_all(world.path(".git")).unwrap();
    for name in ["a.tmp", "b.tmp", "out/c", ".git/HEAD"] {
        fs::write(world.path(name), "0").unwrap();
    }
    let checkpoints = at(&world.directory());
    checkpoints.begin(&prompt(1)).await.unwrap();
    change(&checkpoints, 1, &world.path("b.tmp"), b"1").await;
    checkpoints.begin(&prompt(2)).await.unwrap();
    command(&checkpoints, &world, 2, || {
        for name in ["a.tmp", "b.tmp", "out/c", ".git/HEAD", "out/new"] {
            fs::write(world.path(name), "2").unwrap();
        }
        // A file that is not ignored any more existed before all the same.
        fs::write(world.path(".gitignore"), "").unwrap();
    })
    .await;
    let now = |name: &str| fs::read_to_string(world.path(name)).unwrap();
    let done = rewind(&checkpoints, &world, 2).await;
    assert_eq!(done.left().count(), 0);
    assert_eq!([now(".gitignore").as_str(), &now("a.tmp"), &now("b.tmp")], ["*.tmp\nout/\n", "2", "1"]);
    assert_eq!([now("out/c"), now("out/new"), now(".git/HEAD")], ["2", "2", "2"]);
    rewind(&checkpoints, &world, 1).await;
    assert_eq!(now("b.tmp"), "0");
}

#[tokio::test]
async fn links_and_odd_files_are_named_and_never_followed() {
    use std::os::unix::ffi::OsStrExt;
    let (world, outside) = (World::new(), tempfile::tempdir().unwrap());
    let secret = outside.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    let odd = world.root().join(std::ffi::OsStr::from_bytes(b"\xff\n"));
    fs::write(&odd, "odd").unwrap();
    fs::write(world.path("file"), "0").unwrap();
    symlink(&secret, world.path("link")).unwrap();
    symlink(outside.path(), world.path("folder")).unwrap();
    let status = std::process::Command::new("mkfifo").arg(world.path("fifo")).status().unwrap();
    assert!(status.success());
    fs::write(world.path("closed"), "0").unwrap();
    fs::set_permissions(world.path("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let checkpoints = at(&world.directory());
    checkpoints.begin(&prompt(1)).await.unwrap();
    command(&checkpoints, &world, 1, || {
        fs::write(&odd, "other").unwrap();
        fs::remove_file(world.path("link")).unwrap();
        fs::remove_file(world.path("file")).unwrap();
        symlink(&secret, world.path("file")).unwrap();
        fs::write(world.path("folder/secret"), "changed outside").unwrap();
        fs::remove_file(world.path("fifo")).unwrap();
    })
    .await;
    let done = rewind(&checkpoints, &world, 1).await;
    let expected = [
        ("fifo".to_owned(), NotRestoredKind::NotKept),
        ("file".to_owned(), NotRestoredKind::Link),
        ("link".to_owned(), NotRestoredKind::NotKept),
    ];
    assert_eq!(left(&done, &world), expected);
    assert_eq!(fs::read_to_string(&odd).unwrap(), "odd");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "changed outside");
}

#[tokio::test]
async fn a_directory_that_cannot_be_surveyed_is_named_and_commands_run() {
    let world = World::new();
    let checkpoints = at(&world.directory());
    checkpoints.begin(&prompt(1)).await.unwrap();
    let missing = world.path("missing");
    let survey = Survey::new(prompt(1), [missing.clone()], ChangedBy::Others);
    checkpoints.survey(&survey).await.unwrap();
    checkpoints.survey(&survey).await.unwrap();
    let listed = checkpoints.list().await.unwrap();
    assert_eq!(listed[0].left_out.len(), 1);
    assert_eq!(listed[0].left_out[0].path, missing);
}

#[tokio::test]
async fn the_store_of_sessions_is_never_part_of_it() {
    let world = World::new();
    let directory = world.path("home/session/file-history");
    let (tree, clock, ids) = ports();
    let checkpoints = FileCheckpoints::new(&directory, tree, clock, ids).leaving_out(world.path("home"));
    checkpoints.begin(&prompt(1)).await.unwrap();
    fs::write(world.path("home/log"), "1").unwrap();
    command(&checkpoints, &world, 1, || {
        fs::write(world.path("home/log"), "2").unwrap();
        fs::write(world.path("a"), "2").unwrap();
    })
    .await;
    let done = rewind(&checkpoints, &world, 1).await;
    assert_eq!(done.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), [world.path("a")]);
    assert_eq!(fs::read_to_string(world.path("home/log")).unwrap(), "2");
}

#[tokio::test]
async fn files_that_change_while_the_baseline_is_made_do_no_harm() {
    let world = World::new();
    for at in 0..400 {
        fs::create_dir_all(world.path(&format!("{}", at % 20))).unwrap();
        fs::write(world.path(&format!("{}/{at}", at % 20)), format!("{at}")).unwrap();
    }
    let checkpoints = at(&world.directory());
    checkpoints.begin(&prompt(1)).await.unwrap();
    let (stop, root) = (Arc::new(std::sync::atomic::AtomicBool::new(false)), world.root());
    let (stopped, restless) = (Arc::clone(&stop), root.join("restless"));
    let others = std::thread::spawn(move || {
        let mut number = 0_u64;
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            number += 1;
            fs::write(&restless, format!("{number}")).unwrap();
            let folder = root.join(format!("19/{}", number % 7));
            drop(fs::remove_dir_all(&folder));
            drop(fs::create_dir_all(folder.join("below")));
            drop(fs::write(folder.join("below/x"), "x"));
        }
    });
    look(&checkpoints, &world, 1, ChangedBy::Others).await;
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    others.join().unwrap();
    command(&checkpoints, &world, 1, || fs::write(world.path("3/3"), "changed").unwrap()).await;
    let done = rewind(&checkpoints, &world, 1).await;
    assert_eq!(done.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>(), [world.path("3/3")]);
    assert_eq!(fs::read_to_string(world.path("3/3")).unwrap(), "3");
}

/// Contents are found again when a baseline is rebuilt because old ones occupy its space.
#[tokio::test]
async fn a_baseline_that_is_full_of_old_contents_is_made_anew() {
    let world = World::new();
    fs::write(world.path("a"), [0; 100]).unwrap();
    let checkpoints = limited(&world, CheckpointLimits::new(1 << 20, 1 << 20).with_baseline(450));
    for number in 1..20 {
        checkpoints.begin(&prompt(number)).await.unwrap();
        command(&checkpoints, &world, number, || fs::write(world.path("a"), [number as u8; 100]).unwrap()).await;
    }
    for number in (1..20).rev() {
        assert_eq!(rewind(&checkpoints, &world, number).await.left().count(), 0, "{number}");
        assert_eq!(fs::read(world.path("a")).unwrap(), [number as u8 - 1; 100]);
    }
}

#[tokio::test]
async fn a_large_file_that_nobody_keeps_is_untouched_by_a_rewind() {
    use std::os::unix::fs::{FileExt, MetadataExt};
    let world = World::new();
    fs::write(world.path("a"), "1").unwrap();
    // A gigabyte, of which a disk stores only the written part.
    let large = fs::File::create(world.path("large")).unwrap();
    large.set_len(1 << 30).unwrap();
    large.write_all_at(b"mine", (1 << 30) - 4).unwrap();
    let state = || {
        let meta = fs::metadata(world.path("large")).unwrap();
        (meta.ino(), meta.len(), meta.blocks(), meta.mtime_nsec(), meta.ctime_nsec())
    };
    let before = state();
    let checkpoints = at(&world.directory());
    command(&checkpoints, &world, 1, || fs::write(world.path("a"), "2").unwrap()).await;
    let listed = checkpoints.list().await.unwrap();
    assert_eq!(listed[0].left_out.iter().map(|left| left.path.clone()).collect::<Vec<_>>(), [world.path("large")]);
    let done = rewind(&checkpoints, &world, 1).await;
    assert_eq!((done.changed().count(), done.left().count()), (1, 0));
    assert_eq!(fs::read_to_string(world.path("a")).unwrap(), "1");
    assert_eq!(state(), before);
}
