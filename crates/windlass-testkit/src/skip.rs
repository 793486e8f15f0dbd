//! The only way to report that a test could not run.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::panic::Location;
use std::path::Path;

/// The environment variable that names the file to which [`skipped`] appends its lines.
pub const SKIPPED_FILE: &str = "WINDLASS_SKIPPED";

/// Reports that the calling test does not run, or only in part, because the machine lacks something: a program, a
/// permission, a system file. The test then returns as if it had passed.
///
/// Prints `skipped: TEST: FACILITY` to the standard error output, which the test harness shows only for failed tests.
/// If [`SKIPPED_FILE`] is set, the same line is also appended to the file that it names, so that a run of all tests can
/// list and count the tests that did not run.
///
/// The name of the test is that of its thread, as the harness sets it, with the file and line of the call.
///
/// # Panics
///
/// If that file cannot be written: a skip without a record would count as a passed test.
///
/// # Example
///
/// ```
/// use std::process::Command;
///
/// if Command::new("strace").arg("--version").output().is_err() {
///     windlass_testkit::skipped("strace");
///     return;
/// }
/// ```
#[track_caller]
pub fn skipped(facility: &str) {
    let place = Location::caller();
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a thread without a name");
    let line = format!("skipped: {test} ({}:{}): {facility}\n", place.file(), place.line());
    let _ = io::stderr().write_all(line.as_bytes());
    if let Some(file) = std::env::var_os(SKIPPED_FILE) {
        let written = append(Path::new(&file), &line);
        assert!(written.is_ok(), "{line:?} cannot be added to {}: {written:?}", file.display());
    }
}

/// Appends in one write, so that the lines of tests that run at the same time stay whole.
fn append(file: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())
}
