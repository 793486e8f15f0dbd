//! A sandbox whose level was proven.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_blocking::run_blocking;
use windlass_tool::{Process, ProcessCommand, ProcessError};

use crate::level::{Level, Mechanism};
use crate::process::Sandboxed;
use crate::proof::Proof;
use crate::wrap::{Bubblewrap, View, Wrap};
use crate::{Entered, Ground, RefusedHosts, SandboxError, SandboxPolicy, nested_projects};
#[cfg(target_os = "linux")]
use crate::{Network, bridge::Bridge, thread::Threads};

/// Paths at which bubblewrap is looked for unless the configuration names it. The search path is never used: a project
/// may change it.
const BUBBLEWRAP: &[&str] = &["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// Configuration of a sandbox.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SandboxConfig {
    /// Policy of the sandbox.
    pub policy: SandboxPolicy,
    /// Directory in which the sandbox creates its folder for temporary files.
    pub temporary: PathBuf,
    /// Unpredictable name for that folder, such as 32 random hexadecimal digits.
    pub name: String,
    /// Program that is the helper. `None`: only bubblewrap can be used, and it holds less.
    pub helper: Option<PathBuf>,
    /// Path of bubblewrap. `None`: it is looked for in the usual places.
    pub bubblewrap: Option<PathBuf>,
    /// Mechanisms that may be used, best first.
    pub mechanisms: Vec<Mechanism>,
    /// Variables that programs inside get in addition to those of their command, whose values these replace. Default:
    /// none.
    pub environment: Vec<(OsString, OsString)>,
    /// Refusals that the proxy notes. Default: an object that stays empty.
    pub refused: RefusedHosts,
}

impl SandboxConfig {
    /// Creates the configuration of a sandbox without a helper, with all mechanisms of the system.
    pub fn new(policy: SandboxPolicy, temporary: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        let mechanisms = match cfg!(target_os = "macos") {
            true => vec![Mechanism::Seatbelt],
            false if cfg!(target_os = "linux") => {
                vec![Mechanism::Bubblewrap, Mechanism::Namespaces, Mechanism::Landlock]
            }
            false => Vec::new(),
        };
        Self {
            policy,
            temporary: temporary.into(),
            name: name.into(),
            helper: None,
            bubblewrap: None,
            mechanisms,
            environment: Vec::new(),
            refused: RefusedHosts::default(),
        }
    }

    /// Sets the helper: a program whose `main` calls [`become_helper`](crate::become_helper) first.
    #[must_use]
    pub fn with_helper(mut self, program: impl Into<PathBuf>) -> Self {
        self.helper = Some(program.into());
        self
    }

    /// Sets the path of bubblewrap.
    #[must_use]
    pub fn with_bubblewrap(mut self, program: impl Into<PathBuf>) -> Self {
        self.bubblewrap = Some(program.into());
        self
    }

