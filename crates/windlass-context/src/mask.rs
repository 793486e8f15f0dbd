//! Masking of secrets in texts that leave the process: errors, notices, logs, output of other programs.
//!
//! Two kinds of secrets are found: values that the process knows (keys of providers, variables with the name of a
//! secret), and texts in the [forms](forms) of keys of well-known vendors. A text is read once, from left to right, in
//! time proportional to its length, and its splitting into pieces makes no difference.

mod forms;
mod run;
mod stream;
#[cfg(test)]
mod tests;

pub use forms::SecretKind;
pub use stream::MaskStream;

use run::Scan;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Replacement for a secret.
const MASKED: &str = "[redacted]";

/// Minimum length of a masked value, in bytes: masking shorter ones would garble texts.
const MIN_VALUE_BYTES: usize = 6;

/// Length in bytes of the pieces in which longer values are masked.
const MAX_VALUE_BYTES: usize = 4096;

/// Words in the name of a variable whose value is a secret.
const SECRET_NAMES: [&str; 11] = [
    "KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTHORIZATION",
];

/// Masks of secrets in texts: those of known forms, and given values. Cheap to clone. `Debug` shows no value.
///
/// A secret is not found if it was cut, encoded in another way than as JSON or in a URL, or if it looks like an
/// ordinary word and was not given.
///
/// ```
/// use windlass_context::Masks;
///
/// let masks = Masks::new().with_value("correct-horse");
/// assert_eq!(masks.mask("the server said: bad key correct-horse"), "the server said: bad key [redacted]");
/// assert_eq!(masks.mask("postgres://app:s3cret@db/x"), "postgres://app:[redacted]@db/x");
/// ```
#[derive(Clone, Default)]
pub struct Masks {
    /// Values, longest first.
    values: Arc<Vec<String>>,
}

impl Masks {
    /// Returns masks of known forms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds this value, also as encoded in JSON and in URLs. For a value with white space, such as `Bearer x`, each
    /// word is added. Words of fewer than 6 bytes are not masked.
    #[must_use]
    pub fn with_value(mut self, value: &str) -> Self {
        self.add(value);
        self
    }

    /// Adds a value like [`with_value`](Self::with_value).
    pub fn add(&mut self, value: &str) {
        let values = Arc::make_mut(&mut self.values);
        for word in value.split_whitespace() {
            for form in [word.to_owned(), in_json(word), in_url(word)] {
                let pieces = pieces(&form).filter(|piece| piece.len() >= MIN_VALUE_BYTES);
                values.extend(pieces.map(str::to_owned));
            }
        }
        values.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
    }

    /// Adds the values of variables with the name of a secret: `GITHUB_TOKEN`, `DB_PASSWORD`.
    #[must_use]
    pub fn with_environment<N: AsRef<str>, V: AsRef<str>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        for (name, value) in variables {
            if is_secret_variable(name.as_ref(), value.as_ref()) {
                self.add(value.as_ref());
            }
        }
        self
    }

    /// Returns the text with each secret replaced by `[redacted]`.
    #[must_use]
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut stream = self.stream();
        let mut masked = stream.push(text);
        masked.push_str(&stream.finish());
        if masked == text { Cow::Borrowed(text) } else { Cow::Owned(masked) }
    }

    /// Returns masks for a text that arrives in pieces. The possible beginning of a secret is held back: at most the
    /// last word.
    #[must_use]
    pub fn stream(&self) -> MaskStream {
        MaskStream::new(self.clone())
    }
}

impl fmt::Debug for Masks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masks").field("values", &self.values.len()).finish()
    }
}

/// Returns the kind of secret whose form occurs in a text; `None` if there is none.
#[must_use]
pub fn secret_in(text: &str) -> Option<SecretKind> {
    let (masks, mut scan) = (Masks::new(), Scan::default());
    text.split_whitespace().find_map(|run| scan.run(&masks, run, None).into_iter().map(|found| found.kind).min())
}

fn is_secret_variable(name: &str, value: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_secret_name = upper.split(['_', '-', '.']).any(|word| SECRET_NAMES.contains(&word));
    // `PWD` is the directory; other values are paths, switches and counts.
    let is_plain = value.starts_with(['/', '~', '.']) || value.chars().all(|c| c.is_ascii_digit());
    is_secret_name && !is_plain && !matches!(upper.as_str(), "PWD" | "OLDPWD") && value.len() >= 8
}

/// Returns the end of the longest beginning of a text that has at most `max_bytes` bytes.
fn boundary(text: &str, max_bytes: usize) -> usize {
    (0..=max_bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, behind) = rest.split_at_checked(boundary(rest, MAX_VALUE_BYTES))?;
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

fn in_json(word: &str) -> String {
    word.replace('\\', "\\\\").replace('"', "\\\"")
}

fn in_url(word: &str) -> String {
    let mut out = String::new();
    for byte in word.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
