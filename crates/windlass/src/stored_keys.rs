//! Keys of model providers that a person has stored.

use crate::home::Home;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use windlass_tool::content_swap::ContentChanged;
use windlass_tool::private_file::{self, AtomicFile};

/// File of the keys, in a home. Files of this name are places of secrets wherever they lie.
const FILE: &str = "credentials";
/// Maximum size of the file that is read, in bytes.
const LARGEST: u64 = 256 * 1024;
/// Maximum length of a key, in bytes.
const LONGEST_KEY: usize = 16 * 1024;
/// Maximum number of attempts to change the file while other programs change it.
const MAX_ATTEMPTS: usize = 20;

/// Vendors with the variables of their keys. The stored key takes the place of the first variable, unless one of them is set.
const VENDORS: &[(&str, &[&str])] = &[
    ("anthropic", &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]),
    ("openai", &["OPENAI_API_KEY"]),
    ("gemini", &["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
    ("azure", &["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"]),
    ("bedrock", &["AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE"]),
    ("deepseek", &["DEEPSEEK_API_KEY"]),
    ("groq", &["GROQ_API_KEY"]),
    ("litellm", &["LITELLM_API_KEY", "LITELLM_MASTER_KEY"]),
    ("llama.cpp", &["LLAMA_API_KEY"]),
    ("lmstudio", &["LMSTUDIO_API_KEY"]),
    ("mistral", &["MISTRAL_API_KEY"]),
    ("moonshot", &["MOONSHOT_API_KEY"]),
    ("ollama", &["OLLAMA_API_KEY"]),
    ("openrouter", &["OPENROUTER_API_KEY"]),
    ("qwen", &["DASHSCOPE_API_KEY"]),
    ("together", &["TOGETHER_API_KEY"]),
    ("vllm", &["VLLM_API_KEY"]),
    ("xai", &["XAI_API_KEY"]),
    ("zai", &["ZAI_API_KEY"]),
];

/// Keys that `windlass login` stores in a file of the user's home, which only the user can read (mode 0600).
///
/// Providers of a [`LoadedProject`](crate::project::LoadedProject) use the key of a vendor if neither the program, nor
/// settings, nor the environment name one.
///
/// ```
/// use windlass::{Home, provider::StoredKeys};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let keys = StoredKeys::of(&Home::new(folder.path()));
/// keys.store("anthropic", "sk-1")?;
/// assert_eq!(keys.vendors()?, ["anthropic"]);
/// assert_eq!(keys.variable("ANTHROPIC_API_KEY", |_| None).as_deref(), Some("sk-1"));
/// assert!(keys.remove("anthropic")?);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKeys {
    file: PathBuf,
}

/// Error of [`StoredKeys`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredKeysError {
    /// No provider of this name takes a key.
    #[error("no vendor is named {vendor:?}: there are {known}")]
    UnknownVendor {
        /// The given name.
        vendor: String,
        /// Names of the vendors, separated by commas.
        known: String,
    },
    /// The text cannot be a key.
    #[error("this is no key: a key is one word of at most {LONGEST_KEY} visible ASCII characters")]
    InvalidKey,
    /// The file cannot be read or written.
    #[error("the keys in {} cannot be used: {problem}", file.display())]
    File {
        /// Path of the file.
        file: PathBuf,
        /// Error of the file system.
        problem: std::io::Error,
    },
}

impl StoredKeys {
    /// The keys in a home.
    pub fn of(home: &Home) -> Self {
        Self { file: home.root().join(FILE) }
    }

