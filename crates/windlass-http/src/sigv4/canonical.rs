//! Steps from a request to its signature, in the order of the vendor's page on signing.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use windlass_types::Timestamp;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Signed parts of a request.
pub(super) struct Signed<'a> {
    pub(super) method: &'a str,
    /// Path and query as they are sent.
    pub(super) path_and_query: &'a str,
    /// Headers with lower-case names, `host` included.
    pub(super) headers: Vec<(&'a str, &'a [u8])>,
    pub(super) body: &'a [u8],
    /// Time in the form of [`time`].
    pub(super) time: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
}

/// Data that a key signs for a request.
pub(super) struct Signature {
    scope: [String; 4],
    names: String,
    text: String,
}

/// Formats a time for signatures: `20150830T123600Z`.
pub(super) fn time(at: Timestamp) -> String {
    let whole = at.to_string();
    let seconds = whole.split(['.', 'Z']).next().unwrap_or_default();
    let mut text: String = seconds.chars().filter(|char| !matches!(char, '-' | ':')).collect();
    text.push('Z');
    text
}

impl Signature {
    pub(super) fn of(request: &Signed<'_>) -> Self {
        let (headers, names) = headers(&request.headers);
        let canonical = canonical(request, &headers, &names);
        let date = request.time.split('T').next().unwrap_or_default();
        let scope = [date, request.region, request.service, "aws4_request"].map(str::to_owned);
        let text = format!("{ALGORITHM}\n{}\n{}\n{}", request.time, scope.join("/"), digest(canonical.as_bytes()));
        Self { scope, names, text }
    }

    /// Returns the value of the header `authorization`.
    pub(super) fn header(&self, access_key_id: &str, secret: &str) -> String {
        let first = format!("AWS4{secret}").into_bytes();
        let key = self.scope.iter().fold(first, |key, part| mac(&key, part.as_bytes()));
        let signature = hex(&mac(&key, self.text.as_bytes()));
        let (scope, names) = (self.scope.join("/"), &self.names);
        format!("{ALGORITHM} Credential={access_key_id}/{scope}, SignedHeaders={names}, Signature={signature}")
    }
}

fn canonical(request: &Signed<'_>, headers: &str, names: &str) -> String {
    let (path, query) = request.path_and_query.split_once('?').unwrap_or((request.path_and_query, ""));
    let mut uri = String::new();
    // All services but S3 require the path to be encoded once more than it is sent.
    encode(if path.is_empty() { "/" } else { path }, &mut uri);
    let mut pairs: Vec<(&str, &str)> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .collect();
    pairs.sort_unstable();
    let query = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&");
    let body = digest(request.body);
    format!("{}\n{uri}\n{query}\n{headers}\n{names}\n{body}", request.method)
}

/// Returns the headers, one per line, and their names. Values of one name are joined, in their order.
fn headers(headers: &[(&str, &[u8])]) -> (String, String) {
    let mut sorted: Vec<_> = headers.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    let (mut lines, mut names): (String, Vec<&str>) = (String::new(), Vec::new());
    for (name, value) in sorted {
        let value = String::from_utf8_lossy(value);
        let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        if names.last() == Some(name) {
            // Further values of a name continue the line before.
            lines.pop();
            lines.push(',');
        } else {
            names.push(name);
            lines.push_str(name);
            lines.push(':');
        }
        lines.push_str(&value);
        lines.push('\n');
    }
    (lines, names.join(";"))
}

fn encode(path: &str, text: &mut String) {
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    // Keys of any length are valid.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
