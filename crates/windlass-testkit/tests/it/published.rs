//! The JSON Schemas and the types for TypeScript in `docs/schema` match the Rust types, and the examples beside them
//! are valid.

mod typescript;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use windlass_session::SessionAudit;
use windlass_types::{Event, EventKind, JsonText, PermissionAnswer, PermissionRequest, RunResult};

const RENEW: &str = "for c in types testkit; do WINDLASS_RENEW=1 cargo test -p windlass-$c published; done";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(name)
}

/// Returns the schema of the written form.
fn written<T: JsonSchema>() -> Value {
    described(SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>().into())
}

/// Returns the schema of the form that is read.
fn read<T: JsonSchema>() -> Value {
    described(SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>().into())
}

/// Returns a schema whose descriptions have no links, and no programs in Rust.
fn described(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                *value = match value.take() {
                    Value::String(text) if name == "description" => {
                        let words = text.split("\n\n```").next().unwrap_or_default();
                        Value::String(without_links(words))
                    }
                    other => described(other),
                };
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = described(item.take())),
        _ => {}
    }
    schema
}

/// Returns a text of the documentation with `[words](target)` and `[words]` replaced by the words.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let (words, after) = link.split_once(']').unwrap_or((link, ""));
        plain.extend([before, words]);
        rest = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain + rest
}

