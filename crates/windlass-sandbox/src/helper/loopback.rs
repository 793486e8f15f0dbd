//! Loopback interface of a separate network namespace, on which sandboxed programs test their servers.

use std::io;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, sendto, socket};

/// Routing message that changes an interface.
const RTM_NEWLINK: u16 = 16;
/// `NLM_F_REQUEST` and `NLM_F_ACK`: the message is a request that the kernel acknowledges.
const REQUEST_WITH_ACK: u16 = 0x1 | 0x4;
/// Type of the kernel's acknowledgement. Code 0 in it means success.
const NLMSG_ERROR: u16 = 2;
/// Index of the loopback interface, which is the first of each network.
const LOOPBACK_INDEX: u32 = 1;
/// Flag of an active interface.
const IFF_UP: u32 = 1;

/// Activates the loopback interface of the current network namespace.
pub(super) fn up() -> io::Result<()> {
    // `None` selects protocol 0, which is `NETLINK_ROUTE`.
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    let mut message = Vec::new();
    // Length of the whole message.
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(REQUEST_WITH_ACK.to_ne_bytes());
    // Sequence number of the message, and port id of the sender.
    message.extend(1_u32.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    // Address family, padding and interface type, all zero.
    message.extend([0; 4]);
    message.extend(LOOPBACK_INDEX.to_ne_bytes());
    // New flags, and the mask of the flags to change.
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0_u8; 512];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    let answer = answer.get(..length).unwrap_or_default();
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, code) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(code)) => Err(io::Error::from_raw_os_error(code.saturating_neg())),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
