//! Metadata of servers. All of it is untrusted.

use serde::Deserialize;

/// Maximum number of scopes that are taken from a list.
const MOST_SCOPES: usize = 100;

/// Metadata of a protected resource (RFC 9728).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ResourceMetadata {
    pub(crate) resource: String,
    #[serde(default)]
    pub(crate) authorization_servers: Vec<String>,
    #[serde(default)]
    pub(crate) scopes_supported: Option<Vec<String>>,
}

/// Metadata of an authorisation server (RFC 8414, OpenID Connect Discovery).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ServerMetadata {
    pub(crate) issuer: String,
    #[serde(default)]
    pub(crate) authorization_endpoint: Option<String>,
    pub(crate) token_endpoint: String,
    #[serde(default)]
    pub(crate) registration_endpoint: Option<String>,
    #[serde(default)]
    pub(crate) revocation_endpoint: Option<String>,
    #[serde(default)]
    pub(crate) scopes_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) client_id_metadata_document_supported: bool,
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
}

impl ServerMetadata {
    /// Returns the endpoints of servers of the revision 2025-03-26 without metadata.
    pub(crate) fn by_convention(origin: &str) -> Self {
        let origin = origin.trim_end_matches('/');
        Self {
            issuer: origin.to_owned(),
            authorization_endpoint: Some(format!("{origin}/authorize")),
            token_endpoint: format!("{origin}/token"),
            registration_endpoint: Some(format!("{origin}/register")),
            revocation_endpoint: None,
            scopes_supported: None,
            token_endpoint_auth_methods_supported: None,
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            client_id_metadata_document_supported: false,
            authorization_response_iss_parameter_supported: false,
        }
    }

    /// `true` if codes are bound to the client that requested them.
    pub(crate) fn binds_codes(&self) -> bool {
        self.code_challenge_methods_supported.iter().flatten().any(|method| method == "S256")
    }

    pub(crate) fn offers_scope(&self, scope: &str) -> bool {
        self.scopes_supported.iter().flatten().any(|offered| offered == scope)
    }
}

/// Returns the scopes of texts, each once, in their order. Invalid ones are left out.
pub(crate) fn scopes<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for scope in texts.into_iter().flat_map(str::split_whitespace) {
        let is_valid = scope.len() <= 300 && scope.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
        if is_valid && list.len() < MOST_SCOPES && !list.iter().any(|known| known == scope) {
            list.push(scope.to_owned());
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_listed_once_and_bounded() {
        assert_eq!(scopes(["a b", "b  c", "d\"e", "ö", ""]), ["a", "b", "c"]);
        let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        assert_eq!(scopes(many.iter().map(String::as_str)).len(), MOST_SCOPES);
    }

    #[test]
    fn a_server_without_s256_does_not_bind_codes() {
        let read = |more: &str| {
            serde_json::from_str::<ServerMetadata>(&format!(r#"{{"issuer":"i","token_endpoint":"t"{more}}}"#)).unwrap()
        };
        assert!(!read("").binds_codes());
        assert!(!read(r#","code_challenge_methods_supported":["plain"]"#).binds_codes());
        assert!(read(r#","code_challenge_methods_supported":["plain","S256"]"#).binds_codes());
    }
}
