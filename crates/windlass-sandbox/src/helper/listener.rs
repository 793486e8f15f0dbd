//! Passing of a listener of the sandbox's own network to the host, which answers there as the proxy.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::{Failed, context};
use crate::policy::PROXY_PORT;

/// Hands a listener over to the host. It belongs to the network in which it was created, in whichever process it is
/// open, so no process has to run beside the program.
pub(super) fn hand_over(socket: &Path) -> Result<(), Failed> {
    let listener = TcpListener::bind(("127.0.0.1", PROXY_PORT)).map_err(context("listener"))?;
    send(socket, &listener).map_err(context("proxy"))
}

fn send(socket: &Path, listener: &TcpListener) -> io::Result<()> {
    let host = UnixStream::connect(socket)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut messages = SendAncillaryBuffer::new(&mut space);
    let descriptors = [listener.as_fd()];
    if !messages.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    sendmsg(&host, &[IoSlice::new(&[1])], &mut messages, SendFlags::NOSIGNAL)?;
    Ok(())
}
