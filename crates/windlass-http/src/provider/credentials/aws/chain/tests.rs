//! Chain against servers that imitate those of AWS. Sources: the reference pages of AWS on container credentials,
//! instance metadata (version 2), `AssumeRole`, `AssumeRoleWithWebIdentity` and `GetRoleCredentials`.
//!
//! The chain reads the environment of its process, so it runs in a process of its own.

use super::super::AwsAccess;
use crate::provider::Credentials;
use std::fs;
use windlass_testkit::wire::{RecordedRequest, Reply, WireServer};
use windlass_types::Timestamp;

const CHILD: &str = "provider::credentials::aws::chain::tests::child_prints_its_keys";
const UNTIL: &str = "2099-01-01T00:00:00Z";
/// Path that contains the hash of the name `session`, under which the sign-in of AWS keeps its tokens.
const SESSION_FILE: &str = ".aws/sso/cache/fcbdc4c271c889825d8338d2d8f10b6e5e95c171.json";

#[tokio::test]
#[ignore = "runs in a process with an environment of its own"]
#[expect(clippy::disallowed_methods, reason = "it is a process with an environment made for it")]
async fn child_prints_its_keys() {
    let access = AwsAccess::from_lookup(&|name| std::env::var(name).ok());
    let mut secrets = crate::provider::Secrets::default();
    let credential = access.credentials.unwrap().credential().await.unwrap();
    credential.keep_out(&mut secrets);
    let redacted = secrets.redact("chain-id chain-key chain-token".to_owned());
    println!("{redacted} {:?}", credential.expires_at);
}

/// Server and home folder for the child process.
struct AwsWorld {
    server: WireServer,
    home: tempfile::TempDir,
}

impl AwsWorld {
    fn new(answer: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) -> Self {
        let server = WireServer::start_on_thread().unwrap();
        server.on_request(answer);
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".aws/sso/cache")).unwrap();
        Self { server, home }
    }

    fn path(&self, name: &str) -> String {
        self.home.path().join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.home.path().join(name), text).unwrap();
    }

    /// Checks that the chain has found the keys that the server gives, and returns the requests.
    async fn has_keys(&self, variables: &[(&str, &str)]) -> Vec<RecordedRequest> {
        let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
        child.args([CHILD, "--exact", "--ignored", "--nocapture"]).env_clear().env("HOME", self.home.path());
        child.env("AWS_REGION", "eu-west-1").envs(variables.iter().copied());
        let output = child.output().await.unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let expected = format!("[redacted] [redacted] [redacted] {:?}", Timestamp::parse(UNTIL));
        assert!(printed.contains(&expected), "{printed} {}", String::from_utf8_lossy(&output.stderr));
        self.server.requests()
    }
}

fn json(text: &str) -> Reply {
    Reply::status(200, text.replace("UNTIL", UNTIL)).header("content-type", "application/json")
}

/// Returns an answer of the token service.
fn role(action: &str) -> Reply {
    let text = format!(
        "<{action}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{action}Result><AssumedRoleUser>\
         <Arn>arn:aws:sts::1:assumed-role/r/s</Arn><AssumedRoleId>A:s</AssumedRoleId></AssumedRoleUser><Credentials>\
         <AccessKeyId>chain-id</AccessKeyId><SecretAccessKey>chain-key</SecretAccessKey><SessionToken>chain-token\
         </SessionToken><Expiration>{UNTIL}</Expiration></Credentials></{action}Result><ResponseMetadata><RequestId>1\
         </RequestId></ResponseMetadata></{action}Response>"
    );
    Reply::status(200, text).header("content-type", "text/xml")
}

fn body(request: &RecordedRequest) -> String {
    String::from_utf8_lossy(&request.body).into_owned()
}

