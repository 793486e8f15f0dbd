//! `windlass worker` on a real PostgreSQL that the suite starts.

#[path = "../../../windlass-postgres/tests/it/server.rs"]
#[allow(dead_code, reason = "the tests of the store use the rest")]
mod server;

use crate::living::{ended, eventually, signal};
use crate::place::{Place, Ran, call, text};
use serde_json::{Value, json};
use server::{Database, Server, TENANT};

const CONFIGURATION: &str = "lease_seconds = 2\ngrace_seconds = 1\n\
    [profiles.fix]\nallow = [\"Bash(echo *)\"]\nmax_turns = 9\n[workspaces.shop]\npath = \"work\"\n";

/// A place with a configuration.
fn configured(configuration: &str) -> Place {
    let place = Place::new();
    std::fs::write(place.path("worker.toml"), format!("tenant = \"{TENANT}\"\n{configuration}")).unwrap();
    place
}

/// A machine with workers of a database.
struct Machine<'a> {
    place: Place,
    database: &'a Database<'a>,
}

impl Machine<'_> {
    fn command(&self, role: &str, args: &[&str]) -> std::process::Command {
        let mut words = vec!["worker"];
        words.extend(args);
        let mut command = self.place.command(&words);
        let file = self.place.path("worker.toml");
        command.arg("--config").arg(file);
        command.env("WINDLASS_DATABASE_URL", self.database.server.address(role, &self.database.name));
        command
    }

    fn run(&self, role: &str, args: &[&str]) -> Ran {
        self.command(role, args).output().unwrap().into()
    }

    /// Sends a prompt to a new session, and returns its id.
    fn send(&self, prompt: &str) -> String {
        let args = ["send", "--profile", "fix", "--workspace", "shop", prompt];
        self.run("service", &args).with_code(0).stdout.trim().to_owned()
    }

    fn status(&self, session: &str) -> Value {
        self.run("service", &["status", session, "--json"]).with_code(0).lines().remove(0)
    }

    fn effects(&self) -> String {
        std::fs::read_to_string(self.place.work().join("ran.txt")).unwrap_or_default()
    }
}

fn bash(command: &str) -> Value {
    call("Bash", &json!({ "command": command }))
}

