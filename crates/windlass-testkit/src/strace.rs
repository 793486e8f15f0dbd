//! Failing system calls in a program under test, with `strace`.
//!
//! The program is a test of the same binary that only another test starts, the *subject*. Its test names the calls that
//! fail, runs it as a [`Subject`], and reads its report. Inside the subject, [`Inside`] marks the beginning and takes
//! the report.
//!
//! A fault is meant for the code under test, but it hits whichever call has its number, also one with which the subject
//! only observes itself. All functions that run inside are made for that: they try once more, since a fault with one
//! number occurs once in each thread. Observations that a subject makes by other means belong in [`again`].
//!
//! ```no_run
//! use windlass_testkit::strace::{self, Inside, Subject};
//!
//! // #[test] #[ignore = "another test starts it, with faults"]
//! fn subject() {
//!     let Some(inside) = Inside::find() else { return };
//!     strace::open_and_read(8);
//!     let before = strace::descriptors();
//!     inside.begin();
//!     // … what is tested …
//!     inside.report(&format!("{} descriptors more", strace::descriptors() - before));
//! }
//!
//! // #[test]
//! fn a_file_that_is_not_opened_leaves_nothing_behind() {
//!     if !strace::is_available() {
//!         return;
//!     }
//!     let place = std::env::temp_dir().join("place");
//!     for when in 9..20 {
//!         let fault = strace::inject("openat", "EMFILE", when);
//!         if let Some(report) = Subject::new("subject", &place).run(&fault, &format!("{fault:?}")) {
//!             assert_eq!(report, "0 descriptors more");
//!         }
//!     }
//! }
//! ```

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot look has failed")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The environment variable with which a subject finds its place.
const PLACE: &str = "WINDLASS_TEST_STRACE_PLACE";
/// Maximum time for one run of a subject, enough on any machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Interval between two checks of a running subject.
const LOOK: Duration = Duration::from_millis(5);

/// `true` if `strace` is installed and may trace the programs that it starts. Otherwise reports that the test is
/// [skipped](crate::skipped).
#[track_caller]
#[must_use]
pub fn is_available() -> bool {
    let traced = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    let works = traced.is_ok_and(|status| status.success());
    if !works {
        crate::skipped("an strace that may trace");
    }
    works
}

/// `true` if `strace` may also trace a program that runs already, as [`attach`] does. Otherwise reports that the test
/// is [skipped](crate::skipped).
///
/// # Panics
/// No program can be started.
#[track_caller]
#[must_use]
pub fn can_attach() -> bool {
    let mut child = Command::new("sleep").arg("60").spawn().expect("sleep starts");
    let traced = attach(child.id(), &["-e", "trace=none"], Path::new("/dev/null"));
    child.kill().and_then(|()| child.wait()).expect("sleep ends");
    let works = traced.is_ok_and(|mut strace| strace.wait().is_ok());
    if !works {
        crate::skipped("an strace that may trace a running program");
    }
    works
}

/// Returns the options of `strace` that make a call fail: the call or calls (`vfork,fork,clone`), the error, and the
/// number of the call in each thread, counted from 1 (`3`, or `3+` for all from the third on).
#[must_use]
pub fn inject(call: &str, error: &str, when: impl Display) -> [String; 4] {
    let flag = || "-e".to_owned();
    [flag(), format!("trace={call}"), flag(), format!("inject={call}:error={error}:when={when}")]
}

