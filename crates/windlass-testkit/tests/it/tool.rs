//! The bench and the tool kit: good tools pass, and each broken promise is found.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use windlass_testkit::fake::{ManualClock, MemoryWorkspace, ScriptedProcess, ScriptedRun};
use windlass_testkit::{ToolBench, Violation, tool};
use windlass_tool::{
    Annotations, BoxFuture, Cancel, DynTool, InterruptBehavior, PreparedCall, ProcessCommand, Tool, ToolCheck, ToolCx,
    ToolError, ToolErrorKind, ToolOutput, WriteOptions, schemars,
};
use windlass_types::{Access, ContextChange, JsonText, ToolSpec};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct File {
    /// The file.
    path: PathBuf,
    /// Number of times.
    times: Option<u32>,
}

/// Writes a file, and changes to its directory.
struct Touch;

impl Tool for Touch {
    const NAME: &'static str = "touch";
    const DESCRIPTION: &'static str = "Writes a file.";
    type Input = File;
    type Output = ToolOutput;

    fn access(&self, input: &File) -> Access {
        Access::writes(&input.path)
    }

    fn check(&self, input: &File) -> ToolCheck {
        if input.times == Some(0) { ToolCheck::Deny("zero times is nothing".to_owned()) } else { ToolCheck::Undecided }
    }

    async fn call(&self, input: File, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let path = cx.absolute(&input.path);
        cx.progress("touching");
        let calls: Arc<AtomicUsize> = cx.state();
        let count = calls.fetch_add(1, Ordering::Relaxed) + 1;
        let content = format!("{count} at {}", cx.clock().now());
        cx.workspace()
            .write(cx.permit(), &path, content.as_bytes(), WriteOptions::default())
            .await
            .map_err(|error| ToolError::rejected(error.to_string()))?;
        let parent = path.parent().map(PathBuf::from).unwrap_or_default();
        Ok(ToolOutput::text(content).with_change(ContextChange::Cwd(parent)))
    }
}

#[tokio::test]
async fn a_bench_is_a_session_for_one_tool() {
    let (files, clock) = (MemoryWorkspace::new().with_directory("/work/sub"), ManualClock::new());
    let bench = ToolBench::new(Touch).workspace(files.clone()).clock(clock.clone());
    bench.call(json!({"path": "sub/a"})).await.unwrap();
    assert_eq!(files.text("/work/sub/a").as_deref(), Some("1 at 2026-01-01T00:00:00.000Z"));
    clock.advance(Duration::from_secs(1));
    let output = bench.call(json!({"path": "b"})).await.unwrap();
    assert_eq!(output.content.text(), "2 at 2026-01-01T00:00:01.000Z");
    assert!(files.text("/work/sub/b").is_some(), "the directory and the state last from call to call");
    assert_eq!(bench.progress(), ["touching", "touching"]);

    let kind = |error: ToolError| (error.kind(), error.model_text().to_owned());
    let (unfit, text) = kind(bench.call(json!({"path": 1})).await.unwrap_err());
    assert_eq!(unfit, ToolErrorKind::InvalidInput);
    assert!(text.contains("/path"), "{text}");
    let denied = kind(bench.call(json!({"path": "c", "times": 0})).await.unwrap_err());
    assert_eq!(denied, (ToolErrorKind::Rejected, "zero times is nothing".to_owned()));
    assert_eq!(files.text("/work/sub/c"), None);
}

#[tokio::test]
async fn a_bench_takes_every_port() {
    let programs = ScriptedProcess::new().on("date", ScriptedRun::new().stdout("today"));
    let bench = ToolBench::new(Touch)
        .process(programs)
        .root("/elsewhere")
        .env("LANG", "C")
        .artifacts("/tmp/none")
        .with(|parts| parts.session_id = "mine".into());
    let cx = bench.cx(&Access::reads("a")).await;
    assert_eq!((cx.session_id().as_str(), cx.cwd().to_str()), ("mine", Some("/elsewhere")));
    assert_eq!(cx.env(), [("LANG".into(), "C".into())]);
    assert_eq!(cx.permit().reads()[0].requested, PathBuf::from("/elsewhere/a"));
    assert!(cx.permit().listable("/elsewhere".as_ref()).is_some(), "as in a run, names beside it may be listed");
    let outcome = cx.process().run(ProcessCommand::new("date", "/"), &Cancel::new()).await.unwrap();
    assert_eq!(outcome.stdout.head, "today");
}

