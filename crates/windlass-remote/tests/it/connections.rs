//! Connections that do not come up, and those that end.

use std::path::Path;

use windlass_remote::{ConnectError, Remote, Transport};
use windlass_tool::{Workspace as _, WorkspaceErrorKind};

use super::{docker, fake, ssh};

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

#[tokio::test]
async fn a_connection_that_is_lost_while_it_waits_is_made_anew() {
    let far = Remote::connect(Transport::program(fake("docker"), ["exec", "-i", "web"])).await.unwrap();
    let files = far.workspace();
    assert!(files.resolve(Path::new("/usr/bin")).await.is_ok());
    // The shell that waits ends itself: the next request begins another one.
    let lost = files.resolve(Path::new("/\n")).await;
    assert!(lost.is_ok(), "{lost:?}");
    assert!(files.resolve(Path::new("/usr/bin")).await.is_ok());
}

#[tokio::test]
async fn no_answer_is_an_error_of_its_own_kind() {
    let silent = Transport::program("/bin/sh", ["-c", "exec sleep 600"]);
    let error = Remote::connect(silent.with_connect_time(std::time::Duration::from_millis(200))).await.unwrap_err();
    assert!(matches!(&error, ConnectError::Lost(_)), "{error:?}");
    let far = Remote::connect(ssh("host")).await.unwrap();
    let missing = far.workspace().resolve(Path::new("relative")).await;
    assert_ne!(missing.err().map(|error| error.kind), Some(WorkspaceErrorKind::ConnectionLost));
}
