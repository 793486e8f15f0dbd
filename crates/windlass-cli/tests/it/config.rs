//! `windlass config`: settings by name, with the file and line of each, and changes of them.

use crate::place::{Place, write};
use serde_json::{Value, json};

const USER: &str = "home/.windlass/settings.json";

fn read(place: &Place, file: &str) -> String {
    std::fs::read_to_string(place.path(file)).unwrap_or_default()
}

#[test]
fn each_value_is_shown_with_file_and_line() {
    let place = Place::new();
    let user =
        "{\n  \"model\": \"haiku\",\n  \"env\": {\"PGPASSWORD\": \"hunter2\", \"CI\": \"1\"},\n  \"permisions\": {}\n}";
    write(&place.path(USER), user);
    write(
        &place.path("work/.claude/settings.json"),
        "{\"permissions\": {\n\"deny\": [\"Read(.env)\"],\n\"allow\": [\"Bash\"]}}",
    );
    let shown = place.run(&["config", "show", "--origin"]).with_code(0);
    let (user, project) = (place.path(USER), place.path("work/.claude/settings.json"));
    for line in [
        "model = \"haiku\"".to_owned(),
        format!("  {}:2 (user): \"haiku\"", user.display()),
        format!("  {}:2 (project): [\"Read(.env)\"]", project.canonicalize().unwrap().display()),
        format!("  {}:3 (project, does not count): [\"Bash\"]", project.canonicalize().unwrap().display()),
        "permissions.allow = does not count".to_owned(),
    ] {
        assert!(shown.stdout.lines().any(|shown| shown == line), "{line}\n{shown:#?}");
    }
    assert!(shown.stderr.contains("permisions (line 4, did you mean `permissions`?)"), "{shown:#?}");
    let whole = place.run(&["config", "show", "--origin", "--json"]).with_code(0);
    for shown in [&shown, &whole] {
        assert!(!shown.stdout.contains("hunter2") && shown.stdout.contains("***"), "{shown:#?}");
    }
    let document: Value = serde_json::from_str(&whole.stdout).unwrap();
    assert_eq!(document["origins"]["permissions.deny"][0]["line"], 2);
    assert_eq!(document["origins"]["permissions.allow"][0]["counts"], false);
    let mut alias: Value = serde_json::from_str(&place.run(&["settings"]).with_code(0).stdout).unwrap();
    alias["origins"] = document["origins"].clone();
    assert_eq!(alias, document);
}

#[test]
fn one_setting_is_printed_or_missing() {
    let place = Place::new();
    write(&place.path(USER), "{\"model\": \"haiku\", \"env\": {\"A.B\": \"1\"}}");
    assert_eq!(place.run(&["config", "get", "model"]).with_code(0).stdout, "haiku\n");
    assert_eq!(place.run(&["config", "get", "env.A.B"]).with_code(0).stdout, "1\n");
    assert_eq!(place.run(&["config", "get", "agent"]).with_code(1).stdout, "");
    assert!(place.run(&["config", "get", "modle"]).with_code(2).stderr.contains("did you mean `model`?"));
    let flags = ["config", "get", "model", "--json", "--settings", "{\"model\":\"opus\"}"];
    let got: Value = serde_json::from_str(&place.run(&flags).with_code(0).stdout).unwrap();
    assert_eq!(got["value"], "opus");
    let counting: Vec<_> =
        got["origins"].as_array().unwrap().iter().map(|one| (&one["layer"], &one["counts"])).collect();
    assert_eq!(counting, [(&json!("flags"), &json!(true)), (&json!("user"), &json!(false))]);
}

