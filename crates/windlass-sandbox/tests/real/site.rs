//! A small model of a machine: a workspace with protected names, a home with secrets, services that listen, and a
//! process to attack.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use windlass_local::LocalProcess;
use windlass_sandbox::{Mechanism, Sandbox, SandboxConfig, SandboxError, SandboxPolicy};
use windlass_tool::{Cancel, Process, ProcessCommand, ProcessError, ProcessOutcome};

pub(crate) const SECRET: &str = "the-secret-of-the-house";

/// Number of sites so far, from which each takes its own number.
static SITES: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Site {
    /// Removed at the end.
    _folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) tcp: TcpListener,
    pub(crate) udp: UdpSocket,
    pub(crate) sockets: [UnixListener; 2],
    pub(crate) victim: Child,
    terminal: Terminal,
    /// Named pipe that is held open, so that writing to it does not block.
    _pipe: fs::File,
    queue: Queue,
    name: String,
}

/// Message queue of System V, by its number.
struct Queue(String);

impl Queue {
    fn create() -> Self {
        let made = Command::new("ipcmk").arg("-Q").output().unwrap();
        let said = String::from_utf8(made.stdout).unwrap();
        Self(said.rsplit(' ').next().unwrap().trim().to_owned())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let _ = Command::new("ipcrm").args(["-q", &self.0]).output();
    }
}

/// Terminal of the user, at which the secret is typed.
struct Terminal {
    _ends: [OwnedFd; 2],
    path: String,
}

impl Terminal {
    fn open() -> Self {
        let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&host).unwrap();
        unlockpt(&host).unwrap();
        let path = ptsname(&host, Vec::new()).unwrap().into_string().unwrap();
        let own = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(&path).unwrap();
        rustix::io::write(&host, format!("{SECRET}\n").as_bytes()).unwrap();
        Self { _ends: [host, own.into()], path }
    }
}

