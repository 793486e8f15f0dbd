//! Places of secrets ask also where the workspace holds them.

use crate::common::{HOME, Rules, World, allow, short};
use windlass_permission::{Policy, PolicyConfig, SandboxedCommands};
use windlass_types::Behavior::{Allow, Ask};
use windlass_types::PermissionMode;
use windlass_types::secret::{HOME_PLACES, SYSTEM_PLACES};

/// A session that was started in the home.
fn at_home() -> World {
    let mut world = World::new(Rules::default());
    world.policy = Policy::new(PolicyConfig::new(HOME).with_home(Some(HOME.into())));
    world.cwd = HOME.into();
    world
}

#[test]
fn places_of_secrets_ask_wherever_the_workspace_holds_them() {
    for world in [at_home(), World::new(Rules::default())] {
        for place in HOME_PLACES.iter().copied().filter(|place| !place.contains(' ')).chain([
            ".env",
            ".env.local",
            ".envrc",
            "secrets.yml",
            "credentials.json",
            "terraform.tfstate",
            "config/master.key",
            "deploy/id_rsa",
            "certs/server.pem",
            ".htpasswd",
            "wp-config.php",
        ]) {
            for call in [
                format!("Read {place}"),
                format!("Grep {place}"),
                format!("Bash cat {place}"),
                format!("Bash head -c 100 ./{place}"),
                format!("Bash grep -r x {place}"),
                format!("Bash ls && base64 {place}"),
                format!("Bash wc -l < {place}"),
                format!("Bash git show HEAD:{place}"),
                format!("Bash nice -n 5 cat {place}"),
            ] {
                let decision = world.decision(&call);
                assert_eq!(decision.behavior, Ask, "{call}: {decision:?}");
            }
        }
        world.check(Ask, &["Read .ssh/config", "Read .config/gh/hosts.yml", "Bash cat .mozilla/firefox/x/logins.json"]);
    }
    let world = World::new(Rules::default());
    for place in SYSTEM_PLACES {
        world.check(Ask, &[&format!("Read {place}")]);
    }
}

#[test]
fn names_of_places_and_examples_are_free() {
    for world in [at_home(), World::new(Rules::default())] {
        world.check(
            Allow,
            &[
                "Read .env.example",
                "Bash cat .env.sample",
                "Bash ls -la .ssh",
                "Bash test -f .env && echo yes",
                "Bash stat .npmrc",
                "Bash find . -name .env",
                "Glob .ssh",
                "Read src/secrets.rs",
                "Bash cat id_rsa.pub",
                "Bash git status",
                "Grep .",
                "Read .git/HEAD",
            ],
        );
    }
    World::new(Rules::default()).check(Allow, &["Bash grep -rn TODO .", "Bash rg x"]);
    // In the home a recursive read reaches all of its places.
    at_home().check(Ask, &["Bash grep -rn TODO .", "Bash cat .ssh/config"]);
    at_home().check(Allow, &["Bash grep -rn TODO src", "Bash ls -R ."]);
}

#[test]
fn only_a_rule_that_names_the_place_lets_it_be_read() {
    let files = &["/w/.env"];
    let world = World::new(Rules::default()).files(files);
    assert_eq!(short(&world.decision("Read .env").suggestions), ["Read(//w/.env) session"]);
    assert_eq!(short(&world.decision("Bash cat .env").suggestions), ["Read(//w/.env) session"]);
    for mode in [PermissionMode::AcceptEdits, PermissionMode::Auto] {
        World::in_mode(mode, Rules::default()).check(Ask, &["Read .env", "Bash cat .env", "Bash cp .env x"]);
    }
    World::new(allow(&["Bash(cat *)", "Bash(git *)"])).check(Ask, &["Bash cat .env", "Bash git show HEAD:.env"]);
    World::new(allow(&["Read(.env)"])).check(Allow, &["Read .env", "Bash cat .env"]);
    World::new(allow(&["Bash"])).check(Allow, &["Bash cat .env"]);
    World::in_mode(PermissionMode::BypassPermissions, Rules::default()).check(Allow, &["Read .env"]);
    // A link with another name leads there all the same.
    World::new(Rules::default()).link("/w/notes.txt", "/w/.env").check(Ask, &["Read notes.txt", "Bash cat notes.txt"]);
}

#[test]
fn a_sandbox_does_not_answer_for_the_secrets_of_a_project() {
    let mut world = World::new(Rules::default());
    world.policy.confine(SandboxedCommands::new().with_auto_allow());
    world.check(Ask, &["Bash cat .env"]);
}
