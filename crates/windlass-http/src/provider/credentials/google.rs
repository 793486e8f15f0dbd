#[cfg(feature = "google-adc")]
mod adc;

#[cfg(feature = "google-adc")]
pub use adc::GoogleAdcCredentials;

use super::file::text_of;
use super::{Clock, Credential, Credentials};
use crate::provider::{Failure, Secrets, Vendor, escape_segment, from_http};
use crate::{HeaderMap, HeaderValue, HttpClient, HttpOptions, Secret};
use async_trait::async_trait;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_model::ModelError;
use windlass_types::{ModelErrorKind, Timestamp};

/// Maximum number of bytes read of an answer.
const MAX_ANSWER: usize = 64 * 1024;

/// Maximum assumed lifetime of a token.
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Access tokens of the user who signed in with `gcloud auth application-default login`, from the file that this
/// command writes. Each call reads the file and asks Google for a token: wrap this source into
/// [`RefreshingCredentials`](super::RefreshingCredentials).
///
/// Files of other kinds (service accounts, workload identity) and the metadata server of Google's machines need the
/// feature `google-adc`.
#[derive(Debug, Clone)]
pub struct GoogleUserCredentials {
    path: PathBuf,
    url: String,
    options: HttpOptions,
    clock: Clock,
}

#[derive(Deserialize)]
struct CredentialFile {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    client_id: String,
    #[serde(default)]
    client_secret: String,
    #[serde(default)]
    refresh_token: String,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    #[serde(default)]
    expires_in: Option<u64>,
}

#[derive(Deserialize)]
struct TokenRefusal {
    #[serde(default)]
    error: String,
    #[serde(default)]
    error_description: String,
}

