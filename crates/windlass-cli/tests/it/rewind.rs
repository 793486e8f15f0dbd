use crate::place::{Place, call, text, write};
use serde_json::{Value, json};

const ID: &str = "aaaaaaaa-2222-4222-8222-222222222222";

/// Two prompts: the first makes a file, the second changes it and makes another one.
fn two_prompts() -> (Place, [String; 2]) {
    let place = Place::new();
    let write = |name: &str, content: &str| call("Write", &json!({ "file_path": name, "content": content }));
    let args = ["--permission-mode", "acceptEdits"];
    place.script(&[write("a", "1\n"), text("ok")]);
    place.run(&[&["-p", "first", "--session-id", ID][..], &args].concat()).with_code(0);
    let read = call("Read", &json!({ "file_path": "a" }));
    place.script(&[read, write("a", "2\n"), write("b", "2\n"), text("ok")]);
    place.run(&[&["-p", "second", "--continue"][..], &args].concat()).with_code(0);
    let listed = place.run(&["sessions", "rewind", ID]).with_code(0).lines();
    let field = |at: usize, name: &str| listed[at][name].as_str().unwrap().to_owned();
    assert_eq!([field(0, "prompt"), field(1, "prompt")], ["first", "second"]);
    let ids = [field(0, "id"), field(1, "id")];
    (place, ids)
}

fn read(place: &Place, name: &str) -> Option<String> {
    std::fs::read_to_string(place.work().join(name)).ok()
}

/// The files that are named, with their changes.
fn changes(lines: &[Value]) -> Vec<(&str, &str)> {
    let files = lines.iter().filter_map(|line| Some((line["file"].as_str()?, line["change"].as_str().unwrap())));
    files.map(|(file, change)| (file.rsplit('/').next().unwrap(), change)).collect()
}

#[test]
fn runs_can_be_rewound_prompt_by_prompt_and_that_taken_back() {
    let (place, [first, second]) = two_prompts();
    let would = place.run(&["sessions", "rewind", ID, &second, "--dry-run"]).with_code(0).lines();
    assert_eq!(changes(&would), [("a", "modified"), ("b", "deleted")]);
    assert_eq!(read(&place, "a").as_deref(), Some("2\n"));
    let done = place.run(&["sessions", "rewind", ID, &second]).with_code(0).lines();
    assert_eq!(done[..2], would);
    assert_eq!((read(&place, "a").as_deref(), read(&place, "b")), (Some("1\n"), None));
    place.run(&["sessions", "rewind", ID, &first]).with_code(0);
    assert_eq!(read(&place, "a"), None);
    place.run(&["sessions", "rewind", ID, done[2]["undo"].as_str().unwrap()]).with_code(0);
    assert_eq!(read(&place, "b").as_deref(), Some("2\n"));
}

/// The conversation as a request would carry it.
fn conversation(place: &Place) -> String {
    place.run(&["sessions", "export", ID, "--format", "messages"]).with_code(0).stdout
}

#[test]
fn files_and_conversation_are_rewound_together_and_that_taken_back() {
    let (place, [first, second]) = two_prompts();
    let before = conversation(&place);
    let would = place.run(&["sessions", "rewind", ID, &second, "--what", "both", "--dry-run"]).with_code(0).lines();
    assert_eq!(changes(&would), [("a", "modified"), ("b", "deleted")]);
    assert_eq!((conversation(&place), read(&place, "a").as_deref()), (before.clone(), Some("2\n")));
    let done = place.run(&["sessions", "rewind", ID, &second, "--what", "both"]).with_code(0).lines();
    assert_eq!(done[..3], would);
    assert!(done[2]["conversation"]["dropped"].as_u64().unwrap() > 3, "{done:?}");
    assert_eq!((read(&place, "a").as_deref(), read(&place, "b")), (Some("1\n"), None));
    assert!(conversation(&place).contains("first") && !conversation(&place).contains("second"));
    let undo = done[3]["undo"].as_str().unwrap();
    let undone = place.run(&["sessions", "rewind", ID, undo, "--what", "both"]).with_code(0).lines();
    assert_eq!(changes(&undone), [("a", "modified"), ("b", "created")]);
    assert_eq!((conversation(&place), read(&place, "b").as_deref()), (before, Some("2\n")));
    // The next prompt continues from there.
    place.run(&["sessions", "rewind", ID, &second, "--what", "both"]).with_code(0);
    place.script(&[text("again")]);
    place.run(&["-p", "third", "--continue"]).with_code(0);
    let now = conversation(&place);
    assert!(now.contains("first") && now.contains("third") && !now.contains("second"), "{now}");
    // To the first prompt: all of it.
    place.run(&["sessions", "rewind", ID, &first, "--what", "both"]).with_code(0);
    assert_eq!(read(&place, "a"), None);
    place.script(&[text("anew")]);
    place.run(&["-p", "fourth", "--resume", ID]).with_code(0);
    let now = conversation(&place);
    assert!(now.contains("fourth") && !now.contains("first"), "{now}");
}

