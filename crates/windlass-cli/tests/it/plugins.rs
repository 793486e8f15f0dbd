//! Plugins of `windlass -p`, and what files of a project may start.

use crate::place::{Place, Ran, call, text, write};
use serde_json::{Value, json};

/// A place with a plugin beside its working directory.
fn place(turns: &[Value]) -> Place {
    let place = Place::with_turns(turns);
    write(&place.path("kit/.claude-plugin/plugin.json"), r#"{"name":"kit","version":"1.0.0"}"#);
    write(&place.path("kit/commands/hello.md"), "Say hello to $1 from ${CLAUDE_PLUGIN_ROOT}.");
    write(&place.path("kit/agents/reader.md"), "---\nname: reader\ndescription: Reads\ntools: Read\n---\nYou read.\n");
    place
}

fn init(ran: &Ran) -> Value {
    let lines = ran.lines();
    lines.into_iter().find(|line| line["subtype"] == "init").unwrap_or_else(|| panic!("{ran:#?}"))
}

fn stream<'a>(prompt: &'a str, args: &[&'a str]) -> Vec<&'a str> {
    [&["-p", prompt, "--output-format", "stream-json"], args].concat()
}

/// The text of the first prompt in the log of the only session.
fn prompted(place: &Place) -> String {
    let logs = place.logs();
    let log = std::fs::read_to_string(&logs[0]).unwrap();
    let mut lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let user = lines.find(|line| line["type"] == "user").unwrap();
    user["message"]["content"].to_string()
}

#[test]
fn commands_and_agents_of_a_plugin_are_there() {
    for relative in [true, false] {
        let place = place(&[text("Done.")]);
        let kit = place.path("kit").canonicalize().unwrap();
        let named = if relative { "../kit" } else { kit.to_str().unwrap() };
        let ran = place.run(&stream("/kit:hello Ada", &["--plugin-dir", named, "--agent", "kit:reader"])).with_code(0);
        let row = json!({"name": "kit", "path": kit, "source": "kit@inline", "version": "1.0.0"});
        assert_eq!(init(&ran)["plugins"], json!([row]), "{ran:#?}");
        assert_eq!(init(&ran)["tools"], json!(["Read"]));
        assert_eq!(ran.stderr, "");
        let expected = format!("Say hello to Ada from {}.", kit.display());
        assert!(prompted(&place).contains(&expected), "{}", prompted(&place));
    }
    let place = place(&[]);
    let listed = place.run(&["agents", "list", "--json", "--plugin-dir", "../kit"]).with_code(0).lines();
    assert_eq!((&listed[0]["name"], &listed[0]["source"]), (&json!("kit:reader"), &json!("plugin")));
}

#[test]
fn what_is_not_used_is_reported_and_the_run_continues() {
    let place = place(&[text("Done.")]);
    write(&place.path("broken/.claude-plugin/plugin.json"), "{");
    let args = ["--plugin-dir", "../kit", "--plugin-dir", "../broken", "--plugin-dir-no-mcp", "none"];
    let ran = place.run(&stream("Go.", &args)).with_code(0);
    let kinds: Vec<Value> =
        init(&ran)["plugin_errors"].as_array().unwrap().iter().map(|error| error["type"].clone()).collect();
    assert_eq!(kinds, ["manifest-validation-error", "path-not-found"]);
    for part in ["broken is left out", "none is left out"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    // Nothing of it is there for those who did not name it.
    place.script(&[text("Done.")]);
    let ran = place.run(&stream("/kit:hello Ada", &["--no-session-persistence"])).with_code(0);
    assert_eq!((&init(&ran)["plugins"], &init(&ran)["plugin_errors"]), (&json!([]), &Value::Null));
}

/// A server that leaves a mark when it is started, and then ends.
fn entry(place: &Place, mark: &str) -> Value {
    json!({"command": "touch", "args": [place.path(mark)]})
}

#[test]
fn servers_of_plugins_start_unless_they_are_left_out() {
    for (flag, starts) in [("--plugin-dir", true), ("--plugin-dir-no-mcp", false)] {
        let place = place(&[text("Done.")]);
        write(&place.path("kit/.mcp.json"), &json!({"mcpServers": {"s": entry(&place, "started")}}).to_string());
        // A plugin that is named brings its servers, whatever the files hold.
        let ran =
            place.run(&stream("Go.", &[flag, "../kit", "--strict-mcp-config", "--setting-sources="])).with_code(0);
        assert_eq!(place.path("started").exists(), starts, "{flag} {ran:#?}");
        let servers = init(&ran)["mcp_servers"].clone();
        let expected = json!([{"name": "plugin:kit:s", "status": "failed", "source": "plugin"}]);
        assert_eq!(servers, if starts { expected } else { json!([]) });
    }
}

#[test]
fn a_repository_starts_nothing_by_itself() {
    let all = r#"{"enableAllProjectMcpServers":true,"enabledMcpjsonServers":["s"]}"#;
    for (files, args, starts) in [
        (&[][..], &[][..], false),
        (&["work/.claude/settings.json"], &[], false),
        (&["work/.claude/settings.local.json"], &[], false),
        (&["work/.windlass/settings.local.json"], &[], false),
        (&["home/.claude/settings.json"], &[], true),
        (&[], &["--trust"], true),
        (&[], &["--settings", all], true),
        (&[], &["--trust", "--strict-mcp-config"], false),
        (&[], &["--trust", "--setting-sources", "user"], false),
        (&[], &["--trust", "--settings", r#"{"disabledMcpjsonServers":["s"]}"#], false),
    ] {
        let place = place(&[text("Done.")]);
        write(&place.path("work/.mcp.json"), &json!({"mcpServers": {"s": entry(&place, "started")}}).to_string());
        for file in files {
            write(&place.path(file), all);
        }
        let ran = place.run(&stream("Go.", args)).with_code(0);
        assert_eq!(place.path("started").exists(), starts, "{files:?} {args:?} {ran:#?}");
        let is_read = !args.contains(&"--strict-mcp-config") && !args.contains(&"user");
        assert_eq!(ran.stderr.contains("the MCP server \"s\" of"), !starts && is_read, "{args:?} {}", ran.stderr);
        let status = if starts { "failed" } else { "disabled" };
        let row = json!([{"name": "s", "status": status, "source": "project"}]);
        assert_eq!(init(&ran)["mcp_servers"], if is_read { row } else { json!([]) }, "{args:?}");
    }
}

#[test]
fn many_servers_are_one_note() {
    let place = place(&[text("Done.")]);
    let many: serde_json::Map<String, Value> =
        (0..20).map(|at| (format!("s{at:02}\u{1b}[31m"), entry(&place, "started"))).collect();
    write(&place.path("work/.mcp.json"), &json!({ "mcpServers": many }).to_string());
    let ran = place.run(&stream("Go.", &[])).with_code(0);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("s07") && ran.stderr.contains("and 12 more of"), "{}", ran.stderr);
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
    assert!(!place.path("started").exists());
}

#[test]
fn the_model_is_asked_before_it_changes_what_a_plugin_runs() {
    for (file, changes) in [(".claude-plugin/plugin.json", false), ("servers.json", false), ("notes.md", true)] {
        let place = place(&[]);
        write(&place.path("kit/.claude-plugin/plugin.json"), r#"{"name":"kit","mcpServers":"./servers.json"}"#);
        write(&place.path("kit/servers.json"), "{}");
        write(&place.path("kit/servers.json"), &json!({"s": entry(&place, "started")}).to_string());
        let target = place.path("kit").canonicalize().unwrap().join(file);
        let before = std::fs::read_to_string(&target).unwrap_or_default();
        place.script(&[
            call("Read", &json!({"file_path": target})),
            call("Write", &json!({"file_path": target, "content": "changed"})),
            text("Done."),
        ]);
        let args = ["--plugin-dir", "../kit", "--add-dir", "../kit", "--permission-mode", "acceptEdits"];
        place.run(&stream("Go.", &args)).with_code(0);
        let after = std::fs::read_to_string(&target).unwrap_or_default();
        assert_eq!((after == "changed", after == before), (changes, !changes), "{file}");
    }
}