/// Returns the credentials that `GOOGLE_APPLICATION_CREDENTIALS` names, else those of the user who signed in with
/// `gcloud` (below `CLOUDSDK_CONFIG`, `APPDATA` or `HOME`), kept until they expire. Proxies and certificate authorities
/// on the way to the token server are those of the variables. With the feature `google-adc` files of all kinds are
/// read, and without a file the machine is asked for its own; the library behind it reads proxies from the environment
/// of the process.
///
/// # Errors
/// `Authentication` if no variable names the place of such a file, and the feature is disabled.
pub fn google_credentials(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Arc<dyn Credentials>, ModelError> {
    let get = |name: &str| lookup(name).filter(|text| !text.trim().is_empty()).map(PathBuf::from);
    let folder = || {
        let of_home = || Some(get("HOME")?.join(".config").join("gcloud"));
        get("CLOUDSDK_CONFIG").or_else(|| Some(get("APPDATA")?.join("gcloud"))).or_else(of_home)
    };
    let named = get("GOOGLE_APPLICATION_CREDENTIALS");
    let path = named.clone().or_else(|| Some(folder()?.join("application_default_credentials.json")));
    sources(path, named.is_some(), lookup)
}

#[cfg(not(feature = "google-adc"))]
fn sources(
    path: Option<PathBuf>,
    _: bool,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Credentials>, ModelError> {
    let path = path.ok_or_else(|| {
        let text = "no credentials of Google Cloud: set GOOGLE_APPLICATION_CREDENTIALS, or sign in with gcloud";
        ModelError::new(ModelErrorKind::Authentication, text).unbilled()
    })?;
    let mut user = GoogleUserCredentials::new(path);
    user.options.look_up(lookup);
    Ok(Arc::new(super::RefreshingCredentials::new(user)))
}

/// The library keeps tokens itself. A named file must exist.
#[cfg(feature = "google-adc")]
fn sources(
    path: Option<PathBuf>,
    is_named: bool,
    _: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Credentials>, ModelError> {
    Ok(Arc::new(match path.filter(|path| is_named || path.is_file()) {
        Some(path) => GoogleAdcCredentials::of_file(path),
        None => GoogleAdcCredentials::of_machine(),
    }))
}

impl GoogleUserCredentials {
    /// Creates a source of the user in a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            url: "https://oauth2.googleapis.com".to_owned(),
            options: HttpOptions::default(),
            clock: Clock::default(),
        }
    }

    /// Sets the address of the token server, without `/token`. Default: `https://oauth2.googleapis.com`.
    #[must_use]
    pub fn token_server(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// Sets the clock. Default: that of this machine.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(now);
        self
    }

    async fn read(&self) -> Result<CredentialFile, ModelError> {
        let error = |what: &str| {
            let text = format!("the credentials of Google Cloud in {} {what}", self.path.display());
            ModelError::new(ModelErrorKind::Configuration, text).unbilled()
        };
        let text = text_of(self.path.clone()).await?;
        let file: CredentialFile = serde_json::from_str(&text).map_err(|_| error("are not those of a user"))?;
        match file.kind.as_str() {
            "authorized_user" if !file.refresh_token.is_empty() => Ok(file),
            "service_account" | "external_account" | "impersonated_service_account" => {
                Err(error("are not those of a user: enable the feature google-adc"))
            }
            _ => Err(error("are not those of a user")),
        }
    }
}

#[async_trait]
impl Credentials for GoogleUserCredentials {
    async fn credential(&self) -> Result<Credential, ModelError> {
        let CredentialFile { client_id, client_secret, refresh_token, .. } = self.read().await?;
        let mut form = String::from("grant_type=refresh_token");
        for (name, value) in
            [("client_id", &client_id), ("client_secret", &client_secret), ("refresh_token", &refresh_token)]
        {
            form = form + "&" + name + "=";
            escape_segment(value, &mut form);
        }
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/x-www-form-urlencoded"));
        let client = HttpClient::new(&self.url, self.options.clone()).map_err(from_http)?;
        let asked = self.clock.now();
        let answer = client.post("/token", headers, form.into()).await.map_err(|error| from_http(error).unbilled())?;
        let status = answer.status();
        let text = answer.text(MAX_ANSWER).await.map_err(|error| from_http(error).unbilled())?;
        if status != 200 {
            let mut secrets = Secrets::default();
            [client_secret, refresh_token].iter().for_each(|text| secrets.push(Secret::new(text)));
            return Err(refusal(status, &text, &secrets));
        }
        // The text holds a token, so no error repeats any of it.
        let token: TokenResponse = serde_json::from_str(&text).map_err(|_| {
            ModelError::new(ModelErrorKind::Protocol, "the answer of Google's token server cannot be read").unbilled()
        })?;
        let lifetime = token.expires_in.map(|seconds| Duration::from_secs(seconds).min(MAX_LIFETIME));
        Ok(Credential::bearer(token.access_token).expiring_at(lifetime.map(|lifetime| asked.after(lifetime))))
    }
}

fn refusal(status: u16, text: &str, secrets: &Secrets) -> ModelError {
    const VENDOR: Vendor = Vendor::new("the sign-in with `gcloud auth application-default login`", "the token server");
    let said: Option<TokenRefusal> = serde_json::from_str(text).ok();
    let (code, text) = said.as_ref().map_or(("", text), |said| (said.error.as_str(), said.error_description.as_str()));
    let failure = Failure { status: Some(status), code, text };
    let error = match code {
        "invalid_grant" | "invalid_client" | "unauthorized_client" => {
            VENDOR.error_of(ModelErrorKind::Authentication, &failure, secrets)
        }
        _ => VENDOR.error(&failure, secrets),
    };
    error.unbilled()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_testkit::wire::{Reply, WireServer};

    const USER: &str = r#"{"type": "authorized_user", "client_id": "id", "client_secret": "sec/ret",
        "refresh_token": "1//refresh-secret", "quota_project_id": "p"}"#;

    struct GoogleWorld {
        folder: tempfile::TempDir,
        server: WireServer,
    }

    impl GoogleWorld {
        async fn new(text: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("application_default_credentials.json"), text).unwrap();
            Self { folder, server: WireServer::start().await.unwrap() }
        }

        fn user(&self) -> GoogleUserCredentials {
            let path = self.folder.path().join("application_default_credentials.json");
            let user = GoogleUserCredentials::new(path).token_server(self.server.url());
            user.clock(|| Timestamp::from_millis(1_000_000))
        }
    }

    #[tokio::test]
    async fn a_refresh_token_becomes_an_access_token() {
        let world = GoogleWorld::new(USER).await;
        let answer = r#"{"access_token": "ya29.x", "expires_in": 3599, "token_type": "Bearer", "scope": "s"}"#;
        world.server.push(Reply::status(200, answer));
        let expected = Credential::bearer("ya29.x").expiring_at(Some(Timestamp::from_millis(4_599_000)));
        assert_eq!(world.user().credential().await.unwrap(), expected);
        let sent = world.server.requests().remove(0);
        assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/token"));
        assert_eq!(sent.header("content-type"), Some("application/x-www-form-urlencoded"));
        let form = "grant_type=refresh_token&client_id=id&client_secret=sec%2Fret&refresh_token=1%2F%2Frefresh-secret";
        assert_eq!(sent.body, form);
    }

    #[tokio::test]
    async fn refusals_have_their_kind_and_no_secret() {
        let world = GoogleWorld::new(USER).await;
        for (status, body, kind) in [
            (
                400,
                r#"{"error": "invalid_grant", "error_description": "revoked: 1//refresh-secret"}"#,
                ModelErrorKind::Authentication,
            ),
            (503, "try later", ModelErrorKind::Overloaded),
            (200, r#"{"token": "ya29.secret"}"#, ModelErrorKind::Protocol),
        ] {
            world.server.push(Reply::status(status, body));
            let error = world.user().credential().await.unwrap_err();
            assert_eq!((error.kind, error.unbilled), (kind, true), "{error}");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }

    #[tokio::test]
    async fn files_of_other_kinds_name_the_feature_that_reads_them() {
        for (text, says) in [
            (r#"{"type": "service_account", "private_key": "SECRET"}"#, "google-adc"),
            (r#"{"type": "external_account"}"#, "google-adc"),
            ("{}", "not those of a user"),
            ("SECRET", "not those of a user"),
        ] {
            let error = GoogleWorld::new(text).await.user().credential().await.unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Configuration);
            assert!(error.message.contains(says) && !format!("{error:?}").contains("SECRET"), "{error:?}");
        }
    }

    #[tokio::test]
    async fn variables_say_where_the_file_is() {
        let world = GoogleWorld::new("{}").await;
        let folder = world.folder.path().to_str().unwrap().to_owned();
        let file = format!("{folder}/application_default_credentials.json");
        for (name, value) in [("GOOGLE_APPLICATION_CREDENTIALS", &file), ("CLOUDSDK_CONFIG", &folder)] {
            let lookup = |asked: &str| (asked == name).then(|| value.clone());
            let error = google_credentials(&lookup).unwrap().credential().await.unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Configuration, "{error}");
        }
        let without = google_credentials(&|_| None).map(drop).map_err(|error| error.kind);
        let expected = if cfg!(feature = "google-adc") { Ok(()) } else { Err(ModelErrorKind::Authentication) };
        assert_eq!(without, expected);
    }
}
