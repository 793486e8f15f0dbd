//! Disks that fail, and programs that are killed, while notes are written.

use std::path::Path;
use std::process::{Command, Stdio};
use windlass::memory::{MemoryDirectory, MemoryError, MemoryNote};
use windlass::session::Timestamp;
use windlass_testkit::strace::{self, Inside, Subject, inject};

/// Working directory of the program that is killed.
const PLACE: &str = "WINDLASS_MEMORY_PLACE";
/// Files that were opened and read before, so that a greater number means what is tested.
const BEFORE: usize = 8;

fn note(name: &str, content: &str) -> MemoryNote {
    let now = Timestamp::parse("2026-11-23T00:00:00Z").unwrap();
    MemoryNote::new(name.parse().unwrap(), None, &format!("About {name}"), &content.repeat(1_000), now).unwrap()
}

/// Changes one note, writes another one, and forgets a third.
fn work(memory: &MemoryDirectory) -> Vec<Result<(), MemoryError>> {
    let now = Timestamp::parse("2026-11-24T00:00:00Z").unwrap();
    let new = note("changed", "new");
    vec![
        memory.update(&new.name, now, |note| note.content.clone_from(&new.content)).map(drop),
        memory.add(&note("added", "x")),
        memory.forget(&"gone".parse().unwrap()),
    ]
}

fn prepared(place: &Path) -> MemoryDirectory {
    let memory = MemoryDirectory::at(place.join("memory"));
    for name in ["changed", "gone", "kept"] {
        memory.add(&note(name, "old")).unwrap();
    }
    memory
}

/// Each note is whole, the old one or the new one, the index lists what is there, and the next write succeeds.
fn check(memory: &MemoryDirectory, what: &str) {
    let notes = memory.list().unwrap();
    for note in &notes {
        let whole = ["old", "new", "x"].map(|content| content.repeat(1_000));
        assert!(whole.contains(&note.content), "{what}: {} is cut", note.name);
    }
    let kept = notes.iter().find(|note| note.name.as_str() == "kept");
    assert_eq!(kept.map(|note| note.content.len()), Some(3_000), "{what}");
    memory.add(&note("after", "x")).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut listed: Vec<String> = memory.entries().unwrap().0.iter().map(|entry| entry.name.to_string()).collect();
    listed.sort();
    let names: Vec<String> = memory.list().unwrap().iter().map(|note| note.name.to_string()).collect();
    assert_eq!(listed, names, "{what}");
    let left: Vec<String> = std::fs::read_dir(memory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{what}: {left:?}");
}

#[test]
#[ignore = "another test starts it, with faults"]
fn subject() {
    let Some(inside) = Inside::find() else { return };
    let memory = MemoryDirectory::at(inside.place().join("memory"));
    strace::open_and_read(BEFORE);
    inside.begin();
    let lines: Vec<String> = work(&memory)
        .into_iter()
        .map(|done| done.map_or_else(|error| error.to_string(), |()| "ok".to_owned()))
        .collect();
    inside.report(&lines.join("\n"));
}

#[test]
fn a_full_disk_cuts_no_note() {
    if !strace::is_available() {
        return;
    }
    for (call, error, places) in [
        ("write", "ENOSPC", 1..12),
        ("fsync", "ENOSPC", 1..12),
        ("renameat2", "EIO", 1..6),
        ("openat", "ENOSPC", BEFORE + 1..BEFORE + 10),
        ("unlink", "EIO", 1..30),
    ] {
        let (mut met, mut failed) = (0, 0);
        for when in places {
            let (place, what) = (tempfile::tempdir().unwrap(), format!("{error} at {call} {when}"));
            let memory = prepared(place.path());
            let subject = Subject::new("memory_faults::subject", place.path());
            if let Some(report) = subject.run(&inject(call, error, when), &what) {
                met += 1;
                failed += report.lines().filter(|line| *line != "ok").count();
            }
            check(&memory, &what);
        }
        assert!(met > 0 && failed > 0, "{call}: what is tested never met the fault");
    }
}

#[test]
#[ignore = "another test starts it, and kills it"]
fn killed() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    work(&MemoryDirectory::at(Path::new(&place).join("memory")));
    std::fs::write(Path::new(&place).join("survived"), "").unwrap();
}

#[test]
fn a_kill_cuts_no_note() {
    if !strace::is_available() {
        return;
    }
    let mut killed = 0;
    for (call, places) in [("fsync", 1..10), ("renameat2", 1..6), ("write", 1..8), ("unlink", 1..7)] {
        for when in places {
            let (place, what) = (tempfile::tempdir().unwrap(), format!("a kill at {call} {when}"));
            let memory = prepared(place.path());
            let status = Command::new("strace")
                .args(["-f", "-qq", "-o", "/dev/null", "-e"])
                .arg(format!("trace={call}"))
                .arg("-e")
                .arg(format!("inject={call}:signal=SIGKILL:when={when}"))
                .arg(std::env::current_exe().unwrap())
                .args(["--exact", "memory_faults::killed", "--ignored", "--test-threads=1"])
                .env(PLACE, place.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            status.unwrap();
            killed += usize::from(!place.path().join("survived").exists());
            check(&memory, &what);
        }
    }
    assert!(killed > 10, "{killed}");
}
