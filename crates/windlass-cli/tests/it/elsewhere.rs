//! An agent works in a container. The one of these tests is a namespace of this machine in which a folder stands as `/srv`.

use crate::place::{Place, Ran, call, text, write};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Does what `docker exec -i CONTAINER WORDS` does.
const DOCKER: &str = r#"#!/bin/sh
[ "$1" = exec ] && [ "$2" = -i ] || { echo "unknown: $*" >&2; exit 125; }
case $3 in
    deaf) touch "$FAR/called"; exec sleep 618 ;;
    gone) echo "Error response from daemon: No such container: gone" >&2; exit 1 ;;
    bare) start=/ ;;
    *) start=/srv/app ;;
esac
shift 3
script='mount --bind "$0" /srv && cd "$1" && shift && exec env -i HOME=/srv/home PATH=/usr/bin:/bin "$@"'
exec unshare -r -m /bin/sh -c "$script" "$FAR" "$start" "$@"
"#;

/// A place with a container, in which `/srv/app` is a project.
struct Container(Place);

impl Container {
    /// `None` where the system has no namespaces for this.
    fn with_turns(turns: &[Value]) -> Option<Self> {
        let container = Self(Place::with_turns(turns));
        let program = container.0.path("bin/docker");
        write(&program, DOCKER);
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        container.write("app/notes.txt", "far away\n");
        let words = ["-r", "-m", "/bin/sh", "-c", "mount --bind \"$0\" /srv"];
        let tried = Command::new("unshare").args(words).arg(container.far("")).output();
        if !tried.is_ok_and(|tried| tried.status.success()) {
            windlass_testkit::skipped("unshare with mounts");
            return None;
        }
        Some(container)
    }

    /// A path of the container, from outside.
    fn far(&self, name: &str) -> PathBuf {
        self.0.path("far").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.far(name), text);
    }

    fn user_settings(&self, settings: &Value) {
        write(&self.0.home().join(".claude/settings.json"), &settings.to_string());
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.0.command(args);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.0.path("bin").display())).env("FAR", self.far(""));
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// A prompt whose agent works in the container.
    fn prompt(&self, args: &[&str]) -> Ran {
        self.run(
            &[&["-p", "x", "--workspace", "docker:web", "--output-format", "stream-json", "--verbose"], args].concat(),
        )
    }

    fn log(&self) -> String {
        let logs = self.0.logs();
        let [log] = logs.as_slice() else { panic!("{logs:?}") };
        std::fs::read_to_string(log).unwrap()
    }
}

/// The texts of the results that the model reads.
fn results(ran: &Ran) -> Vec<String> {
    let frames = ran.lines();
    let results = frames.iter().filter(|frame| frame["type"] == "user" && frame["message"]["content"].is_array());
    results.map(|frame| frame["message"]["content"].to_string()).collect()
}

fn bash(command: &str) -> Value {
    call("Bash", &json!({ "command": command }))
}

