//! MCP servers that come, change and go with files while the command runs. They are real programs.

use crate::client::turns::program;
use crate::living::eventually;
use crate::place::{Place, call, text, write};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use windlass_protocol::client::{Client, ClientOptions, Message};

/// Says who it is when its tool is called, and leaves a line in a file when it starts and ends.
const SERVER: &str = r#"
echo "$1 starts" >> "$2"
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*)
      printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}}' ;;
    *'"tools/list"'*)
      printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}}'
      echo "$1 is ready" >> "$2" ;;
    *'"tools/call"'*)
      printf '%s\n' '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"I am '$1'."}]}}' ;;
  esac
done
echo "$1 ends" >> "$2"
"#;

/// A file with servers, each with who it is.
fn servers(place: &Place, servers: &[(&str, &str)]) -> String {
    let entry = |who: &str| json!({"command": "/bin/bash", "args": ["-c", SERVER, "s", who, place.path("log")]});
    let entries: Map<String, Value> = servers.iter().map(|(name, who)| ((*name).to_owned(), entry(who))).collect();
    json!({ "mcpServers": entries }).to_string()
}

fn log(place: &Place) -> String {
    std::fs::read_to_string(place.path("log")).unwrap_or_default()
}

/// Waits until the host is shown such servers, by name.
async fn shown(client: &Client, wanted: &[(&str, &str)]) {
    let began = Instant::now();
    loop {
        let all = client.handle().mcp_status().await.unwrap();
        let all: BTreeMap<String, String> = all.into_iter().map(|server| (server.name, server.status)).collect();
        if all.iter().map(|(name, status)| (name.as_str(), status.as_str())).eq(wanted.iter().copied()) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "never {wanted:?}: {all:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn turn(client: &mut Client) -> String {
    client.prompt("go").await.unwrap();
    let mut results = String::new();
    loop {
        match client.next().await.unwrap().unwrap() {
            Message::User(user) => {
                let found = user.content.iter().filter_map(|block| block.as_tool_result());
                results.extend(found.map(|result| result.content.text()));
            }
            Message::Result(_) => return results,
            _ => {}
        }
    }
}

#[tokio::test]
async fn servers_of_files_follow_in_a_hosts_session() {
    let say = || call("mcp__one__say", &json!({}));
    let place = Place::with_turns(&[text("A"), say(), text("B"), text("C"), say(), text("D"), text("E"), text("F")]);
    let options = ClientOptions::new();
    let mut client = Client::spawn(program(&place).allowed_tools(["mcp__one"]), options).await.unwrap();
    shown(&client, &[]).await;

    write(&place.path("home/.claude.json"), &servers(&place, &[("one", "first")]));
    turn(&mut client).await;
    shown(&client, &[("one", "connected")]).await;
    assert!(turn(&mut client).await.contains("I am first."));

    // A server of the project that nobody has approved is listed, and does not start.
    write(&place.path("work/.mcp.json"), &servers(&place, &[("foreign", "foreign")]));
    write(&place.path("home/.claude.json"), &servers(&place, &[("one", "second")]));
    turn(&mut client).await;
    shown(&client, &[("foreign", "disabled"), ("one", "connected")]).await;
    assert!(turn(&mut client).await.contains("I am second."));

    // A file that breaks changes nothing; one that denies does.
    write(&place.path("home/.claude.json"), "{");
    turn(&mut client).await;
    write(&place.path("home/.windlass/settings.json"), r#"{"deniedMcpServers":[{"serverName":"one"}]}"#);
    turn(&mut client).await;
    shown(&client, &[("foreign", "disabled"), ("one", "disabled")]).await;
    let log = eventually("the second server ends", || Some(log(&place)).filter(|log| log.contains("second ends")));
    let lines: Vec<&str> = log.lines().filter(|line| !line.ends_with("ready")).collect();
    assert_eq!(lines, ["first starts", "first ends", "second starts", "second ends"]);
}

/// Within one run: what a call has brought into a file counts after it.
#[test]
fn a_run_stops_what_settings_deny_and_starts_nothing_that_a_project_brings() {
    let place = Place::new();
    write(&place.path("home/.claude.json"), &servers(&place, &[("one", "own")]));
    let denied = r#"{"permissions":{"allow":["Bash"]},"deniedMcpServers":[{"serverName":"one"}]}"#;
    write(&place.path("denied.json"), denied);
    write(&place.path("foreign.json"), &servers(&place, &[("two", "foreign")]));
    write(&place.path("work/a.txt"), "text");
    let bash = |command: &str| call("Bash", &json!({ "command": command }));
    let (settings, log_file) = (place.path("home/.windlass/settings.json"), place.path("log"));
    write(&settings, r#"{"permissions":{"allow":["Bash"]}}"#);
    // Another program writes the files, as `git pull` would.
    let steps = place.path("steps.sh");
    let script = format!(
        "cp {} {}; cp {} {}",
        place.path("denied.json").display(),
        settings.display(),
        place.path("foreign.json").display(),
        place.work().join(".mcp.json").display()
    );
    write(&steps, &script);
    let wait = format!("until grep -q 'own ends' {}; do sleep 0.01; done; echo over", log_file.display());
    place.script(&[
        bash(&format!("sh {}", steps.display())),
        call("Read", &json!({ "file_path": "a.txt" })),
        bash(&wait),
        call("mcp__one__say", &json!({})),
        call("mcp__two__say", &json!({})),
        text("done"),
    ]);
    let ran = place.run(&["-p", "x", "--allowedTools", "mcp__one", "--allowedTools", "mcp__two"]).with_code(0);
    assert_eq!(ran.stdout.trim(), "done", "{ran:#?}");
    assert!(ran.stderr.contains("\"one\"") && ran.stderr.contains("is stopped: `deniedMcpServers`"), "{ran:#?}");
    assert!(ran.stderr.contains("\"two\"") && ran.stderr.contains("is not started"), "{ran:#?}");
    assert!(!log(&place).contains("foreign"), "{}", log(&place));
}
