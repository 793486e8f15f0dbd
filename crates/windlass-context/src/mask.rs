//! Secrets in texts that leave the process: errors, notes, logs, what other programs print.
//!
//! Two things are looked for: values that the process knows (keys of providers, variables whose names say that they hold a
//! secret), and texts of the [forms](forms) that keys of well-known vendors have. A text is read once, from left to right, in
//! time that grows with its length, and it makes no difference in which pieces it comes.

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

/// What stands in the place of a secret.
const MASKED: &str = "[redacted]";

/// Shorter values are no secrets, and masking them would garble texts. In bytes.
const LEAST_VALUE: usize = 6;

/// Longer values are masked in pieces of this length, in bytes.
const LONGEST_VALUE: usize = 4096;

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

/// Masks secrets in texts: those of known forms, and the values that it was given. Cheap to clone. `Debug` shows no value.
///
/// A secret that was cut, encoded in another way than as JSON or in a URL, or that looks like any other word and was not
/// given, is not found.
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
    /// Longest first.
    values: Arc<Vec<String>>,
}

impl Masks {
    /// Masks what has a known form.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Masks this value too, also as it stands in JSON and in URLs. Of a value with white space, such as `Bearer x`, each
    /// word. Words of fewer than 6 bytes are not masked.
    #[must_use]
    pub fn with_value(mut self, value: &str) -> Self {
        self.add(value);
        self
    }

    /// Adds a value, as [`with_value`](Self::with_value) does.
    pub fn add(&mut self, value: &str) {
        let values = Arc::make_mut(&mut self.values);
        for word in value.split_whitespace() {
            for form in [word.to_owned(), in_json(word), in_url(word)] {
                let pieces = pieces(&form).filter(|piece| piece.len() >= LEAST_VALUE);
                values.extend(pieces.map(str::to_owned));
            }
        }
        values.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
    }

    /// Masks the values of those variables whose names say that they hold a secret: `GITHUB_TOKEN`, `DB_PASSWORD`.
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

    /// The text with each secret replaced by `[redacted]`.
    #[must_use]
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut stream = self.stream();
        let mut masked = stream.push(text);
        masked.push_str(&stream.finish());
        if masked == text { Cow::Borrowed(text) } else { Cow::Owned(masked) }
    }

    /// Masks a text that comes in pieces. What could be the beginning of a secret is held back: at most the last word.
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

/// What of a text has the form of a secret; `None` if nothing does.
#[must_use]
pub fn secret_in(text: &str) -> Option<SecretKind> {
    let (masks, mut scan) = (Masks::new(), Scan::default());
    text.split_whitespace().find_map(|run| scan.run(&masks, run, None).into_iter().map(|found| found.kind).min())
}

fn is_secret_variable(name: &str, value: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let names_one = upper.split(['_', '-', '.']).any(|word| SECRET_NAMES.contains(&word));
    // `PWD` is the directory; other values are paths, switches and counts.
    let is_plain = value.starts_with(['/', '~', '.']) || value.chars().all(|c| c.is_ascii_digit());
    names_one && !is_plain && !matches!(upper.as_str(), "PWD" | "OLDPWD") && value.len() >= 8
}

/// The end of the longest beginning of a text that has at most so many bytes.
fn boundary(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, behind) = rest.split_at_checked(boundary(rest, LONGEST_VALUE))?;
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
