use super::*;
use crate::load::load;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use windlass_types::JsonText;

/// A home and a project in it, which is a repository.
struct World(TempDir);

const ONE: &str = r#"{"mcpServers":{"one":{"command":"project"}}}"#;

impl World {
    fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        for directory in ["home", "w/.git", "w/sub"] {
            fs::create_dir_all(world.path().join(directory)).unwrap();
        }
        world
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Writes `.claude.json` with an entry for the project.
    fn claude_json(&self, more: &str, project: &str) -> &Self {
        let directory = self.path().join("w");
        self.write("home/.claude.json", format!(r#"{{{more}"projects":{{{directory:?}:{project}}}}}"#))
    }

    fn load(&self, request: &SettingsRequest) -> Servers {
        let mut places = Places::new(self.path().join("w/sub"));
        places.user = vec![self.path().join("home/.claude")];
        places.claude_json = vec![self.path().join("home/.claude.json")];
        places.records = vec![self.path().join("home/.windlass/windlass-trust.json")];
        crate::SettingsUpdates::new(places.clone(), request.sources).pin_trust().unwrap();
        let resolved = load(&places, request).unwrap().resolve().unwrap();
        load_servers(&places, request, &resolved)
    }

    fn servers(&self) -> Servers {
        self.load(&SettingsRequest::new())
    }
}

/// Returns the servers in use, and those left out.
fn summary(servers: &Servers) -> (Vec<String>, Vec<String>) {
    let shown = |server: &ServerDefinition| format!("{} {}", server.name, server.scope);
    (servers.servers.iter().map(shown).collect(), servers.left_out.iter().map(|left| shown(&left.server)).collect())
}

fn counts(world: &World) -> bool {
    match summary(&world.servers()) {
        (counts, left) if counts == ["one project"] && left.is_empty() => true,
        (counts, left) if counts.is_empty() && left == ["one project"] => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_of_a_project_needs_trust_or_to_be_wanted() {
    let enabled = r#"{"enabledMcpjsonServers":["one"]}"#;
    for (file, text, expected) in [
        ("none", "", false),
        ("home/.claude/settings.json", enabled, true),
        ("home/.claude/settings.json", r#"{"enableAllProjectMcpServers":true}"#, true),
        ("home/.claude/settings.json", r#"{"enableAllProjectMcpServers":false}"#, false),
        ("home/.claude/settings.json", r#"{"enabledMcpjsonServers":["two"]}"#, false),
        // A file that comes with the repository does not decide, wherever it lies.
        ("w/.claude/settings.json", enabled, false),
        ("w/.claude/settings.json", r#"{"enableAllProjectMcpServers":true}"#, false),
        ("w/.claude/settings.local.json", enabled, false),
        ("w/.claude/settings.local.json", r#"{"enableAllProjectMcpServers":true}"#, false),
        ("w/sub/.windlass/settings.local.json", enabled, false),
    ] {
        let world = World::new();
        world.write("w/.mcp.json", ONE).write(file, text);
        assert_eq!(counts(&world), expected, "{file} {text}");
    }
    let world = World::new();
    world.write("w/.mcp.json", ONE);
    for (request, expected) in [
        (SettingsRequest::new(), false),
        (SettingsRequest::new().trust(true), true),
        (SettingsRequest::new().flags(Some(enabled.to_owned())), true),
        (SettingsRequest::new().sources("project".parse().unwrap()), true),
        (SettingsRequest::new().sources("local".parse().unwrap()), false),
    ] {
        assert_eq!(world.load(&request).servers.len() == 1, expected, "{request:?}");
    }
    assert!(world.servers().left_out[0].reason.contains("windlass trust"));
}

#[test]
fn records_of_the_user_decide_for_the_directory() {
    for (project, expected) in [
        (r#"{"hasTrustDialogAccepted":true}"#, true),
        (r#"{"hasTrustDialogAccepted":false}"#, false),
        (r#"{"enabledMcpjsonServers":["one"]}"#, true),
        (r#"{"enabledMcpjsonServers":["two"]}"#, false),
        (r#"{"hasTrustDialogAccepted":true,"disabledMcpjsonServers":["one"]}"#, false),
    ] {
        let world = World::new();
        world.write("w/.mcp.json", ONE).claude_json("", project);
        assert_eq!(counts(&world), expected, "{project}");
    }
}

#[test]
fn anybody_can_switch_a_server_off() {
    let disabled = r#"{"disabledMcpjsonServers":["one"],"enabledMcpjsonServers":["one"]}"#;
    for file in ["home/.claude/settings.json", "w/.claude/settings.json", "w/sub/.claude/settings.local.json"] {
        let world = World::new();
        world.write("w/.mcp.json", ONE).write(file, disabled);
        let servers = world.load(&SettingsRequest::new().trust(true));
        assert_eq!(servers.servers, [], "{file}");
        let reason = &servers.left_out[0].reason;
        assert!(reason.contains("disabledMcpjsonServers") && reason.contains(file), "{reason}");
    }
}

#[test]
fn no_server_of_a_project_takes_the_names_of_a_plugins() {
    for (name, counts) in [
        ("plugin_kit_files", false),
        ("plugin:kit:files", false),
        ("_plugin kit", false),
        ("plugin-kit", true),
        ("plugins", true),
        ("plugin", true),
        ("my_plugin_kit", true),
    ] {
        let world = World::new();
        world.write("w/.mcp.json", format!(r#"{{"{name}":{{"command":"x"}}}}"#));
        let servers = world.load(&SettingsRequest::new().trust(true));
        assert_eq!((servers.servers.len() == 1, servers.left_out.len() == 1), (counts, !counts), "{name}");
    }
}

#[test]
fn there_is_an_end_to_what_a_project_can_list() {
    let world = World::new();
    let long = "x".repeat(300);
    let many: Vec<String> =
        (0..500).map(|at| format!(r#""s{at}{}":{{}}"#, if at % 5 == 0 { &*long } else { "" })).collect();
    world.write("w/.mcp.json", format!("{{{}}}", many.join(",")));
    for trust in [false, true] {
        let servers = world.load(&SettingsRequest::new().trust(trust));
        assert_eq!(servers.servers.len() + servers.left_out.len(), MAX_SERVERS, "{trust}");
        assert!((1..=32).contains(&servers.notes.len()), "{trust}: {}", servers.notes.len());
    }
}

#[test]
fn a_projects_server_does_not_take_the_rules_of_the_users() {
    let world = World::new();
    world.claude_json(r#""mcpServers":{"my tools":{"command":"user"}},"#, r#"{"hasTrustDialogAccepted":true}"#);
    world.write(
        "w/.mcp.json",
        r#"{"mcpServers":{"my_tools":{"command":"p"},"my.tools":{"command":"p"},"other":{"command":"p"}}}"#,
    );
    let (counts, _) = summary(&world.load(&SettingsRequest::new().trust(true)));
    assert_eq!(counts, ["my tools user", "other project"]);
}

#[test]
fn the_stronger_scope_counts() {
    let world = World::new();
    world.claude_json(
        r#""mcpServers":{"a":{"command":"user"},"one":{"command":"user"},"x":{"command":"user"}},"#,
        r#"{"mcpServers":{"a":{"command":"local"}},"hasTrustDialogAccepted":true}"#,
    );
    world.write(
        "w/.mcp.json",
        r#"{"mcpServers":{"a":{"command":"far"},"one":{"command":"far"},"b":{"command":"far"}}}"#,
    );
    world.write("w/sub/.mcp.json", r#"{"mcpServers":{"b":{"command":"near"}}}"#);
    let servers = world.servers();
    let found: Vec<_> = servers.servers.iter().map(|s| (&*s.name, s.scope.as_str(), s.config.as_str())).collect();
    assert_eq!(
        found,
        [
            ("a", "local", r#"{"command":"local"}"#),
            ("b", "project", r#"{"command":"near"}"#),
            ("one", "user", r#"{"command":"user"}"#),
            ("x", "user", r#"{"command":"user"}"#)
        ]
    );
    assert_eq!((servers.notes.len(), servers.left_out.len()), (4, 0), "{:?}", servers.notes);
    assert!(servers.notes.iter().any(|note| note.text.contains("\"one\" is that of")), "{:?}", servers.notes);
    // A server that is not in use hides no other.
    world.claude_json(r#""mcpServers":{"one":{"command":"user"}},"#, "{}");
    let (counts, left) = summary(&world.servers());
    assert_eq!((counts, left), (vec!["one user".to_owned()], vec!["a project".to_owned(), "b project".to_owned()]));
}

#[test]
fn layers_that_are_not_read_bring_no_servers() {
    let world = World::new();
    world.claude_json(
        r#""mcpServers":{"u":{"command":"x"}},"#,
        r#"{"mcpServers":{"l":{"command":"x"}},"hasTrustDialogAccepted":true}"#,
    );
    world.write("w/.mcp.json", ONE);
    for (sources, expected) in
        [("", &[][..]), ("user", &["u user"]), ("project", &["one project"]), ("local", &["l local"])]
    {
        let servers = world.load(&SettingsRequest::new().sources(sources.parse().unwrap()));
        assert_eq!(summary(&servers), (expected.iter().map(|s| (*s).to_owned()).collect(), Vec::new()), "{sources:?}");
    }
}

#[test]
fn files_that_cannot_be_used_are_notes() {
    for text in ["{", "[]", r#"{"mcpServers":[]}"#, r#"{"a":1,"a":2}"#, "\u{0}"] {
        let world = World::new();
        world.write("w/.mcp.json", text).write("w/sub/.mcp.json", ONE);
        let servers = world.load(&SettingsRequest::new().trust(true));
        assert_eq!((servers.servers.len(), servers.notes.len()), (1, 1), "{text:?}");
        assert!(servers.notes[0].to_string().contains("w/.mcp.json"));
    }
    let world = World::new();
    world.write("w/.mcp.json", vec![b' '; 2 << 20]).write("home/.claude.json", r#"{"mcpServers":7}"#);
    let servers = world.servers();
    assert_eq!((servers.servers.len(), servers.notes.len()), (0, 2), "{:?}", servers.notes);
    assert!(world.write("w/.mcp.json", "{}").servers().servers.is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_not_read() {
    let world = World::new();
    world.write("elsewhere.json", ONE);
    std::os::unix::fs::symlink("../elsewhere.json", world.path().join("w/.mcp.json")).unwrap();
    let servers = world.load(&SettingsRequest::new().trust(true));
    assert_eq!((servers.servers.len(), servers.notes.len()), (0, 1));
}

#[test]
fn no_file_of_a_project_gets_keys() {
    let server = |scope| ServerDefinition::new("s", scope, "/f", JsonText::empty_object());
    let environment = |name: &str| Some(format!("of {name}"));
    for (scope, key) in [(ServerScope::Project, false), (ServerScope::User, true), (ServerScope::Local, true)] {
        for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"] {
            assert_eq!(server(scope).variable(name, environment).is_some(), key, "{scope} {name}");
        }
        assert_eq!(server(scope).variable("PATH", environment).as_deref(), Some("of PATH"));
        assert_eq!(server(scope).variable("CLAUDE_PLUGIN_ROOT", |_| None), None);
    }
}
