//! The host's end of the proxy: takes the listener of a sandbox and passes its connections on to the proxy.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tokio::io::Interest;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Passes the connections of one program on to the proxy until it is dropped: then no connection is left, and the
/// network of the sandbox is gone with the last of its processes.
#[derive(Debug)]
pub(crate) struct Bridge {
    task: JoinHandle<()>,
    socket: PathBuf,
    connections: Connections,
}

/// Addresses of the host's ends of the latest connections to the proxy.
type Connections = Arc<Mutex<VecDeque<SocketAddr>>>;

/// Maximum number of connections of one program whose addresses are kept.
const MOST_CONNECTIONS: usize = 4_096;

impl Bridge {
    /// Waits for a listener at a Unix socket that does not exist yet.
    ///
    /// # Errors
    /// Fails if the socket cannot be created.
    pub(crate) fn at(socket: &Path, proxy: SocketAddr) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        listener.set_nonblocking(true)?;
        let listener = tokio::net::UnixListener::from_std(listener)?;
        let connections = Connections::default();
        let made = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            if let Err(error) = serve(&listener, proxy, &made).await {
                tracing::warn!(%error, "a program in the sandbox does not reach the proxy");
            }
        });
        Ok(Self { task, socket: socket.to_owned(), connections })
    }

    /// Returns the path of the socket at which the helper hands in its listener.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Returns the addresses from which the proxy was reached for the program.
    pub(crate) fn connections(&self) -> Vec<SocketAddr> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.task.abort();
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Takes one listener, from the helper: no program runs before the helper has handed it in, and none can open a Unix
/// socket to hand in another unless the policy allows it.
async fn serve(socket: &tokio::net::UnixListener, proxy: SocketAddr, made: &Connections) -> io::Result<()> {
    let (helper, _) = socket.accept().await?;
    let listener: std::net::TcpListener = helper.async_io(Interest::READABLE, || take(&helper)).await?.into();
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let mut open = tokio::task::JoinSet::new();
    loop {
        let (mut program, _) = listener.accept().await?;
        let made = Arc::clone(made);
        open.spawn(async move {
            let mut proxy = TcpStream::connect(proxy).await?;
            // Noted before anything is sent, so that a refusal of the proxy can be assigned to its program.
            note(&made, proxy.local_addr()?);
            tokio::io::copy_bidirectional(&mut program, &mut proxy).await
        });
        while open.try_join_next().is_some() {}
    }
}

fn note(connections: &Connections, address: SocketAddr) {
    let mut connections = connections.lock().unwrap_or_else(PoisonError::into_inner);
    if connections.len() >= MOST_CONNECTIONS {
        connections.pop_front();
    }
    connections.push_back(address);
}

fn take(helper: &tokio::net::UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut messages = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0; 1];
    recvmsg(helper, &mut [IoSliceMut::new(&mut byte)], &mut messages, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = messages.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    descriptors.next().and_then(|mut all| all.next()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
