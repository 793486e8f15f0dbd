//! Tokens without a browser.

use super::{Authorizer, union};
use crate::assertion::{ASSERTION_TYPE, sign};
use crate::client::AuthClient;
use crate::discover::DiscoveredServer;
use crate::metadata::scopes;
use crate::token::{self, TokenFields};
use crate::{AuthError, IdentityProvider, OAuthConfig, OAuthGrant, SavedLogin, SecretText};
use std::sync::Arc;

impl Authorizer {
    /// Returns a token in place of `used`, with these scopes in addition to the previous ones.
    pub(super) async fn obtained(
        self: &Arc<Self>,
        used: Option<SecretText>,
        more: Vec<String>,
    ) -> Result<SecretText, AuthError> {
        let own = Arc::clone(self);
        let work = tokio::spawn(async move { own.obtain(used, more).await });
        work.await.unwrap_or_else(|error| Err(AuthError::Store(error.to_string())))
    }

    async fn obtain(&self, used: Option<SecretText>, more: Vec<String>) -> Result<SecretText, AuthError> {
        let _alone = self.busy.lock().await;
        let before = self.state().login.clone();
        let kept = before.as_ref().and_then(|login| login.access_token.clone());
        if let Some(token) = kept.filter(|token| used.as_ref().is_some_and(|used| used != token)) {
            return Ok(token);
        }
        let found = self.discovered(None).await?;
        let asked = union(&self.scopes_of_machine(&found, before.as_ref()), &more);
        let (client, mut fields) = self.request(&found).await?;
        if !asked.is_empty() {
            fields.push(("scope", asked.join(" ")));
        }
        fields.extend(found.resource.clone().map(|resource| ("resource", resource)));
        let tokens = token::request(&self.fetch, &found.server.token_endpoint, &client, fields).await?;
        let mut login = SavedLogin::without_tokens(found, client, asked);
        self.take(&mut login, tokens);
        // A new token is available at any time, so this one is neither renewed nor stored.
        login.refresh_token = None;
        let token = login.access_token.clone().ok_or(AuthError::LoginNeeded)?;
        self.state().login = Some(login);
        Ok(token)
    }

    fn scopes_of_machine(&self, found: &DiscoveredServer, before: Option<&SavedLogin>) -> Vec<String> {
        match before {
            Some(login) => login.scopes.clone(),
            None if !self.config.scopes.is_empty() => self.config.scopes.clone(),
            None => match &self.state().challenge.scope {
                Some(scope) => scopes([scope.as_str()]),
                None => scopes(found.resource_scopes.iter().map(String::as_str)),
            },
        }
    }

    /// Returns the client and the fields of the token request.
    async fn request(&self, found: &DiscoveredServer) -> Result<(AuthClient, TokenFields), AuthError> {
        let configured = AuthClient::configured(&self.config, &found.server);
        let with_id = || {
            configured.clone().ok_or_else(|| AuthError::Configuration("this grant needs `oauth.clientId`".to_owned()))
        };
        match &self.config.grant {
            OAuthGrant::Browser => Err(AuthError::LoginNeeded),
            OAuthGrant::ClientCredentials { private_key } => {
                let mut fields = vec![("grant_type", "client_credentials".to_owned())];
                let client = with_id()?;
                if let Some(key) = private_key {
                    let now = self.options.clock.now().millis() / 1000;
                    let parties = (client.id.as_str(), found.server.issuer.as_str());
                    let signed = sign(key, parties, now, self.options.random.bits())?;
                    fields.push(("client_assertion_type", ASSERTION_TYPE.to_owned()));
                    fields.push(("client_assertion", signed.expose().to_owned()));
                }
                Ok((client, fields))
            }
            OAuthGrant::JwtBearer { assertion } => {
                Ok((configured.unwrap_or_else(AuthClient::anonymous), bearer(assertion)))
            }
            OAuthGrant::IdentityProvider(provider) => {
                let client = with_id()?;
                let statement = self.vouched(provider, found).await?;
                Ok((client, bearer(&statement)))
            }
        }
    }

    /// Returns the assertion of an identity provider that the authorisation server accepts.
    async fn vouched(&self, provider: &IdentityProvider, found: &DiscoveredServer) -> Result<SecretText, AuthError> {
        let is_local = crate::address::is_loopback(&self.server);
        let endpoint = crate::address::usable(&provider.token_endpoint, "the identity provider", is_local)?;
        let there = OAuthConfig {
            client_id: Some(provider.client_id.clone()),
            client_secret: provider.client_secret.clone(),
            ..OAuthConfig::default()
        };
        let client = AuthClient::configured(&there, &found.server).unwrap_or_else(AuthClient::anonymous);
        let resource = found.resource.clone().unwrap_or_else(|| self.server.to_string());
        let fields = vec![
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange".to_owned()),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag".to_owned()),
            ("audience", found.server.issuer.clone()),
            ("resource", resource),
            ("subject_token", provider.id_token.expose().to_owned()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token".to_owned()),
        ];
        token::exchange(&self.fetch, endpoint.as_str(), &client, fields).await
    }
}

fn bearer(assertion: &SecretText) -> TokenFields {
    let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer".to_owned();
    vec![("grant_type", grant), ("assertion", assertion.expose().to_owned())]
}
