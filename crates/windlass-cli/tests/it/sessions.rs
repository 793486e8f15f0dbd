use crate::place::{Place, call, text};
use serde_json::json;
use std::io::Write;

#[test]
fn a_session_is_continued() {
    let place = Place::with_turns(&[text("one")]);
    let id = "AAAAAAAA-1111-4111-8111-111111111111";
    place.run(&["-p", "first", "--session-id", id]).with_code(0);
    let id = id.to_ascii_lowercase();
    place.run(&["-p", "second", "--continue"]).with_code(0);
    place.run(&["-p", "third", "-r", &id]).with_code(0);
    assert_eq!(place.logs().len(), 1);
    let exported = place.run(&["sessions", "export", &id, "--format", "messages"]).with_code(0);
    for prompt in ["first", "second", "third"] {
        assert!(exported.stdout.contains(prompt), "{}", exported.stdout);
    }
    let shown = place.run(&["sessions", "show", &id]).with_code(0);
    assert_eq!(shown.stdout, "> first\n< one\n> second\n< one\n> third\n< one\n");
    let listed = place.run(&["sessions", "list"]).with_code(0);
    assert_eq!(listed.lines()[0]["session_id"], id);
    assert_eq!(listed.lines()[0]["first_prompt"], "first");
}

#[test]
fn nothing_is_kept_when_nothing_may_be() {
    let place = Place::with_turns(&[text("one")]);
    place.run(&["-p", "x", "--no-session-persistence"]).with_code(0);
    assert!(std::fs::read_dir(place.home()).unwrap().next().is_none());
}

#[test]
fn a_damaged_session_is_reported_and_continued() {
    let place = Place::with_turns(&[text("one")]);
    place.run(&["-p", "first"]).with_code(0);
    let log = place.logs().pop().unwrap();
    let before = std::fs::read(&log).unwrap();
    let mut damaged = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    damaged.write_all(b"\x00\xffnonsense\n{\"type\":\"user\",\"mess").unwrap();
    let written = std::fs::read(&log).unwrap();

    let path = log.to_str().unwrap();
    let report = &place.run(&["sessions", "check", path]).with_code(0).lines()[0];
    assert_eq!(report["file"], path);
    assert_eq!(report["messages"], 2);
    assert_eq!(report["valid"], true);
    let skipped = report["skipped"].as_array().unwrap();
    assert_eq!(skipped[0]["line"], before.iter().filter(|byte| **byte == b'\n').count() + 1);
    for key in ["entries", "synthetic_results", "dropped_results", "warnings"] {
        assert!(report.get(key).is_some(), "{key}");
    }
    assert_eq!(std::fs::read(&log).unwrap(), written, "a check changes nothing");

    let ran = place.run(&["-p", "second", "--continue"]).with_code(0);
    assert!(ran.stderr.contains("damaged"), "{}", ran.stderr);
    assert!(place.run(&["sessions", "export", path]).with_code(0).stdout.contains("first"));
}

