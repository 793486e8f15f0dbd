use super::super::file::text_of;
use super::super::{Credential, Credentials};
use async_trait::async_trait;
use google_cloud_auth::credentials::{
    AccessTokenCredentials, external_account, impersonated, mds, service_account, user_account,
};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Maximum time to get a token, including retries of the vendor's library.
const LIMIT: Duration = Duration::from_secs(60);

/// Access tokens by the vendor's own library: for users, service accounts, impersonated ones and workload identities
/// from a file, and for the machines of Google Cloud from their metadata server. The library keeps tokens until they
/// expire, for all callers.
#[derive(Clone, Default)]
pub struct GoogleAdcCredentials {
    path: Option<PathBuf>,
    /// Object of the library, which holds the tokens.
    tokens: Arc<Mutex<Option<AccessTokenCredentials>>>,
}

impl GoogleAdcCredentials {
    /// Creates a source of the machine's tokens, from its metadata server.
    pub fn of_machine() -> Self {
        Self::default()
    }

    /// Creates a source of the tokens that a file describes.
    pub fn of_file(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), tokens: Arc::default() }
    }

    async fn tokens(&self) -> Result<AccessTokenCredentials, ModelError> {
        let cached = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(cached) = cached {
            return Ok(cached);
        }
        let text = match &self.path {
            Some(path) => Some(text_of(path.clone()).await?),
            None => None,
        };
        let credentials = self.make(text)?;
        *self.tokens.lock().unwrap_or_else(PoisonError::into_inner) = Some(credentials.clone());
        Ok(credentials)
    }

    fn make(&self, text: Option<String>) -> Result<AccessTokenCredentials, ModelError> {
        let error = |what: &str| {
            let text = format!("the credentials of Google Cloud {what}");
            ModelError::new(ModelErrorKind::Configuration, text).unbilled()
        };
        let Some(text) = text else {
            let credentials = mds::Builder::default().build_access_token_credentials();
            return credentials.map_err(|failure| error("cannot be set up").with_source(failure));
        };
        let json: serde_json::Value = serde_json::from_str(&text).map_err(|_| error("are not JSON"))?;
        let kind = json.get("type").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        let credentials = match kind.as_str() {
            "authorized_user" => user_account::Builder::new(json).build_access_token_credentials(),
            "service_account" => service_account::Builder::new(json).build_access_token_credentials(),
            "external_account" => external_account::Builder::new(json).build_access_token_credentials(),
            "impersonated_service_account" => impersonated::Builder::new(json).build_access_token_credentials(),
            _ => return Err(error("are of a kind that is not known")),
        };
        credentials.map_err(|failure| error("cannot be used").with_source(failure))
    }
}

impl fmt::Debug for GoogleAdcCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GoogleAdcCredentials").field("path", &self.path).finish_non_exhaustive()
    }
}

#[async_trait]
impl Credentials for GoogleAdcCredentials {
    async fn credential(&self) -> Result<Credential, ModelError> {
        let tokens = self.tokens().await?;
        let of_machine = if self.path.is_some() {
            ""
        } else {
            "; there is no file of credentials either: set GOOGLE_APPLICATION_CREDENTIALS, or sign in with gcloud"
        };
        let source = if self.path.is_some() { "Google's sign-in" } else { "the metadata server of Google Cloud" };
        let error = |kind, what: &str| ModelError::new(kind, format!("{source} {what}{of_machine}")).unbilled();
        let response = tokio::time::timeout(LIMIT, tokens.access_token()).await;
        match response {
            Ok(Ok(token)) => Ok(Credential::bearer(token.token)),
            Ok(Err(failure)) => {
                let kind =
                    if failure.is_transient() { ModelErrorKind::Connection } else { ModelErrorKind::Authentication };
                Err(error(kind, "failed").with_source(failure))
            }
            Err(_) => Err(error(ModelErrorKind::Timeout, "took longer than 60 s")),
        }
    }

