//! Processes of a session after the end of its host.

use crate::client::turns::{program, program_at, until};
use crate::place::{Place, call, text};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};
use windlass::{PermissionAnswer, permission::can_use_tool_fn};
use windlass_protocol::client::{Client, ClientOptions};

/// Variable with the place of the host that is killed.
const PLACE: &str = "WINDLASS_TEST_PLACE";

/// Returns `true` if a process is gone, or is a zombie.
fn is_gone(pid: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output().unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    state.trim().is_empty() || state.trim().starts_with('Z')
}

/// A number that a process writes into a file, once it is there.
async fn number(path: &Path) -> String {
    let read = || std::fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'));
    until(|| read().is_some()).await;
    read().unwrap()
}

fn sleeping(place: &Place) {
    place.script(&[call("Bash", &json!({ "command": "echo $$ > command; sleep 1000" })), text("Done.")]);
}

fn options() -> ClientOptions {
    ClientOptions::new().can_use_tool(can_use_tool_fn(|_| async { PermissionAnswer::allow() }))
}

#[tokio::test]
async fn a_client_that_is_dropped_leaves_nothing() {
    let place = Place::new();
    sleeping(&place);
    let client = Client::spawn(program(&place), options()).await.unwrap();
    let agent = client.process_id().unwrap().to_string();
    client.prompt("go").await.unwrap();
    let command = number(&place.work().join("command")).await;
    drop(client);
    until(|| is_gone(&agent) && is_gone(&command)).await;
}

#[tokio::test]
async fn a_host_that_is_killed_leaves_nothing() {
    let place = Place::new();
    sleeping(&place);
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "client::orphans::host", "--ignored"])
        .env(PLACE, place.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let agent = number(&place.path("agent")).await;
    let command = number(&place.work().join("command")).await;
    assert!(!is_gone(&agent) && !is_gone(&command));
    host.kill().unwrap();
    host.wait().unwrap();
    until(|| is_gone(&agent) && is_gone(&command)).await;
}

#[tokio::test]
#[ignore = "another test starts it, to kill it"]
async fn host() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let root = Path::new(&place);
    let mut client = Client::spawn(program_at(root), options()).await.unwrap();
    std::fs::write(root.join("agent"), format!("{}\n", client.process_id().unwrap())).unwrap();
    client.prompt("go").await.unwrap();
    client.result().await.unwrap();
}
