//! The change of a program's command into that of the program that confines it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_tool::{Confine, ConfinedStart, ProcessCommand};

use crate::confinement::Confinement;
use crate::level::Mechanism;
#[cfg(target_os = "linux")]
use crate::thread::Threads;
use crate::{Ground, SandboxPolicy, bubblewrap, seatbelt_profile};

/// Program of macOS that applies a profile of Seatbelt.
const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// Programs that confine others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrap {
    pub(crate) mechanism: Mechanism,
    pub(crate) bubblewrap: Option<Bubblewrap>,
    pub(crate) helper: Option<PathBuf>,
}

/// Bubblewrap, and the program that creates the view of the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bubblewrap {
    pub(crate) program: PathBuf,
    pub(crate) view: View,
}

/// Program that creates the view of the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum View {
    /// The helper, in namespaces that it creates inside of those of bubblewrap. Some systems allow only bubblewrap to
    /// create any.
    Helper {
        /// `true` if this process runs as root.
        is_root: bool,
    },
    /// Bubblewrap. Hidden directories are replaced by this one, which has no names and is out of reach of programs
    /// inside.
    Bubblewrap { empty: PathBuf },
}

impl Wrap {
    /// `true` if programs can be given a separate network, with the proxy as its only way out.
    #[cfg(target_os = "linux")]
    pub(crate) fn separates_networks(&self) -> bool {
        self.helper.is_some() && self.mechanism != Mechanism::Landlock
    }

    /// Returns the confinement of a thread that starts a program, if a thread can do all that is needed. Looks through
    /// directories. `None`: the helper confines the program, and can report problems.
    #[cfg(target_os = "linux")]
    pub(crate) fn thread(&self, policy: &SandboxPolicy, ground: &Ground, threads: &Threads) -> Option<Arc<Confine>> {
        if self.mechanism != Mechanism::Landlock {
            return None;
        }
        let confine = threads.prepare(Confinement::new(policy, ground, ""));
        confine.inspect_err(|failed| tracing::debug!(%failed, "the helper starts a program")).ok()
    }

    /// Replaces the program by the one that confines it. `proxy` is the socket at which the host takes a listener for
    /// its proxy, `thread` the confinement of a thread. `None`: this mechanism cannot express the policy, so nothing
    /// may run.
    pub(crate) fn command(
        &self,
        policy: &SandboxPolicy,
        ground: &Ground,
        mut command: ProcessCommand,
        proxy: Option<&Path>,
        thread: Option<Arc<Confine>>,
    ) -> Option<ProcessCommand> {
        let (program, arguments) = match self.mechanism {
            Mechanism::Seatbelt => {
                let profile = seatbelt_profile(policy, ground)?;
                let mut words = vec![OsString::from("-p"), profile.into(), command.program.clone()];
                words.extend(command.args.iter().cloned());
                (SANDBOX_EXEC.into(), words)
            }
            _ => {
                let mut confinement = Confinement::new(policy, ground, &command.cwd);
                confinement.proxy = proxy.map(Path::to_path_buf);
                self.linux(confinement, &ground.emptied, &command.program, &command.args)?
            }
        };
        let (meant, its_arguments) = (command.program, command.args);
        (command.program, command.args) = (program, arguments);
        command.confined_start = thread.map(|confine| ConfinedStart::new(meant, its_arguments, confine));
        Some(command)
    }

    fn linux(
        &self,
        mut confinement: Confinement,
        emptied: &[PathBuf],
        program: &OsStr,
        arguments: &[OsString],
    ) -> Option<(OsString, Vec<OsString>)> {
        let helper = || self.helper.clone().map(PathBuf::into_os_string);
        if self.mechanism != Mechanism::Landlock {
            confinement.hidden_files.extend(emptied.iter().cloned());
        }
        if self.mechanism != Mechanism::Bubblewrap {
            confinement.namespaces = self.mechanism == Mechanism::Namespaces;
            return Some((helper()?, confinement.to_arguments(program, arguments)));
        }
        let bubblewrap = self.bubblewrap.as_ref()?;
        confinement.inside = true;
        let mut words = match &bubblewrap.view {
            View::Helper { is_root } => {
                confinement.namespaces = true;
                bubblewrap::without_view(&confinement, *is_root)
            }
            View::Bubblewrap { empty } => bubblewrap::arguments(&confinement, empty),
        };
        match helper() {
            Some(helper) => {
                words.push(helper);
                words.extend(confinement.to_arguments(program, arguments));
            }
            // The missing helper was to create the view.
            None if confinement.namespaces => return None,
            None => {
                words.push(program.to_owned());
                words.extend(arguments.iter().cloned());
            }
        }
        Some((bubblewrap.program.clone().into_os_string(), words))
    }
}
