//! `windlass proxy`, in front of a server that speaks the wire format of the API.

use crate::place::{Place, Ran, call};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use windlass_testkit::wire::{Message, WireServer};

const KEY: &str = "sk-ant-real-key-0123456789";

/// The proxy in front of a server, with the key in its environment and a copy under another name.
fn proxy(place: &Place, server: &WireServer, args: &[&str]) -> Command {
    let mut command = place.command(&[&["proxy"], args].concat());
    command.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", server.url()).env("BACKUP", KEY);
    command
}

fn ran(mut command: Command) -> Ran {
    command.output().unwrap().into()
}

fn kill(signal: &str, id: u32) {
    assert!(Command::new("kill").args([signal, &id.to_string()]).status().unwrap().success());
}

fn is_alive(id: &str) -> bool {
    // Zombies that their new parent has not reaped are not counted.
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// Returns `true` if a process is gone before long. It polls: the end of a process that is not its child is not
/// reported.
fn gone(id: &str) -> bool {
    let since = Instant::now();
    while is_alive(id) && since.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
    }
    !is_alive(id)
}

#[test]
fn a_child_that_has_only_the_nonce_works() {
    let (place, server) = (Place::new(), WireServer::start_on_thread().unwrap());
    server.push(Message::new().text("Hello through the proxy."));
    let windlass = env!("CARGO_BIN_EXE_windlass");
    let script = format!("env; echo ---; exec {windlass} -p hello");
    let ran = ran(proxy(&place, &server, &["--", "sh", "-c", &script])).with_code(0);
    let (env, answer) = ran.stdout.split_once("---\n").unwrap();
    assert_eq!(answer, "Hello through the proxy.\n");
    assert!(!env.contains(KEY), "{env}");
    assert!(env.contains("ANTHROPIC_API_KEY=windlass-nonce-") && env.contains("ANTHROPIC_BASE_URL=http://127.0.0.1:"));
    let request = server.requests().remove(0);
    assert_eq!(request.header("x-api-key"), Some(KEY));
}

