//! Places of secrets: one table for reads, which ask; for the sandbox, which hides them; and for checkpoints, which
//! leave them out.

use std::collections::HashMap;
use std::path::{Component, Path};
use std::sync::LazyLock;

/// Places below the home of a user. The same names are secret below any other directory, such as a workspace.
/// Directories include everything below them.
pub const HOME_PLACES: &[&str] = &[
    // Keys and agents of the system.
    ".gnupg",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/keepassxc",
    ".password-store",
    ".pki",
    ".ssh",
    "Library/Keychains",
    // Clouds.
    ".aws",
    ".azure",
    ".boto",
    ".config/.wrangler",
    ".config/containers/auth.json",
    ".config/doctl",
    ".config/gcloud",
    ".config/hcloud",
    ".config/heroku",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".databrickscfg",
    ".docker/config.json",
    ".fly",
    ".kube",
    ".netrc",
    "_netrc",
    ".oci",
    ".s3cfg",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    // Code hosts and registries.
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".composer/auth.json",
    ".config/composer",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/hub",
    ".gem/credentials",
    ".git-credentials",
    ".git/config",
    ".gradle/gradle.properties",
    ".m2/settings.xml",
    ".npmrc",
    ".nuget/NuGet/NuGet.Config",
    ".pypirc",
    // Other agents and models.
    ".cache/huggingface/token",
    ".claude.json",
    ".claude/.credentials.json",
    ".claude/mcp-logins",
    ".codex/auth.json",
    ".config/github-copilot",
    ".config/ngrok",
    ".config/solana",
    ".config/stripe",
    ".gemini/oauth_creds.json",
    ".kaggle",
    ".local/share/opencode/auth.json",
    ".openai/auth.json",
    ".windlass/credentials",
    ".windlass/mcp-logins",
    // Wallets and databases.
    ".bitcoin",
    ".electrum",
    ".ethereum",
    ".my.cnf",
    ".pgpass",
    // Habits: histories, browsers, mail and chat.
    ".bash_history",
    ".mysql_history",
    ".node_repl_history",
    ".psql_history",
    ".python_history",
    ".sqlite_history",
    ".zsh_history",
    ".config/BraveSoftware",
    ".config/Slack",
    ".config/chromium",
    ".config/discord",
    ".config/google-chrome",
    ".mozilla",
    ".thunderbird",
    "Library/Application Support/BraveSoftware",
    "Library/Application Support/Firefox",
    "Library/Application Support/Google/Chrome",
];

/// More places below the home of a user: elsewhere files of these names are a project's own.
pub const HOME_ONLY_PLACES: &[&str] = &[".claude/settings.json", ".windlass/settings.json", ".yarnrc.yml"];

/// Places of the system, absolute.
pub const SYSTEM_PLACES: &[&str] =
    &["/etc/gshadow", "/etc/shadow", "/etc/ssl/private", "/run/docker.sock", "/var/run/docker.sock"];

/// Places of a project's own, which its programs need: the sandbox hides only those of the home.
const PROJECT_PLACES: &[&str] = &[".git/config", ".npmrc"];

/// Names of files, in any directory.
const FILES: &[&str] = &[
    ".credentials.json",
    ".env",
    ".envrc",
    ".htpasswd",
    "authorized_keys",
    "credentials",
    "gshadow",
    "secrets",
    "shadow",
    "sudoers",
    "wp-config.php",
];

const ENDINGS: &[&str] = &["jks", "kdbx", "key", "keystore", "p12", "pem", "pfx", "tfstate"];

/// Files of keys, before a suffix. The public half ends with `.pub`.
const KEYS: &[&str] = &["id_dsa", "id_ecdsa", "id_ed25519", "id_rsa"];

/// Endings of files that hold data: `secrets.yml` is a place of secrets, `secrets.rs` is source text.
const DATA: &[&str] =
    &["cfg", "conf", "csv", "db", "enc", "env", "ini", "json", "properties", "toml", "txt", "xml", "yaml", "yml"];

/// Endings of `.env` files that only show the names of variables.
const EXAMPLES: &[&str] = &["defaults", "dist", "example", "md", "sample", "schema", "template", "tmpl"];

/// The places of the home by their first name, folded.
static BY_FIRST_NAME: LazyLock<HashMap<String, Vec<Vec<String>>>> = LazyLock::new(|| {
    let mut places: HashMap<String, Vec<Vec<String>>> = HashMap::new();
    for place in HOME_PLACES {
        let mut names = place.split('/').map(str::to_lowercase);
        places.entry(names.next().unwrap_or_default()).or_default().push(names.collect());
    }
    places
});

