//! `windlass login` and `logout`: stored keys, and their place behind the environment and settings.

use crate::place::{Place, Ran, write};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A server that refuses every key, its address, and the keys that it was sent.
fn refusing_server() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sent, keys) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut key = String::new();
            for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                let line = line.unwrap();
                if line.is_empty() {
                    break;
                }
                if let Some((_, value)) =
                    line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("x-api-key"))
                {
                    key = value.to_owned();
                }
            }
            let _ = sent.send(key);
            let body = json!({"type": "error", "error": {"type": "authentication_error", "message": "no"}}).to_string();
            let head =
                format!("HTTP/1.1 401 x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n", body.len());
            let _ = stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes());
        }
    });
    (address, keys)
}

/// Runs a prompt against a server, and returns the key that it was sent.
fn sent_key(place: &Place, variables: &[(&str, &str)]) -> String {
    let (address, keys) = refusing_server();
    let mut command = place.command(&["-p", "x"]);
    let ran = Ran::from(command.env("ANTHROPIC_BASE_URL", address).envs(variables.iter().copied()).output().unwrap());
    assert!(ran.stderr.contains("did not accept the key"), "{ran:#?}");
    assert!(!ran.stderr.contains("sk-") && !ran.stdout.contains("sk-"), "{ran:#?}");
    keys.recv_timeout(Duration::from_secs(5)).unwrap()
}

#[test]
fn a_stored_key_is_used_behind_the_environment_and_settings() {
    let place = Place::new();
    let ran = place.run_with(&["login"], "sk-stored\n").with_code(0);
    let file = place.home().join(".windlass/credentials");
    assert_eq!(ran.stdout, format!("the key of anthropic is stored in {}\n", file.display()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(sent_key(&place, &[]), "sk-stored");
    // Also where an SDK chose another home for sessions.
    assert_eq!(sent_key(&place, &[("CLAUDE_CODE_ENTRYPOINT", "sdk-py")]), "sk-stored");
    assert_eq!(sent_key(&place, &[("ANTHROPIC_API_KEY", "sk-env")]), "sk-env");
    assert_eq!(sent_key(&place, &[("ANTHROPIC_AUTH_TOKEN", "token")]), "");
    let settings = json!({"env": {"ANTHROPIC_API_KEY": "sk-settings"}});
    write(&place.home().join(".windlass/settings.json"), &settings.to_string());
    assert_eq!(sent_key(&place, &[]), "sk-settings");
}

#[cfg(unix)]
#[test]
fn a_program_of_settings_that_prints_the_key_counts_before_the_stored_one() {
    let place = Place::new();
    place.run_with(&["login", "anthropic"], "sk-stored").with_code(0);
    let settings = json!({"apiKeyHelper": "echo sk-helper"});
    write(&place.home().join(".windlass/settings.json"), &settings.to_string());
    assert_eq!(sent_key(&place, &[]), "");
}

#[test]
fn keys_are_named_and_never_shown() {
    let place = Place::new();
    place.run_with(&["login", "openai"], "sk-1").with_code(0);
    place.run_with(&["login", "gemini"], "  key-2  \n").with_code(0);
    let listed = place.run(&["login", "--list"]).with_code(0);
    assert_eq!(listed.stdout, "gemini\nopenai\n");
    let listed: Value = serde_json::from_str(&place.run(&["login", "--list", "--json"]).with_code(0).stdout).unwrap();
    assert_eq!(listed["vendors"], json!(["gemini", "openai"]));
    let ran = place.run(&["logout"]).with_code(2);
    assert!(ran.stderr.contains("several vendors") && !ran.stderr.contains("sk-1"), "{ran:#?}");
    place.run(&["logout", "gemini"]).with_code(0);
    place.run(&["logout"]).with_code(0);
    assert!(!place.home().join(".windlass/credentials").exists());
    place.run(&["logout", "openai"]).with_code(1);
    place.run(&["logout"]).with_code(2);
}

#[test]
fn what_is_no_key_or_vendor_changes_nothing() {
    let place = Place::new();
    for (args, typed, code, says) in [
        (&["login"][..], "", 2, "standard input has no key"),
        (&["login"], "two words", 1, "this is no key"),
        (&["login", "opnai"], "sk-1", 2, "no vendor is named \"opnai\""),
        (&["logout", "opnai"], "", 2, "no vendor is named \"opnai\""),
    ] {
        let ran = place.run_with(args, typed).with_code(code);
        assert!(ran.stderr.contains(says) && ran.stderr.lines().count() == 1, "{ran:#?}");
    }
    assert!(!place.home().join(".windlass").exists());
    let mut command = place.command(&["-p", "x"]);
    let ran = Ran::from(command.output().unwrap()).with_code(1);
    assert!(ran.stderr.contains("windlass login"), "{ran:#?}");
}

#[test]
fn a_variable_that_counts_before_the_stored_key_is_named() {
    let place = Place::new();
    let mut command = place.command(&["login"]);
    let command = command.env("ANTHROPIC_AUTH_TOKEN", "token").stdin(std::process::Stdio::piped());
    let ran = crate::place::finish(command.spawn().unwrap(), "sk-1").with_code(0);
    assert!(ran.stderr.contains("ANTHROPIC_AUTH_TOKEN is set in the environment"), "{ran:#?}");
}

/// A key that is typed is not echoed, and the terminal is as it was afterwards.
#[cfg(unix)]
#[test]
fn a_typed_key_is_not_shown() {
    use crate::terminal::emulator::Emulator;
    let place = Place::new();
    let mut terminal = Emulator::start(&place, &["login", "openai"]);
    let before = terminal.modes();
    terminal.wait_for("Key of openai");
    terminal.send(b"sk-typed\r");
    terminal.wait_for("the key of openai is stored");
    assert!(!terminal.raw_text().contains("sk-typed"));
    assert_eq!((terminal.wait(), terminal.modes()), (0, before));
    let stored = std::fs::read_to_string(place.home().join(".windlass/credentials")).unwrap();
    assert_eq!(stored, "openai=sk-typed\n");
}