#[test]
fn the_conversation_alone_is_rewound_and_conflicts_refuse_both() {
    let (place, [first, second]) = two_prompts();
    std::fs::write(place.work().join("a"), "mine").unwrap();
    let before = conversation(&place);
    let refused = place.run(&["sessions", "rewind", ID, &second, "--what", "both"]).with_code(1);
    assert!(refused.stderr.contains("changed outside of the session"), "{}", refused.stderr);
    assert_eq!((conversation(&place), read(&place, "b").as_deref()), (before, Some("2\n")));
    let done = place.run(&["sessions", "rewind", ID, &second, "--what", "conversation"]).with_code(0).lines();
    assert!(done[0]["conversation"]["kept"].is_string(), "{done:?}");
    assert!(!conversation(&place).contains("second"));
    assert_eq!((read(&place, "a").as_deref(), read(&place, "b").as_deref()), (Some("mine"), Some("2\n")));
    // A prompt that the conversation has left is none of it.
    let unknown = place.run(&["sessions", "rewind", ID, &second, "--what", "conversation"]).with_code(1);
    assert!(unknown.stderr.contains("No message found"), "{}", unknown.stderr);
    let args = ["sessions", "rewind", ID, &first, "--what", "both", "--conflicts", "overwrite"];
    place.run(&args).with_code(0);
    assert_eq!((read(&place, "a"), read(&place, "b")), (None, None));
}

#[test]
fn what_is_left_and_what_is_unknown_is_reported() {
    let (place, [first, _]) = two_prompts();
    std::fs::write(place.work().join("a"), "mine").unwrap();
    let done = place.run(&["sessions", "rewind", ID, &first, "--leave-conflicts"]).with_code(1).lines();
    assert_eq!(changes(&done), [("a", "deleted"), ("b", "deleted")]);
    assert!(done[0]["left"].as_str().unwrap().contains("outside this session"), "{done:?}");
    assert_eq!((read(&place, "a").as_deref(), read(&place, "b")), (Some("mine"), None));
    for args in [&["sessions", "rewind", ID, "nope"][..], &["sessions", "rewind", &first]] {
        let refused = place.run(args).with_code(1);
        assert!(refused.stdout.is_empty() && refused.stderr.contains("found"), "{refused:?}");
    }
}

#[test]
fn a_deleted_session_leaves_nothing_of_its_files() {
    let (place, _) = two_prompts();
    let folder = place.logs().pop().unwrap().with_extension("");
    assert!(folder.join("file-history/index.jsonl").exists());
    place.run(&["sessions", "delete", ID]).with_code(0);
    assert!(!folder.exists());
}

#[test]
fn a_log_names_no_directory_but_its_own() {
    let (place, [first, _]) = two_prompts();
    let log = place.logs().pop().unwrap();
    let work = place.work().canonicalize().unwrap();
    let text = std::fs::read_to_string(&log).unwrap();
    let above = work.parent().unwrap().display().to_string();
    let forged = text.replace(&format!("\"cwd\":\"{}\"", work.display()), &format!("\"cwd\":\"{above}\""));
    assert_ne!(forged, text);
    std::fs::write(&log, forged).unwrap();
    let refused = place.run(&["sessions", "rewind", ID, &first]).with_code(2);
    assert!(refused.stderr.contains("--add-dir"), "{}", refused.stderr);
    assert_eq!(read(&place, "a").as_deref(), Some("2\n"));
    let args = ["sessions", "rewind", ID, &first, "--add-dir", work.to_str().unwrap()];
    let done = place.run(&args).with_code(0);
    assert!(done.stderr.contains("warning"), "{}", done.stderr);
    assert_eq!(read(&place, "a"), None);
}

