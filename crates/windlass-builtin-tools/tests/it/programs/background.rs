//! Commands that continue after their call.

use async_trait::async_trait;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use windlass_builtin_tools::{Bash, TaskStop};
use windlass_local::LocalProcess;
use windlass_tool::{
    Background, Cancel, Foreground, Process, ProcessCommand, ProcessError, ProcessOutcome, TaskCx, TaskOutcome,
    TaskSpec, TaskWork, Tool, ToolCx, ToolError, ToolOutput,
};
use windlass_types::{ContextChange, JsonText, TaskId, TaskInfo, TaskStatus};

use crate::programs::support::{NONE, Session, alive, eventually, sleeper, structured, text};

type Started = (TaskInfo, Cancel, Option<JoinHandle<TaskOutcome>>);

/// Keeps the work of a session.
#[derive(Debug, Default)]
struct Tasks {
    started: Mutex<Vec<Started>>,
    folder: Option<PathBuf>,
}

impl Background for Tasks {
    fn start(&self, spec: TaskSpec, work: TaskWork) -> Result<TaskId, ToolError> {
        let mut started = self.started.lock().unwrap();
        let id = TaskId::from(format!("b{}", started.len()));
        let mut info = TaskInfo::new(id.clone(), spec.kind, spec.description, "toolu_1".into());
        info.output_file = spec.output_file;
        let cancel = Cancel::new();
        let work = work(TaskCx::new(id.clone(), cancel.clone()));
        started.push((info, cancel, Some(tokio::spawn(work))));
        Ok(id)
    }

    fn find(&self, id: &TaskId) -> Option<TaskInfo> {
        let started = self.started.lock().unwrap();
        started.iter().find(|(info, ..)| info.id == *id).map(|(info, ..)| info.clone())
    }

    fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }
}

impl Tasks {
    fn of(session: &mut Session) -> Arc<Self> {
        let tasks = Arc::new(Self { folder: session.parts.place.artifacts.clone(), ..Self::default() });
        session.parts.abilities.background = Some(Arc::clone(&tasks) as Arc<dyn Background>);
        tasks
    }

    fn info(&self) -> TaskInfo {
        self.started.lock().unwrap()[0].0.clone()
    }

    fn stop(&self) {
        self.started.lock().unwrap()[0].1.cancel();
    }

    async fn end(&self) -> TaskOutcome {
        let work = self.started.lock().unwrap()[0].2.take().unwrap();
        tokio::time::timeout(Duration::from_secs(20), work).await.unwrap().unwrap()
    }

    fn output(&self) -> String {
        std::fs::read_to_string(self.info().output_file.unwrap()).unwrap()
    }
}

async fn start(session: &mut Session, command: &str, more: Value) -> ToolOutput {
    let mut input = json!({ "command": command, "run_in_background": true });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    session.try_call(&Bash::new(), input).await.unwrap()
}

#[tokio::test]
async fn a_command_continues_and_its_output_is_in_a_file() {
    let mut session = Session::new();
    let tasks = Tasks::of(&mut session);
    let command = "cd /; echo one; echo two >&2; read -r _ < \"$OLDPWD/go\"; exit 4";
    session.bash("mkfifo go").await;
    let output = start(&mut session, command, json!({ "description": "Two words" })).await;
    let file = tasks.info().output_file.unwrap();
    assert!(text(&output).contains("b0") && text(&output).contains(&*file.to_string_lossy()), "{}", text(&output));
    assert_eq!(structured(&output)["backgroundTaskId"], "b0");
    assert_eq!(structured(&output)["rawOutputPath"], &*file.to_string_lossy());
    assert!(output.changes.is_empty(), "it does not move the session");
    assert_eq!(tasks.info().description, "Two words");
    // The foreground is free, and starts where it did.
    assert_eq!(text(&session.bash("echo > go; basename \"$PWD\"").await), "work");
    let ended = tasks.end().await;
    assert_eq!(
        (ended.status, &*ended.summary),
        (TaskStatus::Failed, "Background command \"Two words\" failed with exit code 4")
    );
    assert_eq!(tasks.output(), "one\ntwo\n");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions()) & 0o777, 0o600);
}