#[test]
fn files_that_cannot_be_used_do_not_stop_the_rest() {
    let place = Place::with_turns(&[text("one")]);
    place.run(&["-p", "first"]).with_code(0);
    let log = place.logs().pop().unwrap();
    std::fs::write(place.path("noise"), "no session\n").unwrap();
    let args = ["sessions", "check", "missing", place.path("noise").to_str().unwrap(), log.to_str().unwrap()]
        .map(str::to_owned);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let reports = place.run(&args).with_code(1).lines();
    let valid: Vec<bool> = reports.iter().map(|report| report["valid"].as_bool().unwrap()).collect();
    assert_eq!(valid, [false, false, true]);
    assert!(reports[0]["error"].as_str().unwrap().contains("missing"));
    let ran = place.run(&["sessions", "show", "11111111-1111-4111-8111-111111111111"]).with_code(1);
    assert!(ran.stderr.contains("No conversation found"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_session_is_named_and_not_waited_for() {
    let place = Place::with_turns(&[text("one"), text("two")]);
    place.run(&["-p", "first"]).with_code(0);
    let id = "11111111-1111-4111-8111-111111111111";
    let pipe = place.logs().pop().unwrap().with_file_name(format!("{id}.jsonl"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let listed = place.run(&["sessions", "list"]).with_code(0);
    assert!(listed.stderr.contains("a named pipe") && listed.stderr.contains(id), "{}", listed.stderr);
    assert_eq!(listed.lines().len(), 1);
    place.script(&[text("two")]);
    place.run(&["-p", "second", "--continue"]).with_code(0);
    let refused = place.run(&["sessions", "check", pipe.to_str().unwrap()]).with_code(1).lines();
    assert!(refused[0]["error"].as_str().unwrap().contains("a named pipe"), "{refused:?}");
    place.run(&["sessions", "show", id]).with_code(1);
    place.run(&["sessions", "delete", id]).with_code(1);
}

/// A place with one session of two prompts, and its id.
fn two_prompts() -> (Place, String) {
    let place = Place::with_turns(&[text("one")]);
    let id = "aaaaaaaa-1111-4111-8111-111111111111";
    place.run(&["-p", "first", "--session-id", id]).with_code(0);
    place.run(&["-p", "second", "-r", id]).with_code(0);
    (place, id.to_owned())
}

fn prompts(place: &Place, id: &str) -> String {
    let shown = place.run(&["sessions", "show", id]).with_code(0).stdout;
    shown.lines().filter_map(|line| line.strip_prefix("> ")).collect::<Vec<_>>().join(" ")
}

#[test]
fn names_and_tags_are_shown_in_lists() {
    let (place, id) = two_prompts();
    let listed = |key: &str| place.run(&["sessions", "list"]).with_code(0).lines()[0][key].clone();
    place.run(&["sessions", "rename", &id, "  The title "]).with_code(0);
    place.run(&["sessions", "tag", &id, "a\u{200b}b"]).with_code(0);
    assert_eq!((listed("custom_title"), listed("tag")), ("The title".into(), "ab".into()));
    place.run(&["sessions", "tag", &id, "--clear"]).with_code(0);
    assert_eq!(listed("tag"), serde_json::Value::Null);
    let log = std::fs::read_to_string(place.logs().pop().unwrap()).unwrap();
    assert!(log.ends_with(&format!(
        "{{\"type\":\"custom-title\",\"customTitle\":\"The title\",\"sessionId\":\"{id}\"}}\n\
         {{\"type\":\"tag\",\"tag\":\"ab\",\"sessionId\":\"{id}\"}}\n{{\"type\":\"tag\",\"tag\":\"\",\"sessionId\":\"{id}\"}}\n"
    )));
    for args in [&["rename", &id, " "][..], &["tag", &id, "\u{200b}"], &["tag", &id], &["rename", "nonsense", "x"]] {
        place.run(&[&["sessions"], args].concat()).with_code(2);
    }
    let ran = place.run(&["sessions", "rename", "bbbbbbbb-1111-4111-8111-111111111111", "x"]).with_code(1);
    assert!(ran.stderr.contains("No conversation found"), "{}", ran.stderr);
    assert_eq!(place.logs().len(), 1);
}

#[test]
fn a_copy_is_a_session_of_its_own() {
    let (place, id) = two_prompts();
    let original = std::fs::read(place.logs().pop().unwrap()).unwrap();
    let copy = place.run(&["sessions", "fork", &id]).with_code(0).stdout.trim().to_owned();
    assert_eq!(prompts(&place, &copy), "first second");
    let answer = String::from_utf8(original.clone()).unwrap();
    let answer = answer.lines().find(|line| line.contains("\"assistant\"")).unwrap();
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    let given = "cccccccc-1111-4111-8111-111111111111";
    let at = answer["uuid"].as_str().unwrap();
    let args = ["sessions", "fork", &id, "--at", at, "--title", "Half", "--session-id", given];
    assert_eq!(place.run(&args).with_code(0).stdout.trim(), given);
    assert_eq!(prompts(&place, given), "first");
    let ran = place.run(&args).with_code(1);
    assert!(ran.stderr.contains("already"), "{}", ran.stderr);
    let ran = place.run(&["sessions", "fork", &id, "--at", given]).with_code(1);
    assert!(ran.stderr.contains("No message found"), "{}", ran.stderr);
    let titles: Vec<_> = place.run(&["sessions", "list"]).lines();
    let title = |id: &str| titles.iter().find(|one| one["session_id"] == id).unwrap()["custom_title"].clone();
    assert_eq!((title(&copy), title(given)), ("first (fork)".into(), "Half".into()));
    place.run(&["-p", "third", "-r", &copy]).with_code(0);
    assert_eq!(prompts(&place, &copy), "first second third");
    let logs = place.logs();
    assert_eq!(logs.len(), 3);
    assert!(logs.iter().any(|log| std::fs::read(log).unwrap() == original), "the original is as it was");
}

#[test]
fn a_run_continues_in_a_copy() {
    let (place, id) = two_prompts();
    place.run(&["-p", "third", "-r", &id, "--fork-session"]).with_code(0);
    let given = "dddddddd-1111-4111-8111-111111111111";
    place.run(&["-p", "fourth", "--continue", "--fork-session", "--session-id", given]).with_code(0);
    assert_eq!(prompts(&place, &id), "first second");
    assert_eq!(prompts(&place, given), "first second third fourth");
    assert_eq!(place.logs().len(), 3);
    for args in [&["--fork-session"][..], &["-r", &id, "--session-id", given]] {
        let ran = place.run(&[&["-p", "x"], args].concat()).with_code(2);
        assert!(ran.stderr.contains("--fork-session"), "{}", ran.stderr);
    }
}

#[test]
fn deleting_takes_everything_and_says_what_it_could_not() {
    let (place, id) = two_prompts();
    let folder = place.logs().pop().unwrap().with_extension("");
    std::fs::create_dir_all(folder.join("tool-results")).unwrap();
    let unknown = "bbbbbbbb-1111-4111-8111-111111111111";
    let ran = place.run(&["sessions", "delete", unknown, &id]).with_code(1);
    assert!(ran.stderr.contains(unknown) && !ran.stderr.contains(&id), "{}", ran.stderr);
    assert!(place.logs().is_empty() && !folder.exists());
}

/// A full disk, or a file that may not grow: there is no half of a copy.
#[cfg(unix)]
#[test]
fn a_copy_without_room_leaves_nothing() {
    let (place, id) = two_prompts();
    place.run_with(&["-p", "-r", &id], &"long ".repeat(30_000)).with_code(0);
    let folder = place.logs().pop().unwrap().parent().unwrap().to_path_buf();
    let names = || {
        let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let (there, before) = (names(), std::fs::read(place.logs().pop().unwrap()).unwrap());
    for args in [&["sessions", "fork", &id][..], &["-p", "x", "-r", &id, "--fork-session"]] {
        let plain = place.command(&[]);
        let mut limited = std::process::Command::new("/bin/sh");
        limited
            .args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_windlass"))
            .args(args)
            .current_dir(plain.get_current_dir().unwrap())
            .env_clear()
            .envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .stdin(std::process::Stdio::null());
        let output = limited.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("too large"), "{stderr}");
        assert_eq!(names(), there, "{args:?}");
    }
    assert_eq!(std::fs::read(place.logs().pop().unwrap()).unwrap(), before);
}

#[test]
fn the_agents_of_a_session_can_be_listed_and_read() {
    let input = json!({"description": "Look\u{1b}[31m for it", "prompt": "Find the word.", "subagent_type": "Explore"});
    let place = Place::with_turns(&[call("Agent", &input), text("It is here."), text("Done.")]);
    let ran = place.run(&["-p", "Go.", "--output-format", "json"]).with_code(0);
    let id = ran.lines()[0]["session_id"].as_str().unwrap().to_owned();

    let listed = place.run(&["sessions", "agents", &id]).with_code(0).lines();
    let [agent] = listed.as_slice() else { panic!("{listed:?}") };
    assert_eq!(agent["agent_type"], "Explore");
    let agent = agent["id"].as_str().unwrap();
    let listed = place.run(&["sessions", "agents", &id, "--format", "text"]).with_code(0).stdout;
    assert!(listed.starts_with(agent) && listed.contains("Explore") && listed.contains("for it"), "{listed}");
    assert!(!listed.contains('\u{1b}') && listed.lines().count() == 1, "{listed}");

    let shown = place.run(&["sessions", "show", &id, "--agent", agent]).with_code(0).stdout;
    assert_eq!(shown, "> Find the word.\n< It is here.\n");
    let exported = place.run(&["sessions", "export", &id, "--agent", agent]).with_code(0).stdout;
    assert!(exported.contains("Find the word.") && !exported.contains("Go."), "{exported}");
    let own = place.run(&["sessions", "show", &id]).with_code(0).stdout;
    assert!(own.starts_with("> Go.\n"), "{own}");

    for (args, problem) in [
        (&["agents", "11111111-1111-4111-8111-111111111111"][..], "No conversation found with session ID"),
        (&["show", &id, "--agent", "a0000000000000000"], "lists those that it has"),
        (&["show", &id, "--agent", "../../x"], "x"),
        (&["export", "../script.json", "--agent", agent], "--agent needs the id of a session"),
    ] {
        let ran = place.run(&[&["sessions"], args].concat()).with_code(1);
        assert!(ran.stderr.contains(problem) && ran.stdout.is_empty(), "{args:?} {ran:#?}");
    }
    let none = Place::with_turns(&[text("Done.")]);
    let ran = none.run(&["-p", "Go.", "--output-format", "json"]).with_code(0);
    let id = ran.lines()[0]["session_id"].as_str().unwrap().to_owned();
    assert_eq!(none.run(&["sessions", "agents", &id]).with_code(0).stdout, "");
    let listed = none.run(&["sessions", "agents", &id, "--format", "text"]).with_code(0);
    assert!(listed.stderr.contains("no agents worked for this session"), "{listed:?}");
}

/// `/a/b` and `/a-b` have one folder of sessions: neither lists, continues, finds or searches those of the other.
#[test]
fn directories_with_one_folder_keep_their_sessions_apart() {
    let place = Place::with_turns(&[text("answer")]);
    let (mine, other) = (place.path("a/b"), place.path("a-b"));
    [&mine, &other].into_iter().for_each(|directory| std::fs::create_dir_all(directory).unwrap());
    let run = |directory: &std::path::Path, args: &[&str]| -> crate::place::Ran {
        place.command(args).current_dir(directory).output().unwrap().into()
    };
    let ids = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    run(&other, &["-p", "pineapple", "--session-id", ids[0]]).with_code(0);
    run(&other, &["sessions", "rename", ids[0], "Fruit"]).with_code(0);
    let folder = |at: usize| place.logs().into_iter().find(|log| log.ends_with(format!("{}.jsonl", ids[at]))).unwrap();
    let listed = |directory: &std::path::Path| -> Vec<String> {
        let lines = run(directory, &["sessions", "list"]).with_code(0).lines();
        lines.into_iter().map(|line| line["session_id"].as_str().unwrap().to_owned()).collect()
    };
    assert!(listed(&mine).is_empty());
    for args in [&["-p", "x", "--continue"][..], &["-p", "x", "-r", "Fruit"]] {
        let ran = run(&mine, args);
        assert!(ran.code != 0 && place.logs().len() == 1, "{args:?}: {ran:?}");
    }
    run(&mine, &["-p", "pineapple too", "--session-id", ids[1]]).with_code(0);
    assert_eq!(folder(0).parent(), folder(1).parent(), "the folder is the same");
    assert_eq!((listed(&mine), listed(&other)), (vec![ids[1].to_owned()], vec![ids[0].to_owned()]));
    for (directory, id) in [(&mine, ids[1]), (&other, ids[0])] {
        let found =
            run(&mine, &["sessions", "search", "pineapple", "--json", "--project", directory.to_str().unwrap()]);
        let found = found.with_code(0).lines();
        assert!(found.len() == 1 && found[0]["session_id"] == id, "{found:?}");
        let titled = run(directory, &["sessions", "list", "--title", "Fruit"]).with_code(0).lines().len();
        assert_eq!(titled, usize::from(id == ids[0]));
    }
    run(&mine, &["-p", "again", "--continue"]).with_code(0);
    assert!(std::fs::read_to_string(folder(1)).unwrap().contains("again"));
    assert!(!std::fs::read_to_string(folder(0)).unwrap().contains("again"));
    run(&other, &["-p", "banana", "-r", "Fruit"]).with_code(0);
    assert!(std::fs::read_to_string(folder(0)).unwrap().contains("banana"));
}

/// A session that names a worktree of the repository is one of it, if both say so.
#[test]
fn sessions_of_a_worktree_stay_with_the_repository_that_knows_it() {
    let place = Place::with_turns(&[text("answer")]);
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=x", "-c", "user.email=x@example.com"]).args(args);
        let ran = git.current_dir(place.work()).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(ran.status.success(), "{args:?}: {ran:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&["worktree", "add", "-q", "../tree"]);
    let (tree, fake) = (place.path("tree"), place.path("fake"));
    std::fs::create_dir_all(&fake).unwrap();
    std::fs::copy(tree.join(".git"), fake.join(".git")).unwrap();
    place.run(&["-p", "here"]).with_code(0);
    let own = place.logs().pop().unwrap();
    let read = std::fs::read_to_string(&own).unwrap();
    let work = place.work().canonicalize().unwrap();
    for (at, directory) in [&tree, &fake].into_iter().enumerate() {
        let id = format!("{at}{at}{at}{at}{at}{at}{at}{at}-1111-4111-8111-111111111111");
        let text = read.replace(work.to_str().unwrap(), directory.canonicalize().unwrap().to_str().unwrap());
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains("windlass-checksum")).collect();
        std::fs::write(own.with_file_name(format!("{id}.jsonl")), lines.join("\n") + "\n").unwrap();
    }
    let listed = place.run(&["sessions", "list"]).with_code(0).lines();
    let directories: Vec<bool> =
        listed.iter().map(|line| line["session_id"].as_str().unwrap().starts_with("0000")).collect();
    assert_eq!((directories.len(), directories.contains(&true)), (2, true), "{listed:?}");
}