#[test]
fn tools_reach_the_files_there_and_sessions_stay_here() {
    let turns = [
        call("Read", &json!({ "file_path": "/srv/app/notes.txt" })),
        call("Write", &json!({ "file_path": "made.txt", "content": "by an agent\n" })),
        call("Grep", &json!({ "pattern": "agent", "output_mode": "content" })),
        call("Glob", &json!({ "pattern": "*.txt" })),
        bash("pwd && cat made.txt && echo $HOME"),
        text("done"),
    ];
    let Some(container) = Container::with_turns(&turns) else { return };
    container.write("app/CLAUDE.md", "Speak of far things.\n");
    write(&container.0.work().join("CLAUDE.md"), "Speak of near things.\n");
    write(&container.0.home().join(".claude/CLAUDE.md"), "Be brief.\n");
    let ran = container.prompt(&["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]).with_code(0);
    let results = results(&ran);
    let [read, _, grep, glob, bash] = results.as_slice() else { panic!("{results:#?}") };
    assert!(read.contains("far away") && grep.contains("made.txt:1:by an agent"), "{results:#?}");
    assert!(glob.contains("made.txt") && glob.contains("notes.txt"), "{glob}");
    assert!(bash.contains("/srv/app\\nby an agent\\n/srv/home"), "{bash}");
    assert_eq!(std::fs::read_to_string(container.far("app/made.txt")).unwrap(), "by an agent\n");
    assert!(!container.0.work().join("made.txt").exists());
    let log = container.log();
    assert!(
        log.contains("Speak of far things.") && log.contains("Be brief."),
        "instructions are those of there and of the user"
    );
    assert!(!log.contains("Speak of near things."));
    assert!(ran.stderr.contains("/srv/app of the container web"), "{}", ran.stderr);
}

/// Outputs of programs there are files of this machine: they count for the limits of its home.
#[test]
fn outputs_of_programs_there_have_the_limits_of_the_home() {
    let turns = [bash("head -c 200000 /dev/zero | tr '\\0' x"), text("Done.")];
    let Some(container) = Container::with_turns(&turns) else { return };
    container.user_settings(&json!({ "outputLimits": { "maxHomeBytes": 95_000 } }));
    write(&container.0.home().join(".windlass/projects/-other/s/tool-results/a.txt"), &"x".repeat(5_000));
    let ran = container.prompt(&["--allowedTools", "Bash"]).with_code(0);
    let [log] = container.0.logs().try_into().unwrap();
    let results = std::fs::read_dir(log.with_extension("").join("tool-results")).unwrap();
    let sizes: Vec<u64> = results.map(|file| file.unwrap().metadata().unwrap().len()).collect();
    assert_eq!(sizes, [90_000], "{}", ran.stderr);
    assert!(ran.stderr.contains("reached their limit of 95000"), "{}", ran.stderr);
}

#[test]
fn a_session_is_continued_there_and_nowhere_else() {
    let edit = call("Write", &json!({ "file_path": "notes.txt", "content": "changed\n" }));
    let read = call("Read", &json!({ "file_path": "notes.txt" }));
    let Some(container) = Container::with_turns(&[read, edit, text("done")]) else { return };
    container.prompt(&["--permission-mode", "acceptEdits"]).with_code(0);
    assert_eq!(std::fs::read_to_string(container.far("app/notes.txt")).unwrap(), "changed\n");
    let log = container.0.logs().pop().unwrap();
    let id = log.file_stem().unwrap().to_str().unwrap().to_owned();

    container.0.script(&[text("And on.")]);
    let ran = container.run(&["-p", "more", "--continue"]).with_code(1);
    assert!(ran.stderr.contains("no session") || ran.stderr.contains("sessions list"), "{}", ran.stderr);
    let ran = container.run(&["-p", "more", "--resume", &id]).with_code(1);
    assert!(ran.stdout.is_empty() && ran.stderr.contains("give the --workspace that it had"), "{ran:?}");
    let ran = container.run(&["-p", "more", "--continue", "--workspace", "docker:web:/srv/app"]).with_code(0);
    assert_eq!(ran.stdout, "And on.\n");
    assert_eq!(container.0.logs().len(), 1, "it is the same session");

    let points = container.run(&["sessions", "rewind", &id]).with_code(0).lines();
    let prompt = points[0]["prompt_id"].as_str().or(points[0]["id"].as_str()).unwrap_or_default().to_owned();
    let ran = container.run(&["sessions", "rewind", &id, &prompt]).with_code(2);
    assert!(ran.stderr.contains("--what conversation"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(container.far("app/notes.txt")).unwrap(), "changed\n");
}

#[test]
fn a_project_there_forbids_and_widens_nothing() {
    let settings = json!({
        "permissions": {
            "allow": ["Bash", "Write"], "deny": ["Read(secret.txt)"], "defaultMode": "bypassPermissions",
            "additionalDirectories": ["/"],
        },
        "env": { "LEAK": "1" },
        "model": "other-model",
        "apiKeyHelper": "touch /srv/app/helped",
        "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "touch /srv/app/hooked" }] }] },
        "enableAllProjectMcpServers": true,
    });
    let turns = [
        call("Read", &json!({ "file_path": "secret.txt" })),
        bash("touch /srv/app/ran"),
        call("Write", &json!({ "file_path": "/srv/app/new.txt", "content": "x" })),
        call("Write", &json!({ "file_path": "/srv/app/.claude/settings.json", "content": "{}" })),
        text("done"),
    ];
    let Some(container) = Container::with_turns(&turns) else { return };
    container.write("app/secret.txt", "the-far-secret\n");
    container.write("app/.claude/settings.json", &settings.to_string());
    container.write("app/.claude/settings.local.json", &settings.to_string());
    container.write(
        "app/.mcp.json",
        &json!({ "mcpServers": { "x": { "command": "touch", "args": ["/srv/app/served"] } } }).to_string(),
    );
    container.write("app/.claude/agents/a.md", "---\nname: a\ndescription: d\n---\nDo.\n");
    // No flag and no answer makes it trusted.
    for args in [&[][..], &["--setting-sources", "user,project,local"]] {
        let ran = container.prompt(args).with_code(0);
        assert!(!ran.stdout.contains("the-far-secret"), "{}", ran.stdout);
        assert!(ran.stderr.contains("allow rules do not count"), "{}", ran.stderr);
        for name in ["ran", "new.txt", "helped", "hooked", "served"] {
            assert!(!container.far("app").join(name).exists(), "{name} is there");
        }
        assert!(container.far("app/.claude/settings.json").metadata().unwrap().len() > 10);
        assert!(!ran.stdout.contains("other-model"), "{}", ran.stdout);
    }
    let ran = container.prompt(&["--trust"]).with_code(2);
    assert!(ran.stderr.contains("trust"), "{}", ran.stderr);

    container.write("app/.claude/settings.json", "{ not json");
    let ran = container.prompt(&[]).with_code(2);
    assert!(ran.stderr.contains("/srv/app/.claude/settings.json"), "{}", ran.stderr);
    container.prompt(&["--setting-sources", "user,local"]).with_code(0);
}

#[test]
fn the_settings_here_are_those_of_the_user_and_not_of_the_directory() {
    let turns =
        [call("Read", &json!({ "file_path": "secret.txt" })), bash("touch made"), bash("printenv MINE"), text("done")];
    let Some(container) = Container::with_turns(&turns) else { return };
    container.write("app/secret.txt", "the-far-secret\n");
    let local = json!({ "permissions": { "deny": ["Bash"] } });
    write(&container.0.work().join(".claude/settings.json"), &local.to_string());
    container.user_settings(&json!({
        "permissions": { "deny": ["Read(secret.txt)"], "allow": ["Bash(touch *)", "Bash(printenv *)"], "additionalDirectories": ["/tmp"] },
        "env": { "MINE": "of-here" },
        "sandbox": { "enabled": true },
        "hooks": { "PostToolUse": [{ "hooks": [{ "type": "command", "command": "touch /tmp/windlass-hooked-elsewhere" }] }] },
    }));
    let ran = container.prompt(&[]).with_code(0);
    assert!(!ran.stdout.contains("the-far-secret") && !results(&ran).concat().contains("of-here"), "{}", ran.stdout);
    assert!(container.far("app/made").exists(), "{}", ran.stdout);
    for said in ["hooks that run commands", "the sandbox", "`env`", "`additionalDirectories`"] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    assert!(!PathBuf::from("/tmp/windlass-hooked-elsewhere").exists());
}

#[test]
fn what_keeps_something_from_happening_here_is_not_left_out_there() {
    let Some(container) = Container::with_turns(&[text("done")]) else { return };
    let hooks = json!({ "PreToolUse": [{ "hooks": [{ "type": "command", "command": "./guard.sh" }] }] });
    container.user_settings(&json!({ "hooks": hooks }));
    let ran = container.prompt(&[]).with_code(2);
    assert!(ran.stderr.contains("./guard.sh") && ran.stderr.contains("disableAllHooks"), "{}", ran.stderr);
    container.prompt(&["--settings", r#"{"disableAllHooks":true}"#]).with_code(0);

    container.user_settings(&json!({ "sandbox": { "enabled": true, "failIfUnavailable": true } }));
    let ran = container.prompt(&[]).with_code(2);
    assert!(ran.stderr.contains("requires a sandbox"), "{}", ran.stderr);

    container.user_settings(&json!({}));
    let server = r#"{"mcpServers":{"local":{"command":"touch"}}}"#;
    let ran = container.prompt(&["--mcp-config", server]).with_code(2);
    assert!(ran.stderr.contains("\"local\" is a program of this machine"), "{}", ran.stderr);
    let plugin = container.0.path("plugin");
    write(&plugin.join(".claude-plugin/plugin.json"), r#"{"name":"p"}"#);
    let ran = container.prompt(&["--plugin-dir", plugin.to_str().unwrap()]).with_code(2);
    assert!(ran.stderr.contains("plugins"), "{}", ran.stderr);
}

#[test]
fn what_cannot_be_reached_is_a_usage_error_of_one_line() {
    let Some(container) = Container::with_turns(&[text("done")]) else { return };
    container.write("app/file", "");
    for (place, said) in [
        ("docker:", "no container"),
        ("docker:gone", "No such container"),
        ("docker:gone", "docker ps"),
        ("docker:-x", "not the name"),
        ("docker:--privileged", "not the name"),
        ("docker:a b", "not the name"),
        ("docker:a\nb", "not the name"),
        ("docker:web:relative", "not absolute"),
        ("docker:web:/srv/nope", "/srv/nope"),
        ("docker:web:/srv/app/file", "not a directory"),
        ("docker:bare", "begin in /"),
        ("podman:web", "docker:NAME"),
        ("/srv/app", "docker:NAME"),
        ("ssh:-oProxyCommand=touch${IFS}x", "not the name"),
    ] {
        let ran = container.run(&["-p", "x", "--workspace", place]).with_code(2);
        assert!(ran.stderr.contains(said) && ran.stderr.lines().count() == 1, "{place:?}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    }
    assert!(container.0.logs().is_empty());
    let flags = ["--input-format", "stream-json", "--output-format", "stream-json", "--workspace", "docker:web"];
    let ran = container.run(&flags).with_code(2);
    assert!(ran.stderr.contains("--workspace does not go with"), "{}", ran.stderr);
}

#[test]
fn odd_names_of_directories_are_names() {
    for name in ["a b", "it's \"$(touch /srv/ran)\"", "-rf", "two\nlines", "`id`;&|*?[x]\\", "colon:here", "äö"] {
        let turns = [
            bash("cat here.txt; echo new > made.txt"),
            call("Read", &json!({ "file_path": "here.txt" })),
            text("done"),
        ];
        let Some(container) = Container::with_turns(&turns) else { return };
        container.write(&format!("app/{name}/here.txt"), "it is here\n");
        let place = format!("docker:web:/srv/app/{name}");
        let args = ["-p", "x", "--workspace", &place, "--allowedTools", "Bash", "--output-format", "stream-json"];
        let ran = container.run(&args).with_code(0);
        assert_eq!(results(&ran).iter().filter(|result| result.contains("it is here")).count(), 2, "{name:?}: {ran:?}");
        assert!(container.far("app").join(name).join("made.txt").exists(), "{name:?}");
        assert!(!container.far("ran").exists());
    }
}

#[test]
fn an_interrupt_leaves_no_program_there() {
    let Some(container) = Container::with_turns(&[bash("sleep 617 & sleep 617"), text("done")]) else { return };
    for signal in ["-INT", "-TERM", "-KILL"] {
        let args = ["-p", "x", "--workspace", "docker:web", "--allowedTools", "Bash", "--output-format", "stream-json"];
        let mut child = container.command(&args).spawn().unwrap();
        let mut frames = BufReader::new(child.stdout.take().unwrap()).lines();
        while !frames.next().unwrap().unwrap().contains("\"tool_use\"") {}
        soon("it works there", || runs(&container) && sleeps());
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        frames.for_each(drop);
        child.wait().unwrap();
        soon(&format!("nothing is left after {signal}"), || !runs(&container) && !sleeps());
    }
}

#[test]
fn an_interrupt_while_it_connects_leaves_no_program() {
    let Some(container) = Container::with_turns(&[text("done")]) else { return };
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let _ = std::fs::remove_file(container.far("called"));
        let mut child = container.command(&["-p", "x", "--workspace", "docker:deaf"]).spawn().unwrap();
        soon("it connects", || container.far("called").exists());
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        soon(&format!("nothing is left after {signal}"), || !runs(&container));
    }
}

/// Waits until something is so, and fails if it does not come to be.
#[track_caller]
fn soon(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}: it is not so");
        std::thread::yield_now();
    }
}

/// Returns the file of this name of each process.
fn of_processes(name: &str) -> impl Iterator<Item = Vec<u8>> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    all.filter_map(move |process| std::fs::read(process.path().join(name)).ok())
}

/// Returns `true` if a program runs that connects to a container.
fn runs(container: &Container) -> bool {
    let variable = format!("FAR={}", container.far("").display());
    of_processes("environ").any(|all| all.split(|byte| *byte == 0).any(|one| one == variable.as_bytes()))
}

/// Returns `true` if a program of the test above runs in a container.
fn sleeps() -> bool {
    of_processes("cmdline").any(|line| line == b"sleep\x00617\0")
}

#[test]
fn single_calls_are_made_there() {
    let Some(container) = Container::with_turns(&[]) else { return };
    container.write("app/.claude/settings.json", r#"{"permissions":{"deny":["Read(notes.txt)"]}}"#);
    let read = ["tools", "call", "Read", r#"{"file_path":"notes.txt"}"#, "--workspace", "docker:web:/srv/app"];
    let ran = container.run(&read).with_code(0);
    assert!(ran.stdout.contains("far away"), "{}", ran.stdout);
    let ran = container.run(&[&read[..], &["--setting-sources", "project"]].concat()).with_code(1);
    assert!(!ran.stdout.contains("far away"), "rules of there hold where settings are asked for: {}", ran.stdout);
    let ran = container.run(&[&read[..], &["--cwd", "/tmp"]].concat()).with_code(2);
    assert!(ran.stderr.contains("--cwd"), "{}", ran.stderr);
    let ran = container.run(&["tools", "call", "Read", "{}", "--workspace", "docker:gone"]).with_code(2);
    assert!(ran.stderr.contains("No such container"), "{}", ran.stderr);
}
