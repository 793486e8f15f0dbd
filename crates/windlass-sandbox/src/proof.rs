//! The proof of a level: a probe inside of the sandbox tries forbidden actions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[cfg(target_os = "linux")]
use windlass_blocking::run_blocking;
use windlass_tool::{Cancel, Confine, Process, ProcessCommand, ProcessExit};

use crate::level::Holds;
#[cfg(target_os = "linux")]
use crate::thread::Threads;
use crate::wrap::Wrap;
use crate::{Ground, Network, SandboxPolicy};

/// Maximum time of a probe. It usually takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum number of the real protected and hidden paths that are tried.
const MOST_REAL: usize = 200;

/// Shell script that makes the same attempts without a helper, as far as a shell can. Attempts that it cannot make
/// count as not held.
const SCRIPT: &str = r#"
while [ $# -gt 1 ]; do
  n=$1; w=$2; shift 2
  case $n in
    write*) (printf x >>"$w") ;;
    mode*) chmod 640 -- "$w" ;;
    open*) (: >>"$w") ;;
    rename*) mv -- "$w" "$w.moved" ;;
    read*) [ -n "$(head -c 1 -- "$w" | tr '\0' x)" ] ;;
    signal*) kill -0 "$w" ;;
    net*) [ "$(readlink /proc/self/ns/net)" = "$w" ] ;;
    *) true ;;
  esac 2>/dev/null && echo "$n done" || echo "$n failed"
done
"#;

/// Targets of the attempts, in a separate folder.
pub(crate) struct Proof {
    folder: PathBuf,
    policy: SandboxPolicy,
    ground: Ground,
    listener: Option<TcpListener>,
    /// Sockets that are open while the probes run.
    #[cfg(target_os = "linux")]
    _sockets: [std::os::unix::net::UnixListener; 2],
}

impl Proof {
    /// Prepares the targets, in a folder that does not exist yet.
    pub(crate) fn prepare(policy: &SandboxPolicy, nested: &[PathBuf], folder: &Path) -> io::Result<Self> {
        for directory in ["", "inside", "inside/box", "outside", "secret"] {
            fs::create_dir(folder.join(directory))?;
        }
        for file in ["inside/box/keep", "outside/file", "secret/key", "secret-file", "visible"] {
            fs::File::create_new(folder.join(file))?.write_all(b"text")?;
        }
        // The probe must reach its targets by the paths that it is given.
        let folder = fs::canonicalize(folder)?;
        let mut policy = policy.clone();
        policy.writable.push(folder.join("inside"));
        policy.read_only.push(folder.join("inside/box/keep"));
        policy.hidden.extend([folder.join("secret"), folder.join("secret-file")]);
        let ground = Ground::look(&policy, nested).map_err(io::Error::other)?;
        Ok(Self {
            listener: TcpListener::bind(("127.0.0.1", 0)).ok(),
            #[cfg(target_os = "linux")]
            _sockets: sockets(&folder)?,
            folder,
            policy,
            ground,
        })
    }

    /// Runs the probe in a sandbox of this mechanism, once for each way of starting programs, and returns the limits
    /// that hold in all of them.
    pub(crate) async fn run(&self, wrap: &Wrap, process: &dyn Process) -> Result<Holds, String> {
        let holds = self.try_one(wrap, process, None).await?;
        match self.thread(wrap).await? {
            Some(thread) => Ok(holds.and(self.try_one(wrap, process, Some(thread)).await?)),
            None => Ok(holds),
        }
    }

