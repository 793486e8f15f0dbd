//! A connected remote place.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_tool::{Ids, SystemIds};

use crate::connection::{Link, shown};
use crate::workspace::os_string;
use crate::{ConnectError, RemoteProcess, RemoteWorkspace, Transport};

/// A container or machine that an agent can work on: its files, its programs, and their environment.
///
/// ```no_run
/// use windlass_remote::{Remote, Transport};
///
/// # async fn run() -> Result<(), windlass_remote::ConnectError> {
/// let web = Remote::connect(Transport::docker("web")).await?;
/// println!("{} has its home at {:?}", web.place(), web.home());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Remote {
    link: Arc<Link>,
    environment: Vec<(OsString, OsString)>,
    start: Option<PathBuf>,
}

impl Remote {
    /// Connects, and checks the requirements. Cancel safe.
    ///
    /// # Errors
    /// The connection failed, or a requirement is missing on the remote side, which the error names.
    pub async fn connect(transport: Transport) -> Result<Self, ConnectError> {
        Self::connect_with(transport, Arc::new(SystemIds::default())).await
    }

    /// Connects with another source of random bits. The remote side must not know them, because answers end with words
    /// made of them.
    ///
    /// # Errors
    /// The same as [`connect`](Self::connect).
    pub async fn connect_with(transport: Transport, ids: Arc<dyn Ids>) -> Result<Self, ConnectError> {
        transport.check()?;
        let link = Arc::new(Link::new(transport, ids));
        let about = link.look(b"( about )").await?;
        if about.code != 0 {
            let missing = shown(&about.body).trim_matches([' ', '(', ')']).to_owned();
            return Err(ConnectError::Missing { place: link.transport.place(), missing });
        }
        let variable = |part: &[u8]| {
            let at = part.iter().position(|byte| *byte == b'=')?;
            let (name, value) = part.split_at_checked(at)?;
            Some((os_string(name), os_string(value.get(1..)?)))
        };
        let said = about.parts().into_iter().filter_map(variable);
        let (start, environment): (Vec<_>, Vec<_>) = said.partition(|(name, _)| name == "PWD");
        let start = start.into_iter().map(|(_, path)| PathBuf::from(path)).find(|path| path.has_root());
        Ok(Self { link, environment, start })
    }

    /// Remote files.
    pub fn workspace(&self) -> Arc<RemoteWorkspace> {
        Arc::new(RemoteWorkspace::new(Arc::clone(&self.link)))
    }

    /// Remote programs, with a separate limit of concurrent ones.
    pub fn process(&self) -> Arc<RemoteProcess> {
        Arc::new(RemoteProcess::new(Arc::clone(&self.link)))
    }

    /// [`process`](Self::process) whose files with outputs, which are on this machine, take their disk space from an account.
    pub fn process_in_space(&self, space: windlass_local::KeptSpace) -> Arc<RemoteProcess> {
        Arc::new(RemoteProcess::new(Arc::clone(&self.link)).with_kept_space(space))
    }

    /// Variables of remote programs: `HOME`, `PATH`, the detected UTF-8 locale as `LC_CTYPE` (`C` without one), and
    /// those of `USER`, `LOGNAME`, `SHELL`, `LANG`, `TMPDIR` and `TZ` that are set.
    pub fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// Home directory of the remote account.
    pub fn home(&self) -> Option<&Path> {
        let (_, home) = self.environment.iter().find(|(name, _)| name == "HOME")?;
        Some(Path::new(home)).filter(|home| home.is_absolute())
    }

    /// Start directory of remote programs, with links resolved: that of the container's image, or the home of the
    /// account. `None` if the remote side does not report it.
    pub fn start(&self) -> Option<&Path> {
        self.start.as_deref()
    }

    /// Name that distinguishes this place from others, such as `docker:web` or `ssh:build.example.org`. For any other
    /// [program](Transport::program), the program with its words.
    pub fn name(&self) -> String {
        self.link.transport.full_name()
    }

    /// Name of the place for people.
    pub fn place(&self) -> String {
        self.link.transport.place()
    }

    /// Resolves a remote directory with all links.
    ///
    /// # Errors
    /// The directory does not exist, or the connection failed.
    pub async fn directory(&self, path: impl Into<PathBuf>) -> Result<PathBuf, windlass_tool::WorkspaceError> {
        use windlass_tool::{EntryKind, Workspace as _, WorkspaceError, WorkspaceErrorKind};
        let path = path.into();
        let found = self.workspace().resolve(&path).await?;
        match found.kind {
            EntryKind::Directory => Ok(found.path),
            _ => {
                let message = format!("{} is not a directory of {}", path.display(), self.place());
                Err(WorkspaceError::new(WorkspaceErrorKind::NotDirectory, message))
            }
        }
    }
}
