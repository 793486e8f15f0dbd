//! `windlass demo`: an agent at work on a small crate with a real bug.

use crate::args::DemoArgs;
use crate::ask::AskAtTerminal;
use crate::display::{Display, Paint, Pen};
use crate::failure::{of_result, of_start};
use crate::provider::{Lookup, own_variable, providers};
use crate::signals::Signals;
use crate::terminal::Terminal;
use crate::writer::{Target, Writer};
use anyhow::Context;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use windlass::provider::Catalogue;
use windlass::{
    EventKind, ModelProvider, PermissionAnswer, Permissions, Query, RunResult, Script, ScriptedModel, coding_tools,
    query,
};

/// The crate that the agent works on. Its manifest has another name here, so that Cargo does not treat it as a part of
/// this package.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../demo/manifest.toml")),
    ("README.md", include_str!("../demo/README.md")),
    ("src/lib.rs", include_str!("../demo/src/lib.rs")),
    ("src/page.rs", include_str!("../demo/src/page.rs")),
    ("src/pager.rs", include_str!("../demo/src/pager.rs")),
    ("tests/paging.rs", include_str!("../demo/tests/paging.rs")),
];
/// The script of the model.
const SCRIPT: &str = include_str!("../demo/script.json");
const PROMPT: &str = "Customers say that the newest orders are missing from the list. Find out why, fix it, and prove \
                      it with the tests.";
/// Model whose price the scripted model uses.
const PRICED_AS: &str = "sonnet";

/// Runs the demo and returns the exit code: zero when the bug is fixed and the tests are green.
pub(crate) async fn demo(args: DemoArgs, terminal: Terminal) -> anyhow::Result<i32> {
    let writer = Writer::of_process();
    let signals = Signals::listen(writer.clone()).context("signals cannot be listened to")?;
    let shown = demo_on(&writer, args, terminal, &signals).await;
    let written = writer.finish().await;
    let code = shown?;
    written?;
    Ok(code)
}

async fn demo_on(writer: &Writer, args: DemoArgs, terminal: Terminal, signals: &Signals) -> anyhow::Result<i32> {
    let lookup: Lookup = Arc::new(own_variable);
    let provider = args.live.then(|| providers(&lookup));
    cargo_works()?;
    let folder = tempfile::Builder::new().prefix("windlass-demo-").tempdir();
    let folder = folder.context("there is no room for a temporary folder")?;
    // Resolved, so that the paths in the script are those the tools report.
    let dir = folder.path().canonicalize()?;
    write_crate(&dir)?;
    let colours = terminal.stdout && terminal.colours;
    let pen = || Some(Pen::new(writer.to(Target::Out), colours));
    let mut display = Display::new(pen(), pen());
    introduce(&mut display, &dir, args.live)?;
    if tests_are_green(&dir)? {
        anyhow::bail!("the tests of the demo are green before anything was fixed; this is a bug in windlass");
    }
    let scripted = provider.is_none();
    let provider = match provider {
        Some(provider) => provider,
        None => script(&dir, terminal.stdout)?,
    };
    let asker = (args.live && terminal.can_ask()).then(AskAtTerminal::new);
    let query = configure(&dir, provider, asker.as_ref(), scripted, terminal);
    let result = show(query, (&mut display, writer), signals, asker.as_ref(), scripted).await?;
    let fixed = tests_are_green(&dir)?;
    conclude(&mut display, &result, fixed, scripted)?;
    if args.keep {
        display.note(Paint::Dim, &format!("The folder is kept: {}", folder.keep().display()))?;
    }
    let code = signals.exit_code().unwrap_or(i32::from(!fixed || windlass_protocol::is_error(&result.outcome)));
    Ok(code)
}

