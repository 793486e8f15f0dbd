//! Logins of users to the servers of an [`McpServers`].

use crate::{McpError, McpOptions, McpServerConfig, McpServers, McpTransport};
use std::sync::Arc;
use windlass_mcp_auth::{AuthError, Authorizer, Browser};

impl McpServerConfig {
    /// Sets the authorizer of a server over HTTP, unless its configuration has an `Authorization` header.
    pub(crate) fn with_logins(mut self, options: &McpOptions) -> Self {
        if let McpTransport::Http { url, headers } | McpTransport::Sse { url, headers } = &self.transport
            && !headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
        {
            // An invalid URL gets no authorizer here; the connection to the server reports the error.
            self.authorizer = Authorizer::new(url, self.oauth.clone(), options.logins.auth.clone()).ok();
        }
        self
    }

    /// Returns [`McpError::NeedsAuth`] for a server, with the reason and the login command as advice.
    pub(crate) fn needs_auth(&self, name: &str, options: &McpOptions) -> McpError {
        let rejection = match &self.authorizer {
            None => Some("it refuses the header `Authorization` of its configuration".to_owned()),
            Some(authorizer) => {
                authorizer.problem().filter(|error| *error != AuthError::LoginNeeded).map(|error| error.to_string())
            }
        };
        let can_log_in = self.authorizer.is_some() && !self.oauth.grant.is_automatic();
        let command = options.logins.command.as_ref().filter(|_| can_log_in);
        let login_advice = command.map(|command| format!("log in with `{command} {name}`"));
        let advice = [rejection, login_advice].into_iter().flatten().collect::<Vec<_>>().join("; ");
        let advice = if advice.is_empty() { advice } else { format!(": {advice}") };
        McpError::NeedsAuth { name: name.to_owned(), advice }
    }
}

impl McpServers {
    /// Logs the user in to a server with a browser, then reconnects the server. [`McpOptions::with_auth`] sets the
    /// store for tokens. The browser stays unused for a server that is configured with the program's own credentials.
    ///
    /// Dropping the future ends the login.
    ///
    /// # Errors
    /// Fails if the server is unknown, takes no logins, or cannot be reached after the login, or if the login fails.
    pub async fn authenticate(&self, name: &str, browser: &dyn Browser) -> Result<(), McpError> {
        self.authorizer(name)?.login(browser).await.map_err(|error| login_error(name, &error))?;
        self.reconnect(name).await
    }

    /// Deletes the login to a server, and reconnects the server. Returns `true` if there was a login.
    ///
    /// # Errors
    /// Fails if the server is unknown, takes no logins, or its login could not be deleted. The call succeeds even if
    /// the server then requires a login.
    pub async fn forget_login(&self, name: &str) -> Result<bool, McpError> {
        let was_logged_in = self.authorizer(name)?.logout().await.map_err(|error| login_error(name, &error))?;
        // A failed reconnection is visible in the status of the server, so its result is ignored.
        let _ = self.reconnect(name).await;
        Ok(was_logged_in)
    }

    fn authorizer(&self, name: &str) -> Result<Arc<Authorizer>, McpError> {
        let reason =
            "it takes no login: it is not reached over HTTP, or its configuration has a header `Authorization`";
        self.config(name)?
            .authorizer
            .ok_or_else(|| McpError::LoginFailed { name: name.to_owned(), reason: reason.to_owned() })
    }
}

fn login_error(name: &str, error: &AuthError) -> McpError {
    McpError::LoginFailed { name: name.to_owned(), reason: error.to_string() }
}
