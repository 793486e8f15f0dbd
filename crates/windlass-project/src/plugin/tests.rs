use super::*;
use crate::agents::AgentError;
use crate::commands::CommandSource;
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

struct World(TempDir);

impl World {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn manifest(&self, plugin: &str, json: &str) {
        self.write(&format!("{plugin}/.claude-plugin/plugin.json"), json);
    }

    fn load(&self, names: &[&str]) -> Plugins {
        let directories: Vec<PluginDir> = names.iter().map(PluginDir::new).collect();
        load_plugins(&self.path(), &directories)
    }

    /// Returns the only error of the plugin `p`, which is loaded or not.
    fn error(&self, loaded: bool) -> PluginError {
        let plugins = self.load(&["p"]);
        assert_eq!(plugins.plugins.len(), usize::from(loaded), "{plugins:?}");
        let [error] = plugins.errors.as_slice() else { panic!("{:?}", plugins.errors) };
        error.clone()
    }
}

fn names<'a>(commands: impl IntoIterator<Item = &'a Command>) -> Vec<&'a str> {
    commands.into_iter().map(|command| command.name.as_str()).collect()
}

#[test]
fn a_plugin_brings_its_components_under_its_name() {
    let world = World::new();
    world.manifest(
        "dir",
        r#"{"name":"tool-kit","version":"1.2.0","description":"Helps","author":{"name":"x"},"new":1}"#,
    );
    world.write("dir/commands/hello.md", "Look at ${CLAUDE_PLUGIN_ROOT}/data of $1.");
    world.write("dir/commands/deep/down.md", "Down.");
    world.write("dir/commands/no.txt", "no");
    world.write("dir/agents/finder.md", "---\nname: finder\ndescription: Finds\n---\nFind in ${CLAUDE_PLUGIN_ROOT}.");
    world.write("dir/.mcp.json", r#"{"mcpServers":{"db":{"command":"${CLAUDE_PLUGIN_ROOT}/db"}}}"#);
    let plugins = world.load(&["dir"]);
    assert_eq!(plugins.errors, []);
    let plugin = &plugins.plugins[0];
    let root = world.path().join("dir");
    assert_eq!((plugin.name.as_str(), plugin.version.as_deref()), ("tool-kit", Some("1.2.0")));
    assert_eq!((plugin.description.as_deref(), &plugin.path, &plugin.root), (Some("Helps"), &root, &root));
    assert_eq!(names(&plugin.commands), ["tool-kit:deep:down", "tool-kit:hello"]);
    let root = root.to_str().unwrap();
    assert_eq!(plugin.commands[1].expand(&crate::CommandUse::with("x")).unwrap(), format!("Look at {root}/data of x."));
    assert_eq!(plugin.commands[1].source.to_string(), "plugin");
    let agents = plugins.agents();
    let agent = agents.get("tool-kit:finder").unwrap();
    assert_eq!(
        (agent.definition.prompt.as_str(), agent.definition.description.as_str()),
        (&*format!("Find in {root}."), "Finds")
    );
    let server = plugins.servers().next().unwrap();
    assert_eq!(server.name, "plugin:tool-kit:db");
    assert_eq!(server.document(), r#"{"mcpServers":{"plugin:tool-kit:db":{"command":"${CLAUDE_PLUGIN_ROOT}/db"}}}"#);
    assert_eq!(server.variable("CLAUDE_PLUGIN_ROOT", |_| None).as_deref(), Some(root));
    assert_eq!(server.variable("X", |name| Some(name.to_lowercase())).as_deref(), Some("x"));
    assert_eq!(server.environment().collect::<Vec<_>>(), [("CLAUDE_PLUGIN_ROOT", root.to_owned())]);
    let without = load_plugins(&world.path(), &[PluginDir::new("dir").without_mcp()]);
    assert_eq!((without.servers().count(), without.commands().count()), (0, 2));
}

#[test]
fn manifests() {
    let long = format!(r#"{{"name":"{}"}}"#, "n".repeat(65));
    let deep = format!(r#"{{"name":"p","x":{}{}}}"#, "[".repeat(1_000), "]".repeat(1_000));
    for (json, expected) in [
        (r#"{"name":"p"}"#, Ok("p")),
        ("\u{feff}{\"name\":\"Grüße_2.0\"}", Ok("Grüße_2.0")),
        (r#"{"name":"p","version":7,"commands":null,"agents":[],"mcpServers":{}}"#, Ok("p")),
        ("", Err("plugin.json")),
        ("{", Err("plugin.json")),
        ("[]", Err("plugin.json")),
        ("{}", Err("no `name`")),
        (r#"{"name":7}"#, Err("not text")),
        (r#"{"name":null}"#, Err("not text")),
        (r#"{"name":""}"#, Err("no name")),
        (r#"{"name":"a b"}"#, Err("no name")),
        (r#"{"name":"a:b"}"#, Err("no name")),
        (r#"{"name":"../p"}"#, Err("no name")),
        (r#"{"name":".."}"#, Err("no name")),
        (r#"{"name":"a\nb"}"#, Err("no name")),
        (r#"{"name":"p","name":"q"}"#, Err("plugin.json")),
        (&long, Err("no name")),
        (&deep, Err("plugin.json")),
    ] {
        let world = World::new();
        world.manifest("p", json);
        let plugins = world.load(&["p"]);
        match expected {
            Ok(name) => assert_eq!((plugins.plugins[0].name.as_str(), &*plugins.errors), (name, &[][..]), "{json:?}"),
            Err(part) => {
                let error = world.error(false);
                assert_eq!((error.kind, error.plugin.as_str()), (PluginErrorKind::Manifest, "inline[0]"), "{json:?}");
                assert_eq!(error.path, Some(world.path().join("p")));
                assert!(error.message.contains(part), "{json:?}: {}", error.message);
            }
        }
    }
}

#[test]
fn what_is_no_plugin_is_said_and_the_others_are_loaded() {
    let world = World::new();
    world.write("file", "x");
    world.write("bytes/.claude-plugin/plugin.json", b"{\"name\":\"\xff\"}");
    world.write("huge/.claude-plugin/plugin.json", format!("{{\"name\":\"h\",\"x\":\"{}\"}}", "x".repeat(1 << 20)));
    world.write("folder/.claude-plugin/plugin.json/x", "x");
    world.write("bad name/commands/x.md", "x");
    world.write("plain/commands/x.md", "x");
    world.manifest("twin", r#"{"name":"plain"}"#);
    let plugins = world.load(&[
        "none",
        "file",
        "bytes",
        "huge",
        "folder",
        "bad name",
        "plain",
        "twin",
        "plain",
        "./twin/../plain",
    ]);
    assert_eq!(names(plugins.commands()), ["plain:x"]);
    let errors: Vec<_> = plugins.errors.iter().map(|error| (error.plugin.as_str(), error.kind.as_str())).collect();
    assert_eq!(
        errors,
        [
            ("inline[0]", "path-not-found"),
            ("inline[1]", "path-not-found"),
            ("inline[2]", "manifest-validation-error"),
            ("inline[3]", "manifest-validation-error"),
            ("inline[4]", "manifest-validation-error"),
            ("inline[5]", "manifest-validation-error"),
            ("inline[7]", "plugin-not-loaded"),
        ]
    );
    assert!(plugins.errors.iter().all(|error| error.kind.is_fatal() && error.path.is_some()));
    assert!(plugins.errors[6].to_string().contains("plain"), "{}", plugins.errors[6]);
}

#[test]
fn components_are_where_the_manifest_says() {
    let world = World::new();
    world.manifest(
        "p",
        r#"{"name":"p","commands":["./extra","more/one.md"],"agents":"./people/a.md",
            "mcpServers":["./servers.json",{"two":{"command":"2"}},{"mcpServers":{"three":{"command":"3"}}}]}"#,
    );
    for file in ["commands/default.md", "extra/x.md", "more/one.md", "more/two.md", "agents/default.md", "people/a.md"]
    {
        world.write(&format!("p/{file}"), "Text.");
    }
    world.write("p/.mcp.json", r#"{"mcpServers":{"zero":{"command":"0"},"two":{"command":"default"}}}"#);
    world.write("p/servers.json", r#"{"one":{"command":"1"}}"#);
    let plugins = world.load(&["p"]);
    assert_eq!(plugins.errors, []);
    assert_eq!(names(plugins.commands()), ["p:one", "p:x"]);
    assert_eq!(plugins.agents().agents.iter().map(|agent| agent.name().to_owned()).collect::<Vec<_>>(), ["p:a"]);
    let servers: Vec<_> = plugins.servers().map(|server| (&*server.name, server.config.as_str())).collect();
    let config = |text: &str| format!(r#"{{"command":"{text}"}}"#);
    assert_eq!(
        servers,
        [
            ("plugin:p:one", &*config("1")),
            ("plugin:p:three", &config("3")),
            ("plugin:p:two", &config("2")),
            ("plugin:p:zero", &config("0"))
        ]
    );
}

#[test]
fn broken_components_are_named_and_the_rest_is_used() {
    for (manifest, part) in [
        (r#""commands":7"#, "neither a path"),
        (r#""commands":{"x":{"source":"./x.md"}}"#, "neither a path"),
        (r#""commands":["./good",7]"#, "neither a path"),
        (r#""commands":"./missing""#, "not there"),
        (r#""commands":"""#, "relative"),
        (r#""commands":"/etc""#, "relative"),
        (r#""commands":"../other""#, "relative"),
        (r#""commands":"./good/../../other""#, "relative"),
        (r#""commands":"./data.txt""#, "Markdown"),
        (r#""agents":"./a b.md""#, "not there"),
        (r#""mcpServers":"./missing.json""#, "not there"),
        (r#""mcpServers":"../other.json""#, "relative"),
        (r#""mcpServers":7"#, "mcpServers"),
        (r#""mcpServers":["./data.txt"]"#, "data.txt"),
    ] {
        let world = World::new();
        world.manifest("p", &format!(r#"{{"name":"p",{manifest}}}"#));
        world.write("p/good/x.md", "x");
        world.write("p/data.txt", "no json");
        world.write("other/x.md", "x");
        world.write("other.json", "{}");
        let error = world.error(true);
        assert_eq!((error.kind, error.plugin.as_str(), &error.path), (PluginErrorKind::Component, "p", &None));
        assert!(error.message.contains(part), "{manifest}: {}", error.message);
        assert_eq!(world.load(&["p"]).servers().count(), 0, "{manifest}");
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let world = World::new();
    world.write("p/commands/bytes.md", b"\xff\xfe");
    world.write("p/commands/huge.md", "x".repeat(300 * 1024));
    world.write("p/commands/empty.md", " ");
    world.write("p/commands/a b.md", "x");
    world.write("p/commands/good.md", "x");
    world.write("p/agents/bytes.md", b"\xff");
    world.write("p/.mcp.json", b"{\"a\":\"\xff\"}");
    let plugins = world.load(&["p"]);
    assert_eq!(names(plugins.commands()), ["p:good"]);
    for part in ["commands/bytes.md", "huge.md", "empty.md", "a b.md", "agents/bytes.md", ".mcp.json"] {
        assert_eq!(plugins.errors.iter().filter(|error| error.message.contains(part)).count(), 1, "{part}");
    }
    assert_eq!(plugins.errors.len(), 6);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_a_plugin() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    world.write("secret/x.md", "secret");
    world.write("secret.json", r#"{"mcpServers":{"evil":{"command":"evil"}}}"#);
    let cases: [(&str, &str, &str); 6] = [
        ("../secret", "commands", ""),
        ("../../secret/x.md", "commands/x.md", ""),
        ("../secret", "agents", ""),
        ("../secret.json", ".mcp.json", ""),
        ("../secret", "inner", r#","commands":"./inner""#),
        ("../secret/x.md", "x.md", r#","commands":["./x.md"]"#),
    ];
    for (target, link, more) in cases {
        let world_path = world.path();
        let _ = fs::remove_dir_all(world_path.join("p"));
        world.manifest("p", &format!(r#"{{"name":"p"{more}}}"#));
        fs::create_dir_all(world_path.join("p").join(link).parent().unwrap()).unwrap();
        symlink(target, world_path.join("p").join(link)).unwrap();
        let plugins = world.load(&["p"]);
        assert_eq!((plugins.plugins.len(), plugins.errors.len()), (1, 1), "{link}: {plugins:?}");
        assert_eq!((plugins.commands().count(), plugins.servers().count()), (0, 0), "{link}");
        assert!(plugins.agents().agents.is_empty(), "{link}");
    }
    // Links inside are the plugin's own business, and the directory itself may be one.
    let _ = fs::remove_dir_all(world.path().join("p"));
    world.write("p/real/x.md", "x");
    symlink("real", world.path().join("p/commands")).unwrap();
    symlink("p", world.path().join("linked")).unwrap();
    let plugins = world.load(&["linked"]);
    assert_eq!((plugins.plugins[0].name.as_str(), names(plugins.commands())), ("p", vec!["p:x"]));
    assert_eq!(plugins.plugins[0].path, world.path().join("linked"));
    // A manifest outside is none.
    world.write("manifest.json", r#"{"name":"out"}"#);
    fs::create_dir_all(world.path().join("q/.claude-plugin")).unwrap();
    for target in ["../../manifest.json", "nowhere"] {
        let link = world.path().join("q/.claude-plugin/plugin.json");
        let _ = fs::remove_file(&link);
        symlink(target, link).unwrap();
        let plugins = world.load(&["q"]);
        assert_eq!(plugins.errors[0].kind, PluginErrorKind::Manifest, "{target}");
    }
}

#[test]
fn what_is_not_supported_is_said_once_for_each_kind() {
    let world = World::new();
    world.manifest("p", r#"{"name":"p","skills":["./s"],"dependencies":["x"]}"#);
    world.write("p/hooks/hooks.json", "{}");
    world.write("p/output-styles/x.md", "x");
    world.write("p/bin/run", "x");
    fs::create_dir_all(world.path().join("p/workflows")).unwrap();
    // However many others there are.
    for at in 0..100 {
        world.write(&format!("p/commands/a b{at}.md"), "x");
        world.write(&format!("p/agents/a b{at}.md"), "x");
    }
    let plugins = world.load(&["p"]);
    let kinds = plugins.errors.iter().filter(|error| error.kind == PluginErrorKind::Unsupported);
    let messages: Vec<&str> = kinds.map(|error| error.message.as_str()).collect();
    let parts = ["styles (output-styles)", "(bin)", "dependencies"];
    assert_eq!(messages.len(), parts.len(), "{messages:?}");
    for (message, part) in messages.iter().zip(parts) {
        assert!(message.contains(part) && message.contains("not supported"), "{message}");
    }
    assert!(plugins.errors.len() <= 64, "{}", plugins.errors.len());
}

#[test]
fn language_servers_of_a_plugin_know_its_directory() {
    let world = World::new();
    let inline = r#"{"b":{"command":"of the manifest"},"c":{"command":"c"}}"#;
    world.manifest("p", &format!(r#"{{"name":"p","lspServers":["./more.json",{inline},"./no.json","../out.json"]}}"#));
    world.write("p/.lsp.json", r#"{"a":{"command":"${CLAUDE_PLUGIN_ROOT}/a","env":{"X":"y"}},"b":{"command":"b"}}"#);
    world.write("p/more.json", "[]");
    world.write("out.json", r#"{"out":{"command":"x"}}"#);
    let plugins = world.load(&["p"]);
    let servers = &plugins.plugins[0].language_servers;
    let root = plugins.plugins[0].root.to_str().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["plugin:p:a", "plugin:p:b", "plugin:p:c"]);
    let server = |name: &str| servers[name].to::<serde_json::Value>().unwrap();
    let expected = serde_json::json!({"command": format!("{root}/a"), "env": {"X": "y", "CLAUDE_PLUGIN_ROOT": root}});
    assert_eq!(server("plugin:p:a"), expected);
    assert_eq!(server("plugin:p:b")["command"], "of the manifest");
    let said: Vec<_> = plugins.errors.iter().map(|error| error.message.as_str()).collect();
    for (said, part) in said.iter().zip(["more.json", "no.json is not there", "out.json"]) {
        assert!(said.starts_with("language servers: ") && said.contains(part), "{said}");
    }
    assert_eq!(said.len(), 3, "{said:?}");
}

#[test]
fn hooks_of_a_plugin_are_read_wherever_they_are() {
    let hook = |line: &str| format!(r#"{{"PreToolUse":[{{"hooks":[{{"type":"command","command":"{line}"}}]}}]}}"#);
    let world = World::new();
    world.manifest("p", &format!(r#"{{"name":"p","hooks":["./h.json","./hooks/hooks.json",{}]}}"#, hook("inline")));
    world.write("p/hooks/hooks.json", format!(r#"{{"description":"x","hooks":{}}}"#, hook("usual")));
    world.write("p/h.json", hook("named"));
    let plugins = world.load(&["p"]);
    let names: Vec<String> = plugins.plugins[0].hooks.all.iter().map(ToString::to_string).collect();
    assert_eq!((names, plugins.errors.len()), (vec!["usual".into(), "named".into(), "inline".into()], 0));
    plugins.check_hooks().unwrap();
    for (manifest, file) in [
        (r#"{"name":"q","hooks":"./missing.json"}"#, "{}"),
        (r#"{"name":"q","hooks":"../p/h.json"}"#, "{}"),
        (r#"{"name":"q"}"#, "no json"),
        (r#"{"name":"q"}"#, r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command"}]}]}}"#),
        (r#"{"name":"q","hooks":7}"#, "{}"),
    ] {
        let world = World::new();
        world.manifest("q", manifest);
        world.write("q/hooks/hooks.json", file);
        let error = world.load(&["q"]).check_hooks().unwrap_err().to_string();
        assert!(error.contains("cannot be used"), "{manifest} {file}: {error}");
    }
}

#[test]
fn skills_of_a_plugin_stay_in_it() {
    let world = World::new();
    world.manifest("p", r#"{"name":"p","skills":["skills","more/one","absent","../out"]}"#);
    let text = "---\ndescription: Does it.\nallowed-tools: Bash(${CLAUDE_PLUGIN_ROOT}/x *)\n---\nIn ${CLAUDE_SKILL_DIR}, of ${CLAUDE_PLUGIN_ROOT}.";
    for name in ["p/skills/a", "p/skills/hello", "p/more/one", "p", "out/b"] {
        world.write(&format!("{name}/SKILL.md"), text);
    }
    world.write("p/commands/hello.md", "A command.");
    std::os::unix::fs::symlink(world.path().join("out/b"), world.path().join("p/skills/linked")).unwrap();
    let plugins = world.load(&["p"]);
    assert_eq!(names(plugins.commands()), ["p:a", "p:hello", "p:one", "p:p"]);
    assert_eq!(plugins.errors.len(), 2, "{:?}", plugins.errors);
    let skill = plugins.commands().next().unwrap();
    let (root, folder) = (world.path().join("p"), world.path().join("p/skills/a"));
    assert!(skill.skill.as_ref().is_some_and(|skill| skill.for_models));
    assert_eq!(skill.scope.allowed_tools, [format!("Bash({}/x *)", root.display())]);
    let text = skill.expand(&crate::CommandUse::default()).unwrap();
    assert_eq!(text, format!("In {}, of {}.", folder.display(), root.display()));
}

#[test]
fn agents_of_plugins_cannot_widen_anything() {
    let world = World::new();
    world.write(
        "p/agents/wide.md",
        "---\ndescription: Wide\npermissionMode: bypassPermissions\nhooks:\n  Stop: x\nmcpServers: [x]\ntools: Read\n---\nGo.",
    );
    world.write("p/agents/deep/other.md", "---\nname: named\npermissionMode: nonsense\n---\nGo.");
    world.write("p/agents/broken.md", "---\nmaxTurns: -1\n---\nGo.");
    let plugins = world.load(&["p"]);
    let agents = plugins.agents();
    let wide = agents.get("p:wide").unwrap();
    assert_eq!(
        (wide.definition.permission_mode, wide.without_effect.as_slice()),
        (None, ["hooks", "mcpServers", "permissionMode"].map(str::to_owned).as_slice())
    );
    assert_eq!(
        (wide.definition.tools.as_deref(), wide.source.to_string()),
        (Some(&["Read".to_owned()][..]), "plugin".to_owned())
    );
    assert!(agents.get("p:deep:named").is_ok());
    assert!(matches!(agents.get("p:broken"), Err(AgentError::Unusable { .. })));
    assert_eq!(plugins.errors.len(), 3, "{:?}", plugins.errors);
}

#[test]
fn two_plugins_keep_their_names_apart_and_give_way_to_the_users() {
    let world = World::new();
    for plugin in ["a", "b"] {
        world.write(&format!("{plugin}/commands/x.md"), plugin);
        world.write(&format!("{plugin}/.mcp.json"), r#"{"s":{"command":"c"}}"#);
    }
    let plugins = world.load(&["a", "b"]);
    assert_eq!(plugins.errors, []);
    assert_eq!(names(plugins.commands()), ["a:x", "b:x"]);
    assert_eq!(plugins.servers().map(|s| &*s.name).collect::<Vec<_>>(), ["plugin:a:s", "plugin:b:s"]);
    let own = |name: &str, source| Command::parse(name, source, format!("/{name}.md"), "own");
    let mut commands = crate::Commands::default();
    commands.commands = vec![own("a:x", CommandSource::User), own("b:x", CommandSource::Project)];
    let commands = commands.with_plugins(&plugins);
    let texts: Vec<String> =
        commands.commands.iter().map(|command| command.expand(&crate::CommandUse::with("")).unwrap()).collect();
    assert_eq!((names(&commands.commands), texts), (vec!["a:x", "b:x"], vec!["own".to_owned(), "b".to_owned()]));
    assert_eq!(commands.notes.len(), 2, "{:?}", commands.notes);
}

#[test]
fn there_is_an_end_to_what_a_plugin_brings() {
    let world = World::new();
    let text = "x".repeat(200 * 1024);
    for at in 0..100 {
        world.write(&format!("p/commands/c{at:03}.md"), &text);
    }
    let servers: Vec<String> = (0..100).map(|at| format!(r#""s{at}":{{"command":"c"}}"#)).collect();
    world.write("p/.mcp.json", format!("{{{}}}", servers.join(",")));
    let plugins = world.load(&["p"]);
    assert!(plugins.commands().count() < 90, "{}", plugins.commands().count());
    assert_eq!(plugins.servers().count(), 64);
    assert!(!plugins.errors.is_empty());
    let many: Vec<String> = (0..70).map(|at| format!("m{at}")).collect();
    for name in &many {
        world.write(&format!("{name}/commands/x.md"), "x");
    }
    let plugins = world.load(&many.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((plugins.plugins.len(), plugins.errors.len()), (64, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_path_leaves_a_plugin(path in "(\\.|\\.\\.|/|~|a|b|out|link|\\\\|:){0,12}") {
        let world = World::new();
        world.write("p/a/b/x.md", "x");
        world.write("out/x.md", "x");
        #[cfg(unix)]
        std::os::unix::fs::symlink("../out", world.path().join("p/link")).unwrap();
        let root = world.path().join("p");
        if let Ok(Some(found)) = manifest::inside(&root, &path) {
            prop_assert!(found.starts_with(&root), "{}", found.display());
        }
    }

    #[test]
    fn any_manifest_is_taken_or_refused(
        name in "[a-z]{1,3}|\\PC{0,8}",
        key in "commands|agents|mcpServers|hooks|version|name|\\PC{0,6}",
        value in "null|true|7|\"\\./x\"|\\[\"\\./x\",7\\]|\\{\"a\":\\{\\}\\}|\\PC{0,8}",
    ) {
        let world = World::new();
        let (name, key) = (serde_json::Value::from(name), serde_json::Value::from(key));
        world.manifest("p", &format!("{{\"name\":{name},{key}:{value}}}"));
        let plugins = world.load(&["p"]);
        let left_out = plugins.errors.iter().filter(|error| error.kind.is_fatal()).count();
        prop_assert_eq!(plugins.plugins.len() + left_out, 1);
    }
}