    /// The keys of the user whom variables name: in `WINDLASS_HOME`, else in `~/.windlass`, also where an SDK chose another
    /// home for sessions. `None` if no variable names an absolute path.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let set = |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let user = || set("HOME").or_else(|| set("USERPROFILE")).map(|user| user.join(".windlass"));
        let home = set("WINDLASS_HOME").or_else(user)?;
        Some(Self { file: home.join(FILE) })
    }

    /// Path of the file. It exists only once a key is stored.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Names of the vendors whose keys can be stored: the prefixes of their models.
    pub fn known_vendors() -> impl Iterator<Item = &'static str> {
        VENDORS.iter().map(|(name, _)| *name)
    }

    /// Variables that hold a key of a vendor. None for an unknown name.
    pub fn variables_of(vendor: &str) -> &'static [&'static str] {
        VENDORS.iter().find(|(name, _)| *name == vendor).map_or(&[], |(_, variables)| variables)
    }

    /// Names of the vendors whose keys are stored, in order.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub fn vendors(&self) -> Result<Vec<String>, StoredKeysError> {
        let text = self.read()?.unwrap_or_default();
        let mut vendors: Vec<String> = entries(&text).map(|(vendor, _)| vendor.to_owned()).collect();
        vendors.sort_unstable();
        Ok(vendors)
    }

    /// Stores the key of a vendor in place of an earlier one. The file is replaced in one step.
    ///
    /// # Errors
    /// The vendor is unknown, the text is no key, or the file cannot be written.
    pub fn store(&self, vendor: &str, key: &str) -> Result<(), StoredKeysError> {
        check(vendor)?;
        let key = key.trim();
        if key.is_empty() || key.len() > LONGEST_KEY || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(StoredKeysError::InvalidKey);
        }
        self.change(vendor, Some(key)).map(drop)
    }

    /// Removes the key of a vendor. Returns `true` if there was one. The last key takes the file with it.
    ///
    /// # Errors
    /// The vendor is unknown, or the file cannot be read or changed.
    pub fn remove(&self, vendor: &str) -> Result<bool, StoredKeysError> {
        check(vendor)?;
        self.change(vendor, None)
    }

    /// Value of a variable of a provider: that of `lookup`, else the stored key of the vendor, if `lookup` has no value of
    /// another variable that holds a key of the same vendor. An empty value is treated as missing. A file that cannot be
    /// read holds no key.
    pub fn variable(&self, name: &str, lookup: impl Fn(&str) -> Option<String>) -> Option<String> {
        let own_value = lookup(name);
        let is_set = |name: &&str| lookup(name).is_some_and(|value| !value.trim().is_empty());
        let vendor = VENDORS.iter().find(|(_, variables)| variables.first() == Some(&name));
        match vendor {
            Some((vendor, variables)) if !variables.iter().any(is_set) => self.key(vendor).or(own_value),
            _ => own_value,
        }
    }

    /// Stored key of a vendor.
    fn key(&self, vendor: &str) -> Option<String> {
        let text = self.read().unwrap_or_else(|error| {
            tracing::warn!(%error, "no stored key is used");
            None
        })?;
        entries(&text).find(|(name, _)| *name == vendor).map(|(_, key)| key.to_owned())
    }

    /// Content of the file, if it exists.
    fn read(&self) -> Result<Option<String>, StoredKeysError> {
        let read = || {
            if !self.file.symlink_metadata()?.is_file() {
                return Err(std::io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
            }
            let mut text = String::new();
            File::open(&self.file)?.take(LARGEST).read_to_string(&mut text)?;
            Ok(text)
        };
        match read() {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(problem) => Err(self.error(problem)),
        }
    }

    /// Replaces or removes the line of a vendor. Returns `true` if there was one.
    fn change(&self, vendor: &str, key: Option<&str>) -> Result<bool, StoredKeysError> {
        let mut result = Err(std::io::Error::from(ErrorKind::WouldBlock));
        for _ in 0..MAX_ATTEMPTS {
            let old = self.read()?;
            let text = old.as_deref().unwrap_or_default();
            let was_there = entries(text).any(|(name, _)| name == vendor);
            if key.is_none() && !was_there {
                return Ok(false);
            }
            let mut lines: Vec<(&str, &str)> = entries(text).filter(|(name, _)| *name != vendor).collect();
            lines.extend(key.map(|key| (vendor, key)));
            result = self.write(old.as_deref(), &lines).map(|()| was_there);
            // Only a change by another program is tried again.
            if !result
                .as_ref()
                .is_err_and(|error| ContentChanged::is(error) || error.kind() == ErrorKind::AlreadyExists)
            {
                break;
            }
        }
        result.map_err(|problem| self.error(problem))
    }

    fn write(&self, old: Option<&str>, lines: &[(&str, &str)]) -> std::io::Result<()> {
        if lines.is_empty() {
            return std::fs::remove_file(&self.file);
        }
        if let Some(home) = self.file.parent() {
            private_file::create_dir(home)?;
        }
        let mut new = AtomicFile::create(&self.file)?;
        for (vendor, key) in lines {
            writeln!(new.file(), "{vendor}={key}")?;
        }
        new.replace_expected(old.map(str::as_bytes))?;
        private_file::sync_names(&self.file)
    }

    fn error(&self, problem: std::io::Error) -> StoredKeysError {
        StoredKeysError::File { file: self.file.clone(), problem }
    }
}

/// Vendors and keys of a file.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('=')).map(|(vendor, key)| (vendor.trim(), key.trim()))
}

