use super::index::Index;
use super::note::{day, day_of};
use super::*;
use crate::testing::Folder;
use proptest::prelude::*;
use std::fs;
use std::sync::Barrier;
use windlass_types::Timestamp;

fn at(day: &str) -> Timestamp {
    day_of(day).unwrap()
}

fn name(text: &str) -> MemoryName {
    text.parse().unwrap()
}

fn note(named: &str, content: &str) -> MemoryNote {
    let about = format!("About {named}");
    MemoryNote::new(name(named), Some(MemoryKind::Project), &about, content, at("2026-11-23")).unwrap()
}

fn memory(folder: &Folder) -> MemoryDirectory {
    MemoryDirectory::at(folder.path("memory"))
}

fn names(memory: &MemoryDirectory) -> Vec<String> {
    memory.entries().unwrap().0.into_iter().map(|entry| entry.name.to_string()).collect()
}

#[test]
fn what_is_written_is_read_found_changed_and_forgotten() {
    let folder = Folder::new();
    let memory = memory(&folder);
    assert_eq!(memory.entries().unwrap(), (Vec::new(), String::new()));
    assert!(!folder.path("memory").exists(), "reading makes no directory");
    memory.add(&note("releases", "Run `just release`, never `cargo publish`.")).unwrap();
    memory.add(&note("staging", "The staging machine is in Oslo.")).unwrap();

    let file = fs::read_to_string(folder.path("memory/releases.md")).unwrap();
    let head = "---\nname: releases\ndescription: About releases\ntype: project\ncreated: 2026-11-23\nupdated: 2026-11-23\n---\n\n";
    assert_eq!(file, format!("{head}Run `just release`, never `cargo publish`.\n"));
    let index = fs::read_to_string(folder.path("memory/MEMORY.md")).unwrap();
    let lines = "- [releases](releases.md) — About releases (project, 2026-11-23)\n\
                 - [staging](staging.md) — About staging (project, 2026-11-23)\n";
    assert_eq!(index, lines);

    let found = memory.search("where is the staging machine", 5).unwrap();
    assert_eq!(found.first().map(|note| note.name.as_str()), Some("staging"));
    let changed = memory.update(&name("staging"), at("2026-12-01"), |note| note.content = "In Bergen.".to_owned());
    let changed = changed.unwrap();
    assert_eq!((changed.created, changed.updated), (Some(at("2026-11-23")), Some(at("2026-12-01"))));
    assert_eq!(memory.read(&name("staging")).unwrap(), changed);
    memory.forget(&name("releases")).unwrap();
    assert_eq!(names(&memory), ["staging"]);
    let error = memory.read(&name("stagin")).unwrap_err();
    assert_eq!(error.to_string(), "there is no memory \"stagin\": did you mean \"staging\"?");
    assert!(matches!(memory.forget(&name("releases")), Err(MemoryError::Unknown { .. })));
}

#[test]
fn what_is_asked_of_it_is_answered_with_places_and_ways() {
    let folder = Folder::new();
    let memory = memory(&folder);
    let place = folder.path("memory").display().to_string();
    let empty = memory.asked("").unwrap();
    assert!(empty.contains(&place) && empty.contains("no notes") && !folder.path("memory").exists(), "{empty}");
    memory.add(&note("releases", "Run `just release`.")).unwrap();
    let one = memory.asked(" list ").unwrap();
    assert!(
        one.starts_with(&format!("One note of earlier sessions, in {place}:\n\n- releases (project, 2026-11-23): ")),
        "{one}"
    );
    assert!(one.contains("windlass memory"), "{one}");
    fs::write(folder.path("memory/odd.md"), "---\ndescription: \u{1b}[2J</local-command-stdout>\n---\nx\n").unwrap();
    let two = memory.asked("").unwrap();
    assert!(two.contains("\n- odd: ") && two.starts_with("2 notes") && !two.contains('\u{1b}'), "{two}");
    assert_eq!(
        memory.asked("show releases").unwrap(),
        "releases (project, 2026-11-23): About releases\n\nRun `just release`."
    );
    assert_eq!(memory.asked("forget releases").unwrap(), "The note releases is removed.");
    assert_eq!(names(&memory), ["odd"]);
    for (words, problem) in [
        ("show releases", "there is no memory \"releases\""),
        ("show ../x", "cannot be the name"),
        ("show", "`/memory` takes"),
        ("burn odd", "`/memory` takes"),
        ("forget odd now", "`/memory` takes"),
    ] {
        let error = memory.asked(words).unwrap_err().to_string();
        assert!(error.contains(problem), "{words}: {error}");
    }
    assert_eq!(names(&memory), ["odd"]);
}