#[test]
fn what_commands_change_is_rewound_and_what_is_not_kept_is_named() {
    let place = Place::new();
    std::fs::write(place.work().join("a"), "0").unwrap();
    std::fs::File::create(place.work().join("huge")).unwrap().set_len(1 << 30).unwrap();
    place.script(&[call("Bash", &json!({ "command": "echo 1 > a; echo 1 > b" })), text("ok")]);
    place.run(&["-p", "first", "--session-id", ID, "--allowedTools", "Bash"]).with_code(0);
    let listed = place.run(&["sessions", "rewind", ID]).with_code(0).lines();
    assert!(listed[0]["leftOut"][0]["file"].as_str().unwrap().ends_with("/huge"), "{listed:?}");
    assert!(listed[0]["leftOut"][0]["reason"].as_str().unwrap().contains("too large"), "{listed:?}");
    let done = place.run(&["sessions", "rewind", ID, listed[0]["id"].as_str().unwrap()]).with_code(0).lines();
    assert_eq!(changes(&done), [("a", "modified"), ("b", "deleted")]);
    assert_eq!((read(&place, "a").as_deref(), read(&place, "b")), (Some("0"), None));
}

#[test]
fn what_is_kept_for_rewinding_can_be_dropped() {
    let (place, [first, _]) = two_prompts();
    let kept = place.run(&["sessions", "gc"]).with_code(0).lines();
    assert_eq!((kept.len(), &kept[0]["dropped"]), (1, &json!(0)));
    let would = place.run(&["sessions", "gc", "--max-bytes", "0", "--dry-run"]).with_code(0).lines();
    assert_eq!((would.len(), &would[0]["session"], &would[1]["left_bytes"]), (2, &json!(ID), &json!(0)));
    place.run(&["sessions", "rewind", ID, &first, "--dry-run"]).with_code(0);
    assert_eq!(place.run(&["sessions", "gc", "--max-bytes", "0"]).with_code(0).lines(), would);
    assert!(place.run(&["sessions", "rewind", ID]).with_code(0).lines().is_empty());
    // The conversation is still there.
    place.run(&["sessions", "show", ID]).with_code(0);
}

#[test]
fn the_setting_for_checkpoints_leaves_out_what_is_larger() {
    for (settings, is_kept) in [(json!({}), true), (json!({ "fileCheckpoints": { "maxFileBytes": 10 } }), false)] {
        let place = Place::new();
        write(&place.home().join(".claude/settings.json"), &settings.to_string());
        std::fs::write(place.work().join("large"), "the first of all texts\n").unwrap();
        std::fs::write(place.work().join("small"), "first\n").unwrap();
        let change = |name: &str| {
            [
                call("Read", &json!({ "file_path": name })),
                call("Write", &json!({ "file_path": name, "content": "second\n" })),
            ]
        };
        place.script(&[&change("large")[..], &change("small"), &[text("ok")]].concat());
        place.run(&["-p", "first", "--session-id", ID, "--permission-mode", "acceptEdits"]).with_code(0);
        assert_eq!(read(&place, "large").as_deref(), Some("second\n"));
        let listed = place.run(&["sessions", "rewind", ID]).with_code(0).lines();
        let left_out = listed[0]["leftOut"].to_string();
        assert_eq!(left_out.contains("large"), !is_kept, "{listed:?}");
        assert!(!left_out.contains("small"), "{listed:?}");
        place.run(&["sessions", "rewind", ID, listed[0]["id"].as_str().unwrap()]);
        assert_eq!(read(&place, "small").as_deref(), Some("first\n"));
        let large = if is_kept { "the first of all texts\n" } else { "second\n" };
        assert_eq!(read(&place, "large").as_deref(), Some(large));
    }
}
