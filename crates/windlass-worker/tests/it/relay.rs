//! A relay between a worker and the server, which can be slow or hang.

use crate::server::Server;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// Name of the socket that clients expect in a directory.
const SOCKET: &str = ".s.PGSQL.5432";

/// Behaviour of a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Each answer of the server is this late.
    Late(Duration),
    /// Nothing passes.
    Hangs,
}

/// A relay. It ends with the runtime.
#[derive(Debug)]
pub(crate) struct Relay {
    directory: tempfile::TempDir,
    pace: watch::Sender<Pace>,
}

impl Relay {
    pub(crate) fn start(server: &Server, pace: Pace) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join(SOCKET)).unwrap();
        let (pace, paces) = watch::channel(pace);
        // The address begins with the directory of the server.
        let address = server.address("", "");
        let socket = address.split_whitespace().next().unwrap().trim_start_matches("host=");
        tokio::spawn(accept(listener, PathBuf::from(socket).join(SOCKET), paces));
        Self { directory, pace }
    }

    /// Returns the address of a database behind the relay.
    pub(crate) fn address(&self, role: &str, database: &str) -> String {
        format!("host={} user={role} dbname={database}", self.directory.path().display())
    }

    pub(crate) fn set(&self, pace: Pace) {
        self.pace.send_replace(pace);
    }
}

async fn accept(listener: UnixListener, socket: PathBuf, pace: watch::Receiver<Pace>) {
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = UnixStream::connect(&socket).await else { continue };
        let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
        tokio::spawn(pass(from_client, to_server, pace.clone(), false));
        tokio::spawn(pass(from_server, to_client, pace.clone(), true));
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut pace: watch::Receiver<Pace>, is_answer: bool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let Ok(now) = pace.wait_for(|pace| *pace != Pace::Hangs).await.map(|pace| *pace) else { return };
        if let (Pace::Late(delay), true) = (now, is_answer) {
            tokio::time::sleep(delay).await;
        }
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}
