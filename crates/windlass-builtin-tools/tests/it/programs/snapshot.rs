//! The environment of a login shell for commands.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::json;
use windlass_builtin_tools::{Bash, ShellSnapshot};

use crate::programs::support::{NONE, Session, alive, sleeper, text, unique};

/// A session whose user has these start-up files.
fn session(profile: &str, rc: &str) -> Session {
    let mut session = Session::new();
    let home = session.folder.path().canonicalize().unwrap().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join(".bash_profile"), profile).unwrap();
    std::fs::write(home.join(".bashrc"), rc).unwrap();
    let own = [("HOME", home.as_os_str()), ("SHELL", "/bin/bash".as_ref()), ("LANG", "C.UTF-8".as_ref())];
    for (name, value) in own {
        set(&mut session, name, value);
    }
    session
}

fn set(session: &mut Session, name: &str, value: impl AsRef<OsStr>) {
    let mut env = session.parts.place.env.to_vec();
    env.retain(|(known, _)| known != name);
    env.push((name.into(), value.as_ref().into()));
    session.parts.place.env = env.into();
}

const PROFILE: &str = "\
echo welcome
export PATH=\"$HOME/bin:$PATH\" JAVA_HOME=/opt/java LANG=de_DE OPENAI_API_KEY=sk-very-secret BASH_ENV=/nowhere LD_PRELOAD=
. ~/.bashrc
";
const RC: &str = "\
case $- in *i*) ;; *) return ;; esac
shopt -s extglob
greet() { echo \"hi $1\"; }
ls() { echo mine; }
judged() { echo mine; }
tell() { echo sk-very-secret; }
_complete() { :; }
odd() { case $1 in +(x)) echo odd;; esac; }
alias ll='echo listed' cd='echo no' greetings='greet there'
";

fn is_judged(name: &str) -> bool {
    name == "judged"
}

#[tokio::test]
async fn commands_have_the_variables_of_the_login_shell() {
    let mut session = session(PROFILE, RC);
    let shown =
        "echo \"$PATH|$JAVA_HOME|$LANG|${OPENAI_API_KEY-none}|${BASH_ENV-none}\"; greet x 2>&1 | grep -c found; pwd";
    let plain = session.bash(shown).await;
    assert!(text(&plain).starts_with("/usr/bin:/bin||C.UTF-8|none|none\n1\n"), "{}", text(&plain));
    let tool = Bash::new().with_snapshot(ShellSnapshot::new());
    let output = session.try_call(&tool, json!({ "command": shown })).await.unwrap();
    let home = session.root().with_file_name("home");
    // The system's own profile may set another search path before the user's.
    let shown = text(&output).strip_prefix(&format!("{}/bin:", home.display())).unwrap();
    let rest = format!("/bin|/opt/java|C.UTF-8|none|none\n1\n{}", session.root().display());
    assert!(shown.ends_with(&rest), "{shown}");
}

#[tokio::test]
async fn functions_and_aliases_come_where_they_hide_nothing() {
    let mut session = session(PROFILE, RC);
    let tool = Bash::new().with_snapshot(ShellSnapshot::new().with_functions(is_judged));
    let command = "greet you; ll; greetings; type -t ls cd judged tell _complete; odd 1; cd /; pwd; false; echo $?";
    let output = session.try_call(&tool, json!({ "command": command })).await.unwrap();
    let shown = text(&output);
    assert!(shown.starts_with("hi you\nlisted\nhi there\nfile\nbuiltin\n"), "{shown}");
    assert!(shown.contains("\n/\n1\n") && !shown.contains("mine") && !shown.contains("secret"), "{shown}");
    // The final directory is still known.
    assert!(shown.contains("The working directory is"), "{shown}");
}

#[tokio::test]
async fn it_is_taken_once() {
    let mut session = session("echo x >> ~/count\nexport JAVA_HOME=/opt/java\n", "");
    let tool = Bash::new().with_snapshot(ShellSnapshot::new());
    for tool in [tool.clone(), tool.clone(), tool] {
        let output = session.try_call(&tool, json!({ "command": "cat ~/count; echo $JAVA_HOME" })).await.unwrap();
        assert_eq!(text(&output), "x\n/opt/java");
    }
}

#[tokio::test]
async fn broken_start_up_files_are_told_once_and_commands_run() {
    let tag = unique();
    let sleep = sleeper(&tag);
    for (profile, why) in [
        ("exit 3\n".to_owned(), "its start-up files ended it"),
        ("exec true\n".to_owned(), "its start-up files ended it"),
        ("kill -9 $$\n".to_owned(), "its start-up files ended it"),
        (format!("setsid {sleep} & {sleep}\n"), "it did not end within 700 ms"),
        ("while :; do echo flood; done\n".to_owned(), "it did not end within 700 ms"),
        ("head -c 3000000 /dev/zero\n".to_owned(), "it printed more than"),
    ] {
        let mut session = session(&profile, "");
        let snapshot = ShellSnapshot::new().with_timeout(Duration::from_millis(700));
        let tool = Bash::new().with_snapshot(snapshot);
        let start = Instant::now();
        let output = session.try_call(&tool, json!({ "command": "echo ran $PATH" })).await.unwrap();
        let shown = text(&output);
        assert!(
            shown.starts_with("ran /usr/bin:/bin\nThe environment of the login shell is not used"),
            "{profile}: {shown}"
        );
        assert!(shown.contains(why), "{profile}: {shown}");
        assert!(start.elapsed() < Duration::from_secs(15), "{profile}");
        let again = session.try_call(&tool, json!({ "command": "echo ran" })).await.unwrap();
        assert_eq!(text(&again), "ran", "{profile}");
    }
    assert_eq!(alive(&tag), NONE);
    // A start-up file that is merely wrong is passed over, as in a terminal.
    let mut session = session("if then\nexport JAVA_HOME=/opt/java\n", "");
    let tool = Bash::new().with_snapshot(ShellSnapshot::new());
    let output = session.try_call(&tool, json!({ "command": "echo ran" })).await.unwrap();
    assert_eq!(text(&output), "ran");
}

#[tokio::test]
async fn no_shell_of_the_workspace_is_asked_and_its_folders_are_no_part_of_the_search_path() {
    let mut session = session("", "");
    let root = session.root().to_owned();
    let shell = root.join("bash");
    std::fs::write(&shell, format!("#!/bin/sh\ntouch {}/ran\nexec /bin/bash \"$@\"\n", root.display())).unwrap();
    std::fs::set_permissions(&shell, PermissionsExt::from_mode(0o755)).unwrap();
    let profile = format!("export PATH=\"{}/bin:$PATH\"\n", root.display());
    std::fs::write(root.with_file_name("home").join(".bash_profile"), profile).unwrap();
    set(&mut session, "SHELL", shell);
    let tool = Bash::new().with_snapshot(ShellSnapshot::new());
    let output = session.try_call(&tool, json!({ "command": "echo $PATH; ls" })).await.unwrap();
    let (path, files) = text(&output).split_once('\n').unwrap();
    assert!(
        path.split(':').all(|folder| folder.starts_with('/') && !folder.starts_with(root.to_str().unwrap())),
        "{path}"
    );
    assert_eq!(files, "bash", "it did not run");
}
