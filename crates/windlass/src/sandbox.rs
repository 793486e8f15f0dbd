//! The sandbox of a session: what its options come to, and what is proved when it opens.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use windlass_permission::{Policy, REPOSITORY_DIRECTORIES, SandboxedCommands, protected_names};
use windlass_sandbox::{RefusedHosts, Sandbox, SandboxConfig, SandboxPolicy};
use windlass_tool::{Ids, Process};
use windlass_types::secret::{HOME_ONLY_PLACES, HOME_PLACES, SYSTEM_PLACES, places_in_workspace};
#[cfg(feature = "web")]
use {
    std::net::{Ipv4Addr, SocketAddr},
    windlass_permission::network::NetworkPolicy,
    windlass_sandbox::PROXY_PORT,
    windlass_web::proxy::{EgressOptions, EgressOutcome, EgressProxy},
};

use crate::session::Options;

pub use windlass_sandbox::{HELPER_WORD, Holds, Level, Mechanism, Network, SandboxError, become_helper};

/// In which sandbox the commands of a session run.
///
/// Programs may write in the directories of the workspace and in a folder for temporary files; what decides what runs later
/// (hooks of git, settings, start-up files) stays as it is, keys and tokens in the usual places are hidden, and the network is off. When a session
/// opens, a probe tries what is forbidden; a notice names the level that was proved.
///
/// ```
/// use windlass::sandbox::{Network, SandboxOptions};
/// use windlass::session;
///
/// let builder = session()
///     .sandbox(SandboxOptions::new().required().auto_allow().network(Network::Off))
///     .sandbox_helper("/usr/bin/my-agent");
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
    #[cfg(feature = "web")]
    hosts: Option<NetworkPolicy>,
    unix_sockets: bool,
    bubblewrap: Option<PathBuf>,
    paths: Paths,
}

/// What runs outside of the sandbox.
#[derive(Debug, Clone, Default)]
struct Excluded {
    commands: Vec<String>,
    servers: Vec<String>,
    language_servers: Vec<String>,
}

/// What programs may do with some paths, beside what they may do anyway.
#[derive(Debug, Clone, Default)]
struct Paths {
    writable: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    shown: Vec<PathBuf>,
}

impl SandboxOptions {
    /// A sandbox if this machine has one; commands ask as they do without. Where there is none a notice says so.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens no session unless the sandbox holds everything.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Takes a sandbox that does not hold everything for enough, where one is required: inside of containers, for example.
    pub fn accept_weaker(mut self) -> Self {
        self.weaker = true;
        self
    }

    /// Lets commands in the sandbox run without a question where no rule, hook or mode asks or denies. Has no effect at a level that
    /// does not hold everything.
    pub fn auto_allow(mut self) -> Self {
        self.auto_allow = true;
        self
    }

    /// Keeps commands inside that ask to run outside. Without this someone is asked about each.
    pub fn keep_inside(mut self) -> Self {
        self.keeps_inside = true;
        self
    }

    /// Commands that run outside, in the form of rules for Bash (`docker *`).
    pub fn exclude<T: Into<String>>(mut self, commands: impl IntoIterator<Item = T>) -> Self {
        self.excluded.commands.extend(commands.into_iter().map(Into::into));
        self
    }

