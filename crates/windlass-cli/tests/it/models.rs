//! The list of known models.

use crate::place::{Place, Ran, write};
use serde_json::{Value, json};

#[test]
fn models_are_listed_without_a_key_with_their_figures_and_source() {
    let ran = Place::new().run(&["models", "opus-5-5"]).with_code(0);
    let expected = "\
MODEL                      WINDOW  OUTPUT  IN $/M  OUT $/M  ABILITIES                         ALIASES
anthropic/claude-opus-5-5      1M    128k    4.00    20.00  images pdf cache thinking effort  default opus

Sources:
  anthropic: https://platform.claude.com/docs/en/about-claude/pricing (2026-11-23)
";
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), (expected, ""));
    let all = Place::new().run(&["models"]).with_code(0);
    for provider in ["anthropic/", "openai/", "gemini/", "deepseek/", "xai/", "openrouter/"] {
        assert!(all.stdout.lines().any(|line| line.starts_with(provider)), "{provider}");
    }
}

#[test]
fn json_has_all_prices() {
    let ran = Place::new().run(&["models", "--json", "--provider", "anthropic", "haiku"]).with_code(0);
    let lines = ran.lines();
    let haiku = lines.iter().find(|line| line["name"] == "anthropic/claude-haiku-5-5").unwrap();
    let expected = json!({
        "name": "anthropic/claude-haiku-5-5",
        "provider": "anthropic",
        "aliases": ["anthropic/haiku"],
        "contextWindow": 1_000_000,
        "maxOutputTokens": 128_000,
        "maxImages": 540,
        "abilities": ["images", "pdf", "cache", "thinking", "effort"],
        "efforts": ["low", "medium", "high", "xhigh", "max"],
        "price": {"input": 0.1, "output": 0.5, "cacheRead": 0.01, "cacheWrite": 0.125, "cacheWrite1h": 0.2},
        "longPrompts": [
            {"over": 100_000, "price": {"input": 0.5, "output": 2.5, "cacheRead": 0.05, "cacheWrite": 0.625, "cacheWrite1h": 1.0}}
        ],
        "source": {"url": "https://platform.claude.com/docs/en/about-claude/pricing", "read": "2026-11-23"},
        "overridden": [],
    });
    assert_eq!(*haiku, expected);
}

#[test]
fn what_is_not_known_is_suggested() {
    for (args, part) in [
        (&["models", "sonet"][..], "no known model is named \"sonet\": did you mean \"anthropic/sonnet\""),
        (&["models", "xyzzyxyzzy"], "`windlass models` lists those that are known"),
        (&["models", "--provider", "opnai"], "there is no provider \"opnai\": did you mean \"openai\"?"),
        (&["models", "--provider", "xyzzyxyzzy"], "there are anthropic, openai, "),
    ] {
        let ran = Place::new().run(args).with_code(2);
        assert!(ran.stderr.contains(part) && ran.stdout.is_empty(), "{ran:#?}");
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let place = Place::new();
    let mut command = place.command(&["models", "--provider", "vllm"]);
    let ran = Ran::from(command.env("VLLM_BASE_URL", format!("http://{closed}/v1")).output().unwrap()).with_code(0);
    assert!(
        ran.stderr.contains("the models of vllm are not known") && ran.stderr.contains("is vllm running?"),
        "{ran:#?}"
    );
    let ran = Place::new().run(&["models", "--provider", "azure"]).with_code(0);
    assert!(ran.stderr.contains("azure is not set up") && ran.stderr.contains("AZURE_OPENAI"), "{ran:#?}");
}

fn listed(place: &Place, args: &[&str]) -> Vec<Value> {
    place.run(&[&["models", "--json"][..], args].concat()).with_code(0).lines()
}

#[test]
fn what_the_user_says_in_settings_counts_and_is_marked() {
    let place = Place::new();
    let models = json!({"models": {
        "claude-opus-5-5": {"contextWindow": 50_000, "inputPrice": 0.5},
        "openai/my-model": {"contextWindow": 64_000, "inputPrice": 0.0375, "outputPrice": 1.5, "aliases": "mine"},
    }});
    write(&place.home().join(".windlass/settings.json"), &models.to_string());
    let opus = &listed(&place, &["opus-5-5"])[0];
    assert_eq!(
        (&opus["contextWindow"], &opus["overridden"]),
        (&json!(50_000), &json!(["contextWindow", "inputPrice"]))
    );
    assert_eq!((&opus["price"]["input"], &opus["price"]["output"]), (&json!(0.5), &json!(20.0)));
    let mine = &listed(&place, &["mine"])[0];
    assert_eq!(
        (&mine["name"], &mine["source"], &mine["aliases"]),
        (&json!("openai/my-model"), &Value::Null, &json!(["mine"]))
    );
    let table = place.run(&["models", "opus-5-5"]).with_code(0).stdout;
    assert!(table.contains("*50k") && table.contains("*0.50") && table.contains("* your settings"), "{table}");
    let shown: Value = serde_json::from_str(&place.run(&["settings"]).with_code(0).stdout).unwrap();
    assert_eq!(shown["effective"]["models"]["openai/my-model"]["inputPrice"], 0.038);
}

#[test]
fn a_project_changes_no_price_before_it_is_trusted() {
    let place = Place::new();
    let models = json!({"models": {"claude-opus-5-5": {"inputPrice": 0, "outputPrice": 0}}});
    write(&place.work().join(".windlass/settings.json"), &models.to_string());
    let price = |args: &[&str]| listed(&place, args)[0]["price"]["input"].clone();
    assert_eq!(price(&["opus-5-5"]), json!(4.0));
    assert_eq!(price(&["opus-5-5", "--trust"]), json!(0.0));
    let shown = place.run(&["settings"]).with_code(0).stdout;
    assert!(shown.contains("`models` does not count without trust"), "{shown}");
}

#[test]
fn a_wrong_key_is_an_error_that_names_file_key_and_what_was_meant() {
    let place = Place::new();
    write(&place.home().join(".windlass/settings.json"), r#"{"models": {"gpt-6": {"contextwindow": 1}}}"#);
    let ran = place.run(&["models"]).with_code(2);
    for part in ["settings.json", "`models.gpt-6.contextwindow` is not known", "did you mean `contextWindow`?"] {
        assert!(ran.stderr.contains(part), "{ran:#?}");
    }
}

/// A server that answers one request with this body, and the address of it.
fn server(body: &'static str) -> (String, std::thread::JoinHandle<String>) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answered = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let read = stream.read(&mut head).unwrap();
        let length = body.len();
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").unwrap();
        String::from_utf8_lossy(&head[..read]).into_owned()
    });
    (address, answered)
}

#[test]
fn ollama_is_asked_what_it_has() {
    let place = Place::new();
    let (address, answered) = server(r#"{"models":[{"name":"qwen3:8b"},{"name":"llama3.1:latest"}]}"#);
    let env = |address: &str| json!({"env": {"OLLAMA_HOST": address}}).to_string();
    let ran = place.run(&["models", "--provider", "ollama", "--json", "--settings", &env(&address)]).with_code(0);
    let names: Vec<Value> = ran.lines().iter().map(|line| line["name"].clone()).collect();
    assert_eq!(names, ["ollama/qwen3:8b", "ollama/llama3.1:latest"]);
    assert!(answered.join().unwrap().starts_with("GET /api/tags "));
    // The port is free now: no server is there.
    let ran = place.run(&["models", "--provider", "ollama", "--settings", &env(&address)]).with_code(0);
    assert!(ran.stderr.contains("the models of ollama are not known: "), "{ran:#?}");
}