/// `true` for places in which people keep secrets, and all below them: keys, credentials, `.env`, histories of shells.
///
/// ```
/// use std::path::Path;
/// use windlass_types::secret::is_secret;
///
/// assert!(is_secret(Path::new("/w/.env")) && is_secret(Path::new("/home/me/.ssh")));
/// assert!(!is_secret(Path::new("/w/.env.example")) && !is_secret(Path::new("/w/src/secrets.rs")));
/// ```
#[must_use]
pub fn is_secret(path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let of_home = names.iter().enumerate().any(|(at, first)| {
        let rest = names.get(at.saturating_add(1)..).unwrap_or_default();
        BY_FIRST_NAME.get(first).into_iter().flatten().any(|place| rest.starts_with(place))
    });
    let of_system = || SYSTEM_PLACES.iter().any(|place| path.starts_with(place)) || path.starts_with("/proc");
    of_home || names.last().is_some_and(|name| is_secret_name(name)) || of_system()
}

/// Returns `true` for places of secrets that a search of a whole tree shows by accident: texts such as `.env` and
/// credentials. Keys by the endings of their names are mostly those of tests, and a project's own `.git/config` and
/// `.npmrc` seldom contain a token.
#[must_use]
pub fn is_secret_text(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let is_key = name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending) && ending != "tfstate");
    let is_of_project = PROJECT_PLACES.iter().any(|place| path.ends_with(place));
    is_secret(path) && !is_key && !is_of_project
}

/// Returns `true` for places that contain secrets only in the home of a user.
#[must_use]
pub fn is_secret_of_home(path: &Path, home: Option<&Path>) -> bool {
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    below.is_some_and(|below| HOME_ONLY_PLACES.iter().any(|place| below.starts_with(place)))
}

/// Returns `true` if a directory contains places of secrets, because it is the home or above it.
#[must_use]
pub fn holds_home(directory: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| home.starts_with(directory))
}

/// Places below a directory of the workspace that the sandbox hides: those of a home that no program of a project needs.
pub fn places_in_workspace() -> impl Iterator<Item = &'static str> {
    HOME_PLACES.iter().copied().filter(|place| !PROJECT_PLACES.contains(place))
}

/// Returns `true` if a lower-case file name is a place of secrets.
fn is_secret_name(name: &str) -> bool {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let data = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.split('.').next().is_some_and(|part| part.len() < 12))
            && DATA.contains(&ending)
    };
    let environment =
        name.strip_prefix(".env.").is_some_and(|rest| !rest.split('.').any(|part| EXAMPLES.contains(&part)));
    FILES.contains(&name)
        || ENDINGS.contains(&ending)
        || environment
        || (ending == "backup" && stem.ends_with(".tfstate"))
        || (ending != "pub" && KEYS.iter().any(|key| name.starts_with(key)))
        || (name.starts_with('.') && name.ends_with("history"))
        || data("secrets")
        || data("secret.")
        || data("credentials")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places that were tried, one of each kind.
    #[test]
    fn every_place_of_the_table_is_known_wherever_it_lies() {
        for root in ["/home/me", "/w", "/w/vendor/x"] {
            for place in HOME_PLACES {
                for path in [
                    format!("{root}/{place}"),
                    format!("{root}/{place}/below"),
                    format!("{root}/{place}").to_uppercase(),
                ] {
                    assert!(is_secret(Path::new(&path)), "{path}");
                }
            }
        }
        for place in SYSTEM_PLACES {
            assert!(is_secret(Path::new(place)), "{place}");
        }
        for path in [
            "/w/.env",
            "/w/.env.local",
            "/w/.env.production",
            "/w/.envrc",
            "/w/secrets.yml",
            "/w/secrets.toml",
            "/w/credentials.json",
            "/w/credentials",
            "/w/terraform.tfstate",
            "/w/terraform.tfstate.backup",
            "/w/.htpasswd",
            "/w/wp-config.php",
            "/w/config/master.key",
            "/w/server.PEM",
            "/w/a.p12",
            "/w/a.jks",
            "/w/id_rsa",
            "/w/id_ed25519_work",
            "/w/.git/config",
            "/proc/self/environ",
            "/proc/1/mem",
            "/proc/7/fd/3",
            "/h/.bash_history",
            "/h/.lesshst_history",
        ] {
            assert!(is_secret(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn everyday_files_are_free() {
        for path in [
            "/w/.env.example",
            "/w/.env.sample",
            "/w/.env.template",
            "/w/.env.local.example",
            "/w/.env.dist",
            "/w/environment.md",
            "/w/docs/history.md",
            "/w/.github/x.md",
            "/w/keys.md",
            "/w/id_types.md",
            "/w/src/secrets.rs",
            "/w/src/credentials.go",
            "/w/credentials_test.py",
            "/w/id_rsa.pub",
            "/w/.gitignore",
            "/w/.git/HEAD",
            "/w/.claude/settings.json",
            "/w/.yarnrc.yml",
            "/w/.docker/Dockerfile",
            "/w/CLAUDE.md",
            "/w/.config/app.toml",
            "/w/.cargo/config.toml",
            "/w/package.json",
            "/w/proc/x.rs",
            "/w/HISTORY.md",
            "/",
        ] {
            assert!(!is_secret(Path::new(path)), "{path}");
        }
    }
}
