//! Logins in a browser.

use super::{Authorizer, union};
use crate::browser::LoginPage;
use crate::client::AuthClient;
use crate::discover::DiscoveredServer;
use crate::loopback::Loopback;
use crate::metadata::scopes;
use crate::page::{BrowserLogin, RedirectVerdict};
use crate::token::{self, TokenFields};
use crate::{AuthError, Browser, SavedLogin, SecretText};
use std::sync::Arc;
use tokio::time::timeout;
use url::Url;

impl Authorizer {
    /// Has the user log in with a browser, and stores the tokens. Requests the scopes that the last refused request
    /// needed, in addition to the previous ones. If the configuration has another grant, the program logs in itself
    /// instead.
    ///
    /// Dropping the future ends the login and closes its port.
    ///
    /// # Errors
    /// Fails if the login was not finished in time, the user or the server has refused it, or a server is not
    /// trustworthy.
    pub async fn login(self: &Arc<Self>, browser: &dyn Browser) -> Result<(), AuthError> {
        if self.config.grant.is_automatic() {
            return self.obtained(None, Vec::new()).await.map(drop);
        }
        let before = {
            let _alone = self.busy.lock().await;
            self.load().await?;
            self.state().login.clone()
        };
        let found = self.discovered(before.as_ref().map(|login| login.issuer.as_str())).await?;
        // Data of one authorisation server is of no use to another.
        let before = before.filter(|login| login.issuer == found.server.issuer);
        let asked = self.scopes_to_ask(&found, before.as_ref());
        let port = self.config.callback_port;
        let (loopback, client) = self.client(&found, before.as_ref(), port).await?;
        let wanted = (found.resource.as_deref(), asked.as_slice());
        let page = BrowserLogin::new(
            &found.server,
            &client.id,
            &loopback.redirect_uri(),
            wanted,
            self.options.random.as_ref(),
        )?;
        let limit = self.options.login_timeout;
        let answered = timeout(limit, self.answer(loopback, &page, browser)).await;
        let code = answered.unwrap_or(Err(AuthError::TimedOut { seconds: limit.as_secs() }))?;
        let fields: TokenFields = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code.expose().to_owned()),
            ("redirect_uri", page.redirect_uri.clone()),
            ("code_verifier", page.verifier.expose().to_owned()),
        ];
        self.redeem(found, client, asked, fields).await
    }

    /// Returns the authorisation code from the page, through the browser or the host.
    async fn answer(
        &self,
        loopback: Loopback,
        page: &BrowserLogin,
        browser: &dyn Browser,
    ) -> Result<SecretText, AuthError> {
        let host = Url::parse(&page.address).ok().and_then(|url| url.host_str().map(str::to_owned));
        let shown = LoginPage {
            server: self.server.to_string(),
            host: host.unwrap_or_default(),
            address: page.address.clone(),
            redirect_uri: page.redirect_uri.clone(),
        };
        let by_host = async {
            match browser.open(&shown).await.map_err(AuthError::Browser)? {
                None => std::future::pending().await,
                Some(address) => match page.judge(address.trim()) {
                    RedirectVerdict::Done(outcome) => outcome,
                    RedirectVerdict::Unrelated => Err(AuthError::Browser(
                        "the address to which the browser returned is not the answer of this login".to_owned(),
                    )),
                },
            }
        };
        tokio::select! {
            biased;
            code = by_host => code,
            code = loopback.answer(page) => code,
        }
    }

    /// Returns the client of a login, and the port to which its browser returns.
    async fn client(
        &self,
        found: &DiscoveredServer,
        before: Option<&SavedLogin>,
        port: Option<u16>,
    ) -> Result<(Loopback, AuthClient), AuthError> {
        let mut config = self.config.clone();
        config.client_metadata_url = config.client_metadata_url.or_else(|| self.options.client_metadata_url.clone());
        if let Some(client) =
            AuthClient::configured(&config, &found.server).or_else(|| AuthClient::described(&config, &found.server))
        {
            return Ok((Loopback::open(port.unwrap_or(0)).await?, client));
        }
        // Reuse a registered client, as long as its port is free.
        let known = before.map(|login| &login.client).filter(|client| client.redirect_uri.is_some());
        if let Some(client) = known
            && let Some(registered) = client.redirect_uri.as_deref().and_then(|uri| Url::parse(uri).ok()?.port())
            && port.is_none_or(|port| port == registered)
            && let Ok(loopback) = Loopback::open(registered).await
        {
            return Ok((loopback, client.clone()));
        }
        let loopback = Loopback::open(port.unwrap_or(0)).await?;
        let name = &self.options.client_name;
        let client = AuthClient::register(&self.fetch, &found.server, name, &loopback.redirect_uri()).await?;
        Ok((loopback, client))
    }

    /// Returns the scopes to request: those of the configuration, of the refusal, or of the server's metadata; in
    /// addition the previous ones if the token had insufficient scopes.
    fn scopes_to_ask(&self, found: &DiscoveredServer, before: Option<&SavedLogin>) -> Vec<String> {
        let challenge = self.state().challenge.clone();
        let named = match &challenge.scope {
            _ if !self.config.scopes.is_empty() => self.config.scopes.clone(),
            Some(scope) => scopes([scope.as_str()]),
            None => scopes(found.resource_scopes.iter().map(String::as_str)),
        };
        let steps_up = |login: &&SavedLogin| challenge.lacks_rights || !login.wanted.is_empty();
        let mut asked = match before.filter(steps_up) {
            Some(login) => union(&union(&login.scopes, &login.wanted), &named),
            None => named,
        };
        if !asked.is_empty() && found.server.offers_scope("offline_access") {
            asked = union(&asked, &["offline_access".to_owned()]);
        }
        asked
    }

    /// Exchanges a code for tokens and stores them.
    pub(super) async fn redeem(
        self: &Arc<Self>,
        found: DiscoveredServer,
        client: AuthClient,
        asked: Vec<String>,
        mut fields: TokenFields,
    ) -> Result<(), AuthError> {
        fields.extend(found.resource.clone().map(|resource| ("resource", resource)));
        let tokens = token::request(&self.fetch, &found.server.token_endpoint, &client, fields).await?;
        let revocation = found.server.revocation_endpoint.clone().filter(|address| {
            let is_local = crate::address::is_loopback(&self.server);
            crate::address::usable(address, "the authorisation server", is_local).is_ok()
        });
        let mut login = SavedLogin::without_tokens(found, client, asked);
        login.revocation_endpoint = revocation;
        self.take(&mut login, tokens);
        let _alone = self.busy.lock().await;
        let kept = self.options.store.save(&self.key, &login).await;
        let mut state = self.state();
        (state.is_loaded, state.is_unkept) = (true, kept.is_err());
        state.login = Some(login);
        kept.map_err(|error| AuthError::Store(error.to_string()))
    }
}
