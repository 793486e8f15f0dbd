//! Trust covers the items that the user has seen: an added or changed item waits until it is confirmed.

use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;
use windlass_project::{
    Agents, Commands, Places, ProgramContent, Resolved, Servers, SettingSources, SettingsRequest, SettingsUpdates,
    TrustStatus, load, load_agents, load_commands, load_servers, review_trust,
};
use windlass_types::Behavior;

struct World {
    root: TempDir,
    places: Places,
}

const SETTINGS: &str = ".claude/settings.json";
const LOCAL: &str = ".claude/settings.local.json";
const AGENT: &str = "---\nname: helper\ndescription: Helps\n---\nHelp.";
const COMMAND: &str = "---\nallowed-tools: Bash(make *)\n---\nDo it.";

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("work/.git")).unwrap();
        let mut places = Places::new(base.join("work"));
        places.user = vec![base.join("home/.windlass")];
        places.records = vec![base.join("home/.windlass/windlass-trust.json")];
        places.claude_json = vec![base.join("home/.claude.json")];
        let world = Self { root, places };
        world.project(SETTINGS, &settings(&["Bash(make)"], "one"));
        world.project(LOCAL, &json!({"model": "mine", "permissions": {"defaultMode": "acceptEdits"}}));
        world.project(".mcp.json", &json!({"mcpServers": {"build": {"command": "make", "args": ["serve"]}}}));
        world.write("work/.claude/agents/helper.md", AGENT);
        world.write("work/.claude/commands/go.md", COMMAND);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn project(&self, name: &str, content: &Value) {
        self.write(&format!("work/{name}"), &content.to_string());
    }

    fn updates(&self) -> SettingsUpdates {
        SettingsUpdates::new(self.places.clone(), SettingSources::default())
    }

    fn session(&self) -> Session {
        self.updates().pin_trust().unwrap();
        let request = SettingsRequest::new();
        let resolved = load(&self.places, &request).unwrap().resolve().unwrap();
        let servers = load_servers(&self.places, &request, &resolved);
        Session {
            servers,
            resolved,
            agents: load_agents(&self.places, &request),
            commands: load_commands(&self.places, &request),
        }
    }

    fn new_items(&self) -> Vec<(String, TrustStatus)> {
        let all = review_trust(&self.places).unwrap().into_iter();
        all.filter(|found| found.status != TrustStatus::Trusted)
            .map(|found| (format!("{} {}", found.item.kind, found.item.name), found.status))
            .collect()
    }
}

/// Configuration of a new session.
struct Session {
    resolved: Resolved,
    servers: Servers,
    agents: Agents,
    commands: Commands,
}

impl Session {
    /// Returns the names of the project's items in effect.
    fn counts(&self) -> Vec<String> {
        let resolved = &self.resolved;
        let allow = resolved.permissions.rules.iter().filter(|set| set.behavior == Behavior::Allow);
        let mut counts: Vec<String> = allow.flat_map(|set| set.rules.clone()).collect();
        counts.extend(resolved.env.programs.iter().map(|(name, found)| format!("{name}={}", found.value)));
        counts.extend(resolved.models.model.iter().map(|model| model.value.clone()));
        counts.extend(resolved.permissions.default_mode.iter().map(|mode| mode.value.to_string()));
        counts.extend(self.servers.servers.iter().map(|server| format!("server {}", server.name)));
        counts.extend(self.agents.agents.iter().map(|agent| format!("agent {}", agent.name())));
        let allowed = self.commands.commands.iter().filter(|command| !command.scope.allowed_tools.is_empty());
        counts.extend(allowed.map(|command| format!("command {}", command.name)));
        counts
    }

    fn says(&self) -> String {
        let notes = self.resolved.notes.iter().chain(&self.agents.notes).map(ToString::to_string);
        let servers = self.servers.left_out.iter().map(|left| format!("{}: {}", left.server.name, left.reason));
        notes.chain(servers).collect::<Vec<_>>().join("\n")
    }
}

fn settings(allow: &[&str], greeting: &str) -> Value {
    json!({"permissions": {"allow": allow}, "env": {"GREETING": greeting}})
}

