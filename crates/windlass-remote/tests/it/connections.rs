//! Connections that fail, and those that end.

use std::path::Path;

use windlass_remote::{ConnectError, Remote, Transport};
use windlass_tool::{JudgedPath, Permit, Workspace as _, WorkspaceErrorKind, WriteOptions};
use windlass_types::CallDigest;

use super::{docker, ssh};

#[tokio::test]
async fn what_cannot_be_reached_says_why() {
    for (transport, why) in [
        (ssh("nowhere"), "Could not resolve hostname"),
        (docker("gone"), "No such container"),
        (Transport::ssh("host").with_program("/no/such/ssh"), "could not be started"),
    ] {
        let error = Remote::connect(transport).await.unwrap_err();
        assert!(matches!(error, ConnectError::Lost(_)), "{error:?}");
        assert!(error.to_string().contains(why), "{error}");
    }
    let error = Remote::connect(Transport::ssh("-oProxyCommand=id")).await.unwrap_err();
    assert!(matches!(error, ConnectError::Unusable(_)), "{error:?}");
}

#[tokio::test]
async fn a_place_without_programs_cannot_be_worked_with() {
    let error = Remote::connect(ssh("broken")).await.unwrap_err();
    assert!(matches!(error, ConnectError::Missing { .. } | ConnectError::Lost(_)), "{error:?}");
}

/// A transport whose shells write their process numbers to a file.
fn known(numbers: &Path) -> Transport {
    let words = ["-c", "echo $$ >>\"$0\"; exec \"$@\"", numbers.to_str().unwrap()];
    Transport::program("/bin/sh", words).with_connect_time(std::time::Duration::from_secs(120))
}

/// Ends all shells begun so far, like a broken network, and waits until they are gone.
fn break_all(numbers: &Path) {
    let text = std::fs::read_to_string(numbers).unwrap();
    for number in text.lines() {
        let stat = format!("/proc/{number}/stat");
        let lives = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
        if lives() {
            assert!(std::process::Command::new("kill").args(["-KILL", number]).status().unwrap().success());
        }
        while lives() {
            std::thread::yield_now();
        }
    }
    std::fs::write(numbers, "").unwrap();
}

#[tokio::test]
async fn a_connection_that_is_lost_while_it_waits_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (numbers, file) = (folder.path().join("numbers"), folder.path().canonicalize().unwrap().join("file"));
    let far = Remote::connect(known(&numbers)).await.unwrap();
    let files = far.workspace();
    let permit = Permit::new(CallDigest::new("00")).with_writes(vec![JudgedPath::new(&file, &file)]);
    for content in ["one", "two"] {
        break_all(&numbers);
        assert_eq!(files.resolve(&file).await.unwrap().path, file);
        break_all(&numbers);
        files.write(&permit, &file, content.as_bytes(), WriteOptions::default()).await.unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
    }
}

#[tokio::test]
async fn a_connection_that_is_lost_in_the_middle_is_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let (numbers, file) = (folder.path().join("numbers"), folder.path().canonicalize().unwrap().join("file"));
    std::fs::write(&file, vec![b'x'; 3_000_000]).unwrap();
    let far = Remote::connect(known(&numbers)).await.unwrap();
    let permit = Permit::new(CallDigest::new("00")).with_reads(vec![JudgedPath::new(&file, &file)]);
    let mut open = far.workspace().open(&permit, &file).await.unwrap();
    let mut read = open.read(usize::MAX).await.unwrap().len();
    break_all(&numbers);
    let error = loop {
        match open.read(usize::MAX).await {
            Ok(part) => {
                assert!(!part.is_empty(), "a file that broke off must not look like one that has ended");
                read += part.len();
            }
            Err(error) => break error,
        }
    };
    assert!(read < 3_000_000);
    assert_eq!(error.kind, WorkspaceErrorKind::ConnectionLost, "{error}");
    assert!(std::error::Error::source(&error).is_some_and(|source| source.is::<windlass_remote::ConnectionLost>()));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_does_not_connect_is_ended_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let number = folder.path().join("number");
    let words = ["-c", "echo $$ >\"$0.new\"; mv \"$0.new\" \"$0\"; exec sleep 600", number.to_str().unwrap()];
    let deaf = || Transport::program("/bin/sh", words).with_connect_time(std::time::Duration::from_secs(120));
    let connecting = tokio::spawn(Remote::connect(deaf()));
    while !number.exists() {
        tokio::task::yield_now().await;
    }
    let stat = format!("/proc/{}/stat", std::fs::read_to_string(&number).unwrap().trim());
    connecting.abort();
    assert!(connecting.await.unwrap_err().is_cancelled());
    // A test that waits for as long as this never ends has failed.
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn no_answer_is_an_error_of_its_own_kind() {
    let silent = Transport::program("/bin/sh", ["-c", "exec sleep 600"]);
    let error = Remote::connect(silent.with_connect_time(std::time::Duration::from_millis(200))).await.unwrap_err();
    assert!(matches!(&error, ConnectError::Lost(_)), "{error:?}");
    let far = Remote::connect(ssh("host")).await.unwrap();
    let error = far.workspace().resolve(Path::new("relative")).await.unwrap_err();
    assert_ne!(error.kind, WorkspaceErrorKind::ConnectionLost);
}

#[tokio::test]
async fn a_place_says_where_programs_begin_and_what_it_is() {
    for (far, name) in super::remotes().await.iter().zip(["ssh:noisy", "docker:web"]) {
        assert_eq!((far.start(), far.name().as_str()), (Some(Path::new("/")), name));
        assert!(!far.environment().iter().any(|(name, _)| name == "PWD"), "each program has its own");
    }
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().canonicalize().unwrap().join("a\nb \n");
    std::fs::create_dir(&odd).unwrap();
    let there = Transport::program("/bin/sh", ["-c", "cd \"$0\" && exec \"$@\"", odd.to_str().unwrap()]);
    let far = Remote::connect(there.with_connect_time(std::time::Duration::from_secs(120))).await.unwrap();
    assert_eq!(far.start(), Some(odd.as_path()));
    assert!(far.name().starts_with("program:/bin/sh -c"), "{}", far.name());
}
