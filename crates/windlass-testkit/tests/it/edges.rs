//! Allowed dependencies between crates. Edges point down: data, ports, engine, adapters, product.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// For each crate, all crates of this workspace that it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("windlass-types", &[]),
    ("windlass-blocking", &[]),
    ("windlass-macros", &[]),
    ("windlass-model", &["windlass-types"]),
    ("windlass-tool", &["windlass-macros", "windlass-types"]),
    ("windlass-schema", &["windlass-tool", "windlass-types"]),
    ("windlass-shell", &["windlass-types"]),
    ("windlass-permission", &["windlass-shell", "windlass-types"]),
    ("windlass-hook", &["windlass-types"]),
    ("windlass-session", &["windlass-types"]),
    ("windlass-context", &["windlass-types"]),
    ("windlass-core", &["windlass-context", "windlass-permission", "windlass-session", "windlass-types"]),
    (
        "windlass-conversation",
        &["windlass-permission", "windlass-runtime", "windlass-session", "windlass-tool", "windlass-types"],
    ),
    ("windlass-acp", &["windlass-conversation", "windlass-tool", "windlass-types"]),
    (
        "windlass-terminal",
        &["windlass-context", "windlass-conversation", "windlass-permission", "windlass-tool", "windlass-types"],
    ),
    (
        "windlass-runtime",
        &[
            "windlass-blocking",
            "windlass-context",
            "windlass-core",
            "windlass-hook",
            "windlass-model",
            "windlass-permission",
            "windlass-schema",
            "windlass-session",
            "windlass-shell",
            "windlass-tool",
            "windlass-types",
        ],
    ),
    ("windlass-subagent", &["windlass-blocking", "windlass-tool", "windlass-types"]),
    ("windlass-http", &["windlass-blocking", "windlass-context", "windlass-model", "windlass-types"]),
    ("windlass-anthropic", &["windlass-http", "windlass-model", "windlass-types"]),
    ("windlass-openai", &["windlass-http", "windlass-model", "windlass-types"]),
    ("windlass-bedrock", &["windlass-http", "windlass-model", "windlass-types"]),
    ("windlass-gemini", &["windlass-http", "windlass-model", "windlass-types"]),
    (
        "windlass-mcp",
        &[
            "windlass-context",
            "windlass-http",
            "windlass-mcp-auth",
            "windlass-process",
            "windlass-schema",
            "windlass-tool",
            "windlass-types",
        ],
    ),
    ("windlass-mcp-auth", &["windlass-blocking", "windlass-http", "windlass-tool", "windlass-types"]),
    ("windlass-process", &["windlass-blocking", "windlass-tool"]),
    ("windlass-builtin-tools", &["windlass-blocking", "windlass-tool", "windlass-types"]),
    ("windlass-local", &["windlass-blocking", "windlass-process", "windlass-tool", "windlass-types"]),
    (
        "windlass-hook-runner",
        &["windlass-hook", "windlass-permission", "windlass-shell", "windlass-tool", "windlass-types"],
    ),
    ("windlass-index", &["windlass-blocking", "windlass-context", "windlass-local", "windlass-tool", "windlass-types"]),
    ("windlass-lsp", &["windlass-context", "windlass-process", "windlass-tool", "windlass-types"]),
    (
        "windlass-web",
        &[
            "windlass-blocking",
            "windlass-context",
            "windlass-http",
            "windlass-permission",
            "windlass-tool",
            "windlass-types",
        ],
    ),
    ("windlass-remote", &["windlass-local", "windlass-process", "windlass-tool", "windlass-types"]),
    ("windlass-program", &["windlass-blocking", "windlass-tool", "windlass-types"]),
    ("windlass-sandbox", &["windlass-blocking", "windlass-tool"]),
    ("windlass-store", &["windlass-blocking", "windlass-session", "windlass-tool", "windlass-types"]),
    ("windlass-postgres", &["windlass-blocking", "windlass-session", "windlass-types"]),
    (
        "windlass-project",
        &[
            "windlass-context",
            "windlass-hook-runner",
            "windlass-permission",
            "windlass-shell",
            "windlass-subagent",
            "windlass-tool",
            "windlass-types",
        ],
    ),
    (
        "windlass",
        &[
            "windlass-anthropic",
            "windlass-bedrock",
            "windlass-context",
            "windlass-conversation",
            "windlass-gemini",
            "windlass-hook",
            "windlass-hook-runner",
            "windlass-http",
            "windlass-index",
            "windlass-local",
            "windlass-lsp",
            "windlass-macros",
            "windlass-mcp",
            "windlass-model",
            "windlass-openai",
            "windlass-permission",
            "windlass-project",
            "windlass-program",
            "windlass-remote",
            "windlass-runtime",
            "windlass-sandbox",
            "windlass-schema",
            "windlass-session",
            "windlass-store",
            "windlass-subagent",
            "windlass-tool",
            "windlass-builtin-tools",
            "windlass-types",
            "windlass-web",
        ],
    ),
    (
        "windlass-protocol",
        &[
            "windlass-blocking",
            "windlass-conversation",
            "windlass-hook",
            "windlass-hook-runner",
            "windlass-permission",
            "windlass-runtime",
            "windlass-schema",
            "windlass-session",
            "windlass-tool",
            "windlass-types",
        ],
    ),
    ("windlass-mcp-server", &["windlass"]),
    ("windlass-worker", &["windlass", "windlass-postgres"]),
    (
        "windlass-cli",
        &[
            "windlass",
            "windlass-acp",
            "windlass-mcp-server",
            "windlass-postgres",
            "windlass-protocol",
            "windlass-terminal",
            "windlass-worker",
        ],
    ),
    (
        "windlass-testkit",
        &[
            "windlass-hook",
            "windlass-http",
            "windlass-model",
            "windlass-permission",
            "windlass-schema",
            "windlass-session",
            "windlass-tool",
            "windlass-types",
        ],
    ),
];

