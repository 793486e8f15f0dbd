//! Logins to the servers of a set.

use crate::{McpError, McpOptions, McpServerConfig, McpServers, McpTransport};
use std::sync::Arc;
use windlass_mcp_auth::{AuthError, Authorizer, Browser};

impl McpServerConfig {
    /// Sets the authorizer of a server over HTTP, unless its configuration has an `Authorization` header.
    pub(crate) fn with_logins(mut self, options: &McpOptions) -> Self {
        if let McpTransport::Http { url, headers } | McpTransport::Sse { url, headers } = &self.transport
            && !headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
        {
            // An invalid address is refused when the server is connected.
            self.authorizer = Authorizer::new(url, self.oauth.clone(), options.logins.auth.clone()).ok();
        }
        self
    }

    /// Returns the error of a server that requires a login, with advice for its user.
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
    /// Asks the user to log in to a server with a browser, and connects it anew. Tokens are kept as set with
    /// [`McpOptions::with_auth`]. No browser is needed for a server whose configuration holds the program's own
    /// credentials.
    ///
    /// Dropping the future ends the login.
    ///
    /// # Errors
    /// Fails if there is no such server, it takes no logins, the login failed, or the server cannot be reached with it.
    pub async fn authenticate(&self, name: &str, browser: &dyn Browser) -> Result<(), McpError> {
        self.authorizer(name)?.login(browser).await.map_err(|error| failed(name, &error))?;
        self.reconnect(name).await
    }

    /// Deletes the login to a server, and connects it anew. Returns `true` if there was one.
    ///
    /// # Errors
    /// Fails if there is no such server, it takes no logins, or its login could not be deleted. A server that now
    /// requires a login is no error.
    pub async fn forget_login(&self, name: &str) -> Result<bool, McpError> {
        let was_there = self.authorizer(name)?.logout().await.map_err(|error| failed(name, &error))?;
        // The status shows the outcome.
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
