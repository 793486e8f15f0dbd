use super::{KeyEffect, SettingKey, Shape};
use crate::settings::{Settings, settings_schema};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

fn is_renewing() -> bool {
    #[expect(clippy::disallowed_methods, reason = "asks whether published files are to be written anew")]
    std::env::var_os("WINDLASS_RENEW").is_some()
}

/// Returns a file with one key.
fn file_with(key: &SettingKey, value: &Value) -> String {
    match key.name.split_once('.') {
        Some((group, member)) => json!({group: {member: value}}).to_string(),
        None => json!({key.name: value}).to_string(),
    }
}

#[test]
fn no_key_is_listed_twice() {
    let mut seen = BTreeSet::new();
    for key in SettingKey::all() {
        assert!(seen.insert(key.name), "{}", key.name);
        assert_eq!(key.about.is_empty(), matches!(key.effect, KeyEffect::Appearance | KeyEffect::WithoutEffect));
    }
}

/// The parser accepts exactly the values that the table describes.
#[test]
fn each_key_takes_exactly_the_values_of_its_shape() {
    let values = [
        json!(null),
        json!(true),
        json!(1.5),
        json!("text"),
        json!([]),
        json!(["text"]),
        json!([1]),
        json!({}),
        json!({"a": "b"}),
        json!({"a": []}),
    ];
    for key in SettingKey::all() {
        for value in &values {
            let text = file_with(&key, value);
            let parsed = Settings::parse(&text);
            // Entries of `models` are checked further by their own parser.
            let is_deeper = key.name == "models" && !value.is_null() && *value != json!({});
            assert_eq!(parsed.is_ok(), key.shape.accepts(value) && !is_deeper, "{text}: {parsed:?}");
            if let Err(problem) = parsed
                && !is_deeper
            {
                let said = problem.to_string();
                assert!(said.starts_with(&format!("line 1: `{}` must be ", key.name)), "{said}");
            }
        }
        assert_eq!(Settings::parse(&file_with(&key, &Value::Null)).unwrap().permissions, Default::default());
    }
}

#[test]
fn each_key_counts_as_the_table_says() {
    let value = |key: &SettingKey| match key.shape {
        Shape::Flag => json!(true),
        Shape::Number => json!(7),
        Shape::Text | Shape::Word(_) => json!("plan"),
        Shape::Texts | Shape::TextOrTexts => json!(["Read(x)"]),
        Shape::Variables => json!({"a": "b"}),
        Shape::Words(_) => json!({"a": "off"}),
        // A model, or a server.
        Shape::Object => json!({"a": {"aliases": ["b"]}}),
        Shape::Any => json!([{"serverName": "x"}]),
    };
    // Only one of their values has an effect.
    let differing = BTreeMap::from([
        ("permissions.disableBypassPermissionsMode", json!("disable")),
        ("permissions.disableAutoMode", json!("disable")),
        ("disableAutoMode", json!("disable")),
        ("projectIndex", json!(false)),
        ("sandbox.network", json!({ "allowedDomains": ["a.com"] })),
        ("sandbox.filesystem", json!({ "denyRead": ["/a"] })),
        ("disableAllHooks", json!(true)),
        ("includeCoAuthoredBy", json!(false)),
    ]);
    for key in SettingKey::all() {
        let given = differing.get(key.name).cloned().unwrap_or_else(|| value(&key));
        let settings = Settings::parse(&file_with(&key, &given)).unwrap();
        let report = &settings.keys;
        assert!(report.unknown.is_empty(), "{}", key.name);
        assert_eq!(
            report.without_effect.contains(&key.name.to_owned()),
            key.effect == KeyEffect::WithoutEffect,
            "{}",
            key.name
        );
        let is_refused = matches!(key.effect, KeyEffect::Refused | KeyEffect::RefusedInManaged);
        assert_eq!(!report.refused.is_empty(), is_refused, "{}", key.name);
        let reads = settings != Settings { keys: settings.keys.clone(), ..Settings::default() };
        assert_eq!(reads, key.effect == KeyEffect::Honoured, "{} is read, or not, against the table", key.name);
        let off = Settings::parse(&file_with(&key, &Value::Null)).unwrap();
        assert!(off.keys.refused.is_empty(), "{} is refused when it says nothing", key.name);
    }
}

#[test]
fn a_key_that_is_not_known_is_reported_with_its_line_and_the_one_that_may_be_meant() {
    let text =
        "{\n \"permisions\": {\"deny\": []},\n \"permissions\": {\n  \"denny\": [],\n  \"allow\": []},\n \"zzz\": 1}";
    let unknown = Settings::parse(text).unwrap().keys.unknown;
    let seen: Vec<_> = unknown.iter().map(|key| (key.name.as_str(), key.line, key.meant)).collect();
    assert_eq!(
        seen,
        [
            ("permisions", Some(2), Some("permissions")),
            ("permissions.denny", Some(4), Some("permissions.deny")),
            ("zzz", Some(6), None),
        ]
    );
}

#[test]
fn a_wrong_value_is_an_error_with_its_line() {
    for (text, expected) in [
        ("{\n\"permissions\": {\n  \"deny\": \"Bash\"}}", "line 3: `permissions.deny` must be a list of texts"),
        ("\n\n{\"permissions\": [\"Bash\"]}", "line 3: `permissions` must be an object"),
        ("{\"env\": {\"A\": [\"b\"]}}", "line 1: `env` must be an object of texts"),
        ("[]", "it must be an object"),
    ] {
        let problem = Settings::parse(text).unwrap_err().to_string();
        assert!(problem.starts_with(expected), "{problem}");
    }
}

/// The published schema is up to date, and accepts the same files as the parser.
#[test]
fn the_schema_is_published() {
    let file = docs("schema/settings.schema.json");
    let schema = format!("{}\n", serde_json::to_string_pretty(&settings_schema()).unwrap());
    if is_renewing() {
        std::fs::write(&file, &schema).unwrap();
    }
    let published = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        published == schema,
        "docs/schema/settings.schema.json is not the schema of today: renew it with `WINDLASS_RENEW=1 cargo test -p \
         windlass-project keys`, and look at what changed"
    );
    let schema: Value = serde_json::from_str(&schema).unwrap();
    for key in SettingKey::all() {
        let pointer = format!("/properties/{}", key.name.replace('.', "/properties/"));
        assert!(schema.pointer(&pointer).is_some(), "{}", key.name);
    }
}

/// The page on settings lists each key under its effect in the code.
#[test]
fn the_documentation_lists_each_key_under_its_effect() {
    let page = std::fs::read_to_string(docs("settings.md")).unwrap();
    for (effect, marker) in [
        (KeyEffect::Honoured, "honoured"),
        (KeyEffect::Appearance, "passed over"),
        (KeyEffect::WithoutEffect, "without effect"),
        (KeyEffect::Refused, "refused"),
        (KeyEffect::RefusedInManaged, "refused in managed settings"),
    ] {
        let row = page.lines().find_map(|line| line.strip_prefix(&format!("| {marker} | "))).unwrap_or_default();
        let listed: BTreeSet<&str> = row.split('`').skip(1).step_by(2).collect();
        let known: BTreeSet<&str> = SettingKey::all().filter(|key| key.effect == effect).map(|key| key.name).collect();
        let written: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        assert_eq!(listed, known, "the row should be: | {marker} | {} |", written.join(", "));
    }
}
