//! Admission of requests.

use std::{borrow::Cow, net::SocketAddr};

use hyper::{
    Method, Uri,
    header::{AUTHORIZATION, HOST, HeaderMap, HeaderValue, ORIGIN},
    http::request::Parts,
};
use memchr::memmem;

use super::{
    credential::API_KEY,
    header::{OverriddenPart, overridden, overrides_method},
    nonce::Nonce,
};

/// Prefix of all forwarded paths.
const ROOT: &str = "/v1/";

/// Allowed methods. TRACE would show the credential; OPTIONS and CONNECT are not part of this API.
const METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Reason why a request is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GateRefusal {
    /// The request is for another host, or for a proxy of another kind.
    Elsewhere,
    /// A page in a browser made the request.
    Browser,
    /// The request does not show the nonce, or also shows another credential.
    Nonce,
    Method,
    Path,
}

pub(super) struct ProxyGate {
    hosts: [String; 2],
    nonce: Nonce,
}

impl ProxyGate {
    pub(super) fn new(address: SocketAddr, nonce: Nonce) -> Self {
        Self { hosts: [address.to_string(), format!("localhost:{}", address.port())], nonce }
    }

    pub(super) fn admit(&self, request: &Parts) -> Result<(), GateRefusal> {
        // A name that resolves to a loopback address must not reach the proxy, nor a request for another server.
        if request.uri.authority().is_some() || !self.is_addressed(&request.headers) {
            return Err(GateRefusal::Elsewhere);
        }
        if request.headers.contains_key(ORIGIN) {
            return Err(GateRefusal::Browser);
        }
        if !self.shows_nonce(&request.headers) {
            return Err(GateRefusal::Nonce);
        }
        if !METHODS.contains(&request.method) {
            return Err(GateRefusal::Method);
        }
        if !self.may_forward(&request.uri) {
            return Err(GateRefusal::Path);
        }
        let mut overriding = request.headers.keys().filter_map(overridden);
        match overriding.next() {
            Some(OverriddenPart::Method) => Err(GateRefusal::Method),
            Some(OverriddenPart::Path) => Err(GateRefusal::Path),
            None if request.uri.query().is_some_and(overrides_method) => Err(GateRefusal::Method),
            None => Ok(()),
        }
    }

    /// `true` if a text shows the nonce.
    pub(super) fn shown_in(&self, text: &[u8]) -> bool {
        memmem::find(text, self.nonce.text().as_bytes()).is_some()
    }

    fn is_addressed(&self, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(HOST).iter();
        let host = named.next().map(HeaderValue::as_bytes).unwrap_or_default();
        named.next().is_none() && self.hosts.iter().any(|known| host.eq_ignore_ascii_case(known.as_bytes()))
    }

    /// `true` if there is a shown credential, and each one is the nonce.
    fn shows_nonce(&self, headers: &HeaderMap) -> bool {
        let keys = headers.get_all(API_KEY).iter().map(|key| Some(key.as_bytes()));
        let tokens = headers.get_all(AUTHORIZATION).iter().map(|token| bearer(token.as_bytes()));
        let mut matches = 0;
        let right = keys.chain(tokens).all(|credential| {
            matches += 1;
            credential.is_some_and(|credential| self.nonce.is(credential))
        });
        right && matches > 0
    }

    fn may_forward(&self, uri: &Uri) -> bool {
        let path = uri.path().strip_prefix(ROOT);
        let is_plain_path = path.is_some_and(|path| path.split('/').all(is_plain));
        is_plain_path && uri.query().is_none_or(|query| !self.shown_in(query.as_bytes()))
    }
}

fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}

/// `true` if a path segment has a form that every reader understands in the same way. Paths of the API need no other
/// characters, and no encoded ones except the brackets behind the name of a model.
fn is_plain(segment: &str) -> bool {
    let bare = without_brackets(segment);
    let mut bytes = bare.bytes();
    let fine = bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-._~:@".contains(&byte));
    // Some readers drop a trailing dot, and some hide names that begin with one.
    fine && !bare.is_empty() && !segment.starts_with('.') && !segment.ends_with('.')
}

/// Returns the segment without encoded brackets.
fn without_brackets(segment: &str) -> Cow<'_, str> {
    if !segment.contains('%') {
        return Cow::Borrowed(segment);
    }
    let brackets = ["%5B", "%5b", "%5D", "%5d"];
    Cow::Owned(brackets.iter().fold(segment.to_owned(), |segment, bracket| segment.replace(bracket, "-")))
}

#[cfg(test)]
mod tests;
