//! Plugins: what hosts read of them, and their orders.

use crate::server::host::{Host, options};
use crate::server::world::{says, script};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use windlass_protocol::{
    HostAgent, HostPlugin, HostPluginError, PluginControl, PluginListing, PluginOffer, PluginReload, PluginSource,
    PluginsReloaded, ServerOptions, SlashCommand,
};

/// Plugins that take note of what is ordered: as many commands as orders.
#[derive(Debug, Default)]
struct Plugins(Mutex<Vec<String>>);

impl Plugins {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
}

impl PluginControl for Plugins {
    fn listing(&self) -> PluginListing {
        let error = HostPluginError::new("kit", "component-load-failed", "no", None);
        PluginListing::new(vec![HostPlugin::new("kit", "/kit", None)], vec![error])
    }

    fn offer(&self) -> PluginOffer {
        let orders = self.0.lock().unwrap().len();
        let commands = (0..=orders).map(|at| SlashCommand::new(format!("kit:{at}"), "")).collect();
        PluginOffer::new(commands, vec![HostAgent::new("kit:a", "An agent", None)])
    }

    fn launch(&self, plugins: &[PluginSource]) -> bool {
        self.note(format!("launch {plugins:?}"));
        plugins.len() == 1
    }

    fn reload(&self, order: &PluginReload) -> Result<PluginsReloaded, String> {
        if order.add.iter().any(|source| source.skip_mcp) {
            return Err("not that one".to_owned());
        }
        self.note(format!("reload {}", order.add.len()));
        let mut reloaded = PluginsReloaded::default();
        reloaded.servers_added = vec!["plugin:kit:s".to_owned()];
        reloaded.held = order.hold;
        Ok(reloaded)
    }
}

fn with_plugins() -> (Arc<Plugins>, ServerOptions) {
    let (plugins, mut options) = (Arc::<Plugins>::default(), options());
    options.plugins = Some(Arc::clone(&plugins) as _);
    options.commands.known = plugins.offer().commands;
    (plugins, options)
}

async fn ask(host: &mut Host, subtype: &str, more: Value) -> Value {
    let mut request = json!({ "subtype": subtype });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    host.send(json!({ "type": "control_request", "request_id": subtype, "request": request })).await;
    loop {
        let line = host.next().await.unwrap();
        if line["type"] == "control_response" && line["response"]["request_id"] == subtype {
            return line["response"].clone();
        }
    }
}

fn names(commands: &Value) -> Vec<&str> {
    let all = commands.as_array().unwrap().iter().filter_map(|command| command["name"].as_str());
    all.filter(|name| name.contains(':')).collect()
}

#[tokio::test(start_paused = true)]
async fn a_reload_answers_with_what_there_is_now() {
    let (_, options) = with_plugins();
    let mut host = Host::start(script([says("one")]), options);
    let answer = ask(&mut host, "initialize", json!({})).await;
    assert_eq!(names(&answer["response"]["commands"]), ["kit:0"]);
    assert_eq!(answer["response"].get("plugins_applied"), None);
    let answer = ask(&mut host, "reload_plugins", json!({})).await["response"].clone();
    assert_eq!(names(&answer["commands"]), ["kit:0", "kit:1"]);
    assert_eq!(answer["agents"], json!([{"name": "kit:a", "description": "An agent"}]));
    assert_eq!(answer["plugins"], json!([{"name": "kit", "path": "/kit", "source": "kit@inline"}]));
    assert_eq!((&answer["mcpServers"], &answer["error_count"], answer.get("held")), (&json!([]), &json!(1), None));
    let answer = ask(&mut host, "reload_plugins", json!({"hold_on_cache_impact": true})).await["response"].clone();
    let impact = json!({"mcp_servers_added": ["plugin:kit:s"], "mcp_servers_removed": [], "lsp_tool_change": null});
    assert_eq!((&answer["held"], &answer["cache_impact"]), (&json!(true), &impact));
    host.say("go").await;
    let init = loop {
        let line = host.next().await.unwrap();
        if line["subtype"] == "init" {
            break line;
        }
    };
    assert_eq!(init["plugins"], answer["plugins"]);
    let error = json!([{"plugin": "kit", "type": "component-load-failed", "message": "no"}]);
    assert_eq!(init["plugin_errors"], error);
    host.result().await;
    host.hang_up();
    host.end().await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn plugins_of_initialize_are_launched_before_it_is_answered() {
    for (entries, applied) in [
        (json!([{"type": "local", "path": "/x", "skipMcpDiscovery": true}]), Some(true)),
        (json!([{"type": "local", "path": "x"}, {"type": "local", "path": "y"}]), Some(false)),
        (json!([]), None),
        (json!(null), None),
    ] {
        let (plugins, options) = with_plugins();
        let mut host = Host::start(script([]), options);
        let answer = ask(&mut host, "initialize", json!({ "plugins": entries })).await;
        assert_eq!(answer["response"].get("plugins_applied"), applied.map(Value::from).as_ref(), "{entries}");
        assert_eq!(names(&answer["response"]["commands"]).len(), 1 + plugins.0.lock().unwrap().len());
        assert_eq!(plugins.0.lock().unwrap().len(), usize::from(applied.is_some()), "{entries}");
        host.hang_up();
        host.end().await.0.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_loaded_is_refused_as_a_whole() {
    let (plugins, options) = with_plugins();
    let mut host = Host::start(script([]), options);
    let many: Vec<Value> = (0..65).map(|at| json!({"type": "local", "path": format!("/{at}")})).collect();
    for add in [
        json!([{"type": "local", "path": "relative"}]),
        json!([{"type": "local", "path": "/x"}, {"type": "url", "path": "/x"}]),
        json!([{"type": "local"}]),
        json!([{"type": "local", "path": "/x", "skipMcpDiscovery": true}]),
        json!({}),
        json!(many),
    ] {
        let answer = ask(&mut host, "reload_plugins", json!({ "add_plugins": add })).await;
        assert_eq!(answer["subtype"], "error", "{add}");
    }
    let answer = ask(&mut host, "initialize", json!({"plugins": [{"type": "url", "path": "/x"}]})).await;
    assert_eq!(answer["subtype"], "error");
    assert!(plugins.0.lock().unwrap().is_empty(), "nothing was ordered");
    host.hang_up();
    host.end().await.0.unwrap();
}
