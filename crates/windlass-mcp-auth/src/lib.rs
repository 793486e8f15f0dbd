//! Logins to MCP servers.
//!
//! An MCP server over HTTP may require a token (OAuth 2.1). An [`Authorizer`] manages the tokens of one server: it
//! reads the server's metadata, finds the authorisation server, registers a client, has the user log in with a
//! [`Browser`], stores the tokens in a [`TokenStore`] and renews them. Machines without a browser use another
//! [`OAuthGrant`].
//!
//! Servers are not trusted. Metadata must be about the requested server, an authorisation server must have the name
//! under which it was found, and answers of login pages must name it. Tokens, codes and passwords are sent over TLS or
//! on this machine, to the server that they are for, and appear in no log and no error. Answers are bounded in size and
//! time, redirects are not followed.
//!
//! ```no_run
//! use std::sync::Arc;
//! use windlass_mcp_auth::{AuthOptions, Authorizer, FileTokenStore, OAuthConfig};
//! # async fn example(browser: &dyn windlass_mcp_auth::Browser) -> Result<(), windlass_mcp_auth::AuthError> {
//! let options = AuthOptions::new().with_store(Arc::new(FileTokenStore::new("/home/ana/.app/mcp-logins")));
//! let server = Authorizer::new("https://mcp.example.com/mcp", OAuthConfig::default(), options)?;
//! server.login(browser).await?;
//! assert!(server.token().await.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//! `private-key-jwt`: machines prove their identity with a signed assertion. Adds the dependency ring.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders and clocks"))]

mod address;
mod assertion;
mod authorizer;
mod browser;
mod challenge;
mod client;
mod config;
mod discover;
mod error;
mod fetch;
mod loopback;
mod metadata;
mod options;
mod page;
mod secret;
mod store;
mod token;

pub use authorizer::Authorizer;
pub use browser::{Browser, LoginPage};
pub use challenge::Challenge;
pub use config::{IdentityProvider, OAuthConfig, OAuthGrant};
pub use error::AuthError;
pub use options::AuthOptions;
pub use secret::SecretText;
pub use store::{FileTokenStore, LoginKey, MemoryTokenStore, SavedLogin, StoreLock, TokenStore, TokenStoreError};
