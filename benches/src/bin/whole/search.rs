//! Grep and Glob beside `rg`, over fifty thousand files.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use windlass::{
    JsonText, ToolCx, ToolError,
    tool::{DynTool, Permit},
};
use windlass_benches::cx::in_folder;
use windlass_benches::stats::{median, micros};
use windlass_builtin_tools::search::{Glob, Grep};
use windlass_tool::JudgedPath;
use windlass_types::CallDigest;

use crate::peer::runtime;
use crate::report::Report;

const FOLDERS: usize = 500;
const FILES: usize = 100;
const ROUNDS: usize = 15;

fn tree(root: &Path) -> Result<()> {
    std::fs::create_dir(root.join(".git"))?;
    std::fs::write(root.join(".gitignore"), "*.log\ntarget/\n")?;
    for folder in 0..FOLDERS {
        let path = root.join(format!("group-{}/folder-{folder}", folder % 25));
        std::fs::create_dir_all(&path)?;
        for file in 0..FILES {
            let mut text = String::new();
            for line in 0..24 {
                text.push_str(&format!(
                    "    let value_{line} = compute({folder}, {file}); // some code to look through\n"
                ));
            }
            if file == folder % FILES {
                text.push_str("// the needle is here\n");
            }
            let name = if file % 4 == 0 { format!("note-{file}.md") } else { format!("file-{file}.rs") };
            std::fs::File::create(path.join(name))?.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

fn failed(error: ToolError) -> anyhow::Error {
    anyhow::anyhow!("{}", error.model_text())
}

fn ours(runtime: &Runtime, tool: Arc<dyn DynTool>, input: &Value, cx: &ToolCx) -> Result<Duration> {
    let began = Instant::now();
    let call = tool.prepare(&JsonText::of(input)?).map_err(failed)?;
    let output = runtime.block_on(call.call(cx.clone())).map_err(failed)?;
    ensure!(!output.is_error, "the search failed");
    Ok(began.elapsed())
}

fn theirs(root: &Path, arguments: &[&str]) -> Result<Duration> {
    let began = Instant::now();
    let output = Command::new("rg").args(arguments).current_dir(root).stdin(Stdio::null()).output()?;
    ensure!(!output.stdout.is_empty(), "rg found nothing");
    Ok(began.elapsed())
}

pub fn measure(report: &mut Report) -> Result<()> {
    if Command::new("rg").arg("--version").output().is_err() {
        report.note("The search rows are missing: `rg` is not installed.");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    tree(&root)?;
    let permit = Permit::new(CallDigest::new("00")).with_reads(vec![JudgedPath::new(&root, &root)]);
    let (runtime, cx) = (runtime()?, in_folder(&root, permit));
    let grep: Arc<dyn DynTool> = Arc::new(Grep::default());
    let glob: Arc<dyn DynTool> = Arc::new(Glob::default());
    let found = "the needle is here";
    let (rust, all) = (json!({"pattern": "**/*.rs"}), json!({"pattern": "**/*"}));
    let lines = json!({"pattern": found, "output_mode": "content", "head_limit": 1000});
    let files = json!({"pattern": "need.e is h[a-z]+", "output_mode": "files_with_matches"});
    for (name, target, arguments, tool, input) in [
        ("Grep, lines with a word, beside `rg -n`", "1.0×", &["-n", found][..], &grep, &lines),
        ("Grep, files with a pattern, beside `rg -l`", "1.0×", &["-l", "need.e is h[a-z]+"], &grep, &files),
        ("Glob `**/*`, beside `rg --files`", "1.1×", &["--files"], &glob, &all),
        ("the same, beside `rg --files --sortr modified`", "–", &["--files", "--sortr", "modified"], &glob, &all),
        ("Glob `**/*.rs`, beside `rg --files -g`", "1.1×", &["--files", "-g", "*.rs"], &glob, &rust),
    ] {
        let (mut floors, mut own) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            floors.push(theirs(&root, arguments)?);
            own.push(ours(&runtime, Arc::clone(tool), input, &cx)?);
        }
        report.row(name, "ms", target, Some(micros(median(floors)) / 1e3), micros(median(own)) / 1e3);
    }
    Ok(())
}
