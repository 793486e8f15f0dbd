//! Page on which a user logs in, and its answer.

use crate::error::words;
use crate::metadata::ServerMetadata;
use crate::{AuthError, SecretText};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use url::Url;
use windlass_tool::Ids;

/// Login with a browser, from its page to the code.
#[derive(Debug, Clone)]
pub(crate) struct BrowserLogin {
    /// Address of the page.
    pub(crate) address: String,
    pub(crate) redirect_uri: String,
    /// Verifier that proves to the token endpoint that the code was requested here.
    pub(crate) verifier: SecretText,
    state: SecretText,
    issuer: String,
    names_issuer: bool,
}

/// Meaning of a request to the redirect address.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RedirectVerdict {
    /// The login has ended.
    Done(Result<SecretText, AuthError>),
    /// The request is not about this login: any program on this machine can send one.
    Unrelated,
}

impl BrowserLogin {
    /// # Errors
    /// Fails if the authorisation server has no page, or does not bind codes to the requesting client.
    pub(crate) fn new(
        server: &ServerMetadata,
        client_id: &str,
        redirect_uri: &str,
        (resource, scopes): (Option<&str>, &[String]),
        random: &dyn Ids,
    ) -> Result<Self, AuthError> {
        let endpoint = server.authorization_endpoint.as_deref().and_then(|text| Url::parse(text).ok());
        let Some(mut address) = endpoint else {
            return Err(AuthError::Discovery("the authorisation server has no page for logins".to_owned()));
        };
        if !server.binds_codes() {
            return Err(AuthError::Untrusted(
                "the authorisation server does not support PKCE with S256, so a code could be stolen".to_owned(),
            ));
        }
        let fresh = |count: usize| (0..count).flat_map(|_| random.bits().to_be_bytes()).collect::<Vec<u8>>();
        let [verifier, state] = [3, 2].map(|count| URL_SAFE_NO_PAD.encode(fresh(count)));
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        {
            let mut query = address.query_pairs_mut();
            query.append_pair("response_type", "code").append_pair("client_id", client_id);
            query.append_pair("redirect_uri", redirect_uri).append_pair("state", &state);
            query.append_pair("code_challenge", &challenge).append_pair("code_challenge_method", "S256");
            if !scopes.is_empty() {
                query.append_pair("scope", &scopes.join(" "));
            }
            if scopes.iter().any(|scope| scope == "offline_access") {
                query.append_pair("prompt", "consent");
            }
            if let Some(resource) = resource {
                query.append_pair("resource", resource);
            }
        }
        Ok(Self {
            address: address.into(),
            redirect_uri: redirect_uri.to_owned(),
            verifier: SecretText::new(verifier),
            state: SecretText::new(state),
            issuer: server.issuer.clone(),
            names_issuer: server.authorization_response_iss_parameter_supported,
        })
    }

