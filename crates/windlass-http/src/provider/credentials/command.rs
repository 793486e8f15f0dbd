use super::read::{MAX_BYTES, credential_in};
use super::{Credential, Credentials};
use crate::provider::readable;
use async_trait::async_trait;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use windlass_model::ModelError;
use windlass_types::ModelErrorKind;

/// Program that prints a credential. It runs at each request: wrap this source into
/// [`RefreshingCredentials`](super::RefreshingCredentials).
///
/// The output is a token alone, as of `gcloud auth print-access-token`, or JSON: that of a `credential_process` of AWS
/// (`AccessKeyId`, `SecretAccessKey`, `SessionToken`, `Expiration`), or `access_token` with `token_expiry`. At most 64
/// KiB are read. The program inherits the environment, has no input, and is killed when the call is dropped or takes
/// too long.
#[derive(Clone)]
pub struct CommandCredentials {
    program: OsString,
    arguments: Vec<OsString>,
    directory: Option<PathBuf>,
    timeout: Duration,
}

impl CommandCredentials {
    /// Creates a source from a program without arguments.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), arguments: Vec::new(), directory: None, timeout: Duration::from_secs(60) }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets the directory in which the program starts. Default: that of this process.
    #[must_use]
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the maximum run time of the program. Default: 60 s.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    fn error(&self, kind: ModelErrorKind, what: &str) -> ModelError {
        let name = self.program.to_string_lossy();
        ModelError::new(kind, format!("the program of the credential, {name}, {what}")).unbilled()
    }

    async fn output(&self) -> Result<(String, String, bool), ModelError> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let failed = |what: &str| self.error(ModelErrorKind::Connection, what);
        let mut child = command
            .spawn()
            .map_err(|error| self.error(ModelErrorKind::Configuration, "cannot be started").with_source(error))?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(failed("has no output"));
        };
        let (output, said) = tokio::join!(beginning(stdout), beginning(stderr));
        let output = output.map_err(|error| failed("cannot be read").with_source(error))?;
        if output.len() as u64 > MAX_BYTES {
            return Err(self.error(ModelErrorKind::Configuration, "printed more than 64 KiB"));
        }
        let status = child.wait().await.map_err(|error| failed("did not end").with_source(error))?;
        let output = String::from_utf8(output);
        let output = output.map_err(|_| self.error(ModelErrorKind::Configuration, "printed what is not UTF-8"))?;
        Ok((output, String::from_utf8_lossy(&said.unwrap_or_default()).into_owned(), status.success()))
    }
}

/// Reads the bytes up to a little more than the limit. Further bytes are not waited for: the pipe is closed.
async fn beginning(pipe: impl AsyncRead + Unpin) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(MAX_BYTES + 1).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

impl fmt::Debug for CommandCredentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments may hold secrets.
        formatter.debug_struct("CommandCredentials").field("program", &self.program).finish_non_exhaustive()
    }
}

#[async_trait]
impl Credentials for CommandCredentials {
    async fn credential(&self) -> Result<Credential, ModelError> {
        let output = tokio::time::timeout(self.timeout, self.output()).await.unwrap_or_else(|_| {
            let text = format!("took longer than {} s", self.timeout.as_secs());
            Err(self.error(ModelErrorKind::Timeout, &text))
        });
        let (output, said, succeeded) = output?;
        if !succeeded {
            // The program's error output names remedies for the user, such as a new login.
            let said = readable(&said);
            let what = if said.is_empty() { "failed".to_owned() } else { format!("failed: {said}") };
            return Err(self.error(ModelErrorKind::Authentication, &what));
        }
        let no_credential =
            |what: &str| self.error(ModelErrorKind::Authentication, &format!("gave an output that {what}"));
        credential_in(&output).map_err(no_credential)
    }
}
