//! Children and programs, on real processes.

#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod child;
mod program;

use std::time::Duration;

/// Longer than any of this takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Fields of a process after its name, if it lives, other than as a zombie.
#[cfg(target_os = "linux")]
pub(crate) fn stat(process: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<String> = text.rsplit(')').next()?.split_whitespace().map(str::to_owned).collect();
    (fields[0] != "Z").then_some(fields)
}

/// Waits until no process of these numbers lives.
#[cfg(target_os = "linux")]
pub(crate) async fn gone(processes: &[u32]) {
    let all = async {
        while processes.iter().any(|process| stat(*process).is_some()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(LONG, all).await.expect("no process is left");
}
