//! Setup of the command: completions, manual pages, misspelt commands, what stays when it is removed.

use crate::place::{Place, text, write};
use serde_json::Value;
use std::process::{Command, Stdio};

#[test]
fn a_word_close_to_a_command_is_no_prompt() {
    let place = Place::with_turns(&[text("ok")]);
    for (args, meant) in [
        (&["modles"][..], "`windlass models`"),
        (&["sesions", "list"], "`windlass sessions`"),
        (&["logn", "openai"], "`windlass login`"),
        (&["help"], "`windlass --help`"),
    ] {
        let ran = place.run(args).with_code(2);
        assert!(ran.stderr.contains(meant) && ran.stderr.contains("windlass -- ") && ran.stdout.is_empty(), "{ran:#?}");
    }
    assert_eq!(place.run(&["-p", "modles"]).with_code(0).stdout, "ok\n");
    assert!(place.logs().len() == 1);
}

/// A shell that is here reads the completions without an error, and knows a command and a flag.
#[test]
fn shells_complete_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&["completions", shell]).with_code(0).stdout;
        for word in ["login", "sessions", "output-format", "acceptEdits"] {
            let is_value = word == "acceptEdits";
            assert!(is_value || script.contains(word), "{shell}: {word}");
        }
        let mut command = Command::new(shell);
        let read = command.arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        // Not each machine has each shell.
        let Ok(child) = read else { continue };
        let ran = crate::place::finish(child, &script);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
    }
    place.run(&["completions", "tcsh"]).with_code(2);
}

#[test]
#[cfg(unix)]
fn bash_completes_a_command_by_its_beginning() {
    let place = Place::new();
    let mut script = place.run(&["completions", "bash"]).with_code(0).stdout;
    script.push_str(
        "\nCOMP_WORDS=(windlass sess); COMP_CWORD=1; _windlass windlass sess windlass; echo \"${COMPREPLY[@]}\"\n",
    );
    let child =
        Command::new("bash").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ran = crate::place::finish(child, &script).with_code(0);
    assert_eq!(ran.stdout, "sessions\n", "{ran:#?}");
}

#[test]
fn manual_pages_have_each_command() {
    let place = Place::new();
    let page = place.run(&["man"]).with_code(0).stdout;
    assert!(page.contains(".TH windlass 1") && page.contains("login"), "{page}");
    let folder = place.path("man");
    place.run(&["man", folder.to_str().unwrap()]).with_code(0);
    for name in ["windlass.1", "windlass-login.1", "windlass-sessions-gc.1", "windlass-mcp-import.1"] {
        assert!(std::fs::read_to_string(folder.join(name)).unwrap().contains(".SH SYNOPSIS"), "{name}");
    }
    let taken = place.path("file");
    write(&taken, "");
    place.run(&["man", taken.to_str().unwrap()]).with_code(1);
}

#[test]
fn uninstall_names_what_stays_and_removes_nothing() {
    let place = Place::with_turns(&[text("ok")]);
    place.run(&["-p", "x"]).with_code(0);
    write(&place.work().join(".windlass/settings.json"), "{}");
    let ran = place.run(&["uninstall"]).with_code(0);
    let home = place.home().join(".windlass");
    for part in ["Nothing is removed", "the program", &format!("rm -r {}", home.display()), "of this project"] {
        assert!(ran.stdout.contains(part), "{part}: {ran:#?}");
    }
    let listed: Value = serde_json::from_str(&place.run(&["uninstall", "--json"]).with_code(0).stdout).unwrap();
    assert_eq!((listed["removed"].as_bool(), listed["places"].as_array().unwrap().len()), (Some(false), 3));
    assert!(listed["places"][1]["bytes"].as_u64().unwrap() > 0);
    assert_eq!(place.logs().len(), 1);
}

/// The checks of `windlass doctor`, by name and state.
fn doctor(place: &Place, args: &[&str], code: i32) -> (Vec<(String, String)>, Value) {
    let ran = place.run(&[&["doctor", "--json"][..], args].concat()).with_code(code);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = report["checks"].as_array().unwrap().iter().map(|check| (text(&check["name"]), text(&check["state"])));
    (checks.collect(), report)
}