    /// MCP servers whose programs run outside, by name; `*` means all. The others run inside, but those that the program has added to its
    /// set before the session opens: a notice names them, and a session whose sandbox is [required](Self::required) is refused.
    pub fn exclude_servers<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.excluded.servers.extend(names.into_iter().map(Into::into));
        self
    }

    /// Language servers whose programs run outside, by name; `*` means all. The others run inside, but those that a set which the program
    /// shares has started before.
    pub fn exclude_language_servers<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.excluded.language_servers.extend(names.into_iter().map(Into::into));
        self
    }

    /// What of the network programs reach. Default: [`Network::Off`].
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Lets programs reach these hosts and no others, through a proxy of the session; it counts instead of [`network`](Self::network).
    ///
    /// Names are looked up by the proxy, and only addresses that fit are dialled. Programs find it by the usual variables
    /// (`HTTPS_PROXY`); what does not heed them reaches no host. At a level that does not separate networks, no program reaches any.
    #[cfg(feature = "web")]
    pub fn hosts(mut self, policy: NetworkPolicy) -> Self {
        self.hosts = Some(policy);
        self
    }

    /// Lets programs open Unix sockets, by which they reach agents for keys, containers and the like.
    pub fn allow_unix_sockets(mut self) -> Self {
        self.unix_sockets = true;
        self
    }

    /// Where bubblewrap is, if it is not in one of the usual places.
    pub fn bubblewrap(mut self, program: impl Into<PathBuf>) -> Self {
        self.bubblewrap = Some(program.into());
        self
    }

    /// More directories in which programs may write. A beginning `~/` stands for the home of the user.
    pub fn writable<T: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = T>) -> Self {
        self.paths.writable.extend(paths.into_iter().map(Into::into));
        self
    }

    /// More paths that stay as they are. A beginning `~/` stands for the home of the user.
    pub fn read_only<T: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = T>) -> Self {
        self.paths.read_only.extend(paths.into_iter().map(Into::into));
        self
    }

    /// More paths of which programs see nothing. A beginning `~/` stands for the home of the user.
    pub fn hide<T: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = T>) -> Self {
        self.paths.hidden.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Paths that are not hidden, although they would be. A beginning `~/` stands for the home of the user.
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
        // One that is not there cannot be opened to programs.
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
            .with_shown(expanded(&self.paths.shown))
            .with_unix_sockets(self.unix_sockets)
    }

    /// The sandbox, once its level is proved. `None`: there is none, and it is not required; a notice says why.
    pub(crate) async fn open(
        &self,
        site: &Site,
        (process, ids): (&dyn Process, &dyn Ids),
        notices: &mut Vec<String>,
    ) -> Result<Option<(Sandbox, Way)>, SandboxError> {
        let name = format!("{:032x}", ids.bits());
        let way = self.way().await?;
        let confinement = self.policy(site).with_network(way.network);
        let mut config = SandboxConfig::new(confinement, &site.temporary, name)
            .with_environment(way.variables.clone())
            .with_refused(way.refused.clone());
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
        notices.push(format!("{who} run in a sandbox: {level}"));
        Ok(Some((sandbox, way)))
    }

    /// What a person should know who wanted commands to run without a question.
    pub(crate) fn note_questions(&self, level: Level, notices: &mut Vec<String>) {
        if self.auto_allow && !level.holds.is_whole() {
            notices.push("commands ask as without a sandbox, since it does not hold everything".to_owned());
        }
    }

    /// Whether the programs of an MCP server run outside.
    #[cfg(feature = "mcp")]
    pub(crate) fn excludes_server(&self, server: &str) -> bool {
        self.excluded.servers.iter().any(|name| name == "*" || name == server)
    }

    /// Whether the program of a language server runs outside.
    #[cfg(feature = "lsp")]
    pub(crate) fn excludes_language_server(&self, server: &str) -> bool {
        self.excluded.language_servers.iter().any(|name| name == "*" || name == server)
    }

    #[cfg(feature = "mcp")]
    pub(crate) fn is_required(&self) -> bool {
        self.required
    }

    /// The way of programs into the network.
    #[cfg(feature = "web")]
    async fn way(&self) -> Result<Way, SandboxError> {
        let Some(hosts) = &self.hosts else { return Ok(Way::of(self.network)) };
        let unavailable = |error: &dyn std::error::Error| SandboxError::Unavailable { reason: error.to_string() };
        let refused = RefusedHosts::default();
        let heard = refused.clone();
        let options = EgressOptions::default().on_event(move |event| {
            let is_refusal = matches!(event.outcome, EgressOutcome::Denied(_) | EgressOutcome::Undecided);
            if let (Some(from), Some(host), true) = (event.from, &event.target, is_refusal) {
                heard.note(from, host);
            }
        });
        let proxy = EgressProxy::start(hosts.clone(), options).await;
        let proxy = proxy.map_err(|error| unavailable(&error))?;
        let inside = SocketAddr::from((Ipv4Addr::LOCALHOST, PROXY_PORT));
        let variables = proxy.environment_at(inside).into_iter().map(|(name, value)| (name.into(), value.into()));
        let network = proxy.address().map_or(Network::Off, Network::Proxy);
        Ok(Way { network, variables: variables.collect(), refused, _proxy: Some(proxy) })
    }

    /// The way of programs into the network.
    #[cfg(not(feature = "web"))]
    async fn way(&self) -> Result<Way, SandboxError> {
        Ok(Way::of(self.network))
    }

    /// Whether a line for Bash would run inside, as far as these options decide that. `leaves` says that its call asks to run outside.
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

/// How programs reach the network. A proxy ends with it.
pub(crate) struct Way {
    network: Network,
    variables: Vec<(OsString, OsString)>,
    /// What the proxy has refused.
    refused: RefusedHosts,
    #[cfg(feature = "web")]
    _proxy: Option<EgressProxy>,
}

impl Way {
    fn of(network: Network) -> Self {
        Self {
            network,
            variables: Vec::new(),
            refused: RefusedHosts::default(),
            #[cfg(feature = "web")]
            _proxy: None,
        }
    }
}

/// What a session says of the sandbox of its programs.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramSandbox {
    /// The sandbox, if they are to run in one.
    pub(crate) options: Option<SandboxOptions>,
    /// The program that becomes its helper.
    pub(crate) helper: Option<PathBuf>,
}

/// For whom a sandbox is, and where.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// Who runs in it, as the beginning of a notice.
    pub(crate) who: &'static str,
    /// The directories of the workspace.
    pub(crate) directories: Vec<PathBuf>,
    /// The home of the user.
    pub(crate) home: Option<PathBuf>,
    /// What stays as it is beside what options say.
    pub(crate) read_only: Vec<PathBuf>,
    /// Where temporary files are.
    pub(crate) temporary: PathBuf,
    /// The helper.
    pub(crate) helper: Option<PathBuf>,
}

impl Site {
    /// That of the commands of a session.
    pub(crate) fn of_session(options: &Options, policy: &Policy) -> Self {
        let surroundings = &options.surroundings;
        let own = options.storage.home.iter().map(|home| home.root().to_path_buf());
        Self {
            who: "commands",
            directories: policy.directories().to_vec(),
            home: policy.home().map(Path::to_path_buf),
            read_only: own.chain(options.permissions.protected.iter().cloned()).collect(),
            temporary: temporary(&surroundings.program_environment(&mut Vec::new())),
            helper: surroundings.sandbox.helper.clone(),
        }
    }
}

/// Where temporary files are.
pub(crate) fn temporary(environment: &[(OsString, OsString)]) -> PathBuf {
    let named = environment.iter().find(|(name, _)| name == "TMPDIR").map(|(_, value)| PathBuf::from(value));
    named.filter(|path| path.is_absolute()).unwrap_or_else(|| PathBuf::from("/tmp"))
}
