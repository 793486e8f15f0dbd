//! Sandbox of a session: its options, and the proof of its level at opening.

#[cfg(feature = "web")]
mod egress;
#[cfg(not(feature = "web"))]
#[path = "absent/egress.rs"]
mod egress;
mod options;
mod other_projects;
mod secret_files;
mod servers;
mod site;

use std::path::PathBuf;

use egress::EgressHosts;
pub(crate) use egress::Way;
pub(crate) use servers::SandboxedServers;
pub(crate) use site::{Site, temporary};
use windlass_permission::{REPOSITORY_DIRECTORIES, SandboxedCommands, protected_names};
pub use windlass_sandbox::{Level, Network, SandboxError, become_helper};
use windlass_sandbox::{Sandbox, SandboxConfig, SandboxPolicy};
use windlass_tool::{Ids, Process};
use windlass_types::secret::{HOME_ONLY_PLACES, HOME_PLACES, SYSTEM_PLACES, places_in_workspace};

/// Sandbox options for the commands of a session.
///
/// Programs may write in the directories of the workspace and in a folder for temporary files. Files that determine
/// what runs later (git hooks, settings, start-up files) are read-only, keys and tokens in the usual places are hidden,
/// and the network is off. When a session opens, a probe tries the forbidden accesses; a notice names the proven level.
///
/// ```
/// use windlass::sandbox::{Network, SandboxOptions};
/// use windlass::{options::WorkspaceOptions, session};
///
/// let builder = session()
///     .workspace(SandboxOptions::new().required().auto_allow().network(Network::Off))
///     .workspace(WorkspaceOptions::new().sandbox_helper("/usr/bin/my-agent"));
/// # let _ = builder;
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct SandboxOptions {
    required: bool,
    weaker: bool,
    auto_allow: bool,
    keeps_inside: bool,
    excluded: Excluded,
    network: Network,
    hosts: EgressHosts,
    unix_sockets: bool,
    bubblewrap: Option<PathBuf>,
    paths: Paths,
}

/// Programs that run outside of the sandbox.
#[derive(Debug, Clone, Default)]
struct Excluded {
    commands: Vec<String>,
    servers: Vec<String>,
    language_servers: Vec<String>,
}

/// Additional access rules for some paths.
#[derive(Debug, Clone, Default)]
struct Paths {
    writable: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    shown: Vec<PathBuf>,
}

impl SandboxOptions {
    /// A sandbox if this machine has one; commands need the same permission requests as without. A notice reports a
    /// missing sandbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens no session unless the sandbox enforces everything.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Accepts a required sandbox that does not enforce everything: inside of containers, for example.
    pub fn accept_weaker(mut self) -> Self {
        self.weaker = true;
        self
    }

    /// Lets commands in the sandbox run without a permission request if no rule, hook or mode asks or denies. Has no
    /// effect at a level that does not enforce everything.
    pub fn auto_allow(mut self) -> Self {
        self.auto_allow = true;
        self
    }

    /// Keeps commands inside that request to run outside. Without this, each needs an approval.
    pub fn keep_inside(mut self) -> Self {
        self.keeps_inside = true;
        self
    }

    /// Commands that run outside, in the form of rules for Bash (`docker *`).
    pub fn exclude<T: Into<String>>(mut self, commands: impl IntoIterator<Item = T>) -> Self {
        self.excluded.commands.extend(commands.into_iter().map(Into::into));
        self
    }

