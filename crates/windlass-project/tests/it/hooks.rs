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
fn hooks_of_files_that_count_run() {
    for event in ["PreToolUse", "PermissionRequest", "UserPromptSubmit", "PostToolUse", "Stop", "SessionStart"] {
        for layer in Layer::STRONGEST_FIRST {
            let resolved = resolve(&[file(layer, Standing::trusted(), &hooks(event))]).unwrap();
            resolved.check_hooks().unwrap();
            let found: Vec<_> = resolved.hooks.all.iter().map(|hook| (hook.layer, hook.value.to_string())).collect();
            assert_eq!(found, [(layer, "guard.sh".to_owned())], "{event}");
        }
    }
    let files =
        [Layer::User, Layer::Managed, Layer::Project].map(|layer| file(layer, Standing::trusted(), &hooks("Stop")));
    let resolved = resolve(&files).unwrap();
    let order: Vec<Layer> = resolved.hooks.all.iter().map(|hook| hook.layer).collect();
    assert_eq!(order, [Layer::Managed, Layer::Project, Layer::User]);
    let unknown = resolve(&[file(Layer::User, Standing::trusted(), &hooks("Unknown"))]).unwrap();
    assert!(notes(&unknown).contains("`hooks.Unknown` has no effect"), "{unknown:?}");
}

#[test]
fn a_hook_that_decides_and_cannot_be_used_keeps_the_session_from_starting() {
    for event in ["PreToolUse", "PermissionRequest", "UserPromptSubmit"] {
        for layer in Layer::STRONGEST_FIRST {
            let broken = json!({"hooks": {event: [{"hooks": [{"type": "comand", "command": "guard.sh"}]}]}});
            let error = resolve(&[file(layer, Standing::trusted(), &broken)]).unwrap().check_hooks().unwrap_err();
            let error = error.to_string();
            for part in [event, "guard.sh", &format!("/{layer}.json"), "onFailure", "disableAllHooks", "`command`"] {
                assert!(error.contains(part), "{part} is missing in {error}");
            }
        }
    }
}

#[test]
fn hooks_of_a_repository_that_is_not_trusted_do_not_count_and_stop_no_session() {
    for layer in [Layer::Project, Layer::Local] {
        for said in [hooks("PreToolUse"), json!({"hooks": {"PreToolUse": "x"}})] {
            let resolved = resolve(&[file(layer, Standing::untrusted(), &said)]).unwrap();
            resolved.check_hooks().unwrap();
            assert!(resolved.hooks.all.is_empty() && notes(&resolved).contains("`hooks` do not count"), "{resolved:?}");
        }
    }
}

#[test]
fn a_weaker_layer_sends_hooks_nowhere_else() {
    let list = |url: &str| json!({"allowedHttpHookUrls": [url], "httpHookAllowedEnvVars": [url]});
    let urls = |files: &[(Layer, &str)]| {
        let files: Vec<_> = files.iter().map(|(layer, url)| file(*layer, Standing::trusted(), &list(url))).collect();
        let requests = resolve(&files).unwrap().hooks.requests;
        assert_eq!(requests.urls, requests.variables);
        requests.urls.unwrap_or_default()
    };
    assert_eq!(urls(&[(Layer::User, "u"), (Layer::Flags, "f"), (Layer::Project, "p")]), ["u", "f"]);
    assert_eq!(urls(&[(Layer::User, "u"), (Layer::Managed, "m")]), ["m"]);
    assert_eq!(urls(&[(Layer::Local, "l"), (Layer::Project, "p")]), ["l", "p"]);
    assert_eq!(resolve(&[]).unwrap().hooks.requests.urls, None);
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
        assert_eq!(resolve(&files).unwrap().hooks.all.is_empty(), expected, "hook of {hook}, off by {by}");
    }
    let only = json!({"allowManagedHooksOnly": true});
    for (hook, expected) in [(Layer::User, true), (Layer::Flags, true), (Layer::Managed, false)] {
        let files = [file(hook, trusted(), &hooks("PreToolUse")), file(Layer::Managed, trusted(), &only)];
        assert_eq!(resolve(&files).unwrap().hooks.all.is_empty(), expected, "{hook}");
    }
}
