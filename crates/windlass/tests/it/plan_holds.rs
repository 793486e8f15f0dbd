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
/// Lines that write in ways that are easily overlooked. `@` is a file.
const HOSTILE: [&str; 40] = [
    "cat <(touch @)",
    "echo x >| @",
    "ls &> @",
    "ls >@ 2>&1",
    "echo \"${x:=$(touch @)}\"",
    "cat <<E\n$(touch @)\nE",
    "cat <<'E' > @\nx\nE",
    "sh <<< 'touch @'",
    "find . -name @ -exec rm {} +",
    "find . -fprint @",
    "find . -type f -ok rm {} ;",
    "sed -n 'w @' a.txt",
    "sed -n '1e touch @' a.txt",
    "sed --in-place=.bak s/a/b/ @",
    "awk 'BEGIN { print 1 > \"@\" }'",
    "awk 'BEGIN { system(\"touch @\") }'",
    "sort -o@ a.txt",
    "sort --compress-program=touch @",
    "uniq a.txt @",
    "git diff --output=@",
    "git -c core.pager='touch @' -p log",
    "git -c alias.log='!touch @' log",
    "GIT_EXTERNAL_DIFF='touch @' git diff",
    "git branch @",
    "git config user.name @",
    "git stash && git stash pop",
    "tar -cf @ a.txt",
    "env -S 'touch @'",
    "timeout 5 touch @",
    "nice nohup touch @",
    "xargs -I{} touch {} < a.txt",
    "printf @ | xargs touch",
    "eval 'touch @'",
    "t=touch; $t @",
    "touch\\\n @",
    "test -v 'a[$(touch @)]'",
    "ls # @\ntouch @",
    "function ls { touch @; }; ls",
    "trap 'touch @' EXIT",
    "exec > @",
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
        if self.below(4) == 0 {
            line = self.of(&HOSTILE).replace('@', self.of(&FILES));
        }
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
        let edit = json!({ "old_string": "a", "new_string": "b", "replace_all": true });
        match self.below(24) {
            0 => ("Write", json!({ "file_path": file, "content": "changed" })),
            1 => ("Read", json!({ "file_path": file })),
            2 => ("Edit", json!({ "file_path": file, "old_string": "a", "new_string": "b", "replace_all": true })),
            3 => ("NotebookEdit", json!({ "notebook_path": file, "cell_id": "0", "new_source": "b" })),
            4 => ("Glob", json!({ "pattern": "**/*" })),
            5 => ("Grep", json!({ "pattern": "a" })),
            6 => ("MultiEdit", json!({ "file_path": file, "edits": [edit] })),
            7 => ("TodoWrite", json!({ "todos": [{ "content": file, "status": "pending", "activeForm": file }] })),
            8 => ("TaskStop", json!({ "task_id": "1" })),
            9 => ("EnterPlanMode", json!({})),
            10 => ("ExitPlanMode", json!({ "plan": file })),
            11 | 12 => ("Bash", json!({ "command": self.line(), "run_in_background": true })),
            _ => ("Bash", json!({ "command": self.line() })),
        }
    }
}

/// Returns everything below a directory: kinds, contents, targets and rights.
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
    // The host would allow everything but another mode, and rules do.
    let permissions = Permissions::ask(|request| {
        let turns = request.tool.ends_with("PlanMode");
        async move { if turns { PermissionAnswer::deny("keep planning") } else { PermissionAnswer::allow() } }
    });
    let permissions =
        permissions.allow(["Bash", "Write", "Edit", "MultiEdit", "NotebookEdit"]).mode(PermissionMode::Plan);
    let run = query("go").provider(model).tools(coding_tools(&work)).permissions(permissions).max_turns(1_000_000);
    let result = run.await.unwrap();
    assert_eq!(result.text, "done", "the run ended before the last call");
    let allowed = count.saturating_sub(result.permission_denials.len());
    assert!(allowed > count / 20, "only {allowed} of {count} calls ran, which shows little");
    let after = snapshot(root.path());
    let changed: Vec<_> =
        before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(changed.is_empty(), "{changed:?} after {count} calls");
    println!("{count} calls, {allowed} ran, none changed any of {} files and directories", before.len());
}
