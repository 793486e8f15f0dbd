use super::*;
use crate::note::Origin;
use crate::resolve::resolve;
use crate::settings::{KeyEffect, SettingKey, Settings};
use crate::settings_file::SettingsFile;
use crate::sources::Layer;
use crate::trust::{Standing, Trust, pinned};
use crate::{load_agents, load_commands, load_output_styles, load_servers};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const ROOT: &str = "/w";
const FILE: &str = "/w/.claude/settings.json";

/// Returns values of a key that may widen. A new key without one fails the test.
fn samples(key: &SettingKey) -> Vec<Value> {
    let shape = key.expected();
    match key.name {
        "keyBindings" => vec![json!({"ctrl+x": null})],
        "statusLine" => vec![json!({"type": "command", "command": "x"})],
        "hooks" => vec![json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]})],
        "allowedMcpServers" | "deniedMcpServers" => vec![json!([{"serverName": "x"}])],
        "models" => vec![json!({"m": {"contextWindow": 1000}})],
        "fileCheckpoints" => vec![json!({"maxFileBytes": 1})],
        "outputLimits" => vec![json!({"maxHomeBytes": 1})],
        "lspServers" => vec![json!({"x": {"command": "x", "extensionToLanguage": {".x": "x"}}})],
        "managedMcpServers" => vec![json!({"x": {"type": "http", "url": "https://x.example"}})],
        "sandbox.network" => {
            vec![json!({"allowedDomains": ["x.example"], "allowAllUnixSockets": true, "sharedWithWebFetch": true})]
        }
        "sandbox.filesystem" => vec![json!({"allowWrite": ["/x"], "allowRead": ["/y"]})],
        "permissions.allow" => vec![json!(["Bash(x)", "Read"])],
        "permissions.additionalDirectories" => vec![json!(["sub", "/outside"])],
        "skillOverrides" => ["on", "name-only", "user-invocable-only", "off"].map(|word| json!({"x": word})).into(),
        "permissions.defaultMode" => ["acceptEdits", "auto", "bypassPermissions", "plan"].map(Value::from).into(),
        "effortLevel" => vec![json!("max")],
        "shellSnapshot" => vec![json!("all")],
        _ if shape.contains("true") => vec![json!(true), json!(false)],
        _ if shape.contains("number from") => vec![json!(7)],
        _ if shape.contains("list of texts") => vec![json!(["x"])],
        _ if shape.contains("object of texts") => vec![json!({"X": "1"})],
        _ if shape.contains("text") => vec![json!("x")],
        other => panic!("give a sample of {other}"),
    }
}

fn text_of(key: &str, value: &Value) -> String {
    match key.split_once('.') {
        Some((group, member)) => json!({ group: { member: value } }).to_string(),
        None => Value::from(Map::from_iter([(key.to_owned(), value.clone())])).to_string(),
    }
}

/// Returns the trust that covers exactly these items.
fn covering(items: &[TrustItem], root: &Path) -> Standing {
    let covers = pinned(items, root);
    let mut trust = Trust::new();
    trust
        .add_record(&json!({"projects": {root.to_str().unwrap(): {"trusted": true, "covers": covers}}}).to_string())
        .unwrap();
    trust.standing(&[root.to_path_buf()], root, false)
}

/// Checks every key in files of the project: the settings in effect with full trust are in effect with trust in the
/// shown items, and with nothing less.
#[test]
fn every_setting_that_trust_lets_count_is_an_item() {
    let mut wide = BTreeSet::new();
    for key in SettingKey::all().filter(|key| key.effect == KeyEffect::Honoured) {
        for (value, layer) in samples(&key)
            .into_iter()
            .flat_map(|value| [Layer::Project, Layer::Local].map(|layer| (value.clone(), layer)))
        {
            let text = text_of(key.name, &value);
            let file = |standing| {
                let origin = Origin::File(PathBuf::from(FILE));
                let settings = Settings::parse(&text).unwrap();
                SettingsFile::new(layer, origin, ROOT, settings).with_root(ROOT).with_standing(standing)
            };
            let counted = |standing| {
                let mut resolved = resolve(&[file(standing)]).unwrap();
                resolved.notes.clear();
                format!("{resolved:?}")
            };
            let items = file(Standing::trusted()).trust_items();
            let (all, none) = (counted(Standing::trusted()), counted(Standing::untrusted()));
            assert_eq!(counted(covering(&items, Path::new(ROOT))), all, "{layer} {text}: not all of it is shown");
            // `false` for a switch that is off anyway changes the record, and no behaviour.
            if all == none || value == json!(false) {
                continue;
            }
            assert!(!items.is_empty(), "{layer} {text} counts with trust, and no item is shown");
            assert_eq!(counted(covering(&[], Path::new(ROOT))), none, "{layer} {text} counts without its item");
            for item in &items {
                let effect = format!("{} {}", item.name, item.shown);
                let said = [
                    value.as_str().map(str::to_owned),
                    value.as_array().and_then(|all| all[0].as_str().map(str::to_owned)),
                ];
                let named = said
                    .into_iter()
                    .flatten()
                    .all(|part| items.iter().any(|item| format!("{} {}", item.name, item.shown).contains(&part)));
                assert!(named && !effect.trim().is_empty(), "{layer} {text}: {items:?}");
            }
            wide.insert(key.name);
        }
    }
    assert!(wide.len() >= 15, "{wide:?}");
}

