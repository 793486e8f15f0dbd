//! A PostgreSQL server of the suite: a user who is not root, a socket in a temporary directory, no network.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use windlass_postgres::{Member, PgConfig, PgStore, migrate};

/// The tenant of the tests.
pub(crate) const TENANT: &str = "acme";

/// The user of the server where the suite runs as root: `nobody`.
const NOBODY: u32 = 65_534;

/// A server. It ends with the process that started it.
#[derive(Debug)]
pub(crate) struct Server {
    directory: PathBuf,
    programs: PathBuf,
    /// Waits for the end of its input, then ends the server and removes its files.
    keeper: Child,
}

/// Returns the directory of the server's programs. `None`: there are none.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect())
        .unwrap_or_default();
    versions.retain(|bin| bin.join("initdb").exists());
    versions.sort();
    versions.pop()
}

/// Returns a command with the user of the server.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    if std::fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0) {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.current_dir("/").env("LC_ALL", "C");
    command
}

impl Server {
    /// Starts a server of its own. `None`: the machine has no PostgreSQL.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            windlass_testkit::skipped("PostgreSQL (package postgresql)");
            return None;
        };
        let directory = tempfile::Builder::new().prefix("wl-pg-").tempdir_in("/tmp").unwrap().keep();
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o711)).unwrap();
        if std::fs::metadata(&directory).unwrap().uid() == 0 {
            chown(&directory, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let data = directory.join("data");
        let made = command(&programs.join("initdb"))
            .args(["--no-sync", "--auth=trust", "--username=admin", "--encoding=UTF8", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let settings = format!(
            "listen_addresses = ''\nunix_socket_directories = '{}'\nmax_connections = 300\n",
            directory.display()
        );
        std::fs::write(data.join("postgresql.auto.conf"), settings).unwrap();
        let mut keeper = command(Path::new("/bin/sh"));
        keeper.args(["-c", r#"cat >/dev/null; "$0/pg_ctl" -D "$1/data" -m immediate stop; rm -rf "$1""#]);
        let keeper = keeper.arg(&programs).arg(&directory);
        let keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Self { directory, programs, keeper };
        server.control(&["start"]);
        Some(server)
    }

    /// Runs `pg_ctl` and waits for it.
    pub(crate) fn control(&self, arguments: &[&str]) {
        let done = command(&self.programs.join("pg_ctl"))
            .arg("-D")
            .arg(self.directory.join("data"))
            .arg("-l")
            .arg(self.directory.join("log"))
            .arg("-w")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let log = || std::fs::read_to_string(self.directory.join("log")).unwrap_or_default();
        assert!(done.success(), "pg_ctl {arguments:?}: {}", log());
    }

    /// Makes a certificate for this server, and returns it. `None`: the machine has no `openssl`.
    pub(crate) fn certificate(&self) -> Option<String> {
        let data = self.directory.join("data");
        let made = command(Path::new("openssl"))
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-keyout")
            .arg(data.join("server.key"))
            .arg("-out")
            .arg(data.join("server.crt"))
            .output();
        if !made.is_ok_and(|made| made.status.success()) {
            windlass_testkit::skipped("openssl");
            return None;
        }
        // Written by the server's user, readable by it alone.
        Some(std::fs::read_to_string(data.join("server.crt")).unwrap())
    }

    /// Returns the address of a database for a role.
    pub(crate) fn address(&self, role: &str, database: &str) -> String {
        format!("host={} user={role} dbname={database}", self.directory.display())
    }

    /// Runs statements as the administrator, and returns their output.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let done = command(&self.programs.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", &self.address("admin", database), "-c", sql])
            .output()
            .unwrap();
        assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    /// Creates a database with the tables, in which the roles `worker` and `service` belong to the tenant of the tests.
    pub(crate) async fn database(&self) -> Database<'_> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("d{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("create database {name}"));
        let admin = PgConfig::new(&self.address("admin", &name), TENANT).unwrap();
        migrate(&admin, &[Member::new("worker", TENANT), Member::new("service", TENANT)]).await.unwrap();
        self.sql(
            "postgres",
            "do $$ begin
                create role worker login in role windlass_worker; create role service login in role windlass_service;
             exception when duplicate_object or unique_violation then null; end $$",
        );
        Database { server: self, name }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// Returns the server that tests share which do not stop it.
pub(crate) fn shared() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(Server::start).as_ref()
}

/// A database of one test.
#[derive(Debug)]
pub(crate) struct Database<'a> {
    pub(crate) server: &'a Server,
    pub(crate) name: String,
}

impl Database<'_> {
    pub(crate) fn config(&self, role: &str) -> PgConfig {
        PgConfig::new(&self.server.address(role, &self.name), TENANT).unwrap()
    }

    /// Returns a store as a process of its own has it, with leases of this length.
    pub(crate) async fn store(&self, term: Duration) -> PgStore {
        PgStore::connect(&self.config("worker").with_lease_term(term)).await.unwrap()
    }

    pub(crate) fn sql(&self, sql: &str) -> String {
        self.server.sql(&self.name, sql)
    }

    /// Lets time pass for all leases.
    pub(crate) fn pass(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        self.sql(&format!("update wl_session set lease_until = lease_until - interval '{seconds} seconds'"));
    }
}
