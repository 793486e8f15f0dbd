use super::read::credential_in;
use super::*;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use windlass_types::ModelErrorKind;

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn token(text: &str, expires: u64) -> Credential {
    Credential::bearer(text).expiring_at(Some(at(expires)))
}

/// Source with scripted answers, which are released by a gate.
#[derive(Debug, Clone)]
struct ScriptedSource {
    answers: Arc<Mutex<VecDeque<Result<Credential, ModelErrorKind>>>>,
    calls: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
    gate: Arc<tokio::sync::Semaphore>,
}

impl ScriptedSource {
    fn new(answers: impl IntoIterator<Item = Result<Credential, ModelErrorKind>>) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        let gate = Arc::new(tokio::sync::Semaphore::new(1000));
        Self { answers, calls: Arc::default(), refused: Arc::default(), gate }
    }

    fn shut(self) -> Self {
        self.gate.forget_permits(1000);
        self
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Credentials for ScriptedSource {
    async fn credential(&self) -> Result<Credential, ModelError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.gate.acquire().await.unwrap().forget();
        let answer = self.answers.lock().unwrap().pop_front().expect("no answer is left");
        answer.map_err(|kind| ModelError::new(kind, "the token server is away"))
    }

    fn refused(&self, _: &Credential) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }
}

fn kept(source: &ScriptedSource) -> (RefreshingCredentials, Arc<AtomicU64>) {
    let now = Arc::new(AtomicU64::new(0));
    let clock = Arc::clone(&now);
    (RefreshingCredentials::new(source.clone()).clock(move || at(clock.load(Ordering::Relaxed))), now)
}

#[tokio::test]
async fn a_hundred_callers_share_one_refresh() {
    let source = ScriptedSource::new([Ok(token("a", 3600))]).shut();
    let (credentials, _) = kept(&source);
    let callers: Vec<_> = (0..100).map(|_| credentials.credential()).collect();
    let all = futures_util::future::join_all(callers);
    let opened = async { source.gate.add_permits(1) };
    let (answers, ()) = tokio::join!(all, opened);
    assert!(answers.into_iter().all(|answer| answer.unwrap() == token("a", 3600)));
    assert_eq!(source.calls(), 1);
}

#[tokio::test]
async fn a_refresh_outlives_the_caller_that_began_it() {
    let source = ScriptedSource::new([Ok(token("a", 3600))]).shut();
    let (credentials, _) = kept(&source);
    let mut first = credentials.credential();
    assert!(futures_util::poll!(&mut first).is_pending());
    let mut second = credentials.credential();
    assert!(futures_util::poll!(&mut second).is_pending());
    drop(first);
    source.gate.add_permits(1);
    assert_eq!(second.await.unwrap(), token("a", 3600));
    assert_eq!(source.calls(), 1);
}

#[tokio::test]
async fn a_refresh_that_all_callers_left_is_begun_anew() {
    let source = ScriptedSource::new([Ok(token("a", 3600))]).shut();
    let (credentials, _) = kept(&source);
    let mut first = credentials.credential();
    assert!(futures_util::poll!(&mut first).is_pending());
    drop(first);
    source.gate.add_permits(1);
    assert_eq!(credentials.credential().await.unwrap(), token("a", 3600));
    assert_eq!(source.calls(), 2);
}

#[tokio::test]
async fn a_credential_is_kept_until_shortly_before_it_expires() {
    let source = ScriptedSource::new([Ok(token("a", 3600)), Ok(token("b", 7200))]);
    let (credentials, now) = kept(&source);
    for (time, expected, calls) in [(0, "a", 1), (3299, "a", 1), (3300, "b", 2), (3600, "b", 2)] {
        now.store(time, Ordering::Relaxed);
        assert_eq!(credentials.credential().await.unwrap().key, Credential::bearer(expected).key, "{time}");
        assert_eq!(source.calls(), calls, "{time}");
    }
}

/// The server of a cloud returns the same token until a few minutes before its end.
#[tokio::test]
async fn a_short_lifetime_is_used_to_its_half() {
    let source = ScriptedSource::new([Ok(token("a", 200)), Ok(token("b", 400))]);
    let (credentials, now) = kept(&source);
    for (time, calls) in [(0, 1), (99, 1), (100, 2)] {
        now.store(time, Ordering::Relaxed);
        credentials.credential().await.unwrap();
        assert_eq!(source.calls(), calls, "{time}");
    }
}