/// Returns a project with an item of every kind, each of which runs or allows something.
fn world() -> (tempfile::TempDir, Places) {
    let root = tempfile::tempdir().unwrap();
    let base = root.path().canonicalize().unwrap();
    let hooks = |program: &str| {
        format!(
            "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: {program}\n"
        )
    };
    let head = |name: &str, more: &str| format!("---\nname: {name}\ndescription: d\n{more}---\nText.\n");
    let settings = json!({
        "permissions": {"allow": ["Bash(x)"], "additionalDirectories": ["sub"]}, "env": {"X": "1"}, "model": "m",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "of-settings"}]}]},
    });
    for (name, text) in [
        (".git/HEAD", "ref: refs/heads/main\n".to_owned()),
        (".claude/settings.json", settings.to_string()),
        (".mcp.json", json!({"mcpServers": {"s": {"command": "of-server"}}}).to_string()),
        (
            ".claude/agents/a.md",
            head("a", &format!("permissionMode: bypassPermissions\ntools: Bash, Read\n{}", hooks("of-agent"))),
        ),
        (".claude/output-styles/o.md", head("o", "")),
        (
            ".claude/commands/c.md",
            head("c", &format!("allowed-tools: Bash(y)\n{}", hooks("of-command"))) + "!`of-text`\n",
        ),
        (".claude/skills/k/SKILL.md", head("k", &hooks("of-skill"))),
    ] {
        let path = base.join("work").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut places = Places::new(base.join("work"));
    places.records = vec![base.join("home/windlass-trust.json")];
    std::fs::create_dir_all(base.join("home")).unwrap();
    (root, places)
}

/// Returns all that files of the project bring into a session.
fn session(places: &Places, trust: bool) -> String {
    let request = SettingsRequest::new().trust(trust);
    let mut resolved = load(places, &request).unwrap().resolve().unwrap();
    resolved.notes.clear();
    let servers = load_servers(places, &request, &resolved).servers;
    let (agents, commands) = (load_agents(places, &request).agents, load_commands(places, &request).commands);
    format!("{resolved:?} {servers:?} {agents:?} {commands:?} {:?}", load_output_styles(places, &request).styles)
}

fn record(places: &Places, items: &[TrustItem]) {
    let root = places.start();
    let covers = pinned(items, root);
    let text = json!({"projects": {root.to_str().unwrap(): {"trusted": true, "covers": covers}}}).to_string();
    std::fs::write(&places.records[0], text).unwrap();
}

#[test]
fn what_is_shown_is_all_that_acts_and_each_item_acts() {
    let (_root, places) = world();
    let items = trust_items(&places).unwrap();
    let kinds: BTreeSet<TrustKind> = items.iter().map(|item| item.kind).collect();
    assert_eq!(kinds, BTreeSet::from(TrustKind::ALL), "an item of every kind");
    let all = session(&places, true);
    record(&places, &items);
    assert_eq!(session(&places, false), all, "the items cover all that acts");
    for left_out in &items {
        let rest: Vec<TrustItem> = items.iter().filter(|item| *item != left_out).cloned().collect();
        record(&places, &rest);
        assert_ne!(session(&places, false), all, "{left_out:?} makes no difference");
    }
}

/// Every program of a project is in the shown items.
#[test]
fn programs_of_all_kinds_of_items_are_shown() {
    let (_root, places) = world();
    let shown: Vec<String> = trust_items(&places).unwrap().into_iter().map(|item| item.shown).collect();
    for program in ["of-settings", "of-server", "of-agent", "of-command", "of-text", "of-skill"] {
        assert!(shown.iter().any(|line| line.contains(program)), "{program}: {shown:#?}");
    }
    let agent = shown.iter().find(|line| line.contains("of-agent")).unwrap();
    for part in ["permissionMode: bypassPermissions", "tools: Bash, Read", "a prompt of 5 characters"] {
        assert!(agent.contains(part), "{part}: {agent}");
    }
}
