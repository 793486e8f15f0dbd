//! Where access tokens come from.

use async_trait::async_trait;
use std::fmt::Debug;
use std::sync::Arc;
use windlass_http::Secret;
use windlass_model::ModelError;

/// A source of access tokens for Google Cloud.
///
/// It is asked before each request, so it should keep a token until shortly before that expires.
///
/// ```
/// use windlass_gemini::{Gemini, Secret, TokenSource};
/// use windlass_model::ModelError;
///
/// /// Hands out what another part of the program keeps fresh.
/// #[derive(Debug)]
/// struct Kept(std::sync::RwLock<String>);
///
/// #[async_trait::async_trait]
/// impl TokenSource for Kept {
///     async fn token(&self) -> Result<Secret, ModelError> {
///         let token = self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner());
///         Ok(Secret::new(token.as_str()))
///     }
/// }
///
/// let kept = Kept(std::sync::RwLock::new("ya29.…".to_owned()));
/// let gemini = Gemini::vertex("my-project", "global").token_source(kept).build()?;
/// # Ok::<(), ModelError>(())
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source of access tokens",
    note = "give a token with `.token(..)`, or implement `TokenSource`"
)]
pub trait TokenSource: Debug + Send + Sync + 'static {
    /// A token that is valid now.
    ///
    /// Cancel safety: the call may be dropped at any time.
    ///
    /// # Errors
    /// There is no token: `Authentication` if only the user can change that, a transient kind otherwise.
    async fn token(&self) -> Result<Secret, ModelError>;
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: TokenSource + ?Sized> TokenSource for Arc<T> {
    async fn token(&self) -> Result<Secret, ModelError> {
        (**self).token().await
    }
}

/// One token, for as long as it is valid: for scripts and tests.
#[derive(Debug, Clone)]
pub struct StaticToken(Secret);

impl StaticToken {
    /// Wraps a token.
    pub fn new(token: impl AsRef<str>) -> Self {
        Self(Secret::new(token))
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl TokenSource for StaticToken {
    async fn token(&self) -> Result<Secret, ModelError> {
        Ok(self.0.clone())
    }
}

const _: fn(&dyn TokenSource) = |_| {};
