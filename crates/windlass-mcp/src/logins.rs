//! Logins to the servers of a set.

use crate::{McpError, McpOptions, McpServerConfig, McpServers, McpTransport};
use std::sync::Arc;
use windlass_mcp_auth::{AuthError, Authorizer, Browser};

impl McpServerConfig {
    /// Has the tokens of a server over HTTP, unless its configuration brings a header with one.
    pub(crate) fn with_logins(mut self, options: &McpOptions) -> Self {
        if let McpTransport::Http { url, headers } | McpTransport::Sse { url, headers } = &self.transport
            && !headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
        {
            // An address that is not valid is refused when it is connected to.
            self.authorizer = Authorizer::new(url, self.oauth.clone(), options.logins.auth.clone()).ok();
        }
        self
    }

    /// The error of a server that wants a login: what its user can do.
    pub(crate) fn needs_auth(&self, name: &str, options: &McpOptions) -> McpError {
        let problem = match &self.authorizer {
            None => Some("it refuses the header `Authorization` of its configuration".to_owned()),
            Some(authorizer) => {
                authorizer.problem().filter(|error| *error != AuthError::LoginNeeded).map(|error| error.to_string())
            }
        };
        let can_log_in = self.authorizer.is_some() && !self.oauth.grant.is_automatic();
        let command = options.logins.command.as_ref().filter(|_| can_log_in);
        let step = command.map(|command| format!("log in with `{command} {name}`"));
        let advice = [problem, step].into_iter().flatten().collect::<Vec<_>>().join("; ");
        let advice = if advice.is_empty() { advice } else { format!(": {advice}") };
        McpError::NeedsAuth { name: name.to_owned(), advice }
    }
}

impl McpServers {
    /// Has the user log in to a server with a browser, and connects it anew. Tokens are kept as
    /// [`McpOptions::with_auth`] says. A server whose configuration says how the program logs in itself needs no browser.
    ///
    /// Dropping the future ends the login.
    ///
    /// # Errors
    /// There is no such server, it takes no logins, the login did not succeed, or the server cannot be reached with it.
    pub async fn authenticate(&self, name: &str, browser: &dyn Browser) -> Result<(), McpError> {
        self.authorizer(name)?.login(browser).await.map_err(|error| failed(name, &error))?;
        self.reconnect(name).await
    }

    /// Forgets the login to a server, and connects it anew. Returns whether there was one.
    ///
    /// # Errors
    /// There is no such server, it takes no logins, or its login is still kept. That the server wants a login now is no error.
    pub async fn forget_login(&self, name: &str) -> Result<bool, McpError> {
        let was_there = self.authorizer(name)?.logout().await.map_err(|error| failed(name, &error))?;
        // The status shows what became of it.
        let _ = self.reconnect(name).await;
        Ok(was_there)
    }

    fn authorizer(&self, name: &str) -> Result<Arc<Authorizer>, McpError> {
        let refused =
            "it takes no login: it is not reached over HTTP, or its configuration has a header `Authorization`";
        self.config(name)?
            .authorizer
            .ok_or_else(|| McpError::LoginFailed { name: name.to_owned(), reason: refused.to_owned() })
    }
}

fn failed(name: &str, error: &AuthError) -> McpError {
    McpError::LoginFailed { name: name.to_owned(), reason: error.to_string() }
}
