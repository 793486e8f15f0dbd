//! A place that was connected to.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_tool::{Ids, SystemIds};

use crate::connection::{Link, shown};
use crate::workspace::os_string;
use crate::{ConnectError, RemoteProcess, RemoteWorkspace, Transport};

/// A container or machine that an agent can work on: its files, its programs, and what programs find there.
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
    /// Connects, and looks whether all that is needed is there. Cancel safe.
    ///
    /// # Errors
    /// There is no connection, or something is missing on the other side, which the error names.
    pub async fn connect(transport: Transport) -> Result<Self, ConnectError> {
        Self::connect_with(transport, Arc::new(SystemIds::default())).await
    }

    /// The same with other random bits. They must not be known on the other side: answers end with words made of them.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
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

    /// The files there.
    pub fn workspace(&self) -> Arc<RemoteWorkspace> {
        Arc::new(RemoteWorkspace::new(Arc::clone(&self.link)))
    }

    /// The programs there, with a limit of their own on how many run at a time.
    pub fn process(&self) -> Arc<RemoteProcess> {
        Arc::new(RemoteProcess::new(Arc::clone(&self.link)))
    }

    /// Variables of programs there: `HOME`, `PATH`, the UTF-8 locale that was found as `LC_CTYPE` (`C` without one), and those of
    /// `USER`, `LOGNAME`, `SHELL`, `LANG`, `TMPDIR` and `TZ` that are set.
    pub fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// The home directory of the account there.
    pub fn home(&self) -> Option<&Path> {
        let (_, home) = self.environment.iter().find(|(name, _)| name == "HOME")?;
        Some(Path::new(home)).filter(|home| home.is_absolute())
    }

    /// The directory in which programs begin there, with links resolved: that of the container's image, or the home of the
    /// account. `None` if the other side does not say.
    pub fn start(&self) -> Option<&Path> {
        self.start.as_deref()
    }

    /// A name that tells this place from others, such as `docker:web` or `ssh:build.example.org`. That of any other
    /// [program](Transport::program) is the program with its words.
    pub fn name(&self) -> String {
        self.link.transport.full_name()
    }

    /// Where this is, in words for people.
    pub fn place(&self) -> String {
        self.link.transport.place()
    }

    /// A directory there with all links resolved.
    ///
    /// # Errors
    /// There is no such directory, or no connection.
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