#[tokio::test]
async fn a_good_tool_passes() {
    let bench = ToolBench::new(Touch);
    tool::all(&bench, &[json!({"path": "a"}), json!({"path": "/work/b", "times": 3})]).await.unwrap();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    HasABadName,
    HasNoDescription,
    HasABadSchema,
    TakesNoObject,
    ChangesItsSpec,
    ChangesItsAccess,
    ChangesItsTitle,
    HasNoTitle,
    RefusesItsSample,
    TakesAnything,
    RefusesWithoutWords,
    RefusesAsForbidden,
    PanicsOnEmptyPaths,
    PanicsInAccess,
    ReadsOtherFiles,
    RunsPrograms,
    FloodsTheModel,
    Blocks,
    NeverEnds,
    PanicsWhenStopped,
    Nothing,
}

/// A tool with one flaw.
struct Flawed {
    flaw: Flaw,
    asked: AtomicUsize,
}

impl Flawed {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    /// Returns a different text each time, for tools that change.
    fn changing(&self, flaw: Flaw, text: &str) -> String {
        if self.has(flaw) { format!("{text}{}", self.asked.fetch_add(1, Ordering::Relaxed)) } else { text.to_owned() }
    }
}

impl DynTool for Flawed {
    fn spec(&self) -> ToolSpec {
        let name = if self.has(Flaw::HasABadName) { "two words" } else { "flawed" };
        let description = if self.has(Flaw::HasNoDescription) { " ".to_owned() } else { "A test.".to_owned() };
        let schema = match self.flaw {
            Flaw::HasABadSchema => json!({"type": "object", "properties": {"path": {"type": "strong"}}}),
            Flaw::TakesNoObject => json!({"type": "string"}),
            Flaw::TakesAnything => json!({"type": "object"}),
            _ => json!({
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            }),
        };
        let description = self.changing(Flaw::ChangesItsSpec, &description);
        ToolSpec::new(name, description, JsonText::of(&schema).unwrap())
    }

    fn annotations(&self) -> Annotations {
        let interrupt = if self.has(Flaw::NeverEnds) { InterruptBehavior::Block } else { InterruptBehavior::Cancel };
        Annotations::default().with_max_result_bytes(100).with_interrupt(interrupt)
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        let value: Value = input.to().map_err(|error| ToolError::invalid_input(error.to_string()))?;
        let path = match value.get("path") {
            Some(Value::String(path)) => path.clone(),
            _ if self.has(Flaw::TakesAnything) => String::new(),
            _ => return Err(ToolError::invalid_input("there is no path")),
        };
        if self.has(Flaw::RefusesItsSample) {
            return Err(ToolError::invalid_input("not today"));
        }
        match self.flaw {
            Flaw::RefusesWithoutWords if path.is_empty() => return Err(ToolError::invalid_input("")),
            Flaw::RefusesAsForbidden if path.is_empty() => return Err(ToolError::rejected("no")),
            Flaw::Nothing if path.is_empty() => return Err(ToolError::invalid_input("the path is empty")),
            _ => {}
        }
        assert!(!(self.has(Flaw::PanicsOnEmptyPaths) && path.is_empty()), "an empty path");
        Ok(Box::new(FlawedCall { tool: self, path }))
    }
}

struct FlawedCall {
    tool: Arc<Flawed>,
    path: String,
}

impl PreparedCall for FlawedCall {
    fn access(&self) -> Access {
        assert!(!(self.tool.has(Flaw::PanicsInAccess) && self.path.contains(' ')), "a space");
        Access::reads(self.tool.changing(Flaw::ChangesItsAccess, &self.path))
    }

