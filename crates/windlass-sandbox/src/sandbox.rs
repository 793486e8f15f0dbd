//! A sandbox whose level was proved.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_tool::{Process, ProcessCommand, ProcessError};

use crate::level::{Level, Mechanism};
use crate::process::Sandboxed;
use crate::proof::Proof;
use crate::wrap::{Bubblewrap, View, Wrap};
use crate::{Entered, Ground, RefusedHosts, SandboxError, SandboxPolicy, nested_projects};
#[cfg(target_os = "linux")]
use crate::{Network, bridge::Bridge, thread::Threads};

/// Where bubblewrap is looked for unless the configuration names it. Never in the search path: a project may change that.
const BUBBLEWRAP: &[&str] = &["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// With what a sandbox is opened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SandboxConfig {
    /// What is to hold.
    pub policy: SandboxPolicy,
    /// The directory below which the folder for temporary files of the sandbox is made.
    pub temporary: PathBuf,
    /// A name for that folder which no one can foresee, such as 32 random hexadecimal digits.
    pub name: String,
    /// The program that is the helper. `None`: only bubblewrap can be used, and it holds less.
    pub helper: Option<PathBuf>,
    /// Where bubblewrap is. `None`: it is looked for in the usual places.
    pub bubblewrap: Option<PathBuf>,
    /// The means that may be used, best first.
    pub mechanisms: Vec<Mechanism>,
    /// Variables that programs inside have beside those of their command, whose values these replace. Default: none.
    pub environment: Vec<(OsString, OsString)>,
    /// What the proxy notes of what it refuses. Default: one that stays empty.
    pub refused: RefusedHosts,
}

impl SandboxConfig {
    /// A sandbox without a helper, with all means of the system.
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

    /// Names the helper: a program whose `main` calls [`become_helper`](crate::become_helper) first.
    #[must_use]
    pub fn with_helper(mut self, program: impl Into<PathBuf>) -> Self {
        self.helper = Some(program.into());
        self
    }

    /// Says where bubblewrap is.
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

    /// Names the hosts that a proxy refuses with the outcome of the program that wanted to reach them.
    #[must_use]
    pub fn with_refused(mut self, refused: RefusedHosts) -> Self {
        self.refused = refused;
        self
    }

    /// Uses these means alone, in this order.
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

    /// By which programs such a means confines, best first. `empty` is a directory without names.
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
            // It cannot protect its own helper.
            Mechanism::Landlock if self.helper_is_writable() => Vec::new(),
            _ => vec![wrap(None)],
        }
    }
}

/// A sandbox whose level was proved when it was opened. Its folder for temporary files goes with the last clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) policy: SandboxPolicy,
    /// Projects inside of the project, which were there when the sandbox was opened.
    pub(crate) nested: Vec<PathBuf>,
    pub(crate) wrap: Wrap,
    /// How many bridges to the proxy were made: each has a socket of its own.
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
    /// Tries the means of this machine with probes that `process` runs, and takes the first that holds everything, else the one that
    /// holds most. One that does not keep writes in their directories is never taken.
    ///
    /// # Errors
    /// No means holds, a directory of the policy cannot be used, or there is no place for temporary files.
    pub async fn open(config: SandboxConfig, process: &dyn Process) -> Result<Self, SandboxError> {
        let (mut policy, temporary) = (config.policy.clone(), config.temporary.clone());
        let means: Vec<PathBuf> = config.helper.iter().chain(&config.bubblewrap).cloned().collect();
        let at = temporary.join(format!("windlass-sandbox-{}", config.name));
        let prepared = tokio::task::spawn_blocking(move || {
            let failed = |source| SandboxError::Temporary { path: temporary.clone(), source };
            let folder = Folder::create(&at).map_err(failed)?;
            policy.writable.push(folder.temporary());
            // A command that could change what confines the next one would be free then.
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

    /// The level in force: what was proved.
    pub fn level(&self) -> Level {
        self.inner.level
    }

    /// The directory for temporary files that programs may use, to be their `TMPDIR`.
    pub fn temporary(&self) -> PathBuf {
        self.inner.folder.temporary()
    }

    /// What is to hold.
    pub fn policy(&self) -> &SandboxPolicy {
        &self.inner.policy
    }

    /// A program as it is to be started, so that it runs inside: for those that no [`Process`] runs to their end, such as servers. What it
    /// makes of protected names is not moved aside if it runs in the background.
    ///
    /// # Errors
    /// A directory of the policy is gone, or the sandbox cannot express what it is to hold.
    pub async fn enter(&self, command: ProcessCommand) -> Result<Entered, ProcessError> {
        self.inner.enter(command).await
    }

    /// A [`Process`] that runs each program in this sandbox, by means of another. Commands of a shell that ask to run outside do.
    pub fn around(&self, process: Arc<dyn Process>) -> Arc<dyn Process> {
        self.around_some(process, |_, leaves| !leaves)
    }

    /// The same, where `confines` says of each command of a shell whether it runs inside: it takes the text, and whether the command is
    /// to run outside.
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
    /// The way to the proxy for one program, if the policy has one and the sandbox separates networks.
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

/// A private folder that goes with its owner.
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

    /// Beside what programs may write.
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
