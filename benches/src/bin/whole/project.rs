//! The index of a project of fifty thousand files, and the time from a session's start to its first request. That time
//! is for a project with much to read, beside an empty one.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::runtime::Runtime;
use windlass::project::{IndexConfig, ProjectIndex};
use windlass::{EventKind, Project, ScriptedModel, ScriptedTurn, coding_tools, session};
use windlass_benches::stats::{median, micros};

use crate::report::Report;

const FOLDERS: usize = 500;
const FILES: usize = 100;
const INSTRUCTIONS: usize = 200;
const SKILLS: usize = 300;
const COMMANDS: usize = 50;
const ROUNDS: usize = 15;

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::create_dir_all(path.parent().context("no folder")?)?;
    Ok(std::fs::write(path, text)?)
}

fn sources(root: &Path) -> Result<()> {
    write(&root.join("Cargo.toml"), "[workspace]\nmembers = [\"group-*\"]\n")?;
    write(&root.join(".gitignore"), "*.log\ntarget/\n")?;
    for folder in 0..FOLDERS {
        let path = root.join(format!("group-{}/folder-{folder}", folder % 25));
        std::fs::create_dir_all(&path)?;
        for file in 0..FILES {
            let text = format!("pub fn open_{folder}_{file}() {{}}\n\npub struct Door{file};\n// some text\n");
            let name = if file % 4 == 0 { format!("note-{file}.md") } else { format!("file-{file}.rs") };
            std::fs::write(path.join(name), text)?;
        }
    }
    Ok(())
}

fn instructions(root: &Path) -> Result<()> {
    let words = "Say plainly what a function does, and test it first. ".repeat(8);
    for number in 0..INSTRUCTIONS {
        write(&root.join(format!(".claude/rules/rule-{number}.md")), &format!("# Rule {number}\n{words}\n"))?;
    }
    for number in 0..SKILLS {
        let text = format!("---\nname: skill-{number}\ndescription: Does the work of kind {number}.\n---\n{words}\n");
        write(&root.join(format!(".claude/skills/skill-{number}/SKILL.md")), &text)?;
    }
    for number in 0..COMMANDS {
        write(&root.join(format!(".claude/commands/command-{number}.md")), &format!("Do {number}: $ARGUMENTS\n"))?;
    }
    Ok(())
}

/// Calls the two closures in turns and returns both medians in milliseconds.
fn beside(
    mut one: impl FnMut() -> Result<Duration>,
    mut other: impl FnMut() -> Result<Duration>,
) -> Result<(f64, f64)> {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ones.push(one()?);
        others.push(other()?);
    }
    Ok((micros(median(ones)) / 1e3, micros(median(others)) / 1e3))
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<Duration> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}

fn folder(parent: &Path, name: &str) -> Result<PathBuf> {
    let path = parent.join(name);
    std::fs::create_dir(&path)?;
    Ok(path)
}

pub fn index(report: &mut Report) -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let parent = temporary.path().canonicalize()?;
    let (root, cache) = (&folder(&parent, "large")?, &parent.join("cache"));
    sources(root)?;
    let fresh = || ProjectIndex::new(IndexConfig::new(root));
    let cached = || ProjectIndex::new(IndexConfig::new(root).cached_in(cache));
    let whole = |index: &ProjectIndex| -> Result<()> {
        ensure!(index.overview(&|| false)?.files > FOLDERS * FILES, "files are missing");
        Ok(())
    };
    whole(&cached())?;
    let (cold, behind) = beside(|| timed(|| whole(&fresh())), || timed(|| whole(&cached())))?;
    report.row("index of 50,000 files, without a cache", "ms", "150 ms", None, cold);
    report.row("– brought up to date behind an answer, beside that", "ms", "–", Some(cold), behind);
    let (first, answer) = beside(
        || timed(|| fresh().for_model().context("no text")),
        || timed(|| cached().for_model().context("no text")),
    )?;
    report.row("– answered from the cache, beside the root alone", "ms", "5 ms", Some(first), answer);
    let lasting = cached();
    let search = |index: &ProjectIndex| -> Result<()> {
        ensure!(!index.search("open door 7", 15, &|| false)?.hits.is_empty(), "nothing found");
        Ok(())
    };
    let first = timed(|| search(&lasting))?;
    let (opened, later) = beside(|| timed(|| search(&cached())), || timed(|| search(&lasting)))?;
    report.row("the first search of all, with its symbols", "ms", "–", None, micros(first) / 1e3);
    report.row("a later search, beside the first of a session", "ms", "–", Some(opened), later);
    Ok(())
}

/// Measures the time from loading the project to the first request of its session.
fn first_request(runtime: &Runtime, root: &Path, home: &Path) -> Result<Duration> {
    let (sender, arrivals) = channel();
    let model = ScriptedModel::from_fn(move |_, _| {
        // The receiver waits until the run is done.
        let _sent = sender.send(Instant::now());
        ScriptedTurn::new().text("ok")
    });
    let began = Instant::now();
    runtime.block_on(async {
        let project = Project::at(root).home(windlass::Home::new(home));
        let mut session = session().provider(model).tools(coding_tools(root)).project(project).open().await?;
        session.handle.prompt("hello")?;
        while let Some(event) = session.events.try_next().await? {
            if let EventKind::RunFinished(_) = event.kind {
                break;
            }
        }
        session.handle.close().await?;
        anyhow::Ok(())
    })?;
    arrived(&arrivals, began)
}

fn arrived(arrivals: &Receiver<Instant>, began: Instant) -> Result<Duration> {
    Ok(arrivals.try_recv().context("no request")?.duration_since(began))
}

pub fn start(report: &mut Report) -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let parent = temporary.path().canonicalize()?;
    let (large, empty, home) = (folder(&parent, "large")?, folder(&parent, "empty")?, folder(&parent, "home")?);
    sources(&large)?;
    folder(&large, ".git")?;
    folder(&empty, ".git")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let start = |root: &Path| first_request(&runtime, root, &home);
    start(&large)?;
    let (floor, files) = beside(|| start(&empty), || start(&large))?;
    report.row("first request with 50,000 files, beside an empty project", "ms", "–", Some(floor), files);
    instructions(&large)?;
    start(&large)?;
    let (floor, all) = beside(|| start(&empty), || start(&large))?;
    let name = "– and 200 instruction files, 300 skills, 50 commands";
    report.row(name, "ms", "15 ms over", Some(floor), all);
    Ok(())
}
