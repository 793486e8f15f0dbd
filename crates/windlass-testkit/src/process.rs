//! Conformance of process ports: checks of the promises of [`Process`].
//!
//! The rules run small scripts in a POSIX shell on the machine where the programs run, and observe only through it: no
//! rule touches the machine of the test itself. [`Shell`] names the shell.
//!
//! ```no_run
//! # use windlass_tool::Process;
//! use windlass_testkit::process::{self, Shell};
//!
//! # async fn run(mine: &dyn Process) -> Result<(), windlass_testkit::Violation> {
//! process::all(mine, &Shell::new("/an/empty/folder")).await
//! # }
//! ```

mod ends;
mod output;
mod shell;
mod start;

pub use ends::{
    ends_what_is_left_behind, kills_what_is_dropped, reports_how_a_program_ended, stops_when_cancelled,
    stops_when_time_is_up,
};
pub use output::{bounds_its_output, keeps_the_streams, spills_what_is_too_large, survives_a_flood};
pub use shell::Shell;
pub use start::{gives_an_empty_input, passes_arguments_and_environment_exactly, starts_in_its_directory};

use crate::Violation;
use windlass_tool::Process;

/// Checks every promise of this module in turn. It takes some seconds: time limits are real.
///
/// # Errors
/// The first broken promise.
pub async fn all(process: &dyn Process, shell: &Shell) -> Result<(), Violation> {
    reports_how_a_program_ended(process, shell).await?;
    gives_an_empty_input(process, shell).await?;
    passes_arguments_and_environment_exactly(process, shell).await?;
    starts_in_its_directory(process, shell).await?;
    keeps_the_streams(process, shell).await?;
    bounds_its_output(process, shell).await?;
    spills_what_is_too_large(process, shell).await?;
    survives_a_flood(process, shell).await?;
    ends_what_is_left_behind(process, shell).await?;
    stops_when_time_is_up(process, shell).await?;
    stops_when_cancelled(process, shell).await?;
    kills_what_is_dropped(process, shell).await
}