impl Site {
    pub(crate) fn new() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn in_folder(folder: tempfile::TempDir) -> Self {
        let root = folder.path().canonicalize().unwrap();
        for directory in [
            "w/.git/hooks",
            "w/.git/objects",
            "w/.windlass",
            "w/src",
            "w/sub/.git/hooks",
            "w/sub/.vscode",
            "home/.ssh",
            "home/.config/gh",
            "home/docs",
            "out/deep",
            "tmp",
        ] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for file in [
            "w/.git/config",
            "w/.git/HEAD",
            "w/.git/hooks/pre-commit",
            "w/.windlass/settings.json",
            "w/.bashrc",
            "w/src/main.rs",
            "w/sub/.git/config",
            "w/sub/.git/hooks/post-checkout",
            "w/sub/.vscode/tasks.json",
            "home/docs/plain",
            "out/file",
            "out/deep/file",
        ] {
            fs::write(root.join(file), "text\n").unwrap();
        }
        for secret in ["home/.ssh/id", "home/.netrc", "home/.config/gh/hosts.yml"] {
            fs::write(root.join(secret), SECRET).unwrap();
        }
        fs::create_dir_all(root.join("w/tree")).unwrap();
        fs::write(root.join("w/tree/.git"), "gitdir: /somewhere").unwrap();
        symlink(root.join("home/.ssh"), root.join("w/keys")).unwrap();
        symlink(root.join("home/.netrc"), root.join("home/docs/link")).unwrap();
        let name = format!("windlass-site-{}-{}", std::process::id(), SITES.fetch_add(1, Ordering::Relaxed));
        let abstract_name = SocketAddr::from_abstract_name(&name).unwrap();
        let sockets =
            [UnixListener::bind_addr(&abstract_name).unwrap(), UnixListener::bind(root.join("out/socket")).unwrap()];
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        sockets.iter().for_each(|socket| socket.set_nonblocking(true).unwrap());
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        let victim = Command::new("sleep").arg("3600").env("VICTIM", SECRET).spawn().unwrap();
        assert!(Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
        let pipe = OpenOptions::new().read(true).write(true).open(root.join("pipe")).unwrap();
        let (terminal, queue) = (Terminal::open(), Queue::create());
        Self { _folder: folder, root, tcp, udp, sockets, victim, terminal, _pipe: pipe, queue, name }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn policy(&self) -> SandboxPolicy {
        let names = [
            ".config/git",
            ".git/hooks",
            ".git/config",
            ".git/commondir",
            ".windlass",
            ".claude",
            ".vscode",
            ".bashrc",
            ".mcp.json",
        ];
        let hidden = [".ssh", ".netrc", ".config/gh", ".aws"].map(|name| self.at("home").join(name));
        SandboxPolicy::new([self.at("w")]).with_protected(names).with_not_made([".git"]).with_hidden(hidden)
    }

    pub(crate) async fn open(&self, mechanism: Mechanism, policy: SandboxPolicy) -> Result<Confined, SandboxError> {
        self.open_with(mechanism, policy, &self.at("tmp")).await
    }

    /// Opens a sandbox whose own files are below a directory.
    pub(crate) async fn open_with(
        &self,
        mechanism: Mechanism,
        policy: SandboxPolicy,
        temporary: &Path,
    ) -> Result<Confined, SandboxError> {
        self.open_by(mechanism, policy, temporary, std::env::var_os("BWRAP").map(PathBuf::from)).await
    }

    pub(crate) async fn open_way(&self, mechanism: Mechanism, way: Way) -> Result<Confined, SandboxError> {
        match way {
            Way::Usual => self.open(mechanism, self.policy()).await,
            Way::ByHelper => {
                let Confined { sandbox, .. } = self.open(mechanism, self.policy()).await?;
                let process = LocalProcess::new(format!("helper-{}", SITES.fetch_add(1, Ordering::Relaxed)));
                Ok(Confined { process: sandbox.around(Arc::new(ByHelper(process))), sandbox })
            }
            Way::WithView => {
                let program = std::env::current_exe().ok();
                self.open_by(mechanism, self.policy(), &self.at("tmp"), program).await
            }
        }
    }

    async fn open_by(
        &self,
        mechanism: Mechanism,
        policy: SandboxPolicy,
        temporary: &Path,
        bubblewrap: Option<PathBuf>,
    ) -> Result<Confined, SandboxError> {
        let tag = format!("{:x}{}", std::process::id(), SITES.fetch_add(1, Ordering::Relaxed));
        let mut config = SandboxConfig::new(policy, temporary, &tag)
            .with_helper(std::env::current_exe().unwrap())
            .with_mechanisms([mechanism]);
        if let Some(program) = bubblewrap {
            config = config.with_bubblewrap(program);
        }
        let process: Arc<dyn Process> = Arc::new(LocalProcess::new(format!("sandbox-{tag}")));
        let sandbox = Sandbox::open(config, &*process).await?;
        Ok(Confined { process: sandbox.around(process), sandbox })
    }

    /// Returns a command in bash, with the places of this site as variables.
    pub(crate) fn bash(&self, text: &str) -> ProcessCommand {
        let mut command = ProcessCommand::new("/bin/bash", self.at("w"));
        command.args = ["-c", text].map(Into::into).into();
        let mut add = |name: &str, value: String| command.env.push((name.into(), value.into()));
        for (name, place) in [("W", "w"), ("OUT", "out"), ("HOME", "home")] {
            add(name, self.at(place).display().to_string());
        }
        add("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned());
        add("TCP", self.tcp.local_addr().unwrap().port().to_string());
        add("UDP", self.udp.local_addr().unwrap().port().to_string());
        add("NAME", self.name.clone());
        add("TERMINAL", self.terminal.path.clone());
        add("PIPE", self.at("pipe").display().to_string());
        add("QUEUE", self.queue.0.clone());
        add("VICTIM", self.victim.id().to_string());
        command.timeout = Some(std::time::Duration::from_secs(20));
        command
    }

    /// Returns the files outside, which no program may change.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        ["home", "out"].iter().for_each(|name| tree(&self.at(name), &mut all));
        all
    }

    pub(crate) fn protected(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        tree(&self.at("w/tree/.git"), &mut all);
        for base in [self.at("w"), self.at("w/sub")] {
            for name in self.policy().protected {
                // Names that are newly created in a project inside of the project are not protected.
                if base == self.at("w") || base.join(&name).exists() {
                    tree(&base.join(name), &mut all);
                }
            }
        }
        all
    }

    /// `true` if a service was reached.
    pub(crate) fn was_reached(&self) -> bool {
        let socket = self.sockets.iter().any(|socket| socket.accept().is_ok());
        socket || self.tcp.accept().is_ok() || self.udp.recv(&mut [0; 8]).is_ok()
    }

    /// `true` if the victim runs with its original priority.
    pub(crate) fn victim_lives(&mut self) -> bool {
        let (own, its) = (stat("self"), stat(&self.victim.id().to_string()));
        let niceness = |stat: &[String]| stat.get(16).cloned();
        let is_stopped = its.first().is_some_and(|state| state == "T");
        self.victim.try_wait().unwrap().is_none() && !is_stopped && niceness(&its) == niceness(&own)
    }
}

/// Returns the fields of a process as the system reports them, after its number and name.
fn stat(process: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let (_, rest) = text.rsplit_once(')').unwrap_or_default();
    rest.split_whitespace().map(str::to_owned).collect()
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

/// Sandbox with a process that runs programs in it.
pub(crate) struct Confined {
    pub(crate) process: Arc<dyn Process>,
    pub(crate) sandbox: Sandbox,
}

impl Confined {
    pub(crate) async fn run(&self, command: ProcessCommand) -> ProcessOutcome {
        self.process.run(command, &Cancel::new()).await.unwrap()
    }
}

/// Starts programs by the helper only, without the quicker way by a thread.
#[derive(Debug)]
struct ByHelper(LocalProcess);

#[async_trait::async_trait]
impl Process for ByHelper {
    async fn run(&self, mut command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        command.confined_start = None;
        self.0.run(command, cancel).await
    }
}

fn tree(path: &Path, all: &mut BTreeMap<PathBuf, String>) {
    let Ok(found) = fs::symlink_metadata(path) else { return };
    let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions());
    let content = match found.file_type() {
        kind if kind.is_symlink() => fs::read_link(path).unwrap().display().to_string(),
        kind if kind.is_file() => fs::read_to_string(path).unwrap_or_default(),
        _ => String::new(),
    };
    all.insert(path.to_owned(), format!("{mode:o} {content}"));
    if found.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| tree(&entry.unwrap().path(), all));
    }
}