#[tokio::test]
async fn keys_of_a_container_come_from_its_service() {
    let keys = r#"{"AccessKeyId":"chain-id","SecretAccessKey":"chain-key","Token":"chain-token","Expiration":"UNTIL"}"#;
    let world = AwsWorld::new(move |_| json(keys));
    let url = format!("{}/keys", world.server.url());
    let asked = world.has_keys(&[("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url)]).await;
    assert_eq!(asked[0].path, "/keys");
}

#[tokio::test]
async fn keys_of_a_machine_come_from_its_metadata_with_a_session() {
    const ROLES: &str = "/latest/meta-data/iam/security-credentials/";
    let world = AwsWorld::new(|request| match (request.method.as_str(), request.path.as_str()) {
        ("PUT", "/latest/api/token") => {
            Reply::status(200, "session-token").header("x-aws-ec2-metadata-token-ttl-seconds", "21600")
        }
        ("GET", ROLES) => Reply::status(200, "role-1"),
        ("GET", path) if path.ends_with("/role-1") => json(
            r#"{"Code":"Success","LastUpdated":"2026-01-01T00:00:00Z","Type":"AWS-HMAC","AccessKeyId":"chain-id",
                "SecretAccessKey":"chain-key","Token":"chain-token","Expiration":"UNTIL"}"#,
        ),
        _ => Reply::status(404, ""),
    });
    let url = world.server.url();
    let asked = world.has_keys(&[("AWS_EC2_METADATA_SERVICE_ENDPOINT", &url)]).await;
    assert!(asked.iter().any(|request| request.path == format!("{ROLES}role-1")), "{asked:?}");
    for request in asked.iter().filter(|request| request.method == "GET") {
        assert_eq!(request.header("x-aws-ec2-metadata-token"), Some("session-token"), "{request:?}");
    }
}

#[tokio::test]
async fn a_web_identity_takes_its_role() {
    let world = AwsWorld::new(|_| role("AssumeRoleWithWebIdentity"));
    world.write("identity", "web-identity");
    let (url, file) = (world.server.url(), world.path("identity"));
    let asked = world
        .has_keys(&[
            ("AWS_ROLE_ARN", "arn:aws:iam::1:role/r"),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", &file),
            ("AWS_ENDPOINT_URL_STS", &url),
        ])
        .await;
    assert!(body(&asked[0]).contains("WebIdentityToken=web-identity"), "{asked:?}");
}

#[tokio::test]
async fn a_profile_takes_a_role_with_the_keys_of_another_one() {
    let world = AwsWorld::new(|_| role("AssumeRole"));
    world.write(".aws/credentials", "[base]\naws_access_key_id = base-id\naws_secret_access_key = base-key\n");
    world.write(".aws/config", "[profile work]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\n");
    let url = world.server.url();
    let asked = world.has_keys(&[("AWS_PROFILE", "work"), ("AWS_ENDPOINT_URL_STS", &url)]).await;
    assert!(body(&asked[0]).contains("Action=AssumeRole"), "{asked:?}");
    assert!(asked[0].header("authorization").unwrap().contains("Credential=base-id/"), "{asked:?}");
}

#[tokio::test]
async fn a_profile_that_signed_in_gets_the_keys_of_its_role() {
    let world = AwsWorld::new(|_| {
        json(
            r#"{"roleCredentials":{"accessKeyId":"chain-id","secretAccessKey":"chain-key","sessionToken":"chain-token",
                "expiration":4070908800000}}"#,
        )
    });
    world.write(
        ".aws/config",
        "[profile work]\nsso_session = session\nsso_account_id = 1\nsso_role_name = r\n\
         [sso-session session]\nsso_region = eu-west-1\nsso_start_url = https://start.example/start\n",
    );
    let kept = r#"{"accessToken":"signed-in","expiresAt":"UNTIL","region":"eu-west-1","startUrl":"https://start.example/start"}"#;
    world.write(SESSION_FILE, &kept.replace("UNTIL", UNTIL));
    let url = world.server.url();
    let asked = world.has_keys(&[("AWS_PROFILE", "work"), ("AWS_ENDPOINT_URL_SSO", &url)]).await;
    assert!(asked[0].path.starts_with("/federation/credentials?"), "{asked:?}");
    assert_eq!(asked[0].header("x-amz-sso_bearer_token"), Some("signed-in"));
}