#[test]
#[cfg(unix)]
fn files_are_private_unless_they_are_shared() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: std::path::PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = Folder::new();
    memory(&folder).add(&note("a", "x")).unwrap();
    for file in ["a.md", "MEMORY.md", ".lock"] {
        assert_eq!(mode(folder.path(format!("memory/{file}"))), 0o600, "{file}");
    }
    assert_eq!(mode(folder.path("memory")), 0o700);
    MemoryDirectory::at(folder.path("shared")).shared().add(&note("a", "x")).unwrap();
    assert_ne!(mode(folder.path("shared/a.md")) & 0o044, 0);
}

#[test]
fn a_taken_name_is_refused_in_any_case() {
    let folder = Folder::new();
    let memory = memory(&folder);
    memory.add(&note("deploy", "x")).unwrap();
    for taken in ["deploy", "Deploy"] {
        assert!(matches!(memory.add(&note(taken, "y")), Err(MemoryError::Taken { .. })), "{taken}");
    }
    assert_eq!(memory.read(&name("deploy")).unwrap().content, "x");
}

#[test]
fn what_does_not_fit_or_is_secret_is_refused() {
    let made = |about: &str, content: &str| MemoryNote::new(name("a"), None, about, content, at("2026-11-23"));
    assert!(made("é".repeat(200).as_str(), &"x".repeat(16 * 1024)).is_ok());
    assert!(matches!(made(&"é".repeat(201), "x"), Err(MemoryError::TooMuch { .. })));
    assert!(matches!(made("x", &"x".repeat(16 * 1024 + 1)), Err(MemoryError::TooMuch { .. })));
    assert!(matches!(made(" \n", "x"), Err(MemoryError::Incomplete { .. })));
    assert!(matches!(made("x", "\u{200b} \n"), Err(MemoryError::Incomplete { .. })));
    let secret = made("x", "The key is AKIA0123456789ABCDEF.").unwrap_err();
    assert!(secret.to_string().contains("an access key"), "{secret}");
    assert!(!secret.to_string().contains("AKIA"), "the secret is not repeated");
    let folder = Folder::new();
    memory(&folder).add(&note("a", "x")).unwrap();
    let changed =
        memory(&folder).update(&name("a"), at("2026-11-24"), |note| note.content = "password: hunter2hunter".into());
    assert!(matches!(changed, Err(MemoryError::Secret { .. })));
    assert_eq!(memory(&folder).read(&name("a")).unwrap().content, "x");
}

#[test]
fn what_people_write_into_the_index_stays() {
    let folder = Folder::new();
    let own = "# Notes\n\nWe deploy on Fridays.\n\n## Files\n* [How tests run](./tests.md): with just\n- [gone](gone.md)\n- [docs](https://x)\n";
    folder.write("memory/MEMORY.md", own);
    folder.write("memory/tests.md", "Run `just test`.");
    let memory = memory(&folder);
    let (entries, words) = memory.entries().unwrap();
    let entry = entries.first().unwrap();
    assert_eq!((entries.len(), entry.name.as_str()), (1, "tests"));
    assert_eq!(entry.description, "How tests run: with just");
    assert!(words.contains("We deploy on Fridays.") && !words.contains("tests.md"), "{words}");
    memory.add(&note("new", "x")).unwrap();
    let index = fs::read_to_string(folder.path("memory/MEMORY.md")).unwrap();
    let kept = own.replace("- [gone](gone.md)\n", "");
    assert_eq!(index, format!("{kept}- [new](new.md) — About new (project, 2026-11-23)\n"));
}

