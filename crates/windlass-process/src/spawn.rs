//! Starts programs without a copy of this process.
//!
//! With the standard library, a child can only lead a session by code that runs in a copy of the whole process
//! (`fork`). The time for that copy grows with the memory of the process. `posix_spawn` of the C library borrows the
//! memory instead, and supports sessions.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_short};
use std::fs::OpenOptions;
use std::io::{self, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::ptr;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpid, kill_process, pidfd_open, waitid,
};
use tokio::io::unix::AsyncFd;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use windlass_tool::ConfinedStart;
use windlass_tool::search_path::find_program;

use crate::Terminal;
use crate::command::{ChildCommand, ChildStream};
use crate::keeper::{self, Keeper, Kept};

/// A child that leads a session, and the ends of its pipes.
#[derive(Debug)]
pub(crate) struct Spawned {
    pid: Pid,
    ended: End,
    /// Keeper above the child, if there is one.
    keeper: Option<Keeper>,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

/// Source of a child's exit.
#[derive(Debug)]
enum End {
    Running(AsyncFd<OwnedFd>),
    /// The keeper reports it.
    Kept,
    Ended(ExitStatus),
}

/// Result of a start. `Unable` returns the command when this system cannot start it this way.
pub(crate) enum Start {
    Started(Spawned),
    Unable(ChildCommand),
}

impl Spawned {
    pub(crate) fn start(command: ChildCommand) -> io::Result<Start> {
        // Checked with this process first: a child that was started and cannot be watched would be lost.
        let knows_processes = pidfd_open(getpid(), PidfdFlags::empty()).is_ok();
        // A name without a directory is looked up in the child's own variables, which the C library does not do.
        let found = match command.program.to_str().filter(|name| !name.contains('/')) {
            Some(name) => find_program(name, &command.env),
            None => Some(command.program.clone()),
        };
        let Some(program) = found.filter(|_| knows_processes) else { return Ok(Start::Unable(command)) };
        let (inputs, stdin) = Wanted::input(&command.stdin)?;
        let (outputs, stdout) = Wanted::output(&command.stdout)?;
        let (errors, stderr) = Wanted::output(&command.stderr)?;
        let streams = [inputs.file(&command.stdin)?, outputs.file(&command.stdout)?, errors.file(&command.stderr)?];
        let terminal = command.terminal.as_ref().map(Terminal::name);
        let numbers = streams.each_ref().map(|stream| stream.as_raw_fd());
        let confined = command.confined.as_ref().and_then(|start| confined(start, &command, numbers, terminal));
        let started = match confined {
            Some(started) => Ok(Some(started)),
            None => launch(&Words::of(&command, &program, &command.args)?, numbers, terminal),
        };
        let started = match started {
            // A script that does not name its interpreter.
            Err(error) if error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error()) => {
                let args: Vec<OsString> =
                    std::iter::once(program.into_os_string()).chain(command.args.iter().cloned()).collect();
                launch(&Words::of(&command, "/bin/sh", &args)?, numbers, terminal)
            }
            started => started,
        };
        let Some((pid, keeper)) = started? else { return Ok(Start::Unable(command)) };
        let ended = if keeper.is_some() { End::Kept } else { watched(pid)? };
        let mut spawned = Self { pid, ended, keeper, stdin: None, stdout: None, stderr: None };
        spawned.stdin = stdin.map(|pipe| ChildStdin::from_std(OwnedFd::from(pipe).into())).transpose()?;
        spawned.stdout = stdout.map(|pipe| ChildStdout::from_std(OwnedFd::from(pipe).into())).transpose()?;
        spawned.stderr = stderr.map(|pipe| ChildStderr::from_std(OwnedFd::from(pipe).into())).transpose()?;
        Ok(Start::Started(spawned))
    }

    /// Process number of the child, until it was waited for.
    pub(crate) fn id(&self) -> Option<Pid> {
        (!matches!(self.ended, End::Ended(_))).then_some(self.pid)
    }

    /// Ends all processes below its keeper.
    pub(crate) async fn end_all(&mut self) {
        if let Some(keeper) = &mut self.keeper {
            keeper.end_all().await;
        }
    }

