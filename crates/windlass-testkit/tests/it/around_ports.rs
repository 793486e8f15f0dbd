//! Tools reach files and programs only through the ports `Workspace` and `Process`. Exceptions that use this machine
//! directly are listed here, with the reason.

use std::fs;
use std::path::{Path, PathBuf};

/// Names of modules that reach files or programs of this machine.
const LOCAL: &[&str] = &[
    "std::fs",
    "tokio::fs",
    "File::open",
    "OpenOptions",
    "rustix::",
    "process_wrap",
    "windlass_process",
    "std::process",
    "tokio::process",
    "canonicalize(",
    "symlink_metadata(",
    "read_dir(",
    ".exists()",
    ".try_exists()",
];

/// Files and folders of `windlass-builtin-tools` that may use them, with the reason.
const MAY: &[(&str, &str)] = &[
    ("workspace", "is the port for files of this machine"),
    ("process", "is the port for programs of this machine"),
    ("tree.rs", "is the tree of files of this machine, behind its port"),
    ("search/glob.rs", "runs only where the workspace is local"),
    ("search/grep/worker.rs", "runs only where the workspace is local"),
    ("search/ignored.rs", "runs only where the workspace is local; elsewhere contents are given to it"),
    ("search/testing.rs", "is for tests"),
    ("search/survey/watch.rs", "runs only where the workspace is local"),
    ("search/walk.rs", "runs only where the workspace is local"),
    ("bash/background.rs", "looks at the private file with the output of a command, which is here"),
    ("bash/cwd.rs", "reads the file in which a shell of this machine says where it ended"),
    ("bash/powershell.rs", "looks for PowerShell where Windows has it; the tool is offered there alone"),
    ("bash/report.rs", "looks at the private file with the output of a command, which is here"),
];

fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../windlass-builtin-tools/src").canonicalize().unwrap()
}

/// Collects the source files of a folder that are not tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|end| end == "rs") => found.push(path),
            false => {}
        }
    }
}

/// Returns the uses of this machine in a text, outside of comments and of the tests at its end.
fn uses(text: &str) -> Vec<&'static str> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code: String =
        text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n");
    LOCAL.iter().copied().filter(|local| code.contains(local)).collect()
}

#[test]
fn tools_reach_files_and_programs_through_their_ports() {
    let root = tools();
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 60, "{} files were found", files.len());
    let mut used = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_owned();
        let found = uses(&fs::read_to_string(&file).unwrap());
        let may = MAY.iter().find(|(may, _)| name.starts_with(may));
        assert!(found.is_empty() || may.is_some(), "{} uses {found:?} beside the ports", name.display());
        if let (false, Some((may, _))) = (found.is_empty(), may) {
            used.push(*may);
        }
    }
    // An unused exception would hide the next use.
    for (may, _) in MAY {
        assert!(used.contains(may), "{may} uses nothing of this machine any more");
    }
}

#[test]
fn what_uses_this_machine_is_found() {
    assert_eq!(uses("use std::fs::File;\nlet a = File::open(path);"), ["std::fs", "File::open"]);
    assert_eq!(uses("// std::fs\n#[cfg(test)]\nmod tests {\nuse std::fs;\n}"), [""; 0]);
}