fn write_crate(dir: &Path) -> anyhow::Result<()> {
    for (path, text) in FILES {
        let path = dir.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

/// Checks that cargo works, because the demo could not fix the bug without it.
fn cargo_works() -> anyhow::Result<()> {
    let output = Command::new("cargo").arg("--version").stdin(Stdio::null()).output();
    let output = output.context("the demo needs `cargo` to prove the fix; see https://rustup.rs")?;
    let text = String::from_utf8_lossy(&output.stderr);
    let reason = text.lines().next().unwrap_or("it gives no reason").trim_start_matches("error: ");
    anyhow::ensure!(output.status.success(), "the demo needs `cargo`, which does not work here: {reason}");
    Ok(())
}

/// Runs the tests of the crate, without the agent: its claim is checked.
fn tests_are_green(dir: &Path) -> anyhow::Result<bool> {
    let status = Command::new("cargo")
        .args(["test", "--offline", "--quiet"])
        .current_dir(dir)
        .env_remove("CARGO_TARGET_DIR")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(status.success())
}

/// Returns the embedded model: it answers from the script, at the pace of a real one when its output is a terminal.
fn script(dir: &Path, watched: bool) -> anyhow::Result<Arc<dyn ModelProvider>> {
    let script = Script::from_json_with(SCRIPT, &[("dir", &dir.to_string_lossy())])?;
    let catalogue = Catalogue::new();
    let model = ScriptedModel::new(script).with_info(catalogue.info(&catalogue.resolve(PRICED_AS)));
    let model = model.without_recording();
    Ok(if watched {
        Arc::new(model.with_pacing(Duration::from_millis(25), tokio::time::sleep))
    } else {
        Arc::new(model)
    })
}

fn configure(
    dir: &Path,
    provider: Arc<dyn ModelProvider>,
    asker: Option<&AskAtTerminal>,
    scripted: bool,
    terminal: Terminal,
) -> Query {
    let permissions = Permissions::new().allow(["Bash(cargo test *)"]).deny(["Bash(rm *)"]);
    let permissions = if scripted {
        // The script asks for one edit; the question and this answer are shown.
        let pause = if terminal.stdout { Duration::from_millis(900) } else { Duration::ZERO };
        permissions.host(windlass::permission::can_use_tool_fn(move |_| async move {
            tokio::time::sleep(pause).await;
            PermissionAnswer::allow()
        }))
    } else if let Some(asker) = asker {
        permissions.host(asker.clone())
    } else {
        permissions.allow(["Edit(/**)", "Write", "MultiEdit"])
    };
    query(PROMPT).provider(provider).tools(coding_tools(dir)).permissions(permissions).max_turns(40)
}

/// Shows the run until its end.
async fn show(
    query: Query,
    (display, writer): (&mut Display, &Writer),
    signals: &Signals,
    asker: Option<&AskAtTerminal>,
    scripted: bool,
) -> anyhow::Result<RunResult> {
    let mut run = query.stream();
    signals.watch(run.handle().await.map_err(of_start)?);
    let mut result = None;
    while let Some(event) = run.try_next().await.map_err(of_start)? {
        let _screen = match asker {
            Some(asker) => Some(asker.screen().await),
            None => None,
        };
        display.event(&event)?;
        writer.written().await?;
        match event.kind {
            EventKind::PermissionRequested(request) if scripted => {
                display.question(&request)?;
                display.note(Paint::Yellow, "? Allow it? yes (the demo answers for you)")?;
            }
            EventKind::PermissionRequested(_) => {
                display.end_line()?;
                writer.written().await?;
                if let Some(asker) = asker {
                    asker.shown();
                }
            }
            EventKind::RunFinished(finished) if event.agent.is_main() => result = Some(finished),
            _ => {}
        }
    }
    result.context("the run ended without a result; this is a bug in windlass")
}

fn introduce(display: &mut Display, dir: &Path, live: bool) -> anyhow::Result<()> {
    display.note(Paint::Bold, "windlass demo")?;
    let who = if live { "a real model" } else { "a scripted model, no key and no network" };
    display.note(Paint::Dim, &format!("A small crate with a real bug, {who}; everything else is real."))?;
    display.note(Paint::Dim, &format!("Folder:    {}", dir.display()))?;
    display.note(Paint::Dim, "Allowed:   reading there, Bash(cargo test *)")?;
    display.note(Paint::Dim, "Forbidden: Bash(rm *)")?;
    display.note(Paint::Dim, "Asks:      about everything else")?;
    display.note(Paint::Bold, &format!("\n> {PROMPT}\n"))?;
    Ok(())
}

fn conclude(display: &mut Display, result: &RunResult, fixed: bool, scripted: bool) -> anyhow::Result<()> {
    if let Some(text) = of_result(result) {
        display.note(Paint::Red, &text)?;
    }
    let (paint, verdict) = match fixed {
        true => (Paint::Green, "✓ The bug is fixed: the tests failed before and are green now."),
        false => (Paint::Red, "✗ The bug is not fixed: the tests still fail."),
    };
    display.note(Paint::Plain, "")?;
    display.note(paint, verdict)?;
    let usage = &result.usage;
    let price = if scripted { format!(" at the prices of {PRICED_AS}") } else { String::new() };
    let summary = format!(
        "{} turns, {:.1} s, {} tokens in ({} from the cache), {} out, {}{price}, {} denied",
        result.turns,
        result.duration_ms as f64 / 1e3,
        usage.total_input(),
        usage.cache_read_input_tokens,
        usage.output_tokens,
        result.cost,
        result.permission_denials.len(),
    );
    display.note(Paint::Dim, &summary)?;
    if scripted {
        let next = "Next: run `windlass login` and then `windlass demo --live`, or `windlass -p PROMPT` in a project.";
        display.note(Paint::Dim, next)?;
    }
    Ok(())
}
