use super::*;
use crate::provider::AwsKeys;
use std::collections::BTreeMap;
use std::fs;
use windlass_types::ModelErrorKind;

struct AwsFolder {
    folder: tempfile::TempDir,
    variables: BTreeMap<String, String>,
}

impl AwsFolder {
    fn new(credentials: &str, config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".aws")).unwrap();
        fs::write(folder.path().join(".aws/credentials"), credentials).unwrap();
        fs::write(folder.path().join(".aws/config"), config).unwrap();
        let home = folder.path().to_str().unwrap().to_owned();
        Self { folder, variables: [("HOME".to_owned(), home)].into() }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn access(&self) -> AwsAccess {
        AwsAccess::from_lookup(&|name| self.variables.get(name).cloned())
    }

    async fn credential(&self) -> Result<Credential, ModelErrorKind> {
        self.access().credentials.unwrap().credential().await.map_err(|error| error.kind)
    }
}

const FILE: &str = "[default]\naws_access_key_id = id-default\naws_secret_access_key = key-default\n\
    [dev]\naws_access_key_id = id-dev\naws_secret_access_key = key-dev\naws_session_token = token-dev\n";

#[tokio::test]
async fn e6_a_profile_that_is_named_goes_before_keys_that_are_set() {
    let keys = |name: &str| Credential::aws(AwsKeys::new(format!("id-{name}"), format!("key-{name}")));
    let folder = || AwsFolder::new(FILE, "[default]\nregion = eu-west-1\n[profile dev]\nregion = us-west-2\n");
    assert_eq!(folder().credential().await, Ok(keys("default")));
    let set = || folder().with("AWS_ACCESS_KEY_ID", "id-env").with("AWS_SECRET_ACCESS_KEY", "key-env");
    assert_eq!(set().credential().await, Ok(keys("env")));
    let dev = Credential::aws(AwsKeys::new("id-dev", "key-dev").with_session_token("token-dev"));
    assert_eq!(set().with("AWS_PROFILE", "dev").credential().await, Ok(dev));
    let bearer = set().with("AWS_PROFILE", "dev").with("AWS_BEARER_TOKEN_BEDROCK", "bedrock-key");
    assert_eq!(bearer.credential().await, Ok(Credential::bearer("bedrock-key")));
    for (folder, region) in [
        (folder(), Some("eu-west-1")),
        (folder().with("AWS_PROFILE", "dev"), Some("us-west-2")),
        (folder().with("AWS_DEFAULT_REGION", "a").with("AWS_PROFILE", "dev"), Some("a")),
        (folder().with("AWS_DEFAULT_REGION", "a").with("AWS_REGION", "b"), Some("b")),
    ] {
        assert_eq!(folder.access().region.as_deref(), region);
    }
}

#[cfg(not(feature = "aws-chain"))]
#[tokio::test]
async fn without_variables_and_files_there_is_no_access() {
    let access = AwsAccess::from_lookup(&|_| None);
    assert!(access.credentials.is_none() && access.region.is_none());
    assert!(AwsFolder::new("", "[profile other]\nregion = x\n").access().credentials.is_none());
}

#[cfg(not(feature = "aws-chain"))]
#[tokio::test]
async fn a_named_profile_that_gives_no_keys_says_why() {
    let why = async |config: &str| {
        let folder = AwsFolder::new("", config).with("AWS_PROFILE", "p");
        let error = folder.access().credentials.unwrap().credential().await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Authentication, "{error}");
        error.message
    };
    assert!(why("").await.contains("is in no file"));
    assert!(why("[profile p]\nregion = x\n").await.contains("has no keys"));
    assert!(why("[profile p]\nsso_session = x\n").await.contains("aws-chain"));
    let role = "[profile p]\nrole_arn = arn:x\naws_access_key_id = a\naws_secret_access_key = b\n";
    assert!(why(role).await.contains("aws-chain"));
}

/// The files are read again when the API refuses a key, because tools write new ones there.
#[tokio::test]
async fn keys_that_change_in_the_file_are_taken_when_the_old_ones_are_refused() {
    let folder = AwsFolder::new(FILE, "");
    let credentials = folder.access().credentials.unwrap();
    let first = credentials.credential().await.unwrap();
    let path = folder.folder.path().join(".aws/credentials");
    fs::write(&path, FILE.replace("key-default", "key-new")).unwrap();
    assert_eq!(credentials.credential().await.unwrap(), first);
    credentials.refused(&first);
    let second = credentials.credential().await.unwrap();
    assert_eq!(second, Credential::aws(AwsKeys::new("id-default", "key-new")));
    fs::write(path, "x".repeat(70_000)).unwrap();
    credentials.refused(&second);
    assert_eq!(credentials.credential().await.unwrap_err().kind, ModelErrorKind::Configuration);
}

#[cfg(unix)]
#[tokio::test]
async fn a_credential_process_is_run_in_no_directory_of_others() {
    let process = r#"[profile p]
credential_process = /bin/sh -c "[ $PWD = / ] && printf '{\"Version\":1,\"AccessKeyId\":\"id\",\"SecretAccessKey\":\"key\"}'"
"#;
    let folder = AwsFolder::new("", process).with("AWS_PROFILE", "p");
    assert_eq!(folder.credential().await, Ok(Credential::aws(AwsKeys::new("id", "key"))));
}
