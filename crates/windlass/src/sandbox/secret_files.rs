//! Files of a workspace that hold a token, by the table of places of secrets and by their text.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use windlass_context::secret_in;
use windlass_types::secret::is_secret;

/// Maximum number of entries of folders that are looked at, the upper folders first.
const MAX_ENTRIES: usize = 5_000;
/// Maximum number of files that are emptied.
const MAX_FILES: usize = 256;
/// Bytes that are read of a file.
const MAX_BYTES: u64 = 64 * 1024;
/// Folders that are not searched: version control, packages and builds.
const SKIPPED_FOLDERS: &[&str] = &[".git", ".hg", ".jj", ".svn", ".venv", "node_modules", "target", "venv"];
/// Endings of files of keys, which tests and servers of a project need.
const KEYS: &[&str] = &["jks", "kdbx", "key", "keystore", "p12", "pem", "pfx"];

/// The files below a directory that hold a token.
pub(super) fn below(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let (mut folders, mut entries) = (VecDeque::from([root.to_path_buf()]), 0_usize);
    while let Some(folder) = folders.pop_front() {
        if folder.join(".git").symlink_metadata().is_ok() {
            found.extend(of_repository(&folder.join(".git")));
        }
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            entries = entries.saturating_add(1);
            if entries > MAX_ENTRIES || found.len() >= MAX_FILES {
                return found;
            }
            let (path, name) = (entry.path(), entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !name.to_str().is_some_and(|name| SKIPPED_FOLDERS.contains(&name)) {
                folders.push_back(path);
            } else if !is_folder && is_candidate(path.strip_prefix(root).unwrap_or(&path)) && holds_token(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// `true` for a place of secrets whose text decides.
fn is_candidate(below: &Path) -> bool {
    let ending = below.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    let is_key = KEYS.contains(&ending.as_str()) && below.file_name().is_some_and(|name| name != "master.key");
    is_secret(below) && !is_key
}

/// Returns the configuration files of a repository that contain a token: its own, those of its submodules, and the one
/// that a worktree shares.
fn of_repository(git: &Path) -> Vec<PathBuf> {
    let directory = match read(git) {
        Some(link) if git.is_file() => {
            let Some(target) = link.trim().strip_prefix("gitdir:") else { return Vec::new() };
            git.parent().unwrap_or(git).join(target.trim())
        }
        _ => git.to_path_buf(),
    };
    let common = read(&directory.join("commondir")).map(|common| directory.join(common.trim()));
    let modules = directory.join("modules").read_dir().into_iter().flatten().flatten().take(MAX_FILES);
    let modules: Vec<PathBuf> = modules.map(|module| module.path()).collect();
    let directories = std::iter::once(directory).chain(common).chain(modules);
    let configurations =
        directories.flat_map(|directory| ["config", "config.worktree"].map(|name| directory.join(name)));
    configurations.filter(|path| holds_token(path)).collect()
}

/// `true` if a text of a place of secrets holds a token or password.
fn holds_token(path: &Path) -> bool {
    let Some(text) = read(path) else { return false };
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';']));
    match name.as_str() {
        "master.key" | "secrets" | "credentials" | "shadow" | "gshadow" => !text.trim().is_empty(),
        ".htpasswd" => lines.any(|line| line.contains(':')),
        ".netrc" | "_netrc" => text.contains("password"),
        ".npmrc" => lines.any(is_login_of_npm) || secret_in(&text).is_some(),
        "config" | "config.worktree" => lines.any(is_login_of_git) || secret_in(&text).is_some(),
        _ => secret_in(&text).is_some() || lines.any(is_named_secret),
    }
}

/// `//registry/:_authToken=x`, but not `${NPM_TOKEN}`, which names a variable.
fn is_login_of_npm(line: &str) -> bool {
    let Some((key, value)) = line.split_once('=') else { return false };
    let names = ["_auth", "_authtoken", "_password"];
    let key = key.trim().to_ascii_lowercase();
    let value = value.trim().trim_matches('"');
    names.iter().any(|name| key.ends_with(name)) && !value.is_empty() && !value.starts_with("${")
}

/// `url = https://TOKEN@host/`, `extraheader = AUTHORIZATION: …`, `password = …`
fn is_login_of_git(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let has_user = |address: &str| {
        let host = address.split(['/', '"', ']']).next().unwrap_or_default();
        host.rsplit_once('@').is_some_and(|(user, _)| !user.is_empty() && user != "git")
    };
    let mut addresses = ["https://", "http://"].iter().flat_map(|scheme| lower.split(scheme).skip(1));
    let key = lower.split('=').next().unwrap_or_default().trim();
    addresses.any(has_user) || key.ends_with("extraheader") || matches!(key, "password" | "token" | "oauthtoken")
}

/// `SESSION_KEY=…`, `"password": "…"`: a name that means a secret, with a value of its own.
fn is_named_secret(line: &str) -> bool {
    const NAMES: &[&str] = &["auth", "credential", "key", "pass", "pw", "salt", "secret", "sentry_dsn", "token"];
    let Some((name, value)) = line.split_once(['=', ':']) else { return false };
    let name = name.trim().trim_start_matches("export ").trim_matches(['"', '\'']).to_ascii_lowercase();
    let value = value.trim().trim_end_matches([',', ';']).trim_matches(['"', '\'']);
    let is_plain = value.len() < 6
        || value.starts_with(['$', '<', '{', '/', '.'])
        || value.chars().all(|c| c.is_ascii_digit())
        || matches!(value.to_ascii_lowercase().as_str(), "changeme" | "example" | "false" | "password" | "secret");
    !is_plain && NAMES.iter().any(|part| name.contains(part))
}

fn read(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_are_chosen_by_the_table_and_by_their_text() {
        let place = tempfile::tempdir().unwrap();
        let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let files = [
            (".env", "PORT=3000\nSTRIPE=sk_live_0123456789abcdef\n".to_owned(), true),
            ("web/.env", "DATABASE_PASSWORD=hunter2hunter2\n".to_owned(), true),
            ("web/.env.local", "SESSION_SECRET=\"correct horse\"\n".to_owned(), true),
            ("db/.env", "URL=postgres://app:s3cret-word@db/x\n".to_owned(), true),
            ("plain/.env", "PORT=3000\nDEBUG=true\nAPI_KEY=\nTOKEN=$TOKEN\n".to_owned(), false),
            (".env.example", "API_KEY=sk_live_0123456789abcdef\n".to_owned(), false),
            (".npmrc", "//registry.npmjs.org/:_authToken=00112233-4455\n".to_owned(), true),
            ("web/.npmrc", "registry=https://r\n//r/:_authToken=${NPM_TOKEN}\n".to_owned(), false),
            ("a/.netrc", "machine h login me password pw\n".to_owned(), true),
            (".git/config", format!("[remote \"origin\"]\n\turl = https://{token}@github.com/a/b\n"), true),
            (".git/modules/m/config", "[http]\n\textraheader = AUTHORIZATION: basic eA==\n".to_owned(), true),
            ("other/.git/config", "[remote \"origin\"]\n\turl = https://github.com/a/b\n".to_owned(), false),
            ("third/.git/config", "[remote \"origin\"]\n\turl = ssh://git@github.com/a/b\n".to_owned(), false),
            ("config/master.key", "0123456789abcdef0123456789abcdef".to_owned(), true),
            ("tests/server.key", "-----BEGIN PRIVATE KEY-----\n".to_owned(), false),
            ("infra/terraform.tfstate", "{\"password\": \"hunter2hunter2\"}".to_owned(), true),
            ("secrets.yml", "token: 0123456789abcdef\n".to_owned(), true),
            ("src/secrets.rs", format!("const T: &str = \"{token}\";"), false),
            ("node_modules/x/.env", "API_KEY=sk_live_0123456789abcdef\n".to_owned(), false),
            ("README.md", format!("token = {token}"), false),
        ];
        for (name, text, _) in &files {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut found: Vec<PathBuf> = below(place.path());
        found.sort();
        let mut expected: Vec<PathBuf> =
            files.iter().filter(|(.., hidden)| *hidden).map(|(name, ..)| place.path().join(name)).collect();
        expected.sort();
        assert_eq!(found, expected);
    }
}
