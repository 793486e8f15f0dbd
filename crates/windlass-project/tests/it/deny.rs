//! A denial in one file is in effect, whatever the other files allow.

use proptest::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use windlass_permission::{CallFacts, Policy, PolicyConfig};
use windlass_project::{Layer, Origin, Settings, SettingsFile, Standing, resolve};
use windlass_types::{Access, Behavior, CallDigest, JsonText, PermissionMode};

fn layer() -> impl Strategy<Value = Layer> {
    prop::sample::select(Layer::STRONGEST_FIRST.to_vec())
}

fn rules() -> impl Strategy<Value = Vec<String>> {
    let rule =
        prop::sample::select(vec!["Bash", "WebFetch", "Read(/a/**)", "mcp__x", "Edit(src/**)", "Fetcher", "Read("]);
    prop::collection::vec(rule.prop_map(str::to_owned), 0..4)
}

/// Returns a file that denies nothing and widens as much as possible.
fn wide_file() -> impl Strategy<Value = SettingsFile> {
    let mode = prop::option::of(prop::sample::select(PermissionMode::ALL.to_vec()));
    (layer(), any::<bool>(), rules(), mode, any::<bool>()).prop_map(|(layer, trusted, allow, mode, env)| {
        let mut permissions = json!({ "allow": allow, "additionalDirectories": ["/x"] });
        if let Some(mode) = mode {
            permissions["defaultMode"] = json!(mode.as_str());
        }
        let mut text = json!({ "permissions": permissions });
        if env {
            text["env"] = json!({ "A": "b" });
        }
        file(layer, trusted, &text.to_string())
    })
}

fn file(layer: Layer, trusted: bool, text: &str) -> SettingsFile {
    let standing = if trusted { Standing::trusted() } else { Standing::untrusted() };
    let origin = Origin::File(PathBuf::from("/w/.claude/settings.json"));
    SettingsFile::new(layer, origin, "/w", Settings::parse(text).unwrap()).with_standing(standing)
}

fn decide(files: &[SettingsFile]) -> (Behavior, bool) {
    let resolved = resolve(files).unwrap();
    let mode = resolved.permissions.default_mode.as_ref().map(|mode| mode.value).unwrap_or_default();
    let config =
        PolicyConfig::new("/w").with_mode(mode).with_bypass_allowed(resolved.permissions.bypass_disabled.is_none());
    let mut policy = Policy::new(config);
    for set in &resolved.permissions.rules {
        policy.add_rules(set.source, set.behavior, &set.rules, &set.anchor).unwrap();
    }
    let input = JsonText::empty_object();
    let facts = CallFacts::new("Fetcher", input, Access::Network, CallDigest::new("0"), Path::new("/w"));
    (policy.decide(&facts, None, None).behavior, policy.is_hidden("Fetcher"))
}

proptest! {
    #[test]
    fn a_deny_of_any_layer_survives(
        mut files in prop::collection::vec(wide_file(), 0..6),
        layer in layer(),
        trusted in any::<bool>(),
        at in any::<prop::sample::Index>(),
    ) {
        let forbidding = file(layer, trusted, r#"{"permissions":{"deny":["Fetcher"]}}"#);
        files.insert(at.index(files.len() + 1), forbidding);
        prop_assert_eq!(decide(&files), (Behavior::Deny, true));
    }

    #[test]
    fn an_ask_of_any_layer_lifts_every_allow(
        mut files in prop::collection::vec(wide_file(), 0..6),
        layer in layer(),
        trusted in any::<bool>(),
        at in any::<prop::sample::Index>(),
    ) {
        let asking = file(layer, trusted, r#"{"permissions":{"ask":["Fetcher"]}}"#);
        files.insert(at.index(files.len() + 1), asking);
        prop_assert!(decide(&files).0 < Behavior::Allow);
    }

    #[test]
    fn files_of_an_untrusted_project_only_forbid(
        mut files in prop::collection::vec(wide_file(), 0..4),
        mut theirs in prop::collection::vec(wide_file(), 1..4),
        local in any::<bool>(),
    ) {
        let before = decide(&files);
        for file in &mut theirs {
            file.layer = if local { Layer::Local } else { Layer::Project };
            file.standing = Standing::untrusted();
        }
        files.extend(theirs);
        prop_assert!(decide(&files).0 <= before.0);
    }

    #[test]
    fn a_bypass_that_is_off_stays_off(
        mut files in prop::collection::vec(wide_file(), 0..6),
        layer in layer(),
        trusted in any::<bool>(),
    ) {
        files.push(file(layer, trusted, r#"{"permissions":{"disableBypassPermissionsMode":"disable"}}"#));
        prop_assert!(resolve(&files).unwrap().permissions.bypass_disabled.is_some());
    }
}
