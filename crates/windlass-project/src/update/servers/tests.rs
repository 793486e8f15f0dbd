use super::*;
use crate::testing::Folder;
use crate::{Places, SettingSources};

struct Ground {
    root: Folder,
    places: Places,
}

fn ground() -> Ground {
    let root = Folder::new();
    root.make("work/inner");
    root.make("work/.git");
    root.make("home");
    let mut places = root.places("work");
    places.records = vec![root.path("home/.windlass/windlass-trust.json")];
    places.claude_json = vec![root.path("home/.claude.json")];
    Ground { root, places }
}

impl Ground {
    fn updates(&self) -> SettingsUpdates {
        SettingsUpdates::new(self.places.clone(), SettingSources::default())
    }

    fn set(&self, scope: ServerScope, name: &str, config: Option<&str>) -> Result<Option<PathBuf>, KeepError> {
        let config = config.map(|text| JsonText::parse(text).unwrap());
        self.updates().set_server(scope, name, config.as_ref())
    }

    fn names(&self, scope: ServerScope) -> Vec<String> {
        self.updates().servers_of(scope).unwrap().into_iter().map(|server| server.name).collect()
    }
}

#[test]
fn a_server_joins_each_scope_and_the_rest_of_the_file_stays() {
    let ground = ground();
    let start = ground.places.start().to_string_lossy().into_owned();
    let before = format!("{{\"z\":  [1,2 ],\"projects\":{{\"/other\":{{\"a\":1e3}},\"{start}\":{{\"x\":[]}}}}}}");
    ground.root.write("home/.claude.json", &before);
    for (scope, name) in [(ServerScope::User, "u"), (ServerScope::Local, "l"), (ServerScope::Project, "p")] {
        ground.set(scope, name, Some(r#"{"command":"run","args":["-y"]}"#)).unwrap();
        assert_eq!(ground.names(scope), [name]);
    }
    let after = std::fs::read_to_string(ground.root.path("home/.claude.json")).unwrap();
    assert!(after.starts_with("{\n  \"z\": [1,2 ],\n  \"projects\": {\n    \"/other\": {\"a\":1e3},\n"), "{after}");
    assert!(after.contains("\"l\": {\n          \"command\": \"run\",\n"), "{after}");
    for (scope, name) in [(ServerScope::User, "u"), (ServerScope::Local, "l"), (ServerScope::Project, "p")] {
        ground.set(scope, name, None).unwrap();
        assert!(ground.names(scope).is_empty());
    }
    let compact = |text: &str| text.split_whitespace().collect::<String>();
    let after = std::fs::read_to_string(ground.root.path("home/.claude.json")).unwrap();
    assert_eq!(compact(&after), compact(&before));
}

#[test]
fn servers_at_the_top_of_a_projects_file_stay_visible() {
    let ground = ground();
    ground.root.write("work/.mcp.json", r#"{"old":{"command":"x"}}"#);
    ground.set(ServerScope::Project, "new", Some(r#"{"command":"y"}"#)).unwrap();
    assert_eq!(ground.names(ServerScope::Project), ["new", "old"]);
}

#[test]
fn a_file_that_holds_something_else_is_left_as_it_is() {
    let ground = ground();
    for broken in ["[]", "{", r#"{"mcpServers":[]}"#, r#"{"mcpServers":{},"mcpServers":{}}"#, "\u{0}"] {
        ground.root.write("work/.mcp.json", broken);
        let error = ground.set(ServerScope::Project, "a", Some("{}")).unwrap_err().to_string();
        assert!(error.contains(".mcp.json"), "{error}");
        assert_eq!(std::fs::read_to_string(ground.root.path("work/.mcp.json")).unwrap(), broken);
    }
}

#[cfg(unix)]
#[test]
fn a_link_of_a_repository_is_not_written_through() {
    let ground = ground();
    ground.root.write("home/secret.json", "{}");
    std::os::unix::fs::symlink(ground.root.path("home/secret.json"), ground.root.path("work/.mcp.json")).unwrap();
    let error = ground.set(ServerScope::Project, "a", Some("{}")).unwrap_err();
    assert!(matches!(error, KeepError::Link(_)), "{error}");
    assert_eq!(std::fs::read_to_string(ground.root.path("home/secret.json")).unwrap(), "{}");
}

#[test]
fn names_are_members_whatever_they_hold() {
    let ground = ground();
    for name in ["a.b", "mcpServers", "ü \"q\"", "projects"] {
        ground.set(ServerScope::User, name, Some(r#"{"command":"x"}"#)).unwrap();
        ground.set(ServerScope::Local, name, Some(r#"{"command":"x"}"#)).unwrap();
    }
    assert_eq!(ground.names(ServerScope::User).len(), 4);
    assert_eq!(ground.names(ServerScope::Local), ground.names(ServerScope::User));
}
