#![cfg(unix)]

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Names the file that [`holder`] locks.
const FILE: &str = "WINDLASS_LOCK_TEST";

/// Starts a program that has the file, like one that is just being started.
fn program(held: &Locked) -> Child {
    Command::new("sleep").arg("600").stdin(Stdio::from(held.try_clone().unwrap())).spawn().unwrap()
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn in_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    (folder, path)
}

#[test]
fn a_lock_ends_with_its_holder_whatever_programs_have_the_file() {
    let (_folder, path) = in_folder();
    let held = Locked::open(&path, true).unwrap();
    let child = program(&held);
    drop(held);
    let again = Locked::open(&path, false);
    end(child);
    assert!(again.is_ok(), "{again:?}");
}

#[test]
fn a_lock_that_is_held_is_refused_and_its_holder_named() {
    let (_folder, path) = in_folder();
    let _held = Locked::open(&path, true).unwrap();
    let Err(LockError::Held(who)) = Locked::open(&path, false) else { panic!("it is held") };
    if cfg!(target_os = "linux") {
        assert_eq!(who.to_string(), format!("this process ({})", std::process::id()));
    }
}

/// Runs in a process of its own: locks the file, reports that, and starts a program that has the file.
#[test]
#[ignore = "a part of other tests"]
fn holder_of_the_lock() {
    let held = Locked::open(&PathBuf::from(std::env::var_os(FILE).unwrap()), true).unwrap();
    let mut child = program(&held);
    println!("\nheld by {}", child.id());
    io::stdout().flush().unwrap();
    let _ = child.wait();
}

/// Starts a process that holds the lock, and a program that has the file too.
fn other_process(path: &Path) -> (Child, u32) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["lock::tests::holder_of_the_lock", "--exact", "--ignored", "--nocapture"])
        .env(FILE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let held = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("held by ")?.parse().ok());
    (child, held.unwrap())
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

#[test]
fn another_process_is_refused_at_once() {
    let (_folder, path) = in_folder();
    let (child, program) = other_process(&path);
    let holder = holder(&File::open(&path).unwrap());
    let refused = Locked::open(&path, false);
    let pid = child.id();
    end(child);
    kill(program);
    let Err(LockError::Held(who)) = refused else { panic!("{refused:?}") };
    let who = who.to_string();
    if cfg!(target_os = "linux") {
        assert_eq!((holder, max_retries(holder)), (Holder::Other(pid), 0));
        assert_eq!(who.to_string(), format!("process {pid}"));
    }
}

#[test]
fn a_killed_process_leaves_a_lock_no_longer_than_what_it_was_starting() {
    let (_folder, path) = in_folder();
    let (child, program) = other_process(&path);
    end(child);
    let file = File::open(&path).unwrap();
    assert!(file.try_lock().is_err(), "the program holds it");
    if cfg!(target_os = "linux") {
        assert_eq!(holder(&file), Holder::NoOne);
    }
    // The wait covers that time.
    assert_eq!(private_file::LOCK_PAUSE * max_retries(holder(&file)), Duration::from_secs(1));
    kill(program);
    // A killed process ends after its signal, not at once.
    let locked = (0..).find_map(|_| Locked::open(&path, false).ok());
    assert!(locked.is_some());
}

#[test]
fn a_file_that_was_removed_before_it_was_locked_is_opened_anew() {
    let (_folder, path) = in_folder();
    let held = Locked::open(&path, true).unwrap();
    let waiting = path.clone();
    let second = std::thread::spawn(move || {
        loop {
            match Locked::open(&waiting, true) {
                Err(LockError::Held(_)) => {}
                locked => return locked.map(|mut file| file.write_all(b"second").unwrap()),
            }
        }
    });
    std::fs::remove_file(&path).unwrap();
    drop(held);
    second.join().unwrap().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"second");
}

#[test]
fn a_folder_is_removed_by_who_is_alone_in_it() {
    let (folder, _) = in_folder();
    let (one, two) = (LockedFolder::kept(folder.path()).unwrap(), LockedFolder::kept(folder.path()).unwrap());
    assert!(one.is_some() && two.is_some());
    drop((one, two));
    let alone = LockedFolder::alone(folder.path()).unwrap();
    assert!(alone.is_some());
    assert!(matches!(LockedFolder::kept(folder.path()), Err(LockError::Held(_))));
    std::fs::remove_dir(folder.path()).unwrap();
    drop(alone);
    assert!(LockedFolder::kept(folder.path()).unwrap().is_none());
}