#[test]
fn a_wrong_configuration_is_refused_with_its_place_and_the_remedy() {
    for (configuration, problem) in [
        ("x = 1", "unknown field"),
        ("lease_seconds = 0", "`lease_seconds` is too short"),
        ("[workspaces.w]\npath = \"work\"", "no `[profiles.NAME]`"),
        ("[profiles.p]", "no `[workspaces.NAME]`"),
        ("[profiles.p]\n[workspaces.w]\npath = \"absent\"", "workspace w: "),
        ("[profiles.p]\npermission_mode = \"bypassPermissions\"\n[workspaces.w]\npath = \"work\"", "nobody watches"),
        ("[profiles.p]\nallow = [\"Bash(\"]\n[workspaces.w]\npath = \"work\"", "profile p: "),
        ("[profiles.p]\nmcp = \"evil\"\n[workspaces.w]\npath = \"work\"", "unknown field"),
        ("[profiles.p]\n[workspaces.w]\npath = \"work\"", "set WINDLASS_DATABASE_URL"),
    ] {
        let place = configured(configuration);
        place.script(&[text("Done.")]);
        for command in [["worker", "check"].as_slice(), &["worker", "--once"]] {
            let mut ran = place.command(command);
            let ran: Ran = ran.arg("--config").arg(place.path("worker.toml")).output().unwrap().into();
            let ran = ran.with_code(2);
            assert!(ran.stderr.contains("worker.toml") && ran.stderr.contains(problem), "{configuration}: {ran:?}");
        }
    }
    let absent = Place::new().run(&["worker"]).with_code(2);
    assert!(absent.stderr.contains("cannot be read") && absent.stderr.contains("--config"), "{absent:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_sent_run_and_shown_by_commands() {
    let Some(server) = Server::start() else { return };
    let database = server.database().await;
    let configuration = CONFIGURATION.replace("Bash(echo *)", "Bash");
    let machine = Machine { place: configured(&configuration), database: &database };
    machine.place.script(&[bash("echo ran >> ran.txt"), text("All is done.")]);
    machine.run("admin", &["migrate", "--role", "worker", "--role", "service"]).with_code(0);
    let checked = machine.run("worker", &["check"]).with_code(0);
    assert!(checked.stdout.contains("profile fix in workspace shop") && checked.stdout.contains("leases of 2 s"));

    let session = machine.send("do it");
    assert_eq!(machine.status(&session)["state"], "ready");
    let worked = machine.run("worker", &["--once"]).with_code(0);
    assert!(worked.stderr.contains("sessions: 1 claimed, 1 settled"), "{worked:?}");
    let status = machine.status(&session);
    assert_eq!((&status["state"], &status["answer"]), (&json!("idle"), &json!("All is done.")));
    assert_eq!(machine.effects(), "ran\n");
    // The same message again is not read again.
    let again = ["send", "--workspace", "shop", "--session", &session, "--key", "k", "and more"];
    machine.run("service", &again).with_code(0);
    let repeated = machine.run("service", &again).with_code(0);
    assert!(repeated.stderr.contains("stored before"), "{repeated:?}");
    assert_eq!(machine.status(&session)["messages"], 1);
    let absent = machine.run("service", &["status", "00000000-0000-4000-8000-000000000000"]).with_code(1);
    assert!(absent.stderr.contains("there is no session"), "{absent:?}");
    // A role of another tenant is refused.
    std::fs::write(machine.place.path("worker.toml"), format!("tenant = \"other\"\n{CONFIGURATION}")).unwrap();
    let other = machine.run("worker", &["check"]).with_code(1);
    assert!(other.stderr.contains("does not belong to tenant other"), "{other:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_answered_by_a_command_and_another_worker_continues() {
    let Some(server) = Server::start() else { return };
    let database = server.database().await;
    let machine = Machine { place: configured(CONFIGURATION), database: &database };
    machine.place.script(&[bash("touch ran.txt; echo asked >> ran.txt"), text("Written.")]);
    let session = machine.send("do it");
    machine.run("worker", &["--once"]).with_code(0);
    let status = machine.status(&session);
    assert_eq!((&status["state"], machine.effects().as_str()), (&json!("waits"), ""));
    let question = status["questions"][0]["id"].as_str().unwrap();
    machine.run("service", &["answer", &session, question, "allow"]).with_code(0);
    let twice = machine.run("service", &["answer", &session, question, "deny"]).with_code(1);
    assert!(twice.stderr.contains("answered already"), "{twice:?}");
    machine.place.script(&[text("Written.")]);
    machine.run("worker", &["--once"]).with_code(0);
    assert_eq!((machine.status(&session)["state"].clone(), machine.effects().as_str()), (json!("idle"), "asked\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_hands_sessions_over_and_another_worker_goes_on() {
    let Some(server) = Server::start() else { return };
    let database = server.database().await;
    let machine = Machine { place: configured(CONFIGURATION), database: &database };
    machine.place.script(&[bash("echo ran >> ran.txt && echo $(sleep 1000)"), text("Never.")]);
    let session = machine.send("do it");
    let configuration = CONFIGURATION.replace("Bash(echo *)", "Bash");
    std::fs::write(machine.place.path("worker.toml"), format!("tenant = \"{TENANT}\"\n{configuration}")).unwrap();
    let mut first = machine.command("worker", &[]).spawn().unwrap();
    eventually("the call runs", || (machine.effects() == "ran\n").then_some(()));
    let shown = machine.run("service", &["status"]).with_code(0).stdout;
    assert!(shown.contains("running") && shown.contains("windlass worker (process "), "{shown}");
    signal("-TERM", &first);
    assert_eq!(ended(&mut first), Some(0));
    assert_eq!(machine.status(&session)["state"], "ready");
    machine.place.script(&[text("I went on.")]);
    machine.run("worker", &["--once"]).with_code(0);
    let status = machine.status(&session);
    assert_eq!((&status["state"], &status["answer"]), (&json!("idle"), &json!("I went on.")));
    assert_eq!(machine.effects(), "ran\n");
    let said = "select count(*) from wl_log where position('interrupted by user' in encode(body, 'escape')) > 0";
    assert_eq!(database.sql(said), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_of_an_attacker_widens_nothing() {
    let Some(server) = Server::start() else { return };
    let database = server.database().await;
    let machine = Machine { place: configured(CONFIGURATION), database: &database };
    machine.place.script(&[bash("touch /tmp/hostile ran.txt"), text("Never.")]);
    let session = machine.send("do it");
    database.sql(
        r#"update wl_session set needs = '{"maxTurns": 1000, "permissionMode": "bypassPermissions", "cwd": "/",
            "env": {"PATH": "/tmp"}, "allow": ["Bash"], "hooks": {"PreToolUse": []}, "program": "/bin/sh"}';
        insert into wl_session (tenant, project, session, profile, workspace, state)
            values ('acme', '../../etc', '../passwd', '../fix', '/', 1), ('acme', 'p', 's', 'fix', '/', 1),
                ('other', 'p', 's', 'fix', 'shop', 1)"#,
    );
    let worked = machine.run("worker", &["--once"]).with_code(0);
    assert!(worked.stderr.contains("sessions: 1 claimed, 1 settled"), "{worked:?}");
    assert_eq!((machine.status(&session)["state"].clone(), machine.effects()), (json!("waits"), String::new()));
    let left = "select count(*) from wl_session where state = 1 and epoch = 0";
    assert_eq!(database.sql(left), "3");
    let listed = machine.run("service", &["status"]).with_code(0).stdout;
    assert_eq!(listed.lines().count(), 3, "{listed}");
}
