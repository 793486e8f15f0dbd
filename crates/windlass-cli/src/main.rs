//! The windlass command: run coding agents from the terminal.
#![expect(clippy::disallowed_methods, reason = "a command takes its environment, directory and time from the system")]

mod acp;
mod agents;
mod allowance;
mod args;
mod ask;
mod background;
#[cfg(unix)]
mod below_session;
mod command_line;
mod completions;
mod config;
mod confirmation;
mod context;
mod debug_log;
mod demo;
mod display;
mod doctor;
mod elsewhere;
mod explain;
mod failure;
mod files;
#[cfg(unix)]
mod first_run;
mod folder_size;
mod host;
mod import;
mod index;
mod init;
#[cfg(unix)]
mod interactive;
mod jsonl;
mod launch;
mod login;
mod mcp;
mod memory;
mod misspelling;
mod models;
mod notes;
#[cfg(unix)]
mod opening;
mod output;
mod permissions;
mod private;
mod programs;
mod prompt;
mod provider;
mod proxy;
mod run;
mod schema;
mod sessions;
mod settings;
mod signals;
mod terminal;
mod tools;
mod trust;
mod uninstall;
mod warnings;
mod web;
#[cfg(feature = "postgres")]
mod worker;
mod writer;

use clap::Parser;
use clap::error::ErrorKind;
use command_line::{AgentsCommand, Cli, Command, ContextCommand, PermissionsCommand, ToolsCommand};
use debug_log::DebugLogPlace;
use failure::Usage;
use login::LoginArgs;
use std::future::Future;
use std::io::{self, Write, stderr, stdout};
use std::time::Duration;
use terminal::{Terminal, clean_line};
use tokio::io::AsyncWriteExt as _;
use windlass_protocol::HOST_VERSION;

fn main() {
    // First of all, while there is only one thread: the helper of the sandbox becomes another program.
    if let Some(code) = windlass::sandbox::become_helper(std::env::args_os().skip(1)) {
        std::process::exit(code);
    }
    private::keep_memory_private();
    let code = match command() {
        Ok(code) => code,
        Err(error) => report(&error),
    };
    // Threads that wait for an answer at the terminal must not keep the process.
    std::process::exit(code);
}

/// Carries out the command line and returns the exit code.
fn command() -> anyhow::Result<i32> {
    // Behind `proxy --` there may be the command line of a host.
    let proxies = std::env::args_os().nth(1).is_some_and(|word| word == "proxy");
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    #[cfg(unix)]
    if let Some(reason) = below_session::refusal(&words) {
        anyhow::bail!(reason);
    }
    if !proxies && let Some(flags) = host::wanted(words.clone()) {
        check_home()?;
        debug_log::start(DebugLogPlace::of_flags(&flags));
        return block_on(host::host(flags));
    }
    if !proxies && let Some(refusal) = misspelling::refusal(&words) {
        return Err(refusal.into());
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            error.print()?;
            return Ok(0);
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.print()?;
            return Ok(2);
        }
        Err(error) => return Err(failure::usage(&error).into()),
    };
    let terminal = Terminal::of_process();
    let output = &cli.run.output;
    debug_log::start(DebugLogPlace::of(output.debug_file.as_deref(), output.debug, debug_log::folder()));
    if !is_harmless(cli.command.as_ref(), cli.run.version) {
        check_home()?;
    }
    match cli.command {
        None if cli.run.version => {
            writeln!(stdout(), "{HOST_VERSION} (windlass {})", env!("CARGO_PKG_VERSION"))?;
            Ok(0)
        }
        #[cfg(unix)]
        None if cli.run.given.print.is_none() && terminal.stdin && terminal.stdout => {
            block_on(interactive::interactive(cli.run))
        }
        None if cli.run.picks_session() => Err(Usage(
            "--resume without a session needs a terminal to choose at: name its id or title, or use --continue"
                .to_owned(),
        )
        .into()),
        None if cli.run.is_empty() => {
            Err(Usage("a conversation needs a terminal: add -p PROMPT, or see `windlass --help`".to_owned()).into())
        }
        None if cli.run.given.print.is_none() && (cli.run.given.prompt.is_some() || !cli.run.resumes()) => {
            Err(Usage("a conversation needs a terminal: add -p to run this prompt".to_owned()).into())
        }
        None => block_on(run::run(cli.run, terminal)),
        Some(command) => run_command(command, terminal),
    }
}

