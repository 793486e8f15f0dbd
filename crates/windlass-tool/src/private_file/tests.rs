use super::*;
use std::fs;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn files_and_folders_are_the_users_alone_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("a/b");
    create_dir(&below).unwrap();
    create_dir(&below).unwrap();
    assert_eq!((mode(&below), mode(below.parent().unwrap())), (0o700, 0o700));
    create(&below.join("file")).unwrap();
    assert_eq!(mode(&below.join("file")), 0o600);
    let new = AtomicFile::create(&below.join("other")).unwrap();
    assert_eq!(mode(&new.temporary), 0o600);
    new.replace().unwrap();
    assert_eq!(mode(&below.join("other")), 0o600);
}

#[cfg(unix)]
#[test]
fn what_stands_at_a_name_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
    std::os::unix::fs::symlink(&victim, &link).unwrap();
    assert_eq!(create(&link).unwrap_err().kind(), ErrorKind::AlreadyExists);
    let taken = AtomicFile::create_as("link", &folder.path().join("file"), 0o600);
    assert_eq!(taken.unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert!(!victim.exists() && link.is_symlink(), "what was not made is not removed");
    // A link in place of the target is replaced, not followed.
    fs::write(&victim, "mine").unwrap();
    replace(&link, b"new").unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    assert!(!link.is_symlink());
}

#[test]
fn a_file_is_replaced_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    replace(&file, b"old").unwrap();
    let mut new = AtomicFile::create(&file).unwrap();
    new.file().write_all(b"ne").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    drop(new);
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), names(folder.path()).len()), ("old", 1));
    replace(&file, b"new").unwrap();
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), names(folder.path()).len()), ("new", 1));
    // A directory is not replaced, and nothing is left beside it.
    let directory = folder.path().join("directory");
    fs::create_dir(&directory).unwrap();
    assert!(replace(&directory, b"new").is_err());
    assert_eq!(names(folder.path()), ["directory", "file"]);
}

#[test]
fn a_new_file_replaces_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let place = |text: &[u8]| {
        let mut new = AtomicFile::create(&file)?;
        new.file().write_all(text)?;
        new.place_new()
    };
    place(b"first").unwrap();
    assert_eq!(place(b"second").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), names(folder.path()).len()), ("first", 1));
    // The same on a file system without links.
    fs::write(folder.path().join("from"), "third").unwrap();
    assert_eq!(rename_new(&folder.path().join("from"), &file).unwrap_err().kind(), ErrorKind::AlreadyExists);
    rename_new(&folder.path().join("from"), &folder.path().join("to")).unwrap();
    assert_eq!(names(folder.path()), ["file", "to"]);
}

#[test]
fn a_new_file_comes_with_its_folders_and_replaces_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a/b/file");
    write_new(&file, b"text").unwrap();
    assert_eq!(write_new(&file, b"other").unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), names(file.parent().unwrap()).len()), ("text", 1));
    #[cfg(unix)]
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert!(write_new(&file.join("below"), b"text").is_err());
}

#[test]
fn the_longest_name_leaves_room_for_the_temporary_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x".repeat(255));
    replace(&file, b"text").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "text");
}

#[test]
fn names_are_synced_as_far_as_there_are_folders() {
    let folder = tempfile::tempdir().unwrap();
    create_dir(&folder.path().join("a/b")).unwrap();
    for file in [folder.path().join("a/b/file"), PathBuf::from("file"), PathBuf::from("/file")] {
        sync_names(&file).unwrap();
    }
    if cfg!(unix) {
        assert!(sync_names(&folder.path().join("not/there")).is_err());
    }
}

/// Names can be created in such a folder, but it cannot be opened. An account that may open all folders takes the usual
/// way.
#[cfg(unix)]
#[test]
fn names_in_a_folder_that_cannot_be_read_are_synced() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o300)).unwrap();
    let synced = replace(&folder.path().join("file"), b"text");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    if cfg!(target_os = "linux") {
        synced.unwrap();
    }
}

#[cfg(unix)]
#[test]
fn what_a_killed_writer_left_behind_is_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let left = format!(".windlass-{:032x}.tmp", 1);
    let others = [".windlass-1.tmp", ".windlass-notes.tmp", "mine.tmp", &format!(".windlass-{:032x}.tmp.txt", 2)];
    fs::write(at(&left), "cut").unwrap();
    others.iter().for_each(|name| fs::write(at(name), "mine").unwrap());
    fs::create_dir(at(&format!(".windlass-{:032x}.tmp", 3))).unwrap();
    let living = AtomicFile::create(&at("target")).unwrap();
    assert_eq!(remove_left_behind(folder.path()).unwrap(), 1);
    assert!(!at(&left).exists() && others.iter().all(|name| at(name).exists()));
    living.replace().unwrap();
    assert!(at("target").exists());
    assert_eq!(remove_left_behind(folder.path()).unwrap(), 0);
}