    fn title(&self) -> String {
        let title = if self.tool.has(Flaw::HasNoTitle) { "" } else { "Flawed" };
        self.tool.changing(Flaw::ChangesItsTitle, title)
    }

    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            match self.tool.flaw {
                Flaw::ReadsOtherFiles => {
                    // Ignored, as by a tool that only looks for a configuration.
                    let _ = cx.workspace().open(cx.permit(), "/etc/passwd".as_ref()).await;
                }
                Flaw::RunsPrograms => {
                    let _ = cx.process().run(ProcessCommand::new("id", "/"), cx.cancel()).await;
                }
                Flaw::FloodsTheModel => return Ok(ToolOutput::text("x".repeat(101))),
                Flaw::Blocks if cx.cancel().is_cancelled() => std::thread::sleep(Duration::from_secs(7)),
                Flaw::NeverEnds if cx.cancel().is_cancelled() => std::future::pending().await,
                Flaw::PanicsWhenStopped => assert!(!cx.cancel().is_cancelled(), "stopped"),
                _ => {}
            }
            Ok(ToolOutput::text("done"))
        })
    }
}

#[tokio::test]
async fn each_broken_promise_is_found() {
    for (flaw, violation) in [
        (Flaw::HasABadName, "\"two words\" is not valid"),
        (Flaw::HasNoDescription, "flawed has no description"),
        (Flaw::HasABadSchema, "its schema is no JSON Schema"),
        (Flaw::TakesNoObject, "does not describe an object"),
        (Flaw::ChangesItsSpec, "flawed changes its spec"),
        (Flaw::ChangesItsAccess, "first it declares"),
        (Flaw::ChangesItsTitle, "first it declares"),
        (Flaw::HasNoTitle, "the call has no title"),
        (Flaw::RefusesItsSample, "prepare {\"path\":\"/work/a\"}: not today"),
        (Flaw::PanicsOnEmptyPaths, "it panicked: an empty path"),
        (Flaw::PanicsInAccess, "it panicked: a space"),
        (Flaw::ReadsOtherFiles, "it opens [\"/etc/passwd\"], but declares Reads([\"/work/a\"])"),
        (Flaw::RunsPrograms, "it runs [\"id\"], but declares Reads"),
        (Flaw::FloodsTheModel, "101 bytes for the model, but it reads 100 at most"),
        (Flaw::NeverEnds, "stopped before it began, it asks to be waited for and does not end"),
        (Flaw::PanicsWhenStopped, "stopped before it began, it panicked"),
        (Flaw::Blocks, "stopped before it began, it holds its thread"),
    ] {
        let bench = ToolBench::new(Flawed { flaw, asked: AtomicUsize::new(0) });
        let found = tool::all(&bench, &[json!({"path": "/work/a"})]).await;
        let text = found.err().map(|violation: Violation| violation.to_string()).unwrap_or_default();
        assert!(text.contains(violation), "{flaw:?} gives {text:?}");
    }
}

#[test]
fn unfit_inputs_that_are_accepted_or_refused_badly_are_found() {
    for (flaw, violation) in [
        (Flaw::Nothing, ""),
        (Flaw::TakesAnything, "prepare {\"path\":7}: it is accepted, but does not fit"),
        (Flaw::RefusesWithoutWords, "prepare {\"path\":\"\"}: refused without a word"),
        (Flaw::RefusesAsForbidden, "prepare {\"path\":\"\"}: refused as Rejected"),
    ] {
        let bench = ToolBench::new(Flawed { flaw, asked: AtomicUsize::new(0) });
        let found = tool::rejects_unfit_inputs(&bench, &[json!({"path": 7}), json!({"path": ""}), json!({})]);
        assert_eq!(found.err().map(|found| found.to_string()).unwrap_or_default(), violation);
    }
}

#[tokio::test]
async fn the_same_tool_without_its_flaws_passes() {
    let bench = ToolBench::new(Flawed { flaw: Flaw::Nothing, asked: AtomicUsize::new(0) });
    tool::all(&bench, &[json!({"path": "/work/a"})]).await.unwrap();
}
