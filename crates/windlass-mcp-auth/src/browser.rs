//! Port to a browser.

use async_trait::async_trait;
use std::fmt;

/// Page on which a user logs in.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginPage {
    /// Address of the MCP server that the login is for.
    pub server: String,
    /// Host of the page: show it to the user, because it decides who receives the password.
    pub host: String,
    /// Address of the page. Valid for one login only.
    pub address: String,
    /// Address to which the browser returns. On this machine.
    pub redirect_uri: String,
}

impl fmt::Debug for LoginPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address holds the state of the login.
        f.debug_struct("LoginPage").field("server", &self.server).field("host", &self.host).finish_non_exhaustive()
    }
}

/// Shows a page to the user.
///
/// ```
/// use windlass_mcp_auth::{Browser, LoginPage};
///
/// /// Prints the address.
/// #[derive(Debug)]
/// struct Terminal;
///
/// #[async_trait::async_trait]
/// impl Browser for Terminal {
///     async fn open(&self, page: &LoginPage) -> Result<Option<String>, String> {
///         println!("Log in to {} at {}: {}", page.server, page.host, page.address);
///         Ok(None)
///     }
/// }
/// ```
#[async_trait]
pub trait Browser: fmt::Debug + Send + Sync {
    /// Shows a page. Returns `None` as soon as it is shown: the browser returns to an address of this machine. A host
    /// that handles the return itself returns the complete address to which the browser returned, such as one that the
    /// user has copied. The future is dropped when the login has ended otherwise.
    ///
    /// # Errors
    /// Returns the reason why the page cannot be shown, for people.
    async fn open(&self, page: &LoginPage) -> Result<Option<String>, String>;
}

const fn _is_object_safe(_: &dyn Browser) {}