#[tokio::test]
async fn a_failed_refresh_costs_nothing_while_the_old_credential_is_valid() {
    let away = || Err(ModelErrorKind::Authentication);
    let source = ScriptedSource::new([Ok(token("a", 3600)), away(), away(), away(), Ok(token("b", 9000))]);
    let (credentials, now) = kept(&source);
    let ask = async |time: u64| {
        now.store(time, Ordering::Relaxed);
        credentials.credential().await
    };
    assert!(ask(0).await.is_ok());
    // The refresh is repeated only after a pause.
    for (time, calls) in [(3400, 2), (3429, 2), (3430, 3)] {
        assert_eq!(ask(time).await.unwrap(), token("a", 3600), "{time}");
        assert_eq!(source.calls(), calls, "{time}");
    }
    // A source that worked before will work again: the loop repeats the request.
    let error = ask(3600).await.unwrap_err();
    assert_eq!((error.kind, error.unbilled), (ModelErrorKind::Connection, true), "{error}");
    assert_eq!(ask(3601).await.unwrap(), token("b", 9000));
}

#[tokio::test]
async fn the_first_failure_keeps_its_kind_and_reaches_all_callers() {
    let source = ScriptedSource::new([Err(ModelErrorKind::Authentication), Err(ModelErrorKind::Timeout)]).shut();
    let (credentials, _) = kept(&source);
    for kind in [ModelErrorKind::Authentication, ModelErrorKind::Timeout] {
        let opened = async { source.gate.add_permits(1) };
        let (first, second, ()) = tokio::join!(credentials.credential(), credentials.credential(), opened);
        assert_eq!((first.unwrap_err().kind, second.unwrap_err().kind), (kind, kind));
    }
    assert_eq!(source.calls(), 2);
}

#[tokio::test]
async fn a_refused_credential_is_not_handed_out_again() {
    let source = ScriptedSource::new([Ok(Credential::bearer("a")), Ok(Credential::bearer("b"))]);
    let (credentials, _) = kept(&source);
    let first = credentials.credential().await.unwrap();
    assert_eq!(credentials.credential().await.unwrap(), first);
    credentials.refused(&first);
    let second = credentials.credential().await.unwrap();
    assert_eq!(second, Credential::bearer("b"));
    // Another caller reports the old credential late.
    credentials.refused(&first);
    assert_eq!(credentials.credential().await.unwrap(), second);
    assert_eq!((source.calls(), source.refused.load(Ordering::Relaxed)), (2, 2));
}

#[test]
fn secrets_are_in_no_debug_text() {
    let keys = AwsKeys::new("AKIDSECRET", "KEYSECRET").with_session_token("TOKENSECRET");
    let shown = format!("{:?} {:?}", Credential::aws(keys.clone()), Credential::bearer("BEARERSECRET"));
    assert!(!shown.contains("SECRET"), "{shown}");
    let command = CommandCredentials::new("vault").args(["--token=SECRET"]);
    assert!(!format!("{command:?} {:?}", RefreshingCredentials::new(command.clone())).contains("SECRET"));
    let mut secrets = Secrets::default();
    Credential::aws(keys).keep_out(&mut secrets);
    let text = secrets.redact("AKIDSECRET KEYSECRET TOKENSECRET".to_owned());
    assert!(!text.contains("SECRET"), "{text}");
}

#[test]
fn credentials_are_read_as_programs_write_them() {
    assert_eq!(credential_in(" ya29.a0\r\n"), Ok(Credential::bearer("ya29.a0")));
    let aws = r#"{"Version": 1, "AccessKeyId": "id", "SecretAccessKey": "key", "SessionToken": "t",
        "Expiration": "1970-01-01T00:01:00Z"}"#;
    let keys = AwsKeys::new("id", "key").with_session_token("t");
    assert_eq!(credential_in(aws), Ok(Credential::aws(keys).expiring_at(Some(at(60)))));
    let gcloud =
        r#"{"configuration": {}, "credential": {"access_token": "t", "token_expiry": "1970-01-01T00:01:00Z"}}"#;
    assert_eq!(credential_in(gcloud), Ok(token("t", 60)));
    for bad in [
        "",
        " \n",
        "please log in",
        "{",
        "{}",
        r#"{"AccessKeyId": "id"}"#,
        r#"{"Version": 2, "AccessKeyId": "id", "SecretAccessKey": "key"}"#,
        r#"{"access_token": "SECRET", "token_expiry": "soon"}"#,
        r#"{"access_token": 7}"#,
    ] {
        let why = credential_in(bad).unwrap_err();
        assert!(!why.contains("SECRET"), "{bad}");
    }
}

