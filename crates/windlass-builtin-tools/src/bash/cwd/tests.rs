use super::*;

#[test]
fn bash_reports_the_directory_through_any_file_name() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("it's \"odd\" $HOME `x` \\n\n");
    std::fs::create_dir(&folder).unwrap();
    let file = CwdFile::create(&folder, 7, b"").unwrap();
    assert_eq!(file.reported(), None);
    let output = std::process::Command::new("bash")
        .args(["--noprofile", "--norc", "-c", "--", "cd \"$1\"; echo \"${BASH_ENV-none}\"; exit 3", "bash"])
        .arg(&folder)
        .env("BASH_ENV", file.bash_env())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "none\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(file.reported(), Some(folder.canonicalize().unwrap()));
    let path = file.file.path().to_owned();
    drop(file);
    assert!(!path.exists());
}

#[test]
fn a_file_that_is_there_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let first = CwdFile::create(dir.path(), 7, b"").unwrap();
    assert!(CwdFile::create(dir.path(), 7, b"").is_err());
    assert!(first.file.path().exists());
}
