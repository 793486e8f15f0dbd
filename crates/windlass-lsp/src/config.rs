//! Configuration of a language server.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// Maximum number of servers of a configuration, and of file extensions of one.
const MOST: usize = 64;

/// Language server: the program, and the files that it knows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Name in messages.
    pub name: String,
    /// Program: an absolute path, or a name that is searched in the directories of `PATH`.
    pub command: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Language identifier for each file extension, without the dot: `rs` to `rust`.
    pub languages: BTreeMap<String, String>,
    /// Variables in addition to those of the session.
    pub env: BTreeMap<String, String>,
    /// Value of `initializationOptions` in the `initialize` request. Default: null.
    pub initialization_options: Value,
    /// Settings that the server reads. Default: null.
    pub settings: Value,
    /// Maximum time to start. Default: 60 s.
    pub startup_timeout: Duration,
    /// Maximum number of restarts after the server has ended by itself. Default: 3.
    pub max_restarts: u32,
}

/// Error of an unusable configuration of language servers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ConfigError {
    /// Reason, in a sentence that names the server.
    pub message: String,
}

impl ServerConfig {
    /// Creates a server for files with these extensions, each with its language identifier.
    ///
    /// ```
    /// use windlass_lsp::ServerConfig;
    ///
    /// let rust = ServerConfig::new("rust-analyzer", "rust-analyzer", [("rs", "rust")]);
    /// assert_eq!(rust.languages["rs"], "rust");
    /// ```
    pub fn new<E: Into<String>, L: Into<String>>(
        name: impl Into<String>,
        command: impl Into<String>,
        languages: impl IntoIterator<Item = (E, L)>,
    ) -> Self {
        Self {
            name: name.into(),
            command: command.into(),
            args: Vec::new(),
            languages: languages.into_iter().map(|(extension, language)| (extension.into(), language.into())).collect(),
            env: BTreeMap::new(),
            initialization_options: Value::Null,
            settings: Value::Null,
            startup_timeout: Duration::from_secs(60),
            max_restarts: 3,
        }
    }

    /// Sets the arguments.
    #[must_use]
    pub fn with_args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Reads the servers of a configuration: an object of servers by name, as in `.lsp.json` of a plugin and the
    /// settings key `lspServers`.
    ///
    /// ```
    /// use windlass_lsp::ServerConfig;
    ///
    /// let servers = ServerConfig::read_all(
    ///     &serde_json::json!({"go": {"command": "gopls", "args": ["serve"], "extensionToLanguage": {".go": "go"}}}),
    /// )?;
    /// assert_eq!(servers[0].languages["go"], "go");
    /// # Ok::<_, windlass_lsp::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the value is no such object, or if a server has no command, no extension, or another transport than
    /// `stdio`.
    pub fn read_all(servers: &Value) -> Result<Vec<Self>, ConfigError> {
        let Some(servers) = servers.as_object() else {
            return Err(ConfigError { message: "language servers are an object of servers by name".to_owned() });
        };
        if servers.len() > MOST {
            return Err(ConfigError {
                message: format!("there are {} language servers, at most {MOST}", servers.len()),
            });
        }
        servers.iter().map(|(name, server)| Self::read(name, server)).collect()
    }

    fn read(name: &str, server: &Value) -> Result<Self, ConfigError> {
        let wrong = |why: String| ConfigError { message: format!("the language server {name:?}: {why}") };
        let file = LanguageServerEntry::deserialize(server).map_err(|error| wrong(error.to_string()))?;
        let transport = file.transport.unwrap_or_default();
        let languages = file.extension_to_language.into_iter();
        let languages: BTreeMap<String, String> =
            languages.map(|(extension, language)| (extension.trim_start_matches('.').to_owned(), language)).collect();
        if file.command.trim().is_empty() || file.command.contains('\0') {
            return Err(wrong("`command` is empty or holds a NUL".to_owned()));
        }
        if languages.is_empty() || languages.len() > MOST || languages.contains_key("") {
            return Err(wrong(format!("`extensionToLanguage` needs one to {MOST} extensions, such as \".rs\"")));
        }
        if !transport.is_empty() && transport != "stdio" {
            return Err(wrong(format!("its transport is {transport:?}, and only \"stdio\" is supported")));
        }
        let mut config = Self::new(name, file.command, languages).with_args(file.args);
        config.env = file.env;
        config.initialization_options = file.initialization_options;
        config.settings = file.settings;
        config.startup_timeout = file.startup_timeout.map_or(config.startup_timeout, Duration::from_millis);
        config.max_restarts = file.max_restarts.unwrap_or(config.max_restarts);
        if file.restart_on_crash == Some(false) {
            config.max_restarts = 0;
        }
        Ok(config)
    }

    /// Returns the language identifier of a file, if this server knows such files.
    pub fn language_of(&self, path: &Path) -> Option<&str> {
        let extension = path.extension()?.to_str()?;
        self.languages.get(extension).map(String::as_str)
    }
}

/// Server in the form of configuration files.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LanguageServerEntry {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    extension_to_language: BTreeMap<String, String>,
    #[serde(default)]
    transport: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    initialization_options: Value,
    #[serde(default)]
    settings: Value,
    /// Maximum start time, in milliseconds.
    #[serde(default)]
    startup_timeout: Option<u64>,
    #[serde(default)]
    restart_on_crash: Option<bool>,
    #[serde(default)]
    max_restarts: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_configuration_is_read_with_its_defaults() {
        let read = ServerConfig::read_all(&json!({
            "py": {"command": "pyright-langserver", "args": ["--stdio"], "extensionToLanguage": {".py": "python", "pyi": "python"},
                "env": {"A": "b"}, "settings": {"python": {}}, "startupTimeout": 1500, "restartOnCrash": false, "later": 1},
        }));
        let [server] = &read.unwrap()[..] else { panic!() };
        assert_eq!((server.startup_timeout, server.max_restarts), (Duration::from_millis(1500), 0));
        assert_eq!(server.language_of(Path::new("/a/b.pyi")), Some("python"));
        assert_eq!(server.language_of(Path::new("/a/py")), None);
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_name() {
        let ok = json!({"a": "b"});
        for (server, part) in [
            (json!({"extensionToLanguage": ok}), "missing field `command`"),
            (json!({"command": " ", "extensionToLanguage": ok}), "`command` is empty"),
            (json!({"command": "a"}), "needs one to 64"),
            (json!({"command": "a", "extensionToLanguage": {".": "x"}}), "needs one to 64"),
            (json!({"command": "a", "extensionToLanguage": ok, "transport": "socket"}), "only \"stdio\""),
            (json!([]), "invalid"),
        ] {
            let error = ServerConfig::read_all(&json!({ "mine": server })).unwrap_err().message;
            assert!(error.contains(part) && error.contains("\"mine\""), "{error}");
        }
        assert!(ServerConfig::read_all(&json!([])).is_err());
    }
}
