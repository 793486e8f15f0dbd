//! `--workspace`: a container or another machine to work on.

pub(crate) mod target;

use crate::failure::Usage;
use crate::mcp::configured::Configured;
use std::path::{Path, PathBuf};
use target::{Kind, Target, There};
use windlass::mcp::McpTransport;
use windlass::remote::{ConnectError, Remote, Transport};

/// Workspace that is not on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Elsewhere {
    pub(crate) remote: Remote,
    /// Directory in the remote workspace, with links followed.
    pub(crate) directory: PathBuf,
}

impl Elsewhere {
    /// Connects, and finds the directory.
    pub(crate) async fn connect(target: &Target) -> Result<Self, Usage> {
        let transport = match target.kind {
            Kind::Docker => Transport::docker(&target.name),
            Kind::Ssh => Transport::ssh(&target.name),
        };
        let remote = Remote::connect(transport).await.map_err(|error| refusal(target, &error))?;
        let asked = wanted(target, &remote).map_err(|problem| Usage(format!("--workspace {target}: {problem}")))?;
        let directory = remote.directory(asked).await;
        let directory = directory.map_err(|error| Usage(format!("--workspace {target}: {}", error.message)))?;
        Ok(Self { remote, directory })
    }

    /// Connects if the command line names a target.
    pub(crate) async fn of(target: Option<&Target>) -> Result<Option<Self>, Usage> {
        match target {
            Some(target) => Self::connect(target).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the note for the user before anything happens.
    pub(crate) fn note(&self) -> String {
        format!(
            "the agent works in {} of {}; settings of the project there count as far as they forbid something; skills, memory, \
             MCP servers of files and language servers of this machine are not there",
            self.directory.display(),
            self.remote.place()
        )
    }
}

/// Returns the path of the target's directory.
fn wanted(target: &Target, remote: &Remote) -> Result<PathBuf, String> {
    match &target.there {
        There::At(path) => Ok(path.clone()),
        There::InHome(rest) => {
            let home = remote.home().ok_or("the account there has no home directory: give the absolute path")?;
            Ok(home.join(rest))
        }
        // The root is refused: all files would belong to the workspace, and be read without a question.
        There::Start => match remote.start().filter(|start| *start != Path::new("/")) {
            Some(start) => Ok(start.to_path_buf()),
            None => Err(format!("programs there begin in /: name the directory to work in, as in {target}:/srv/app")),
        },
    }
}

/// Returns the reason why there is no connection, and a remedy.
fn refusal(target: &Target, error: &ConnectError) -> Usage {
    let hint = match (error, target.kind) {
        (ConnectError::Lost(_), Kind::Docker) => "; `docker ps` lists the containers that run",
        (ConnectError::Lost(_), Kind::Ssh) => {
            "; nothing is asked for: the host must be known and a key be there, see `ssh -o BatchMode=yes HOST true`"
        }
        _ => "",
    };
    Usage(format!("--workspace {target}: {error}{hint}"))
}

/// Refuses servers of the command line that are programs of this machine.
pub(crate) fn check_servers(configured: &Configured) -> Result<(), Usage> {
    let is_program = |transport: &McpTransport| matches!(transport, McpTransport::Stdio { .. });
    match configured.servers.iter().find(|(_, config)| is_program(&config.transport)) {
        Some((name, _)) => Err(Usage(format!(
            "--mcp-config: the server {name:?} is a program of this machine, and with --workspace the files are elsewhere: leave \
             it out, or give one that has a `url`"
        ))),
        None => Ok(()),
    }
}