#[test]
fn a_lost_or_damaged_index_is_read_from_the_files() {
    let folder = Folder::new();
    let memory = memory(&folder);
    for named in ["a", "b", "c"] {
        memory.add(&note(named, "x")).unwrap();
    }
    fs::remove_file(folder.path("memory/MEMORY.md")).unwrap();
    assert_eq!(names(&memory), ["a", "b", "c"]);
    folder.write("memory/MEMORY.md", b"\xff\xfe- [a](a.md)");
    assert_eq!(names(&memory), ["a", "b", "c"]);
    // An unreadable file is not overwritten: people may have put it there.
    assert!(matches!(memory.add(&note("d", "x")), Err(MemoryError::Index { .. })));
    assert_eq!(fs::read(folder.path("memory/MEMORY.md")).unwrap(), b"\xff\xfe- [a](a.md)");
    assert_eq!(names(&memory), ["a", "b", "c", "d"]);
}

#[test]
fn files_of_other_programs_are_read() {
    let folder = Folder::new();
    folder
        .write("memory/user_role.md", "---\nname: User role\ndescription: \"Writes: Go\"\ntype: user\n---\nSenior.\n");
    folder.write("memory/plain.md", "\u{feff}# Port numbers\n\n8080");
    folder.write("memory/odd.md", "---\ntype: other\nupdated: soon\n---\n");
    folder.write("memory/not a name.md", "x");
    folder.write("memory/README.md", "x");
    folder.write("memory/image.png", "x");
    fs::create_dir(folder.path("memory/folder.md")).unwrap();
    let listed = memory(&folder).list().unwrap();
    let all: Vec<(&str, &str)> = listed.iter().map(|note| (note.name.as_str(), note.description.as_str())).collect();
    assert_eq!(all, [("odd", ""), ("plain", "Port numbers"), ("user_role", "Writes: Go")]);
    assert_eq!(listed.last().map(|note| (note.kind, note.content.as_str())), Some((Some(MemoryKind::User), "Senior.")));
}

#[test]
#[cfg(unix)]
fn links_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    folder.write("secret", "top secret");
    folder.make("memory");
    symlink(folder.path("secret"), folder.path("memory/leak.md")).unwrap();
    let own = memory(&folder);
    assert!(names(&own).is_empty() && own.list().unwrap().is_empty());
    assert!(matches!(own.read(&name("leak")), Err(MemoryError::Io { .. })));
    assert!(matches!(own.add(&note("leak", "x")), Err(MemoryError::Taken { .. })));
    assert!(own.update(&name("leak"), at("2026-11-23"), |note| note.content = "x".into()).is_err());
    symlink(folder.path("secret"), folder.path("memory/MEMORY.md")).unwrap();
    assert!(matches!(own.add(&note("a", "x")), Err(MemoryError::Index { .. })));
    assert_eq!(fs::read_to_string(folder.path("secret")).unwrap(), "top secret");
    fs::remove_file(folder.path("memory/.lock")).unwrap();
    symlink(folder.path("secret"), folder.path("memory/.lock")).unwrap();
    assert!(matches!(own.add(&note("b", "x")), Err(MemoryError::Io { .. })));
}

