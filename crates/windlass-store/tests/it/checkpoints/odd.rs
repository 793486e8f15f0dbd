use super::*;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use windlass_session::{CheckpointErrorKind, FileChange, NotRestoredKind};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn names_and_contents_that_are_no_text_come_back_over_processes() {
    let world = World::new();
    let path = world.root().join(OsStr::from_bytes(b"n\xff\xfe\n \x01"));
    let content = b"\xef\xbb\xbfa\r\nb\n\xff\0 no line end";
    fs::write(&path, content).unwrap();
    change(&at(&world.directory()), 1, &path, b"other").await;
    let done = at(&world.directory()).rewind(&prompt(1), &world.options()).await.unwrap();
    assert_eq!(done.files[0].path, path);
    assert_eq!(fs::read(&path).unwrap(), content);
}

#[tokio::test]
async fn modes_come_back_and_what_is_kept_is_private() {
    let world = World::new();
    let checkpoints = at(&world.directory());
    let modes = [("script", 0o755), ("plain", 0o644), ("secret", 0o600), ("fixed", 0o444)];
    for (name, mode) in modes {
        fs::write(world.path(name), name).unwrap();
        fs::set_permissions(world.path(name), fs::Permissions::from_mode(mode)).unwrap();
        let id = ToolUseId::from("call");
        checkpoints.keep(&prompt(1), &id, &[world.path(name)]).await.unwrap();
        fs::remove_file(world.path(name)).unwrap();
        fs::write(world.path(name), "other").unwrap();
    }
    checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    for (name, expected) in modes {
        assert_eq!((fs::read_to_string(world.path(name)).unwrap().as_str(), mode(&world.path(name))), (name, expected));
    }
    let mut todo = vec![world.directory()];
    while let Some(path) = todo.pop() {
        assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{path:?}");
        if path.is_dir() {
            todo.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
}

#[tokio::test]
async fn hard_links_pipes_and_directories_are_left_alone() {
    let world = World::new();
    let checkpoints = at(&world.directory());
    for name in ["linked", "pipe", "directory"] {
        fs::write(world.path(name), "before").unwrap();
        change(&checkpoints, 1, &world.path(name), b"after").await;
    }
    fs::hard_link(world.path("linked"), world.path("other")).unwrap();
    for name in ["pipe", "directory"] {
        fs::remove_file(world.path(name)).unwrap();
    }
    drop(std::os::unix::net::UnixListener::bind(world.path("pipe")).unwrap());
    fs::create_dir(world.path("directory")).unwrap();
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    let kinds: Vec<_> = done.files.iter().map(|file| file.problem.as_ref().map(|problem| problem.kind)).collect();
    assert_eq!(kinds, [Some(NotRestoredKind::Link); 3], "{done:?}");
    assert_eq!(fs::read_to_string(world.path("other")).unwrap(), "after");
}

#[tokio::test]
async fn what_is_no_file_before_a_call_is_noted_and_not_put_back() {
    let world = World::new();
    let checkpoints = at(&world.directory());
    fs::write(world.path("target"), "before").unwrap();
    symlink(world.path("target"), world.path("link")).unwrap();
    fs::create_dir(world.path("directory")).unwrap();
    let paths = ["link", "directory"].map(|name| world.path(name));
    checkpoints.keep(&prompt(1), &ToolUseId::from("call"), &paths).await.unwrap();
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    assert!(done.files.iter().all(|file| file.problem.as_ref().unwrap().kind == NotRestoredKind::NotKept));
    assert_eq!(done.files.len(), 2);
}

#[tokio::test]
async fn links_swapped_in_at_any_moment_lead_nowhere() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().canonicalize().unwrap();
    fs::write(secret.join("file"), "secret").unwrap();
    let checkpoints = at(&world.directory());
    let (way, aside) = (world.path("way"), world.path("aside"));
    fs::create_dir(&way).unwrap();
    fs::write(way.join("file"), "before").unwrap();
    change(&checkpoints, 1, &way.join("file"), b"after").await;
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let swapping = {
        let (stop, way, aside, secret) = (Arc::clone(&stop), way.clone(), aside.clone(), secret.clone());
        std::thread::spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                if fs::rename(&way, &aside).is_err() {
                    // A rewind removes a directory that it created and that is empty again.
                    let _ = fs::create_dir(&way);
                    continue;
                }
                if symlink(&secret, &way).is_ok() {
                    fs::remove_file(&way).unwrap();
                }
                // A rewind may have created the directory anew, to restore the file.
                while fs::rename(&aside, &way).is_err() {
                    let _ = fs::remove_dir_all(&way);
                }
            }
        })
    };
    let mut to = prompt(1);
    for _ in 0..200 {
        if let Some(undo) = checkpoints.rewind(&to, &world.options()).await.unwrap().undo {
            to = undo;
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapping.join().unwrap();
    assert_eq!(fs::read_to_string(secret.join("file")).unwrap(), "secret");
    assert_eq!(fs::read_dir(&secret).unwrap().count(), 1);
}

#[tokio::test]
async fn directories_made_for_a_file_go_with_it_unless_they_are_in_use() {
    let world = World::new();
    let checkpoints = at(&world.directory());
    for (number, name) in [(1, "new/deep/file"), (2, "used/deep/file")] {
        let path = world.path(name);
        let id = ToolUseId::from("call");
        checkpoints.keep(&prompt(number), &id, std::slice::from_ref(&path)).await.unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
    }
    fs::write(world.path("used/mine"), "mine").unwrap();
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    assert!(done.files.iter().all(|file| file.change == Some(FileChange::Deleted)));
    assert!(!world.path("new").exists() && !world.path("used/deep").exists() && world.path("used/mine").exists());
    // And back with the files.
    checkpoints.rewind(&done.undo.unwrap(), &world.options()).await.unwrap();
    assert_eq!(fs::read_to_string(world.path("new/deep/file")).unwrap(), "x");
}

#[tokio::test]
async fn one_process_at_a_time() {
    let world = World::new();
    let first = at(&world.directory());
    assert!(first.list().await.unwrap().is_empty());
    assert!(!world.directory().exists(), "nothing is made to look at nothing");
    first.begin(&prompt(1)).await.unwrap();
    let second = at(&world.directory());
    assert_eq!(second.list().await.unwrap_err().kind, CheckpointErrorKind::InUse);
    assert_eq!(second.begin(&prompt(2)).await.unwrap_err().kind, CheckpointErrorKind::InUse);
    drop(first);
    assert_eq!(second.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn calls_that_run_together_do_not_wait_for_each_other() {
    let world = World::new();
    let checkpoints = Arc::new(at(&world.directory()));
    let calls = (0..50).map(|number| {
        let (checkpoints, path) = (Arc::clone(&checkpoints), world.path(&format!("f{number}")));
        fs::write(&path, format!("{number}")).unwrap();
        tokio::spawn(async move { change(&*checkpoints, 1, &path, b"after").await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    let done = checkpoints.rewind(&prompt(1), &world.options()).await.unwrap();
    assert_eq!(done.changed().count(), 50);
    for number in 0..50 {
        assert_eq!(fs::read_to_string(world.path(&format!("f{number}"))).unwrap(), format!("{number}"));
    }
}