fn has(checks: &[(String, String)], name: &str, state: &str) -> bool {
    checks.iter().any(|(known, is)| known == name && is == state)
}

#[test]
fn doctor_says_what_is_broken_and_writes_nothing() {
    let place = Place::new();
    let (checks, report) = doctor(&place, &["--offline"], 1);
    assert!(has(&checks, "model", "broken") && report["broken"] == true, "{report:#}");
    assert!(report.to_string().contains("windlass login anthropic"), "{report:#}");
    assert!(!place.home().join(".windlass").exists() && std::fs::read_dir(place.work()).unwrap().next().is_none());

    place.run_with(&["login"], "sk-doctor").with_code(0);
    let (checks, report) = doctor(&place, &["--offline"], 0);
    for name in ["program", "model", "home", "keys", "settings", "servers", "network"] {
        assert!(has(&checks, name, "ok"), "{name}: {report:#}");
    }
    assert!(checks.iter().any(|(name, _)| name == "sandbox") && checks.iter().any(|(name, _)| name == "git"));
    let ran = place.run(&["doctor", "--offline"]).with_code(0);
    assert!(ran.stdout.ends_with("Nothing is broken.\n") && !ran.stdout.contains("sk-doctor"), "{ran:#?}");
}

#[test]
fn doctor_names_mistakes_of_settings_and_starts_no_server() {
    let place = Place::new();
    place.run_with(&["login"], "sk-1").with_code(0);
    let mark = place.path("started");
    let server = serde_json::json!({"mcpServers": {"mine": {"command": "touch", "args": [mark]}}});
    write(&place.work().join(".mcp.json"), &server.to_string());
    write(
        &place.home().join(".windlass/settings.json"),
        r#"{"modle": "opus", "apiKeyHelper": "touch helped; echo x"}"#,
    );
    let (checks, report) = doctor(&place, &["--offline"], 0);
    assert!(has(&checks, "settings", "notice") && has(&checks, "servers", "notice"), "{report:#}");
    assert!(report.to_string().contains("modle") && report.to_string().contains("mine is not started"), "{report:#}");
    assert!(!mark.exists() && !place.work().join("helped").exists());
    write(&place.home().join(".windlass/settings.json"), "{");
    let (checks, report) = doctor(&place, &["--offline"], 1);
    assert!(has(&checks, "settings", "broken"), "{report:#}");
}

/// The provider is asked without a key, and within a time limit.
#[test]
fn doctor_tries_the_way_to_the_provider() {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let count = stream.read(&mut head).unwrap();
        stream.write_all(b"HTTP/1.1 404 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        String::from_utf8_lossy(&head[..count]).into_owned()
    });
    let place = Place::new();
    place.run_with(&["login"], "sk-1").with_code(0);
    let run = |code: i32| {
        let mut command = place.command(&["doctor"]);
        crate::place::Ran::from(command.env("ANTHROPIC_BASE_URL", &address).output().unwrap()).with_code(code).stdout
    };
    assert!(run(0).contains("answers"), "the server answered");
    assert!(!asked.join().unwrap().contains("sk-1"));
    assert!(run(1).contains("cannot be reached"), "the server is gone");
}

#[cfg(unix)]
#[test]
fn doctor_sees_what_others_can_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.run_with(&["login"], "sk-1").with_code(0);
    let file = place.home().join(".windlass/credentials");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (checks, report) = doctor(&place, &["--offline"], 1);
    assert!(has(&checks, "keys", "broken"), "{report:#}");
}

/// A home that a later version has written is left as it is, by prompts, hosts and commands alike.
#[test]
fn a_later_home_is_named_and_left_alone() {
    let place = Place::with_turns(&[text("ok")]);
    let home = place.home().join(".windlass");
    write(&home.join("windlass-format"), "2\n");
    for args in [
        &["-p", "x"][..],
        &["sessions", "list"],
        &["sessions", "gc"],
        &["login"],
        &["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
    ] {
        let ran = place.run_with(args, "sk-1").with_code(1);
        assert!(
            ran.stderr.contains("has format 2, and this version knows 1: nothing was changed"),
            "{args:?} {ran:#?}"
        );
    }
    let names: Vec<_> = std::fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["windlass-format"]);
    place.run(&["--version"]).with_code(0);
    place.run(&["uninstall"]).with_code(0);
    doctor(&place, &["--offline"], 1);
}

