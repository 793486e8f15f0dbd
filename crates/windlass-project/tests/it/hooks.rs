//! Hooks that settings want to decide: none of them runs, so a session must not start as if there were none.

use serde_json::{Value, json};
use std::path::PathBuf;
use windlass_project::{Layer, Origin, Resolved, Settings, SettingsFile, Standing, resolve};

fn file(layer: Layer, standing: Standing, settings: &Value) -> SettingsFile {
    let origin = Origin::File(PathBuf::from(format!("/{layer}.json")));
    SettingsFile::new(layer, origin, "/w", Settings::parse(&settings.to_string()).unwrap()).with_standing(standing)
}

fn hooks(event: &str) -> Value {
    json!({"hooks": {event: [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard.sh"}]}]}})
}

fn notes(resolved: &Resolved) -> String {
    resolved.notes.iter().map(|note| format!("{note}\n")).collect()
}

#[test]
fn a_hook_that_decides_keeps_the_session_from_starting() {
    for event in ["PreToolUse", "PermissionRequest", "UserPromptSubmit"] {
        for layer in Layer::STRONGEST_FIRST {
            let error = resolve(&[file(layer, Standing::trusted(), &hooks(event))]).unwrap().check_hooks().unwrap_err();
            let error = error.to_string();
            for part in [event, "guard.sh", &format!("/{layer}.json"), "onFailure", "disableAllHooks"] {
                assert!(error.contains(part), "{part} is missing in {error}");
            }
        }
    }
    for event in ["PostToolUse", "Stop", "SessionStart", "Unknown"] {
        let resolved = resolve(&[file(Layer::User, Standing::trusted(), &hooks(event))]).unwrap();
        resolved.check_hooks().unwrap();
        assert!(notes(&resolved).contains(&format!("without effect in this version: hooks.{event}")), "{resolved:?}");
    }
}

#[test]
fn a_repository_that_is_not_trusted_stops_no_session() {
    for layer in [Layer::Project, Layer::Local] {
        let resolved = resolve(&[file(layer, Standing::untrusted(), &hooks("PreToolUse"))]).unwrap();
        resolved.check_hooks().unwrap();
        assert!(notes(&resolved).contains("hooks.PreToolUse"));
    }
}

#[test]
fn what_is_not_understood_below_such_an_event_counts_as_a_hook() {
    let passes = |hooks: Value| {
        let settings = json!({ "hooks": hooks });
        resolve(&[file(Layer::User, Standing::trusted(), &settings)]).unwrap().check_hooks().is_ok()
    };
    for odd in [
        json!("x"),
        json!({"x": 1}),
        json!([{"command": "x"}]),
        json!([1]),
        json!([{"hooks": "x"}]),
        json!([{"hooks": [1]}]),
    ] {
        assert!(!passes(json!({"PreToolUse": odd})), "{odd}");
    }
    assert!(!passes(json!("x")) && !passes(json!(["x"])));
    for none in [
        json!(null),
        json!({}),
        json!({"PreToolUse": []}),
        json!({"PreToolUse": null}),
        json!({"PreToolUse": [{"matcher": "x", "hooks": []}]}),
    ] {
        assert!(passes(none.clone()), "{none}");
    }
    let continues = json!([{"hooks": [{"type": "command", "command": "x", "onFailure": "continue"}]}]);
    assert!(passes(json!({ "PreToolUse": continues })));
}

#[test]
fn who_may_switch_hooks_off() {
    let off = json!({"disableAllHooks": true});
    let (trusted, untrusted) = (Standing::trusted, Standing::untrusted);
    for (hook, by, standing, expected) in [
        (Layer::User, Layer::User, trusted(), true),
        (Layer::User, Layer::Flags, trusted(), true),
        (Layer::User, Layer::Local, trusted(), true),
        (Layer::User, Layer::Managed, trusted(), true),
        (Layer::Managed, Layer::Managed, trusted(), true),
        (Layer::Project, Layer::Project, trusted(), true),
        (Layer::Project, Layer::User, trusted(), true),
        (Layer::Managed, Layer::Flags, trusted(), false),
        (Layer::Managed, Layer::User, trusted(), false),
        (Layer::User, Layer::Project, trusted(), false),
        (Layer::User, Layer::Project, untrusted(), false),
        (Layer::User, Layer::Local, untrusted(), false),
        (Layer::Flags, Layer::Project, trusted(), false),
    ] {
        let files = [file(hook, trusted(), &hooks("PreToolUse")), file(by, standing, &off)];
        assert_eq!(resolve(&files).unwrap().check_hooks().is_ok(), expected, "hook of {hook}, off by {by}");
    }
    let only = json!({"allowManagedHooksOnly": true});
    for (hook, expected) in [(Layer::User, true), (Layer::Flags, true), (Layer::Managed, false)] {
        let files = [file(hook, trusted(), &hooks("PreToolUse")), file(Layer::Managed, trusted(), &only)];
        assert_eq!(resolve(&files).unwrap().check_hooks().is_ok(), expected, "{hook}");
    }
}
