//! The program of `apiKeyHelper`, which prints the key of the Anthropic API.

use super::{LoadedProject, ProgramReviewer};
use crate::providers::{Connection, from_lookup_with};
use async_trait::async_trait;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_http::provider::{Credential, Credentials, RefreshingCredentials};
use windlass_local::LocalProcess;
use windlass_model::{ModelError, Router};
use windlass_project::{ConfiguredLine, Layer, ProgramAuthor, ProgramLine, StartRefusal};
use windlass_tool::{Cancel, Clock, Ids, Process, ProcessCommand, ProcessExit, SystemClock, SystemIds};
use windlass_types::ModelErrorKind;

/// Variable with the lifetime of a key in milliseconds.
const KEPT: &str = "CLAUDE_CODE_API_KEY_HELPER_TTL_MS";
/// Default lifetime of a key.
const USUALLY_KEPT: Duration = Duration::from_secs(300);
/// Time limit of the program.
const LONGEST: Duration = Duration::from_secs(60);
/// Maximum number of bytes of its output.
const MOST: usize = 16 * 1024;
/// Variables whose keys precede the program.
const KEYS: [&str; 2] = ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"];

/// Directory and variables of a helper, or the reason why it does not start.
type HelperPlace = Result<(PathBuf, Vec<(OsString, OsString)>), StartRefusal>;

/// Runs a command line to get a key. The output never appears in messages.
#[derive(Debug)]
struct KeyHelper {
    command: String,
    /// Directory and variables of the helper, or the reason why it does not start.
    place: HelperPlace,
    kept: Duration,
    process: Arc<dyn Process>,
    /// Compares the program with its trusted version. `None`: a test runs it unchecked.
    reviewer: Option<ProgramReviewer>,
}

impl LoadedProject {
    /// Providers that variables set up, with the helper's keys for the Anthropic API.
    pub(super) fn providers(&self, lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Router {
        from_lookup_with(lookup, &Connection::keyed(self.key_helper()))
    }

    /// Credentials from the helper, if one is configured and needed.
    fn key_helper(&self) -> Option<RefreshingCredentials> {
        let is_set = |name: &&str| self.variable(name).is_some_and(|value| !value.trim().is_empty());
        let helper = self.resolved().session.api_key_helper.as_ref()?;
        if KEYS.iter().any(is_set) {
            return None;
        }
        let ttl = self.variable(KEPT).and_then(|value| value.trim().parse().ok()).map(Duration::from_millis);
        let helper = KeyHelper {
            command: helper.value.clone(),
            place: self.place_of_helper(&helper.value, helper.layer),
            kept: ttl.unwrap_or(USUALLY_KEPT),
            process: Arc::new(LocalProcess::new(format!("api-key-helper.{:032x}", SystemIds::default().bits()))),
            reviewer: Some(self.program_reviewer()),
        };
        Some(RefreshingCredentials::new(helper).early(Duration::ZERO))
    }

    fn place_of_helper(&self, line: &str, layer: Layer) -> HelperPlace {
        let (starts, env) = (self.starts(), self.usual_environment());
        let author = ProgramAuthor::of_layer(layer);
        let place = self.read.place(&starts, &author, &ProgramLine::Shell(line), &env)?;
        let env = starts.environment(&place, &env);
        Ok((place.directory, env))
    }
}

impl KeyHelper {
    fn error(kind: ModelErrorKind, problem: &str) -> ModelError {
        ModelError::new(kind, format!("the program of `apiKeyHelper` {problem}")).unbilled()
    }
}

#[async_trait]
impl Credentials for KeyHelper {
    async fn credential(&self) -> Result<Credential, ModelError> {
        let (directory, env) = self
            .place
            .as_ref()
            .map_err(|refusal| Self::error(ModelErrorKind::Configuration, &format!("is not started: {refusal}")))?;
        if let Some(reviewer) = &self.reviewer {
            let line = ConfiguredLine::new("`apiKeyHelper`", &self.command).giving_credentials();
            let reviewed = reviewer.review(&line, directory, None).await;
            reviewed
                .map_err(|problem| Self::error(ModelErrorKind::Configuration, &format!("does not run: {problem}")))?;
        }
        let mut command = ProcessCommand::new("/bin/sh", directory);
        command.args = vec!["-c".into(), self.command.clone().into()];
        command.env.clone_from(env);
        command.timeout = Some(LONGEST);
        command.inline_bytes = MOST;
        let ran = self.process.run(command, &Cancel::new()).await;
        let ran =
            ran.map_err(|error| Self::error(ModelErrorKind::Configuration, "cannot be started").with_source(error))?;
        match ran.exit {
            ProcessExit::Code(0) => {}
            ProcessExit::TimedOut => {
                let problem = format!("took longer than {} s", LONGEST.as_secs());
                return Err(Self::error(ModelErrorKind::Timeout, &problem));
            }
            ProcessExit::Code(code) => {
                return Err(Self::error(ModelErrorKind::Authentication, &format!("failed with code {code}")));
            }
            _ => return Err(Self::error(ModelErrorKind::Authentication, "was stopped")),
        }
        let key = ran.stdout.head.trim();
        if key.is_empty() || ran.stdout.omitted_bytes > 0 || key.contains(|c: char| c.is_whitespace() || c.is_control())
        {
            return Err(Self::error(
                ModelErrorKind::Authentication,
                "printed what is no key: it must print the key alone",
            ));
        }
        Ok(Credential::bearer(key).expiring_at(Some(SystemClock::default().now().after(self.kept))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helper(command: &str) -> KeyHelper {
        KeyHelper {
            command: command.to_owned(),
            place: Ok((PathBuf::from("/"), vec![("PATH".into(), "/usr/bin:/bin".into())])),
            kept: Duration::from_secs(60),
            reviewer: None,
            process: Arc::new(LocalProcess::new(format!("test.{:032x}", SystemIds::default().bits()))),
        }
    }

    #[tokio::test]
    async fn the_output_is_the_key_and_in_no_message() {
        let credential = helper("echo '  sk-secret  '").credential().await.unwrap();
        let expected = Credential::bearer("sk-secret").expiring_at(credential.expires_at);
        assert!(credential == expected && credential.expires_at.is_some());
        assert!(!format!("{credential:?}").contains("secret"));
        for (command, said) in [
            ("echo sk-secret; exit 3", "failed with code 3"),
            ("echo sk-secret; echo sk-secret >&2; kill -9 $$", "was stopped"),
            ("true", "printed what is no key"),
            ("echo sk-secret; echo more", "printed what is no key"),
            ("echo sk-secret x", "printed what is no key"),
            ("head -c 1000000 /dev/zero | tr '\\0' s", "printed what is no key"),
        ] {
            let problem = helper(command).credential().await.unwrap_err().to_string();
            assert!(problem.contains(said) && !problem.contains("secret"), "{problem}");
        }
    }

    /// A key is cached, and requested again once the API has refused it.
    #[tokio::test]
    async fn a_refused_key_is_asked_for_again() {
        let place = tempfile::tempdir().unwrap();
        let command = format!("cd {} && echo x >> runs && echo key-$(wc -l < runs)", place.path().display());
        let kept = RefreshingCredentials::new(helper(&command)).early(Duration::ZERO);
        let first = kept.credential().await.unwrap();
        assert!(kept.credential().await.unwrap().key == first.key);
        kept.refused(&first);
        assert!(kept.credential().await.unwrap().key != first.key);
        assert_eq!(std::fs::read_to_string(place.path().join("runs")).unwrap().lines().count(), 2);
    }
}
