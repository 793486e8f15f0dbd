//! MCP servers that settings keep out, wherever they come from.

use crate::place::{Place, Ran, text, write};
use serde_json::{Value, json};

const DENIED: &str = r#"{"deniedMcpServers":[{"serverName":"s"},{"serverName":"plugin:kit:s"}]}"#;

const WHY: &str = "`deniedMcpServers` of --settings keeps it out";

/// A server that leaves a mark when it is started, and then ends.
fn servers(place: &Place) -> Value {
    json!({"mcpServers": {"s": {"command": "touch", "args": [place.path("started")]}}})
}

fn place() -> Place {
    let place = Place::with_turns(&[text("Done.")]);
    write(&place.path("kit/.claude-plugin/plugin.json"), r#"{"name":"kit"}"#);
    place
}

fn answer(ran: &Ran, id: &str) -> Value {
    let lines = ran.lines();
    let answer = lines.into_iter().find(|line| line["response"]["request_id"] == id);
    answer.unwrap_or_else(|| panic!("{id} {ran:#?}"))["response"].clone()
}

/// Drives a session with these orders, numbered from 0, and asks for its servers after them.
fn host(place: &Place, args: &[&str], orders: &[Value]) -> Ran {
    let flags = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
    let mut orders = orders.to_vec();
    orders.push(json!({"subtype": "mcp_status"}));
    let lines = orders.iter().enumerate().map(|(at, order)| {
        format!("{}\n", json!({"type": "control_request", "request_id": at.to_string(), "request": order}))
    });
    place.run_with(&[&flags[..], args].concat(), &lines.collect::<String>()).with_code(0)
}

#[test]
fn servers_of_all_kinds_are_listed_and_not_started() {
    for (lists, keeps_out) in [
        (DENIED, true),
        (r#"{"allowedMcpServers":[]}"#, true),
        (r#"{"allowedMcpServers":[{"serverCommand":["touch"]},{"serverName":"s"}]}"#, true),
        (r#"{"deniedMcpServers":[{"serverNames":"t"}]}"#, true),
        (r#"{"deniedMcpServers":[{"serverName":"t"}]}"#, false),
        (r#"{"allowedMcpServers":[{"serverName":"s"},{"serverName":"plugin:kit:s"}]}"#, false),
    ] {
        for (file, args, name) in [
            ("home/.claude.json", &[][..], "s"),
            ("work/.mcp.json", &["--trust"], "s"),
            ("kit/.mcp.json", &["--plugin-dir", "../kit", "--strict-mcp-config"], "plugin:kit:s"),
            ("servers.json", &["--mcp-config", "../servers.json"], "s"),
        ] {
            let place = place();
            write(&place.path(file), &servers(&place).to_string());
            let args = [&["-p", "Go.", "--output-format", "stream-json", "--settings", lists], args].concat();
            let ran = place.run(&args).with_code(0);
            assert_eq!(place.path("started").exists(), !keeps_out, "{lists} {file} {ran:#?}");
            let lines = ran.lines();
            let init = lines.iter().find(|line| line["subtype"] == "init").unwrap();
            let row = &init["mcp_servers"][0];
            let status = if keeps_out { "disabled" } else { "failed" };
            assert_eq!((&row["name"], &row["status"]), (&json!(name), &json!(status)), "{lists} {file} {ran:#?}");
            let note = format!("the MCP server {name:?} of ");
            assert_eq!(
                ran.stderr.contains(&note) && ran.stderr.contains("is not started"),
                keeps_out,
                "{}",
                ran.stderr
            );
        }
    }
}

#[test]
fn servers_of_initialize_are_kept_out() {
    let place = place();
    let order = json!({"subtype": "initialize", "mcpServers": servers(&place)["mcpServers"]});
    let ran = host(&place, &["--settings", DENIED], &[order]);
    assert!(!place.path("started").exists(), "{ran:#?}");
    let rows = answer(&ran, "1")["response"]["mcpServers"].clone();
    let row = json!({"name": "s", "status": "disabled", "source": "dynamic", "scope": "dynamic", "error": WHY});
    assert_eq!(rows, json!([row]));
    assert!(ran.stderr.contains("of the host is not started"), "{}", ran.stderr);
}

#[test]
fn a_kept_out_server_of_a_plugin_does_not_come_with_each_reload() {
    let place = place();
    write(&place.path("kit/.mcp.json"), &servers(&place).to_string());
    let reload = json!({"subtype": "reload_plugins", "hold_on_cache_impact": true});
    let ran =
        host(&place, &["--plugin-dir", "../kit", "--settings", DENIED], &[json!({"subtype": "initialize"}), reload]);
    let reloaded = answer(&ran, "1")["response"].clone();
    assert_eq!(reloaded["held"], json!(false), "{reloaded}");
    assert_eq!(reloaded["mcpServers"][0]["status"], "disabled", "{reloaded}");
}

#[test]
fn lists_are_shown_with_their_files() {
    let place = place();
    write(&place.path("work/.claude/settings.json"), r#"{"deniedMcpServers":[{"serverUrl":"https://a.example/*"}]}"#);
    let settings = r#"{"allowedMcpServers":[{"serverName":"x"}],"allowManagedMcpServersOnly":true}"#;
    let ran = place.run(&["settings", "--settings", settings]).with_code(0);
    let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(shown["effective"]["deniedMcpServers"], json!([{"serverUrl": "https://a.example/*"}]));
    assert_eq!(shown["provenance"]["allowedMcpServers"], json!(["--settings"]));
    assert!(ran.stdout.contains("`allowManagedMcpServersOnly` counts in managed settings only"), "{}", ran.stdout);
}