const ALL: [&str; 7] =
    ["Bash(make)", "GREETING=one", "mine", "acceptEdits", "server build", "agent helper", "command go"];

#[test]
fn what_is_added_after_trust_waits_until_it_is_confirmed() {
    let world = World::new();
    assert!(world.session().counts().is_empty());
    world.updates().record_trust(true).unwrap();
    assert_eq!(world.session().counts(), ALL);
    assert_eq!(world.new_items(), []);

    let mut servers =
        json!({"mcpServers": {"build": {"command": "make", "args": ["serve"]}, "evil": {"command": "x"}}});
    world.project(".mcp.json", &servers);
    world.project(SETTINGS, &settings(&["Bash(make)", "Bash(curl *)"], "one"));
    world.write("work/.windlass/agents/evil.md", &AGENT.replace("helper", "evil"));
    world.write("work/.claude/commands/evil.md", COMMAND);
    world.write("work/.windlass/settings.json", r#"{"env":{"EVIL":"1"},"permissions":{"allow":["Bash(rm *)"]}}"#);
    let session = world.session();
    assert_eq!(session.counts(), ALL);
    let says = session.says();
    for (named, command) in [
        ("Bash(curl *)", "windlass trust"),
        ("Bash(rm *)", ""),
        ("EVIL", ""),
        ("evil: it is new", ""),
        ("agents do not", ""),
    ] {
        assert!(says.contains(named) && says.contains(command), "{named} is missing in {says}");
    }
    let new = world.new_items();
    assert_eq!(new.len(), 6, "{new:?}");
    assert!(new.iter().all(|(_, status)| *status == TrustStatus::New), "{new:?}");

    // A changed item is no longer trusted.
    servers["mcpServers"] = json!({"build": {"command": "make", "args": ["evil"]}});
    world.project(".mcp.json", &servers);
    world.project(SETTINGS, &settings(&["Bash(make)"], "two"));
    world.project(LOCAL, &json!({"model": "dear", "permissions": {"defaultMode": "bypassPermissions"}}));
    world.write("work/.claude/agents/helper.md", &AGENT.replace("Help.", "Harm."));
    world.write("work/.claude/commands/go.md", &COMMAND.replace("make", "curl"));
    let session = world.session();
    assert_eq!(session.counts(), ["Bash(make)"]);
    assert!(session.says().contains("has changed"), "{}", session.says());
    let changed = world.new_items().into_iter().filter(|(_, status)| *status == TrustStatus::Changed).count();
    assert_eq!(changed, 6, "{:?}", world.new_items());

    world.updates().record_trust(true).unwrap();
    assert_eq!(world.new_items(), []);
    assert_eq!(world.session().counts().len(), 11, "{:?}", world.session().counts());
    world.updates().record_trust(false).unwrap();
    assert!(world.session().counts().is_empty());
}

#[test]
fn another_spelling_of_the_same_needs_no_second_answer() {
    let world = World::new();
    world.updates().record_trust(true).unwrap();
    world
        .write("work/.mcp.json", "{ \"mcpServers\" : {\n\"build\": {\"args\":[ \"serve\" ], \"command\":\"make\"}}}\n");
    world.write(
        "work/.claude/settings.json",
        "{\"env\":{\"GREETING\":\"one\"},\n \"permissions\":{\"deny\":[\"Bash(x)\"],\"allow\":[\"Bash(make)\"]}}",
    );
    assert_eq!(world.session().counts(), ALL);
    // A removed item that comes back unchanged is trusted.
    std::fs::remove_file(world.path("work/.mcp.json")).unwrap();
    assert_eq!(world.session().counts().len(), ALL.len() - 1);
    world.project(".mcp.json", &json!({"mcpServers": {"build": {"command": "make", "args": ["serve"]}}}));
    assert_eq!(world.session().counts(), ALL);
}

#[test]
fn trust_that_does_not_say_what_it_covers_is_pinned_when_it_is_first_met() {
    let directory = |world: &World| world.path("work").to_str().unwrap().to_owned();
    for (record, known) in [
        ("home/.claude.json", json!({"hasTrustDialogAccepted": true})),
        ("home/.windlass/windlass-trust.json", json!({"trusted": true, "approved": {"allow": ["Bash(x)"]}})),
    ] {
        let world = World::new();
        world.write(record, &json!({"projects": {directory(&world): known}}).to_string());
        // Without pinned items, trust covers nothing.
        let unpinned = load(&world.places, &SettingsRequest::new()).unwrap().resolve().unwrap();
        assert!(
            unpinned.permissions.rules.is_empty()
                && unpinned.notes.iter().any(|note| note.text.contains("windlass trust"))
        );
        assert_eq!(world.session().counts(), ALL, "{record}");
        world.project(SETTINGS, &settings(&["Bash(make)", "Bash(curl *)"], "one"));
        assert_eq!(world.session().counts(), ALL, "{record}: what came later is not covered");
        // The other program's record applies only while it is there.
        world.write(record, &json!({"projects": {}}).to_string());
        assert!(world.session().counts().is_empty(), "{record}");
    }
}

#[test]
fn what_cannot_be_pinned_covers_nothing() {
    let mut world = World::new();
    world.write(
        "home/.claude.json",
        &json!({"projects": {world.path("work").to_str().unwrap(): {"hasTrustDialogAccepted": true}}}).to_string(),
    );
    world.write("home/file", "x");
    world.places.records = vec![world.path("home/file/windlass-trust.json")];
    assert!(world.updates().pin_trust().is_err());
    let resolved = load(&world.places, &SettingsRequest::new()).unwrap().resolve().unwrap();
    assert!(resolved.permissions.rules.is_empty() && resolved.env.programs.is_empty());
}

#[test]
fn trust_in_one_part_of_a_project_says_nothing_of_another() {
    let world = World::new();
    world.updates().record_trust(true).unwrap();
    world.write("work/sub/.claude/settings.json", r#"{"env":{"SUB":"1"}}"#);
    let mut below = World { places: world.places.clone(), ..World::new() };
    below.places.project = vec![world.path("work"), world.path("work/sub")];
    let counts = below.session().counts();
    assert!(counts.contains(&"server build".to_owned()) && !counts.contains(&"SUB=1".to_owned()), "{counts:?}");
    below.updates().record_trust(true).unwrap();
    assert!(below.session().counts().contains(&"SUB=1".to_owned()));
    assert_eq!(world.session().counts(), ALL, "what was trusted before stays so");
}

#[test]
fn digests_of_programs_are_recorded_for_trusted_projects_alone() {
    let world = World::new();
    let (updates, script) = (world.updates(), world.path("work/scripts/format.sh"));
    let digests = |digest: &str| std::collections::BTreeMap::from([(script.clone(), digest.to_owned())]);
    let record = |digest: &str| {
        let content = ProgramContent::recorded(digest, Some(format!("text of {digest}")));
        updates.record_programs(&std::collections::BTreeMap::from([(script.clone(), content)])).unwrap();
    };
    record("a");
    assert_eq!((updates.recorded_programs(), updates.kept_program("a")), (None, None));
    // A record of an earlier version has none.
    let project = world.path("work");
    let old = json!({"projects": {project.to_str().unwrap(): {"trusted": true, "covers": {"x": {"rule y": "z"}}}}});
    world.write("home/.windlass/windlass-trust.json", &old.to_string());
    assert_eq!(updates.recorded_programs(), Some(Default::default()));
    record("a");
    assert_eq!(updates.recorded_programs(), Some(digests("a")));
    assert_eq!(updates.kept_program("a").as_deref(), Some("text of a"));
    assert_eq!(updates.kept_program("../windlass-trust.json"), None);
    let text = std::fs::read_to_string(world.path("home/.windlass/windlass-trust.json")).unwrap();
    let kept: Value = serde_json::from_str(&text).unwrap();
    let kept = &kept["projects"][project.to_str().unwrap()];
    assert_eq!(kept["covers"]["x"]["rule y"], "z");
    assert_eq!(kept["programs"]["scripts/format.sh"], "a");
    updates.record_trust(true).unwrap();
    record("b");
    assert_eq!(updates.recorded_programs(), Some(digests("b")));
    updates.record_trust(false).unwrap();
    assert_eq!(updates.recorded_programs(), None);
}
