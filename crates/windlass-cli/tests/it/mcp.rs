//! `windlass mcp`: servers in the files of their scopes, what is shown of them, and what they get wrong.

use crate::place::{Place, call, text, write};
use serde_json::{Value, json};

const USER: &str = "home/.claude.json";
const PROJECT: &str = "work/.mcp.json";

fn read(place: &Place, file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(place.path(file)).unwrap()).unwrap()
}

#[test]
fn servers_come_and_go_in_each_scope() {
    let place = Place::new();
    write(&place.path(USER), "{\"numStartups\": 7}");
    let start = place.work().canonicalize().unwrap().to_string_lossy().into_owned();
    place.run(&["mcp", "add", "files", "-e", "A=b=c", "--", "npx", "-y", "mcp-files", "--scope"]).with_code(0);
    let entry = json!({"type": "stdio", "command": "npx", "args": ["-y", "mcp-files", "--scope"], "env": {"A": "b=c"}});
    assert_eq!(read(&place, USER)["projects"][&start]["mcpServers"]["files"], entry);
    assert_eq!(read(&place, USER)["numStartups"], 7);

    let header = "X-Key: ${KEY}";
    place.run(&["mcp", "add", "-s", "user", "web", "https://h.example/mcp", "--header", header]).with_code(0);
    let entry = json!({"type": "http", "url": "https://h.example/mcp", "headers": {"X-Key": "${KEY}"}});
    assert_eq!(read(&place, USER)["mcpServers"]["web"], entry);

    let added = place.run(&["mcp", "add-json", "p", r#"{"command":"x","later":1}"#, "-s", "project"]).with_code(0);
    assert!(added.stderr.contains("windlass trust"), "{added:#?}");
    assert_eq!(read(&place, PROJECT)["mcpServers"]["p"], json!({"command": "x", "later": 1}));

    let again = place.run(&["mcp", "add", "files", "other"]).with_code(2);
    assert!(again.stderr.contains("--replace"), "{again:#?}");
    place.run(&["mcp", "add", "--replace", "files", "other"]).with_code(0);
    assert_eq!(read(&place, USER)["projects"][&start]["mcpServers"]["files"]["command"], "other");

    let removed = place.run(&["mcp", "remove", "files", "--json"]).with_code(0);
    assert_eq!(serde_json::from_str::<Value>(&removed.stdout).unwrap()["scope"], "local");
    place.run(&["mcp", "remove", "web"]).with_code(0);
    place.run(&["mcp", "remove", "p"]).with_code(0);
    assert_eq!(read(&place, USER), json!({"numStartups": 7}));
    let gone = place.run(&["mcp", "remove", "files"]).with_code(2);
    assert!(gone.stderr.contains("there is no MCP server \"files\""), "{gone:#?}");
}

#[test]
fn a_server_of_several_scopes_is_removed_where_it_is_meant() {
    let place = Place::new();
    for scope in ["user", "local"] {
        place.run(&["mcp", "add", "a", "x", "--scope", scope]).with_code(0);
    }
    assert!(place.run(&["mcp", "remove", "a"]).with_code(2).stderr.contains("--scope local or user"));
    place.run(&["mcp", "remove", "a", "--scope", "user"]).with_code(0);
    assert!(place.run(&["mcp", "get", "a"]).with_code(0).stdout.contains("scope: local"));
}

#[test]
fn what_cannot_be_a_server_is_refused_and_changes_no_file() {
    let place = Place::new();
    for (args, part) in [
        (vec!["add", "a__b", "x"], "two underscores"),
        (vec!["add", "a"], "give a program"),
        (vec!["add", "a", "x", "--env", "1A=b"], "NAME=VALUE"),
        (vec!["add", "a", "x", "--header", "A: b"], "--header belongs"),
        (vec!["add", "a", "https://h", "-e", "A=b"], "--env belongs"),
        (vec!["add", "a", "https://h", "more"], "takes no arguments"),
        (vec!["add", "a", "https://h", "--header", "A b"], "'NAME: VALUE'"),
        (vec!["add", "a", "https://h", "--header", "A: b\nc: d"], "on one line"),
        (vec!["add", "a", "https://u:p@h/"], "name or password"),
        (vec!["add", "a", "-t", "http", "ftp://h"], "neither https://"),
        (vec!["add", "a", "-t", "stdio", "https://h"], "--transport is http or sse"),
        (vec!["add", "a", "npx", "-y", "x"], "-y"),
        (vec!["add-json", "a", "[1]"], "JSON object"),
        (vec!["add-json", "a", "{"], "acceptable JSON"),
        (vec!["add-json", "a", r#"{"command":"x","command":"y"}"#], "acceptable JSON"),
        (vec!["add-json", "a", r#"{"type":"sdk"}"#], "inside a program"),
        (vec!["add-json", "a", r#"{"type":"ws","url":"ws://h"}"#], "not supported"),
        (vec!["add-json", "a", "{}"], "no `command`"),
        (vec!["get", "a"], "none is defined here"),
        (vec!["test", "a"], "none is defined here"),
        (vec!["import", "cursor"], ".cursor/mcp.json"),
    ] {
        let args: Vec<&str> = std::iter::once("mcp").chain(args).collect();
        let refused = place.run(&args).with_code(2);
        assert!(refused.stderr.contains(part) && refused.stderr.lines().count() == 1, "{args:?}: {refused:#?}");
    }
    assert!(!place.path(USER).exists() && !place.path(PROJECT).exists());
}

#[test]
fn what_is_shown_has_no_secrets() {
    let place = Place::new();
    let key = "sk-ant-api03-0123456789012345678901234567890123456789";
    place.run(&["mcp", "add", "a", "-e", &format!("K={key}"), "-e", "V=${V}", "--", "run", "--key", key]).with_code(0);
    place.run(&["mcp", "add", "b", "https://h/", "--header", "Authorization: Bearer hunter2"]).with_code(0);
    for args in [
        vec!["mcp", "list"],
        vec!["mcp", "list", "--json"],
        vec!["mcp", "get", "a"],
        vec!["mcp", "get", "b", "--json"],
        vec!["mcp", "get", "a", "--json"],
    ] {
        let shown = place.run(&args).with_code(0);
        assert!(!shown.stdout.contains(key) && !shown.stdout.contains("hunter2"), "{shown:#?}");
    }
    assert!(place.run(&["mcp", "get", "a"]).with_code(0).stdout.contains("env: V=${V}"));
    let public = place.run(&["mcp", "add", "c", "-s", "project", "-e", &format!("K={key}"), "--", "run"]).with_code(0);
    assert!(public.stderr.contains("looks like a secret") && !public.stderr.contains(key), "{public:#?}");
}

#[test]
fn a_list_says_what_counts_and_why_the_rest_does_not() {
    let place = Place::new();
    write(&place.path(PROJECT), r#"{"mcpServers":{"p":{"command":"x"},"both":{"command":"y"}}}"#);
    write(&place.path("home/.windlass/settings.json"), r#"{"deniedMcpServers":[{"serverName":"no"}]}"#);
    write(
        &place.path(USER),
        r#"{"mcpServers":{"no":{"command":"x"},"yes":{"command":"x"},"both":{"command":"z"},"bad":{}}}"#,
    );
    let listed = place.run(&["mcp", "list", "--json"]).with_code(0);
    let rows: Vec<Value> = listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let state = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        (row["scope"].as_str().unwrap(), row["status"].as_str().unwrap(), row["reason"].as_str().unwrap_or_default())
    };
    assert_eq!(state("yes"), ("user", "configured", ""));
    assert!(state("no").2.contains("deniedMcpServers"), "{rows:?}");
    assert!(state("p").2.contains("windlass trust") && state("bad").2.contains("no `command`"), "{rows:?}");
    assert_eq!((state("both").0, state("both").1), ("user", "configured"));
    let refused = place.run(&["mcp", "test", "p"]).with_code(1);
    assert!(refused.stderr.contains("windlass trust"), "{refused:#?}");
}

#[test]
fn a_file_of_servers_that_cannot_be_read_is_named() {
    let place = Place::new();
    write(&place.path(USER), r#"{"mcpServers":{"yes":{"command":"x"}}}"#);
    for content in ["// x\n{\"mcpServers\":{}}", "{\"mcpServers\":[]}", "\u{0}"] {
        write(&place.path(PROJECT), content);
        for args in [vec!["mcp", "list"], vec!["mcp", "list", "--json"]] {
            let listed = place.run(&args).with_code(1);
            assert!(listed.stderr.contains(".mcp.json") && listed.stderr.lines().count() == 1, "{listed:#?}");
            assert!(listed.stdout.contains("yes"), "{listed:#?}");
        }
        assert!(place.run(&["mcp", "get", "yes"]).with_code(0).stderr.contains(".mcp.json"));
        for command in ["get", "test"] {
            let unknown = place.run(&["mcp", command, "other"]).with_code(2);
            assert!(unknown.stderr.contains(".mcp.json") && unknown.stderr.contains("\"other\""), "{unknown:#?}");
        }
    }
    write(&place.path(PROJECT), "{}");
    write(&place.path(USER), "{");
    assert!(place.run(&["mcp", "list"]).with_code(1).stderr.contains(".claude.json"));
}

/// A server with one good tool, one without a description, and one that providers refuse, that writes beside the protocol.
#[cfg(unix)]
const SERVER: &str = r#"
echo 'warming up' >&2
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"3"}}' ;;
    *'"tools/list"'*)
      answer '{"tools":[{"name":"go","description":"Goes.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"dumb","inputSchema":{"type":"object"}},{"name":"union","inputSchema":{"type":"array"}}]}' ;;
  esac
done
"#;

#[cfg(unix)]
#[test]
fn a_test_shows_what_a_server_offers_and_gets_wrong() {
    let place = Place::new();
    place.run(&["mcp", "add", "s", "--", "/bin/bash", "-c", SERVER]).with_code(0);
    let shown = place.run(&["mcp", "test", "s"]).with_code(1);
    for part in [
        "status: connected after",
        "server: shell 3",
        "go [claims: reads only]  Goes.",
        "\"dumb\" has no description",
        "\"union\" is left out",
        "it wrote: warming up",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {shown:#?}");
    }
    let report: Value = serde_json::from_str(&place.run(&["mcp", "test", "s", "--json"]).with_code(1).stdout).unwrap();
    assert_eq!(report["problems"].as_array().unwrap().len(), 3, "{report}");
    let checked = place.run(&["mcp", "list", "--check"]).with_code(0);
    assert!(checked.stdout.starts_with("s\tlocal\tconnected\t/bin/bash"), "{checked:#?}");

    place.run(&["mcp", "add", "dead", "--", "/bin/bash", "-c", "echo broken >&2; exit 3"]).with_code(0);
    let shown = place.run(&["mcp", "test", "dead"]).with_code(1);
    assert!(shown.stdout.contains("status: failed") && shown.stdout.contains("broken"), "{shown:#?}");
    assert!(place.run(&["mcp", "list", "--check"]).with_code(1).stdout.contains("dead\tlocal\tfailed"));
}

/// A server that leaves a line in a file each time it is started.
#[cfg(unix)]
const MARKED: &str = r#"
echo started >> started
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"m","version":"1"}}' ;;
    *'"tools/list"'*) answer '{"tools":[{"name":"go","description":"Goes.","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) answer '{"content":[{"type":"text","text":"gone"}]}' ;;
  esac
done
"#;

#[cfg(unix)]
#[test]
fn a_lazy_server_is_started_by_the_first_session_and_then_by_calls() {
    let place = Place::with_turns(&[text("Nothing to do.")]);
    place.run(&["mcp", "add", "m", "--lazy", "--", "/bin/bash", "-c", MARKED]).with_code(0);
    let starts = || std::fs::read_to_string(place.work().join("started")).unwrap_or_default().lines().count();
    for _ in 0..3 {
        place.run(&["-p", "x", "--trust"]).with_code(0);
        assert_eq!(starts(), 1, "only the first session does not know it");
    }
    place.script(&[call("mcp__m__go", &json!({})), text("Done.")]);
    let flags = ["--allowedTools", "mcp__m__go", "--output-format", "stream-json", "--verbose", "--trust"];
    let ran = place.run(&[&["-p", "x"], &flags[..]].concat());
    assert!(ran.stdout.contains("gone"), "{ran:#?}");
    assert_eq!(starts(), 2);
    // Only the user can read the kept definitions.
    let kept: Vec<_> = std::fs::read_dir(place.home().join(".windlass/mcp-tools")).unwrap().collect();
    assert_eq!(kept.len(), 1);
}

#[test]
fn servers_of_other_clients_are_copied_or_skipped_with_the_reason() {
    let place = Place::new();
    let cursor = r#"{"mcpServers":{"a":{"command":"npx","env":{"K":"${env:K}"}}, // mine
        "off":{"command":"x","disabled":true},"a__b":{"command":"x"}}}"#;
    write(&place.path("home/.cursor/mcp.json"), cursor);
    write(
        &place.path("work/.vscode/mcp.json"),
        r#"{"servers":{"v":{"type":"http","url":"https://h/mcp"},},"inputs":[]}"#,
    );
    let dry = place.run(&["mcp", "import", "--dry-run", "-s", "user"]).with_code(0);
    assert!(dry.stdout.contains("would be copied  v (vscode)") && !place.path(USER).exists(), "{dry:#?}");
    let copied = place.run(&["mcp", "import", "-s", "user", "--json"]).with_code(0);
    let rows: Vec<Value> = copied.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let outcome = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!((&outcome("a")["copied"], &outcome("v")["copied"]), (&json!(true), &json!(true)));
    assert!(outcome("off")["reason"].as_str().unwrap().contains("switched off"), "{rows:?}");
    assert!(outcome("a__b")["reason"].as_str().unwrap().contains("underscores"), "{rows:?}");
    assert_eq!(read(&place, USER)["mcpServers"]["a"]["env"], json!({"K": "${K}"}));
    // The same again copies none.
    assert!(place.run(&["mcp", "import", "-s", "user"]).with_code(1).stdout.contains("already"));
    let file = place.path("other.json");
    write(&file, "{\"mcpServers\": 7}");
    let broken = place.run(&["mcp", "import", "cursor", "--file", file.to_str().unwrap()]).with_code(2);
    assert!(broken.stderr.contains("other.json"), "{broken:#?}");
}

/// A server that answers a call when another one has come, too.
#[cfg(unix)]
const PAIRS: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
first=
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"initialize"'*)
      answer "$id" '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"p","version":"1"}}' ;;
    *'"tools/list"'*)
      answer "$id" '{"tools":[{"name":"go","description":"Goes.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}' ;;
    *'"tools/call"'*)
      if [ -z "$first" ]; then first=$id; continue; fi
      answer "$first" '{"content":[{"type":"text","text":"paired"}]}'
      answer "$id" '{"content":[{"type":"text","text":"paired"}]}'
      first= ;;
  esac
done
"#;

#[cfg(unix)]
#[test]
fn calls_of_a_server_run_side_by_side_where_its_entry_says_so() {
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "mcp__p__go", "input": {} });
    for is_parallel in [true, false] {
        let place = Place::with_turns(&[json!([call("a"), call("b")]), text("Done.")]);
        let mut entry = json!({ "command": "/bin/bash", "args": ["-c", PAIRS] });
        match is_parallel {
            true => entry["parallelTools"] = json!(["go"]),
            // The hint of the server is not believed: the first call waits for the second, which waits for the first.
            false => entry["timeout"] = json!(1500),
        }
        let config = json!({ "mcpServers": { "p": entry } }).to_string();
        let args = ["-p", "x", "--mcp-config", &config, "--allowedTools", "mcp__p", "--output-format", "stream-json"];
        let ran = place.run(&[&args[..], &["--verbose"]].concat()).with_code(0);
        assert_eq!(ran.stdout.contains("did not answer within"), !is_parallel, "{ran:#?}");
        let answered = ran.lines().iter().filter(|line| line["tool_use_result"].to_string().contains("paired")).count();
        assert_eq!(answered, if is_parallel { 2 } else { 1 }, "{ran:#?}");
    }
}
