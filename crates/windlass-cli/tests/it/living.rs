//! Processes beside the command, and waiting for conditions.

use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Longer than anything here takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A word that no other test and no other run uses.
pub(crate) fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Waits for something that must come true. It polls, since there is no event for the end of other processes.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(began.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The number that a command writes into a file, once it is there.
#[track_caller]
pub(crate) fn number(path: &Path) -> String {
    eventually(&format!("a number in {}", path.display()), || {
        let text = std::fs::read_to_string(path).ok()?;
        text.ends_with('\n').then(|| text.trim().to_owned())
    })
}

/// Returns `true` if a process is gone, or is a zombie.
pub(crate) fn is_gone(pid: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    state.trim().is_empty() || state.trim().starts_with('Z')
}

pub(crate) fn signal(signal: &str, child: &Child) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Waits for the end of a process; its exit code.
#[track_caller]
pub(crate) fn ended(child: &mut Child) -> Option<i32> {
    eventually("the process ends", || child.try_wait().unwrap()).code()
}

/// The living processes that have a word in their command line or environment, without this one.
#[cfg(target_os = "linux")]
pub(crate) fn alive(word: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let numbers = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let has_word = |pid: &String| {
        ["cmdline", "environ"].iter().any(|file| {
            let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            bytes.windows(word.len()).any(|part| part == word.as_bytes())
        })
    };
    numbers.filter(|pid| pid.parse::<u32>().is_ok() && *pid != own).filter(has_word).collect()
}
