//! Access tokens of one server.

mod automatic;
mod login;
mod renew;

use crate::discover::{DiscoveredServer, discover};
use crate::fetch::Fetch;
use crate::metadata::scopes;
use crate::token::TokenAnswer;
use crate::{AuthError, AuthOptions, Challenge, LoginKey, OAuthConfig, SavedLogin, SecretText};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use url::Url;

/// Maximum time before its end at which a token is renewed. A short-lived one is renewed in the last tenth of its
/// lifetime.
const BEFORE_END: Duration = Duration::from_secs(60);

/// Source of the tokens of one server: finds the authorisation server, has the user log in, and renews the tokens. A
/// token is sent only to the server that it is for, over TLS or on this machine.
///
/// A transport requests a [`token`](Self::token) before each request, and reports each refusal by
/// [`challenged`](Self::challenged), which may return a better token.
pub struct Authorizer {
    server: Url,
    key: LoginKey,
    config: OAuthConfig,
    options: AuthOptions,
    fetch: Fetch,
    state: Mutex<AuthorizerState>,
    /// Held while tokens are requested, so that only one task requests them.
    busy: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct AuthorizerState {
    /// `true` once the store has been read.
    is_loaded: bool,
    login: Option<SavedLogin>,
    /// Latest refusal.
    challenge: Challenge,
    /// Reason why the refusal could not be answered with a token.
    problem: Option<AuthError>,
    /// `true` if the login is newer than the stored one, because saving it failed.
    is_unkept: bool,
}

impl Authorizer {
    /// Creates the authorizer of the server at this address.
    ///
    /// # Errors
    /// Fails if the address is not an absolute http or https URL.
    pub fn new(server: &str, config: OAuthConfig, options: AuthOptions) -> Result<Arc<Self>, AuthError> {
        let invalid = || AuthError::Configuration("the address of the server is not valid".to_owned());
        let mut server = Url::parse(server).map_err(|_| invalid())?;
        if !matches!(server.scheme(), "http" | "https") || !server.has_host() {
            return Err(invalid());
        }
        server.set_fragment(None);
        let key = LoginKey::new(server.as_str(), &config.account);
        let fetch = Fetch::new(options.http.clone());
        let (state, busy) = (Mutex::default(), tokio::sync::Mutex::default());
        Ok(Arc::new(Self { server, key, config, options, fetch, state, busy }))
    }

    fn state(&self) -> MutexGuard<'_, AuthorizerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the key of the stored login.
    pub fn key(&self) -> &LoginKey {
        &self.key
    }

    /// Returns the token for the next request, renewed if it ends within a minute. `None` if there is none, and the
    /// request is to be sent without one.
    ///
    /// Cancel safe: a renewal that has begun is finished.
    pub async fn token(self: &Arc<Self>) -> Option<SecretText> {
        if !self.state().is_loaded
            && let Err(error) = self.load().await
        {
            tracing::warn!(server = self.shown(), %error, "the login to an MCP server cannot be read");
        }
        let login = self.state().login.clone()?;
        let token = login.access_token.clone();
        if login.renew_at.is_none_or(|at| self.options.clock.now().millis() < at) {
            return token;
        }
        if login.refresh_token.is_some() {
            match self.renewed(token.clone()).await {
                Ok(renewed) => return Some(renewed),
                Err(error) => tracing::debug!(server = self.shown(), %error, "a token cannot be renewed"),
            }
        }
        token.filter(|_| !self.has_ended(&login))
    }

    /// Handles the refusal of a request that was sent with the token `used`. Returns another token, with which the
    /// request may be sent once more.
    ///
    /// Cancel safe: a renewal that has begun is finished.
    ///
    /// # Errors
    /// [`AuthError::LoginNeeded`] if a user has to [log in](Self::login), which requests the missing scopes. Other
    /// errors give the reason why there is no token.
    pub async fn challenged(
        self: &Arc<Self>,
        challenge: &Challenge,
        used: Option<&SecretText>,
    ) -> Result<SecretText, AuthError> {
        self.state().challenge.clone_from(challenge);
        let better =
            if challenge.lacks_rights { self.lacking(challenge, used).await } else { self.another(used).await };
        self.state().problem = better.as_ref().err().cloned();
        better
    }

    /// Returns the reason why the latest refusal could not be answered with a token, if so.
    pub fn problem(&self) -> Option<AuthError> {
        self.state().problem.clone()
    }

    /// Returns another token, because there was none or it is invalid.
    async fn another(self: &Arc<Self>, used: Option<&SecretText>) -> Result<SecretText, AuthError> {
        self.load().await?;
        let login = self.state().login.clone();
        let kept = login.as_ref().and_then(|login| login.access_token.clone());
        // Another program, or another request, was faster.
        if let Some(token) = kept.filter(|token| Some(token) != used)
            && !login.as_ref().is_some_and(|login| self.has_ended(login))
        {
            return Ok(token);
        }
        if self.config.grant.is_automatic() {
            return self.obtained(used.cloned(), Vec::new()).await;
        }
        match login.filter(|login| login.refresh_token.is_some()) {
            Some(_) => self.renewed(used.cloned()).await,
            None => Err(AuthError::LoginNeeded),
        }
    }

