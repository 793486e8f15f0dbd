//! Commands with a terminal of their own.

use std::time::Duration;

use serde_json::json;
use windlass_builtin_tools::{Bash, BashOnTerminals};
use windlass_local::LocalProcess;
use windlass_tool::{Cancel, DynTool, Process as _, ProcessCommand, ProcessExit, ProcessOutcome, TerminalSize, Tool};
use windlass_types::JsonText;

use super::support::{NONE, Session, alive, eventually, shell, sleeper, unique};

async fn run(command: ProcessCommand) -> ProcessOutcome {
    LocalProcess::new(unique()).run(command, &Cancel::new()).await.unwrap()
}

fn on_terminal(text: &str) -> ProcessCommand {
    let mut command = shell(text);
    command.terminal = Some(TerminalSize::new(30, 70));
    command
}

/// The same, started in the way of systems without `posix_spawn`: the search path is looked through by the child.
fn forked(text: &str) -> ProcessCommand {
    let mut command = on_terminal(text);
    command.program = "bash".into();
    command
}

#[tokio::test]
async fn a_program_has_a_terminal_of_its_own() {
    let script = "test -t 0 && test -t 1 && test -t 2 && stty size </dev/tty && echo err >&2; ps -o tty= -p $$ | grep -c pts; exit 3";
    for command in [on_terminal(script), forked(script)] {
        let outcome = run(command).await;
        assert_eq!(outcome.stdout.head, "30 70\nerr\n1\n");
        assert_eq!((outcome.exit, outcome.stderr.head.as_str()), (ProcessExit::Code(3), ""));
    }
    let plain = run(shell("test -t 1; echo $?; (: </dev/tty) 2>/dev/null || echo none")).await;
    assert_eq!(plain.stdout.head, "1\nnone\n");
}

#[tokio::test]
async fn the_input_is_what_is_given() {
    assert_eq!(run(on_terminal("read line; echo \"$? <$line>\"")).await.stdout.head, "1 <>\n");
    for (input, expected) in [("a\nb\n", "a\nb\n|"), ("no end", "no end|")] {
        let mut command = on_terminal("cat; echo -n '|'");
        command.stdin = Some(input.as_bytes().into());
        assert_eq!(run(command).await.stdout.head, expected, "{input:?}");
    }
}

#[tokio::test]
async fn a_program_that_waits_for_more_is_stopped_when_its_time_is_up() {
    let mut command = on_terminal("cat; echo one; cat; echo two");
    command.timeout = Some(Duration::from_millis(700));
    let outcome = run(command).await;
    assert_eq!((outcome.exit, outcome.stdout.head.as_str()), (ProcessExit::TimedOut, "one\n"));
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let tag = unique();
    let sleep = sleeper(&tag);
    for script in [
        format!("{sleep} & echo started"),
        format!("setsid {sleep} & echo started"),
        format!("nohup {sleep} >/dev/null 2>&1 & echo started"),
        format!("trap '' HUP TERM; ({sleep}; {sleep}) & echo started"),
    ] {
        let outcome = run(on_terminal(&script)).await;
        assert!(outcome.stdout.head.contains("started"), "{script}: {outcome:?}");
        eventually(&script, || alive(&sleep) == NONE);
    }
}

#[tokio::test]
async fn much_output_and_many_commands_leave_nothing() {
    let mut command = on_terminal("head -c 20000000 /dev/zero | tr '\\0' 'x' | fold -w 99");
    command.inline_bytes = 1024;
    let outcome = run(command).await;
    assert_eq!(outcome.exit, ProcessExit::Code(0));
    let kept = outcome.stdout.head.len() + outcome.stdout.tail.len();
    assert_eq!(
        outcome.stdout.omitted_bytes + kept as u64,
        20_000_000 + 20_000_000 / 99 + u64::from(20_000_000 % 99 > 0) - 1
    );
    let open = || {
        std::fs::read_dir("/proc/self/fd")
            .unwrap()
            .flatten()
            .filter(|file| {
                std::fs::read_link(file.path())
                    .is_ok_and(|target| target.starts_with("/dev/pts") || target.ends_with("ptmx"))
            })
            .count()
    };
    for _ in 0..100 {
        assert_eq!(run(on_terminal("echo x")).await.stdout.head, "x\n");
    }
    eventually("all terminals are closed", || open() == 0);
}

#[tokio::test]
async fn calls_ask_for_a_terminal() {
    let session = Session::new();
    let tool = Bash::new().with_terminals();
    let call = |input: serde_json::Value| {
        let (tool, parts) = (tool.clone(), session.parts.clone());
        async move {
            let input = JsonText::of(&input).unwrap().to().unwrap();
            super::support::text(&tool.call(input, &windlass_tool::ToolCx::new(parts)).await.unwrap()).to_owned()
        }
    };
    let script = "test -t 1 && printf '\\033[31mred\\033[0m\\n' || echo plain";
    assert_eq!(call(json!({ "command": script, "tty": true })).await, "red");
    assert_eq!(call(json!({ "command": script })).await, "plain");
    let schema = |tool: &dyn DynTool| tool.spec().input_schema.as_str().to_owned();
    assert!(!schema(&Bash::new()).contains("tty"), "the usual tool has no such field");
    let offered = schema(&tool);
    assert!(offered.contains("tty") && offered.contains("run_in_background"), "{offered}");
}

/// The description names the field only if there is one.
#[test]
fn the_description_says_how_to_ask_for_a_terminal() {
    let (with, without) = (<BashOnTerminals as Tool>::DESCRIPTION, <Bash as Tool>::DESCRIPTION);
    assert!(with.contains("a terminal only with `tty`") && !with.contains("no terminal"), "{with}");
    assert!(without.contains("There is no terminal and no input") && !without.contains("tty"), "{without}");
    // Nothing else differs.
    let others =
        |text: &str| text.lines().filter(|line| !line.contains("terminal")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(others(with), others(without));
}