    /// Keeper above the child, if there is one.
    pub(crate) fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_ref()
    }

    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            let process = match &self.ended {
                End::Ended(status) => return Ok(*status),
                End::Running(process) => process,
                End::Kept => {
                    let Some(keeper) = &mut self.keeper else { return Err(io::ErrorKind::NotConnected.into()) };
                    let status = keeper.ended().await?;
                    self.ended = End::Ended(status);
                    return Ok(status);
                }
            };
            if let Some(status) = ended(process.get_ref())? {
                self.ended = End::Ended(status);
                return Ok(status);
            }
            process.readable().await?.clear_ready();
        }
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        let End::Running(process) = &self.ended else { return };
        if !matches!(ended(process.get_ref()), Ok(None)) {
            return;
        }
        reap_later(self.pid);
    }
}

/// Waits for a child on a separate thread. Its entry in the table of processes stays until it is waited for, and the
/// runtime may be gone before it ends. Until then its number stays reserved, so that no descriptor has to be held for
/// it.
pub(crate) fn reap_later(pid: Pid) {
    let wait =
        move || while waitid(WaitId::Pid(pid), WaitIdOptions::EXITED).is_err_and(|error| error == Errno::INTR) {};
    let _ = std::thread::Builder::new().name("windlass-reap".to_owned()).stack_size(64 * 1024).spawn(wait);
}

