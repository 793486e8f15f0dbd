//! Messages of the other side: one JSON object per line.

mod control;
#[cfg(feature = "server")]
mod inbound;
mod line;
#[cfg(feature = "server")]
mod user;

pub(crate) use control::Control;
#[cfg(feature = "server")]
pub(crate) use control::LineType;
#[cfg(feature = "server")]
pub(crate) use inbound::Inbound;
pub(crate) use line::{LineError, LineReader};
#[cfg(feature = "server")]
pub(crate) use user::HostPrompt;