    /// MCP servers whose programs run outside, by name; `*` means all. The others run inside, except those that the
    /// program has added to its set before the session opens: a notice names them, and a session whose sandbox is
    /// [required](Self::required) is refused.
    pub fn exclude_servers<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.excluded.servers.extend(names.into_iter().map(Into::into));
        self
    }

    /// Language servers whose programs run outside, by name; `*` means all. The others run inside, except those that a
    /// set shared by the program has started before.
    pub fn exclude_language_servers<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.excluded.language_servers.extend(names.into_iter().map(Into::into));
        self
    }

    /// Network access of programs. Default: [`Network::Off`].
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Lets programs open Unix sockets, through which they reach key agents, containers and the like.
    pub fn allow_unix_sockets(mut self) -> Self {
        self.unix_sockets = true;
        self
    }

    /// Path of bubblewrap, if it is not in one of the usual places.
    pub fn bubblewrap(mut self, program: impl Into<PathBuf>) -> Self {
        self.bubblewrap = Some(program.into());
        self
    }

    /// Additional writable directories. A leading `~/` is the user's home.
    pub fn writable<T: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = T>) -> Self {
        self.paths.writable.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Additional read-only paths. A leading `~/` is the user's home.
    pub fn read_only<T: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = T>) -> Self {
        self.paths.read_only.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Additional paths hidden from programs. A leading `~/` is the user's home.
    pub fn hide<T: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = T>) -> Self {
        self.paths.hidden.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Paths that stay visible although they would be hidden. A leading `~/` is the user's home.
    pub fn show<T: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = T>) -> Self {
        self.paths.shown.extend(paths.into_iter().map(Into::into));
        self
    }

    fn policy(&self, site: &Site) -> SandboxPolicy {
        let expanded = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let expand = |path: &PathBuf| match (path.strip_prefix("~"), &site.home) {
                (Ok(rest), Some(home)) => home.join(rest),
                _ => path.clone(),
            };
            paths.iter().map(expand).collect()
        };
        // A missing directory cannot be opened to programs.
        let more = expanded(&self.paths.writable).into_iter().filter(|path| path.is_dir());
        let of_home = HOME_PLACES.iter().chain(HOME_ONLY_PLACES).copied().filter(|place| *place != ".git/config");
        let of_home = site.home.iter().flat_map(|home| of_home.clone().map(|place| home.join(place)));
        let of_work = site.directories.iter().flat_map(|root| places_in_workspace().map(|place| root.join(place)));
        let secrets = of_home.chain(of_work).chain(SYSTEM_PLACES.iter().map(PathBuf::from));
        SandboxPolicy::new(site.directories.iter().cloned().chain(more))
            .with_protected(protected_names())
            .with_not_made(REPOSITORY_DIRECTORIES.iter().copied())
            .with_read_only(site.read_only.iter().cloned())
            .with_read_only(expanded(&self.paths.read_only))
            .with_hidden(secrets.chain(expanded(&self.paths.hidden)))
            .with_hidden(other_projects::places(site))
            .with_emptied(site.directories.iter().flat_map(|root| secret_files::below(root)))
            .with_shown(expanded(&self.paths.shown))
            .with_unix_sockets(self.unix_sockets)
    }

    /// Opens the sandbox and proves its level. `None`: there is none, and it is not required; a notice names the
    /// reason.
    pub(crate) async fn open(
        &self,
        site: &Site,
        (process, ids): (&dyn Process, &dyn Ids),
        notices: &mut Vec<String>,
    ) -> Result<Option<(Sandbox, Way)>, SandboxError> {
        let name = format!("{:032x}", ids.bits());
        let way = Way::open(self.network, &self.hosts).await?;
        let (options, place) = (self.clone(), site.clone());
        let policy = tokio::task::spawn_blocking(move || options.policy(&place)).await;
        let unavailable = |error: tokio::task::JoinError| SandboxError::Unavailable { reason: error.to_string() };
        let confinement = policy.map_err(unavailable)?.with_network(way.network());
        let mut config = SandboxConfig::new(confinement, &site.temporary, name)
            .with_environment(way.variables().to_vec())
            .with_refused(way.refused());
        config.helper.clone_from(&site.helper);
        config.bubblewrap.clone_from(&self.bubblewrap);
        let who = site.who;
        let sandbox = match Sandbox::open(config, process).await {
            Ok(sandbox) => sandbox,
            Err(error) if self.required => return Err(error),
            Err(error) => {
                notices.push(format!("{who} run without a sandbox: {error}"));
                return Ok(None);
            }
        };
        let level = sandbox.level();
        if self.required && !self.weaker && !level.holds.is_whole() {
            let needs_helper = cfg!(target_os = "linux") && site.helper.is_none();
            let more = if needs_helper { "; more is held with a helper, which the program has to name" } else { "" };
            let reason = format!("it would be {level}, and one that holds everything is required{more}");
            return Err(SandboxError::Unavailable { reason });
        }
        if let Some(readable) = readable_secrets(&sandbox.readable_secrets(), &site.directories) {
            if self.required && !self.weaker {
                return Err(SandboxError::Unavailable { reason: readable });
            }
            notices.push(readable);
        }
        notices.push(format!("{who} run in a sandbox: {level}"));
        Ok(Some((sandbox, way)))
    }

    /// Adds a notice if commands were to run without permission requests and the sandbox is too weak for that.
    pub(crate) fn note_questions(&self, level: Level, notices: &mut Vec<String>) {
        if self.auto_allow && !level.holds.is_whole() {
            notices.push("commands ask as without a sandbox, since it does not hold everything".to_owned());
        }
    }

    /// `true` if a line for Bash would run inside by these options. `leaves`: the call requests to run outside.
    #[must_use]
    pub fn confines(&self, line: &str, leaves: bool) -> bool {
        let commands = SandboxedCommands::new().with_excluded(&self.excluded.commands);
        if self.keeps_inside { commands.without_escape() } else { commands }.confines(line, leaves)
    }

    pub(crate) fn commands(&self, level: Level) -> SandboxedCommands {
        let mut commands =
            SandboxedCommands::new().with_excluded(&self.excluded.commands).with_level(level.to_string());
        if self.auto_allow && level.holds.is_whole() {
            commands = commands.with_auto_allow();
        }
        if self.keeps_inside { commands.without_escape() } else { commands }
    }
}

/// Sandbox options of a session for its programs.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramSandbox {
    /// Sandbox, if the programs run in one.
    pub(crate) options: Option<SandboxOptions>,
    /// Program that becomes the helper.
    pub(crate) helper: Option<PathBuf>,
}

/// Maximum number of files that one notice names.
const MAX_NAMED: usize = 5;

/// Names the secrets of the workspace that programs in the sandbox can read. `None` without any.
fn readable_secrets(files: &[PathBuf], directories: &[PathBuf]) -> Option<String> {
    let below = |file: &PathBuf| {
        let root = directories.iter().find_map(|root| file.strip_prefix(root).ok());
        root.unwrap_or(file).display().to_string()
    };
    let mut shown: Vec<String> = files.iter().take(MAX_NAMED).map(below).collect();
    if files.len() > MAX_NAMED {
        shown.push(format!("{} more", files.len().saturating_sub(MAX_NAMED)));
    }
    (!shown.is_empty()).then(|| {
        let files = shown.join(", ");
        format!(
            "programs in the sandbox can read the secrets in {files}: only mounts can hide these files, and there are none \
             here. Move the secrets out of the workspace, or install bubblewrap (Linux)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_secrets_are_named_below_the_workspace() {
        let files: Vec<PathBuf> = (0..7).map(|number| PathBuf::from(format!("/w/sub/.env.{number}"))).collect();
        let named = |files: &[PathBuf]| readable_secrets(files, &["/w".into()]);
        assert_eq!(named(&[]), None);
        let one = named(&files[..1]).unwrap();
        assert!(one.contains("the secrets in sub/.env.0: only mounts"), "{one}");
        let all = named(&files).unwrap();
        assert!(all.contains("sub/.env.4, 2 more: "), "{all}");
    }
}