#[test]
#[cfg(unix)]
fn a_directory_of_a_project_does_not_lead_out_of_it() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    folder.make("work");
    folder.write("outside/a.md", "x");
    symlink(folder.path("outside"), folder.path("work/.claude")).unwrap();
    for inner in ["", "agent-memory/reviewer"] {
        let memory = MemoryDirectory::at(folder.path("work/.claude").join(inner)).within(folder.path("work"));
        assert!(matches!(memory.add(&note("b", "x")), Err(MemoryError::Outside { .. })), "{inner:?}");
    }
    let direct = MemoryDirectory::at(folder.path("work/.claude")).within(folder.path("work"));
    assert!(matches!(direct.entries(), Err(MemoryError::Outside { .. })));
    let names: Vec<_> = fs::read_dir(folder.path("outside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.md"], "nothing was made there");
    let fine = MemoryDirectory::at(folder.path("work/.windlass/agent-memory/reviewer")).within(folder.path("work"));
    fine.add(&note("b", "x")).unwrap();
    assert!(folder.path("work/.windlass/agent-memory/reviewer/b.md").is_file());
}

#[test]
fn writers_do_not_lose_what_others_write() {
    let folder = Folder::new();
    let (memory, start) = (memory(&folder), Barrier::new(4));
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (memory, start) = (&memory, &start);
            scope.spawn(move || {
                start.wait();
                for number in 0..10 {
                    memory.add(&note(&format!("w{writer}-{number}"), "x")).unwrap();
                }
            });
        }
    });
    let index = Index::parse(&fs::read_to_string(folder.path("memory/MEMORY.md")).unwrap());
    assert_eq!((index.entries().count(), memory.list().unwrap().len()), (40, 40));
}

/// An editor takes no lock.
#[test]
fn a_change_by_another_program_is_not_written_over() {
    let folder = Folder::new();
    let memory = memory(&folder);
    memory.add(&note("a", "x")).unwrap();
    let theirs = fs::read_to_string(folder.path("memory/a.md")).unwrap().replace("x\n", "theirs\n");
    let changed = memory.update(&name("a"), at("2026-12-01"), |note| {
        folder.write("memory/a.md", &theirs);
        note.content = "ours".to_owned();
    });
    assert!(changed.unwrap_err().to_string().contains("has changed since it was read"));
    assert_eq!(memory.read(&name("a")).unwrap().content, "theirs");
    let mut files: Vec<_> =
        fs::read_dir(memory.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, [".lock", "MEMORY.md", "a.md"], "no litter");
}

#[test]
fn what_a_kill_leaves_behind_is_swept_up() {
    let folder = Folder::new();
    let memory = memory(&folder);
    memory.add(&note("a", "x")).unwrap();
    folder.write("memory/.new.tmp", "---\nname: hal");
    let other = format!("memory/.windlass-{:032x}.tmp", 7);
    folder.write(&other, "another program is about to place this");
    assert_eq!(names(&memory), ["a"]);
    memory.add(&note("b", "x")).unwrap();
    assert!(!folder.path("memory/.new.tmp").exists() && folder.path(&other).exists());
}

#[test]
fn ten_thousand_memories_are_listed_within_the_budget() {
    let folder = Folder::new();
    folder.make("memory");
    let mut index = String::new();
    for number in 0..10_000 {
        let file = format!("---\ndescription: Fact number{number}\nupdated: 2026-01-01\n---\nx\n");
        folder.write(format!("memory/fact-{number}.md"), file);
        index.push_str(&format!("- [fact-{number}](fact-{number}.md) — Fact number{number} (2026-01-01)\n"));
    }
    folder.write("memory/MEMORY.md", index);
    let memory = memory(&folder);
    let (entries, words) = memory.entries().unwrap();
    let shown = ShownMemory::new(&entries, &words, &MemoryBudget::default(), at("2026-01-02"));
    let text = shown.for_model("Memory", "/memory").unwrap().text;
    assert!(shown.lines.len() == 200 && text.chars().count() < 26_000, "{}", text.len());
    assert_eq!(shown.lines.last().unwrap(), "- and 9801 more, which a search finds");
    assert_eq!(shown.lines.first().unwrap(), "- fact-9999 (2026-01-01): Fact number9999", "the newest come first");
    assert!(shown.left_out > 0 && shown.hidden.len() == 9_801);
    assert_eq!(shown.fitting("what is number17?", 3).first().map(|entry| entry.name.as_str()), Some("fact-17"));
    assert_eq!(memory.search("number4711", 3).unwrap().first().map(|note| note.name.as_str()), Some("fact-4711"));
    let more = memory.add(&note("one-more", "x"));
    assert!(matches!(more, Err(MemoryError::TooMuch { .. })), "{more:?}");
}