fn check(vendor: &str) -> Result<(), StoredKeysError> {
    if StoredKeys::known_vendors().any(|known| known == vendor) {
        return Ok(());
    }
    let known = StoredKeys::known_vendors().collect::<Vec<_>>().join(", ");
    Err(StoredKeysError::UnknownVendor { vendor: vendor.to_owned(), known })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(folder: &tempfile::TempDir) -> StoredKeys {
        StoredKeys::of(&Home::new(folder.path().join("home")))
    }

    #[test]
    fn keys_are_stored_replaced_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(&folder);
        assert!(keys.vendors().unwrap().is_empty() && !keys.remove("openai").unwrap());
        keys.store("openai", " sk-1\n").unwrap();
        keys.store("anthropic", "sk-2").unwrap();
        keys.store("openai", "sk-3").unwrap();
        assert_eq!(keys.vendors().unwrap(), ["anthropic", "openai"]);
        assert_eq!(keys.variable("OPENAI_API_KEY", |_| None).as_deref(), Some("sk-3"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(keys.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!(keys.remove("openai").unwrap() && keys.remove("anthropic").unwrap());
        assert!(!keys.file().exists());
    }

    #[test]
    fn a_variable_of_the_vendor_precedes_the_stored_key() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(&folder);
        keys.store("anthropic", "sk-stored").unwrap();
        let variable = |pairs: &[(&str, &str)]| {
            let lookup = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            keys.variable("ANTHROPIC_API_KEY", lookup)
        };
        assert_eq!(variable(&[]).as_deref(), Some("sk-stored"));
        assert_eq!(variable(&[("ANTHROPIC_API_KEY", " ")]).as_deref(), Some("sk-stored"));
        assert_eq!(variable(&[("ANTHROPIC_API_KEY", "sk-env")]).as_deref(), Some("sk-env"));
        assert_eq!(variable(&[("ANTHROPIC_AUTH_TOKEN", "token")]), None);
        assert_eq!(keys.variable("ANTHROPIC_AUTH_TOKEN", |_| None), None);
    }

    #[test]
    fn texts_that_are_no_keys_and_unknown_vendors_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(&folder);
        for text in ["", "  ", "two words", "sk-\u{e9}", "sk\n1", &"x".repeat(LONGEST_KEY + 1)] {
            assert!(matches!(keys.store("openai", text), Err(StoredKeysError::InvalidKey)), "{text:?}");
        }
        let error = keys.store("opnai", "sk-1").unwrap_err().to_string();
        assert!(error.contains("\"opnai\"") && error.contains("openai") && !error.contains("sk-1"), "{error}");
        assert!(!keys.file().exists());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_and_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(&folder);
        std::fs::create_dir_all(keys.file()).unwrap();
        assert!(matches!(keys.vendors(), Err(StoredKeysError::File { .. })));
        assert!(matches!(keys.store("openai", "sk-1"), Err(StoredKeysError::File { .. })));
        assert_eq!(keys.variable("OPENAI_API_KEY", |_| None), None);
    }

    #[test]
    fn programs_that_store_keys_at_once_lose_none() {
        let folder = tempfile::tempdir().unwrap();
        let keys = keys(&folder);
        let vendors = ["anthropic", "gemini", "groq", "openai"];
        std::thread::scope(|scope| {
            for vendor in vendors {
                scope.spawn(|| keys.store(vendor, "sk-1").unwrap());
            }
        });
        assert_eq!(keys.vendors().unwrap(), vendors);
    }

    #[test]
    fn the_home_of_keys_is_that_of_the_user() {
        let file = |pairs: &[(&str, &str)]| {
            let lookup = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            StoredKeys::from_lookup(lookup).map(|keys| keys.file)
        };
        let sdk = ("CLAUDE_CODE_ENTRYPOINT", "sdk-py");
        assert_eq!(file(&[]), None);
        assert_eq!(file(&[("HOME", "/u"), sdk]), Some("/u/.windlass/credentials".into()));
        assert_eq!(file(&[("HOME", "/u"), ("WINDLASS_HOME", "/w")]), Some("/w/credentials".into()));
    }

    /// Endpoints are rows of data of another crate, and so are their variables.
    #[test]
    #[cfg(feature = "openai")]
    fn every_endpoint_takes_a_stored_key() {
        use crate::provider::Endpoint;
        for endpoint in Endpoint::preset_names().filter_map(Endpoint::preset) {
            let variables = StoredKeys::variables_of(&endpoint.name);
            assert!(endpoint.key_variables.iter().all(|name| variables.contains(&&**name)), "{endpoint:?}");
        }
    }
}
