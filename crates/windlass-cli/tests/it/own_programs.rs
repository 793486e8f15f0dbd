//! The user's own programs (servers, hooks, helpers, language servers) in a repository that nobody has trusted: nothing of the
//! repository runs through them, and one line names what does not start.

use crate::place::{Place, Ran, call, text, write};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// A program of the repository, or one of the user.
fn program(path: &Path, script: &str) {
    write(path, &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// A repository that offers a program of its own under each name that the user's settings could mean.
fn hostile() -> Place {
    let place = Place::with_turns(&[text("Done.")]);
    let mark = |name: &str| format!("touch {}", place.path("ran").join(name).display());
    std::fs::create_dir_all(place.path("ran")).unwrap();
    let work = place.work();
    write(&work.join(".git/HEAD"), "ref: refs/heads/main\n");
    write(&work.join(".npmrc"), "registry=http://127.0.0.1:9/\n");
    write(&work.join("package.json"), r#"{"name":"x","scripts":{"lint":"exit 0"}}"#);
    write(&work.join("json.py"), &format!("import os\nos.system({:?})\n", mark("module")));
    write(&work.join("script.py"), &format!("import os\nos.system({:?})\n", mark("script")));
    write(&work.join("Makefile"), &format!("lint:\n\t{}\n", mark("makefile")));
    for name in ["evil", "prettier", "guard"] {
        program(&work.join("node_modules/.bin").join(name), &mark("module-bin"));
    }
    program(&work.join("server"), &mark("relative"));
    for name in ["linked", "sh"] {
        program(&work.join("bin").join(name), &mark(name));
    }
    std::fs::create_dir_all(place.home().join(".local")).unwrap();
    symlink(work.join("bin"), place.home().join(".local/bin")).unwrap();
    // A runner of packages that takes the program of the directory, as the real one does.
    program(&place.path("tools/npx"), "[ \"$1\" = -y ] && shift\nexec ./node_modules/.bin/\"$1\"");
    let root = work.canonicalize().unwrap().display().to_string();
    let place_of = format!(
        "case \"$(pwd -P)\" in {root}*) {};; *) {};; esac\n[ \"$CLAUDE_PROJECT_DIR\" = {root} ] || {}\n\
         case \":$PATH:\" in *{root}*|*{}*) {};; esac",
        mark("in-project"),
        mark("elsewhere"),
        mark("no-project"),
        place.home().join(".local/bin").display(),
        mark("path-of-project"),
    );
    program(&place.path("tools/own"), &place_of);
    place
}

/// Runs the command with a search path that leads through the workspace, also through a link.
fn run(place: &Place, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    let own = [place.home().join(".local/bin"), place.work().join("node_modules/.bin"), place.path("tools")];
    let own: Vec<String> = own.iter().map(|folder| folder.display().to_string()).collect();
    let mut command = place.command(&[&["-p", "Go."], args].concat());
    command.env("PATH", format!("{}:{path}", own.join(":"))).envs(variables.iter().copied());
    command.output().unwrap().into()
}

/// The marks that programs have left.
fn marks(place: &Place) -> Vec<String> {
    let all = std::fs::read_dir(place.path("ran")).unwrap();
    let mut all: Vec<String> = all.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
    all.sort();
    all
}

/// Waits for marks, since no session waits for its servers.
fn marks_in_time(place: &Place, expected: usize) -> Vec<String> {
    for _ in 0..100 {
        if marks(place).len() >= expected {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    marks(place)
}

fn own_tool(place: &Place) -> String {
    place.path("tools/own").display().to_string()
}

/// A server of the user's, the marks without and with trust, and a part of what is said without.
type ServerCase = (Value, &'static [&'static str], &'static [&'static str], Option<&'static str>);

#[test]
fn servers_of_the_user_take_nothing_of_an_untrusted_project() {
    let cases: [fn(&Place) -> ServerCase; 8] = [
        |_| (json!({ "command": "npx", "args": ["-y", "evil"] }), &[], &["module-bin"], Some("`npx -y evil`")),
        |_| (json!({ "command": "./server" }), &[], &["relative"], Some("`./server`")),
        |_| (json!({ "command": "python3", "args": ["-m", "json"] }), &[], &["module"], Some("`python3 -m json`")),
        |_| (json!({ "command": "python3", "args": ["script.py"] }), &[], &["script"], Some("`python3 script.py`")),
        |_| (json!({ "command": "linked" }), &[], &["linked"], Some("linked")),
        |_| (json!({ "command": "sh", "args": ["-c", "npx evil"] }), &[], &["sh"], Some("`npx evil`")),
        |place| {
            let command = place.work().join("server");
            (json!({ "command": command }), &[], &["relative"], Some("/server`"))
        },
        |place| {
            let (own, work) = (own_tool(place), place.work());
            (json!({ "command": own, "args": [work] }), &["elsewhere"], &["in-project", "path-of-project"], None)
        },
    ];
    for case in cases {
        for trusted in [false, true] {
            let place = hostile();
            let (server, untrusted, with_trust, said) = case(&place);
            write(&place.home().join(".claude.json"), &json!({ "mcpServers": { "mine": server } }).to_string());
            let ran = run(&place, if trusted { &["--trust"] } else { &[] }, &[]);
            let expected = if trusted { with_trust } else { untrusted };
            assert_eq!(marks_in_time(&place, expected.len()), expected, "{server} {trusted}: {ran:?}");
            assert_eq!(ran.code, 0, "{ran:?}");
            let lines: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("windlass trust")).collect();
            match said.filter(|_| !trusted) {
                Some(part) => assert!(matches!(&lines[..], [line] if line.contains(part)), "{server}: {ran:?}"),
                None => assert!(lines.is_empty(), "{server}: {ran:?}"),
            }
        }
    }
}

/// A line of a hook, and whether it starts without trust.
fn hook_lines(place: &Place) -> Vec<(String, bool)> {
    let own = own_tool(place);
    let inside = place.work().join("server");
    vec![
        ("npx prettier --write .".to_owned(), false),
        ("npm exec prettier".to_owned(), false),
        ("python3 -m json < /dev/null".to_owned(), false),
        ("timeout 5 env A=1 npx prettier".to_owned(), false),
        ("./server".to_owned(), false),
        ("sh ./server".to_owned(), false),
        (format!("{}", inside.display()), false),
        ("\"$CLAUDE_PROJECT_DIR\"/server".to_owned(), false),
        ("bash \"${CLAUDE_PROJECT_DIR}/server\"".to_owned(), false),
        ("cd \"$CLAUDE_PROJECT_DIR\" && make lint".to_owned(), false),
        ("linked".to_owned(), false),
        ("PATH=\"$CLAUDE_PROJECT_DIR/bin:$PATH\" linked".to_owned(), false),
        (own.clone(), true),
        ("own".to_owned(), true),
        (format!("input=$(cat); if echo \"$input\" | grep -q nothing; then exit 2; fi; {own}"), true),
        (format!("cd /tmp && {own}"), true),
        ("~/../tools/own".to_owned(), true),
    ]
}

#[test]
fn hooks_of_the_user_take_nothing_of_an_untrusted_project() {
    for at in 0..hook_lines(&hostile()).len() {
        for trusted in [false, true] {
            let place = hostile();
            let (line, starts) = hook_lines(&place).remove(at);
            let hooks = json!({ "SessionStart": [{ "hooks": [{ "type": "command", "command": line }] }] });
            write(&place.home().join(".claude/settings.json"), &json!({ "hooks": hooks }).to_string());
            let ran = run(&place, if trusted { &["--trust"] } else { &[] }, &[]);
            assert_eq!(ran.code, 0, "{line} {ran:?}");
            if !trusted {
                let of_project = marks(&place).into_iter().find(|mark| mark != "elsewhere");
                assert_eq!(of_project, None, "{line}: {ran:?}");
                let lines = ran.stderr.lines().filter(|line| line.contains("windlass trust")).count();
                assert_eq!(lines, usize::from(!starts), "{line}: {ran:?}");
                if starts && line.ends_with("own") {
                    assert_eq!(marks(&place), ["elsewhere"], "{line}: {ran:?}");
                }
            } else if line.ends_with("own") && !line.starts_with("cd ") {
                assert_eq!(marks(&place), ["in-project"], "{line}: {ran:?}");
            } else {
                assert!(!ran.stderr.contains("windlass trust"), "{line}: {ran:?}");
            }
        }
    }
}

#[test]
fn a_gate_that_cannot_start_denies_and_is_named() {
    for (trust, denied) in [(&[][..], true), (&["--trust"][..], false)] {
        let place = hostile();
        place.script(&[call("Read", &json!({ "file_path": place.work().join("Makefile") })), text("Done.")]);
        let gate = json!([{ "matcher": "Read", "hooks": [{ "type": "command", "command": "npx guard" }] }]);
        write(&place.home().join(".claude/settings.json"), &json!({ "hooks": { "PreToolUse": gate } }).to_string());
        let ran = run(&place, &[trust, &["--output-format", "json"]].concat(), &[]).with_code(0);
        let denials = ran.lines().pop().unwrap()["permission_denials"].as_array().unwrap().len();
        assert_eq!((denials == 1, marks(&place).is_empty()), (denied, denied), "{ran:?}");
        let log = std::fs::read_to_string(place.logs().pop().unwrap()).unwrap();
        let named = log.lines().any(|line| line.contains("npx guard") && line.contains("windlass trust"));
        assert_eq!(named, denied, "{log}");
    }
}

/// The input of a hook names the project, wherever its program starts.
#[test]
fn a_hook_that_starts_elsewhere_reads_where_the_session_works() {
    let place = hostile();
    let input = place.path("input");
    let hook = json!({ "type": "command", "command": format!("cat > {}; pwd -P > {0}.pwd", input.display()) });
    let hooks = json!({ "SessionStart": [{ "hooks": [hook] }] });
    write(&place.home().join(".claude/settings.json"), &json!({ "hooks": hooks }).to_string());
    run(&place, &[], &[]).with_code(0);
    let read: Value = serde_json::from_str(&std::fs::read_to_string(&input).unwrap()).unwrap();
    let work = place.work().canonicalize().unwrap();
    assert_eq!(read["cwd"].as_str().unwrap(), work.to_str().unwrap());
    let started = std::fs::read_to_string(place.path("input.pwd")).unwrap();
    let started = Path::new(started.trim());
    assert!(!started.starts_with(&work), "{started:?}");
    let rights = started.metadata().unwrap().permissions().mode();
    assert_eq!(rights & 0o077, 0, "other users see nothing there");
    assert_eq!(started.read_dir().unwrap().count(), 0, "{started:?}");
}

#[test]
fn helpers_of_the_user_take_nothing_of_an_untrusted_project() {
    let of_server = |helper: &str| json!({ "mcpServers": { "mine": { "type": "http", "url": "http://127.0.0.1:9/", "headersHelper": helper } } });
    let of_key = |helper: &str| json!({ "apiKeyHelper": helper });
    for trusted in [false, true] {
        for (line, starts, with_trust) in
            [("npx evil", false, Some("module-bin")), ("./server", false, Some("relative")), ("OWN", true, None)]
        {
            let flags = if trusted { &["--trust"][..] } else { &[] };
            let place = hostile();
            let line = line.replace("OWN", &own_tool(&place));
            write(&place.home().join(".claude.json"), &of_server(&line).to_string());
            let ran = run(&place, flags, &[]);
            let left = marks_in_time(&place, 1);
            // In a trusted project the shell itself is found as it always was.
            let expected: &[&str] = match (trusted, starts) {
                (true, _) => &["sh"],
                (false, true) => &["elsewhere"],
                (false, false) => &[],
            };
            assert_eq!(left, expected, "{line} {trusted}: {ran:?}");
            assert_eq!(ran.stderr.contains("windlass trust"), !trusted && !starts, "{line}: {ran:?}");

            let place = hostile();
            let line = if starts { own_tool(&place) } else { line };
            std::fs::remove_file(place.path("script.json")).unwrap();
            write(&place.home().join(".claude/settings.json"), &of_key(&line).to_string());
            let endpoint = [("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"), ("CLAUDE_CODE_MAX_RETRIES", "0")];
            let ran = run(&place, flags, &endpoint);
            let left = marks(&place);
            match (trusted, starts) {
                (true, false) => assert_eq!(left, [with_trust.unwrap()], "{line}: {ran:?}"),
                (true, true) => assert!(left.contains(&"in-project".to_owned()), "{line}: {ran:?}"),
                (false, true) => assert_eq!(left, ["elsewhere"], "{line}: {ran:?}"),
                (false, false) => assert!(left.is_empty(), "{line}: {ran:?}"),
            }
            let said = format!("{}{}", ran.stdout, ran.stderr).contains("windlass trust");
            assert_eq!(said, !trusted && !starts, "{line}: {ran:?}");
        }
    }
}

#[test]
fn language_servers_do_not_start_in_an_untrusted_project() {
    for (mode, trust) in [("plan", &[][..]), ("default", &[]), ("plan", &["--trust"])] {
        let place = hostile();
        write(&place.work().join("a.toy"), "def one\n");
        let look = json!({ "operation": "documentSymbol", "filePath": place.work().join("a.toy") });
        place.script(&[call("LSP", &look), text("Done.")]);
        let server = json!({ "command": own_tool(&place), "extensionToLanguage": { ".toy": "toy" } });
        write(&place.home().join(".claude/settings.json"), &json!({ "lspServers": { "toy": server } }).to_string());
        let ran = run(&place, &[&["--permission-mode", mode], trust].concat(), &[]).with_code(0);
        assert_eq!(marks(&place).is_empty(), trust.is_empty(), "{mode} {trust:?}: {ran:?}");
        let lines: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("windlass trust")).collect();
        assert_eq!(lines.len(), usize::from(trust.is_empty()), "{ran:?}");
        assert!(lines.iter().all(|line| line.contains("toy")), "{ran:?}");
    }
}

/// A folder of the search path that is a link into the workspace, in every mode and with trust.
#[test]
fn commands_find_no_program_of_the_workspace_through_a_link() {
    for mode in ["default", "acceptEdits", "bypassPermissions"] {
        for trust in [&[][..], &["--trust"]] {
            let place = hostile();
            place.script(&[call("Bash", &json!({ "command": "linked; sh -c true" })), text("Done.")]);
            let skip: &[&str] = if mode == "bypassPermissions" { &["--dangerously-skip-permissions"] } else { &[] };
            let args = [&["--permission-mode", mode, "--allowedTools", "Bash"], skip, trust].concat();
            let ran = run(&place, &args, &[]).with_code(0);
            assert!(marks(&place).is_empty(), "{mode} {trust:?}: {ran:?}");
        }
    }
}