#[tokio::test]
async fn variables_are_looked_up_at_each_request() {
    let now = Arc::new(AtomicU64::new(1));
    let number = Arc::clone(&now);
    let variables = move |name: &str| match name {
        "TOKEN" => Some(format!("t{}", number.load(Ordering::Relaxed))),
        "AWS_ACCESS_KEY_ID" => Some("id".to_owned()),
        "AWS_SECRET_ACCESS_KEY" => Some("key\n".to_owned()),
        "AWS_SESSION_TOKEN" => Some(" ".to_owned()),
        "AWS_CREDENTIAL_EXPIRATION" => Some("1970-01-01T00:01:00Z".to_owned()),
        _ => None,
    };
    let bearer = EnvironmentCredentials::bearer("TOKEN", variables.clone());
    assert_eq!(bearer.credential().await.unwrap(), Credential::bearer("t1"));
    now.store(2, Ordering::Relaxed);
    assert_eq!(bearer.credential().await.unwrap(), Credential::bearer("t2"));
    let aws = EnvironmentCredentials::aws(variables);
    let expected = Credential::aws(AwsKeys::new("id", "key")).expiring_at(Some(at(60)));
    assert_eq!(aws.credential().await.unwrap(), expected);
    let error = EnvironmentCredentials::aws(|_| None).credential().await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Authentication);
    assert!(error.message.contains("AWS_ACCESS_KEY_ID"), "{error}");
}

#[tokio::test]
async fn a_file_is_read_again_and_not_when_it_is_large_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let file = FileCredentials::new(&path);
    assert_eq!(file.credential().await.unwrap_err().kind, ModelErrorKind::Authentication);
    for text in ["first", "second"] {
        std::fs::write(&path, format!("{text}\n")).unwrap();
        assert_eq!(file.credential().await.unwrap(), Credential::bearer(text));
    }
    for bad in ["x".repeat(64 * 1024 + 1).into_bytes(), vec![0xff, 0xfe], Vec::new()] {
        std::fs::write(&path, bad).unwrap();
        assert_eq!(file.credential().await.unwrap_err().kind, ModelErrorKind::Configuration);
    }
    let error = FileCredentials::new(folder.path()).credential().await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Configuration, "{error}");
}

#[cfg(unix)]
mod commands {
    use super::*;

    fn shell(script: &str) -> CommandCredentials {
        CommandCredentials::new("/bin/sh").args(["-c", script])
    }

    #[tokio::test]
    async fn a_command_prints_a_credential() {
        assert_eq!(shell("echo ya29.x").credential().await.unwrap(), Credential::bearer("ya29.x"));
        let aws = r#"printf '{"Version":1,"AccessKeyId":"id","SecretAccessKey":"key"}'"#;
        assert_eq!(shell(aws).credential().await.unwrap(), Credential::aws(AwsKeys::new("id", "key")));
    }

    #[tokio::test]
    async fn a_command_that_fails_says_why_and_shows_no_output() {
        let error = shell("echo SECRET; echo 'run: aws sso login' >&2; exit 3").credential().await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Authentication);
        assert!(error.message.contains("aws sso login") && !format!("{error:?}").contains("SECRET"), "{error:?}");
        let error = shell("echo two SECRETS").credential().await.unwrap_err();
        assert!(!format!("{error:?}").contains("SECRET"), "{error:?}");
        let error = CommandCredentials::new("/no/such/program").credential().await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Configuration);
    }

    #[tokio::test]
    async fn endless_output_and_endless_work_have_limits() {
        let error = shell("yes").credential().await.unwrap_err();
        assert!(error.message.contains("64 KiB"), "{error}");
        let error = shell("exec sleep 1000").timeout(Duration::from_millis(50)).credential().await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Timeout);
    }
}