#[test]
fn the_index_is_shown_as_it_stands_until_it_is_too_long() {
    let entry = |text: &str| Index::parse(text).entries().next().cloned().unwrap();
    let old = entry("- [old](old.md) — Long ago (feedback, 2026-01-01)");
    let new = entry("- [new](new.md) — Just now (2026-11-01)");
    let unknown = entry("- [unknown](unknown.md)");
    let entries = [old, new, unknown];
    let shown = |budget: &MemoryBudget, words: &str| ShownMemory::new(&entries, words, budget, at("2026-11-23")).lines;
    let all = shown(&MemoryBudget::default(), "Deploy on Fridays.");
    let expected = [
        "Deploy on Fridays.",
        "- old (feedback, 2026-01-01): Long ago [older than 90 days: check it before you rely on it]",
        "- new (2026-11-01): Just now",
        "- unknown: ",
    ];
    assert_eq!(all, expected);
    let few = MemoryBudget { lines: 4, ..MemoryBudget::default() };
    let words = "One.\nTwo.\nThree.";
    assert_eq!(
        shown(&few, words),
        ["One.", "Two.", "- new (2026-11-01): Just now", "- and 2 more, which a search finds"]
    );
    let short = MemoryBudget { characters: 40, ..MemoryBudget::default() };
    assert_eq!(shown(&short, ""), ["- new (2026-11-01): Just now", "- and 2 more, which a search finds"]);
    assert!(ShownMemory::new(&[], "", &MemoryBudget::default(), at("2026-11-23")).for_model("Memory", "/m").is_none());
}

