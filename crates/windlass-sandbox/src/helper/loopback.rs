//! The loopback of a separate network, on which programs test their servers.

use std::io;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, sendto, socket};

/// `RTM_NEWLINK` of the kernel's routing messages.
const NEW_LINK: u16 = 16;
/// `NLM_F_REQUEST` and `NLM_F_ACK`: the message is a request that is to be answered.
const REQUEST_AND_ANSWER: u16 = 0x1 | 0x4;
/// `NLMSG_ERROR`, which also reports success.
const ANSWER: u16 = 2;
/// Index of the loopback, which is the first interface of each network.
const LOOPBACK: u32 = 1;
/// `IFF_UP`.
const UP: u32 = 1;

pub(super) fn up() -> io::Result<()> {
    // Routing is the first protocol of this family.
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    let mut message = Vec::new();
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ANSWER.to_ne_bytes());
    // Number of the message, and of the sender.
    message.extend(1_u32.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    // Family, padding, and kind of the interface, all unset.
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    // New flags, and the mask of the flags to change.
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0_u8; 512];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    let answer = answer.get(..length).unwrap_or_default();
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, code) {
        (Some(ANSWER), Some(0)) => Ok(()),
        (Some(ANSWER), Some(code)) => Err(io::Error::from_raw_os_error(code.saturating_neg())),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