/// Starts a `strace` of a running program, and waits until it traces.
///
/// # Errors
/// The message of `strace` if it cannot trace that program.
pub fn attach(pid: u32, options: &[impl AsRef<OsStr>], log: &Path) -> Result<Child, String> {
    let mut strace = Command::new("strace")
        .args(["-f", "-o"])
        .arg(log)
        .args(options)
        .args(["-p", &pid.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let stderr = strace.stderr.take().ok_or("strace has no standard error")?;
    let mut lines = BufReader::new(stderr).lines();
    let mut output = String::new();
    let attached = lines.by_ref().map_while(Result::ok).any(|line| {
        output.push_str(&line);
        line.contains("attached")
    });
    if attached {
        // `strace` prints a line for each thread, and would end if it could not trace.
        std::thread::spawn(move || lines.count());
        return Ok(strace);
    }
    drop(strace.wait());
    Err(output)
}

/// Returns the calls in the output of `strace -f`, each whole and without its thread: another thread may have come
/// between the beginning of a call and its end. A call that never ended counts as one that succeeded.
#[must_use]
pub fn calls(trace: &str) -> Vec<String> {
    let mut begun = BTreeMap::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if let Some(beginning) = call.strip_suffix("<unfinished ...>") {
            begun.insert(thread, beginning);
        } else if let Some((_, end)) = call.split_once(" resumed>") {
            calls.push(format!("{}{end}", begun.remove(thread).unwrap_or_default()));
        } else {
            calls.push(call.to_owned());
        }
    }
    calls.extend(begun.into_values().map(|beginning| format!("{beginning}) = 0</unknown>")));
    calls
}

/// Returns the file or directory that a call of `strace -y` opened to read or write it, with links followed. `None` if
/// the call failed, is another call, or only names a path (`O_PATH`).
#[must_use]
pub fn opened(call: &str) -> Option<PathBuf> {
    let (_, result) = call.rsplit_once(" = ").filter(|_| call.starts_with("open") && !call.contains("O_PATH"))?;
    let (path, _) = result.split_once('<')?.1.rsplit_once('>')?;
    Some(PathBuf::from(path))
}

/// A test of this binary that is run on its own, with system calls that fail.
#[derive(Debug)]
pub struct Subject<'a> {
    test: &'a str,
    place: &'a Path,
    environment: Vec<(&'a str, OsString)>,
}

impl<'a> Subject<'a> {
    /// Returns the test of this name (`module::subject`). Its files and its report go to `place`, a directory.
    #[must_use]
    pub fn new(test: &'a str, place: &'a Path) -> Self {
        Self { test, place, environment: Vec::new() }
    }

    /// Adds a variable to its environment.
    #[must_use]
    pub fn env(mut self, name: &'a str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Runs the test under `strace` with these options, or on its own if there are none, and returns its report. `None`
    /// if it did not begin: the fault occurred before that. `PLACE` in an option is replaced with its directory, and
    /// `what` names the fault in messages.
    ///
    /// # Panics
    /// The test cannot be started, panics, hangs for two minutes, or begins and then does not report.
    #[must_use]
    pub fn run(&self, options: &[impl AsRef<str>], what: &str) -> Option<String> {
        let mut child = self.command(options).spawn().unwrap_or_else(|error| panic!("{what}: {error}"));
        let began = Instant::now();
        while child.try_wait().is_ok_and(|status| status.is_none()) {
            if began.elapsed() > PATIENCE {
                drop(child.kill());
                panic!("{what}: it hangs");
            }
            std::thread::sleep(LOOK);
        }
        let output = child.stderr.take().map(io::read_to_string);
        let output = output.and_then(Result::ok).unwrap_or_default();
        if !self.place.join("begun").exists() {
            return None;
        }
        assert!(!output.contains("panicked"), "{what}: {output}");
        let report = std::fs::read_to_string(self.place.join("report"));
        Some(report.unwrap_or_else(|error| panic!("{what}: it does not report: {error}: {output}")))
    }

    fn command(&self, options: &[impl AsRef<str>]) -> Command {
        let binary = std::env::current_exe().expect("a test knows its binary");
        let mut command = if options.is_empty() {
            Command::new(binary)
        } else {
            let mut command = Command::new("strace");
            let place = self.place.to_string_lossy();
            // The program stops only at traced calls, not at all calls.
            command.args(["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null"]);
            command.args(options.iter().map(|option| option.as_ref().replace("PLACE", &place))).arg(binary);
            command
        };
        command
            .args(["--exact", self.test, "--ignored", "--nocapture", "--test-threads=1"])
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env(PLACE, self.place)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }
}

/// Connection of a subject to the test that runs it.
#[derive(Debug)]
pub struct Inside {
    place: PathBuf,
}

impl Inside {
    /// Returns the connection; `None` outside of a subject: all ignored tests are being run.
    #[must_use]
    pub fn find() -> Option<Self> {
        let place = std::env::var_os(PLACE)?.into();
        Some(Self { place })
    }

    /// Returns the directory that the subject shares with its test.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Reports that the tested part begins now. An earlier fault is ignored.
    ///
    /// # Panics
    /// Reporting failed twice.
    pub fn begin(&self) {
        again(|| File::create(self.place.join("begun")));
    }

    /// Sends the test its findings.
    ///
    /// # Panics
    /// Writing failed twice.
    pub fn report(&self, text: &str) {
        again(|| std::fs::write(self.place.join("report"), text));
    }
}

/// Returns the result of an observation for the subject's report. It is repeated if it fails: the fault may have hit
/// the observation itself.
///
/// # Panics
/// The observation fails twice.
pub fn again<T>(look: impl Fn() -> io::Result<T>) -> T {
    look().or_else(|_| look()).unwrap_or_else(|error| panic!("the subject cannot look at itself: {error}"))
}

/// Returns the number of open descriptors of this process.
///
/// # Panics
/// Listing the descriptors failed twice.
#[must_use]
pub fn descriptors() -> usize {
    let is_for_good = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|file| file.starts_with("/memfd:windlass-keeper (deleted)"))
    };
    let count = |count, entry: io::Result<_>| entry.map(|entry| count + usize::from(!is_for_good(&entry)));
    again(|| std::fs::read_dir("/proc/self/fd")?.try_fold(0, count))
}

/// Opens and reads a number of files in this thread. A fault with a greater number does not hit the loader, in the
/// subject and in the programs that it starts.
pub fn open_and_read(files: usize) {
    for _ in 0..files {
        // The fault may hit this call.
        drop(File::open("/dev/zero").and_then(|mut zeros| zeros.read(&mut [0; 1])));
    }
}