    /// Sets variables of the programs inside, such as those that name a proxy.
    #[must_use]
    pub fn with_environment<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.environment.extend(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Sets the refusals of a proxy, whose hosts are named with the outcome of the program that wanted to reach them.
    #[must_use]
    pub fn with_refused(mut self, refused: RefusedHosts) -> Self {
        self.refused = refused;
        self
    }

    /// Sets the mechanisms that may be used, in this order.
    #[must_use]
    pub fn with_mechanisms(mut self, mechanisms: impl IntoIterator<Item = Mechanism>) -> Self {
        self.mechanisms = mechanisms.into_iter().collect();
        self
    }

    fn helper_is_writable(&self) -> bool {
        let helper = self.helper.as_ref().and_then(|helper| fs::canonicalize(helper).ok());
        let mut roots = self.policy.writable.iter().filter_map(|root| fs::canonicalize(root).ok());
        helper.is_some_and(|helper| roots.any(|root| helper.starts_with(root)))
    }

    /// Returns the ways in which this mechanism confines programs, best first. `empty` is a directory without names.
    fn wraps(&self, mechanism: Mechanism, empty: &Path) -> Vec<Wrap> {
        let wrap = |bubblewrap| Wrap { mechanism, bubblewrap, helper: self.helper.clone() };
        match mechanism {
            Mechanism::Bubblewrap => {
                let usual = || BUBBLEWRAP.iter().map(PathBuf::from).find(|path| path.is_file());
                let Some(program) = self.bubblewrap.clone().or_else(usual) else { return Vec::new() };
                let by_helper = self.helper.as_ref().map(|_| View::Helper { is_root: is_root() });
                let views = [by_helper, Some(View::Bubblewrap { empty: empty.to_owned() })];
                let bubblewrap = |view| wrap(Some(Bubblewrap { program: program.clone(), view }));
                views.into_iter().flatten().map(bubblewrap).collect()
            }
            Mechanism::Namespaces | Mechanism::Landlock if self.helper.is_none() => Vec::new(),
            // Landlock alone cannot protect its own helper.
            Mechanism::Landlock if self.helper_is_writable() => Vec::new(),
            _ => vec![wrap(None)],
        }
    }
}

/// Sandbox whose level was proven when it was opened. Its folder for temporary files is removed with the last clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) policy: SandboxPolicy,
    /// Projects inside of the project that existed when the sandbox was opened.
    pub(crate) nested: Vec<PathBuf>,
    pub(crate) wrap: Wrap,
    /// Number of bridges to the proxy that were created: each has a socket of its own.
    #[cfg(target_os = "linux")]
    bridges: AtomicU64,
    #[cfg(target_os = "linux")]
    pub(crate) threads: Threads,
    level: Level,
    folder: Folder,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) refused: RefusedHosts,
}

impl Sandbox {
    /// Tries the mechanisms of this machine with probes that `process` runs, and takes the first that holds everything,
    /// else the one that holds most. A mechanism that does not limit writes to the writable directories is never taken.
    ///
    /// # Errors
    /// Fails if no mechanism holds, a directory of the policy is unusable, or there is no place for temporary files.
    pub async fn open(config: SandboxConfig, process: &dyn Process) -> Result<Self, SandboxError> {
        let (mut policy, temporary) = (config.policy.clone(), config.temporary.clone());
        let means: Vec<PathBuf> = config.helper.iter().chain(&config.bubblewrap).cloned().collect();
        let at = temporary.join(format!("windlass-sandbox-{}", config.name));
        let prepared = run_blocking(move || {
            let failed = |source| SandboxError::Temporary { path: temporary.clone(), source };
            let folder = Folder::create(&at).map_err(failed)?;
            policy.writable.push(folder.temporary());
            // Otherwise a command could change the program that confines the next one.
            policy.read_only.extend(means);
            Ground::look(&policy, &[])?;
            let nested = nested_projects(&policy);
            let proof = Proof::prepare(&policy, &nested, &folder.path.join("proof")).map_err(failed)?;
            Ok::<_, SandboxError>((folder, policy, nested, proof))
        });
        let unavailable = |reason: String| SandboxError::Unavailable { reason };
        let (folder, policy, nested, proof) = prepared.await.map_err(|error| unavailable(error.to_string()))??;
        let (wrap, level) = choose(&config, &folder, &proof, process).await.map_err(unavailable)?;
        let _ = fs::remove_dir_all(folder.path.join("proof"));
        Ok(Self {
            inner: Arc::new(Inner {
                policy,
                nested,
                wrap,
                #[cfg(target_os = "linux")]
                bridges: AtomicU64::new(0),
                #[cfg(target_os = "linux")]
                threads: Threads::default(),
                level,
                folder,
                environment: config.environment,
                refused: config.refused,
            }),
        })
    }

    /// Returns the proven level, which is in force.
    pub fn level(&self) -> Level {
        self.inner.level
    }

    /// Returns the files that the policy has read as empty and that programs read as they are: only mounts can empty
    /// files, and this level has none.
    pub fn readable_secrets(&self) -> Vec<PathBuf> {
        if !matches!(self.inner.level.mechanism, Mechanism::Landlock | Mechanism::Seatbelt) {
            return Vec::new();
        }
        let policy = &self.inner.policy;
        policy.emptied.iter().filter(|path| policy.hides(path) && path.is_file()).cloned().collect()
    }

