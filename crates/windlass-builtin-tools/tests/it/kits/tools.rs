//! Every built-in tool keeps what a tool promises.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_builtin_tools::{
    ApplyPatch, Bash, Edit, MultiEdit, NotebookEdit, PowerShell, Read, TaskCreate, TaskGet, TaskList, TaskUpdate,
    TodoWrite, Write, search,
};
use windlass_local::{LocalProcess, LocalWorkspace};
use windlass_testkit::fake::MemoryWorkspace;
use windlass_testkit::{ToolBench, tool};
use windlass_tool::DynTool;

const NOTEBOOK: &str =
    r#"{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["x = 1"], "metadata": {}, "outputs": []}]}"#;

/// A tool in a folder of this machine that has a few files.
struct Local {
    bench: ToolBench,
    folder: tempfile::TempDir,
}

fn local(tool: impl DynTool) -> Local {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("src")).unwrap();
    std::fs::write(root.join("src/lib.rs"), "mod a;\nmod b;\n").unwrap();
    std::fs::write(root.join("a.ipynb"), NOTEBOOK).unwrap();
    std::fs::write(root.join("notes.txt"), "one\ntwo\nthree\n".repeat(20_000)).unwrap();
    let bench = ToolBench::new(tool)
        .workspace(LocalWorkspace::new())
        .process(LocalProcess::new(format!("kit{}", root.display()).replace('/', "-")))
        .root(&root)
        .env("PATH", "/usr/bin:/bin")
        .artifacts(root.join("artifacts"));
    Local { bench, folder }
}

async fn passes(bench: &ToolBench, samples: &[Value], unfit: &[Value]) {
    let name = bench.tool().spec().name;
    tool::all(bench, samples).await.unwrap_or_else(|found| panic!("{name}: {found}"));
    tool::rejects_unfit_inputs(bench, unfit).unwrap_or_else(|found| panic!("{name}: {found}"));
}

#[tokio::test]
async fn read_keeps_its_promises() {
    let samples = [
        json!({"file_path": "src/lib.rs"}),
        json!({"file_path": "notes.txt", "offset": 10, "limit": 2000}),
        json!({"file_path": "src"}),
        json!({"file_path": "src/lbi.rs"}),
        json!({"file_path": "a.ipynb"}),
    ];
    let unfit = [json!({}), json!({"file_path": 1}), json!({"file_path": "a", "offset": "b"}), json!({"path": "a"})];
    passes(&local(Read::default()).bench, &samples, &unfit).await;
    let files = MemoryWorkspace::new().with_file("/work/src/lib.rs", "mod a;").with_file("/work/notes.txt", "one");
    passes(&ToolBench::new(Read::default()).workspace(files), &samples, &unfit).await;
}

#[tokio::test]
async fn write_keeps_its_promises() {
    let samples =
        [json!({"file_path": "new/deep/file", "content": "x\n"}), json!({"file_path": "src/lib.rs", "content": ""})];
    let unfit = [json!({"file_path": "a"}), json!({"content": "a"}), json!({"file_path": "a", "content": null})];
    passes(&local(Write::default()).bench, &samples, &unfit).await;
    passes(&ToolBench::new(Write::default()), &samples, &unfit).await;
}

/// A bench for a tool that edits what was read before in the same session.
async fn after_reading(tool: impl DynTool, path: &str) -> Local {
    let reader = local(Read::default());
    reader.bench.call(json!({"file_path": path})).await.unwrap();
    let parts = reader.bench.parts();
    let bench = ToolBench::shared(Arc::new(tool)).with(|own| *own = parts);
    Local { bench, folder: reader.folder }
}

#[tokio::test]
async fn edits_keep_their_promises() {
    let edit = after_reading(Edit::default(), "src/lib.rs").await;
    let samples = [
        json!({"file_path": "src/lib.rs", "old_string": "mod a", "new_string": "mod c"}),
        json!({"file_path": "src/lib.rs", "old_string": "mod", "new_string": "mod", "replace_all": true}),
        json!({"file_path": "none", "old_string": "a", "new_string": "b"}),
    ];
    let unfit = [json!({"file_path": "a"}), json!({"file_path": "a", "old_string": 1, "new_string": "b"})];
    passes(&edit.bench, &samples, &unfit).await;
    let edited = std::fs::read_to_string(edit.folder.path().join("src/lib.rs")).unwrap();
    assert_eq!(edited, "mod c;\nmod b;\n", "the first sample did something");

    let multi = after_reading(MultiEdit::default(), "src/lib.rs").await;
    let steps = json!([
        {"old_string": "mod a", "new_string": "mod c"},
        {"old_string": "mod b", "new_string": "mod d"},
    ]);
    let unfit = [json!({"file_path": "a", "edits": "b"}), json!({"file_path": "a", "edits": [{}]})];
    passes(&multi.bench, &[json!({"file_path": "src/lib.rs", "edits": steps})], &unfit).await;
    let edited = std::fs::read_to_string(multi.folder.path().join("src/lib.rs")).unwrap();
    assert_eq!(edited, "mod c;\nmod d;\n");
}

#[tokio::test]
async fn edits_of_notebooks_keep_their_promises() {
    let notebook = after_reading(NotebookEdit::default(), "a.ipynb").await;
    let call = |cell: &str, source: &str| json!({"notebook_path": "a.ipynb", "cell_id": cell, "new_source": source});
    let samples = [call("cell-1", "x = 2"), call("cell-9", ""), call("", "")];
    let unfit = [
        json!({"notebook_path": "a.ipynb"}),
        json!({"notebook_path": "a", "new_source": "x", "cell_type": "poem"}),
        json!({"notebook_path": "a", "new_source": "x", "edit_mode": 1}),
    ];
    passes(&notebook.bench, &samples, &unfit).await;
    let edited = std::fs::read_to_string(notebook.folder.path().join("a.ipynb")).unwrap();
    assert_eq!(edited, NOTEBOOK.replace("x = 1", "x = 2"));
}

