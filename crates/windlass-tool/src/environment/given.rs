//! Variables that the host or the settings name: all are passed on, except keys and those that change which code
//! programs load.

use super::{INHERITED, holds_password, is_never, is_same_name};
use std::ffi::{OsStr, OsString};

/// Suffixes of a name part that mark a secret, such as `GITHUB_TOKEN` or `PGPASSWORD`.
const SECRET_ENDINGS: &[&str] = &[
    "APIKEY",
    "COOKIE",
    "CREDENTIAL",
    "CREDENTIALS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
];
/// Whole name parts that mark a secret, such as `SIGNING_KEY` or `MYSQL_PWD`.
const SECRET_PARTS: &[&str] = &["AUTH", "JWT", "KEY", "KEYS", "PAT", "PWD"];
/// Names that look like a secret and are none.
const NO_SECRETS: &[&str] = &["OLDPWD", "PWD"];
/// Names that hold keys although they do not look like it.
const KEYS: &[&str] = &["ANTHROPIC_CUSTOM_HEADERS"];

/// Variables from a host, split into passed and withheld ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct GivenEnvironment {
    /// Variables that programs get.
    pub passed: Vec<(OsString, OsString)>,
    /// Names of the withheld variables, in order.
    pub kept_back: Vec<String>,
}

/// Splits variables that a host set on purpose, such as the `env` option of an SDK or of settings.
///
/// Programs get all of them except three kinds. Secrets by name are `…_TOKEN`, `…_KEY`, `…PASSWORD` and the like,
/// including keys of model providers. Proxy addresses with a password are the second kind. The third kind makes a
/// program load or run other code than its name suggests: `LD_*`, `BASH_ENV`, most of `GIT_*` and the like. For the
/// environment that a process merely happens to have, use [`host_environment`](super::host_environment).
pub fn given_environment(given: impl IntoIterator<Item = (OsString, OsString)>) -> GivenEnvironment {
    let mut parted = GivenEnvironment::default();
    for (name, value) in given {
        if is_never(&name) || is_secret(&name) || holds_password(&name, &value) {
            parted.kept_back.push(name.to_string_lossy().into_owned());
        } else {
            parted.passed.push((name, value));
        }
    }
    parted
}

fn is_secret(name: &OsStr) -> bool {
    // A name that is not text cannot be known to be harmless.
    let Some(name) = name.to_str() else { return true };
    if INHERITED.iter().any(|known| is_same_name(known, name)) || NO_SECRETS.contains(&name) {
        return false;
    }
    let upper = name.to_ascii_uppercase();
    let mut parts = upper.split(|character: char| !character.is_ascii_alphanumeric());
    KEYS.contains(&upper.as_str())
        || parts.any(|part| SECRET_PARTS.contains(&part) || SECRET_ENDINGS.iter().any(|ending| part.ends_with(ending)))
}