    /// Returns the directory for temporary files that programs may use, to be their `TMPDIR`.
    pub fn temporary(&self) -> PathBuf {
        self.inner.folder.temporary()
    }

    /// Returns the policy.
    pub fn policy(&self) -> &SandboxPolicy {
        &self.inner.policy
    }

    /// Returns the command that starts a program inside, for programs that no [`Process`] runs to their end, such as
    /// servers. Protected names that the program creates are not moved aside if it runs in the background.
    ///
    /// # Errors
    /// Fails if a directory of the policy is gone, or the sandbox cannot express the policy.
    pub async fn enter(&self, command: ProcessCommand) -> Result<Entered, ProcessError> {
        self.inner.enter(command).await
    }

    /// Returns a [`Process`] that runs each program in this sandbox, by means of another. Shell commands that ask to
    /// run outside do so.
    pub fn around(&self, process: Arc<dyn Process>) -> Arc<dyn Process> {
        self.around_some(process, |_, leaves| !leaves)
    }

    /// Returns such a [`Process`] for which `confines` decides whether a shell command runs inside: it takes the text,
    /// and whether the command asks to run outside.
    pub fn around_some(
        &self,
        process: Arc<dyn Process>,
        confines: impl Fn(&str, bool) -> bool + Send + Sync + 'static,
    ) -> Arc<dyn Process> {
        Arc::new(Sandboxed::new(Arc::clone(&self.inner), process, Arc::new(confines)))
    }
}

#[cfg(target_os = "linux")]
impl Inner {
    /// Creates the bridge to the proxy for one program, if the policy has a proxy and the sandbox separates networks.
    pub(crate) fn bridge(&self) -> io::Result<Option<Bridge>> {
        let Network::Proxy(address) = self.policy.network else { return Ok(None) };
        if !self.wrap.separates_networks() {
            return Ok(None);
        }
        let number = self.bridges.fetch_add(1, Ordering::Relaxed);
        Bridge::at(&self.folder.path.join(format!("proxy-{number}")), address).map(Some)
    }
}

async fn choose(
    config: &SandboxConfig,
    folder: &Folder,
    proof: &Proof,
    process: &dyn Process,
) -> Result<(Wrap, Level), String> {
    let mut tried: Vec<String> = Vec::new();
    let mut best: Option<(Wrap, Level)> = None;
    for mechanism in &config.mechanisms {
        let wraps = config.wraps(*mechanism, &folder.empty());
        if wraps.is_empty() {
            let needs_helper = config.helper.is_none() && *mechanism != Mechanism::Bubblewrap;
            let why = if needs_helper { "the program names no helper" } else { "not there" };
            tried.push(format!("{mechanism}: {why}"));
        }
        for wrap in wraps {
            match proof.run(&wrap, process).await {
                Ok(holds) if holds.is_whole() => return Ok((wrap, Level::new(*mechanism, holds))),
                Ok(holds) => {
                    tried.push(format!("{mechanism}: does not hold {}", holds.missing().join(", ")));
                    let is_better = best.as_ref().is_none_or(|(_, level)| level.holds.count() < holds.count());
                    if holds.writes && is_better {
                        best = Some((wrap, Level::new(*mechanism, holds)));
                    }
                }
                Err(problem) => tried.push(format!("{mechanism}: {problem}")),
            }
        }
    }
    tracing::debug!(?tried, "no means of a sandbox holds everything");
    let none = || if tried.is_empty() { "there is none for this system".to_owned() } else { tried.join("; ") };
    best.ok_or_else(none)
}

fn is_root() -> bool {
    #[cfg(target_os = "linux")]
    return rustix::process::geteuid().is_root();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Private folder that is removed with its owner.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn create(path: &Path) -> io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)?;
        let folder = Self { path: fs::canonicalize(path)? };
        builder.create(folder.temporary())?;
        builder.create(folder.empty())?;
        Ok(folder)
    }

    fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Returns a directory outside of those that programs may write.
    fn empty(&self) -> PathBuf {
        self.path.join("empty")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::debug!(path = %self.path.display(), %error, "the temporary files of a sandbox remain");
        }
    }
}
