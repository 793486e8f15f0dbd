//! Where credentials are kept: what names such a place is never left to a classifier.

use std::path::Path;

/// Names of directories and files, lower case.
const NAMES: &[&str] = &[
    ".aws",
    ".azure",
    ".docker",
    ".env",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".ssh",
    "authorized_keys",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "gcloud",
    "gshadow",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "keychains",
    "keyrings",
    "mcp-logins",
    "shadow",
    "sudoers",
];

fn is_credential(name: &str) -> bool {
    let name = name.to_lowercase();
    NAMES.contains(&name.as_str()) || name.starts_with(".env.")
}

/// Whether a path leads to, or into, a place where credentials are kept.
pub(super) fn holds_credentials(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().to_str().is_some_and(is_credential))
}

/// Whether a word of a command names such a place, also behind `@`, `=` or `:`.
pub(super) fn names_credentials(word: &str) -> bool {
    word.split(['/', '@', '=', ':', ',', '\\']).any(|name| is_credential(name.trim_matches(['"', '\''])))
}
