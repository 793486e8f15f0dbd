//! Errors of a login.

/// Maximum length of a server's text in an error, in characters.
const LONGEST_WORDS: usize = 300;

/// Reason why there is no token. The texts are for people. They hold no token, no code and no password; words of a
/// server are bounded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// A user has to log in.
    #[error("a login is needed")]
    LoginNeeded,
    /// The server has refused the token that it was just given, or all requested scopes.
    #[error("the server refuses the token that it was given{0}")]
    StillRefused(String),
    /// Metadata of the server, or of a server that it refers to, does not follow the specification.
    #[error("{0}")]
    Discovery(String),
    /// Metadata of a server is about another server, or would send a secret to another place.
    #[error("{0}")]
    Untrusted(String),
    /// The authorisation server accepts no client that is available here.
    #[error("{0}")]
    Client(String),
    /// The authorisation server issued no token.
    #[error("the authorisation server answered {code:?}{description}")]
    Refused {
        /// Error code.
        code: String,
        /// Words of the server, bounded, with a leading colon, or empty.
        description: String,
    },
    /// A request failed.
    #[error("{0}")]
    Http(String),
    /// The login was not finished in time.
    #[error("the login was not finished within {seconds} s")]
    TimedOut {
        /// Waiting time, in seconds.
        seconds: u64,
    },
    /// The address to which the browser returns, or the browser itself, could not be opened.
    #[error("{0}")]
    Browser(String),
    /// The store of tokens failed.
    #[error("the tokens cannot be kept: {0}")]
    Store(String),
    /// The configuration cannot be used.
    #[error("{0}")]
    Configuration(String),
}

/// Returns a server's text on one line, bounded.
pub(crate) fn words(text: &str) -> String {
    let shown = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    shown.take(LONGEST_WORDS).collect()
}