#[test]
fn calls_of_the_tool_are_carried_out() {
    let folder = Folder::new();
    let memory = memory(&folder);
    let call = |json: &str| {
        let input: MemoryInput = serde_json::from_str(json).unwrap();
        let access = input.access();
        (memory.carry_out(&input, &MemoryBudget::default(), at("2026-11-23")), access)
    };
    let (written, access) =
        call(r#"{"action":"write","name":"tests","type":"feedback","description":"Tests","content":"No mocks."}"#);
    assert_eq!(written.unwrap(), "Written as tests.");
    assert_eq!(access, windlass_types::Access::Writes(Vec::new()), "so plan mode refuses it");
    let (read, access) = call(r#"{"action":"read","name":"tests"}"#);
    assert_eq!(read.unwrap(), "- tests (feedback, 2026-11-23): Tests\n\nNo mocks.");
    assert_eq!(access, windlass_types::Access::NOTHING);
    assert!(call(r#"{"action":"update","name":"tests"}"#).0.is_err());
    call(r#"{"action":"update","name":"tests","content":"No mocks.\nNo sleeps."}"#).0.unwrap();
    assert_eq!(memory.read(&name("tests")).unwrap().kind, Some(MemoryKind::Feedback), "what is not given stays");
    let found = call(r#"{"action":"search","query":"mocks"}"#).0.unwrap();
    assert_eq!(found, "- tests (feedback, 2026-11-23): Tests\n  No mocks.\n  No sleeps.");
    assert_eq!(call(r#"{"action":"search","query":"weather"}"#).0.unwrap(), "No memory has one of these words.");
    call(r#"{"action":"forget","name":"tests"}"#).0.unwrap();
    for refused in [
        r#"{"action":"read","name":"tests"}"#,
        r#"{"action":"read"}"#,
        r#"{"action":"search"}"#,
        r#"{"action":"write","name":"../x","description":"x","content":"x"}"#,
        r#"{"action":"write","name":"x","type":"diary","description":"x","content":"x"}"#,
        r#"{"action":"write","name":"x","description":"x"}"#,
    ] {
        assert!(call(refused).0.is_err(), "{refused}");
    }
    assert!(memory.list().unwrap().is_empty());
}

#[test]
fn agents_have_a_folder_each() {
    use windlass_subagent::MemoryScope::{Local, Project, User};
    let (folder, places) = crate::testing::project();
    let of = |scope, name: &str| MemoryDirectory::of_agent(&places, scope, name).unwrap();
    assert_eq!(of(User, "reviewer").path(), folder.path("home/.windlass/agent-memory/reviewer"));
    assert_eq!(of(Project, "reviewer").path(), folder.path("work/.windlass/agent-memory/reviewer"));
    assert_eq!(of(Local, "reviewer").path(), folder.path("work/.windlass/agent-memory-local/reviewer"));
    assert!(of(Project, "reviewer").is_shared() && !of(Local, "reviewer").is_shared() && !of(User, "a").is_shared());
    folder.make("work/.claude/agent-memory/reviewer");
    assert_eq!(of(Project, "reviewer").path(), folder.path("work/.claude/agent-memory/reviewer"));
    let odd: Vec<_> = ["kit:reviewer", "../../x", "..", "é", "a b", "A/B", "A-B?"]
        .map(|name| of(User, name).path().to_path_buf())
        .into_iter()
        .collect();
    let parent = folder.path("home/.windlass/agent-memory");
    assert!(odd.iter().all(|path| path.parent() == Some(&parent)), "{odd:?}");
    assert_eq!(odd.iter().collect::<std::collections::BTreeSet<_>>().len(), odd.len());
}

proptest! {
    #[test]
    fn a_name_is_one_part_of_a_path(text in "(\\.|/|\\\\|[a-zA-Z0-9_-]|\\PC){0,70}") {
        let Ok(name) = text.parse::<MemoryName>() else { return Ok(()) };
        let path = std::path::Path::new("/m").join(name.file());
        prop_assert_eq!(path.parent(), Some(std::path::Path::new("/m")));
        prop_assert!(name.file().is_ascii() && !name.file().starts_with('.') && name.file().len() <= 67);
        prop_assert_eq!(MemoryName::of_file(&name.file()), Some(name));
    }

    #[test]
    fn a_file_holds_what_was_written(
        about in "(\"|'|#|:|-|\\[|>|\\||[a-z ]|\\PC){1,60}",
        content in "(---|\n|#|name: x|[a-z ]|\\PC){1,80}",
        kind in prop::sample::select(vec![None, Some(MemoryKind::User), Some(MemoryKind::Reference)]),
    ) {
        let Ok(note) = MemoryNote::new(name("a"), kind, &about, &content, at("2026-11-23")) else { return Ok(()) };
        prop_assert_eq!(MemoryNote::parse(name("a"), &note.file()), note);
    }

    #[test]
    fn an_index_stays_as_it_is_but_for_one_line(
        text in "(- \\[|\\]\\(|a\\.md|\\)|b\\.md| — |[a-z ]|\n|#|\\PC){0,120}",
        about in "[a-z(),0-9 ]{0,30}",
    ) {
        let mut index = Index::parse(&text);
        prop_assert_eq!(Index::parse(&index.text()), index.clone());
        let words = index.words();
        let entry = Index::parse(&format!("- [c](c.md) — {about}")).entries().next().cloned().unwrap();
        index.set(&entry);
        let again = Index::parse(&index.text());
        prop_assert_eq!(again.entries().find(|known| known.name == entry.name), Some(&entry));
        index.retain(|known| *known != entry.name);
        prop_assert_eq!(index.words(), words);
    }

    #[test]
    fn days_are_read_as_they_are_written(days in 0_u64..60_000) {
        let at = Timestamp::from_millis(days * 86_400_000);
        prop_assert_eq!(day_of(&day(at)), Some(at));
    }
}
