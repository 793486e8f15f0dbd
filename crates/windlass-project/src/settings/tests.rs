use super::*;

#[test]
fn known_keys_are_read_and_the_rest_is_listed() {
    let text = r#"{
        "$schema": "https://example.com/s.json", "theme": "dark", "hooks": {}, "model": "m", "fallbackModel": "f",
        "useAutoModeDuringPlan": true, "permissions": {"allow": ["Read"], "deny": null, "defaultMode": "plan", "disableAutoMode": "disable",
                        "disableBypassPermissionsMode": "disable", "additionalDirectories": ["../docs"]},
        "env": {"A": "b", "N": 1, "T": true}, "sandbox": {"enabled": true, "network": {}}
    }"#;
    let settings = Settings::parse(text).unwrap();
    assert_eq!(settings.permissions.allow, ["Read"]);
    assert!(settings.permissions.deny.is_empty() && settings.permissions.bypass_disabled);
    assert!(settings.permissions.auto_disabled);
    assert_eq!(settings.permissions.default_mode.as_deref(), Some("plan"));
    assert_eq!(settings.permissions.additional_directories, [PathBuf::from("../docs")]);
    let env: Vec<_> = settings.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, [("A", "b"), ("N", "1"), ("T", "true")]);
    let models = &settings.models;
    assert_eq!((models.model.as_deref(), &models.fallback[..]), (Some("m"), &["f".to_owned()][..]));
    assert_eq!((settings.sandbox.enabled, settings.sandbox.fail_if_unavailable), (Some(true), None));
    assert_eq!(settings.keys.without_effect, ["useAutoModeDuringPlan"]);
    assert_eq!(Settings::parse("{}").unwrap(), Settings::default());
}

#[test]
fn what_could_hide_a_rule_is_an_error() {
    for text in [
        "",
        "[]",
        "null",
        "{",
        "{} {}",
        r#"{"permissions":{"deny":"Bash"}}"#,
        r#"{"permissions":{"deny":["Bash",1]}}"#,
        r#"{"permissions":["Bash"]}"#,
        r#"{"permissions":{"deny":["Bash"],"deny":[]}}"#,
        r#"{"permissions":{"deny":["Bash"]},"permissions":{}}"#,
        r#"{"permissions":{"deny":["Bash"],}}"#,
        r#"{"env":{"A":["b"]}}"#,
    ] {
        assert!(Settings::parse(text).is_err(), "{text}");
    }
}