    fn refused(&self, _: &Credential) {
        // A new object has no tokens yet.
        *self.tokens.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::CredentialKey;
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    use windlass_testkit::wire::{Reply, WireServer};

    #[tokio::test]
    async fn a_workload_identity_is_exchanged_for_a_token() {
        let server = WireServer::start().await.unwrap();
        server.on_request(|_| {
            let answer = r#"{"access_token": "ya29.federated", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
                "token_type": "Bearer", "expires_in": 3600}"#;
            Reply::status(200, answer).header("content-type", "application/json")
        });
        let folder = tempfile::tempdir().unwrap();
        let subject = folder.path().join("subject");
        std::fs::write(&subject, "subject-token").unwrap();
        let path = folder.path().join("credentials.json");
        let json = serde_json::json!({
            "type": "external_account",
            "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": format!("{}/v1/token", server.url()),
            "credential_source": {"file": subject},
        });
        std::fs::write(&path, json.to_string()).unwrap();
        let source = GoogleAdcCredentials::of_file(&path);
        for _ in 0..2 {
            assert_eq!(source.credential().await.unwrap(), Credential::bearer("ya29.federated"));
        }
        // A refused token is exchanged anew.
        assert_eq!(server.request_count(), 1);
        source.refused(&Credential::bearer("ya29.federated"));
        assert!(source.credential().await.is_ok());
        let sent = server.requests();
        assert_eq!((sent.len(), sent[0].path.as_str()), (2, "/v1/token"));
        assert!(String::from_utf8_lossy(&sent[0].body).contains("subject-token"), "{sent:?}");
    }

    #[tokio::test]
    async fn files_that_are_none_are_wrong_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("credentials.json");
        for text in ["SECRET", "{}", r#"{"type": "service_account", "private_key": "SECRET"}"#] {
            std::fs::write(&path, text).unwrap();
            let error = GoogleAdcCredentials::of_file(&path).credential().await.unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Configuration, "{text}");
            assert!(!format!("{error:?}").contains("SECRET"), "{error:?}");
        }
    }

    /// Key that was made for this test and has never been used for anything else.
    const KEY: &str = include_str!("../../../../testdata/service-account.pem");

    #[tokio::test]
    async fn a_service_account_signs_its_own_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("credentials.json");
        let json = serde_json::json!({
            "type": "service_account", "project_id": "p", "private_key_id": "key-1", "private_key": KEY,
            "client_email": "robot@p.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
        });
        std::fs::write(&path, json.to_string()).unwrap();
        let source = GoogleAdcCredentials::of_file(&path);
        let CredentialKey::Bearer(token) = source.credential().await.unwrap().key else { panic!("no bearer token") };
        let parts: Vec<serde_json::Value> = token
            .expose()
            .split('.')
            .take(2)
            .map(|part| serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
            .collect();
        assert_eq!((&parts[0]["alg"], &parts[0]["kid"]), (&"RS256".into(), &"key-1".into()));
        assert_eq!(parts[1]["iss"], "robot@p.iam.gserviceaccount.com");
        assert!(parts[1]["scope"].as_str().unwrap().contains("cloud-platform"), "{parts:?}");
    }

    /// The library reads the address of the server from the environment of its process, so it runs in a process of its
    /// own.
    #[tokio::test]
    #[ignore = "runs in a process with an environment of its own"]
    async fn child_prints_whether_it_has_the_token_of_the_machine() {
        let credential = GoogleAdcCredentials::of_machine().credential().await.unwrap();
        println!("has the token: {}", credential == Credential::bearer("ya29.machine"));
    }

    #[tokio::test]
    async fn a_machine_has_its_token_from_its_metadata_server() {
        let server = WireServer::start_on_thread().unwrap();
        server.on_request(|_| {
            let answer = r#"{"access_token": "ya29.machine", "expires_in": 3599, "token_type": "Bearer"}"#;
            Reply::status(200, answer).header("content-type", "application/json").header("metadata-flavor", "Google")
        });
        let name = "provider::credentials::google::adc::tests::child_prints_whether_it_has_the_token_of_the_machine";
        let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
        child.args([name, "--exact", "--ignored", "--nocapture"]).env_clear();
        child.env("GCE_METADATA_HOST", server.url().trim_start_matches("http://"));
        let output = child.output().await.unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.contains("has the token: true"), "{printed} {}", String::from_utf8_lossy(&output.stderr));
        let sent = &server.requests()[0];
        assert!(sent.path.contains("/instance/service-accounts/default/token"), "{sent:?}");
        assert_eq!(sent.header("metadata-flavor"), Some("Google"));
    }
}