/// Crates below the engine must run without tokio and without HTTP.
const PURE: &[&str] = &[
    "windlass-types",
    "windlass-macros",
    "windlass-model",
    "windlass-tool",
    "windlass-schema",
    "windlass-shell",
    "windlass-permission",
    "windlass-hook",
    "windlass-session",
    "windlass-context",
    "windlass-core",
    "windlass-conversation",
];

struct Package {
    uses: BTreeSet<String>,
    /// Dependencies among them that only a feature uses.
    optional: BTreeSet<String>,
    dev: BTreeMap<String, String>,
}

fn workspace() -> BTreeMap<String, Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| {
            let mut found = Package { uses: BTreeSet::new(), optional: BTreeSet::new(), dev: BTreeMap::new() };
            for dependency in package["dependencies"].as_array().unwrap() {
                let name = dependency["name"].as_str().unwrap().to_owned();
                if dependency["kind"] == "dev" {
                    found.dev.insert(name, dependency["req"].as_str().unwrap().to_owned());
                } else {
                    if dependency["optional"] == true {
                        found.optional.insert(name.clone());
                    }
                    found.uses.insert(name);
                }
            }
            (package["name"].as_str().unwrap().to_owned(), found)
        })
        .collect()
}

#[test]
fn crates_use_only_what_lies_below_them() {
    let workspace = workspace();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    for (name, package) in &workspace {
        if ["windlass-examples", "windlass-benches", "windlass-benches-gates"].contains(&name.as_str()) {
            continue;
        }
        let allowed = allowed.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not in the table of edges"));
        for used in package.uses.iter().filter(|used| workspace.contains_key(*used)) {
            assert!(allowed.contains(&used.as_str()), "{name} may not use {used}");
        }
    }
}

#[test]
fn nothing_below_the_engine_knows_tokio_or_http() {
    let workspace = workspace();
    for name in PURE {
        let package = &workspace[*name];
        for banned in ["tokio", "reqwest", "hyper", "rusqlite"] {
            // The feature `driver` of the conversation has sessions of the runtime.
            let is_optional = *name == "windlass-conversation" && package.optional.contains(banned);
            assert!(is_optional || !package.uses.contains(banned), "{name} may not use {banned}");
        }
    }
    let types = &workspace["windlass-types"];
    let always: Vec<&str> = types.uses.difference(&types.optional).map(String::as_str).collect();
    assert_eq!(always, ["serde", "serde_json"]);
    assert_eq!(types.optional, BTreeSet::from(["schemars".to_owned()]));
}

#[test]
fn the_test_kit_is_a_path_only_development_dependency() {
    for (name, package) in workspace() {
        assert!(!package.uses.contains("windlass-testkit") || name == "windlass-benches", "{name}");
        if let Some(version) = package.dev.get("windlass-testkit") {
            assert_eq!(version, "*", "{name} names a version of the test kit, which makes a cycle when publishing");
        }
    }
}