#[test]
fn init_writes_what_the_index_knows_and_overwrites_nothing() {
    let place = Place::new();
    write(&place.work().join("Cargo.toml"), "[package]\nname = \"house\"\nversion = \"0.1.0\"\n");
    write(&place.work().join("src/main.rs"), "fn main() {}\n");
    let file = place.work().join("AGENTS.md");
    let shown = place.run(&["init"]).with_code(1);
    assert!(shown.stdout.contains("# house") && shown.stderr.contains("--yes") && !file.exists(), "{shown:#?}");
    let ran = place.run(&["init", "--yes"]).with_code(0);
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(ran.stdout, format!("{written}\n"));
    for part in ["- Test: `cargo test`", "`src/main.rs`", "Rust (", "## Rules"] {
        assert!(written.contains(part), "{part}: {written}");
    }
    let ran = place.run(&["init", "--yes", "--name", "CLAUDE.md"]).with_code(2);
    assert!(ran.stderr.contains("there is AGENTS.md here already"), "{ran:#?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
}

/// The first start without a key is one screen that says what to do, and a prompt one line.
#[cfg(unix)]
#[test]
fn the_first_start_says_what_is_missing() {
    use crate::terminal::emulator::Emulator;
    let place = Place::new();
    let mut terminal = Emulator::start_with(&place, &[], &[("TERM", "xterm-256color"), ("WINDLASS_SCRIPT", "")]);
    terminal.wait_for("windlass needs a model before it starts");
    terminal.wait_for("windlass doctor");
    let screen = terminal.screen();
    for part in ["windlass login", "ANTHROPIC_API_KEY", "windlass demo", "asks before it changes a file"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert_eq!(terminal.wait(), 1);
    let ran = place.run(&["-p", "x"]).with_code(1);
    assert!(ran.stderr.lines().count() == 1 && ran.stderr.contains("windlass login"), "{ran:#?}");
}

/// Settings of the user say how long sessions are kept; those of a project do not.
#[test]
fn sessions_are_kept_as_long_as_the_user_says() {
    let place = Place::with_turns(&[text("ok"), text("ok"), text("ok"), text("ok"), text("ok")]);
    place.run(&["-p", "old"]).with_code(0);
    let old = place.logs().remove(0);
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 86_400);
    let age = || std::fs::File::options().append(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    age();
    // Nothing is deleted by default, nor for a project.
    write(&place.work().join(".windlass/settings.json"), r#"{"cleanupPeriodDays": 1}"#);
    let ran = place.run(&["-p", "x", "--trust", "--verbose"]).with_code(0);
    assert!(ran.stderr.contains("`cleanupPeriodDays` does not count in a file of a project"), "{ran:#?}");
    assert!(old.exists() && place.logs().len() == 2);

    write(&place.home().join(".windlass/settings.json"), r#"{"cleanupPeriodDays": 30}"#);
    let last = place.run(&["sessions", "gc", "--dry-run"]).with_code(0).lines().pop().unwrap();
    assert!(last["deleted_sessions"] == 1 && old.exists(), "{last}");
    let ran = place.run(&["-p", "y"]).with_code(0);
    assert!(ran.stderr.contains("1 sessions beyond cleanupPeriodDays") && !old.exists(), "{ran:#?}");
    assert_eq!(place.logs().len(), 2);

    write(&place.home().join(".windlass/settings.json"), r#"{"cleanupMaxBytes": 1}"#);
    // Once a day by itself, at once by the command.
    assert_eq!(place.run(&["-p", "z"]).with_code(0).stderr.lines().filter(|line| line.contains("deleted")).count(), 0);
    let last = place.run(&["sessions", "gc"]).with_code(0).lines().pop().unwrap();
    assert_eq!((last["deleted_sessions"].as_u64(), place.logs().len()), (Some(3), 0));
}
