//! What can go wrong with a login.

/// Longest text of a server in an error, in characters.
const LONGEST_WORDS: usize = 300;

/// Why there is no token. The texts are for people. They hold no token, no code and no password; words of a server are bounded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// Someone has to log in.
    #[error("a login is needed")]
    LoginNeeded,
    /// The server has refused the token that it was just given, or all scopes that it asked for.
    #[error("the server refuses the token that it was given{0}")]
    StillRefused(String),
    /// The server, or what it refers to, does not describe itself as the specification asks.
    #[error("{0}")]
    Discovery(String),
    /// What a server says is not about what was asked, or would send a secret to another place.
    #[error("{0}")]
    Untrusted(String),
    /// The authorisation server takes no client that is known here.
    #[error("{0}")]
    Client(String),
    /// The authorisation server gave no token.
    #[error("the authorisation server answered {code:?}{description}")]
    Refused {
        /// The code of the error.
        code: String,
        /// Its words, bounded, with a leading colon, or empty.
        description: String,
    },
    /// A request did not succeed.
    #[error("{0}")]
    Http(String),
    /// The login was not finished in time.
    #[error("the login was not finished within {seconds} s")]
    TimedOut {
        /// How long was waited.
        seconds: u64,
    },
    /// The address to which the browser returns could not be opened, or the browser could not.
    #[error("{0}")]
    Browser(String),
    /// The store of tokens failed.
    #[error("the tokens cannot be kept: {0}")]
    Store(String),
    /// The configuration cannot be used.
    #[error("{0}")]
    Configuration(String),
}

/// Words of a server, fit for one line.
pub(crate) fn words(text: &str) -> String {
    let shown = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    shown.take(LONGEST_WORDS).collect()
}
