//! Servers as programs: this test binary, started again.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it speaks over its standard streams")]

use rmcp::ServiceExt;
use serde_json::{Value, json};
use std::io::{BufRead, Write};

/// Not a test: a server that other tests start.
#[test]
#[ignore = "a server that other tests start"]
fn server() {
    let behaviour = std::env::var("BEHAVIOUR").unwrap_or_default();
    match behaviour.as_str() {
        "real" => real(),
        _ => odd(&behaviour),
    }
    if behaviour == "deaf" {
        // Keeps running after the end of its input.
        std::thread::sleep(std::time::Duration::from_secs(600));
    }
    std::process::exit(0);
}

fn real() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let service = crate::real::Server.serve((tokio::io::stdin(), tokio::io::stdout())).await.unwrap();
        service.waiting().await.unwrap();
    });
}

fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    // The other side may be gone.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}

fn answer(id: &Value, result: &Value) {
    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "A tool.", "inputSchema": { "type": "object" } })
}

/// Behaviour of a server before it reads anything.
fn at_start(behaviour: &str) {
    match behaviour {
        "silent" => std::thread::sleep(std::time::Duration::from_secs(600)),
        "dies at once" => {
            eprintln!("cannot find the frobnicator");
            std::process::exit(3);
        }
        "stderr" => eprintln!("{}", "x".repeat(4 << 20)),
        // The child holds the pipes.
        "grandchild" => drop(std::process::Command::new("sleep").arg("600").spawn()),
        "stubborn" => drop(std::process::Command::new("sh").args(["-c", "trap '' TERM; sleep 600"]).spawn()),
        "flood" => {
            let line = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {
                "level": "info", "data": "x".repeat(1000)
            }});
            std::thread::spawn(move || {
                loop {
                    say(&line)
                }
            });
        }
        "pings" => {
            std::thread::spawn(|| {
                for id in 0_u64.. {
                    say(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
                }
            });
        }
        _ => {}
    }
}

/// Server that does one thing wrong.
#[expect(clippy::too_many_lines, reason = "one arm for each behaviour")]
fn odd(behaviour: &str) {
    at_start(behaviour);
    let mut calls = 0;
    let mut waiting = Value::Null;
    let version = std::env::var("VERSION").unwrap_or_else(|_| "2025-06-18".to_owned());
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap()) else { continue };
        let (id, method) = (message["id"].clone(), message["method"].as_str().unwrap_or_default());
        match (behaviour, method) {
            ("bad greeting", "initialize") => answer(&id, &json!({ "hello": 1 })),
            ("refuses", "initialize") => {
                say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": "not today" } }));
            }
            (_, "initialize") => {
                let info = json!({ "name": behaviour, "version": "9" });
                let offers = json!({ "tools": { "listChanged": true } });
                answer(&id, &json!({ "protocolVersion": version, "capabilities": offers, "serverInfo": info }));
            }
            ("no list", "tools/list") => {}
            ("endless list", "tools/list") => {
                let page: Vec<Value> = (0..20).map(|n| tool(&format!("t{n}-{calls}"))).collect();
                calls += 1;
                answer(&id, &json!({ "tools": page, "nextCursor": calls.to_string() }));
            }
            ("empty pages", "tools/list") => answer(&id, &json!({ "tools": [], "nextCursor": "again" })),
            ("clash", "tools/list") => {
                answer(&id, &json!({ "tools": [tool("a.b"), tool("a_b"), tool("a b"), tool("a_b")] }))
            }
            ("odd tools", "tools/list") => answer(&id, &json!({ "tools": [7, { "name": "x" }, tool("good")] })),
            (_, "tools/list") => answer(&id, &json!({ "tools": [tool("go")] })),
            ("dies in a call", "tools/call") => {
                eprintln!("segmentation fault, sort of");
                std::process::exit(11);
            }
            ("no answer", "tools/call") => {}
            ("dies after a call", "tools/call") => {
                if let Ok(log) = std::env::var("LOG") {
                    let mut log = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
                    writeln!(log, "{}", message["params"]["arguments"]["n"]).unwrap();
                }
                answer(&id, &json!({ "content": [{ "type": "text", "text": "done" }] }));
                std::process::exit(5);
            }
            ("error without id", "tools/call") => {
                let error = json!({ "code": -32700, "message": "that was no JSON" });
                say(&json!({ "jsonrpc": "2.0", "id": null, "error": error }));
            }
            ("nonsense", "tools/call") => {
                println!("thinking…\n{{\"jsonrpc\"\n[1,2]\n");
                answer(&id, &json!({ "content": [{ "type": "text", "text": "done" }] }));
            }
            ("wrong answer", "tools/call") => answer(&id, &json!({ "tools": 1 })),
            ("long line", "tools/call") if calls == 0 => {
                calls += 1;
                answer(&id, &json!({ "content": [{ "type": "text", "text": "x".repeat(17 << 20) }] }))
            }
            ("many values", "tools/call") if calls == 0 => {
                calls += 1;
                answer(&id, &json!({ "content": [], "structuredContent": vec![1; 600_000] }))
            }
            ("given", "tools/call") if calls == 0 => {
                calls += 1;
                println!("{}", std::env::var("ANSWER").unwrap().replace("ID", &id.to_string()));
            }
            ("endless line", "tools/call") => {
                let mut out = std::io::stdout().lock();
                let _ = write!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a":""#);
                let part = "x".repeat(1 << 20);
                while out.write_all(part.as_bytes()).is_ok() {}
            }
            ("deep", "tools/call") if calls == 0 => {
                calls += 1;
                println!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}1{}}}"#, "[".repeat(200), "]".repeat(200))
            }
            ("asks for roots", "tools/call") => {
                waiting = id;
                say(&json!({ "jsonrpc": "2.0", "id": "asked", "method": "roots/list" }));
            }
            ("asks for roots", "") => {
                answer(&waiting, &json!({ "content": [{ "type": "text", "text": message["result"].to_string() }] }));
            }
            (_, "tools/call") => {
                calls += 1;
                let text = json!({ "calls": calls, "meta": message["params"]["_meta"], "arguments": message["params"]["arguments"] });
                answer(&id, &json!({ "content": [{ "type": "text", "text": text.to_string() }] }));
            }
            ("no answer", "notifications/cancelled") => {
                // The signal is the changed list of tools.
                say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
            }
            _ => {}
        }
    }
}