#[tokio::test]
async fn patches_keep_their_promises() {
    let patch = after_reading(ApplyPatch::default(), "src/lib.rs").await;
    let patched = |body: &str| json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch")});
    let samples = [
        patched("*** Update File: src/lib.rs\n@@\n-mod a;\n+mod c;\n*** Add File: new/deep/file\n+x"),
        patched("*** Delete File: none"),
        patched("*** Update File: src/lib.rs\n*** Move to: src/main.rs\n mod b;\n+mod d;"),
    ];
    let unfit = [json!({}), json!({"input": 1}), json!({"input": ""}), json!({"input": "*** Begin Patch"})];
    passes(&patch.bench, &samples, &unfit).await;
    let edited = std::fs::read_to_string(patch.folder.path().join("src/main.rs")).unwrap();
    assert_eq!(edited, "mod c;\nmod b;\nmod d;\n", "the samples did something");
}

#[tokio::test]
async fn searches_keep_their_promises() {
    let samples = [
        json!({"pattern": "**/*.rs"}),
        json!({"pattern": "*", "path": "src"}),
        json!({"pattern": "a", "path": "none"}),
    ];
    passes(&local(search::Glob::new()).bench, &samples, &[json!({}), json!({"pattern": 1})]).await;
    let samples = [json!({"path": "."}), json!({"path": "src", "ignore": ["*.rs"]}), json!({"path": "none"})];
    let unfit = [json!({}), json!({"path": 1}), json!({"path": ".", "ignore": "a"})];
    passes(&local(search::Ls::default()).bench, &samples, &unfit).await;
    let samples = [
        json!({"pattern": "mod [ab]"}),
        json!({"pattern": "t.*e", "path": "notes.txt", "output_mode": "content", "-n": true}),
        json!({"pattern": "(unclosed"}),
        json!({"pattern": "one", "output_mode": "count"}),
    ];
    let unfit = [json!({}), json!({"pattern": []}), json!({"pattern": "a", "output_mode": "poem"})];
    passes(&local(search::Grep::new()).bench, &samples, &unfit).await;
}

#[tokio::test]
async fn the_todo_list_keeps_its_promises() {
    let item = json!({"content": "Fix it", "status": "in_progress", "activeForm": "Fixing it"});
    let unfit = [json!({}), json!({"todos": "a"}), json!({"todos": [{"content": "a", "status": "lost"}]})];
    passes(&ToolBench::new(TodoWrite::default()), &[json!({"todos": [item]}), json!({"todos": []})], &unfit).await;
}

#[tokio::test]
async fn the_task_list_keeps_its_promises() {
    let create = [
        json!({"subject": "Fix it", "description": "All of it."}),
        json!({"subject": "", "description": ""}),
        json!({"subject": "Fix it", "description": "x", "activeForm": "Fixing it", "metadata": {"a": [1]}}),
    ];
    let unfit = [json!({}), json!({"subject": "x"}), json!({"subject": "x", "description": "y", "metadata": 1})];
    passes(&ToolBench::new(TaskCreate::default()), &create, &unfit).await;
    let update = [json!({"taskId": "1", "status": "deleted"}), json!({"taskId": "#9", "addBlocks": ["1"]})];
    let unfit = [json!({}), json!({"taskId": 1}), json!({"taskId": "1", "status": "lost"})];
    passes(&ToolBench::new(TaskUpdate::default()), &update, &unfit).await;
    passes(&ToolBench::new(TaskGet::default()), &[json!({"taskId": "1"})], &[json!({}), json!({"taskId": []})]).await;
    passes(&ToolBench::new(TaskList::default()), &[json!({})], &[]).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn powershell_keeps_its_promises() {
    // The behaviour of a real one is not tested here.
    let powershell = local(PowerShell::new().with_shell("/bin/echo"));
    let samples = [json!({"command": "Get-ChildItem"}), json!({"command": "exit 3", "timeout": 60000})];
    let unfit = [json!({}), json!({"command": ["ls"]}), json!({"command": "ls", "timeout": "long"})];
    passes(&powershell.bench, &samples, &unfit).await;
    let output = powershell.bench.call(&samples[0]).await.unwrap();
    let shown = crate::programs::support::text(&output);
    assert!(shown.starts_with("-NoLogo -NoProfile -NonInteractive -OutputFormat Text -EncodedCommand "), "{shown}");
    for command in ["", " \n", "a\0b"] {
        powershell.bench.call(json!({"command": command})).await.unwrap_err();
    }
}

#[tokio::test]
async fn bash_keeps_its_promises() {
    let samples = [
        json!({"command": "ls; cat notes.txt", "description": "Look around"}),
        json!({"command": "cd src && pwd"}),
        json!({"command": "sleep 100"}),
        json!({"command": "exit 3", "timeout": 1000}),
    ];
    let unfit = [json!({}), json!({"command": ["ls"]}), json!({"command": "ls", "timeout": "long"})];
    // The third sample ends by its cancel only: it is not run to its end.
    let bash = local(Bash::new());
    let ending: Vec<Value> = [0, 1, 3].map(|at: usize| samples[at].clone()).into();
    passes(&bash.bench, &ending, &unfit).await;
    tool::answers_a_cancel(&bash.bench, &samples[2]).await.unwrap();
}
