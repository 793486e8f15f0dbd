//! Known forms of secrets.

use super::boundary;
use std::fmt;

/// Kind of a text that looks like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SecretKind {
    /// A private key in PEM form.
    PrivateKey,
    /// A key of a well-known vendor.
    AccessKey,
    /// An address with a password, such as `postgres://user:password@host`.
    Password,
    /// The value after the name of a secret: `token = "…"`.
    Labelled,
    /// A value known to the process.
    Known,
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PrivateKey => "a private key",
            Self::AccessKey => "an access key",
            Self::Password => "an address with a password",
            Self::Labelled => "a password or token",
            Self::Known => "a known secret",
        })
    }
}

/// Prefixes of keys of well-known vendors, with the minimum number of further characters. The vendors publish these
/// prefixes so that scanners find keys: see their pages on secret scanning and on token formats.
const KEYS: [(&str, usize); 34] = [
    // Anthropic.
    ("sk-ant-", 16),
    // OpenAI: keys of projects, and older ones. OpenRouter and others have the latter too.
    ("sk-proj-", 16),
    ("sk-", 20),
    // Stripe: secret and restricted keys, and secrets of web hooks.
    ("sk_live_", 10),
    ("rk_live_", 10),
    ("whsec_", 16),
    // GitHub: personal, OAuth, user-to-server, server-to-server and refresh tokens.
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    // GitLab.
    ("glpat-", 16),
    // Slack.
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    // AWS: ids of keys, lasting and temporary.
    ("AKIA", 16),
    ("ASIA", 16),
    // Google: API keys and OAuth access tokens.
    ("AIza", 30),
    ("ya29.", 20),
    // npm, PyPI, Hugging Face, SendGrid, DigitalOcean, Shopify, age.
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 20),
    ("SG.", 20),
    ("dop_v1_", 30),
    ("shpat_", 20),
    ("AGE-SECRET-KEY-", 20),
    // JSON Web Tokens that begin with their algorithm.
    ("eyJhbGciOi", 20),
    // Groq, Perplexity, xAI, Tavily.
    ("gsk_", 20),
    ("pplx-", 20),
    ("xai-", 20),
    ("tvly-", 16),
];

/// Labels of a secret value. Names may end with them: `ANTHROPIC_API_KEY`.
const LABELS: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "access-key",
    "private_key",
    "client_secret",
    "authorization",
];

/// Minimum number of characters of a value after a label.
const MIN_LABELLED_CHARS: usize = 8;

/// Number of bytes that decide whether a text is a key or a password, however long it is: examining more of each
/// candidate would take more than linear time.
pub(super) const LOOKED_AT: usize = 256;

/// Maximum number of examined characters of a name.
pub(super) const LONGEST_NAME: usize = 64;

pub(super) fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+')
}

/// Returns the length of the key at the beginning of a text, in bytes.
pub(super) fn key_at(text: &str) -> Option<usize> {
    KEYS.iter().find_map(|(beginning, least)| {
        let rest = text.strip_prefix(beginning)?;
        let first = rest.get(..boundary(rest, LOOKED_AT))?;
        let first = first.split(|c| !is_key_char(c)).next()?;
        // Names such as `sk-learn-extension-for-tests` have no digit.
        let is_key = first.len() >= *least && first.contains(|c: char| c.is_ascii_digit());
        is_key.then(|| beginning.len() + rest.find(|c| !is_key_char(c)).unwrap_or(rest.len()))
    })
}

/// `true` if a name is the label of a secret.
pub(super) fn is_label(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    LABELS.iter().any(|label| name.ends_with(label))
}

/// `true` if a value after a label may be a secret.
pub(super) fn is_value(value: &str) -> bool {
    value.chars().count() >= MIN_LABELLED_CHARS
        && value.contains(|c: char| c.is_ascii_digit())
        && !is_placeholder(value)
}

/// `true` if a value is a placeholder: `$TOKEN`, `<token>`, `***`.
pub(super) fn is_placeholder(value: &str) -> bool {
    value.is_empty()
        || value.starts_with(['$', '<', '{', '%', '*', '['])
        || value.chars().all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '…'))
}
