//! The tables of the guide's page on permissions say what the policy says.

use serde_json::{Map, json};
use std::path::Path;
use std::sync::Arc;
use windlass::tool::{ToolSet, Workspace};
use windlass::{
    JsonText, PermissionMode, Permissions, coding_tools,
    permission::{Behavior, RuleSource},
    tool::ToolUse,
};
use windlass_permission::{Policy, PolicyConfig};
use windlass_runtime::judge;
use windlass_testkit::fake::MemoryWorkspace;

const PAGE: &str = include_str!("../../../../docs/guide/permissions.md");

/// The tables of the page: the names of the columns, and the rows.
fn tables() -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    let mut tables: Vec<(Vec<String>, Vec<Vec<String>>)> = Vec::new();
    let mut is_inside = false;
    for line in PAGE.lines() {
        let Some(row) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) else {
            is_inside = false;
            continue;
        };
        let cells: Vec<String> =
            row.replace("\\|", "\0").split('|').map(|cell| cell.trim().replace('\0', "|")).collect();
        match tables.last_mut().filter(|_| is_inside) {
            None => tables.push((cells, Vec::new())),
            Some((_, rows)) if cells.iter().any(|cell| !cell.starts_with("---")) => rows.push(cells),
            Some(_) => {}
        }
        is_inside = true;
    }
    tables
}

/// The texts in backticks, each with what stands in front of it.
fn code(cell: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = cell.split('`').collect();
    parts.chunks_exact(2).map(|pair| (pair[0].trim(), pair[1])).collect()
}

fn behavior(word: &str) -> Behavior {
    match word {
        "allow" => Behavior::Allow,
        "ask" => Behavior::Ask,
        "deny" => Behavior::Deny,
        other => panic!("{other:?} is no behaviour"),
    }
}

/// A call as the page writes it: the tool, what it is about, and more of its input.
fn call(text: &str) -> ToolUse {
    let (text, more) = match text.find("{\"") {
        Some(at) => (text[..at].trim(), serde_json::from_str(&text[at..]).unwrap()),
        None => (text, Map::new()),
    };
    let (tool, about) = text.split_once(' ').unwrap_or((text, ""));
    let mut input = match tool {
        "Bash" => json!({"command": about}),
        "Read" => json!({"file_path": about}),
        "Write" => json!({"file_path": about, "content": "x"}),
        "Edit" => json!({"file_path": about, "old_string": "a", "new_string": "b"}),
        "MultiEdit" => json!({"file_path": about, "edits": [{"old_string": "a", "new_string": "b"}]}),
        "NotebookEdit" => json!({"notebook_path": about, "cell_id": "a", "new_source": "x"}),
        "apply_patch" => {
            // The first file becomes another, if there are two.
            let (from, to) = about.split_once(' ').unwrap_or((about, ""));
            let moved = if to.is_empty() { String::new() } else { format!("*** Move to: {to}\n") };
            json!({"input": format!("*** Begin Patch\n*** Update File: {from}\n{moved}-a\n+b\n*** End Patch")})
        }
        "Grep" => json!({"pattern": "x", "path": about}),
        "WebFetch" => json!({"url": about, "prompt": "x"}),
        "Agent" => json!({"subagent_type": about, "description": "x", "prompt": "x"}),
        "Skill" => json!({"skill": about}),
        _ => json!({}),
    };
    input.as_object_mut().unwrap().extend(more);
    ToolUse::new("toolu_1", tool, JsonText::of(&input).unwrap())
}

fn policy(mode: Option<&str>, rules: &str) -> Policy {
    let mode: PermissionMode = mode.unwrap_or("default").parse().unwrap();
    let config = PolicyConfig::new("/w").with_home(Some("/home/u".into())).with_mode(mode).with_bypass_allowed(true);
    let mut policy = Policy::new(config);
    for (word, rule) in code(rules) {
        let odd = policy.add_rules(RuleSource::CliArg, behavior(word), &[rule], Path::new("/w")).unwrap();
        assert!(odd.is_empty(), "{rule}: {odd:?}");
    }
    policy
}

#[tokio::test]
async fn the_calls_of_the_page_have_its_verdicts() {
    let kit = coding_tools("/w").with(windlass_builtin_tools::ApplyPatch::default());
    let tools = ToolSet::new(kit.tools().iter().cloned()).unwrap();
    let mut files = MemoryWorkspace::new();
    for directory in
        ["/w/src", "/w/vendor/src", "/w/locked", "/w/secret", "/home/u/notes", "/etc", "/tmp", "/x", "/opt"]
    {
        files = files.with_directory(directory);
    }
    for file in ["/w/a", "/w/.env", "/w/locked/x", "/w/vendor/x/.env", "/etc/hostname", "/etc/passwd"] {
        files = files.with_file(file, "x\n");
    }
    let files: Arc<dyn Workspace> = Arc::new(files);
    let (mut judged, mut wrong) = (0, Vec::new());
    for (columns, rows) in tables() {
        let Some(first) = columns.iter().position(|column| column == "allowed") else { continue };
        for row in rows {
            let policy = policy((columns[0] == "mode").then(|| row[0].as_str()), &row[first - 1]);
            for (column, expected) in [Behavior::Allow, Behavior::Ask, Behavior::Deny].into_iter().enumerate() {
                for (_, text) in code(&row[first + column]) {
                    let decision = judge(&tools, &files, &policy, &call(text), Path::new("/w")).await;
                    judged += 1;
                    if decision.behavior != expected {
                        wrong.push(format!("{}: {text}: {expected:?}, but {decision:?}", row[first - 1]));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(judged > 150, "only {judged} calls of the page were judged");
}

#[test]
fn rules_that_cannot_be_used_are_said_to_be_so() {
    let mut checked = 0;
    for (columns, rows) in tables() {
        if columns != ["rule", "what is said"] {
            continue;
        }
        for row in rows {
            let [(word, rule)] = code(&row[0])[..] else { panic!("{row:?}") };
            let [(kind, expected)] = code(&row[1])[..] else { panic!("{row:?}") };
            let said = match (kind, Permissions::check_rules(behavior(word), &[rule.to_owned()])) {
                ("error", Err(error)) => error,
                ("warning", Ok(warnings)) => warnings.join("; "),
                (_, said) => panic!("{rule}: {said:?}"),
            };
            assert!(said.replace('`', "").contains(expected), "{rule}: {said}");
            checked += 1;
        }
    }
    assert_eq!(checked, 24);
}
