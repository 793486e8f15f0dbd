//! Token that a program has to show.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{HeaderMap, PROXY_AUTHORIZATION};
use subtle::ConstantTimeEq as _;
use windlass_tool::Ids;

/// User name, because a token alone does not fit into proxy addresses.
pub(super) const USER: &str = "windlass";

/// Token of 256 random bits, as text. Its debug form does not show them.
#[derive(Clone)]
pub(super) struct ProxyToken {
    text: String,
    header: String,
}

impl ProxyToken {
    pub(super) fn new(ids: &dyn Ids) -> Self {
        let text = format!("{:032x}{:032x}", ids.bits(), ids.bits());
        let header = STANDARD.encode(format!("{USER}:{text}"));
        Self { text, header }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// `true` if a request shows the token exactly once. The comparison takes the same time wherever the first
    /// difference is.
    pub(super) fn is_shown(&self, headers: &HeaderMap) -> bool {
        let mut shown = headers.get_all(PROXY_AUTHORIZATION).iter();
        let (Some(value), None) = (shown.next(), shown.next()) else { return false };
        let Some((scheme, value)) = value.to_str().ok().and_then(|value| value.split_once(' ')) else { return false };
        scheme.eq_ignore_ascii_case("basic") && self.header.as_bytes().ct_eq(value.trim().as_bytes()).into()
    }
}

impl fmt::Debug for ProxyToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[token]")
    }
}
