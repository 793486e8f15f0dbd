//! The files and programs of this machine.

mod coding_tools;
mod options;

pub use coding_tools::coding_tools;

use crate::error::Error;
use crate::home::Home;
use crate::machine::Environment;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_local::{KeptLimits, KeptSpace, LocalProcess, LocalWorkspace, TemporaryFiles, WithLocalFolders};
use windlass_runtime::SessionHandle;
use windlass_tool::environment::{given_environment, host_environment, utf8_environment};
use windlass_tool::{Process, Workspace};

/// Limits of the disk space for the outputs of programs.
pub(crate) type OutputLimits = KeptLimits;

/// The disk space that outputs of programs take.
#[derive(Debug, Clone)]
pub(crate) struct OutputSpace(KeptSpace);

impl OutputSpace {
    pub(crate) fn new(limits: &OutputLimits, home: Option<&Home>) -> Self {
        Self(match home {
            Some(home) => KeptSpace::in_home(*limits, home.root().join("projects")),
            None => KeptSpace::new(*limits),
        })
    }

    /// Account of the space.
    pub(crate) fn kept(&self) -> KeptSpace {
        self.0.clone()
    }

    /// Sends notices to a session from now on.
    pub(crate) fn report_to(&self, session: &SessionHandle) {
        let session = session.weak();
        // A session that has ended reads no more.
        self.0.on_notice(move |text| drop(session.notice(text)));
    }
}

/// Directory of the lists of temporary files that sessions have made in projects.
pub(crate) fn temporary_files(home: &Home) -> PathBuf {
    home.root().join("temporary")
}

/// Files of this machine. With a home, the list of temporary files is there, and files left behind by killed processes
/// are removed.
pub(crate) fn files(home: Option<&Home>) -> Arc<dyn Workspace> {
    let files = LocalWorkspace::default();
    let Some(lists) = home.map(temporary_files) else { return Arc::new(files) };
    if let Err(error) = TemporaryFiles::remove_left_behind(&lists) {
        tracing::warn!(%error, "what killed processes have left behind was not removed");
    }
    Arc::new(files.with_temporary_files(TemporaryFiles::in_folder(lists)))
}

/// Remote files with these folders of this machine, which are readable as well.
pub(crate) fn files_and_folders(
    files: Arc<dyn Workspace>,
    folders: impl Iterator<Item = PathBuf>,
) -> Arc<dyn Workspace> {
    Arc::new(WithLocalFolders::new(files, folders))
}

/// Programs of this machine. `name` tells those of one session of one process from all others.
pub(crate) fn programs(name: String, space: &OutputSpace) -> Arc<dyn Process> {
    Arc::new(LocalProcess::new(name).with_kept_space(space.0.clone()))
}

/// Environment of programs: the one that the program chose, without secrets, else that of the host, else, for programs
/// of this machine, that of this process. A notice names the chosen variables that are withheld.
#[expect(clippy::disallowed_methods, reason = "the default where the program that uses the library gives none")]
pub(crate) fn environment(
    chosen: Option<Environment>,
    host: Option<&Environment>,
    is_here: bool,
    notices: &mut Vec<String>,
) -> Environment {
    let Some(chosen) = chosen else {
        return match host {
            Some(own) => host_environment(own.iter().cloned()),
            None if is_here => host_environment(std::env::vars_os()),
            None => Vec::new(),
        };
    };
    let parted = given_environment(chosen);
    if !parted.kept_back.is_empty() {
        notices.push(format!(
            "these variables do not reach the programs of tools, since they look like secrets or change what programs \
             load: {}",
            parted.kept_back.join(", ")
        ));
    }
    parted.passed
}

/// Environment with a locale whose character type is UTF-8.
pub(crate) fn utf8(environment: Environment) -> Environment {
    utf8_environment(environment)
}

/// Checks that the runtime can start the threads on which files are read and written. A write to a file of tokio
/// answers with an error where the first of them cannot be started; all other such work panics.
pub(crate) fn check_threads() -> Result<(), Error> {
    use std::task::{Context, Poll, Waker};
    use tokio::io::AsyncWriteExt as _;
    // Not there on all systems; then nothing is checked.
    let Ok(sink) = std::fs::File::options().write(true).open("/dev/null") else { return Ok(()) };
    let mut sink = tokio::fs::File::from_std(sink);
    // The write is handed to the thread at once, which is not waited for.
    let poll = std::pin::pin!(sink.write_all(b"\n")).poll(&mut Context::from_waker(Waker::noop()));
    match poll {
        Poll::Ready(Err(_)) => Err(Error::NoThread),
        _ => Ok(()),
    }
}