/// Way in which a mechanism confines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Way {
    Usual,
    /// By the helper where a thread usually starts programs, without namespaces.
    ByHelper,
    /// By bubblewrap where the helper usually creates the view of the file system.
    WithView,
}

/// Acts as a bubblewrap that alone may create namespaces: a command that leaves them to the helper fails. `None` if the
/// program was started for something else.
pub(crate) fn become_bubblewrap(arguments: impl Iterator<Item = OsString>) -> Option<i32> {
    let arguments: Vec<OsString> = arguments.collect();
    if arguments.first().is_none_or(|word| word != "--die-with-parent") {
        return None;
    }
    if arguments.iter().any(|word| word == "--dev-bind") {
        return Some(1);
    }
    let real = std::env::var_os("BWRAP").unwrap_or_else(|| "/usr/bin/bwrap".into());
    let error = Command::new(real).args(arguments).exec();
    println!("{error}");
    Some(1)
}

/// Returns the available mechanisms, each in all of its ways.
pub(crate) fn ways() -> Vec<(Mechanism, Way)> {
    let all = mechanisms();
    let others = [(Mechanism::Landlock, Way::ByHelper), (Mechanism::Bubblewrap, Way::WithView)];
    let others = others.into_iter().filter(|(mechanism, _)| all.contains(mechanism));
    all.iter().map(|mechanism| (*mechanism, Way::Usual)).chain(others).collect()
}

/// Returns the available mechanisms. The missing ones are reported.
pub(crate) fn mechanisms() -> Vec<Mechanism> {
    let bubblewrap = std::env::var_os("BWRAP").is_some() || Path::new("/usr/bin/bwrap").exists();
    let mut all = vec![Mechanism::Namespaces, Mechanism::Landlock];
    match bubblewrap {
        true => all.insert(0, Mechanism::Bubblewrap),
        false => windlass_testkit::skipped("bubblewrap in the sandbox: it is not installed"),
    }
    all
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(work)
}
