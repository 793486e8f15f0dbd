//! Helpers of the tests of programs.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use windlass_tool::ProcessCommand;

/// A word that no other test and no other run uses.
pub(crate) fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}{:04}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The command line of a `sleep` of five minutes that differs from all others, with or without its environment.
pub(crate) fn sleeper(tag: &str) -> String {
    format!("sleep 300.{tag}")
}

/// Result of [`alive`] when no process lives.
pub(crate) const NONE: [i32; 0] = [];

/// The living processes that have a word in their command line or environment, without this one.
pub(crate) fn alive(word: &str) -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let has_word = |bytes: Vec<u8>| bytes.windows(word.len()).any(|part| part == word.as_bytes());
        if pid != own && (has_word(read("cmdline")) || has_word(read("environ"))) {
            found.push(pid);
        }
    }
    found
}

/// Waits for something that must come true, generously. It polls: no signal reports processes
/// that are not its children.
#[track_caller]
pub(crate) fn eventually(what: &str, mut check: impl FnMut() -> bool) {
    let start = Instant::now();
    while !check() {
        assert!(start.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn shell(text: &str) -> ProcessCommand {
    let mut command = ProcessCommand::new("/bin/bash", "/");
    command.args = ["--noprofile", "--norc", "-c", text].map(OsString::from).into();
    command.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    command.timeout = Some(Duration::from_secs(60));
    command
}