#[tokio::test]
async fn a_file_is_there_for_a_command_that_says_nothing() {
    let mut session = Session::new();
    let tasks = Tasks::of(&mut session);
    start(&mut session, "true", json!({})).await;
    assert_eq!(tasks.end().await.summary, "Background command \"true\" completed (exit code 0)");
    assert_eq!(tasks.output(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_ends_all_that_belongs_to_it() {
    let mut session = Session::new();
    let tasks = Tasks::of(&mut session);
    let sleep = sleeper(&session.tag);
    start(&mut session, &format!("trap '' TERM; setsid {sleep} & {sleep}"), json!({})).await;
    let word = format!("300.{}", session.tag);
    eventually("three processes", || alive(&word).len() >= 3);
    tasks.stop();
    assert_eq!(tasks.end().await.status, TaskStatus::Stopped);
    assert_eq!(alive(&word), NONE);
}

#[tokio::test]
async fn only_a_limit_that_is_given_ends_it() {
    let mut session = Session::new();
    let tasks = Tasks::of(&mut session);
    start(&mut session, "echo begun; sleep 300", json!({ "timeout": 300 })).await;
    let ended = tasks.end().await;
    assert_eq!((ended.status, ended.summary.ends_with("it did not end in time")), (TaskStatus::Failed, true));
    assert_eq!(tasks.output(), "begun\n");
}

#[tokio::test]
async fn a_limit_that_no_clock_can_hold_is_none() {
    for limit in [json!(1.5e22), json!(1.9e22), json!(1e308), json!(u64::MAX)] {
        let mut session = Session::new();
        let tasks = Tasks::of(&mut session);
        start(&mut session, "echo done", json!({ "timeout": limit })).await;
        assert_eq!(tasks.end().await.status, TaskStatus::Completed, "{limit}");
        let patient = Bash::new().with_timeouts(Duration::MAX, Duration::MAX);
        let output = session.try_call(&patient, json!({ "command": "echo done", "timeout": limit })).await.unwrap();
        assert_eq!(text(&output), "done", "{limit}");
    }
}

/// Runs each program with a small file for output, and reports which program it was.
#[derive(Debug)]
struct Small(LocalProcess, UnboundedSender<ProcessCommand>);

#[async_trait]
impl Process for Small {
    async fn run(&self, mut command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        self.1.send(command.clone()).unwrap();
        command.spill_cap = Some(1_000);
        self.0.run(command, cancel).await
    }
}

#[tokio::test]
async fn the_file_is_bounded_and_commands_do_not_wait_for_each_other() {
    let mut session = Session::new();
    let tasks = Tasks::of(&mut session);
    let (sender, mut asked) = unbounded_channel();
    let process = LocalProcess::new(format!("small{}", session.tag)).with_concurrency(1);
    session.parts.process = Arc::new(Small(process, sender));
    session.bash("mkfifo go").await;
    start(&mut session, "seq 1 100000; read -r _ < go", json!({})).await;
    assert_eq!(text(&session.bash("echo > go; echo beside").await), "beside");
    assert_eq!(tasks.end().await.status, TaskStatus::Completed);
    // The written output, and a note that it is not all.
    assert_eq!(tasks.output().find("\n[... cut here"), Some(1_000));
    let command = loop {
        let command = asked.recv().await.unwrap();
        if command.background {
            break command;
        }
    };
    assert_eq!((command.spill_cap, command.timeout, command.spill_above), (Some(64 << 20), None, Some(0)));
}

#[tokio::test]
async fn where_no_command_can_continue_none_is_started() {
    let mut session = Session::new();
    let input = json!({ "command": "touch ran", "run_in_background": true });
    let error = session.try_call(&Bash::new(), input.clone()).await.unwrap_err();
    assert_eq!(error.model_text(), "Background work is not available here.");
    session.parts.abilities.background = Some(Arc::new(Tasks::default()));
    let error = session.try_call(&Bash::new(), input).await.unwrap_err();
    assert!(error.model_text().contains("no place"), "{error}");
    assert!(!session.root().join("ran").exists());
}

#[tokio::test]
async fn a_task_is_stopped_by_name() {
    let mut session = Session::new();
    let tasks = Tasks::of(&mut session);
    start(&mut session, "sleep 300", json!({})).await;
    let call = |id: &str| {
        let input = JsonText::of(&json!({ "task_id": id })).unwrap().to().unwrap();
        let cx = ToolCx::new(session.parts.clone());
        async move { TaskStop::default().call(input, &cx).await }
    };
    let output = call("b0").await.unwrap();
    assert_eq!(output.changes, [ContextChange::StopTask("b0".into())]);
    assert_eq!(
        (&structured(&output)["task_id"], &structured(&output)["task_type"]),
        (&json!("b0"), &json!("local_bash"))
    );
    assert!(call("b7").await.unwrap_err().model_text().contains("No task b7"));
    tasks.stop();
    tasks.end().await;
}

fn moving(limit: Duration) -> Bash {
    Bash::new().with_timeouts(limit, limit).with_moves_to_background(true)
}

#[tokio::test]
async fn a_command_that_takes_too_long_continues_with_all_its_output() {
    let mut session = Session::new();
    let tasks = Tasks::of(&mut session);
    session.bash("mkfifo go").await;
    let command = json!({ "command": "cd /; echo one; read -r _ < \"$OLDPWD/go\"; echo two" });
    let output = session.try_call(&moving(Duration::from_millis(300)), command).await.unwrap();
    assert!(text(&output).starts_with("The command did not end within 300 ms and continues"), "{}", text(&output));
    assert_eq!(structured(&output)["backgroundTaskId"], "b0");
    assert_eq!(structured(&output).get("backgroundedByUser"), None);
    assert!(output.changes.is_empty() && !output.is_error);
    assert_eq!(text(&session.bash("echo > go; basename \"$PWD\"").await), "work");
    let ended = tasks.end().await;
    assert_eq!((ended.status, tasks.output().as_str()), (TaskStatus::Completed, "one\ntwo\n"), "{}", ended.summary);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_moves_a_command_and_stops_it() {
    let mut session = Session::new();
    let tasks = Tasks::of(&mut session);
    let (sleep, word) = (sleeper(&session.tag), format!("300.{}", session.tag));
    let calls = session.parts.state.get::<Foreground>();
    let asks = tokio::spawn(async move {
        while !calls.move_to_background(None) {
            tokio::task::yield_now().await;
        }
    });
    let input = json!({ "command": format!("echo begun; {sleep} & {sleep}") });
    let output = session.try_call(&moving(Duration::from_secs(600)), input).await.unwrap();
    asks.await.unwrap();
    assert_eq!(structured(&output)["backgroundedByUser"], true);
    eventually("two processes", || alive(&word).len() >= 2);
    tasks.stop();
    assert_eq!(tasks.end().await.status, TaskStatus::Stopped);
    assert_eq!(alive(&word), NONE);
    assert_eq!(tasks.output(), "begun\n");
    assert!(!session.parts.state.get::<Foreground>().move_to_background(None), "no call is waited for");
}

#[tokio::test]
async fn what_ends_in_time_leaves_no_file_and_no_task() {
    let mut session = Session::new();
    let tasks = Tasks::of(&mut session);
    let bash = moving(Duration::from_secs(600));
    let output = session.try_call(&bash, json!({ "command": "mkdir sub; cd sub; echo out; exit 3" })).await.unwrap();
    assert!(output.is_error && text(&output).contains("out"), "{}", text(&output));
    assert!(matches!(&output.changes[..], [ContextChange::Cwd(cwd)] if cwd.ends_with("sub")), "{:?}", output.changes);
    let much = session.try_call(&bash, json!({ "command": "seq 100000" })).await.unwrap();
    let kept = structured(&much)["persistedOutputPath"].as_str().unwrap().to_owned();
    assert!(std::fs::read_to_string(&kept).unwrap().ends_with("100000\n"));
    let folder = tasks.folder.clone().unwrap();
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files, [PathBuf::from(kept)], "only what the model may want to read");
    assert!(tasks.started.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_only_waits_is_stopped_and_so_is_a_call_that_is_stopped() {
    let mut session = Session::new();
    let tasks = Tasks::of(&mut session);
    let sleep = sleeper(&session.tag);
    let output = session
        .try_call(&moving(Duration::from_millis(300)), json!({ "command": format!("exec {sleep}") }))
        .await
        .unwrap();
    assert_eq!(structured(&output)["timedOutAfterMs"], 300, "{}", text(&output));
    let (cancel, word) = (session.parts.cancel.clone(), format!("300.{}", session.tag));
    let bash = moving(Duration::from_secs(600));
    let call = session.try_call(&bash, json!({ "command": format!("{sleep} & wait") }));
    let stop = async {
        while alive(&word) == NONE {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (output, ()) = tokio::join!(call, stop);
    assert_eq!(structured(&output.unwrap())["interrupted"], true);
    assert_eq!(alive(&word), NONE);
    assert!(tasks.started.lock().unwrap().is_empty());
}
