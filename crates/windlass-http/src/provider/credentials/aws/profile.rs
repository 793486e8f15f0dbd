use super::super::file::{bounded, text_of};
use super::super::{AwsKeys, CommandCredentials, Credential, Credentials};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::path::PathBuf;
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Credentials of a profile in the files of AWS, `~/.aws/credentials` and `~/.aws/config`: keys, or a program that
/// prints them (`credential_process`). The files are read at each request, at most 64 KiB of each; wrap this source
/// into [`RefreshingCredentials`](super::super::RefreshingCredentials).
///
/// Profiles that sign in (`sso_session`) or take a role (`role_arn`) need more than the files: `aws configure
/// export-credentials --format process` prints their keys, and `CommandCredentials` reads them.
#[derive(Debug, Clone)]
pub struct AwsProfileCredentials {
    name: String,
    credentials: Option<PathBuf>,
    config: Option<PathBuf>,
}

/// Properties of one profile.
type ProfileProperties = BTreeMap<String, String>;

impl AwsProfileCredentials {
    /// Creates a source for the profile in `AWS_PROFILE` or `AWS_DEFAULT_PROFILE`, else `default`, of the files in
    /// `AWS_SHARED_CREDENTIALS_FILE` and `AWS_CONFIG_FILE`, else of those below the home directory (`HOME`,
    /// `USERPROFILE`).
    pub fn from_lookup(lookup: &dyn Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).filter(|text| !text.trim().is_empty());
        let home = get("HOME").or_else(|| get("USERPROFILE")).map(PathBuf::from);
        let path = |variable: &str, file: &str| {
            get(variable).map(PathBuf::from).or_else(|| Some(home.clone()?.join(".aws").join(file)))
        };
        Self {
            name: get("AWS_PROFILE").or_else(|| get("AWS_DEFAULT_PROFILE")).unwrap_or_else(|| "default".to_owned()),
            credentials: path("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
            config: path("AWS_CONFIG_FILE", "config"),
        }
    }

    /// Selects another profile of the same files.
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    #[cfg(feature = "aws-chain")]
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// `true` if one of the files has the profile. Reads them.
    #[cfg(not(feature = "aws-chain"))]
    pub(super) fn exists(&self) -> bool {
        !self.now().is_empty()
    }

    /// Returns the region of the profile, if one of the files names it. Reads them.
    pub fn region(&self) -> Option<String> {
        self.now().remove("region")
    }

    /// Reads the current properties, as far as the files are readable.
    fn now(&self) -> ProfileProperties {
        let text = |path: &Option<PathBuf>| path.as_deref().and_then(|path| bounded(path).ok()).unwrap_or_default();
        self.properties(&text(&self.config), &text(&self.credentials))
    }

    fn properties(&self, config: &str, credentials: &str) -> ProfileProperties {
        let mut properties = section(config, &format!("profile {}", self.name));
        if properties.is_empty() && self.name == "default" {
            properties = section(config, "default");
        }
        // The credentials file takes precedence.
        properties.extend(section(credentials, &self.name));
        properties
    }

    fn error(&self, kind: ModelErrorKind, what: &str) -> ModelError {
        ModelError::new(kind, format!("the AWS profile {:?} {what}", self.name)).unbilled()
    }

    async fn text(&self, path: Option<&PathBuf>) -> Result<String, ModelError> {
        let Some(path) = path else { return Ok(String::new()) };
        match text_of(path.clone()).await {
            // One of the two files is enough.
            Err(error) if error.kind == ModelErrorKind::Authentication => Ok(String::new()),
            text => text,
        }
    }
}

#[async_trait]
impl Credentials for AwsProfileCredentials {
    async fn credential(&self) -> Result<Credential, ModelError> {
        let config = self.text(self.config.as_ref()).await?;
        let properties = self.properties(&config, &self.text(self.credentials.as_ref()).await?);
        let get = |name: &str| properties.get(name).filter(|value| !value.is_empty());
        if get("role_arn").is_none()
            && let (Some(id), Some(secret)) = (get("aws_access_key_id"), get("aws_secret_access_key"))
        {
            let token = get("aws_session_token").map(String::as_str).unwrap_or_default();
            return Ok(Credential::aws(AwsKeys::new(id, secret).with_session_token(token)));
        }
        if let (None, Some(line)) = (get("role_arn"), get("credential_process")) {
            let mut words = words(line).into_iter();
            let bad = || self.error(ModelErrorKind::Configuration, "has a credential_process that cannot be read");
            let program = words.next().ok_or_else(bad)?;
            // The directory of this process may be an untrusted repository, whose files the program must not find.
            return CommandCredentials::new(program).args(words).in_directory("/").credential().await;
        }
        if properties.is_empty() {
            return Err(self.error(ModelErrorKind::Authentication, "is in no file"));
        }
        let signs_in = ["role_arn", "sso_session", "sso_start_url", "web_identity_token_file"];
        let what = if signs_in.iter().any(|name| get(name).is_some()) {
            "signs in or takes a role: enable the feature aws-chain, or add the profile a credential_process of \
             `aws configure export-credentials --format process`"
        } else {
            "has no keys"
        };
        Err(self.error(ModelErrorKind::Authentication, what))
    }
}

/// Returns the properties of a section. Sections of the same name are merged.
fn section(text: &str, name: &str) -> ProfileProperties {
    let mut properties = ProfileProperties::new();
    let mut is_inside = false;
    for line in text.lines() {
        let bare = line.trim();
        if let Some(title) = bare.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            is_inside = title.split_whitespace().eq(name.split_whitespace());
        } else if is_inside
            // Indented lines belong to the property before them.
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((key, value)) = bare.split_once('=')
        {
            let value = [" #", " ;"].iter().fold(value, |value, mark| value.split(mark).next().unwrap_or(value));
            properties.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    properties
}

/// Splits a command line into words: quotes group words, and a backslash escapes the next character. On Windows a
/// backslash is part of paths.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (None | Some('"'), '\\') if !cfg!(windows) => word.get_or_insert_default().extend(letters.next()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_read_as_the_tools_of_the_vendor_write_them() {
        let text = "a = 1\n[default]\nregion=eu-west-1 # here\n[ profile  dev ]\nRegion = us-east-1\ns3 =\n  region = no\n; region = no\n\n[profile device]\nregion = no\n[profile dev]\noutput=json\n[broken\nregion = no";
        assert_eq!(section(text, "default")["region"], "eu-west-1");
        let dev = section(text, "profile dev");
        assert_eq!((dev["region"].as_str(), dev["output"].as_str()), ("us-east-1", "json"));
        assert!(section(text, "dev").is_empty());
    }

    #[cfg(not(windows))]
    #[test]
    fn command_lines_are_parted_into_words() {
        for (line, expected) in [
            ("/bin/a  b\tc", vec!["/bin/a", "b", "c"]),
            (r#""/my dir/a" 'x "y"' z\ w """#, vec!["/my dir/a", r#"x "y""#, "z w", ""]),
            (r#"a "b\"c" 'd\e'"#, vec!["a", r#"b"c"#, r"d\e"]),
            ("  ", vec![]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }
}
