//! Logins in files that only their user can read.

use super::{LoginKey, SavedLogin, StoreLock, TokenStore, TokenStoreError};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use windlass_blocking::run_blocking;
use windlass_tool::private_file;

/// Maximum size of a file that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// Maximum number of attempts to take a lock, 10 ms apart. A renewal takes at most 30 s.
const MOST_TRIES: u32 = 4000;

/// Store with a file (mode 0600) for each login in one folder (mode 0700), replaced atomically. A file beside it is the
/// lock between processes.
#[derive(Debug, Clone)]
pub struct FileTokenStore {
    folder: PathBuf,
}

/// Content of a file.
#[derive(Serialize, Deserialize)]
struct StoredTokens<L> {
    server: String,
    account: String,
    login: L,
}

impl FileTokenStore {
    /// Creates a store in a folder, which is created when the first login is saved.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the file of a key. Its name reveals nothing about the server.
    fn file(&self, key: &LoginKey) -> PathBuf {
        let digest = Sha256::new().chain_update(&key.server).chain_update([0]).chain_update(&key.account).finalize();
        let digits: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{digits}.json"))
    }
}

/// Runs work that blocks on the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TokenStoreError> + Send + 'static,
) -> Result<T, TokenStoreError> {
    run_blocking(work).await.unwrap_or_else(|why| Err(TokenStoreError::new(why.to_string())))
}

#[async_trait]
impl TokenStore for FileTokenStore {
    async fn load(&self, key: &LoginKey) -> Result<Option<SavedLogin>, TokenStoreError> {
        let (file, key) = (self.file(key), key.clone());
        blocking(move || {
            let Some(text) = read(&file)? else { return Ok(None) };
            let kept: Option<StoredTokens<SavedLogin>> = serde_json::from_slice(&text).ok();
            Ok(kept.filter(|kept| kept.server == key.server && kept.account == key.account).map(|kept| kept.login))
        })
        .await
    }

    async fn save(&self, key: &LoginKey, login: &SavedLogin) -> Result<(), TokenStoreError> {
        let kept = StoredTokens { server: key.server.clone(), account: key.account.clone(), login };
        let text = serde_json::to_vec_pretty(&kept).map_err(|error| TokenStoreError::new(error.to_string()))?;
        let (folder, file) = (self.folder.clone(), self.file(key));
        blocking(move || {
            private_file::create_dir(&folder)?;
            Ok(private_file::replace(&file, &text)?)
        })
        .await
    }

    async fn remove(&self, key: &LoginKey) -> Result<(), TokenStoreError> {
        let file = self.file(key);
        blocking(move || match std::fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        })
        .await
    }

    async fn lock(&self, key: &LoginKey) -> Result<StoreLock, TokenStoreError> {
        let (folder, path) = (self.folder.clone(), self.file(key).with_extension("lock"));
        blocking(move || {
            private_file::create_dir(&folder)?;
            let file = open_lock(&path)?;
            if private_file::lock(&file, File::try_lock, |tried| tried < MOST_TRIES)? {
                Ok(StoreLock::of(file))
            } else {
                Err(TokenStoreError::new("another program has been renewing the tokens for too long".to_owned()))
            }
        })
        .await
    }
}

/// Reads the content of a file, if it exists. Links are not followed.
fn read(path: &Path) -> Result<Option<Vec<u8>>, TokenStoreError> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
        Ok(found) if !found.is_file() => {
            return Err(TokenStoreError::new("the file of a login is not a file".to_owned()));
        }
        Ok(_) => {}
    }
    let mut text = Vec::new();
    File::open(path)?.take(LARGEST).read_to_end(&mut text)?;
    Ok(Some(text))
}

fn open_lock(path: &Path) -> std::io::Result<File> {
    match private_file::create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => OpenOptions::new().write(true).open(path),
        opened => opened,
    }
}
