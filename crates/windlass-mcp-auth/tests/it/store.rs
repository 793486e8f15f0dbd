//! Logins in files.

use crate::world::{AGREES, Held, SERVER, World, secret};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_mcp_auth::{Authorizer, FileTokenStore, LoginKey, OAuthConfig, TokenStore};

fn files(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
}

#[tokio::test]
async fn each_login_is_a_file_that_only_its_user_can_read() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("logins");
    let new = |account: &str| {
        let store = Arc::new(FileTokenStore::new(&folder));
        let mut config = OAuthConfig::default();
        account.clone_into(&mut config.account);
        Authorizer::new(SERVER, config, world.options(store, &Held::at(0))).unwrap()
    };
    new("").login(&AGREES).await.unwrap();
    new("work").login(&AGREES).await.unwrap();
    assert_eq!(
        (new("").token().await, new("work").token().await),
        (Some(secret("access-1")), Some(secret("access-2")))
    );
    assert_eq!(new("other").token().await, None);
    assert_eq!(files(&folder).len(), 2);
    #[cfg(unix)]
    for (path, mode) in files(&folder).iter().map(|file| (file, 0o600)).chain([(&folder, 0o700)]) {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, mode, "{path:?}");
    }
    assert!(new("").logout().await.unwrap());
    assert_eq!(files(&folder).len(), 1);
}

#[tokio::test]
async fn damaged_files_count_as_none_and_links_are_not_followed() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(FileTokenStore::new(folder.path()));
    let key = LoginKey::new(SERVER, "");
    let authorizer =
        Authorizer::new(SERVER, OAuthConfig::default(), world.options(store.clone(), &Held::at(0))).unwrap();
    authorizer.login(&AGREES).await.unwrap();
    let file = files(folder.path()).remove(0);
    let whole = std::fs::read(&file).unwrap();
    assert!(store.load(&key).await.unwrap().is_some_and(|login| login.has_tokens()));
    // Login of another server, under this name.
    let other = String::from_utf8(whole.clone()).unwrap().replace("mcp.example", "evil.example");
    for damaged in [&whole[..whole.len() / 2], b"", b"[1]", other.as_bytes()] {
        std::fs::write(&file, damaged).unwrap();
        assert_eq!(store.load(&key).await, Ok(None));
    }
    #[cfg(unix)]
    {
        let elsewhere = folder.path().join("elsewhere");
        std::fs::write(&elsewhere, &whole).unwrap();
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert!(store.load(&key).await.is_err());
    }
}
