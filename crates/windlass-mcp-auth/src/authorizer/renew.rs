//! Renewal of tokens.

use super::Authorizer;
use crate::token::{self, TokenFields};
use crate::{AuthError, SavedLogin, SecretText};
use std::sync::Arc;

impl Authorizer {
    /// Returns a token in place of `used`. The renewal is finished even if the future is dropped: a refresh token that
    /// the server has replaced must not be lost.
    pub(super) async fn renewed(self: &Arc<Self>, used: Option<SecretText>) -> Result<SecretText, AuthError> {
        let own = Arc::clone(self);
        let work = tokio::spawn(async move { own.renew(used).await });
        work.await.unwrap_or_else(|error| Err(AuthError::Store(error.to_string())))
    }

    async fn renew(&self, used: Option<SecretText>) -> Result<SecretText, AuthError> {
        let _alone = self.busy.lock().await;
        let failed = |error: crate::TokenStoreError| AuthError::Store(error.to_string());
        let _alone_on_this_machine = self.options.store.lock(&self.key).await.map_err(failed)?;
        self.load().await?;
        let Some(mut login) = self.state().login.clone() else { return Err(AuthError::LoginNeeded) };
        // Another task renewed the token while this one waited.
        if let Some(token) = login.access_token.clone().filter(|token| Some(token) != used.as_ref()) {
            return Ok(token);
        }
        let Some(refresh) = login.refresh_token.clone() else { return Err(AuthError::LoginNeeded) };
        let mut fields: TokenFields =
            vec![("grant_type", "refresh_token".to_owned()), ("refresh_token", refresh.expose().to_owned())];
        fields.extend(login.resource.clone().map(|resource| ("resource", resource)));
        match token::request(&self.fetch, &login.token_endpoint, &login.client, fields).await {
            Ok(tokens) => self.take(&mut login, tokens),
            Err(AuthError::Refused { code, .. }) if code == "invalid_grant" => {
                // The client stays registered.
                (login.access_token, login.refresh_token) = (None, None);
                (login.expires_at, login.renew_at) = (None, None);
            }
            Err(error) => return Err(error),
        }
        self.keep(login).await.ok_or(AuthError::LoginNeeded)
    }

    /// Stores a login before its token is used, and returns the token. A login that cannot be stored lasts as long as
    /// the process.
    pub(super) async fn keep(&self, login: SavedLogin) -> Option<SecretText> {
        let saved = self.options.store.save(&self.key, &login).await;
        if let Err(error) = &saved {
            tracing::warn!(server = self.shown(), %error, "the login to an MCP server cannot be kept");
        }
        let token = login.access_token.clone();
        let mut state = self.state();
        (state.is_loaded, state.is_unkept) = (true, saved.is_err());
        state.login = Some(login);
        token
    }
}