    /// Handles a valid token with insufficient scopes.
    async fn lacking(
        self: &Arc<Self>,
        challenge: &Challenge,
        used: Option<&SecretText>,
    ) -> Result<SecretText, AuthError> {
        let needed = scopes(challenge.scope.as_deref());
        let asked = self.state().login.as_ref().map(|login| login.scopes.clone()).unwrap_or_default();
        if used.is_none() {
            return Err(AuthError::LoginNeeded);
        }
        if !challenge.wants_scopes() {
            return Err(AuthError::StillRefused(": it forbids the request and names no scope".to_owned()));
        }
        if needed.iter().all(|scope| asked.contains(scope)) {
            let named = if needed.is_empty() { String::new() } else { format!(": it wants {}", needed.join(" ")) };
            return Err(AuthError::StillRefused(named));
        }
        if self.config.grant.is_automatic() {
            return self.obtained(used.cloned(), needed).await;
        }
        let changed = {
            let mut state = self.state();
            let login = state.login.as_mut();
            login.map(|login| {
                login.wanted = union(&login.wanted, &needed);
                login.clone()
            })
        };
        if let Some(login) = changed {
            // The next login may be in another program.
            self.options.store.save(&self.key, &login).await.map_err(|error| AuthError::Store(error.to_string()))?;
        }
        Err(AuthError::LoginNeeded)
    }

    /// Deletes the login, and asks the server to revoke its token if it supports that. Returns `true` if there was one.
    ///
    /// # Errors
    /// Fails if the store still has the login.
    pub async fn logout(self: &Arc<Self>) -> Result<bool, AuthError> {
        let _alone = self.busy.lock().await;
        self.load().await?;
        let login = {
            let mut state = self.state();
            state.is_unkept = false;
            state.login.take()
        };
        self.options.store.remove(&self.key).await.map_err(|error| AuthError::Store(error.to_string()))?;
        let Some(login) = login else { return Ok(false) };
        if let (Some(endpoint), Some(token)) =
            (&login.revocation_endpoint, login.refresh_token.as_ref().or(login.access_token.as_ref()))
        {
            let mut fields = vec![("token", token.expose().to_owned())];
            let authorization = login.client.prove(&mut fields);
            let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            if let Err(error) = self.fetch.form(endpoint, authorization.as_deref(), &fields).await {
                tracing::debug!(server = self.shown(), %error, "a token cannot be withdrawn");
            }
        }
        Ok(login.has_tokens())
    }

    /// Reads the login from the store. A login of another client than the configured one is not used.
    async fn load(&self) -> Result<(), AuthError> {
        if self.config.grant.is_automatic() {
            // Automatic tokens are not stored: new ones are available at any time.
            self.state().is_loaded = true;
            return Ok(());
        }
        if self.state().is_unkept {
            return Ok(());
        }
        let loaded = self.options.store.load(&self.key).await;
        let login = loaded.map_err(|error| AuthError::Store(error.to_string()))?;
        let is_own = |login: &SavedLogin| self.config.client_id.as_ref().is_none_or(|id| *id == login.client.id);
        let mut state = self.state();
        state.is_loaded = true;
        state.login = login.filter(is_own);
        Ok(())
    }

    async fn discovered(&self, preferred: Option<&str>) -> Result<DiscoveredServer, AuthError> {
        let challenge = self.state().challenge.clone();
        discover(&self.fetch, &self.server, &challenge, self.config.metadata_url.as_deref(), preferred).await
    }

    fn has_ended(&self, login: &SavedLogin) -> bool {
        login.expires_at.is_some_and(|end| self.options.clock.now().millis() >= end)
    }

    /// Puts new tokens into a login.
    fn take(&self, login: &mut SavedLogin, tokens: TokenAnswer) {
        let now = self.options.clock.now();
        let lifetime = tokens.seconds().map(Duration::from_secs);
        login.expires_at = lifetime.map(|lifetime| now.after(lifetime).millis());
        login.renew_at = lifetime.map(|lifetime| now.after(lifetime - BEFORE_END.min(lifetime / 10)).millis());
        if let Some(scope) = &tokens.scope {
            login.scopes = union(&login.scopes, &scopes([scope.as_str()]));
        }
        login.access_token = Some(tokens.access_token);
        login.refresh_token = tokens.refresh_token.or(login.refresh_token.take());
    }

    /// Returns the server for messages: without possible secrets in its address.
    fn shown(&self) -> String {
        self.server.origin().ascii_serialization()
    }
}

/// Returns all scopes of the first list, and those that only the second one has.
fn union(one: &[String], other: &[String]) -> Vec<String> {
    scopes(one.iter().chain(other).map(String::as_str))
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer").field("server", &self.shown()).finish_non_exhaustive()
    }
}
