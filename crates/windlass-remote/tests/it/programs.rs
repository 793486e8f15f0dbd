//! Programs.

use windlass_local::LocalProcess;
use windlass_remote::{ConnectionLost, Remote, RemoteProcess, Transport};
use windlass_testkit::process::{self, Shell};
use windlass_tool::{Cancel, Process as _, ProcessCommand, ProcessExit};

use super::{docker, remotes, ssh};

async fn keep(far: Remote) {
    let folder = tempfile::tempdir().unwrap();
    let shell = Shell::new(folder.path().canonicalize().unwrap()).with_mark(LocalProcess::MARK);
    process::all(&*far.process(), &shell).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_over_ssh_keep_every_promise() {
    keep(Remote::connect(ssh("noisy")).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_of_a_container_keep_every_promise() {
    keep(Remote::connect(docker("web")).await.unwrap()).await;
}

fn shell(script: &str) -> ProcessCommand {
    let mut command = ProcessCommand::new("sh", "/");
    command.args = vec!["-c".into(), script.into()];
    command.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    command
}

async fn printed(process: &RemoteProcess, command: ProcessCommand) -> String {
    let outcome = process.run(command, &Cancel::new()).await.unwrap();
    assert_eq!(outcome.exit, ProcessExit::Code(0), "{outcome:?}");
    outcome.stdout.head
}

#[tokio::test]
async fn input_comes_whole_and_is_not_waited_for() {
    for far in remotes().await {
        let process = far.process();
        let input: Vec<u8> = (0..200_000_u32).map(|at| (at % 256) as u8).collect();
        let mut command = shell("cksum; wc -c");
        command.args[1] = "wc -c".into();
        command.stdin = Some(input.clone().into());
        assert_eq!(printed(&process, command).await.trim(), "200000");
        let mut command = shell("echo done");
        command.stdin = Some(input.into());
        assert_eq!(printed(&process, command).await, "done\n");
    }
}

#[tokio::test]
async fn a_bash_reports_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("odd 'name'")).unwrap();
    for far in remotes().await {
        let mut command = ProcessCommand::new("bash", &root);
        command.args = ["--noprofile", "--norc", "-c", "--", "cd odd*; exit 3"].map(Into::into).into();
        command.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
        command.reports_directory = true;
        let outcome = far.process().run(command, &Cancel::new()).await.unwrap();
        assert_eq!((outcome.exit, outcome.directory), (ProcessExit::Code(3), Some(root.join("odd 'name'"))));
        assert_eq!(outcome.stderr.head, "");
    }
}

#[tokio::test]
async fn nothing_of_this_machine_reaches_a_program() {
    for far in remotes().await {
        let names = printed(&far.process(), shell("env | sed 's/=.*//' | sort | tr '\\n' ' '")).await;
        assert_eq!(names.trim(), "PATH PWD WINDLASS_CALL", "{}", far.place());
        assert!(far.environment().iter().any(|(name, value)| name == "HOME" && value == "/root"), "{far:?}");
    }
}

#[tokio::test]
async fn programs_there_read_utf_8_whatever_the_locale_of_the_account() {
    let environments =
        ["", "LANG=C", "LANG=zh_CN.GBK", "LANG=xx_XX.UTF-8 LC_CTYPE=xx_XX.UTF-8", "LC_ALL=zh_CN.GBK LC_CTYPE=C.UTF-8"];
    for set in environments {
        let there = Transport::program("/bin/sh", ["-c", &format!("exec env {set} \"$0\" \"$@\"")]);
        let far = Remote::connect(there.with_connect_time(std::time::Duration::from_secs(120))).await.unwrap();
        let mut command = ProcessCommand::new("bash", "/");
        command.args = ["-c", "--", "x=日; echo ${#x}"].map(Into::into).into();
        command.env = windlass_tool::environment::child_environment(far.environment(), &[]);
        let outcome = far.process().run(command, &Cancel::new()).await.unwrap();
        assert_eq!(outcome.stdout.head, "1\n", "{set}: {:?}", far.environment());
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    for far in remotes().await {
        // The program ends the shell that was to report its end, which looks like a broken connection.
        let script =
            format!("kill -KILL $(sed 's/.*) . //; s/ .*//' /proc/$$/stat); echo $$ >{}; exit 0", pid.display());
        let error = far.process().run(shell(&script), &Cancel::new()).await.unwrap_err();
        assert!(error.message.contains("is not known") && error.message.contains(&far.place()), "{error}");
        let source = std::error::Error::source(&error).unwrap();
        assert!(source.downcast_ref::<ConnectionLost>().is_some(), "{source:?}");
    }
}

#[tokio::test]
async fn what_no_program_can_be_given_is_refused() {
    let far = Remote::connect(ssh("host")).await.unwrap();
    let mut nul = shell("true");
    nul.args.push("a\0b".into());
    let mut option = shell("true");
    option.env.push(("-S".into(), "x".into()));
    for command in [nul, option] {
        let error = far.process().run(command, &Cancel::new()).await.unwrap_err();
        assert!(error.message.starts_with("The program was not started"), "{error}");
    }
}
