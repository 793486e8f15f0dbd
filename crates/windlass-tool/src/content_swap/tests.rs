use super::*;
use std::fs;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

struct Place {
    folder: tempfile::TempDir,
    open: File,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let open = File::open(folder.path()).unwrap();
        let place = Self { folder, open };
        fs::write(place.at("file"), "old").unwrap();
        fs::write(place.at("new"), "ours").unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.at(name)).ok()
    }

    fn replace(&self, compared: impl FnOnce()) -> io::Result<()> {
        let (new, file) = (OsStr::new("new"), OsStr::new("file"));
        SwapFolder::new(self.open.as_fd()).replace_with(new, file, b"old", compared)
    }

    fn remove(&self, compared: impl FnOnce()) -> io::Result<()> {
        let (file, aside) = (OsStr::new("file"), OsStr::new("aside"));
        SwapFolder::new(self.open.as_fd()).remove_with(file, aside, b"old", compared)
    }
}

/// Changes a file like another program that writes a new file and renames it.
fn rename_over(path: &Path) {
    fs::write(path.with_extension("other"), "theirs").unwrap();
    fs::rename(path.with_extension("other"), path).unwrap();
}

/// Changes a file like another program that writes into it.
fn write_into(path: &Path) {
    fs::write(path, "theirs").unwrap();
}

#[test]
fn what_is_expected_is_replaced_and_removed() {
    let place = Place::new();
    place.replace(|| ()).unwrap();
    assert_eq!(place.text("file").as_deref(), Some("ours"));
    let place = Place::new();
    place.remove(|| ()).unwrap();
    assert_eq!((place.text("file"), place.text("aside")), (None, None));
}

#[test]
fn a_change_before_the_comparison_stays() {
    for change in [rename_over, write_into] {
        let place = Place::new();
        change(&place.at("file"));
        assert!(ContentChanged::is(&place.replace(|| ()).unwrap_err()));
        assert!(ContentChanged::is(&place.remove(|| ()).unwrap_err()));
        assert_eq!(place.text("file").as_deref(), Some("theirs"));
        assert_eq!(place.text("new").as_deref(), Some("ours"), "to be removed by the caller");
    }
    let place = Place::new();
    fs::remove_file(place.at("file")).unwrap();
    assert!(ContentChanged::is(&place.replace(|| ()).unwrap_err()));
    assert_eq!(place.text("file"), None);
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
#[test]
fn a_change_behind_the_comparison_stays_as_well() {
    for change in [rename_over, write_into] {
        let place = Place::new();
        assert!(ContentChanged::is(&place.replace(|| change(&place.at("file"))).unwrap_err()));
        assert_eq!((place.text("file").as_deref(), place.text("new").as_deref()), (Some("theirs"), Some("ours")));
        let place = Place::new();
        assert!(ContentChanged::is(&place.remove(|| change(&place.at("file"))).unwrap_err()));
        assert_eq!((place.text("file").as_deref(), place.text("aside")), (Some("theirs"), None));
    }
    let place = Place::new();
    assert!(ContentChanged::is(&place.replace(|| fs::remove_file(place.at("file")).unwrap()).unwrap_err()));
    assert_eq!(place.text("file"), None);
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
#[test]
fn whatever_came_in_the_place_of_the_file_stays_there() {
    let changes: [fn(&Path); 2] = [
        |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir_all(path.join("below")).unwrap();
        },
        |path| {
            fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("elsewhere", path).unwrap();
        },
    ];
    for change in changes {
        for (at, place) in [Place::new(), Place::new()].into_iter().enumerate() {
            let compared = || change(&place.at("file"));
            let refused = if at == 0 { place.replace(compared) } else { place.remove(compared) };
            assert!(ContentChanged::is(&refused.unwrap_err()));
            let kind = place.at("file").symlink_metadata().unwrap().file_type();
            assert!(kind.is_dir() || kind.is_symlink(), "{kind:?}");
            assert_eq!((place.text("new").as_deref(), place.at("aside").exists()), (Some("ours"), false));
        }
    }
}

#[test]
fn the_same_length_is_not_the_same_content() {
    let place = Place::new();
    fs::write(place.at("file"), "odd").unwrap();
    assert!(ContentChanged::is(&place.replace(|| ()).unwrap_err()));
    let folder = SwapFolder::new(place.open.as_fd());
    fs::write(place.at("file"), "").unwrap();
    folder.replace(OsStr::new("new"), OsStr::new("file"), b"").unwrap();
    assert_eq!(place.text("file").as_deref(), Some("ours"));
}

#[test]
fn links_and_pipes_are_no_content() {
    let place = Place::new();
    fs::rename(place.at("file"), place.at("target")).unwrap();
    std::os::unix::fs::symlink("target", place.at("file")).unwrap();
    place.replace(|| ()).unwrap_err();
    assert_eq!(place.text("target").as_deref(), Some("old"));
    fs::remove_file(place.at("file")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(place.at("file")).status().unwrap().success());
    assert!(ContentChanged::is(&place.replace(|| ()).unwrap_err()));
}

#[test]
fn a_lock_of_another_program_does_not_keep_the_file_from_being_changed() {
    let place = Place::new();
    let held = File::open(place.at("file")).unwrap();
    held.lock().unwrap();
    place.replace(|| ()).unwrap();
    assert_eq!(place.text("file").as_deref(), Some("ours"));
}
