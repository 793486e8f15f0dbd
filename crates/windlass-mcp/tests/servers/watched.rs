//! Notifications of a program watch for each program.

use crate::world::{one_with, options, status};
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use windlass_mcp::McpServerState;
use windlass_tool::{EndSignal, ProgramWatch, WatchedProgram};

type Heard = Arc<Mutex<Vec<String>>>;

/// Watch that records its calls. One process of each program exists at the first look.
#[derive(Debug, Default)]
struct Notes(Heard);

#[derive(Debug)]
struct Noted(Heard, Mutex<usize>);

impl ProgramWatch for Notes {
    fn mark(&self) -> (OsString, OsString) {
        self.0.lock().unwrap().push("mark".to_owned());
        ("THE_MARK".into(), "m1".into())
    }

    fn watch(&self, leader: u32, mark: &OsStr) -> Arc<dyn WatchedProgram> {
        // The system shows no environment for a moment while the program replaces the one that starts it.
        let read = || std::fs::read(format!("/proc/{leader}/environ")).unwrap_or_default();
        let mut tries = (0..500).map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            read()
        });
        let environment = Some(read()).into_iter().chain(&mut tries).find(|read| !read.is_empty()).unwrap_or_default();
        let marked = environment.split(|byte| *byte == 0).any(|entry| entry == b"THE_MARK=m1");
        let seen = marked || !cfg!(target_os = "linux");
        self.0.lock().unwrap().push(format!("watch {} {seen}", mark.to_string_lossy()));
        Arc::new(Noted(Arc::clone(&self.0), Mutex::new(1)))
    }
}

impl WatchedProgram for Noted {
    fn signal(&self, signal: EndSignal) -> usize {
        self.0.lock().unwrap().push(format!("{signal:?}"));
        std::mem::take(&mut *self.1.lock().unwrap())
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.lock().unwrap().push("over".to_owned());
    }
}

async fn heard(behaviour: &str) -> Vec<String> {
    let notes = Notes::default();
    let heard = Arc::clone(&notes.0);
    let options = options().with_connect_timeout(Duration::from_secs(10)).with_watch(Arc::new(notes));
    let servers = one_with(behaviour, options).await;
    assert_eq!(status(&servers).state, McpServerState::Connected);
    servers.close().await;
    heard.lock().unwrap().clone()
}

#[tokio::test]
async fn a_program_that_obeys_is_killed_with_what_it_leaves_behind() {
    assert_eq!(heard("real").await, ["mark", "watch m1 true", "Kill", "Kill", "over"]);
}

#[tokio::test]
async fn a_program_that_does_not_end_is_asked_first() {
    assert_eq!(heard("deaf").await, ["mark", "watch m1 true", "Ask", "Kill", "over"]);
}