#[test]
#[cfg(target_os = "linux")]
fn neither_the_environment_nor_the_arguments_of_any_child_hold_the_key() {
    let (place, server) = (Place::new(), WireServer::start_on_thread().unwrap());
    let mut child =
        proxy(&place, &server, &["--", "sh", "-c", "echo $$; read line"]).stdin(Stdio::piped()).spawn().unwrap();
    let id = first_line(&mut child);
    for file in ["environ", "cmdline"] {
        let text = std::fs::read(format!("/proc/{id}/{file}")).unwrap();
        assert!(!String::from_utf8_lossy(&text).contains(KEY), "{file}");
    }
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn a_host_can_drive_a_child_through_the_proxy() {
    let (place, server) = (Place::new(), WireServer::start_on_thread().unwrap());
    server.push(Message::new().text("hello"));
    let windlass = env!("CARGO_BIN_EXE_windlass");
    let host = ["--", windlass, "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    let prompt = json!({ "type": "user", "message": { "role": "user", "content": "hello" } });
    let child = proxy(&place, &server, &host).stdin(Stdio::piped()).spawn().unwrap();
    let ran = crate::place::finish(child, &format!("{prompt}\n")).with_code(0);
    let result = ran.lines().pop().unwrap();
    assert_eq!((&result["type"], &result["result"]), (&json!("result"), &json!("hello")));
}

#[test]
fn tools_of_the_child_do_not_get_the_nonce_either() {
    let (place, server) = (Place::new(), WireServer::start_on_thread().unwrap());
    let call = call("Bash", &json!({ "command": "env" }))[0]["input"].clone();
    server.push(Message::new().tool_use("toolu_1", "Bash", call).stop_reason("tool_use"));
    server.push(Message::new().text("done"));
    let windlass = env!("CARGO_BIN_EXE_windlass");
    ran(proxy(&place, &server, &["--", windlass, "-p", "x", "--allowedTools", "Bash"])).with_code(0);
    let second = server.requests().remove(1);
    assert!(second.json().unwrap().to_string().contains("PATH="));
    assert!(!String::from_utf8_lossy(&second.body).contains("windlass-nonce-"));
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    let (place, server) = (Place::new(), WireServer::start_on_thread().unwrap());
    for (command, code) in [
        (&["sh", "-c", "exit 0"][..], 0),
        (&["sh", "-c", "exit 42"], 42),
        (&["sh", "-c", "kill -KILL $$"], 137),
        (&["no-such-program"], 127),
        (&["/"], 126),
    ] {
        let args = [&["--"], command].concat();
        let ran = ran(proxy(&place, &server, &args)).with_code(code);
        assert_eq!(ran.stderr.is_empty(), code != 126 && code != 127, "{}", ran.stderr);
    }
}

#[test]
fn signals_reach_the_command() {
    let (place, server) = (Place::new(), WireServer::start_on_thread().unwrap());
    for (signal, code) in [("TERM", 7), ("INT", 7), ("HUP", 7)] {
        let script = format!("trap 'exit 7' {signal}; echo $$; while :; do sleep 0.01; done");
        let mut child = proxy(&place, &server, &["--", "sh", "-c", &script]).spawn().unwrap();
        first_line(&mut child);
        kill(&format!("-{signal}"), child.id());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    }
    let mut child = proxy(&place, &server, &["--", "sh", "-c", "echo $$; exec sleep 60"]).spawn().unwrap();
    first_line(&mut child);
    kill("-TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
#[cfg(target_os = "linux")]
fn the_command_does_not_outlive_a_killed_proxy() {
    let (place, server) = (Place::new(), WireServer::start_on_thread().unwrap());
    let mut child = proxy(&place, &server, &["--", "sh", "-c", "echo $$; exec sleep 60"]).spawn().unwrap();
    let id = first_line(&mut child);
    assert!(is_alive(&id));
    kill("-KILL", child.id());
    child.wait().unwrap();
    assert!(gone(&id));
}

#[test]
fn programs_read_where_the_proxy_is() {
    let (place, server) = (Place::new(), WireServer::start_on_thread().unwrap());
    server.push(Message::new().text("hello"));
    let mut child =
        proxy(&place, &server, &["--format", "json", "--until-stdin-ends"]).stdin(Stdio::piped()).spawn().unwrap();
    let printed: Value = serde_json::from_str(&first_line(&mut child)).unwrap();
    assert_eq!((&printed["pid"], &printed["env"]["ANTHROPIC_API_KEY"]), (&json!(child.id()), &printed["nonce"]));
    assert!(!printed.to_string().contains(KEY));
    let mut command = place.command(&["-p", "x"]);
    for (name, value) in printed["env"].as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    assert_eq!(ran(command).with_code(0).stdout, "hello\n");
    // Trouble is reported, without the credentials of the client that makes it.
    let address = printed["url"].as_str().unwrap().strip_prefix("http://").unwrap();
    let mut stranger = TcpStream::connect(address).unwrap();
    write!(stranger, "GET /v1/models HTTP/1.1\r\nhost: {address}\r\nx-api-key: stolen\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stranger.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    drop(child.stdin.take());
    let ran: Ran = child.wait_with_output().unwrap().into();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "windlass proxy: refused a request without the nonce\n"));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_shell_takes_over_the_variables() {
    let (place, server) = (Place::new(), WireServer::start_on_thread().unwrap());
    server.push(Message::new().text("hello"));
    let windlass = env!("CARGO_BIN_EXE_windlass");
    let script =
        format!("eval \"$({windlass} proxy &)\"; echo $WINDLASS_PROXY_PID; {windlass} -p x; kill $WINDLASS_PROXY_PID");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(place.work()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", place.home()).stdin(Stdio::null());
    command.env("ANTHROPIC_AUTH_TOKEN", KEY).env("ANTHROPIC_BASE_URL", server.url());
    let ran: Ran = command.output().unwrap().into();
    let ran = ran.with_code(0);
    let (id, answer) = ran.stdout.split_once('\n').unwrap();
    assert_eq!(answer, "hello\n", "{ran:?}");
    assert_eq!(server.requests()[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert!(gone(id));
}

#[test]
fn a_proxy_ends_at_the_signal() {
    let (place, server) = (Place::new(), WireServer::start_on_thread().unwrap());
    for (signal, code) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129)] {
        let mut child = proxy(&place, &server, &["--format", "json"]).spawn().unwrap();
        let printed: Value = serde_json::from_str(&first_line(&mut child)).unwrap();
        kill(signal, child.id());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        assert!(TcpStream::connect(printed["url"].as_str().unwrap().strip_prefix("http://").unwrap()).is_err());
    }
}

#[test]
fn what_keeps_a_proxy_from_starting_is_one_line() {
    let place = Place::new();
    let server = WireServer::start_on_thread().unwrap();
    let mut without = place.command(&["proxy", "--", "sh", "-c", "echo ran"]);
    let ran_without: Ran = without.output().unwrap().into();
    assert_eq!((ran_without.code, ran_without.stdout.as_str()), (1, ""));
    assert!(ran_without.stderr.contains("ANTHROPIC_API_KEY"), "{}", ran_without.stderr);
    let mut bad = proxy(&place, &server, &["--", "sh", "-c", "echo ran"]);
    bad.env("ANTHROPIC_BASE_URL", "api.example");
    let mut headers = proxy(&place, &server, &[]);
    headers.env("ANTHROPIC_CUSTOM_HEADERS", "secret-without-colon");
    for (command, says) in [(bad, "base URL"), (headers, "ANTHROPIC_CUSTOM_HEADERS")] {
        let ran = ran(command).with_code(1);
        assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1), "{}", ran.stderr);
        assert!(ran.stderr.contains(says) && !ran.stderr.contains("secret"), "{}", ran.stderr);
    }
    for args in [&["proxy", "ls"][..], &["proxy", "--format", "xml"], &["proxy", "--format", "json", "--", "ls"]] {
        place.run(args).with_code(2);
    }
}