/// Exit of a process, if it has ended.
fn ended(process: &OwnedFd) -> io::Result<Option<ExitStatus>> {
    loop {
        match waitid(WaitId::PidFd(process.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(status) => return Ok(status.map(|status| exit_status(&status))),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Status as `wait` would have written it.
fn exit_status(status: &WaitIdStatus) -> ExitStatus {
    let code = status.exit_status().map(|code| code << 8);
    let signal = || status.terminating_signal().map(|signal| signal | if status.dumped() { 0x80 } else { 0 });
    ExitStatus::from_raw(code.or_else(signal).unwrap_or_default())
}

/// Watches a process that was just started. If that is impossible, the process is ended at once.
#[expect(unsafe_code, reason = "tokio wants the word that a descriptor stays open")]
fn watched(pid: Pid) -> io::Result<End> {
    // SAFETY: an `OwnedFd` is open until it is dropped and always gives the same number. Only `get_ref` reaches it, and
    // it is dropped together with its registration.
    let register = |process: OwnedFd| unsafe { AsyncFd::register(process) }.map_err(io::Error::from);
    let watched = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from).and_then(register);
    watched.map(End::Running).inspect_err(|_| {
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
    })
}

/// The child's end of a stream, if it is created here.
enum Wanted {
    Made(OwnedFd),
    Given,
}

impl Wanted {
    fn input(stream: &ChildStream) -> io::Result<(Self, Option<PipeWriter>)> {
        let ChildStream::Pipe = stream else { return Self::without_pipe(stream).map(|made| (made, None)) };
        let (read, write) = io::pipe()?;
        Ok((Self::Made(read.into()), Some(write)))
    }

    fn output(stream: &ChildStream) -> io::Result<(Self, Option<PipeReader>)> {
        let ChildStream::Pipe = stream else { return Self::without_pipe(stream).map(|made| (made, None)) };
        let (read, write) = io::pipe()?;
        Ok((Self::Made(write.into()), Some(read)))
    }

    fn without_pipe(stream: &ChildStream) -> io::Result<Self> {
        if let ChildStream::File(_) = stream {
            return Ok(Self::Given);
        }
        let null = OpenOptions::new().read(true).write(true).custom_flags(libc::O_CLOEXEC).open("/dev/null")?;
        Ok(Self::Made(null.into()))
    }

    /// Copies the file above the numbers of the streams: else one stream could replace another before that is copied.
    fn file(&self, stream: &ChildStream) -> io::Result<OwnedFd> {
        let file = match (self, stream) {
            (Self::Made(file), _) | (Self::Given, ChildStream::File(file)) => file,
            (Self::Given, _) => return Err(io::ErrorKind::InvalidInput.into()),
        };
        Ok(rustix::io::fcntl_dupfd_cloexec(file, 3)?)
    }
}

/// A command in the form of the C library.
struct Words {
    /// Path of the executable file.
    program: CString,
    cwd: CString,
    args: Vec<CString>,
    env: Vec<CString>,
    only_reads: bool,
}

impl Words {
    fn of(command: &ChildCommand, program: impl AsRef<OsStr>, args: &[OsString]) -> io::Result<Self> {
        let text = |word: &OsStr| CString::new(word.as_bytes()).map_err(io::Error::from);
        let program = text(program.as_ref())?;
        let args = std::iter::once(Ok(program.clone())).chain(args.iter().map(|word| text(word)));
        let env = command.env.iter().map(|(name, value)| {
            let line = [name.as_bytes(), b"=", value.as_bytes()].concat();
            CString::new(line).map_err(io::Error::from)
        });
        let cwd = text(command.cwd.as_os_str())?;
        Ok(Self {
            args: args.collect::<io::Result<_>>()?,
            env: env.collect::<io::Result<_>>()?,
            program,
            cwd,
            only_reads: command.only_reads,
        })
    }

    /// Command of a keeper that starts the same program.
    fn kept(&self, keeper: String, on_terminal: bool) -> io::Result<Self> {
        let name = match (on_terminal, self.only_reads) {
            (false, false) => c"keeper-",
            (true, false) => c"keeper-T",
            (false, true) => c"keeper-R",
            (true, true) => c"keeper-TR",
        };
        let args = [name.to_owned(), self.program.clone()].into_iter().chain(self.args.iter().cloned());
        let (env, cwd) = (self.env.clone(), self.cwd.clone());
        Ok(Self { program: CString::new(keeper)?, args: args.collect(), env, cwd, only_reads: self.only_reads })
    }
}

/// Number of a started program, and its keeper.
type Launched = (Pid, Option<Keeper>);

/// Starts a program below a keeper of its own, or without one if none works. `None` if the C library cannot start it.
fn launch(words: &Words, streams: [RawFd; 3], terminal: Option<&CStr>) -> io::Result<Option<Launched>> {
    match kept(words, streams, terminal.is_some()) {
        Ok(Kept::Program(program, keeper)) => Ok(Some((program, Some(keeper)))),
        Ok(Kept::Refused(error)) => Err(error),
        Ok(Kept::Unable) | Err(_) => Ok(spawn(words, streams, terminal, None)?.map(|program| (program, None))),
    }
}

fn kept(words: &Words, streams: [RawFd; 3], on_terminal: bool) -> io::Result<Kept> {
    let Some(path) = keeper::path() else { return Ok(Kept::Unable) };
    let (host, end) = UnixStream::pair()?;
    // Above its final number, like the streams above theirs.
    let end = rustix::io::fcntl_dupfd_cloexec(end, keeper::SOCKET + 1)?;
    let started = spawn(&words.kept(path, on_terminal)?, streams, None, Some(end.as_raw_fd()))?;
    drop(end);
    Ok(started.map_or(Kept::Unable, |pid| Keeper::of(pid, host)))
}

/// Enough for code that confines a thread and starts a program.
const STACK: usize = 256 * 1024;

/// Starts a program by a thread that confines itself. `None`: it did not start, and the program that confines itself
/// can report the reason.
fn confined(
    start: &ConfinedStart,
    command: &ChildCommand,
    streams: [RawFd; 3],
    terminal: Option<&CStr>,
) -> Option<Launched> {
    // The other program looks a name up, and runs a script that names no interpreter.
    if !start.program.as_bytes().contains(&b'/') {
        return None;
    }
    let words = Words::of(command, &start.program, &start.args).ok()?;
    let runtime = tokio::runtime::Handle::try_current().ok()?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("windlass-start".to_owned()).stack_size(STACK);
        let confined = || {
            let _runtime = runtime.enter();
            start.confine().and_then(|()| launch(&words, streams, terminal))
        };
        thread.spawn_scoped(scope, confined).ok()?.join().ok()?.ok()?
    })
}

/// A list that ends with a null pointer.
fn pointers(words: &[CString]) -> Vec<*mut c_char> {
    words.iter().map(|word| word.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

type AddDirectory = unsafe extern "C" fn(*mut libc::posix_spawn_file_actions_t, *const c_char) -> c_int;

/// Function that has a child change its directory. `None` in a C library from before 2.29, which lacks it: a program
/// that referenced it would not start there.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "looks a function up by its name")]
fn add_directory() -> Option<AddDirectory> {
    // SAFETY: the name ends with a null byte, and the C library's function of this name has this type. A null pointer
    // is `None`.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"posix_spawn_file_actions_addchdir_np".as_ptr());
        std::mem::transmute::<*mut libc::c_void, Option<AddDirectory>>(found)
    }
}

#[cfg(not(target_env = "gnu"))]
fn add_directory() -> Option<AddDirectory> {
    Some(libc::posix_spawn_file_actions_addchdir_np)
}

/// Starts a program as leader of a session, with these three streams, or with a terminal as all three, and a socket if
/// it is a keeper. `None` if the C library cannot.
#[expect(unsafe_code, reason = "no other crate starts a program in a session and a directory by posix_spawn")]
fn spawn(
    words: &Words,
    streams: [RawFd; 3],
    terminal: Option<&CStr>,
    socket: Option<RawFd>,
) -> io::Result<Option<Pid>> {
    let Some(add_directory) = add_directory() else { return Ok(None) };
    let (args, env) = (pointers(&words.args), pointers(&words.env));
    let flags =
        libc::POSIX_SPAWN_SETSID | libc::POSIX_SPAWN_SETSIGDEF as c_short | libc::POSIX_SPAWN_SETSIGMASK as c_short;
    let (mut actions, mut attributes) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let (mut mask, mut defaults) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let mut pid = 0;
    // SAFETY: both objects are initialised before they are used, stay in their place, and are destroyed once, unless
    // their initialisation failed. `sigemptyset` initialises a set. Texts and lists end as C wants it, belong to
    // `words`, `args`, `env` and `terminal`, and live until the call returns; the C library changes none of them. The
    // descriptors are open for as long. The child borrows the memory of this process until its program runs, and only
    // the C library uses that memory.
    let started = unsafe {
        check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
        if let Err(error) = check(libc::posix_spawnattr_init(attributes.as_mut_ptr())) {
            libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
            return Err(error);
        }
        libc::sigemptyset(mask.as_mut_ptr());
        libc::sigemptyset(defaults.as_mut_ptr());
        // This process ignores SIGPIPE, as set by the standard library; programs must not inherit that.
        libc::sigaddset(defaults.as_mut_ptr(), libc::SIGPIPE);
        let (actions, attributes) = (actions.as_mut_ptr(), attributes.as_mut_ptr());
        let socket = socket.map(|socket| (keeper::SOCKET, socket));
        let prepared = (0..)
            .zip(streams)
            .chain(socket)
            .try_for_each(|(number, stream)| check(libc::posix_spawn_file_actions_adddup2(actions, stream, number)));
        let started = prepared
            .and_then(|()| match terminal {
                // The child leads a session already and has no terminal: the one that it opens becomes its own.
                Some(name) => check(libc::posix_spawn_file_actions_addopen(actions, 0, name.as_ptr(), libc::O_RDWR, 0)),
                None => Ok(()),
            })
            .and_then(|()| check(add_directory(actions, words.cwd.as_ptr())))
            .and_then(|()| check(libc::posix_spawnattr_setsigmask(attributes, mask.as_ptr())))
            .and_then(|()| check(libc::posix_spawnattr_setsigdefault(attributes, defaults.as_ptr())))
            .and_then(|()| check(libc::posix_spawnattr_setflags(attributes, flags)))
            .and_then(|()| {
                let program = words.program.as_ptr();
                check(libc::posix_spawn(&mut pid, program, actions, attributes, args.as_ptr(), env.as_ptr()))
            });
        libc::posix_spawnattr_destroy(attributes);
        libc::posix_spawn_file_actions_destroy(actions);
        started
    };
    started?;
    Pid::from_raw(pid).map(Some).ok_or_else(|| io::Error::other("the child has no process number"))
}

/// Converts the returned error number of the functions.
fn check(number: c_int) -> io::Result<()> {
    match number {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}