/// Returns the schemas by the names of their files.
fn schemas() -> [(&'static str, Value); 5] {
    [
        ("event.schema.json", written::<Event>()),
        ("run-result.schema.json", written::<RunResult>()),
        ("permission-request.schema.json", written::<PermissionRequest>()),
        ("permission-answer.schema.json", read::<PermissionAnswer>()),
        ("session-audit.schema.json", written::<SessionAudit>()),
    ]
}

/// Returns all types of all schemas by their names.
fn definitions(schemas: &[(&str, Value)]) -> Map<String, Value> {
    let mut all = Map::new();
    for (_, schema) in schemas {
        let mut root = schema.as_object().unwrap().clone();
        root.remove("$schema");
        let mut found = match root.remove("$defs") {
            Some(Value::Object(found)) => found,
            _ => Map::new(),
        };
        let title = root.remove("title").unwrap();
        found.insert(title.as_str().unwrap().to_owned(), Value::Object(root));
        for (name, schema) in found {
            let before = all.insert(name.clone(), schema.clone());
            // A type of that name which is written in one form and read in another would need two names. An answer may
            // leave out more fields than the written form has.
            assert!(before.is_none_or(|before| before == schema) || name == "PermissionAnswer", "{name} has two forms");
        }
    }
    all
}

/// Returns the schema of the messages to a watcher. `windlass-runtime`, which writes them, tests their form.
fn watched() -> Value {
    let number = json!({"type": "integer", "minimum": 0});
    json!({
        "description": "What a watcher of a session sees: an event, or that the events with the numbers `from` up to, but not \
                        including, `to` are kept no longer.",
        "anyOf": [
            {"$ref": "#/$defs/Event"},
            {
                "type": "object",
                "properties": {"type": {"type": "string", "const": "missed"}, "from": number, "to": number},
                "required": ["type", "from", "to"],
            },
        ],
    })
}

/// Returns all files except the examples.
fn files() -> Vec<(&'static str, String)> {
    let schemas = schemas();
    let mut definitions = definitions(&schemas);
    definitions.insert("Watched".to_owned(), watched());
    let types = typescript::module(&definitions, RENEW);
    let json = |schema: &Value| format!("{}\n", serde_json::to_string_pretty(schema).unwrap());
    schemas.iter().map(|(name, schema)| (*name, json(schema))).chain([("windlass.d.ts", types)]).collect()
}

#[test]
fn the_schemas_and_the_types_are_published() {
    for (name, expected) in files() {
        if std::env::var_os("WINDLASS_RENEW").is_some() {
            std::fs::write(file(name), expected).unwrap();
            continue;
        }
        let found = std::fs::read_to_string(file(name)).unwrap_or_default();
        let first = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
        assert!(
            found == expected,
            "docs/schema/{name} is not what the types say (first difference: {first:?}). Renew it with `{RENEW}`"
        );
    }
}

fn lines(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(file(name)).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(!lines.is_empty(), "{name} is empty");
    lines
}

fn validator(name: &str) -> jsonschema::Validator {
    let (_, schema) = schemas().into_iter().find(|(known, _)| *known == name).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn check(validator: &jsonschema::Validator, text: &str) {
    let value = serde_json::from_str(text).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{text}: {errors:#?}");
}

#[test]
fn every_published_example_fits_its_schema() {
    let (event, result) = (validator("event.schema.json"), validator("run-result.schema.json"));
    let (request, answer) = (validator("permission-request.schema.json"), validator("permission-answer.schema.json"));
    let (mut results, mut requests) = (0, 0);
    for line in lines("events.jsonl") {
        check(&event, &line);
        match serde_json::from_str::<Event>(&line).unwrap().kind {
            EventKind::RunFinished(found) => {
                check(&result, JsonText::of(&found).unwrap().as_str());
                results += 1;
            }
            EventKind::PermissionRequested(found) => {
                check(&request, JsonText::of(&found).unwrap().as_str());
                requests += 1;
            }
            _ => {}
        }
    }
    assert!(results > 5 && requests > 1, "{results} results, {requests} questions");
    lines("answers.jsonl").iter().for_each(|line| check(&answer, line));
}

#[test]
fn the_examples_and_the_schema_name_the_same_types_of_events() {
    let (_, schema) = schemas().into_iter().next().unwrap();
    let variants = schema["anyOf"].as_array().unwrap();
    let declared: BTreeSet<String> =
        variants.iter().map(|variant| variant["properties"]["type"]["const"].as_str().unwrap().to_owned()).collect();
    let shown = |line: &String| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned();
    assert_eq!(lines("events.jsonl").iter().map(shown).collect::<BTreeSet<_>>(), declared);
}

#[test]
fn what_is_wrong_does_not_fit() {
    let event = validator("event.schema.json");
    let right = json!({
        "seq": 1, "session_id": "s", "agent": [], "run_id": "r", "turn": 1, "at": "2026-01-01T00:00:00.000Z",
        "type": "status", "status": "notice", "message": "m",
    });
    assert!(event.is_valid(&right));
    let changes: [(&str, Value); 7] = [
        ("seq", json!(-1)),
        ("seq", json!("1")),
        ("agent", json!("a")),
        ("type", json!("newer")),
        ("status", json!("newer")),
        ("message", Value::Null),
        ("turn", Value::Null),
    ];
    for (name, value) in changes {
        let mut wrong = right.clone();
        match value {
            Value::Null => drop(wrong.as_object_mut().unwrap().remove(name)),
            value => wrong[name] = value,
        }
        assert!(!event.is_valid(&wrong), "{wrong}");
    }
    let answer = validator("permission-answer.schema.json");
    for (given, fits) in [
        (json!({"behavior": "allow"}), true),
        (json!({"behavior": "deny", "message": "no"}), true),
        (json!({"behavior": "deny"}), false),
        (json!({"behavior": "ask"}), false),
        (json!({"behavior": "allow", "updatedInput": {}}), false),
    ] {
        assert_eq!(answer.is_valid(&given), fits, "{given}");
        assert_eq!(serde_json::from_str::<PermissionAnswer>(&given.to_string()).is_ok(), fits, "{given}");
    }
}

/// Checks for missing names and unclosed brackets; it is not a compiler of TypeScript.
#[test]
fn the_types_name_only_each_other() {
    let text = lines("windlass.d.ts").join("\n");
    let mut code = String::new();
    let mut rest = text.as_str();
    while let Some((before, comment)) = rest.split_once("/**") {
        code.push_str(before);
        rest = comment.split_once("*/").unwrap().1;
    }
    code.push_str(rest);
    let code: Vec<&str> = code.lines().filter(|line| !line.starts_with("//")).collect();
    // Text between quotes is words.
    let code = code.join("\n").split('"').step_by(2).collect::<Vec<_>>().join(" ");
    for (open, closed) in [('{', '}'), ('(', ')'), ('[', ']')] {
        assert_eq!(code.matches(open).count(), code.matches(closed).count(), "{open}");
    }
    let names = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| word.starts_with(char::is_uppercase) && *word != "Record").map(str::to_owned).collect()
    };
    let exported: BTreeSet<String> =
        code.split("export type ").skip(1).map(|rest| rest.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(names(&code), exported);
    let roots = ["Event", "RunResult", "PermissionRequest", "PermissionAnswer"];
    assert!(roots.iter().all(|root| exported.contains(*root)), "{exported:?}");
}

#[test]
fn links_of_the_documentation_are_words() {
    assert_eq!(without_links("See [`a`](b::c), [`d`] and e[0."), "See `a`, `d` and e0.");
    assert_eq!(without_links("plain"), "plain");
}