    /// Reads a request to the redirect address: its path and query, or the whole address.
    pub(crate) fn judge(&self, target: &str) -> RedirectVerdict {
        let (Ok(own), Some(query)) = (Url::parse(&self.redirect_uri), target.split_once('?').map(|(_, query)| query))
        else {
            return RedirectVerdict::Unrelated;
        };
        let path = target.split('?').next().unwrap_or_default();
        if path != own.path() && path != self.redirect_uri {
            return RedirectVerdict::Unrelated;
        }
        let pairs: Vec<_> =
            url::form_urlencoded::parse(query.split('#').next().unwrap_or_default().as_bytes()).collect();
        let all = |name: &str| {
            pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_ref()).collect::<Vec<_>>()
        };
        if all("state") != [self.state.expose()] {
            return RedirectVerdict::Unrelated;
        }
        let (issuers, codes, errors) = (all("iss"), all("code"), all("error"));
        if issuers.iter().any(|issuer| *issuer != self.issuer) || (issuers.is_empty() && self.names_issuer) {
            return RedirectVerdict::Done(Err(AuthError::Untrusted(
                "the answer of the login page does not come from the authorisation server that was asked".to_owned(),
            )));
        }
        RedirectVerdict::Done(match (codes.as_slice(), errors.first()) {
            (_, Some(error)) => {
                let description = all("error_description").first().map(|text| format!(": {text}")).unwrap_or_default();
                Err(AuthError::Refused { code: words(error), description: words(&description) })
            }
            ([code], None) if !code.is_empty() => Ok(SecretText::new(*code)),
            _ => Err(AuthError::Discovery("the answer of the login page has no code".to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_tool::SystemIds;

    fn server(more: &str) -> ServerMetadata {
        let text = format!(
            r#"{{"issuer":"https://a.example","token_endpoint":"https://a.example/t",
            "authorization_endpoint":"https://a.example/login?tenant=1","code_challenge_methods_supported":["S256"]{more}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn page(more: &str) -> BrowserLogin {
        let scopes = ["a".to_owned(), "b".to_owned()];
        BrowserLogin::new(
            &server(more),
            "c",
            "http://localhost:1/callback",
            (Some("https://m.example/mcp"), &scopes),
            &SystemIds::default(),
        )
        .unwrap()
    }

    #[test]
    fn the_page_has_all_that_the_specification_asks_for() {
        let page = page("");
        let address = Url::parse(&page.address).unwrap();
        let pairs: std::collections::BTreeMap<_, _> = address.query_pairs().into_owned().collect();
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(page.verifier.expose().as_bytes()));
        for (name, value) in [
            ("tenant", "1"),
            ("response_type", "code"),
            ("client_id", "c"),
            ("redirect_uri", "http://localhost:1/callback"),
            ("state", page.state.expose()),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("scope", "a b"),
            ("resource", "https://m.example/mcp"),
        ] {
            assert_eq!(pairs.get(name).map(String::as_str), Some(value), "{name}");
        }
        assert!((43..=128).contains(&page.verifier.expose().len()));
        assert!(!format!("{page:?}").contains(page.verifier.expose()));
    }

    #[test]
    fn answers_are_judged() {
        let (plain, named) = (page(""), page(r#","authorization_response_iss_parameter_supported":true"#));
        let code = |text: &str| RedirectVerdict::Done(Ok(SecretText::new(text)));
        let fails = |verdict: RedirectVerdict| matches!(verdict, RedirectVerdict::Done(Err(_)));
        let judge =
            |page: &BrowserLogin, query: &str| page.judge(&format!("/callback?state={}{query}", page.state.expose()));
        assert_eq!(judge(&plain, "&code=x"), code("x"));
        assert_eq!(
            plain.judge(&format!("http://localhost:1/callback?code=x&state={}", plain.state.expose())),
            code("x")
        );
        assert_eq!(judge(&plain, "&code=x&iss=https%3A%2F%2Fa.example"), code("x"));
        assert_eq!(judge(&named, "&code=x&iss=https%3A%2F%2Fa.example"), code("x"));
        // Another issuer, a similar one, and none although the server always names itself.
        assert!(fails(judge(&plain, "&code=x&iss=https%3A%2F%2Fevil.example")));
        assert!(fails(judge(&named, "&code=x&iss=https%3A%2F%2Fa.example%2F")));
        assert!(fails(judge(&named, "&code=x")));
        assert!(fails(judge(&plain, "&error=access_denied&error_description=no")));
        assert!(fails(judge(&plain, "&code=x&code=y")) && fails(judge(&plain, "")));
        // An answer without the state of this login does not end it.
        let state = plain.state.expose();
        for target in [
            "/callback?code=x".to_owned(),
            "/callback?code=x&state=other".to_owned(),
            format!("/callback?code=x&state={state}&state={state}"),
            format!("/other?code=x&state={state}"),
            format!("https://evil.example/callback?code=x&state={state}"),
            "/callback".to_owned(),
            String::new(),
        ] {
            assert_eq!(plain.judge(&target), RedirectVerdict::Unrelated, "{target}");
        }
    }

    #[test]
    fn a_server_that_does_not_bind_codes_is_refused() {
        let mut without = server("");
        without.code_challenge_methods_supported = None;
        assert!(
            BrowserLogin::new(&without, "c", "http://localhost:1/callback", (None, &[]), &SystemIds::default())
                .is_err()
        );
    }

    proptest::proptest! {
        #[test]
        fn no_request_without_the_state_ends_a_login(target in "[/a-z?&=%:.0-9]{0,80}") {
            proptest::prop_assert_eq!(page("").judge(&target), RedirectVerdict::Unrelated);
        }
    }
}
