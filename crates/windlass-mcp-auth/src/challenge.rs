//! Challenge of a server that refuses a request for lack of rights.

/// Maximum length of a header that is read, in bytes.
const LONGEST: usize = 16 * 1024;

/// Refusal for lack of rights: the status 401 or 403, and the header `WWW-Authenticate`. Untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Challenge {
    /// Address of the server's metadata as a protected resource.
    pub resource_metadata: Option<String>,
    /// Scopes that the request needs, separated by spaces.
    pub scope: Option<String>,
    /// Error code, such as `invalid_token` or `insufficient_scope`.
    pub error: Option<String>,
    /// `true` if the token was accepted, but has insufficient rights (status 403).
    pub lacks_rights: bool,
}

impl Challenge {
    /// Reads the value of the header. Malformed parts are left out. One value may hold several challenges; the first of
    /// the scheme `Bearer` is used.
    #[must_use]
    pub fn read(status: u16, header: Option<&str>) -> Self {
        let mut challenge = Self { lacks_rights: status == 403, ..Self::default() };
        let header = header.filter(|header| header.len() <= LONGEST).unwrap_or_default();
        for (name, value) in bearer_parameters(header) {
            let place = match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => &mut challenge.resource_metadata,
                "scope" => &mut challenge.scope,
                "error" => &mut challenge.error,
                _ => continue,
            };
            // The first one is used: a second one may come from another party.
            place.get_or_insert(value);
        }
        challenge
    }

    /// `true` if a token with more scopes would be accepted.
    #[must_use]
    pub fn wants_scopes(&self) -> bool {
        self.lacks_rights && (self.scope.is_some() || self.error.as_deref() == Some("insufficient_scope"))
    }
}

/// Returns the parameters of the first challenge of the scheme `Bearer`.
fn bearer_parameters(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut is_bearer = false;
    for item in items(header) {
        let item = item.trim();
        let (scheme, rest) = match item.split_once(char::is_whitespace) {
            Some((scheme, rest)) if !scheme.contains('=') && !rest.trim_start().starts_with('=') => {
                (Some(scheme), rest.trim())
            }
            // A scheme alone.
            None if !item.is_empty() && !item.contains('=') => (Some(item), ""),
            _ => (None, item),
        };
        if let Some(scheme) = scheme {
            if is_bearer {
                break;
            }
            is_bearer = scheme.eq_ignore_ascii_case("bearer");
        }
        if let Some((name, value)) = rest.split_once('=').filter(|_| is_bearer) {
            found.push((name.trim().to_owned(), unquoted(value.trim())));
        }
    }
    found
}

/// Returns the parts between commas outside quotes.
fn items(header: &str) -> Vec<&str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let is_separator = |letter: char| {
        let escaped = std::mem::take(&mut is_escaped);
        match letter {
            _ if escaped => {}
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ',' => return !is_quoted,
            _ => {}
        }
        false
    };
    header.split(is_separator).collect()
}

fn unquoted(value: &str) -> String {
    let Some(inside) = value.strip_prefix('"') else { return value.to_owned() };
    let mut text = String::new();
    let mut letters = inside.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => text.extend(letters.next()),
            _ => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bearer_challenge_is_read() {
        let read = |header: &str| {
            let read = Challenge::read(401, Some(header));
            [read.resource_metadata, read.scope, read.error].map(Option::unwrap_or_default).join("|")
        };
        for (header, expected) in [
            ("", "||"),
            ("Bearer", "||"),
            (r#"Bearer scope="a b", resource_metadata="https://x/y""#, "https://x/y|a b|"),
            (r#"bearer SCOPE=a,error="insufficient_scope""#, "|a|insufficient_scope"),
            (r#"Basic realm="x", scope="no", Bearer scope="yes""#, "|yes|"),
            (r#"Bearer scope="one", Bearer scope="two""#, "|one|"),
            (r#"Bearer scope="one", scope="two""#, "|one|"),
            (r#"Bearer realm="a, scope=\"b\", c", scope = "d""#, "|d|"),
            (r#"Bearer scope="unclosed"#, "|unclosed|"),
            (r#"DPoP algs="ES256""#, "||"),
            ("Bearer =,,,=,\"", "||"),
        ] {
            assert_eq!(read(header), expected, "{header}");
        }
        assert_eq!(read(&format!("Bearer scope=\"{}\"", "x".repeat(20_000))), "||");
    }

    #[test]
    fn more_scopes_help_only_where_the_token_was_accepted() {
        let wants = |status, header| Challenge::read(status, Some(header)).wants_scopes();
        assert!(wants(403, r#"Bearer error="insufficient_scope""#) && wants(403, "Bearer scope=a"));
        assert!(!wants(403, "Bearer") && !wants(401, "Bearer scope=a"));
    }

    proptest::proptest! {
        #[test]
        fn any_header_is_read(header in "\\PC{0,200}", status in 400_u16..500) {
            let _ = Challenge::read(status, Some(&header));
        }
    }
}
