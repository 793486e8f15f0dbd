//! `windlass worker`: runs the sessions of a shared store.

pub(crate) mod command;
mod configuration;
mod queue;

use crate::notes::note_to_stderr;
use crate::terminal::clean_line;
use anyhow::Context as _;
use command::{MigrateArgs, WorkerArgs, WorkerCommand, WorkerRunArgs};
use configuration::{Configuration, SessionSetup};
use std::collections::BTreeMap;
use std::future::Future;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::oneshot;
use windlass_postgres::{Member, PgStore, migrate};
use windlass_worker::{Profile, SessionEnd, Worker, WorkerEvent};

/// Runs a worker, or a command about one, and returns the exit code.
pub(crate) fn worker(args: WorkerArgs) -> anyhow::Result<i32> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        match args.command {
            None => run(args.run).await,
            Some(WorkerCommand::Check(args)) => check(&Configuration::read(args.config.as_deref())?).await,
            Some(WorkerCommand::Migrate(args)) => create_tables(&args).await,
            Some(WorkerCommand::Send(args)) => queue::send(&args).await,
            Some(WorkerCommand::Status(args)) => queue::status(&args).await,
            Some(WorkerCommand::Answer(args)) => queue::answer(&args).await,
        }
    });
    runtime.shutdown_background();
    code
}

/// Runs sessions until a signal comes, or with `--once` until none is left.
async fn run(args: WorkerRunArgs) -> anyhow::Result<i32> {
    let configuration = Configuration::read(args.configuration.config.as_deref())?;
    let setups = configuration.setups()?;
    for setup in &setups {
        setup.check().with_context(|| described(setup))?;
    }
    let worker = configured(&configuration, setups, connect(&configuration).await?);
    let most = args.max_sessions.and_then(|most| usize::try_from(most).ok()).or(configuration.max_sessions);
    let worker = most.into_iter().fold(worker, Worker::capacity);
    let worker = if args.once { worker.until_idle() } else { worker };
    let (drain, drained) = oneshot::channel::<()>();
    let mut running = std::pin::pin!(worker.run(async {
        // The sender lives as long as the worker.
        let _ = drained.await;
    }));
    note_to_stderr(&format!("worker {} of tenant {} runs", std::process::id(), configuration.tenant));
    let ended = tokio::select! {
        ended = &mut running => ended,
        code = signalled() => {
            note_to_stderr("the worker hands its sessions over; a second signal ends it at once");
            let _ = drain.send(());
            tokio::select! {
                ended = &mut running => ended,
                again = signalled() => return Ok(if again == 0 { code } else { again }),
            }
        }
    };
    let report = ended?;
    note_to_stderr(&format!(
        "the worker ends; sessions: {} claimed, {} settled, {} handed over, {} lost",
        report.claimed, report.settled, report.handed_over, report.lost
    ));
    Ok(0)
}

/// Returns a worker with the profiles and workspaces of the configuration.
fn configured(configuration: &Configuration, setups: Vec<SessionSetup>, store: PgStore) -> Worker {
    let mut worker = Worker::new(store, configuration.name.clone()).watch(|event| tell(&event));
    if let Some(host) = host_name() {
        worker = worker.on_host(host);
    }
    let mut by_profile: BTreeMap<String, BTreeMap<PathBuf, SessionSetup>> = BTreeMap::new();
    for setup in setups {
        worker = worker.workspace(&setup.workspace, &setup.path);
        by_profile.entry(setup.profile.clone()).or_default().insert(setup.path.clone(), setup);
    }
    for (name, setups) in by_profile {
        let turns = setups.values().next().and_then(|setup| setup.args.model.max_turns);
        let setups = Arc::new(setups);
        let profile = Profile::new(move |path: &Path| {
            let setup = setups.get(path).ok_or_else(|| format!("{} is no workspace", path.display()))?;
            setup.options().map_err(|error| format!("{error:#}").into())
        });
        worker = worker.profile(name, turns.into_iter().fold(profile, Profile::max_turns));
    }
    configuration.grace().into_iter().fold(worker, Worker::grace)
}

/// Writes an event of the worker to standard error.
fn tell(event: &WorkerEvent) {
    let text = match event {
        WorkerEvent::Claimed { key, profile, workspace, attempts, .. } => {
            format!("session {}: claimed ({profile} in {workspace}, attempt {attempts})", key.session)
        }
        WorkerEvent::Ended { key, end, .. } => match end {
            SessionEnd::Settled => format!("session {}: given back", key.session),
            SessionEnd::HandedOver => format!("session {}: handed over", key.session),
            SessionEnd::Lost { message, .. } => format!("session {}: lost: {message}", key.session),
            _ => format!("session {}: ended", key.session),
        },
        WorkerEvent::Unavailable { message, .. } => format!("no session is claimed: {message}"),
        _ => return,
    };
    note_to_stderr(&text);
}

/// Checks everything that a worker needs, and claims no session.
async fn check(configuration: &Configuration) -> anyhow::Result<i32> {
    for setup in configuration.setups()? {
        let model = setup.check().with_context(|| described(&setup))?;
        writeln!(stdout(), "{}: {}", described(&setup), clean_line(&model))?;
    }
    let store = connect(configuration).await?;
    let term = store.lease_term().as_secs_f64();
    writeln!(stdout(), "database: tenant {}, leases of {term} s", clean_line(&configuration.tenant))?;
    Ok(0)
}

fn described(setup: &SessionSetup) -> String {
    clean_line(&format!("profile {} in workspace {}", setup.profile, setup.workspace))
}

/// Creates the tables, and adds roles to the tenant.
async fn create_tables(args: &MigrateArgs) -> anyhow::Result<i32> {
    let configuration = Configuration::read(args.configuration.config.as_deref())?;
    let members: Vec<Member> = args.roles.iter().map(|role| Member::new(role, configuration.tenant.trim())).collect();
    migrate(&configuration.database()?, &members).await?;
    let roles = if args.roles.is_empty() { "none".to_owned() } else { args.roles.join(", ") };
    let text = format!("the tables are up to date; roles added to tenant {}: {roles}", configuration.tenant);
    writeln!(stdout(), "{}", clean_line(&text))?;
    Ok(0)
}

/// Connects to the database of the configuration.
async fn connect(configuration: &Configuration) -> anyhow::Result<PgStore> {
    PgStore::connect(&configuration.database()?).await.map_err(|error| match error {
        windlass_postgres::ConnectError::Schema { .. } | windlass_postgres::ConnectError::Tenant { .. } => {
            anyhow::anyhow!("{error}; see `windlass worker migrate --help`")
        }
        error => error.into(),
    })
}

/// Name of this machine, for people. `None` where the system has no such file.
fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Waits for a signal that ends the worker, and returns its exit code.
fn signalled() -> impl Future<Output = i32> {
    #[cfg(unix)]
    let signals = crate::signals::EndSignals::listen();
    async move {
        #[cfg(unix)]
        if let Ok(mut signals) = signals {
            return signals.next().await;
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_ok() {
            return 130;
        }
        std::future::pending().await
    }
}
