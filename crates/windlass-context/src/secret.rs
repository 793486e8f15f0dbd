//! Files in which people keep secrets.

use std::path::Path;

/// Whether people keep secrets in files of such a path: keys, credentials, `.env`, histories of shells. Nothing of such a file
/// is shown to a model because another file names it, or because it lies in the project.
#[must_use]
pub fn is_secret(path: &Path) -> bool {
    const FOLDERS: [&str; 11] = [
        ".ssh",
        ".gnupg",
        ".aws",
        ".azure",
        ".kube",
        ".docker",
        "gcloud",
        ".git",
        "keyrings",
        ".password-store",
        "proc",
    ];
    const FILES: [&str; 14] = [
        ".netrc",
        "_netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".my.cnf",
        ".htpasswd",
        ".git-credentials",
        "credentials",
        "credentials.json",
        ".credentials.json",
        "secrets",
        "shadow",
        ".claude.json",
    ];
    const ENDINGS: [&str; 6] = ["pem", "key", "p12", "pfx", "kdbx", "keystore"];
    let lower = |part: &std::ffi::OsStr| part.to_string_lossy().to_lowercase();
    let name = path.file_name().map(lower).unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let folders = path.parent().map(|folder| folder.components().map(|part| lower(part.as_os_str())));
    folders.into_iter().flatten().any(|folder| FOLDERS.contains(&folder.as_str()))
        || FILES.contains(&name.as_str())
        || ENDINGS.contains(&ending)
        || name == ".env"
        || name.starts_with(".env.")
        || ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].iter().any(|key| name.starts_with(key))
        || name.starts_with('.') && name.contains("history")
        || name.starts_with("secrets.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_places() {
        for path in [
            "/w/.env",
            "/w/.env.local",
            "/h/.ssh/config",
            "/h/.SSH/id_rsa",
            "/h/.aws/credentials",
            "/w/server.PEM",
            "/h/.netrc",
            "/w/.git/config",
            "/h/.config/gcloud/x.json",
            "/h/.bash_history",
            "/proc/self/environ",
            "/w/secrets.toml",
            "/h/.claude.json",
        ] {
            assert!(is_secret(Path::new(path)), "{path}");
        }
        for path in [
            "/w/CLAUDE.md",
            "/w/environment.md",
            "/w/docs/history.md",
            "/w/.github/x.md",
            "/w/keys.md",
            "/w/id_types.md",
        ] {
            assert!(!is_secret(Path::new(path)), "{path}");
        }
    }
}