#[test]
fn a_change_keeps_the_rest_of_the_file() {
    let place = Place::new();
    write(&place.path(USER), "{\"zeta\": [1,  2], \"model\": \"haiku\"}");
    place.run(&["config", "set", "model", "opus"]).with_code(0);
    place.run(&["config", "set", "permissions.deny", "[\"Read(.env)\"]"]).with_code(0);
    place.run(&["config", "set", "env.CI", "1"]).with_code(0);
    let expected = "{\n  \"zeta\": [1,  2],\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"deny\": [\n      \"Read(.env)\"\n    ]\n  },\n  \
                    \"env\": {\n    \"CI\": \"1\"\n  }\n}\n";
    assert_eq!(read(&place, USER), expected);
    place.run(&["config", "unset", "permissions.deny"]).with_code(0);
    place.run(&["config", "unset", "env.CI"]).with_code(0);
    assert_eq!(read(&place, USER), "{\n  \"zeta\": [1,  2],\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn what_would_not_load_is_not_written() {
    let place = Place::new();
    write(&place.path(USER), "{\"model\": \"haiku\"}");
    for (key, value, code, said) in [
        ("permissions.deny", "[\"Bash(\"]", 1, "Bash("),
        ("permissions.deny", "Bash", 2, "must be a list of texts"),
        ("permissions.defaultMode", "wild", 1, "wild"),
        ("projectIndex", "1", 1, "line 3: `projectIndex` must be `true` or `false`"),
        ("models", "{\"m\":{\"contextWindow\":0}}", 1, "above zero"),
        ("availableModels", "[\"opus\"]", 1, "cannot hold"),
        ("permisions.deny", "[]", 2, "did you mean"),
    ] {
        let ran = place.run(&["config", "set", key, value]).with_code(code);
        assert!(ran.stderr.contains(said), "{key}: {ran:#?}");
        assert_eq!(read(&place, USER), "{\"model\": \"haiku\"}");
    }
}

/// A file that no session starts with can be mended with the command.
#[test]
fn a_file_that_is_refused_can_be_mended() {
    let place = Place::new();
    write(&place.path(USER), "{\"model\": 5, \"x\": 1}");
    assert!(place.run(&["config", "get", "model"]).with_code(2).stderr.contains("line 1: `model` must be a text"));
    place.run(&["config", "unset", "model"]).with_code(0);
    assert_eq!(read(&place, USER), "{\n  \"x\": 1\n}\n");
}

#[test]
fn files_of_a_project_are_changed_without_trust_in_them() {
    let place = Place::new();
    let ran = place.run(&["config", "set", "permissions.allow", "[\"Bash(make)\"]", "--scope", "local"]).with_code(0);
    assert!(ran.stderr.contains("without trust in the project: Bash(make)"), "{ran:#?}");
    let file = "work/.windlass/settings.local.json";
    assert!(read(&place, file).contains("Bash(make)"));
    place.run(&["config", "set", "model", "opus", "--scope", "project"]).with_code(0);
    assert!(read(&place, "work/.windlass/settings.json").contains("opus"));
    #[cfg(unix)]
    {
        let target = place.path("elsewhere.json");
        write(&target, "{}");
        std::fs::remove_file(place.path(file)).unwrap();
        std::os::unix::fs::symlink(&target, place.path(file)).unwrap();
        let ran = place.run(&["config", "set", "model", "opus", "--scope", "local"]).with_code(1);
        assert!(ran.stderr.contains("is a link"), "{ran:#?}");
        assert_eq!(read(&place, "elsewhere.json"), "{}");
    }
}

#[test]
fn the_schema_is_printed() {
    let schema: Value = serde_json::from_str(&Place::new().run(&["config", "schema"]).with_code(0).stdout).unwrap();
    assert!(schema["properties"]["permissions"]["properties"]["deny"].is_object());
}

/// The record has the digests that are shown before the user agrees.
#[test]
fn trust_shows_the_digests_that_it_records() {
    let place = Place::new();
    write(
        &place.path("work/.claude/settings.json"),
        r#"{"permissions":{"allow":["Bash(make)"]},"outputStyle":"short"}"#,
    );
    write(&place.path("work/.claude/output-styles/short.md"), "Be short.");
    let shown = place.run(&["trust", "--show"]).with_code(0).stdout;
    let digests: Vec<&str> = shown.lines().filter_map(|line| line.split(", ").nth(1)?.split(')').next()).collect();
    assert_eq!(digests.len(), 3, "{shown}");
    assert!(shown.contains("Bash(make)") && shown.contains("outputStyle") && shown.contains("style "), "{shown}");
    place.run(&["trust", "--yes"]).with_code(0);
    let record = read(&place, "home/.windlass/windlass-trust.json");
    for digest in digests {
        assert!(digest.len() == 12 && record.contains(&format!("\"{digest}")), "{digest}\n{record}");
    }
}
