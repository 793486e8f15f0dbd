use crate::display::{Display, Pen};
use std::io::Write;
use std::sync::{Arc, Mutex};
use windlass::{
    Delta, Event, EventKind, JsonText, Outcome, PermissionMode, SessionId,
    event::{AgentPath, RunStarted, TaskEnded, TaskInfo, TaskKind, TaskStatus, ToolFinished, ToolStarted},
    permission::{Behavior, Decision, DecisionReason},
    tool::ToolResult,
};
use windlass::{
    RunResult,
    event::{AgentIdentity, RunId},
};

/// One screen to which both the answer and the lines beside it go.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the screen after events, each with the path of its agent.
fn shown<'a>(verbose: bool, events: impl IntoIterator<Item = (&'a [&'a str], EventKind)>) -> String {
    let screen = Screen::default();
    let pen = || Some(Pen::new(screen.clone(), false));
    let mut display = Display::new(pen(), pen());
    display.verbose = verbose;
    for (path, kind) in events {
        let mut event = Event::new(0, SessionId::from("s"), RunId::from("r"), 1, kind);
        event.agent = path.iter().fold(AgentPath::default(), |path, id| path.child((*id).into()));
        display.event(&event).unwrap();
    }
    let bytes = screen.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

fn begins(kind: &str) -> EventKind {
    let mut started = RunStarted::new("/w".into(), "opus".into(), Vec::new(), PermissionMode::Default, false);
    started.identity = Some(AgentIdentity::new("a1".into(), kind));
    EventKind::RunStarted(started)
}

fn text(text: &str) -> EventKind {
    EventKind::BlockDelta { index: 0, delta: Delta::Text(text.into()) }
}

fn runs(tool: &str, input: &str, title: &str) -> EventKind {
    EventKind::ToolStarted(ToolStarted::new("t1".into(), tool.into(), JsonText::parse(input).unwrap(), title.into()))
}

fn ends() -> EventKind {
    EventKind::RunFinished(RunResult::new(Outcome::Success, SessionId::from("s")))
}

fn result(result: ToolResult) -> EventKind {
    EventKind::ToolFinished(ToolFinished::new("Read".into(), result))
}

#[test]
fn what_an_agent_does_is_one_line_and_what_it_says_is_none() {
    let denied = Decision::new(Behavior::Deny, DecisionReason::Rule, "no");
    let events = |path: &'static [&'static str]| {
        [
            (path, begins("Explore\u{1b}[2J")),
            (path, text("This is for the agent above.")),
            (path, runs("Read", r#"{"file_path":"a"}"#, "Read a")),
            (path, result(ToolResult::ok("t1", "one\ntwo"))),
            (path, runs("Bash", r#"{"command":"cd x\nls"}"#, "Bash")),
            (path, result(ToolResult::error("t1", "\nExit code 1\nmore"))),
            (
                path,
                EventKind::PermissionResolved {
                    tool_use_id: "t1".into(),
                    tool: "Bash".into(),
                    decision: denied.clone(),
                },
            ),
            (path, ends()),
            (path, runs("Read", "{}", "late")),
        ]
    };
    assert_eq!(
        shown(false, events(&["t0"])),
        "  Explore\\u{1b}[2J: ● Read a\n  Explore\\u{1b}[2J: ● $ cd x …\n  Explore\\u{1b}[2J: ✗ Exit code 1\n  \
         Explore\\u{1b}[2J: ✗ Bash denied: no\n  agent: ● late\n"
    );
    let deep = shown(true, events(&["t0", "t1"]));
    assert!(deep.contains("\n    Explore\\u{1b}[2J:   one\n"), "{deep}");
}

#[test]
fn an_agent_in_the_background_does_not_break_the_lines_of_the_answer() {
    let agent: &[&str] = &["t0"];
    let main: &[&str] = &[];
    let mut info = TaskInfo::new("a1".into(), TaskKind::LocalAgent, "Look", "t0".into());
    let ended =
        |info: &TaskInfo| EventKind::TaskEnded(TaskEnded::new(info.clone(), TaskStatus::Completed, "It is done"));
    let mut events = vec![(main, text("Half")), (agent, begins("Plan"))];
    events.extend((0..102).map(|n| (agent, runs("Read", "{}", &format!("Read {n}")))));
    events.extend([(main, text(" a line")), (main, ends()), (main, ended(&info))]);
    info.kind = TaskKind::LocalBash;
    events.push((main, ended(&info)));
    let lines = shown(false, events);
    assert!(lines.starts_with("Half a line\n  Plan: ● Read 0\n  Plan: ● Read 1\n"), "{lines}");
    assert!(lines.ends_with("  Plan: ● Read 99\n  … 2 more lines of agents\n  It is done\n"), "{lines}");
}