    #[cfg(target_os = "linux")]
    async fn thread(&self, wrap: &Wrap) -> Result<Option<Arc<Confine>>, String> {
        let (own, policy, ground) = (wrap.clone(), self.policy.clone(), self.ground.clone());
        let thread = run_blocking(move || own.thread(&policy, &ground, &Threads::default()));
        thread.await.map_err(|why| why.to_string())
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_async, clippy::unused_self, reason = "threads are confined on Linux alone")]
    async fn thread(&self, _: &Wrap) -> Result<Option<Arc<Confine>>, String> {
        Ok(None)
    }

    async fn try_one(&self, wrap: &Wrap, process: &dyn Process, thread: Option<Arc<Confine>>) -> Result<Holds, String> {
        self.repair();
        let mut command = self.probe(wrap);
        command.timeout = Some(PATIENCE);
        let command = wrap.command(&self.policy, &self.ground, command, None, thread);
        let command = command.ok_or("it cannot express the policy")?;
        let outcome = process.run(command, &Cancel::new()).await.map_err(|error| error.to_string())?;
        if outcome.exit != ProcessExit::Code(0) {
            let said = format!("{}{}", outcome.stdout.head, outcome.stderr.head);
            return Err(format!("{:?} {}", outcome.exit, said.trim()));
        }
        let came: BTreeMap<&str, &str> = outcome.stdout.head.lines().filter_map(|line| line.split_once(' ')).collect();
        for allowed in ["write9", "read9"] {
            if came.get(allowed) != Some(&"done") {
                return Err(format!("what is allowed fails: {}", came.get(allowed).unwrap_or(&"no answer")));
            }
        }
        Ok(self.judge(&came))
    }

    /// Reverts changes that an earlier probe could make.
    fn repair(&self) {
        let _ = fs::write(self.folder.join("outside/file"), b"text");
        let _ = fs::remove_file(self.folder.join("outside/new"));
        let _ = fs::remove_file(self.folder.join("inside/new"));
        let _ = fs::rename(self.folder.join("inside/box.moved"), self.folder.join("inside/box"));
    }

    fn probe(&self, wrap: &Wrap) -> ProcessCommand {
        let mut command = match &wrap.helper {
            Some(helper) => {
                let mut command = ProcessCommand::new(helper, &self.folder);
                command.args.push("__windlass_probe".into());
                command
            }
            None => {
                let mut command = ProcessCommand::new("/bin/sh", &self.folder);
                command.args.extend(["-c", SCRIPT, "sh"].map(OsString::from));
                command
            }
        };
        command.env.push(("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()));
        for (name, what) in self.attempts() {
            command.args.extend([name.into(), what]);
        }
        command
    }

    fn attempts(&self) -> Vec<(String, OsString)> {
        let at = |name: &str| self.folder.join(name).into_os_string();
        let mut all: Vec<(String, OsString)> = Vec::new();
        let mut add = |name: String, what: OsString| all.push((name, what));
        add("write9".into(), at("inside/new"));
        add("read9".into(), at("visible"));
        add("write1".into(), at("outside/new"));
        add("write2".into(), at("outside/file"));
        add("mode2".into(), at("outside/file"));
        add("write3".into(), at("inside/box/keep"));
        add("rename3".into(), at("inside/box"));
        add("read4".into(), at("secret/key"));
        add("read5".into(), at("secret-file"));
        // An emptied file is a device in the view of programs, which may be opened for writing.
        let is_kept = |path: &&PathBuf| path.is_file() && !self.ground.emptied.contains(path);
        for (number, path) in self.ground.masks.iter().filter(is_kept).take(MOST_REAL).enumerate() {
            add(format!("open1{number:03}"), path.clone().into_os_string());
        }
        for (number, path) in self.ground.hidden_files.iter().take(MOST_REAL).enumerate() {
            add(format!("read1{number:03}"), path.clone().into_os_string());
        }
        let own = std::process::id().to_string();
        add("signal".into(), own.clone().into());
        add("take".into(), own.into());
        #[cfg(target_os = "linux")]
        {
            add("abstract".into(), abstract_name(&self.folder).into());
            add("socket".into(), at("outside/socket"));
            if let Ok(network) = fs::read_link("/proc/self/ns/net") {
                add("net".into(), network.into_os_string());
            }
        }
        if let Some(Ok(address)) = self.listener.as_ref().map(TcpListener::local_addr) {
            add("connect".into(), address.to_string().into());
        }
        all
    }

    fn judge(&self, came: &BTreeMap<&str, &str>) -> Holds {
        // An attempt without an answer was not made, so it proves nothing.
        let failed = |name: &str| came.get(name).is_some_and(|came| *came != "done");
        let all_failed = |kind: &str| {
            let mut real = came.iter().filter(|(name, _)| name.starts_with(kind) && name.len() == kind.len() + 3);
            real.all(|(_, came)| *came != "done")
        };
        let written = fs::read(self.folder.join("outside/file")).is_ok_and(|text| text == b"text");
        let by_script = failed("net");
        Holds {
            writes: failed("write1") && failed("write2") && written,
            metadata: failed("mode2"),
            protected: failed("write3") && failed("rename3") && all_failed("open1"),
            hidden: failed("read4") && failed("read5") && all_failed("read1"),
            network: self.policy.network == Network::On || failed("connect") || by_script,
            sockets: self.policy.unix_sockets || (failed("abstract") && failed("socket")),
            processes: failed("signal") && failed("take"),
        }
    }
}

#[cfg(target_os = "linux")]
fn sockets(folder: &Path) -> io::Result<[std::os::unix::net::UnixListener; 2]> {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener};
    let address = SocketAddr::from_abstract_name(abstract_name(folder))?;
    Ok([UnixListener::bind_addr(&address)?, UnixListener::bind(folder.join("outside/socket"))?])
}

/// Returns an abstract socket name, which is as random as that of the folder.
#[cfg(target_os = "linux")]
fn abstract_name(folder: &Path) -> String {
    let name = folder.parent().and_then(Path::file_name).unwrap_or_default();
    format!("{}.proof", name.to_string_lossy())
}
