//! Writes that are killed in the middle, and writes on a full disk: a file is the old one or the new one.
//!
//! `WINDLASS_KILLS` sets how often a process is killed, 20 by default.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use windlass_local::{LocalWorkspace, TemporaryFiles};

use crate::files::session::Session;

const PLACE: &str = "WINDLASS_TEST_TORN_PLACE";

/// The file of a round: its number on each line, and so many lines that no other round has as many.
fn version(number: u64) -> String {
    format!("{number:08}\n").repeat(lines(number))
}

fn lines(number: u64) -> usize {
    usize::try_from(1 + number * 7919 % 10_000).unwrap()
}

/// The number of the version that a file is, if it is a whole one.
fn number_of(content: &str) -> Option<u64> {
    let number = content.get(..8)?.parse().ok()?;
    (content == version(number)).then_some(number)
}

/// Not a test: the process that is killed.
#[tokio::test]
#[ignore = "run by the test below"]
async fn writer() {
    let Some(place) = env::var_os(PLACE).map(PathBuf::from) else { return };
    let lists = TemporaryFiles::in_folder(place.with_file_name("lists"));
    let session = Session::over(LocalWorkspace::new().with_temporary_files(lists), &place);
    session.read("file").await;
    let mut number = number_of(&fs::read_to_string(place.join("file")).unwrap()).unwrap();
    loop {
        number += 1;
        println!("\nwrites");
        if number.is_multiple_of(2) {
            session.write("file", &version(number)).await.unwrap();
            continue;
        }
        // One edit of all lines, and one that adds and takes away.
        let (old, new) = (version(number - 1), version(number));
        session.edit("file", &old, &new).await.unwrap();
    }
}

#[test]
fn a_write_that_is_killed_leaves_the_old_or_the_new() {
    let folder = tempfile::tempdir().unwrap();
    let (place, lists) = (folder.path().canonicalize().unwrap().join("work"), folder.path().join("lists"));
    fs::create_dir(&place).unwrap();
    let file = place.join("file");
    fs::write(&file, version(0)).unwrap();
    let rounds: u64 = env::var("WINDLASS_KILLS").map_or(20, |number| number.parse().unwrap());
    let (mut last, mut left) = (0, 0);
    for round in 0..rounds {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["files::torn::writer", "--exact", "--ignored", "--nocapture"])
            .env(PLACE, &place)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // In another write each time, and at another point of it; where that is does not matter.
        for _ in 0..2 + round % 3 {
            assert!(lines.by_ref().any(|line| line.unwrap() == "writes"), "the writer ended: round {round}");
        }
        std::thread::sleep(Duration::from_micros(round * 2_741 % 20_000));
        assert_eq!(TemporaryFiles::remove_left_behind(&lists).unwrap(), 0, "its writer lives");
        child.kill().unwrap();
        child.wait().unwrap();
        let content = fs::read_to_string(&file).unwrap();
        let number =
            number_of(&content).unwrap_or_else(|| panic!("round {round}: a mixture of {} bytes", content.len()));
        // The first write had ended when the second began.
        assert!(number > last, "round {round}: version {number} after {last}");
        last = number;
        let others: Vec<_> = others(&place);
        assert!(others.len() <= 1, "a killed write leaves at most its own temporary file: {others:?}");
        left += others.len();
        // A file of the same kind that nobody has listed may be anyone's.
        let stranger = place.join(format!(".{:032x}.tmp", 7));
        fs::write(&stranger, "").unwrap();
        assert_eq!(TemporaryFiles::remove_left_behind(&lists).unwrap(), others.len());
        fs::remove_file(&stranger).unwrap();
        assert!(self::others(&place).is_empty() && fs::read_dir(&lists).unwrap().next().is_none());
    }
    println!("{rounds} processes killed, {last} versions written, 0 mixtures, {left} temporary files removed");
}

fn others(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap() != "file" && path.file_name().unwrap() != "ballast").collect()
}

/// Not a test: what happens on a disk that is full.
#[tokio::test]
#[ignore = "run by the test below"]
async fn on_a_full_disk() {
    let Some(place) = env::var_os(PLACE).map(PathBuf::from) else { return };
    let session = Session::over(LocalWorkspace::new(), &place);
    let old = "old\n".repeat(1000);
    fs::write(place.join("file"), &old).unwrap();
    session.read("file").await;
    let large = "x".repeat(700 * 1024);
    let check = |outcome: Result<String, String>| {
        let error = outcome.unwrap_err();
        assert!(error.contains("space"), "{error}");
        assert_eq!(fs::read_to_string(place.join("file")).unwrap(), old);
        assert!(others(&place).is_empty());
    };
    check(session.write("file", &large).await);
    let edited = old.replacen("old", &large, 1);
    check(session.edit("file", &old, &edited).await);
    assert!(session.write("new", &large).await.is_err());
    assert!(others(&place).is_empty());
    // Room again.
    fs::remove_file(place.join("ballast")).unwrap();
    session.write("file", &large).await.unwrap();
    assert_eq!(fs::read_to_string(place.join("file")).unwrap(), large);
    println!("done");
}

#[test]
fn a_full_disk_leaves_the_old() {
    // A small file system of our own needs rights that not everybody has.
    let mounted = |script: &str| Command::new("unshare").args(["-rm", "sh", "-c", script]).output();
    if !mounted("mount -t tmpfs none /mnt").is_ok_and(|output| output.status.success()) {
        windlass_testkit::skipped("unshare, and the right to mount a file system in a namespace of its own");
        return;
    }
    let script = format!(
        "mount -t tmpfs -o size=1m none /mnt && dd if=/dev/zero of=/mnt/ballast bs=1k count=700 2>/dev/null && \
         {PLACE}=/mnt exec {:?} files::torn::on_a_full_disk --exact --ignored --nocapture",
        env::current_exe().unwrap()
    );
    let output = mounted(&script).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("done"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
