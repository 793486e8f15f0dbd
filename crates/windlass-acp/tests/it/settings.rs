//! Modes and config options.

use crate::world::{Agent, Client, calls, kinds, says};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

fn current<'a>(options: &'a Value, id: &str) -> &'a Value {
    let option = options.as_array().unwrap().iter().find(|option| option["id"] == id);
    option.map_or(&Value::Null, |option| &option["currentValue"])
}

#[tokio::test(start_paused = true)]
async fn a_mode_is_set_and_both_lists_stay_the_same() {
    let agent = Agent::new([calls("t1", "act"), says("planned")]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    let (before, answer) = client.ask("session/set_mode", json!({ "sessionId": session, "modeId": "dontAsk" })).await;
    assert_eq!(answer["result"], json!({}));
    assert_eq!(kinds(&before), ["current_mode_update", "config_option_update"]);
    assert_eq!(current(&before[1]["params"]["update"]["configOptions"], "mode"), "dontAsk");
    let id = client.prompt(&session, "a").await;
    let (before, _) = client.answer_of(id).await;
    assert!(before.iter().all(|message| message["method"] != "session/request_permission"), "{before:?}");
    assert_eq!(agent.acted.load(Ordering::SeqCst), 0);
    // The same while a session is open.
    let set = json!({ "sessionId": session, "configId": "mode", "value": "default" });
    let (before, answer) = client.ask("session/set_config_option", set).await;
    assert_eq!(current(&answer["result"]["configOptions"], "mode"), "default");
    assert!(kinds(&before).contains(&"current_mode_update"), "{before:?}");
}

#[tokio::test(start_paused = true)]
async fn each_answer_has_the_complete_list() {
    let agent = Agent::new([]);
    let mut client = Client::ready(&agent).await;
    let (_, answer) = client.ask("session/new", json!({ "cwd": "/w", "mcpServers": [] })).await;
    let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    let options = answer["result"]["configOptions"].clone();
    assert_eq!((current(&options, "mode"), current(&options, "model")), (&json!("default"), &json!("fast")));
    assert_eq!(*current(&options, "effort"), Value::Null, "this model has none");
    let mut set = async |id: &str, value: Value| {
        let params = json!({ "sessionId": session, "configId": id, "value": value });
        client.ask("session/set_config_option", params).await.1
    };
    let answer = set("model", json!("deep")).await;
    let options = &answer["result"]["configOptions"];
    assert_eq!((current(options, "model"), current(options, "effort")), (&json!("deep"), &json!("default")));
    let answer = set("effort", json!("high")).await;
    assert_eq!(current(&answer["result"]["configOptions"], "effort"), "high");
    let answer = set("effort", json!("default")).await;
    assert_eq!(current(&answer["result"]["configOptions"], "effort"), "default");
    set("effort", json!("high")).await;
    let answer = set("model", json!("fast")).await;
    assert_eq!(answer["result"]["configOptions"].as_array().unwrap().len(), 2);
    for (id, value) in [
        ("model", json!("made up")),
        ("effort", json!("high")),
        ("mode", json!("bypassPermissions")),
        ("mode", json!(true)),
        ("colour", json!("red")),
    ] {
        assert_eq!(set(id, value).await["error"]["code"], -32602, "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_mode_without_questions_is_not_a_clients_to_choose() {
    let agent = Agent::new([]);
    let mut client = Client::ready(&agent).await;
    let session = client.session().await;
    for mode in ["bypassPermissions", "root", ""] {
        let (before, answer) = client.ask("session/set_mode", json!({ "sessionId": session, "modeId": mode })).await;
        assert_eq!(answer["error"]["code"], -32602, "{mode}");
        assert!(before.is_empty());
    }
}
