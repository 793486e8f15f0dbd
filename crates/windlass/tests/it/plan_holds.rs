//! Plan mode changes no byte, whatever a model calls.
//!
//! `WINDLASS_PLAN_CALLS` is how many calls are generated; default: 300.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use windlass::{PermissionAnswer, PermissionMode, Permissions, ScriptedModel, ScriptedTurn, coding_tools, query};

const CALLS_OF_A_MESSAGE: usize = 25;
const FILES: [&str; 6] = ["a.txt", "src/lib.rs", ".git/config", "link", "notes.ipynb", "new/file.txt"];
const PROGRAMS: [&str; 24] = [
    "cat",
    "ls -la",
    "rm -rf",
    "touch",
    "sed -i s/a/b/",
    "mv a.txt",
    "cp a.txt",
    "chmod 777",
    "ln -sf a.txt",
    "tee",
    "git checkout --",
    "git add",
    "git log -1 --",
    "find . -delete -name",
    "find . -name",
    "sort -o",
    "truncate -s0",
    "dd if=/dev/zero count=1 of=",
    "python3 -c 'open(\"a.txt\",\"w\")'",
    "env X=1 rm",
    "xargs rm <",
    "mkdir -p",
    "grep x",
    "head -c1",
];
const JOINTS: [&str; 9] = ["; ", " && ", " || ", " | ", " > ", " >> ", " & ", "\n", " 2> "];

/// Choices that are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of(&mut self, all: &[&'static str]) -> &'static str {
        all[self.below(all.len())]
    }

    fn command(&mut self) -> String {
        format!("{} {}", self.of(&PROGRAMS), self.of(&FILES))
    }

    /// A line for Bash: a few commands, joined and wrapped in some way.
    fn line(&mut self) -> String {
        let mut line = self.command();
        for _ in 0..self.below(3) {
            line = format!("{line}{}{}", self.of(&JOINTS), self.command());
        }
        match self.below(8) {
            0 => format!("$({line})"),
            1 => format!("bash -c '{line}'"),
            2 => format!("echo \"$({line})\""),
            3 => format!("cd src && {line}"),
            _ => line,
        }
    }

    /// A call of a tool.
    fn call(&mut self) -> (&'static str, Value) {
        let file = self.of(&FILES);
        match self.below(12) {
            0 => ("Write", json!({ "file_path": file, "content": "changed" })),
            1 => ("Read", json!({ "file_path": file })),
            2 => ("Edit", json!({ "file_path": file, "old_string": "a", "new_string": "b", "replace_all": true })),
            3 => ("NotebookEdit", json!({ "notebook_path": file, "cell_id": "0", "new_source": "b" })),
            4 => ("Glob", json!({ "pattern": "**/*" })),
            5 => ("Grep", json!({ "pattern": "a" })),
            6 => ("Bash", json!({ "command": self.line(), "run_in_background": true })),
            _ => ("Bash", json!({ "command": self.line() })),
        }
    }
}

/// All that is below a directory: kinds, contents, targets and rights.
fn snapshot(root: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(path) = left.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let content = if metadata.is_symlink() {
            std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else if metadata.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            Vec::new()
        } else {
            std::fs::read(&path).unwrap()
        };
        all.insert(path.to_string_lossy().into_owned(), (metadata.permissions().mode(), content));
    }
    all
}

#[tokio::test]
async fn no_generated_call_changes_a_byte_in_plan_mode() {
    let count = std::env::var("WINDLASS_PLAN_CALLS").ok().and_then(|count| count.parse().ok()).unwrap_or(300_usize);
    let root = tempfile::tempdir().unwrap();
    let work = root.path().join("work");
    for folder in ["src", ".git"] {
        std::fs::create_dir_all(work.join(folder)).unwrap();
    }
    let notebook = json!({ "cells": [{ "cell_type": "code", "id": "0", "metadata": {}, "outputs": [], "source": ["a"] }],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5 });
    for (file, text) in [
        ("a.txt", "a\nb\n"),
        ("src/lib.rs", "fn a() {}\n"),
        (".git/config", "[core]\n"),
        ("notes.ipynb", &notebook.to_string()),
    ] {
        std::fs::write(work.join(file), text).unwrap();
    }
    std::os::unix::fs::symlink("a.txt", work.join("link")).unwrap();
    let before = snapshot(root.path());
    let mut dice = Dice(1);
    let calls: Vec<_> = (0..count).map(|_| dice.call()).collect();
    let batches: Vec<Vec<_>> = calls.chunks(CALLS_OF_A_MESSAGE).map(<[_]>::to_vec).collect();
    let model = ScriptedModel::from_fn(move |_, at| match batches.get(at) {
        Some(batch) => {
            batch.iter().fold(ScriptedTurn::new(), |turn, (tool, input)| turn.tool_use(*tool, input.clone()))
        }
        None => ScriptedTurn::new().text("done"),
    });
    // The host would allow everything, and a rule does.
    let permissions = Permissions::ask(|_| async { PermissionAnswer::allow() });
    let permissions = permissions.allow(["Bash", "Write", "Edit"]).mode(PermissionMode::Plan);
    let run = query("go").provider(model).tools(coding_tools(&work)).permissions(permissions).max_turns(1_000_000);
    let result = run.await.unwrap();
    let allowed = count.saturating_sub(result.permission_denials.len());
    assert!(allowed > count / 20, "only {allowed} of {count} calls ran, which shows little");
    let after = snapshot(root.path());
    let changed: Vec<_> =
        before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(changed.is_empty(), "{changed:?} after {count} calls");
}
