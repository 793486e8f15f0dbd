//! Searches of files that are elsewhere say what they leave out, as those of this machine do.

use serde_json::{Value, json};
use windlass_builtin_tools::search::{Glob, Grep};
use windlass_local::LocalWorkspace;
use windlass_testkit::ToolBench;
use windlass_testkit::fake::MemoryWorkspace;
use windlass_testkit::fault::{FaultyWorkspace, FileOperation};
use windlass_tool::{DynTool, WorkspaceErrorKind};

const FILES: [(&str, &str); 7] = [
    (".gitignore", "build/\n*.log\n"),
    ("scripts/.gitignore", "*.py\n"),
    ("scripts/write.py", "needle"),
    ("build/a.py", "needle"),
    ("build/b/c.py", "needle"),
    ("logs/x.log", "needle"),
    ("src/a.rs", "needle"),
];

/// The files in memory, elsewhere.
fn far() -> MemoryWorkspace {
    FILES.iter().fold(MemoryWorkspace::new(), |files, (name, text)| files.with_file(format!("/work/{name}"), *text))
}

async fn text(tool: impl DynTool, files: impl windlass_tool::Workspace, root: &str, input: &Value) -> String {
    let bench = ToolBench::new(tool).workspace(files).root(root);
    bench.call(input.clone()).await.unwrap().content.text()
}

#[tokio::test]
async fn a_search_elsewhere_says_which_ignored_files_it_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for (name, content) in FILES {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let here = root.to_str().unwrap();
    for (input, says) in [
        (
            json!({"pattern": "needle", "path": "scripts"}),
            "(1 ignored file was not searched. Give one as `path` to search it.)",
        ),
        (json!({"pattern": "absent"}), "(2 ignored files and 1 ignored folder were not searched."),
        (json!({"pattern": "needle"}), "Found 1 file\nsrc/a.rs"),
        (json!({"pattern": "needle", "path": "scripts/write.py"}), "Found 1 file\nscripts/write.py"),
    ] {
        let found = text(Grep::new(), far(), "/work", &input).await;
        assert!(found.contains(says), "{input}: {found}");
        assert_eq!(found, text(Grep::new(), LocalWorkspace::new(), here, &input).await, "{input}");
    }
    for (input, says) in [
        (
            json!({"pattern": "**/*.log"}),
            "(1 ignored file and 1 ignored folder were left out. Set `include_ignored` to see what is there.)",
        ),
        (json!({"pattern": "**/*.log", "include_ignored": true}), "logs/x.log"),
        (json!({"pattern": "**/*.rs"}), "src/a.rs"),
    ] {
        let found = text(Glob::new(), far(), "/work", &input).await;
        assert!(found.contains(says), "{input}: {found}");
        assert_eq!(found, text(Glob::new(), LocalWorkspace::new(), here, &input).await, "{input}");
    }
}

/// Files that are too large for a search elsewhere, and those that cannot be read, are counted in the result.
#[tokio::test]
async fn a_search_elsewhere_says_what_it_could_not_search() {
    let large = format!("needle{}", " ".repeat(8 * 1024 * 1024));
    let files = far().with_file("/work/src/large.txt", large);
    let found = text(Grep::new(), files, "/work", &json!({"pattern": "needle"})).await;
    assert!(found.contains("1 files were left out because they are too large."), "{found}");
    let files = FaultyWorkspace::new(far());
    files.fail(FileOperation::Open, 3, WorkspaceErrorKind::AccessDenied);
    let found = text(Grep::new(), files, "/work", &json!({"pattern": "needle"})).await;
    assert!(found.contains("could not be read"), "{found}");
}
