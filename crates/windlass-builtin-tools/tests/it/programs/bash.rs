//! The Bash tool in a session.

use serde_json::json;
use std::time::Duration;
use windlass_builtin_tools::Bash;
use windlass_tool::{DynTool, ToolErrorKind};
use windlass_types::ContextChange;

use crate::programs::support::{NONE, Session, alive, sleeper, structured, text};

#[tokio::test]
async fn results_read_like_a_terminal() {
    let mut session = Session::new();
    let cases = [
        ("echo hi", "hi", false),
        ("true", "(Bash completed with no output)", false),
        ("echo out; echo err >&2; echo out", "out\nerr\nout", false),
        ("printf '\\n a \\n\\n'", "\n a", false),
        ("exit 3", "Exit code 3", true),
        ("echo why; exit 3", "Exit code 3\nwhy", true),
        ("kill -KILL $$", "Exit code 137\nThe command was ended by signal 9.", true),
        ("no_such_program", "Exit code 127\nbash: line 1: no_such_program: command not found", true),
        ("grep x /dev/null", "Exit code 1: nothing matched.", false),
        ("diff <(echo a) <(echo b)", "Exit code 1\n1c1\n< a\n---\n> b", true),
        ("-x", "Exit code 127\nbash: line 1: -x: command not found", true),
        ("cat <<'E'\n$HOME `x` \"\nE", "$HOME `x` \"", false),
        ("printf '\\e[31mred\\e[0m\\r\\n\\0'", "red\n\u{2400}", false),
        ("echo \"$0 $#\"", "bash 0", false),
        ("echo $BASH_ENV", "(Bash completed with no output)", false),
    ];
    for (command, expected, is_error) in cases {
        let output = session.bash(command).await;
        assert_eq!((text(&output), output.is_error), (expected, is_error), "{command}");
    }
    assert_eq!(session.artifacts(), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn the_message_of_a_syntax_error_is_that_of_the_command_alone() {
    let output = Session::new().bash("echo a\nif then").await;
    let shown = text(&output);
    assert!(shown.starts_with("Exit code 2\na\n"), "{shown}");
    assert!(shown.contains("line 2: syntax error near unexpected token `then'"), "{shown}");
    assert!(!shown.contains("trap"), "{shown}");
}

#[tokio::test]
async fn hosts_get_the_same_as_data() {
    let mut session = Session::new();
    let output = session.bash("echo hi").await;
    assert_eq!(
        structured(&output),
        json!({"stdout": "hi", "stderr": "", "interrupted": false, "isImage": false, "exitCode": 0})
    );
    let output = session.bash("grep x /dev/null").await;
    assert_eq!(structured(&output)["returnCodeInterpretation"], "nothing matched");
}

#[tokio::test]
async fn the_directory_lasts_and_variables_do_not() {
    let mut session = Session::new();
    let root = session.root().to_owned();
    let output = session.bash("mkdir -p 'a b/c'; cd 'a b'; X=1; export Y=1").await;
    assert_eq!(output.changes, [ContextChange::Cwd(root.join("a b"))]);
    let output = session.bash("pwd; echo \"[$X$Y]\"; cd c; false").await;
    assert_eq!(text(&output), format!("Exit code 1\n{}/a b\n[]", root.display()));
    let output = session.bash("pwd; (cd ..); trap 'echo mine' EXIT; cd /").await;
    assert_eq!(text(&output), format!("{}/a b/c\nmine", root.display()));
    assert_eq!(output.changes, []);
    let output = session.bash("pwd; cd ..; exit 0").await;
    assert_eq!(text(&output), format!("{}/a b/c", root.display()));
    assert_eq!(output.changes, [ContextChange::Cwd(root.join("a b"))]);
}

#[tokio::test]
async fn a_directory_outside_is_not_kept() {
    let mut session = Session::new();
    let root = session.root().to_owned();
    std::fs::create_dir(root.join("in")).unwrap();
    std::os::unix::fs::symlink("/", root.join("out")).unwrap();
    for command in ["cd /", "cd ..", "cd out", "mkdir ../workside; cd ../workside"] {
        let output = session.bash(command).await;
        assert_eq!(output.changes, [], "{command}");
        let shown = text(&output);
        let expected = format!("The working directory is {} again: ", root.display());
        assert!(shown.starts_with(&expected) && shown.ends_with(" is outside the workspace."), "{shown}");
        assert_eq!(structured(&output)["stderr"], shown);
    }
    assert_eq!(text(&session.bash("pwd").await), root.to_str().unwrap());
}

#[tokio::test]
async fn a_root_that_is_a_link_keeps_its_name() {
    let mut session = Session::new();
    let link = session.folder.path().join("link");
    std::os::unix::fs::symlink(session.root(), &link).unwrap();
    session.parts.place.cwd = link.clone();
    session.parts.place.directories = [link.clone()].into();
    let output = session.bash("pwd; mkdir sub; cd sub").await;
    assert_eq!(text(&output), link.to_str().unwrap());
    assert_eq!(output.changes, [ContextChange::Cwd(link.join("sub"))]);
}

#[tokio::test]
async fn a_directory_that_is_gone_is_left() {
    let mut session = Session::new();
    let root = session.root().to_owned();
    session.bash("mkdir sub; cd sub").await;
    let output = session.bash("rmdir ../sub").await;
    assert_eq!(output.changes, []);
    let output = session.bash("pwd").await;
    let note = format!("{0}/sub does not exist any more; the command ran in {0}.", root.display());
    assert_eq!(text(&output), format!("{}\n{note}", root.display()));
    assert_eq!(output.changes, [ContextChange::Cwd(root)]);
}

#[tokio::test]
async fn the_environment_is_the_sessions() {
    let mut session = Session::new();
    let tools = session.root().join("tools");
    std::fs::create_dir(&tools).unwrap();
    session.parts.place.env = [
        ("PATH".into(), format!("{}:.:/usr/bin:/bin", tools.display()).into()),
        ("GREETING".into(), "hello".into()),
        ("PAGER".into(), "more".into()),
        ("BASH_ENV".into(), "/etc/profile".into()),
        ("CDPATH".into(), "/".into()),
    ]
    .into();
    let output = session
        .bash("echo $PATH $GREETING $PAGER $TERM $CLAUDECODE; echo \"[$CDPATH$BASH_ENV]\"; env | grep -ci key")
        .await;
    assert_eq!(text(&output), "/usr/bin:/bin hello more dumb 1\n[]\n0\nExit code 1: nothing matched.");
}

#[tokio::test]
async fn a_timeout_is_reported() {
    let mut session = Session::new();
    let sleep = sleeper(&session.tag);
    let input = json!({ "command": format!("echo begun; setsid {sleep} & {sleep}"), "timeout": 300.0 });
    let output = session.try_call(&Bash::new(), input).await.unwrap();
    assert!(output.is_error);
    assert_eq!(text(&output), "Exit code 143\nbegun\nThe command was stopped: it did not end within 300 ms.");
    let data = structured(&output);
    assert_eq!((&data["interrupted"], &data["timedOutAfterMs"]), (&json!(true), &json!(300)));
    assert_eq!(alive(&format!("300.{}", session.tag)), NONE);
}

#[tokio::test]
async fn no_command_gets_more_time_than_the_most() {
    let tool = Bash::new().with_timeouts(Duration::from_secs(60), Duration::from_millis(300));
    for asked in [json!(1e300), json!(0), json!(-5), json!(900_000), json!(null)] {
        let input = json!({ "command": "sleep 60", "timeout": asked });
        let output = Session::new().try_call(&tool, input).await.unwrap();
        assert_eq!(structured(&output)["timedOutAfterMs"], 300, "{asked}");
    }
}

#[tokio::test]
async fn what_is_left_running_is_stopped_and_reported() {
    let mut session = Session::new();
    let sleep = sleeper(&session.tag);
    let output = session.bash(&format!("{sleep} & echo started")).await;
    let note = "1 process was still running when the command ended, and stopped: nothing outlives its command.";
    assert_eq!(text(&output), format!("started\n{note}"));
    assert!(!output.is_error);
    assert_eq!(alive(&format!("300.{}", session.tag)), NONE);
}

#[tokio::test]
async fn a_stop_keeps_the_output() {
    let mut session = Session::new();
    let cancel = session.parts.cancel.clone();
    session.parts.progress = std::sync::Arc::new(move |_| cancel.cancel());
    let output = session.bash("echo begun; sleep 60").await;
    assert_eq!(text(&output), "Exit code 143\nbegun\nThe command was stopped before it ended.");
    assert_eq!(structured(&output)["interrupted"], true);
}

#[tokio::test]
async fn too_much_output_keeps_both_ends_and_the_whole_on_disk() {
    let mut session = Session::new();
    let output = session.bash("seq 1 100000").await;
    let shown = text(&output);
    let files = session.artifacts();
    let whole: String = (1..=100_000).map(|line| format!("{line}\n")).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(std::fs::read_to_string(&files[0]).unwrap(), whole);
    assert!(shown.starts_with("1\n2\n3\n") && shown.ends_with("\n99999\n100000"));
    assert!(shown.len() < Bash::DEFAULT_MAX_OUTPUT + 300);
    let markers: Vec<&str> = shown.lines().filter(|line| line.starts_with('[')).collect();
    let kept: usize = shown.len() - markers[0].len();
    let left_out = whole.len() - kept;
    assert_eq!(
        markers,
        [format!("[... {left_out} bytes left out; all {} bytes are in {} ...]", whole.len(), files[0].display())]
    );
    let data = structured(&output);
    assert_eq!(data["persistedOutputPath"], files[0].to_str().unwrap());
    assert_eq!(data["persistedOutputSize"], whole.len());
}

#[tokio::test]
async fn the_budget_counts_characters() {
    let mut session = Session::new();
    let tool = Bash::new().with_max_output(1000);
    let input = json!({ "command": "printf '%0.s\u{8a9e}' {1..1000}" });
    let output = session.try_call(&tool, input).await.unwrap();
    assert_eq!(text(&output), "\u{8a9e}".repeat(1000));
    assert_eq!(session.artifacts(), Vec::<std::path::PathBuf>::new());

    let input = json!({ "command": "printf '%0.s\u{8a9e}' {1..1001}" });
    let output = session.try_call(&tool, input).await.unwrap();
    assert!(text(&output).contains("\n[... 3 bytes left out; all 3003 bytes are in "), "{}", text(&output));
    assert_eq!(session.artifacts().len(), 1);
}

#[tokio::test]
async fn without_artifacts_the_middle_is_lost_and_a_note_says_so() {
    let mut session = Session::new();
    session.parts.place.artifacts = None;
    let output = session.bash("seq 1 100000").await;
    assert!(text(&output).contains(" of 588895 bytes left out ...]\n"));
    assert!(structured(&output).get("persistedOutputPath").is_none());
}

#[tokio::test]
async fn what_cannot_run_is_refused_before_it_starts() {
    let mut session = Session::new();
    for input in [json!({ "command": " \n" }), json!({ "command": "touch ran\0" })] {
        let error = session.try_call(&Bash::new(), input.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::InvalidInput, "{input}");
    }
    assert_eq!(text(&session.bash("ls").await), "(Bash completed with no output)");
    let input = json!({ "command": "echo ran", "run_in_background": false });
    assert_eq!(text(&session.try_call(&Bash::new(), input).await.unwrap()), "ran");
}

#[tokio::test]
async fn no_file_of_ours_stays() {
    let mut session = Session::new();
    let temporary = session.folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    session.parts.place.env =
        [("PATH".into(), "/usr/bin:/bin".into()), ("TMPDIR".into(), temporary.clone().into_os_string())].into();
    assert_eq!(text(&session.bash("ls \"$TMPDIR\" | wc -l; cd /").await).lines().next(), Some("1"));
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[tokio::test]
async fn progress_is_plain_text() {
    let mut session = Session::new();
    session.bash("printf '\\e[1mone\\e[0m\\n'; sleep 0.6").await;
    assert_eq!(*session.progress.lock().unwrap(), ["one"]);
}

#[test]
fn the_schema_offers_what_works() {
    let spec = DynTool::spec(&Bash::new());
    let schema: serde_json::Value = spec.input_schema.to().unwrap();
    let properties = schema["properties"].as_object().unwrap();
    let mut names: Vec<&String> = properties.keys().collect();
    names.sort();
    assert_eq!(names, ["command", "dangerouslyDisableSandbox", "description", "run_in_background", "timeout"]);
    assert_eq!(schema["required"], json!(["command"]));
}