/// Runs a subcommand.
fn run_command(command: Command, terminal: Terminal) -> anyhow::Result<i32> {
    match command {
        Command::Acp(args) => match &args.login {
            Some(vendor) => login::login(&LoginArgs::of(vendor), terminal),
            None => block_on(acp::acp(*args)),
        },
        Command::Demo(args) => block_on(demo::demo(args, terminal)),
        Command::Proxy(args) => proxy::proxy(args),
        Command::Config(command) => config::config(&command),
        Command::Settings(args) => settings::print(&args),
        Command::Trust(args) => trust::trust(&args),
        Command::Login(args) => login::login(&args, terminal),
        Command::Logout(args) => login::logout(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => completions::man(&args),
        Command::Doctor(args) => block_on(doctor::doctor(args, terminal)),
        Command::Init(args) => init::init(&args, terminal),
        Command::Import(args) => import::import(&args, terminal),
        Command::Uninstall(args) => uninstall::uninstall(&args),
        Command::Context(ContextCommand::Show(args)) => block_on(context::show(&args)),
        Command::Context(ContextCommand::Index(args)) => index::overview(&args),
        Command::Context(ContextCommand::Search(args)) => index::search(&args),
        Command::Agents(AgentsCommand::List(args)) => agents::print(&args),
        Command::Memory(command) => memory::memory(&command),
        Command::Mcp(command) => mcp::mcp(command),
        Command::Models(args) => block_on(async move { models::print(&args).await }),
        Command::Permissions(PermissionsCommand::Explain) => block_on(explain::explain()),
        Command::Tools(ToolsCommand::List) => tools::list(terminal),
        Command::Tools(ToolsCommand::Call(args)) => block_on(tools::call(*args)),
        Command::Sessions(command) => block_on(sessions::sessions(command, terminal)),
        #[cfg(feature = "postgres")]
        Command::Worker(args) => worker::worker(*args),
    }
}

/// Refuses a home that a later version has written. A missing home is fine.
fn check_home() -> anyhow::Result<()> {
    match windlass::Home::from_env() {
        Ok(home) => Ok(home.check_format()?),
        Err(_) => Ok(()),
    }
}

/// Returns `true` for commands that leave the home as it is.
fn is_harmless(command: Option<&Command>, version: bool) -> bool {
    use Command::{Completions, Doctor, Man, Uninstall};
    version || matches!(command, Some(Completions(_) | Doctor(_) | Man(_) | Uninstall(_)))
}

/// Time that a thread of the runtime waits for work. The first one stays: work waits for it where no other can be started.
const THREAD_KEEP_ALIVE: Duration = Duration::from_secs(24 * 3600);

/// A file of the system that takes any text.
const SINK: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Starts the first thread for work that blocks. A write to a file is the only such work that answers with an error where the
/// system has no thread left; all other panics.
fn start_thread(runtime: &tokio::runtime::Runtime) -> anyhow::Result<()> {
    // Without the file, work that blocks is tried later.
    let Ok(sink) = std::fs::File::options().write(true).open(SINK) else { return Ok(()) };
    let written = runtime.block_on(async { tokio::fs::File::from_std(sink).write_all(b"\n").await });
    written.map_err(|_| anyhow::anyhow!("no thread can be started"))
}

pub(crate) fn block_on(work: impl Future<Output = anyhow::Result<i32>>) -> anyhow::Result<i32> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().thread_keep_alive(THREAD_KEEP_ALIVE).build()?;
    start_thread(&runtime)?;
    let code = runtime.block_on(work);
    runtime.shutdown_background();
    code
}

/// Prints the error, on one line, and returns the exit code.
pub(crate) fn report(error: &anyhow::Error) -> i32 {
    let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(broken_pipe) {
        // The reader of the output closed it.
        return 0;
    }
    // An error of the standard library without context comes from writing the output.
    let bare = error.chain().next().is_some_and(|outermost| outermost.is::<io::Error>());
    let place = if bare { "the output cannot be written: " } else { "" };
    let text = clean_line(&format!("{place}{error:#}"));
    // Standard error may be closed; the exit code is enough then.
    let _ = stderr().write_all(format!("windlass: {text}\n").as_bytes());
    if error.is::<Usage>() { 2 } else { 1 }
}
